"""Dictionaries, and how tags are compared with them."""

from pathlib import Path

import numpy as np
import pytest

from gslopes.contexts.measures.typology import SHIPPED, normalise, read_typology
from gslopes.core.errors import ConfigError, UnknownName, UsageError


@pytest.mark.row("contexts-4.4-tags")
def test_a_tag_is_compared_whole_and_folded():
    assert normalise("Mantelet (women\u2019s cape)") == "mantelet_(women's_cape)"
    assert normalise("  Wedding \t Dress ") == "wedding_dress"
    assert "women's_cape" not in read_typology("starter").clusters["feminine"]


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.row("contexts-table-5", "contexts-table-6")
def test_every_shipped_typology_is_whole(name):
    typology = read_typology(name)
    assert typology.clusters["masculine"]
    assert typology.clusters["feminine"]
    assert not typology.clusters["masculine"] & typology.clusters["feminine"]
    assert all(tag == normalise(tag) for tag in typology.known)
    assert typology.partial == (name == "barlas-2020")


def test_celeba_sorts_all_forty_attributes():
    from gslopes.faces import zoo

    labels = {normalise(label) for label in zoo.identify("celeba-tagger")[0].labels}
    assert labels <= read_typology("celeba").known


def test_a_label_that_is_judged_and_not_returned_has_its_complement():
    typology = read_typology("celeba")
    assert "female" in typology.complete({"Young"})
    assert "female" not in typology.complete({"Male"})


def test_the_wide_one_adds_to_the_starter():
    wide, plain = read_typology("starter-wide"), read_typology("starter")
    assert plain.clusters["feminine"] < wide.clusters["feminine"]
    assert wide.contexts == plain.contexts


@pytest.mark.row("contexts-4.4-sorted")
def test_several_are_merged_and_a_filled_list_is_read(tmp_path):
    filled = tmp_path / "todo.csv"
    filled.write_text("tag,cluster\nBridezilla,feminine\n'=bride,feminine\nwhatnot,\n", "utf-8")
    typology = read_typology(["starter", filled])
    assert {"bridezilla", "=bride"} <= typology.clusters["feminine"]
    assert "whatnot" not in typology.known
    assert typology.supers["feminine"] == "demographics"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[clusters.masculine]\nsuper = "demographic"\ntags = ["man"]',
            "Did you mean 'demographics'",
        ),
        ('[clusters.masculine]\ntags = ["man"]\n[clusters.feminine]\ntags = [" "]', "empty"),
        ('[clusters.feminine]\ntags = ["woman"]', "masculine"),
        ('[cluster.feminine]\ntags = ["woman"]', "Did you mean 'clusters'"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(text, message, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=message):
        read_typology(path)


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(UnknownName, match="starter"):
        read_typology("startr")


def test_a_cluster_has_one_super_cluster(tmp_path):
    path = tmp_path / "other.toml"
    path.write_text('[clusters.hair]\nsuper = "abstract"\ntags = ["bob"]', "utf-8")
    with pytest.raises(ConfigError, match="hair"):
        read_typology(["starter", path])


def test_the_share_of_tags_that_are_known():
    starter = read_typology("starter")
    assert starter.known_share(
        [frozenset({"woman", "zeppelin"}), frozenset({"woman", "whatnot"})]
    ) == pytest.approx(1 / 3)
    assert np.isnan(starter.known_share([]))


# -- the published dictionaries, in a folder --------------------------------------------------------------------------

GENDERED = {"feminine": frozenset({"woman", "lady"}), "masculine": frozenset({"man"})}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("long.csv", "Tag,Cluster\nwoman,Feminine\nlady,Feminine\nman,Masculine\n"),
        ("wide.csv", "Feminine,Masculine\nwoman,man\nlady,\n"),
    ],
)
@pytest.mark.row("contexts-table-5")
def test_every_layout_gives_the_same_clusters(tmp_path: Path, name: str, text: str):
    (tmp_path / name).write_text(text)
    typology = read_typology(tmp_path)
    assert typology.clusters == GENDERED
    assert typology.supers == dict.fromkeys(GENDERED, "demographics")


def test_a_text_file_is_a_cluster_by_its_name(tmp_path: Path):
    (tmp_path / "feminine.txt").write_text("woman\nlady\n\n")
    (tmp_path / "masculine.txt").write_text("man\n")
    (tmp_path / "README.md").write_text("about")
    assert read_typology(tmp_path).clusters == GENDERED


def test_a_folder_without_dictionaries_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="no dictionaries"):
        read_typology(tmp_path)
