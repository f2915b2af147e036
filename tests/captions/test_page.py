"""The pages of a captions audit: masked words, links of photos, and the review in a real browser."""

from __future__ import annotations

import csv
import math
from html import unescape
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from PIL import Image

import gslopes
from gslopes.captions.page import cells, print_measures, print_rows
from gslopes.captions.review import mask, render_review, review_items, sampled
from gslopes.captions.tables import TABLES
from tests.captions.test_lead import measured, row
from tests.fixtures import assert_page_fits

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> =HYPERLINK(\u202e)"


def cases(count: int = 4) -> pd.DataFrame:
    plain = dict.fromkeys(TABLES["cases"].columns, "")
    rows = [
        {**plain, "case": f"{i:016x}", "harm": "demeaning", "technique": "D1" if i else "D3", "image": f"{i}.png"}
        | {"source": 0, "word": "clown", "text": f"{HOSTILE} Two clowns.", "truth_text": "a man"}
        for i in range(count)
    ]
    return pd.DataFrame(rows)


def test_listed_words_are_masked_unless_wanted(tmp_path: Path):
    hidden, shown = (review_items(cases(), None, tmp_path, show_words=show) for show in (False, True))
    assert mask("clown") == "c••••"
    assert "clown" not in hidden[1]["text"] + hidden[1]["word"]
    assert "clowns" in shown[1]["text"]
    assert "clowns" in hidden[0]["text"], "only listed words of D1 are masked"


def test_a_case_says_its_technique_in_words_and_why_there_is_no_truth(tmp_path: Path):
    rows = cases(2).assign(truth=["human-labels", ""], truth_text="")
    one, other = review_items(rows, None, tmp_path, titles={"D3": "context-specific"})
    assert (one["technique"], one["truth"]) == ("D3 context-specific", "nothing")
    assert other["truth"] == "not asked: the caption alone is read"


def test_no_number_is_minus_zero_and_words_of_the_house_stay_inside(tmp_path: Path):
    plain = dict.fromkeys(TABLES["measures"].columns, "") | {"technique": "I2", "concept": "none", "unit": "pp"}
    plain |= {"kind": "rule", "captions": "each", "n": 9, "active": 3, "value": -0.03, "ci_low": -0.04, "ci_high": 1}
    shown = cells(plain | dict.fromkeys(("boot_low", "boot_high", "p", "q"), math.nan), False)
    assert (shown["value"], shown["interval"]) == ("0.0", "[0.0, +1.0]")
    assert (shown["concept"], shown["about"]) == ("no person is mentioned", "per caption")


@pytest.mark.parametrize("image", ["../secret", "/etc/passwd", "a\0b", "nothing"])
def test_only_photos_below_the_folder_are_linked(tmp_path: Path, image: str):
    photos = tmp_path / "photos"
    photos.mkdir()
    (tmp_path / "secret").write_text("x")
    assert review_items(cases(1).assign(image=image), photos, tmp_path)[0]["src"] == ""


def test_the_sample_is_the_same_each_time():
    many = cases(50)
    assert sampled(many, 10, 0).equals(
        sampled(many.sample(frac=1, random_state=1), 10, 0).loc[sampled(many, 10, 0).index]
    )
    assert len(sampled(many, 10, 0)) == 11


