"""The page in a real browser: Chromium (apt-get install chromium), driven by Playwright; nothing is downloaded.

Without either, these tests skip and say so; ``.ci/run`` sets GSLOPES_BROWSER=required, and then they fail.
"""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.report import numbers, words
from gslopes.slopes.page import write_report
from tests.slopes.page.conftest import placebos_of

pytestmark = [pytest.mark.browser, pytest.mark.figures("png")]
SCRIPT = "<script>alert(1)</script>"
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}


@pytest.fixture(scope="module")
def report(make: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run with two classifiers, one of them named by a stranger, and a placebo sweep."""
    run = make(
        tmp_path_factory.mktemp("browser") / "run",
        [("celeba-tagger", "gender"), (SCRIPT, "gender")],
        photos=40,
    )
    found = tables.read(tables.SLOPES, run / "slopes.parquet")
    rates = found.assign(
        estimator="photo-rate",
        slope=100 * found["slope"] * found["y_centre"],
        unit="percentage points",
    )
    ends = rates[["y_centre", "y_centre"]].to_numpy() + np.outer(rates["slope"], [-0.02, 0.02])
    rates[["y_first", "y_last"]] = ends.clip(0, 1)
    rates["decision"] = np.where(rates["slope"].notna(), "finding", None)
    rates[["ci_low", "ci_high"]] = rates[["slope", "slope"]].to_numpy() + np.array([-1.5, 1.5])
    tables.write(tables.SLOPES, pd.concat([found, rates]), run / "slopes.parquet")
    tables.write(tables.PLACEBOS, placebos_of(rates, "same", 0.1, 0.3), run / "placebos.parquet")
    return write_report(run)


@pytest.fixture
def page(chromium: Any, report: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """The page, opened from the disk; at the end, no console error and no request to anywhere else."""
    width, height = getattr(request, "param", SIZES["desktop"])
    context = chromium.new_context(viewport={"width": width, "height": height})
    page = context.new_page()
    wrong: list[str] = []
    page.on(
        "console",
        lambda message: (
            wrong.append(message.text) if message.type in ("error", "warning") else None
        ),
    )
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: (wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
    folder = report.parent.as_uri()
    page.on(
        "request",
        lambda asked: None if asked.url.startswith(folder) else wrong.append(f"asked {asked.url}"),
    )
    page.goto(report.as_uri())
    page.evaluate("location.hash = 'findings'")
    page.wait_for_selector("#app-f0 table.labels")
    yield page
    assert wrong == []
    context.close()


def labels(page: Any) -> list[str]:
    return page.locator("#app-f0 tbody button.label").all_inner_texts()


def explorer(page: Any) -> Any:
    page.evaluate("document.getElementById('explorer').scrollIntoView()")
    page.wait_for_selector("#app-explorer .scores-now li")
    return page.locator("#app-explorer")


def slopes(page: Any) -> list[float]:
    return [
        float(text.replace("−", "-"))
        for text in page.locator("#app-f0 tbody td.slope").all_inner_texts()
    ]


@pytest.mark.slow
def test_the_table_sorts_by_its_heads_and_filters_by_text_direction_and_the_papers_thresholds(
    page: Any,
) -> None:
    head = page.locator("#app-f0 thead button", has_text="Slope")
    head.click()
    assert page.locator("#app-f0 th[aria-sort=descending]").inner_text().startswith("Slope")
    assert slopes(page) == sorted(slopes(page), reverse=True)
    head.click()
    assert page.locator("#app-f0 th[aria-sort=ascending]").inner_text().startswith("Slope")
    assert slopes(page) == sorted(slopes(page))
    assert len(slopes(page)) == 8
    assert labels(page)[-1] == "Never at the centre"  # no slope: always last
    page.locator("#app-f0 thead button", has_text="Label").click()
    assert labels(page)[0] == SCRIPT
    app = page.locator("#app-f0")
    app.get_by_label("Find a label").fill("neck")
    assert labels(page) == ["Necktie"]
    assert app.get_by_role("status").inner_text() == "1 of 9 labels"
    app.get_by_label("Find a label").fill("")
    app.get_by_label("Direction").select_option("-1")
    assert "Lipstick" in labels(page)
    assert "Necktie" not in labels(page)
    app.get_by_label("Direction").select_option("0")
    app.get_by_label("Show").select_option("paper")
    assert app.get_by_label("Estimator").input_value() == "paper"
    past = labels(page)
    assert "Necktie" in past
    assert "Outdoors" not in past


def test_label_of_a_stranger_is_shown_as_text_and_opens_its_panel(page: Any) -> None:
    page.locator("#app-f0 button.label", has_text="<script>").click()
    panel = page.locator("#app-f0 .panel")
    assert panel.locator("h4").inner_text() == SCRIPT
    assert page.evaluate("document.activeElement.tagName") == "H4"
    assert panel.locator("svg.chart circle").count() == 7
    panel.locator(".moved-photo").first.wait_for()
    assert (
        panel.locator(".moved-photo img").first.evaluate(
            "image => image.decode().then(() => image.naturalWidth)"
        )
        > 0
    )
    assert "placebo: same picture" in panel.inner_text()
    assert "this label's slope against it, photo by photo: " in panel.inner_text()
    panel.get_by_role("button", name="Close").click()
    assert panel.is_hidden()
    assert "<script>" in page.evaluate("document.activeElement.textContent")  # back where it was
    page.keyboard.press("Enter")
    assert panel.is_visible()
    page.keyboard.press("Escape")
    assert panel.is_hidden()
    assert "<script>" in page.evaluate("document.activeElement.textContent")


@pytest.mark.slow
@pytest.mark.figures("none")
def test_groups_are_compared_in_a_table_that_sorts_and_in_the_labels_panel(
    chromium: Any, make: Callable[..., Path], refit: Callable[[Path], None], tmp_path: Path
) -> None:
    run = make(tmp_path / "run", [("c", "gender"), ("c", "race")], photos=60)
    refit(run)
    page = chromium.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(write_report(run, embed="none").as_uri())
    page.evaluate("location.hash = 'findings'")
    page.locator("#app-f0 details.comparison summary").first.click()
    table = page.locator("#app-f0 details.comparison table").first
    table.wait_for()
    head = table.get_by_role("button", name="Difference")
    head.click()
    numbers = [
        float(text.replace("−", "-")) for text in table.locator("td.slope").all_inner_texts()
    ]
    assert numbers == sorted(numbers, reverse=True)
    assert f"{SCRIPT} − blue (team)" in table.inner_text()
    page.locator("#app-f0").get_by_label("Find a label or group").fill("lips")
    assert set(table.locator("tbody th").all_inner_texts()) == {"Lipstick"}
    page.locator("#app-f0 button.label", has_text="Lipstick").click()
    panel = page.locator("#app-f0 .panel")
    panel.locator("h5", has_text="groups").wait_for()
    assert f"{SCRIPT} − blue (team)" in panel.inner_text()
    assert wrong == []
    page.close()


def test_the_first_screen_has_the_finding_and_the_slider_moves_picture_and_scores(
    page: Any,
) -> None:
    assert "of 39 photos, feminine to masculine" in page.locator("h1").inner_text()
    rows = page.locator(".levels").first.locator("li:not(.head)")
    assert rows.count() == 8
    assert page.locator(".lead tbody tr").count() == 2
    assert page.locator(".sweep .strip img").first.is_visible()
    page.evaluate("document.getElementById('everything').open = false")
    rows.locator("a", has_text="Necktie").click()
    page.locator(".panel:not([hidden]) h4", has_text="Necktie").wait_for()
    page.wait_for_function("document.activeElement.tagName === 'H4'")
    assert page.evaluate("document.activeElement.getBoundingClientRect().top < innerHeight")
    app = explorer(page)
    assert sorted(app.locator(".scores-now h4").all_inner_texts()) == [SCRIPT, "celeba-tagger"]
    slider = app.get_by_role("slider")
    seen = []
    for step in (0, 6):
        slider.fill(str(step))
        place = app.locator(".frame .face").evaluate("image => image.style.transform")
        seen.append(
            (place, app.locator(".score").all_inner_texts(), slider.get_attribute("aria-valuetext"))
        )
    assert seen[0][0] != seen[1][0]
    assert seen[0][1] != seen[1][1]
    assert seen[0][2] == "−2, more feminine"
    assert app.locator(".scores-now li.pos").count() > 0
    assert app.locator(".scores-now li.neg").count() > 0

    hint = page.locator(".sweep .hint").first
    assert not hint.is_visible()
    page.set_viewport_size({"width": 390, "height": 800})
    assert hint.is_visible()
    scroller = page.locator(".sweep .scroller").first
    assert scroller.evaluate("place => place.scrollWidth > place.clientWidth"), (
        "on a phone the strip scrolls and says so"
    )


@pytest.mark.parametrize("page", SIZES.values(), ids=SIZES, indirect=True)
def test_heading_is_short_and_screen_and_paper_show_each_number_with_its_interval(
    page: Any,
) -> None:
    assert len(page.locator("h1").inner_text()) <= 90
    assert re.fullmatch(
        r".*slope [+−]\S+ \[.+\] points per unit, 39 photos\.",
        page.locator(".figures").inner_text(),
    )
    rows = page.locator(".levels").first.locator("li:not(.head)")
    for medium in ("screen", "print"):
        page.emulate_media(media=medium)
        if medium == "print":
            page.set_viewport_size(
                {"width": 700, "height": 900}
            )  # as wide as A4 within its margins
        assert "needs scripts" not in page.inner_text("body")
        for place in range(rows.count()):
            row = rows.nth(place)
            assert "[" in row.locator(".slope").inner_text()
            assert row.locator("svg").bounding_box()["width"] > 60
    page.emulate_media(media="screen")


def test_scripts_and_terminal_write_the_same_numbers(chromium: Any) -> None:
    known = [17.46, -24.197, -0.04, 0.05, 2.25, -2.25, 0.35, 2.25 - 1e-15, 0.0, 100.05, 1e-9]
    script = (Path(words.__file__).parents[1] / "slopes/templates/page-base.js").read_text("utf-8")
    body = script[script.index("const nudged =") : script.index("// The paper's slopes")]
    shown = chromium.new_page().evaluate(
        f"(numbers) => {{ {body}; return numbers.map(points); }}", known
    )
    assert shown == [numbers.points(number) for number in known]


@pytest.mark.slow
def test_keyboard_reaches_labels_photos_and_slider(page: Any) -> None:
    explorer(page)
    reached = set()
    page.locator("#app-f0 input[type=search]").focus()
    for _ in range(110):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                "(document.activeElement.type || '') + '.' + document.activeElement.className"
            )
        )
    assert {"button.sort", "button.label", "button.photo", "range.", "search."} <= {
        kind.replace("submit.", "button.") for kind in reached
    }
    page.locator("#app-f0 button.label").first.focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == labels(page)[1]
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.textContent") == labels(page)[-1]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") != "label"  # the list is one stop
    page.locator("button.photo").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert (
        page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
    )  # focus stays in the list
    slider = page.get_by_role("slider")
    slider.focus()
    before = slider.input_value()
    page.keyboard.press("ArrowRight")
    assert int(slider.input_value()) == int(before) + 1


@pytest.mark.slow
@pytest.mark.parametrize("page", SIZES.values(), ids=SIZES, indirect=True)
def test_nothing_is_wider_than_the_window_and_axe_finds_no_serious_fault(
    page: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright",
        reason="axe-playwright-python is not installed: pip install 'gslopes[test]'",
    ).Axe()
    page.locator("#app-f0 button.label").first.click()
    explorer(page)
    for scheme in ("light", "dark") if page.viewport_size["width"] > 1000 else ("light",):
        page.emulate_media(color_scheme=scheme)
        faults = axe.run(page).response["violations"]
        serious = [
            (fault["id"], fault["nodes"][0]["html"])
            for fault in faults
            if fault["impact"] in ("serious", "critical")
        ]
        assert serious == []
    wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1]
    folder = Path(os.environ.get("GSLOPES_SCREENSHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    picture = folder / f"report-{request.node.callspec.id}.png"
    page.screenshot(path=picture, full_page=True)
    assert picture.stat().st_size > 50_000


MEASURED = """() => {
  const fold = document.getElementById("everything");
  const screens = (fold.getBoundingClientRect().top + scrollY) / innerHeight;
  fold.hidden = true;
  return [screens, document.body.innerText.match(/\\S*[\\p{L}\\p{N}]\\S*/gu).length];
}"""


@pytest.mark.slow
@pytest.mark.parametrize("page", [(1280, 800), (390, 844)], ids=SIZES, indirect=True)
def test_what_is_not_folded_takes_a_minute(page: Any) -> None:
    explorer(page)
    screens, said = page.evaluate(MEASURED)
    assert screens <= 5
    assert 200 <= said <= 900


HOSTILE = (Path(__file__).parent / "hostile-labels.txt").read_text("utf-8").splitlines()


@pytest.mark.slow
@pytest.mark.figures("none")
def test_no_label_of_a_stranger_runs(
    make: Callable[..., Path], tmp_path: Path, chromium: Any
) -> None:
    run = make(tmp_path / "run", [("celeba-tagger", "gender")], photos=40)
    for table in (tables.SLOPES, tables.SCORES):
        found = tables.read(table, run / f"{table.name}.parquet")
        hostile = [label for label in HOSTILE if label not in set(found["label"])]
        copies = [found[found["label"] == "Lipstick"].assign(label=label) for label in hostile]
        tables.write(
            table, pd.concat([found, *copies], ignore_index=True), run / f"{table.name}.parquet"
        )
    wrong: list[str] = []
    page = chromium.new_page()
    page.on(
        "console",
        lambda message: (
            wrong.append(message.text) if message.type in ("error", "warning") else None
        ),
    )
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: (wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on(
        "request",
        lambda asked: None if asked.url.startswith("file:") else wrong.append(f"asked {asked.url}"),
    )
    page.goto(write_report(run).as_uri())
    page.evaluate("location.hash = 'findings'")
    page.wait_for_selector("#app-f0 table.labels")
    for label in map(words.printable, HOSTILE):
        page.locator("#app-f0").get_by_label("Find a label").fill(label)
        page.locator("#app-f0 tbody button.label").nth(labels(page).index(label)).click()
        assert page.locator("#app-f0 .panel h4").inner_text() == label
        page.keyboard.press("Escape")
    assert explorer(page).inner_text()
    assert page.title()
    assert wrong == []
    page.close()
