from __future__ import annotations

from gslopes.words.graph import Senses
from gslopes.words.mentions import Mentions
from gslopes.words.wordlists import shipped
from gslopes.words.wordnet import wordnet
from training.studies.scenes import COUNTS, NOTHING, Planted, scenes, truths


def drawn(planted: Planted, images: int = 60):
    return scenes(planted, images, 0, Mentions(Senses(wordnet()), shipped()))


def test_nothing_planted_is_a_truth_of_zero():
    assert set(truths(NOTHING).values()) == {0}
    assert all(truths(Planted()).values())


def test_the_same_seed_gives_the_same_scenes():
    (one, counts), (other, again) = drawn(Planted()), drawn(Planted())
    assert (one.stages, counts) == (other.stages, again)
    assert set(counts) == set(COUNTS)


def test_every_scene_has_boxes_and_labels():
    made, _ = drawn(Planted())
    assert made.boxes.keys() == made.stages["human-labels"].keys()


def test_human_captions_are_one_to_five():
    made, _ = drawn(Planted())
    assert {len(captions) for captions in made.stages["human-captions"].values()} == {1, 2, 3, 4, 5}


def test_nothing_of_a_kind_is_written_where_its_chance_is_zero():
    _, counts = drawn(NOTHING, 200)
    assert counts["D1 lazy"] > 0
    assert {name for name in COUNTS if counts[name]} == {"D1 lazy"}
