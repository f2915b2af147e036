"""The crowd's page in a real browser: with the keyboard, on a phone; what it saves is what ``--ratings`` reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from PIL import Image

from gslopes.contexts.analysis import read_ratings, summarise_ratings
from gslopes.contexts.page import RATED as COLUMNS
from gslopes.contexts.page import rating_page
from tests.fixtures import assert_page_fits

PLACES = {"bridal.1": "bridal", "bridal.2": "bridal", "garage.1": "garage", "gym.1": "gym"}


def composites(run: Path) -> pd.DataFrame:
    rows = []
    for number, (key, context) in enumerate(PLACES.items()):
        Image.new("RGB", (96, 64), (60 * number, 90, 120)).save(run / f"{key}.png")
        rows.append({"kind": "empty", "photo": key, "attribute": "empty", "context": context, "file": f"{key}.png"})
    rows.append({"kind": "context", "photo": "p", "attribute": "gym.1", "context": "gym", "file": "gym.1.png"})
    rows.append({"kind": "empty", "photo": "out.1", "attribute": "empty", "context": "out", "file": "../out.png"})
    return pd.DataFrame(rows)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    page = tmp_path / "rating.html"
    page.write_text(rating_page(tmp_path, composites(tmp_path)), "utf-8")
    return page


def test_names_and_stereotypes_are_not_shown_and_files_outside_the_run_are_not_read(written: Path) -> None:
    text = written.read_text("utf-8")
    assert "bridal" not in text.partition('id="page-data"')[0]
    assert text.count("data:image/png") == len(PLACES)
    assert '"out"' not in text


def test_without_empty_backgrounds_there_is_no_page(tmp_path: Path) -> None:
    assert rating_page(tmp_path, composites(tmp_path).query("kind == 'context'")) == ""


def opened(chromium: Any, file: Path, **options: Any) -> tuple[Any, list[str]]:
    page = chromium.new_context(accept_downloads=True, **options).new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on(
        "request",
        lambda asked: wrong.append(asked.url) if not asked.url.startswith(("file:", "data:", "blob:")) else None,
    )
    page.goto(file.as_uri())
    return page, wrong


def saved(page: Any, to: Path) -> pd.DataFrame:
    with page.expect_download() as download:
        page.locator("#save").click()
    assert download.value.suggested_filename == "ratings.csv"
    download.value.save_as(to)
    answers, warnings = read_ratings(to)
    assert warnings == ["None of the ratings was coded: all count."]
    return answers


@pytest.mark.browser
@pytest.mark.figures
def test_with_the_keyboard_alone_each_context_is_rated_once(chromium: Any, written: Path, tmp_path: Path) -> None:
    page, wrong = opened(chromium, written)
    assert page.inner_text("#place") == "Place 1 of 3"
    assert page.locator("#next").is_disabled()  # no answer before one is given
    page.keyboard.press("Enter")
    assert page.inner_text("#place") == "Place 1 of 3"
    page.locator("#text").focus()
    page.keyboard.type('=SUM(1), "7"')  # digits in the text rate nothing
    assert page.inner_text("#value") == "not yet rated"
    page.locator("#rating").focus()
    for key in ("3", "ArrowRight", "Enter", "9", "Enter", "0", "Enter"):
        page.keyboard.press(key)
    assert page.inner_text("#place") == "All places are rated."
    page.locator("#gender").select_option("woman")
    page.locator("#rater").fill("7")
    answers = saved(page, tmp_path / "ratings.csv")
    assert sorted(answers["context"]) == ["bridal", "garage", "gym"]
    assert sorted(answers["rating"]) == [0, 4, 9]
    assert set(answers["rater"]) == {"7"}
    assert set(answers["gender"]) == {"woman"}
    text = (tmp_path / "ratings.csv").read_text("utf-8")
    assert text.startswith(",".join(COLUMNS) + "\n")
    assert '"\'=SUM(1), ""7"""' in text
    assert len(summarise_ratings(answers)) == 3
    assert wrong == []
    page.context.close()


@pytest.mark.browser
@pytest.mark.figures
def test_on_a_phone_with_a_finger_and_back(chromium: Any, written: Path, tmp_path: Path) -> None:
    page, wrong = opened(chromium, written, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert all(box["height"] >= 44 for box in (page.locator(f"#{name}").bounding_box() for name in ("next", "rating")))
    first = page.locator("#picture").get_attribute("src")
    for share in (0.5, 0.1, 0.9):  # the middle, where the slider stands, is an answer too
        box = page.locator("#rating").bounding_box()
        page.touchscreen.tap(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        assert page.inner_text("#value") == str(round(10 * share))
        page.locator("#next").tap()
    page.locator("#again").tap()
    page.locator("#back").tap()
    page.locator("#back").tap()
    assert page.locator("#picture").get_attribute("src") == first
    assert page.inner_text("#value") == "5"
    for _ in range(3):
        page.locator("#next").tap()
    answers = saved(page, tmp_path / "ratings.csv")
    assert sorted(answers["rating"]) == [1, 5, 9]
    assert answers["rater"].nunique() == 1  # a number of its own
    assert answers["rater"].iloc[0]
    assert wrong == []
    page.context.close()


@pytest.mark.browser
@pytest.mark.figures
@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_the_page_fits_and_has_no_serious_fault(chromium: Any, written: Path, width: int, height: int) -> None:
    assert_page_fits(chromium, written, width, height)
