"""Files and folders as stages, and captions as texts."""

from pathlib import Path

import pytest

from gslopes.captions.stimuli.stages import LONGEST, find_stages, judge_text, read_stages
from gslopes.core.errors import DataMissing, UnknownName, UsageError
from gslopes.words.wordnet import wordnet


@pytest.mark.row("captions-3.4-stages")
def test_files_and_folders_are_stages_by_their_names(tmp_path: Path):
    (tmp_path / "system-captions.csv").write_text("image,caption\n")
    (tmp_path / "human-captions").mkdir()
    for name in ("b.csv", "a.csv"):
        (tmp_path / "human-captions" / name).write_text("image,caption\n")
    (tmp_path / ".hidden.csv").touch()
    (tmp_path / "notes.md").touch()
    (tmp_path / "groups.csv").touch()
    result = find_stages(tmp_path, others=[tmp_path / "groups.csv"])
    assert list(result) == ["human-captions", "system-captions"]
    assert [file.name for file in result["human-captions"]] == ["a.csv", "b.csv"]


def test_a_table_that_is_called_after_no_stage_is_named(tmp_path: Path):
    (tmp_path / "captoins.csv").touch()
    with pytest.raises(UnknownName, match="captoins"):
        find_stages(tmp_path)


def test_an_empty_folder_and_none_at_all_are_usage_errors(tmp_path: Path):
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UsageError):
            find_stages(place)


def read_one(folder: Path, name: str, content: str):
    (folder / f"human-labels{name}").write_text(content, "utf-8")
    return read_stages(find_stages(folder), wordnet())


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        (
            ".json",
            '{"images": [], "annotations": [], "images": []}',
            "is not JSON: .*the key 'images' twice",
        ),
        (
            ".json",
            '[{"image_id": 1, "caption": "a"}, {"image_id": 2, "caption": NaN}]',
            "NaN is not a number",
        ),
        (".json", '[{"image_id": 1, "width": Infinity, "height": 1}]', "Infinity is not a number"),
        (".csv", "image,caption,caption\n1,a,b\n", r"labels\.csv has two columns 'caption'"),
        (
            ".csv",
            'image,caption\n1,a\n2,"b\n3,c\n',
            "line 3: a quote that begins in it is never closed",
        ),
        (".csv", "image,caption\n1,a\n2\n", "line 3: it has 1 cells"),
        (
            ".csv",
            f"image,caption\n1,{'a' * 200_000}\n",
            "line 2: it has a cell of more than 131,072 characters",
        ),
        (
            ".json",
            f'[{{"image_id": 7, "caption": "{"a" * 200_000}"}}]',
            "image 7 has 200,000 characters",
        ),
    ],
)
def test_a_stage_that_can_be_read_in_two_ways_is_an_error_that_names_the_file(
    tmp_path: Path, name: str, content: str, why: str
):
    with pytest.raises(DataMissing, match=why) as error:
        read_one(tmp_path, name, content)
    assert error.value.message.count(f"human-labels{name}") == 1


# -- captions as texts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("caption", "status"),
    [
        ("A dog.", "parsed"),
        (None, "empty"),
        *((blank, "empty") for blank in ("  ", "\u200b")),
        (3.5, "failed"),
        (["A dog."], "failed"),
    ],
)
def test_every_caption_has_a_status(caption: object, status: str):
    assert judge_text(caption)[1] == status


def test_what_is_too_long_or_no_unicode_is_still_a_caption():
    text, status, why = judge_text("x" * (LONGEST + 1))
    assert (status, len(text)) == ("parsed", LONGEST + 1)
    assert why == "cut for parsing (at 2,000 characters)"
    assert judge_text("a \ud800 dog")[:2] == ("a ? dog", "parsed")


def test_one_caption_written_in_two_ways_is_one():
    assert judge_text("A Ｗoman’s o\u200bﬃce") == judge_text("A Woman's office")