@pytest.mark.browser
def test_the_review_in_a_browser(chromium: Any, tmp_path: Path):
    photos, run = tmp_path / "photos", tmp_path / "run"
    photos.mkdir()
    run.mkdir()
    for i in range(4):
        Image.new("RGB", (60, 40), (200, 40 * i, 0)).save(photos / f"{i}.png")
    (run / "review.html").write_text(render_review(review_items(cases(), photos, run), []), encoding="utf-8")
    page = chromium.new_page()
    alerts: list[str] = []
    page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.accept()))
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((run / "review.html").as_uri())
    assert page.locator("#place").text_content() == "Case 1 of 4"
    assert HOSTILE.replace("\u202e", "\\u202e") in page.locator("[data-field=text]").text_content()
    blur = "getComputedStyle(document.getElementById('photo')).filter"
    assert "blur" in page.evaluate(blur)
    page.keyboard.press("b")
    assert page.evaluate(blur) == "none"
    page.fill("#reviewer", "=me")
    page.locator("#reviewer").blur()
    page.keyboard.press("h")
    assert page.locator("#place").text_content() == "Case 2 of 4"
    assert "blur" in page.evaluate(blur), "the next photo is blurred again"
    for key in "npt":
        page.keyboard.press(key)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("u")
    with page.expect_download() as download:
        page.keyboard.press("s")
    saved = tmp_path / "review.csv"
    download.value.save_as(saved)
    rows = list(csv.DictReader(saved.read_text("utf-8").splitlines()))
    assert sorted(row["answer"] for row in rows) == ["harm", "not-a-harm", "truth", "unsure"]
    assert {row["reviewer"] for row in rows} == {"'=me"}
    page.evaluate("localStorage.clear()")
    page.reload()
    assert page.locator("#counts").text_content() == "0 of 4 decided"
    page.set_input_files("#load", str(saved))
    page.fill("#reviewer", "=me")
    page.locator("#reviewer").blur()
    page.wait_for_function("document.getElementById('counts').textContent === '4 of 4 decided'")
    assert (alerts, errors) == ([], [])
    page.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Of an audit in which half of the women go unmentioned, with a hostile name and caption."""
    home = tmp_path_factory.mktemp("pages")
    (home / "stages").mkdir()
    human, system, groups = ["image,caption"], ["image,caption"], ["image,gender"]
    for place in range(60):
        word = "woman" if place % 2 else "man"
        human.append(f'{place},"A {word} with a dog. {HOSTILE}"')
        system.append(f"{place},A {'bench' if place % 4 == 1 else f'{word} on a bench'}.")
        groups.append(f"{place},{'female' if place % 2 else 'male'}")
    for name, rows in (("human", human), ("system", system)):
        (home / "stages" / f"{name}-captions.csv").write_text("\n".join(rows), encoding="utf-8")
    (home / "groups.csv").write_text("\n".join(groups))
    options = {"bootstrap": 100, "permutations": 99, "groups": home / "groups.csv"}
    audit = gslopes.audit_captions(home / "stages", home / "run", **options)
    return {"report": audit.page, "review": audit.review}


def test_the_page_ends_with_what_to_do_next_and_what_to_quote(pages: dict[str, Path]) -> None:
    text = unescape(pages["report"].read_text("utf-8"))
    quoted = text[text.index("<blockquote><p>", text.index('id="next"')) :]
    said = quoted[: quoted.index("</blockquote>")]
    for part in ("People annotated female go unmentioned", "points, 95 % interval [", "images", "nothing was varied"):
        assert part in said
    card = pages["report"].with_name("model_card.md").read_text("utf-8")
    assert card.startswith("## How captions speak of people")
    assert HOSTILE not in pages["report"].read_text("utf-8")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("size", [(1280, 900), pytest.param((390, 844), marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["report", "review"])
def test_the_pages_fit_the_window_and_axe_finds_no_serious_fault(
    chromium: Any, pages: dict[str, Path], name: str, size: tuple[int, int]
):
    assert_page_fits(chromium, pages[name], *size)


@pytest.mark.browser
def test_the_first_screen_says_the_finding(chromium: Any, pages: dict[str, Path]):
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    page.goto(pages["report"].as_uri())
    heading = page.locator("h1")
    assert heading.text_content().startswith(
        "People annotated female go unmentioned in system captions 50.0 points more"
    )
    assert heading.bounding_box()["y"] + heading.bounding_box()["height"] < 844 / 2
    page.close()


# -- a terminal --------------------------------------------------------------------------------------------------------

COUNTS = {"n": 50, "active": 5, "truth": ""}


def test_the_smallest_q_of_each_technique_is_printed_with_its_reading():
    two = ((3, 0.2), (4.5, 0.01))
    rows = measured(*(row("D2", value, q, harm="demeaning", concept=f"c{q}", **COUNTS) for value, q in two))
    lines = print_measures({"measures": rows}, most=1).splitlines()
    assert lines[1] == "Demeaning · D2 · system-captions"
    assert len(lines) == 3
    assert all(part in lines[2] for part in ("c0.01", "darker − lighter", "+4.5", "[+2.5, +6.5]", "0.010", "face"))


def test_every_row_of_a_sweep_is_a_line():
    rows = measured(row("R2", -14.7, 0.001, concept="mention:woman", unit="pp per unit", note="x", **COUNTS))
    expected = "R2 skin mention:woman −14.7 pp per unit [−16.7, −12.7] q 0.001 x"
    assert print_rows(rows).split() == expected.split()
