from __future__ import annotations

import json
from pathlib import Path

import pytest

from gslopes.contexts.published import read_published, to_toml
from gslopes.contexts.typology import SUPERS, read_typology
from gslopes.core.errors import ConfigError, UsageError


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("long.csv", "Tag,Cluster\nwoman,Gender\nlady,Gender\nsmile,Emotion\n"),
        ("wide.csv", "Gender,Emotion\nwoman,smile\nlady,\n"),
        ("all.json", json.dumps({"Gender": ["woman", "lady"], "Emotion": ["smile"], "version": 2})),
    ],
)
def test_every_layout_gives_the_same_clusters(tmp_path: Path, name: str, text: str):
    (tmp_path / name).write_text(text)
    typology, _ = read_published(tmp_path)
    assert typology.clusters == {"gender": frozenset({"woman", "lady"}), "emotion": frozenset({"smile"})}


def test_a_text_file_or_a_column_is_a_cluster_by_its_name(tmp_path: Path):
    (tmp_path / "gender.txt").write_text("woman\nlady\n\n")
    (tmp_path / "emotion.csv").write_text("tag\nsmile\n")
    (tmp_path / "README.md").write_text("about")
    typology, _ = read_published(tmp_path)
    assert typology.clusters == {"gender": frozenset({"woman", "lady"}), "emotion": frozenset({"smile"})}


def test_a_map_renames_and_places_clusters_and_the_rest_is_named(tmp_path: Path):
    (tmp_path / "all.json").write_text(json.dumps({"Sex words": ["woman"], "Odd ones": ["teapot"]}))
    mapping = tmp_path / "map.toml"
    mapping.write_text(f'[rename]\n"Sex words" = "sex"\n[supers]\nsex = "{next(iter(SUPERS))}"\n')
    typology, unmapped = read_published(tmp_path, mapping)
    assert set(typology.clusters) == {"sex", "odd_ones"}
    assert (typology.supers["sex"], unmapped) == (next(iter(SUPERS)), ["odd_ones"])
    mapping.write_text('[supers]\nsex = "nonsense"\n')
    with pytest.raises(ConfigError, match="nonsense"):
        read_published(tmp_path, mapping)


def test_what_is_written_is_read_again(tmp_path: Path):
    starter = read_typology("starter")
    (tmp_path / "again.toml").write_text(to_toml(starter), encoding="utf-8")
    again = read_typology(str(tmp_path / "again.toml"))
    assert (again.clusters, again.supers) == (starter.clusters, starter.supers)


def test_no_folder_and_no_dictionary_are_usage_errors(tmp_path: Path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UsageError):
            read_published(folder)
