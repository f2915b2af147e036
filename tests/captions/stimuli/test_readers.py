"""Stages of every form, on small files that follow it exactly: tables, COCO, Visual Genome."""

from pathlib import Path

import pytest

from gslopes.captions.stimuli.readers import (
    TYPES,
    clip,
    form_of,
    read_captions,
    read_form,
    read_image_data,
    read_instances,
    read_table,
)
from gslopes.core.errors import DataMissing
from gslopes.words.wordnet import wordnet


def test_captions_of_a_csv_in_the_order_of_their_source(tmp_path: Path):
    (tmp_path / "c.csv").write_text("image,caption,source\na,second,1\na,first,0\n")
    assert [text for _, text in read_table(tmp_path / "c.csv").captions] == ["first", "second"]


def test_labels_with_boxes(tmp_path: Path):
    lines = ["image,kind,word,synset,subject,object,x0,y0,x1,y1"]
    lines += ["a,object,wine glass,,,,0.1,0.1,0.5,0.5", "a,object,dog,dog.n.01,,,0.5,0.1,0.2,0.5"]
    lines += ["a,attribute,red,,dog,,,,,"] * 2 + [
        "a,relation,sit on,,dog,chair,,,,",
        "a,nonsense,x,,,,,,,",
    ]
    (tmp_path / "l.csv").write_text("\n".join(lines))
    rows = read_table(tmp_path / "l.csv")
    assert [(row.kind, row.word) for row in rows.labels] == [
        *(("object", "wine_glass"), ("object", "dog"), ("attribute", "red"), ("relation", "sit on"))
    ]
    assert [row.corners for row in rows.labels[:2]] == [(0.1, 0.1, 0.5, 0.5), None]
    assert sum(rows.dropped.values()) == 3


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"\xff\xfe\x00", b"image\n"])
def test_what_is_no_such_table_is_refused(tmp_path: Path, content: bytes):
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(DataMissing):
        read_table(tmp_path / "x.csv")


IMAGE = {
    "id": 391895,
    "width": 640,
    "height": 480,
    "file_name": "COCO_val2014_000000391895.jpg",
    "license": 3,
}
PERSON = {
    "id": 1,
    "image_id": 391895,
    "category_id": 1,
    "bbox": [64.0, 48.0, 320.0, 240.0],
    "area": 50_000.5,
    "iscrowd": 0,
    "segmentation": [[64.0, 48.0, 384.0, 48.0, 384.0, 288.0]],
}
INSTANCES = {
    "info": {},
    "licenses": [],
    "images": [IMAGE],
    "annotations": [PERSON],
    "categories": [
        {"id": 1, "name": "person", "supercategory": "person"},
        {"id": 80, "name": "hair drier"},
    ],
}
CAPTIONS = {
    "info": {},
    "images": [IMAGE],
    "annotations": [{"id": 9, "image_id": 391895, "caption": "A man."}],
}
RESULTS = [{"image_id": 391895, "caption": "a man"}]


@pytest.mark.row("captions-3.3-data", "captions-3.4-labels")
def test_boxes_become_shares_and_types_synsets():
    rows = read_instances(INSTANCES)
    (person,) = rows.labels
    assert (person.image, person.word, person.synset) == ("391895", "person", "person.n.01")
    assert person.corners == pytest.approx((0.1, 0.1, 0.6, 0.6))
    assert rows.closed == {"person.n.01", "hand_blower.n.01"}


def test_all_eighty_types_have_a_synset():
    assert len(TYPES) == 80
    assert all(wordnet().known(synset) for synset in TYPES.values())


@pytest.mark.parametrize(
    ("changes", "dropped"),
    [
        ({"annotations": [{**PERSON, "id": 2, "category_id": 7}, PERSON]}, 1),
        (
            {
                "annotations": [
                    {**PERSON, "id": 2, "bbox": [0, 0, 0, 5]},
                    {**PERSON, "id": 3, "bbox": "box"},
                    PERSON,
                ]
            },
            2,
        ),
        ({"annotations": [PERSON, PERSON, 3]}, 2),
        ({"images": [5, {"width": 3}, IMAGE, IMAGE]}, 2),
        ({"images": [{**IMAGE, "width": " 640 "}]}, 0),
        ({"categories": [3, {"id": 2, "name": None}, *INSTANCES["categories"]]}, 2),
    ],
)
def test_what_cannot_be_used_is_counted_and_the_rest_is_read(
    changes: dict[str, object], dropped: int
):
    rows = read_instances({**INSTANCES, **changes})
    assert (len(rows.labels), sum(rows.dropped.values())) == (1, dropped)


