"""The review page in a real browser, opened from the disk and answered by keyboard."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gslopes.collect.census import chances, items_of, read_answers, render_review
from gslopes.core.csv_table import read_csv
from gslopes.core.files import without_guard
from gslopes.report.inline import render, templates
from gslopes.report.review import review_data
from tests.fixtures import assert_page_fits

NASTY = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
)


def items(folder: Path, count: int = 5) -> list[dict[str, Any]]:
    result = []
    for number in range(count):
        name = f"{'=' if number == 0 else ''}a b#{number}%.jpg"
        Image.fromarray(np.full((60, 80, 3), 40 * number, np.uint8)).save(folder / name)
        row = {
            "photo": f"{number:064x}",
            "path": name,
            "occupation": NASTY if number == 1 else "chef",
        }
        row |= {"box": [0.25, 0.1, 0.5, 0.6], "masculine": 0.6 if number % 2 else 0.3, "young": 0.7}
        row |= {"white": 0.5, "black": 0.3, "asian": 0.1, "indian": 0.05, "other": 0.05}
        saved = {
            "title": NASTY,
            "creator": "Ann",
            "licence": "CC BY 4.0",
            "page": "javascript:alert(1)",
        }
        linked = {"licence": "CC0 1.0", "page": "https://example.org/2"}
        source = {1: saved, 2: linked}.get(number, {})
        file = str(Path("..") / folder.name / name)
        result.append({**row, "read": chances(row), "source": source, "file": file})
    return items_of(result)


@pytest.fixture
def page(chromium: Any, tmp_path: Path) -> Iterator[Any]:
    (tmp_path / "photos").mkdir()
    (tmp_path / "census").mkdir()
    text = render_review(items(tmp_path / "photos"), [], 0.9)
    (tmp_path / "census/review.html").write_text(text, encoding="utf-8")
    opened = chromium.new_context(accept_downloads=True).new_page()
    opened.problems = []
    opened.on(
        "console",
        lambda message: opened.problems.append(message.text) if message.type == "error" else None,
    )
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
    assert page.inner_text("[data-field=gender_text]") == "female (70 %)"
    assert page.inner_text("[data-field=race_text]") == "White (50 %)"
    assert len(page.locator("button").all_inner_texts()) == 22, (
        "every key has a button; one is hidden"
    )
    page.wait_for_function("document.getElementById('photo').naturalWidth === 80")
    photo, box = (page.locator(name).bounding_box() for name in ("#photo", "#box"))
    assert (box["x"] - photo["x"]) / photo["width"] == pytest.approx(0.25, abs=0.01)
    assert box["height"] / photo["height"] == pytest.approx(0.5, abs=0.01)
    press(page, "a n u x d")
    assert page.inner_text("#counts") == "4 of 5 decided"
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
def test_words_of_strangers_stay_words_and_no_server_is_asked(page):
    press(page, "ArrowRight")
    assert NASTY in page.inner_text("#occupation")
    assert "Ann · CC BY 4.0" in page.inner_text("#credit")
    assert "javascript" not in page.inner_text("#credit")
    assert page.title().startswith("Review")
    assert all(url.startswith(("file:", "blob:")) for url in page.asked)
    assert page.locator("#credit img, #occupation img").count() == 0
    press(page, "ArrowRight")
    link = page.locator("#credit a")
    assert (link.get_attribute("href"), link.get_attribute("rel")) == (
        "https://example.org/2",
        "noreferrer noopener",
    )
    assert page.problems == []


@pytest.mark.slow
@pytest.mark.browser
def test_a_closed_window_loses_nothing_and_saved_answers_are_read_back(page, chromium, tmp_path):
    press(page, "f m")
    page.close(run_before_unload=False)
    again = page.context.new_page()
    again.goto((tmp_path / "census/review.html").as_uri())
    assert again.inner_text("#counts") == "2 of 5 decided"
    assert again.inner_text("#place") == "Photo 3 of 5"
    saved = save(again, tmp_path / "review.csv")
    assert saved[0]["path"] == "'=a b#0%.jpg"  # no spreadsheet runs it
    assert read_answers(tmp_path / "review.csv")[f"{0:064x}"]["path"] == "=a b#0%.jpg"
    second = chromium.new_context().new_page()
    second.goto((tmp_path / "census/review.html").as_uri())
    assert second.inner_text("#counts") == "0 of 5 decided"
    second.set_input_files("#load", str(tmp_path / "review.csv"))
    second.wait_for_function("document.getElementById('counts').textContent === '2 of 5 decided'")
    assert save(second, tmp_path / "again.csv") == saved
    second.context.close()


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(("size", "count"), [((390, 844), 5), ((1280, 900), 0)])
def test_the_page_fits_the_window_and_axe_finds_no_serious_fault(chromium, tmp_path, size, count):
    (tmp_path / "photos").mkdir()
    (tmp_path / "census").mkdir()
    (tmp_path / "census/review.html").write_text(
        render_review(items(tmp_path / "photos", count), [], 0.9), "utf-8"
    )
    assert_page_fits(chromium, tmp_path / "census/review.html", *size)


GRID = """{% extends "shell.html.j2" %}{% from "review-controls.html.j2" import files, status %}{% block main %}
{{ status() }}<input id="reviewer" type="text">{{ files() }}<p id="nothing" hidden></p>{% for one in shown %}
<div data-item tabindex="0">{{ one }}<button data-key="a">A</button><input type="text" data-column="note"></div>
{% endfor %}{% endblock %}"""
IDS = ('=HYPERLINK("http://x")', "a,b\nc", 'quo"te', "'+1", "plain")
NOTES = (
    "\ttab",
    "'apostrophe",
    "'=1+1",
    "''=x",
    "-1",
    ' "quoted", twice"',
    "two\nlines",
    "ünïcode",
)


def grid(folder: Path, answers: list[dict[str, str]], ids: tuple[str, ...] = IDS) -> str:
    """The address of a review of the ids, in a page of its own."""
    folder.mkdir(exist_ok=True)
    (folder / "grid.html.j2").write_text(GRID, "utf-8")
    items = [{"id": item} for item in ids]
    keys = {
        "a": {"set": {"answer": "yes"}, "next": True},
        "x": {"set": {"answer": "no"}, "next": True},
    }
    how: dict[str, Any] = {
        "copied": ("id",),
        "done": ({"answer": "*"},),
        "values": {"answer": ("yes", "no")},
    }
    data = review_data(
        items, answers, ("id", "answer", "by", "note"), keys=keys, reviewer="by", **how
    )
    templates.cache_clear()
    text = render(
        "grid.html.j2", house=folder, scripts=("review.js",), data=data, shown=ids, headline="Grid"
    )
    (folder / "review.html").write_text(text, "utf-8")
    return (folder / "review.html").as_uri()


def rows_of(file: Path) -> list[dict[str, str]]:
    """As every command reads a review."""
    return [
        {name: without_guard(cell) for name, cell in row.items()}
        for _, row in read_csv(file).rows()
    ]


@pytest.mark.slow
@pytest.mark.browser
def test_ids_and_notes_come_back_as_they_were_and_none_is_a_formula(page, tmp_path):
    ids = (*IDS, *(f"note {index}" for index in range(len(NOTES))))
    page.goto(grid(tmp_path / "grid", [], ids))
    for index in range(len(ids)):
        page.locator("[data-item]").nth(index).focus()
        page.keyboard.press("A" if index % 2 else "x")
    notes = [note.replace("\n", " ") for note in NOTES]  # what a line of text can hold
    for index, note in enumerate(notes):
        page.locator("[data-column]").nth(len(IDS) + index).fill(note)
    page.evaluate("document.activeElement.blur()")
    save(page, tmp_path / "review.csv")
    result = rows_of(tmp_path / "review.csv")
    assert [row["id"] for row in result] == list(ids)
    assert [row["note"] for row in result[len(IDS) :]] == notes
    for row in read_csv(tmp_path / "review.csv").frame().to_numpy().ravel():
        assert not re.match(r"[ \u00a0]*[=+\-@\t\r\n]", row)
    page.evaluate("localStorage.clear()")
    page.reload()
    page.set_input_files("#load", str(tmp_path / "review.csv"))
    page.wait_for_function("document.getElementById('saved').textContent.endsWith('answers read')")
    save(page, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "review.csv").read_bytes()
    assert page.problems == []


@pytest.mark.slow
@pytest.mark.browser
def test_every_answer_can_be_taken_back_and_only_what_is_unsaved_is_warned_about(page, tmp_path):
    page.goto(grid(tmp_path / "grid", []))
    warned = "!window.dispatchEvent(new Event('beforeunload', {cancelable: true}))"
    first = page.locator("[data-item]").first
    assert not page.evaluate(warned)
    first.focus()
    press(page, "A X")
    first.locator("[data-column]").fill("a note before nothing")
    assert page.evaluate(warned)
    assert page.inner_text("#counts") == "2 of 5 decided"
    page.click("#undo")
    assert first.locator("[data-column]").input_value() == ""
    press(page, "Z")
    assert page.inner_text("#counts") == "1 of 5 decided"
    press(page, "z z z")
    assert page.inner_text("#counts") == "0 of 5 decided"
    assert not page.evaluate(warned)
    first.focus()
    press(page, "a")
    save(page, tmp_path / "review.csv")
    assert not page.evaluate(warned)
    page.wait_for_timeout(500)  # the browser stores what a page keeps a moment later
    page.reload()
    assert page.inner_text("#counts") == "1 of 5 decided"
    assert not page.evaluate(warned)


@pytest.mark.slow
@pytest.mark.browser
def test_a_newer_file_stands_and_what_the_browser_kept_is_offered(page, tmp_path):
    address = grid(tmp_path / "grid", [])
    page.goto(address)
    page.locator("[data-item]").first.focus()
    press(page, "a a")
    row = {"id": IDS[0], "answer": "no", "by": "AB", "note": ""}
    grid(tmp_path / "grid", [row])
    page.goto(address)
    assert page.inner_text("#counts") == "1 of 5 decided"
    assert rows_saved(page, tmp_path)[0]["answer"] == "no"
    assert page.is_visible("#kept")
    page.click("#kept")
    assert page.inner_text("#counts") == "2 of 5 decided"
    assert rows_saved(page, tmp_path)[0]["answer"] == "yes"
    page.goto(grid(tmp_path / "other", []))
    assert page.inner_text("#counts") == "0 of 5 decided"
    page.goto(grid(tmp_path / "grid", [], IDS[1:]))
    assert page.inner_text("#counts") == "0 of 4 decided"


def rows_saved(page: Any, folder: Path) -> list[dict[str, str]]:
    with page.expect_download() as coming:
        page.click("#save")
    coming.value.save_as(folder / "saved.csv")
    return rows_of(folder / "saved.csv")


@pytest.mark.browser
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "it has no column id"),
        ("id,answer\nplain,maybe\n", "row 1: answer is maybe"),
        ('id,answer\n"plain,yes\n', "a quotation mark is never closed"),
    ],
)
def test_a_file_that_is_no_review_changes_nothing_and_says_why(page, tmp_path, text, message):
    page.goto(grid(tmp_path / "grid", [{"id": IDS[0], "answer": "no", "by": "AB", "note": ""}]))
    (tmp_path / "wrong.csv").write_text(text)
    page.set_input_files("#load", str(tmp_path / "wrong.csv"))
    page.wait_for_function("document.getElementById('saved').textContent.startsWith('nothing')")
    assert page.inner_text("#saved") == f"nothing was read: {message}"
    assert page.inner_text("#counts") == "1 of 5 decided"


def test_a_page_with_nothing_to_review_says_so():
    text = render_review([], [], 0.9)
    assert "There is nothing to review." in text
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', text)
    assert "default-src 'none'" in policy
    assert not re.search("unsafe|http", policy)
