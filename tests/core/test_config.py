from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from gslopes.core.config import from_dict, load_toml, to_dict
from gslopes.core.errors import ConfigError


@dataclass(frozen=True)
class Find:
    min_face: int = 32
    region: Literal["face", "skin"] = "face"


@dataclass(frozen=True)
class Config:
    photos: Path
    extent: tuple[float, float] | None = None
    names: tuple[str, ...] = ()
    rate: float = 1.0
    find: Find = field(default_factory=Find)
    values: dict[str, list[float]] = field(default_factory=dict)


def test_a_dataclass_survives_the_way_to_plain_values_and_back():
    config = Config(Path("p"), (-1.0, 1.0), ("x",), 0.5, Find(7, "skin"), {"gender": [0.0, 1.0]})
    assert from_dict(Config, to_dict(config)) == config


@pytest.mark.parametrize(
    ("mapping", "sentence"),
    [
        ({"photos": "p", "find": {"min_fase": 3}}, "'min_face'"),
        ({"photos": "p", "fnd": {}}, "'find'"),
        ({}, "lacks the key 'photos'"),
        ({"photos": 3}, "must be a path"),
        ({"photos": "p", "find": {"min_face": True}}, "whole number"),
        ({"photos": "p", "find": {"min_face": 3.5}}, "whole number"),
        ({"photos": "p", "find": {"region": "fac"}}, "'face'"),
        ({"photos": "p", "find": 3}, "must be a table"),
        ({"photos": "p", "extent": [1, 2, 3]}, "2 entries"),
        ({"photos": "p", "names": "gender"}, "must be a list"),
        ({"photos": "p", "rate": "fast"}, "a number"),
        ({"photos": "p", "values": {"gender": 3}}, "values.gender"),
    ],
)
def test_a_wrong_key_or_value_is_a_sentence_with_a_next_step(mapping, sentence):
    with pytest.raises(ConfigError) as caught:
        from_dict(Config, mapping)
    assert sentence in str(caught.value)


def test_a_toml_file_is_named_in_the_message(tmp_path):
    path = tmp_path / "audit.toml"
    for content, said in (
        (b'photos = "p"\nrte = 2\n', r"audit.toml.*'rte'.*'rate'"),
        (b"photos = ", "not valid TOML"),
        (b"\xff\xfe", "line 1: it is not UTF-8"),
    ):
        path.write_bytes(content)
        with pytest.raises(ConfigError, match=said):
            load_toml(Config, path)
    path.write_text('photos = "p"\nrate = 2\n')
    assert load_toml(Config, path).rate == 2.0
    with pytest.raises(ConfigError, match="There is no file"):
        load_toml(Config, tmp_path / "none.toml")
