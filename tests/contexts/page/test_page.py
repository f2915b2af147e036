"""The context audit's pages in a real browser: the review of cut-outs, names of strangers."""

import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gslopes.contexts import TABLES
from gslopes.contexts.stimuli.people import read_review
from gslopes.core import tables
from gslopes.frame.result import Result
from gslopes.report import words
from tests.contexts.drawn import Tagger, audit, draw
from tests.fixtures import SIBLINGS, assert_one_minute, assert_page_fits, questions

pytestmark = [pytest.mark.browser, pytest.mark.figures]
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
HOSTILE = (
    (Path(__file__).parents[2] / "slopes/page" / "hostile-labels.txt")
    .read_text("utf-8")
    .splitlines()
)
SCRIPT = "<script>document.title='owned'</script>"
GROUPS = {"A": f"$x_{{ {SCRIPT}", "B": '" onmouseover="document.title=\'owned\'" x="'}
PHOTOS = {
    "00.png": b"<img src=x onerror=alert(1)>.png",
    "01.png": b"new\nline' onfocus=alert(2) '.png",
    "02.png": b"bytes\xff.png",
}


class Hostile(Tagger):
    """As the other, with tags of a stranger."""

    def ask(self, pictures):
        return [[*tags, *HOSTILE] if "woman" in tags else tags for tags in super().ask(pictures)]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """An audit all of whose names are a stranger's."""
    home = tmp_path_factory.mktemp("strangers") / "of<b>markup&amp;"
    draw(home, 12)
    names = {}
    for old, new in PHOTOS.items():
        os.rename(home / "people" / old, os.path.join(os.fsencode(home / "people"), new))
        names[old[:-4]] = new.decode("utf-8", "backslashreplace")
    with (home / "people.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["id"] = names.get(row["id"], row["id"])
        row["ethnicity"] = GROUPS[row["ethnicity"]]
    rows[3]["gender"] = SCRIPT
    with (home / "people.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    records = (home / "backgrounds/contexts.toml").read_text("utf-8")
    stranger = "".join(
        f'{field} = "{SCRIPT}"\n' for field in ("title", "licence", "creator", "source")
    )
    (home / "backgrounds/contexts.toml").write_text(
        records.replace("[bridal]\n", f"[bridal]\n{stranger}"), "utf-8"
    )
    return audit(home, home / "run", classifier=Hostile(SCRIPT))


@pytest.fixture
def page(chromium: Any, hostile: Result) -> Iterator[Any]:
    """The report, opened from the disk; at the end: no message, no dialog, no request to anywhere else."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    opened = context.new_page()
    wrong: list[str] = []
    opened.on(
        "console",
        lambda message: (
            wrong.append(message.text) if message.type in ("error", "warning") else None
        ),
    )
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("dialog", lambda dialog: (wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
    opened.on(
        "request",
        lambda request: (
            wrong.append(request.url)
            if not request.url.startswith(("file:", "data:", "blob:"))
            else None
        ),
    )
    opened.goto(f"{hostile.page.as_uri()}#everything")
    yield opened
    assert opened.title() in ("Does the background decide who is seen?", "Cut-outs")
    assert wrong == []
    context.close()


@pytest.mark.slow
@pytest.mark.row("contexts-fig-3")
def test_names_of_strangers_are_text_and_every_picture_and_figure_is_there(
    page: Any, hostile: Result
) -> None:
    assert SCRIPT in page.inner_text("header")
    text = page.inner_text("body")
    assert f"bridal by {SCRIPT}, {SCRIPT}" in text
    assert f"One person, self-reported: {SCRIPT}." in text
    assert page.locator("main img[src=x], main iframe, main script").count() == 0
    broken = """Promise.all([...document.images].map((image) => { image.loading = "eager";
        return image.decode().then(() => null, () => image.alt); })).then((found) => found.filter(Boolean))"""
    assert page.evaluate(broken) == []
    first = page.locator(
        "section", has=page.get_by_role("heading", name="Does it answer differently?")
    )
    assert first.locator("li").first.inner_text().startswith("congruence, everybody")
    assert (
        first.locator("li span").first.get_attribute("title")
        == f"{SCRIPT}, right answers, congruence, everybody"
    )
    assert (
        page.locator("#part-1 ~ figure li").count() == 12
    )  # what is inferred of all, women and men in two rooms
    assert (
        page.locator(".tiles li").count() == 4 + 3 * 4
    )  # a room, a person, both; people by photo, canvas and rooms
    assert page.locator(".tiles li").first.inner_text() == "bridal.1 alone"
    assert questions(hostile.page.read_text("utf-8")) == SIBLINGS


@pytest.mark.slow
@pytest.mark.row("contexts-4.3-checked")
def test_cut_outs_are_answered_by_key_and_button_and_the_file_is_what_the_command_reads(
    page: Any, hostile: Result, tmp_path: Path
) -> None:
    page.get_by_role("link", name="All cut-outs").click()
    figures = page.locator("figure")
    assert figures.count() == 12
    text = page.inner_text(".sheet")
    for name in PHOTOS.values():
        assert words.printable(name.decode("utf-8", "backslashreplace")) in text
    assert (
        figures.first.locator("img").first.evaluate(
            "image => image.decode().then(() => image.naturalWidth)"
        )
        == 160
    )
    figures.first.focus()
    page.keyboard.press("a")
    page.keyboard.press("X")
    page.keyboard.press("Control+a")
    figures.nth(2).get_by_role("button", name="Exclude").click()
    assert page.inner_text("#counts").startswith("3 of ")
    assert page.inner_text("#saved") == "not saved to a file yet"
    with page.expect_download() as coming:
        page.click("#save")
    coming.value.save_as(tmp_path / "review.csv")
    assert page.inner_text("#saved") == "all saved"
    decisions = read_review(tmp_path / "review.csv")
    assert list(decisions.values()) == ["accept", "exclude", "exclude"]
    assert set(decisions) <= set(
        tables.read(TABLES["cutouts"], hostile.folder / "cutouts.parquet")["photo"]
    )


@pytest.mark.slow
@pytest.mark.parametrize("size", ["desktop", pytest.param("phone", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["report", "cutouts", "sweep"])
def test_nothing_is_wider_than_the_window_and_axe_finds_no_serious_fault(
    chromium: Any, hostile: Result, swept: Result, name: str, size: str
) -> None:
    assert hostile.page
    assert swept.page
    pages = {
        "report": hostile.page,
        "cutouts": hostile.page.with_name("cutouts.html"),
        "sweep": swept.page,
    }
    assert_page_fits(chromium, pages[name], *SIZES[size])


@pytest.mark.slow
def test_the_sweeps_page_shows_context_and_face(chromium: Any, swept: Result) -> None:
    opened = chromium.new_page()
    opened.goto(f"{swept.page.as_uri()}#everything")
    section = opened.locator("section", has=opened.get_by_role("heading", name="Context and face"))
    assert section.locator("li").count() == 4  # two backgrounds, context and face
    opened.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hostile", "swept"])
def test_the_first_minute_is_five_screens(
    chromium: Any, request: pytest.FixtureRequest, name: str
) -> None:
    assert_one_minute(chromium, request.getfixturevalue(name).page)
