"""COCO's three JSON forms, on small files that follow them exactly."""

from __future__ import annotations

import pytest

from gslopes.captions import coco
from gslopes.captions.caption_tables import clip
from gslopes.core.errors import DataMissing
from gslopes.words.wordnet import wordnet

IMAGE = {"id": 391895, "width": 640, "height": 480, "file_name": "COCO_val2014_000000391895.jpg", "license": 3}
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
    "categories": [{"id": 1, "name": "person", "supercategory": "person"}, {"id": 80, "name": "hair drier"}],
}
CAPTIONS = {"info": {}, "images": [IMAGE], "annotations": [{"id": 9, "image_id": 391895, "caption": "A man."}]}
RESULTS = [{"image_id": 391895, "caption": "a man"}]


def test_the_forms_are_known_by_their_keys():
    contents = (INSTANCES, CAPTIONS, RESULTS, {"annotations": []}, [], [{"image_id": 1}], 3)
    assert [coco.is_instances(content) for content in contents] == [True] + 6 * [False]
    entries = [coco.caption_entries(content) for content in contents]
    assert entries == [None, CAPTIONS["annotations"], RESULTS, [], None, None, None]


def test_boxes_become_shares_and_types_synsets():
    rows = coco.read_instances(INSTANCES)
    (person,) = rows.objects
    assert (person.image, person.synset) == ("391895", "person.n.01")
    assert (person.x0, person.y0, person.x1, person.y1) == pytest.approx((0.1, 0.1, 0.6, 0.6))
    assert rows.closed == {"person.n.01", "hand_blower.n.01"}


def test_unknown_categories_and_empty_boxes_are_counted():
    bad = [{"category_id": 7}, {"bbox": [0, 0, 0, 5]}, {"bbox": [float("nan")] * 4}]
    bad = [{**PERSON, **wrong, "id": number} for number, wrong in enumerate(bad, 2)]
    rows = coco.read_instances({**INSTANCES, "annotations": [*bad, PERSON]})
    assert (len(rows.objects), sum(rows.dropped.values())) == (1, 3)
    assert rows.unsized == {"391895"}


def test_captions_and_results():
    for content, text in ((CAPTIONS, "A man."), (RESULTS, "a man")):
        rows = coco.read_captions(coco.caption_entries(content)).captions
        assert [(row.image, row.caption) for row in rows] == [("391895", text)]


@pytest.mark.parametrize("extra", [{"categories": []}, {"images": [IMAGE], "categories": INSTANCES["categories"]}])
def test_what_the_rows_are_decides_and_not_the_keys_around_them(extra):
    content = {"annotations": [{"image_id": 9}, *CAPTIONS["annotations"]], **extra}
    assert not coco.is_instances(content)
    assert len(coco.caption_entries(content)) == 2


def test_rows_that_are_no_captions_are_counted_and_lists_are_several():
    odd = [3, None, "text", {"caption": "of no image"}, {"image_id": None, "caption": "x"}, {"image_id": 1.0}]
    rows = coco.read_captions([*odd, {"image_id": 1, "caption": ["a man", "a dog"]}, {"image_id": 2, "caption": []}])
    assert [(row.image, row.caption) for row in rows.captions] == [
        ("1", None),
        ("1", "a man"),
        ("1", "a dog"),
        ("2", None),
    ]
    assert rows.dropped == {"annotation that is no record": 3, "annotation without an image": 2}


@pytest.mark.parametrize("side", ["640", 640.0, "640.0", " 640 "])
def test_a_side_may_be_a_text_or_a_fraction(side):
    rows = coco.read_instances({**INSTANCES, "images": [{**IMAGE, "width": side}]})
    assert rows.images["391895"].width == 640
    assert len(rows.objects) == 1


@pytest.mark.parametrize("side", [float("inf"), float("nan"), -3, 0, True, [640], "wide", {}, 10**400])
def test_a_side_that_is_none_is_counted_and_its_boxes_with_it(side):
    rows = coco.read_instances({**INSTANCES, "images": [{**IMAGE, "width": side}]})
    assert rows.images["391895"].width is None
    assert rows.dropped["image size that is no size"] == 1
    assert not rows.objects


def test_images_and_categories_that_are_no_records_are_counted():
    odd = {"images": [5, {"width": 3}, IMAGE], "categories": [3, {"id": 2, "name": None}, *INSTANCES["categories"]]}
    rows = coco.read_instances({**INSTANCES, **odd})
    assert len(rows.objects) == 1
    assert sum(rows.dropped.values()) == 4


def test_all_eighty_types_have_a_synset():
    assert len(coco.types()) == 80
    assert all(wordnet().known(synset) for synset in coco.types().values())


@pytest.mark.parametrize(
    ("box", "expected"),
    [([-10, 0, 30, 50], (0, 0, 0.2, 0.5)), ([90, 90, 50, 50], (0.9, 0.9, 1, 1)), ([200, 0, 5, 5], None), ("box", None)],
)
def test_boxes_are_clipped(box: object, expected: object):
    assert clip(box, (100, 100)) == expected


def test_an_annotation_of_the_same_id_counts_once_and_two_things_of_one_id_are_an_error():
    rows = coco.read_instances({**INSTANCES, "annotations": [{**PERSON, "id": 5}] * 3})
    assert (len(rows.objects), sum(rows.dropped.values())) == (1, 2)
    rows = coco.read_captions([{"image_id": 1, "caption": "a", "id": 1}] * 2 + [{"image_id": 1, "caption": "a"}] * 2)
    assert (len(rows.captions), sum(rows.dropped.values())) == (3, 1)
    image, category = INSTANCES["images"][0], INSTANCES["categories"][0]
    for twice in (
        {"images": [image, {**image, "width": 7}]},
        {"categories": [category, {**category, "name": "cat"}]},
    ):
        with pytest.raises(DataMissing, match=r"id .* stands for"):
            coco.read_instances({**INSTANCES, **twice})
    coco.read_instances({**INSTANCES, "images": [image] * 2, "categories": [category] * 2})