@pytest.mark.parametrize("side", [float("inf"), -3, True, [640], "wide", 10**400])
def test_a_size_that_is_none_costs_its_boxes(side: object):
    rows = read_instances({**INSTANCES, "images": [{**IMAGE, "width": side}]})
    assert (rows.labels, rows.unsized, sum(rows.dropped.values())) == ([], {"391895"}, 1)


def test_two_things_of_one_id_are_an_error():
    category = INSTANCES["categories"][0]
    for twice in (
        {"images": [IMAGE, {**IMAGE, "width": 7}]},
        {"categories": [category, {**category, "name": "cat"}]},
    ):
        with pytest.raises(DataMissing, match=r"id .* is used for"):
            read_instances({**INSTANCES, **twice})


@pytest.mark.parametrize(
    ("box", "expected"),
    [
        ([-10, 0, 30, 50], (0, 0, 0.2, 0.5)),
        ([90, 90, 50, 50], (0.9, 0.9, 1, 1)),
        ([200, 0, 5, 5], None),
    ],
)
def test_boxes_are_clipped(box: object, expected: object):
    assert clip(box, (100, 100)) == expected


@pytest.mark.row("captions-3.3-data")
def test_captions_and_results_of_which_lists_are_several():
    for content, text in ((CAPTIONS, "A man."), (RESULTS, "a man")):
        assert read_captions(content).captions == [("391895", text)]
    odd = [
        3,
        None,
        {"caption": "of no image"},
        {"image_id": 1.0},
        {"image_id": 1, "caption": "a", "id": 1},
    ]
    rows = read_captions(
        [*odd, odd[-1], {"image_id": 1, "caption": ["b", "c"]}, {"image_id": 2, "caption": []}]
    )
    assert rows.captions == [("1", None), ("1", "a"), ("1", "b"), ("1", "c"), ("2", None)]
    assert sum(rows.dropped.values()) == 4


DATA = [
    {
        "image_id": 1,
        "width": 800,
        "height": 600,
        "coco_id": 42,
        "flickr_id": None,
        "url": "https://x",
    }
]
TREE = {
    "object_id": 5,
    "x": 400,
    "y": 300,
    "w": 400,
    "h": 300,
    "names": ["tree"],
    "synsets": ["tree.n.01"],
}
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


GENOME = ("image_data", "objects", "attributes", "relationships")


def test_the_forms_are_known_by_their_keys():
    known = [
        INSTANCES,
        CAPTIONS,
        RESULTS,
        {"annotations": []},
        DATA,
        OBJECTS,
        ATTRIBUTES,
        RELATIONSHIPS,
    ]
    known += [
        {
            "annotations": [{"image_id": 9}, *CAPTIONS["annotations"]],
            "images": [IMAGE],
            "categories": [],
        }
    ]
    forms = [form_of(content) for content in [*known, {"green": "green.s.01"}]]
    assert forms == ["instances", *3 * ["captions"], *GENOME, "captions", "attribute_synsets"]
    assert {form_of(content) for content in ({"a": 1}, [], [{"image_id": 1}], [3], 3)} == {""}


@pytest.mark.row("captions-3.4-labels")
def test_images_join_coco_and_boxes_are_shares_of_its_own_size():
    (tree,) = read(OBJECTS, "objects").labels
    assert (tree.image, tree.word, tree.synset) == ("42", "tree", "tree.n.01")
    assert tree.corners == pytest.approx((0.5, 0.5, 1, 1))


@pytest.mark.row("captions-3.4-labels")
def test_attributes_may_be_absent_and_have_synsets_of_their_own():
    rows = read(ATTRIBUTES, "attributes", {"green": "green.s.01"}).labels
    assert [(row.word, row.synset, row.subject, row.subject_synset) for row in rows] == [
        ("green", "green.s.01", "tree", "tree.n.01"),
        ("tall", None, "tree", "tree.n.01"),
    ]


def test_predicates_come_in_capitals_and_names_in_two_forms():
    rows = read(RELATIONSHIPS, "relationships")
    (row,) = rows.labels
    assert (row.word, row.synset, row.subject, row.object) == (
        "stands near",
        "stand.v.01",
        "man",
        "tree",
    )
    assert sum(rows.dropped.values()) == 1


def test_an_unknown_synset_is_counted_and_an_image_without_coco_has_an_id_of_its_own():
    odd = [{"image_id": 7, "objects": [{**TREE, "synsets": ["nothing.n.99"]}] * 2}]
    rows = read_form(odd, "objects", {}, {}, wordnet().known)
    assert [(row.image, row.synset, row.corners) for row in rows.labels] == [("vg7", None, None)]
    assert rows.dropped["synset that this WordNet does not have"] == 1
    assert sum(rows.dropped.values()) == 3
