"""WordNet 3.0: look-ups of the specification (goldens 8 to 12)."""

import shutil
import tomllib
from pathlib import Path

import pytest

from gslopes.core.errors import ConfigError, ModelError, UnknownName
from gslopes.words import wordnet as module
from gslopes.words.wordlists import SHIPPED, read_list, shipped
from gslopes.words.wordnet import WordNet, wordnet


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("dog.n.01", "cat.n.01", 2.0281),
        ("man.n.01", "woman.n.01", 2.5390),
        ("table.n.02", "desk.n.01", 2.9444),
        ("person.n.01", "person.n.01", 3.6376),
        ("woman.n.01", "dress.n.01", 1.2397),
        ("walk.v.01", "run.v.01", 1.8718),
    ],
)
@pytest.mark.row("captions-s1-same")
def test_golden_10_leacock_chodorow(words: WordNet, one: str, other: str, expected: float):
    assert words.similarity(one, other) == pytest.approx(expected, abs=5e-5)
    assert words.similarity(other, one) == words.similarity(one, other)


def test_similarity_is_undefined_for_adjectives_and_across_parts_of_speech(words: WordNet):
    assert words.similarity("lazy.s.01", "lazy.s.01") is None
    assert words.similarity("walk.v.01", "dog.n.01") is None
    assert words.similarity("dog.n.01", "no_such.n.01") is None


@pytest.mark.row("captions-3.4-above")
def test_golden_11_what_lies_above(words: WordNet):
    assert words.at_or_below("street.n.01", "road.n.01")
    assert words.at_or_below("couple.n.01", "group.n.01")
    assert not words.at_or_below("road.n.01", "street.n.01")


@pytest.mark.row("captions-s1-objects")
def test_golden_12_ids_of_imagenet(words: WordNet):
    assert words.by_id("n10787470") == "woman.n.01"
    assert words.by_id("n00007846") == "person.n.01"
    assert words.by_id("n99999999") is None
    assert words.by_id("nonsense") is None


def test_sizes_are_those_of_wordnet_3(words: WordNet):
    assert len(words._names) == len(set(words._names)) == 117_659
    assert len(words._senses) == 155_287
    assert sum((module.DATA / name).stat().st_size for name in module.SHA256) < 2_000_000
    assert "PERMISSION" in (module.DATA / "WORDNET-LICENSE.txt").read_text("utf-8").upper()


def test_base_forms(words: WordNet):
    forms = {
        "men": "man",
        "skis": "ski",
        "knives": "knife",
        "boxes": "box",
        "people": "people",
        "zzzs": None,
    }
    assert {form: words.base(form, "n") for form in forms} == forms


def test_a_damaged_table_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in module.SHA256:
        shutil.copy(module.DATA / name, tmp_path)
    (tmp_path / next(iter(module.SHA256))).write_bytes(b"PAR1")
    monkeypatch.setattr(module, "DATA", tmp_path)
    with pytest.raises(ModelError, match="damaged"):
        wordnet.__wrapped__()


@pytest.mark.row("captions-s1-attributes", "captions-s1-relations", "captions-d1-attributes")
def test_every_shipped_list_names_its_source_and_licence():
    assert len(shipped()) >= 15
    for file in SHIPPED.glob("*.toml"):
        listed = tomllib.loads(file.read_text("utf-8"))
        assert listed["source"]
        assert listed["licence"]
        assert listed["version"]


def test_no_slur_ships_and_what_no_photo_shows_is_a_rule_over_known_synsets(words: WordNet):
    assert not shipped()["demeaning-synsets"].entries
    rule = shipped()["non-imageable-synsets"]
    assert not rule.entries
    assert all(map(words.known, rule.below | rule.but))


FORMS = {"mine.txt": "{}\n{}", "mine.toml": 'entries = ["{}"]\ngroups.two = """{}"""'}


@pytest.mark.parametrize("name", FORMS)
def test_a_list_takes_names_and_imagenet_ids_and_refuses_what_is_unknown(
    tmp_path: Path, words: WordNet, name: str
):
    (tmp_path / name).write_text(FORMS[name].format("slob.n.01", "n10787470  # a comment"))
    assert sorted(read_list(tmp_path / name, wordnet=words).entries) == ["slob.n.01", "woman.n.01"]
    for two in (("slob.n.01", "n99999999"), ("nothing_here.n.07", "slob.n.01")):
        (tmp_path / name).write_text(FORMS[name].format(*two))
        with pytest.raises(ConfigError, match="not a synset"):
            read_list(tmp_path / name, wordnet=words)


def test_a_missing_file_and_an_unknown_name(tmp_path: Path):
    with pytest.raises(ConfigError, match="There is no file"):
        read_list(tmp_path / "none.txt")
    with pytest.raises(UnknownName, match="people-words"):
        shipped()["people-word"]
