"""How an audit differs from its paper, from a table of its choices."""

from __future__ import annotations

from pathlib import Path

from gslopes.report.choices import Choice, print_method, read_choices, to_markdown

TABLE = """
paper = "A (2020)"
[[choice]]
what = "baseline"
paper = "the portrait"
section = "section 4.3"
key = "baseline"
published = "original"
reason = "Both are on one canvas."
option = "--preset published"
[[choice]]
what = "draws"
paper = "10,000"
key = "draws"
published = 10000
default = 7
[[choice]]
what = "people"
paper = "597"
here = "the user's"
"""


def test_a_choice_is_the_papers_exactly_where_the_run_has_its_value(tmp_path: Path):
    (tmp_path / "m.toml").write_text(TABLE)
    paper, found = read_choices(tmp_path / "m.toml", {"baseline": "original", "draws": None})
    assert paper == "A (2020)"
    assert [(one.here, one.same) for one in found] == [
        ("the portrait", True), ("no", False), ("the user's", False),
    ]  # fmt: skip
    assert [one.here for one in read_choices(tmp_path / "m.toml", {"baseline": ("a", "b")})[1]][:2] == ["a, b", "7"]


def test_the_section_stands_next_to_what_the_paper_says():
    found = [Choice("x|y", "one", "two", "why so", "--x", "section 3"), Choice("z", "same", "same")]
    text = print_method(found, "A (2020)")
    assert "How this run differs from A (2020):" in text
    assert "one (section 3)" in text
    assert text.endswith("As published: z.")
    assert "| x\\|y | one (section 3) | two | why so |" in to_markdown(found)
    assert "| z | same | the same |  |" in to_markdown(found)
