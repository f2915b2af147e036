"""The review page in a real browser, opened from the disk and answered by keyboard."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gslopes.collect.census.answers import read_answers
from gslopes.report.review import Item, render_review

NASTY = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"


def items(folder: Path, count: int = 5) -> list[Item]:
    found = []
    for number in range(count):
        name = f"{'=' if number == 0 else ''}a b#{number}%.jpg"
        Image.fromarray(np.full((60, 80, 3), 40 * number, np.uint8)).save(folder / name)
        row = {"photo": f"{number:064x}", "path": name, "occupation": NASTY if number == 1 else "chef"}
        row |= {"box": [0.25, 0.1, 0.5, 0.6], "masculine": 0.6 if number % 2 else 0.3, "young": 0.7}
        row |= {"white": 0.5, "black": 0.3, "asian": 0.1, "indian": 0.05, "other": 0.05}
        saved = {"title": NASTY, "creator": "Ann", "licence": "CC BY 4.0", "page": "javascript:alert(1)"}
        linked = {"licence": "CC0 1.0", "page": "https://example.org/2"}
        found.append(Item.of(row, {1: saved, 2: linked}.get(number, {}), str(Path("..") / folder.name / name)))
    return found


@pytest.fixture
def page(chromium: Any, tmp_path: Path) -> Iterator[Any]:
    (tmp_path / "photos").mkdir()
    (tmp_path / "census").mkdir()
    text = render_review(items(tmp_path / "photos"), [], 0.9)
    (tmp_path / "census/review.html").write_text(text, encoding="utf-8")
    opened = chromium.new_context(accept_downloads=True).new_page()
    opened.problems = []
    opened.on("console", lambda message: opened.problems.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: opened.problems.append(str(error)))
    opened.asked = []
    opened.on("request", lambda request: opened.asked.append(request.url))
    opened.goto((tmp_path / "census/review.html").as_uri())
    yield opened
    opened.context.close()


def press(page: Any, keys: str) -> None:
    for key in keys.split():
        page.keyboard.press(key)


def save(page: Any, to: Path) -> list[dict[str, str]]:
    with page.expect_download() as coming:
        page.keyboard.press("s")
    assert coming.value.suggested_filename == "review.csv"
    coming.value.save_as(to)
    with to.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.browser
def test_accept_correct_exclude_undecided_and_both_other_answers_by_keyboard(page, tmp_path):
    assert page.inner_text("#place") == "Photo 1 of 5"
    assert page.inner_text("#gender") == "female (70 %)"
    assert page.inner_text("#race") == "White (50 %)"
    press(page, "a n u x d")
    assert page.inner_text("#counts") == "4 decided"
    assert page.inner_text("#saved") == "not saved to a file yet"
    rows = save(page, tmp_path / "review.csv")
    saved = [(row["decision"], row["gender"]) for row in rows]
    assert saved == [
        ("accept", "female"),
        ("correct", "non-binary"),
        ("correct", "unknown"),
        ("exclude", ""),
        ("undecided", ""),
    ]
    assert [row["photo"] for row in rows] == [f"{number:064x}" for number in range(5)]
    assert rows[0]["path"] == "'=a b#0%.jpg"
    assert page.inner_text("#saved") == "all saved"
    assert page.problems == []


@pytest.mark.browser
def test_race_and_age_are_corrected_before_moving_on_and_answers_can_be_changed(page, tmp_path):
    press(page, "3 o f ArrowLeft m")
    (row,) = save(page, tmp_path / "review.csv")
    assert (row["decision"], row["gender"], row["race"], row["age"]) == ("correct", "male", "asian", "35 or older")
    press(page, "ArrowLeft a ArrowLeft 2")
    (row,) = save(page, tmp_path / "review.csv")
    assert (row["decision"], row["gender"], row["race"], row["age"]) == ("correct", "", "black", "")
    assert page.inner_text("#counts") == "0 decided"
    press(page, "ArrowLeft x")
    assert [row["decision"] for row in save(page, tmp_path / "review.csv")] == ["exclude"]
    press(page, "ArrowRight ArrowRight a ArrowLeft ArrowLeft ArrowLeft g g")
    assert page.inner_text("#place") == "Photo 5 of 5"


@pytest.mark.browser
def test_the_photo_and_the_frame_around_its_face_are_shown(page):
    page.wait_for_function("document.getElementById('photo').naturalWidth === 80")
    photo, box = (page.locator(name).bounding_box() for name in ("#photo", "#box"))
    assert (box["x"] - photo["x"]) / photo["width"] == pytest.approx(0.25, abs=0.01)
    assert box["height"] / photo["height"] == pytest.approx(0.5, abs=0.01)
    assert "not who the person is" in page.inner_text("header")


@pytest.mark.browser
def test_words_of_strangers_stay_words_and_no_server_is_asked(page):
    press(page, "ArrowRight")
    assert NASTY in page.inner_text("#occupation")
    assert "Ann · CC BY 4.0" in page.inner_text("#credit")
    assert "javascript" not in page.inner_text("#credit")
    assert page.title().startswith("Review")
    assert all(url.startswith(("file:", "blob:")) for url in page.asked)
    assert page.locator("#credit img, #occupation img").count() == 0


@pytest.mark.browser
def test_the_sources_page_is_a_link_that_tells_nobody_where_the_reader_came_from(page):
    press(page, "ArrowRight ArrowRight")
    link = page.locator("#credit a")
    assert (link.get_attribute("href"), link.get_attribute("rel")) == ("https://example.org/2", "noreferrer noopener")
    assert page.inner_text("#credit") == "CC0 1.0 · https://example.org/2"
    press(page, "ArrowRight")
    assert page.locator("#credit a").count() == 0
    assert page.problems == []


@pytest.mark.browser
def test_a_closed_window_loses_nothing_and_saved_answers_are_read_back(page, chromium, tmp_path):
    press(page, "f m")
    page.close(run_before_unload=False)
    again = page.context.new_page()
    again.goto((tmp_path / "census/review.html").as_uri())
    assert again.inner_text("#counts") == "2 decided"
    assert again.inner_text("#place") == "Photo 3 of 5"
    saved = save(again, tmp_path / "review.csv")
    assert saved[0]["path"] == "'=a b#0%.jpg"  # no spreadsheet runs it
    assert read_answers(tmp_path / "review.csv", required=True).by_photo[f"{0:064x}"].path == "=a b#0%.jpg"
    other = chromium.new_context().new_page()
    other.goto((tmp_path / "census/review.html").as_uri())
    assert other.inner_text("#counts") == "0 decided"
    other.set_input_files("#load", str(tmp_path / "review.csv"))
    other.wait_for_function("document.getElementById('counts').textContent === '2 decided'")
    assert save(other, tmp_path / "again.csv") == saved
    other.context.close()


@pytest.mark.browser
def test_earlier_answers_come_with_the_page_and_are_saved_again(page, tmp_path):
    earlier = [
        {"photo": "f" * 64, "path": 'quo"te,d.jpg', "decision": "correct", "gender": "male", "race": "", "age": ""}
    ]
    (tmp_path / "census/again.html").write_text(render_review(items(tmp_path / "photos"), earlier, 0.9), "utf-8")
    page.goto((tmp_path / "census/again.html").as_uri())
    press(page, "a")
    rows = save(page, tmp_path / "review.csv")
    assert rows[0] == earlier[0]
    assert list(rows[1].values())[2:] == ["accept", "female", "white", "under 35"]


@pytest.mark.browser
def test_every_key_has_a_button_that_a_screen_reader_can_name(page):
    names = [name.strip() for name in page.locator("button").all_inner_texts()]
    assert len(names) == 20
    page.get_by_role("button", name=re.compile("non-binary")).click()
    assert page.inner_text("#counts") == "1 decided"


def test_a_page_with_nothing_to_review_says_so():
    text = render_review([], [], 0.9)
    assert "There is nothing to review." in text


def test_the_policy_lets_nothing_in_but_our_own_files_and_photos():
    text = render_review([], [], 0.9)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', text)
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
