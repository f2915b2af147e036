from __future__ import annotations

from pathlib import Path

import pytest

from gslopes.captions.caption_tables import read_table
from gslopes.core.errors import DataMissing


def test_captions_of_a_csv_in_the_order_of_their_source(tmp_path: Path):
    (tmp_path / "c.csv").write_text("image,caption,source\na,second,1\na,first,0\n")
    assert [row.caption for row in read_table(tmp_path / "c.csv").captions] == ["first", "second"]


def test_conceptual_captions_go_by_their_address(tmp_path: Path):
    (tmp_path / "cc.tsv").write_text('a "quoted" dog\thttps://x/1.jpg\na cat\thttps://x/2.jpg\n')
    rows = read_table(tmp_path / "cc.tsv").captions
    assert [row.caption for row in rows] == ['a "quoted" dog', "a cat"]
    assert len({row.image for row in rows}) == 2


def test_labels_with_boxes(tmp_path: Path):
    lines = ["image,kind,word,synset,subject,object,x0,y0,x1,y1"]
    lines += ["a,object,wine glass,,,,0.1,0.1,0.5,0.5", "a,object,dog,dog.n.01,,,0.5,0.1,0.2,0.5"]
    lines += ["a,attribute,red,,dog,,,,,", "a,relation,sit on,,dog,chair,,,,", "a,nonsense,x,,,,,,,"]
    (tmp_path / "l.csv").write_text("\n".join(lines))
    rows = read_table(tmp_path / "l.csv")
    assert [row.word for row in rows.objects] == ["wine_glass", "dog"]
    assert rows.objects[0].x0 == 0.1
    assert [(row.kind, row.word) for row in rows.links] == [("attribute", "red"), ("relation", "sit on")]
    assert sum(rows.dropped.values()) == 2


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"\xff\xfe\x00", b"image\n"])
def test_what_is_no_such_table_is_refused(tmp_path: Path, content: bytes):
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(DataMissing):
        read_table(tmp_path / "x.csv")


@pytest.mark.parametrize("head", ["image\timage\tcaption", "image\tcaption\tcaption"])
def test_a_column_that_stands_there_twice_is_named(tmp_path: Path, head: str):
    (tmp_path / "x.tsv").write_text(f"{head}\n1\t2\tA\n")
    with pytest.raises(DataMissing, match=r"two columns '(image|caption)'"):
        read_table(tmp_path / "x.tsv")


def test_rows_of_labels_that_stand_there_twice_count_once_and_are_said(tmp_path: Path):
    lines = ["a,object,dog,0.1,0.1,0.5,0.5", "a,object,cat,,,,", "a,attribute,red,,,,"]
    (tmp_path / "l.csv").write_text("\n".join(["image,kind,word,x0,y0,x1,y1", *lines, *lines]))
    rows = read_table(tmp_path / "l.csv")
    assert (len(rows.objects), len(rows.links)) == (2, 1)
    assert rows.dropped == {"row that stood there before": 3}
