from __future__ import annotations

from pathlib import Path

import pytest

from gslopes.core.errors import ConfigError, UnknownName
from gslopes.language.wordlists import read_list, shipped
from gslopes.language.wordnet import WordNet


def test_every_shipped_list_names_its_source_and_licence():
    assert len(list(shipped())) >= 15
    assert all(listed.source and listed.licence and listed.version for listed in shipped())


def test_demeaning_synsets_ship_empty():
    assert not shipped().has("demeaning-synsets")
    assert not shipped().has("non-imageable-synsets")


def test_plain_text_takes_words_names_and_imagenet_ids(tmp_path: Path, words: WordNet):
    file = tmp_path / "mine.txt"
    file.write_text("# a comment\nn10787470\nslob.n.01\n")
    listed = read_list(file, "demeaning-synsets", words)
    assert (listed.kind, sorted(listed.entries)) == ("synsets", ["slob.n.01", "woman.n.01"])


@pytest.mark.parametrize("line", ["n99999999", "nothing_here.n.07"])
def test_an_unknown_entry_is_refused(tmp_path: Path, words: WordNet, line: str):
    file = tmp_path / "mine.txt"
    file.write_text(line)
    with pytest.raises(ConfigError, match="no synset"):
        read_list(file, wordnet=words)


def test_a_missing_file_and_an_unknown_name(tmp_path: Path):
    with pytest.raises(ConfigError, match="There is no file"):
        read_list(tmp_path / "none.txt")
    with pytest.raises(UnknownName, match="people-words"):
        shipped()["people-word"]
