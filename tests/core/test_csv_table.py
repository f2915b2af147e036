"""The strict reader of tables: what is ambiguous is an error with file and line, and nothing is guessed."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gslopes.core.csv_table import read_csv, read_frame
from gslopes.core.errors import DataMissing, UsageError


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a,b,a\n1,2,3\n", "two columns 'a'"),
        ("a, a\n1,2\n", "two columns 'a'"),
        ('a,b\n1,2\n3,"x\n5,y\n7,z\n', "line 3: a quote that begins in it is never closed"),
        (
            'a,b\n1,"x\n3,"y"\n5,z\n',
            "line 2: a quote in it is closed within a cell, or is never closed",
        ),
        ("a,b\n1,2\n\n3\n", "line 4: it has 1 cells, and the first line has 2"),
        ("a,b\n1,2,3\n", "line 2: it has 3 cells"),
        ('a,b\n"1\n1",2\n3,4,5\n', "line 4: it has 3 cells"),
        ("a,b\n1,x\n2,y\n1,x\n", "line 4: a '1' is in line 2 as well"),
        ("a,b\n" + "x" * 200_000 + ",1\n", "line 2: it has a cell of more than 131,072 characters"),
        ("a,b\n1,\0\n", "line 2: it has a zero byte"),
        ("", "is empty"),
        ("a\n1\n", "has no column b"),
        pytest.param(
            "a,b" + ",c" * 300_000, "has 300,002 columns, and at most 16,384", id="300,000 columns"
        ),
        pytest.param(
            "a,b," + ",".join(map(str, range(16_000))) + ",7",
            "two columns '7'",
            id="one of 16,000 twice",
        ),
        ("a,b,sex\n1,2,female\n2,2,femal\n", "line 3: sex is 'femal'"),
    ],
)
def test_what_is_ambiguous_is_an_error_that_names_file_and_line(
    tmp_path: Path, text: str, why: str
):
    file = tmp_path / "people.csv"
    file.write_text(text, newline="")
    with pytest.raises(DataMissing) as error:
        read_csv(file, ("a", "b"), raises=DataMissing).checked(("a",), {"sex": ("female", "male")})
    assert str(file) in error.value.message
    assert why in error.value.message
    assert error.value.hint


@pytest.mark.parametrize(("mark", "word"), [(";", "semicolons"), ("\t", "tabs")])
def test_semicolons_and_tabs_part_cells_only_where_the_first_line_has_no_comma(
    tmp_path, capsys, mark, word
):
    file = tmp_path / "people.csv"
    file.write_text(
        '# made by hand\nfile,age\na.jpg,"3,5"\nb.jpg,"x;\ty"\n'.replace(",", mark).replace(
            f"3{mark}5", "3,5"
        )
    )
    for _ in range(2):
        table = read_csv(file, ("file", "age"), comments=True)
        assert table.columns == {"file": ["a.jpg", "b.jpg"], "age": ["3,5", "x;\ty"]}
        assert table.lines == [3, 4]
    assert (
        capsys.readouterr().err
        == f"{file} uses {word} between its cells, not commas: it is read so.\n"
    )
    file.write_text(f"a{mark}b\n1{mark}2{mark}3\n")
    with pytest.raises(UsageError, match="line 2: it has 3 cells, and the first line has 2"):
        read_csv(file)
    file.write_text(f'a{mark}b\n"x"y{mark}2\n')
    with pytest.raises(UsageError, match="line 2: a quote in it is closed within a cell"):
        read_csv(file)
    file.write_text(f"a,b{mark}c\n1,2\n")
    assert read_csv(file).columns == {"a": ["1"], f"b{mark}c": ["2"]}


def test_other_encodings_name_the_line(tmp_path: Path):
    (tmp_path / "a.csv").write_bytes("a,b\n1,2\n3,é\n".encode("latin-1"))
    with pytest.raises(UsageError, match="line 3: it is not UTF-8"):
        read_csv(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("a,b\n1,2\n", "utf-16")
    with pytest.raises(UsageError, match="line 1: it is not UTF-8"):
        read_csv(tmp_path / "a.csv")


def test_lines_are_those_of_the_file_whatever_ends_them(tmp_path: Path):
    for end in ("\n", "\r\n", "\r"):
        (tmp_path / "a.csv").write_text(
            '\ufeff# list\na , b,\n\n 1,"x\ny",\n#,,\n3,z,\n'.replace("\n", end), newline=""
        )
        table = read_csv(tmp_path / "a.csv", comments=True, strip=True)
        assert table.columns == {"a": ["1", "3"], "b": [f"x{end}y", "z"]}
        assert table.lines == [4, 7]
        assert list(table.rows()) == [(4, {"a": "1", "b": f"x{end}y"}), (7, {"a": "3", "b": "z"})]
        assert table.frame().to_dict("list") == table.columns


def test_parquet_that_unpacks_to_more_than_is_read_or_is_none_is_refused(tmp_path: Path):
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": ["x" * 1000] * 1000, "b": range(1000)}), file)
    assert len(read_frame(file)) == 1000
    with pytest.raises(UsageError, match="at most 100 are read"):
        read_frame(file, limit=100)
    file.write_bytes(b"PAR1" * 9)
    with pytest.raises(UsageError, match="not a readable table"):
        read_frame(file)
