import pytest

from gslopes.report.terminal import WIDTH, Column, table

COLUMNS = [Column("label", number=False, gives_way=True), Column("slope")]


def test_a_table_is_plain_where_there_is_no_terminal_and_fits_its_width() -> None:
    text = table(COLUMNS, [["a" * 300, "+1.0"], ["b\x1b[31m\nc", "-2.0"]], ["bold", "dim"])
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "b\\x1b[31m\\nc" in text
    assert "[" in table(COLUMNS, [["[bold]markup[/bold]", "1"]])


def test_numbers_stand_to_the_right() -> None:
    lines = table(COLUMNS, [["a", "+1.0"], ["b", "+10.0"]]).splitlines()
    assert lines[-1].endswith("+10.0")
    assert lines[-2].endswith(" +1.0")


def test_a_terminal_with_colours_gets_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1m" in table(COLUMNS, [["a", "1"]], ["bold"])


def test_one_column_gives_way_and_no_other_cell_is_cut() -> None:
    columns = [
        Column("label", number=False, gives_way=True),
        *(Column(f"column {n}") for n in range(4)),
    ]
    lines = table(columns, [["x" * 60, *["−12.5 to +12.5"] * 4], ["口紅", *"1234"]]).splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert lines[2].count("−12.5 to +12.5") == 4
    assert lines[2].split()[0].endswith("x…")


def test_in_a_notebook_a_table_is_text_and_is_not_shown_besides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr("rich.jupyter.display", lambda *_: pytest.fail("it is shown"))
    assert table(COLUMNS, [["a", "1"]]).split()[-2:] == ["a", "1"]
