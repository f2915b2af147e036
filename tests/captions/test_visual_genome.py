"""Visual Genome's JSON, on small files that follow it exactly."""

from __future__ import annotations

import pytest

from gslopes.captions.visual_genome import ImageData, form_of, read_form, read_image_data
from gslopes.words.wordnet import wordnet

DATA = [{"image_id": 1, "width": 800, "height": 600, "coco_id": 42, "flickr_id": None, "url": "https://x"}]
TREE = {"object_id": 5, "x": 400, "y": 300, "w": 400, "h": 300, "names": ["tree"], "synsets": ["tree.n.01"]}
OBJECTS = [{"image_id": 1, "objects": [TREE], "image_url": "https://x"}]
ATTRIBUTES = [{"image_id": 1, "attributes": [{**TREE, "attributes": ["green", "tall"]}, TREE]}]
MAN = {"object_id": 6, "name": "man", "synsets": ["man.n.01"], "x": 0, "y": 0, "w": 9, "h": 9}
RELATION = {
    "relationship_id": 3,
    "predicate": "STANDS  NEAR",
    "synsets": ["stand.v.01"],
    "subject": MAN,
    "object": TREE,
}
RELATIONSHIPS = [{"id": 1, "relationships": [RELATION, {"predicate": "ON"}]}]


def read(content, form: str, synsets=None):
    return read_form(content, form, read_image_data(DATA), synsets or {}, wordnet().known)


def test_the_forms_are_known_by_their_keys():
    contents = (DATA, OBJECTS, ATTRIBUTES, RELATIONSHIPS, {"green": "green.s.01"}, {"a": 1}, [], [3])
    assert [form_of(content) for content in contents] == [
        *("image_data", "objects", "attributes", "relationships", "attribute_synsets"),
        *("", "", ""),
    ]


def test_images_join_coco_and_boxes_are_shares_of_its_own_size():
    (tree,) = read(OBJECTS, "objects").objects
    assert (tree.image, tree.word, tree.synset) == ("42", "tree", "tree.n.01")
    assert (tree.x0, tree.y0, tree.x1, tree.y1) == pytest.approx((0.5, 0.5, 1, 1))


def test_attributes_may_be_absent_and_have_synsets_of_their_own():
    rows = read(ATTRIBUTES, "attributes", {"green": "green.s.01"}).links
    assert [(row.word, row.synset, row.subject_synset) for row in rows] == [
        ("green", "green.s.01", "tree.n.01"),
        ("tall", None, "tree.n.01"),
    ]


def test_predicates_come_in_capitals_and_names_in_two_forms():
    rows = read(RELATIONSHIPS, "relationships")
    (row,) = rows.links
    assert (row.word, row.synset, row.subject, row.object) == ("stands near", "stand.v.01", "man", "tree")
    assert sum(rows.dropped.values()) == 1


def test_an_unknown_synset_is_counted_and_an_image_without_coco_has_an_id_of_its_own():
    odd = [{"image_id": 7, "objects": [{**TREE, "synsets": ["nothing.n.99"]}]}]
    rows = read_form(odd, "objects", ImageData(), {}, wordnet().known)
    assert rows.objects[0].image == "vg7"
    assert rows.objects[0].synset is None
    assert rows.dropped["synset that this WordNet does not have"] == 1
