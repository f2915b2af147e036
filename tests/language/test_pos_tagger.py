from __future__ import annotations

from pathlib import Path

import pytest

from gslopes.core.errors import ModelError, UsageError
from gslopes.language import pos_tagger
from gslopes.language.pos_tagger import HanTa, hanta, sentences


def test_sentences_and_tokens():
    assert sentences("A man's T-shirt; 2 dogs!") == [["a", "man", "'s", "t-shirt"], ["2", "dogs"]]


def test_tags_are_those_of_the_british_national_corpus():
    assert [token.tag for token in hanta().tag(["the", "female", "walked", "in", "the", "room"])] == [
        *("AT0", "NN1", "VVD", "PRP", "AT0", "NN1"),
    ]


def test_a_file_of_its_models_name_in_the_working_folder_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "morphmodel_en.pgz").write_bytes(b"no pickle")
    monkeypatch.chdir(tmp_path)
    assert HanTa().tag(["dog"])[0].tag == "NN1"


def test_another_model_is_never_opened(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pos_tagger, "DIGEST", "0" * 64)
    with pytest.raises(ModelError, match="not opened"):
        HanTa()


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pos_tagger, "VERSION", "0.1")
    with pytest.raises(UsageError, match="pip install"):
        HanTa()


def test_a_missing_package_names_the_command(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pos_tagger.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="pip install 'gslopes\\[captions\\]'"):
        HanTa()


def test_what_is_remembered_of_words_changes_no_tag():
    from HanTa.HanoverTagger import HanoverTagger

    plain = HanoverTagger(str(Path(HanoverTagger.__init__.__code__.co_filename).with_name("morphmodel_en.pgz")))
    captions = ["a woman surfs", "the old surfers left", "blorbed things flew left", "a woman left the old blorb"]
    for words in 2 * [caption.split() for caption in captions]:
        expected = [(word, lemma.lower(), tag) for word, lemma, tag in plain.tag_sent(words)]
        assert [(one.word, one.lemma, one.tag) for one in hanta().tag(words)] == expected
