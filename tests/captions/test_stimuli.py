"""Stages of every form, on small files that follow it exactly: tables, COCO, Visual Genome; and captions as texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gslopes.captions import coco
from gslopes.captions.caption_tables import clip, read_table
from gslopes.captions.stimuli import LONGEST, find_stages, judge_text, read_stages
from gslopes.captions.visual_genome import form_of, read_form, read_image_data
from gslopes.core.errors import DataMissing, UnknownName, UsageError
from gslopes.words.wordnet import wordnet


def test_files_and_folders_are_stages_by_their_names(tmp_path: Path):
    (tmp_path / "system-captions.csv").write_text("image,caption\n")
    (tmp_path / "human-captions").mkdir()
    for name in ("b.csv", "a.csv"):
        (tmp_path / "human-captions" / name).write_text("image,caption\n")
    (tmp_path / ".hidden.csv").touch()
    (tmp_path / "notes.md").touch()
    found = find_stages(tmp_path)
    assert list(found) == ["human-captions", "system-captions"]
    assert [file.name for file in found["human-captions"]] == ["a.csv", "b.csv"]


def test_a_table_that_is_called_after_no_stage_is_named(tmp_path: Path):
    (tmp_path / "captoins.csv").touch()
    with pytest.raises(UnknownName, match="captoins"):
        find_stages(tmp_path)


def test_an_empty_folder_and_none_at_all_are_usage_errors(tmp_path: Path):
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UsageError):
            find_stages(place)


def read_one(folder: Path, name: str, content: str):
    (folder / f"human-labels{name}").write_text(content, "utf-8")
    return read_stages(find_stages(folder), wordnet())


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        (".json", '{"images": [], "annotations": [], "images": []}', "is no JSON: .*the key 'images' twice"),
        (".json", '[{"image_id": 1, "caption": "a"}, {"image_id": 2, "caption": NaN}]', "NaN is no number"),
        (".json", '[{"image_id": 1, "width": Infinity, "height": 1}]', "Infinity is no number"),
        (".csv", "image,caption,caption\n1,a,b\n", r"labels\.csv has two columns 'caption'"),
        (".csv", 'image,caption\n1,a\n2,"b\n3,c\n', "line 3: a quote that begins in it is never closed"),
        (".csv", "image,caption\n1,a\n2\n", "line 3: it has 1 cells"),
        (".csv", f"image,caption\n1,{'a' * 200_000}\n", "line 2: it has a cell of more than 131,072 characters"),
        (".json", f'[{{"image_id": 7, "caption": "{"a" * 200_000}"}}]', "image 7 has 200,000 characters"),
    ],
)
def test_a_stage_that_can_be_read_in_two_ways_is_an_error_that_names_the_file(
    tmp_path: Path, name: str, content: str, why: str
):
    with pytest.raises(DataMissing, match=why) as error:
        read_one(tmp_path, name, content)
    assert error.value.message.count(f"human-labels{name}") == 1


def test_annotations_and_rows_of_labels_that_stand_there_twice_count_once(tmp_path: Path):
    person = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 5, 5]}
    content = {
        "images": [{"id": 1, "width": 10, "height": 10}] * 2,
        "annotations": [person] * 2,
        "categories": [{"id": 1, "name": "person"}] * 2,
    }
    rows = read_one(tmp_path, ".json", json.dumps(content)).stages["human-labels"]
    assert (len(rows.objects), sum(rows.dropped.values())) == (1, 1)
    (tmp_path / "human-labels.json").unlink()
    rows = read_one(tmp_path, ".csv", "image,kind,word\n1,object,dog\n1,object,dog\n").stages["human-labels"]
    assert (len(rows.objects), sum(rows.dropped.values())) == (1, 1)


# -- captions as texts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("caption", "status"),
    [
        ("A dog.", "parsed"),
        (None, "empty"),
        *((blank, "empty") for blank in ("  ", "\u200b")),
        (3.5, "failed"),
        (["A dog."], "failed"),
    ],
)
def test_every_caption_has_a_status(caption: object, status: str):
    assert judge_text(caption)[1] == status


def test_what_is_too_long_or_no_unicode_is_still_a_caption():
    text, status, why = judge_text("x" * (LONGEST + 1))
    assert (status, len(text)) == ("parsed", LONGEST + 1)
    assert why == "cut for parsing (at 2,000 characters)"
    assert judge_text("a \ud800 dog")[:2] == ("a ? dog", "parsed")


def test_one_caption_written_in_two_ways_is_one():
    assert judge_text("A Ｗoman’s o\u200bﬃce") == judge_text("A Woman's office")


def test_captions_of_a_csv_in_the_order_of_their_source(tmp_path: Path):
    (tmp_path / "c.csv").write_text("image,caption,source\na,second,1\na,first,0\n")
    assert [text for _, text in read_table(tmp_path / "c.csv").captions] == ["first", "second"]


def test_labels_with_boxes(tmp_path: Path):
    lines = ["image,kind,word,synset,subject,object,x0,y0,x1,y1"]
    lines += ["a,object,wine glass,,,,0.1,0.1,0.5,0.5", "a,object,dog,dog.n.01,,,0.5,0.1,0.2,0.5"]
    lines += ["a,attribute,red,,dog,,,,,", "a,relation,sit on,,dog,chair,,,,", "a,nonsense,x,,,,,,,"]
    (tmp_path / "l.csv").write_text("\n".join(lines))
    rows = read_table(tmp_path / "l.csv")
    assert [row.word for row in rows.objects] == ["wine_glass", "dog"]
    assert rows.objects[0].x0 == 0.1
    assert [(row.kind, row.word) for row in rows.links] == [("attribute", "red"), ("relation", "sit on")]
    assert sum(rows.dropped.values()) == 2


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"\xff\xfe\x00", b"image\n"])
def test_what_is_no_such_table_is_refused(tmp_path: Path, content: bytes):
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(DataMissing):
        read_table(tmp_path / "x.csv")


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
        assert rows == [("391895", text)]


@pytest.mark.parametrize("extra", [{"categories": []}, {"images": [IMAGE], "categories": INSTANCES["categories"]}])
def test_what_the_rows_are_decides_and_not_the_keys_around_them(extra):
    content = {"annotations": [{"image_id": 9}, *CAPTIONS["annotations"]], **extra}
    assert not coco.is_instances(content)
    assert len(coco.caption_entries(content)) == 2


def test_rows_that_are_no_captions_are_counted_and_lists_are_several():
    odd = [3, None, "text", {"caption": "of no image"}, {"image_id": None, "caption": "x"}, {"image_id": 1.0}]
    rows = coco.read_captions([*odd, {"image_id": 1, "caption": ["a man", "a dog"]}, {"image_id": 2, "caption": []}])
    assert rows.captions == [("1", None), ("1", "a man"), ("1", "a dog"), ("2", None)]
    assert rows.dropped == {"annotation that is no record": 3, "annotation without an image": 2}


@pytest.mark.parametrize("side", ["640", 640.0, "640.0", " 640 "])
def test_a_side_may_be_a_text_or_a_fraction(side):
    rows = coco.read_instances({**INSTANCES, "images": [{**IMAGE, "width": side}]})
    assert rows.images["391895"] == (640, 480)
    assert len(rows.objects) == 1


@pytest.mark.parametrize("side", [float("inf"), float("nan"), -3, 0, True, [640], "wide", {}, 10**400])
def test_a_side_that_is_none_is_counted_and_its_boxes_with_it(side):
    rows = coco.read_instances({**INSTANCES, "images": [{**IMAGE, "width": side}]})
    assert rows.images["391895"] is None
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
    for twice in ({"images": [image, {**image, "width": 7}]}, {"categories": [category, {**category, "name": "cat"}]}):
        with pytest.raises(DataMissing, match=r"id .* stands for"):
            coco.read_instances({**INSTANCES, **twice})
    coco.read_instances({**INSTANCES, "images": [image] * 2, "categories": [category] * 2})


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


def test_the_forms_of_visual_genome_are_known_by_their_keys():
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
    rows = read_form(odd, "objects", {}, {}, wordnet().known)
    assert rows.objects[0].image == "vg7"
    assert rows.objects[0].synset is None
    assert rows.dropped["synset that this WordNet does not have"] == 1
