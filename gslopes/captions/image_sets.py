"""COCO's JSON (instances, captions, results) and Visual Genome's, recognised by their keys.

Sources: Lin et al. 2014, Microsoft COCO, and the data format of cocodataset.org; Krishna et al. 2017, Visual Genome,
IJCV 123:32, of which some versions write ``id`` for ``image_id`` and ``name`` for ``names``. Its images join COCO
through ``coco_id``; its boxes become shares of its own width and height.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from gslopes.captions.caption_tables import Label, StageRows, caption_rows, clip, id_of, size_of
from gslopes.core.csv_table import read_csv
from gslopes.core.errors import DataMissing
from gslopes.core.text import plain

KINDS = {"objects": "object", "attributes": "attribute", "relationships": "relation"}
ImageData = dict[str, tuple[str, tuple[float, float] | None]]  # Visual Genome's id to the id used here, and the size


@cache
def types() -> dict[str, str]:
    """COCO's 80 types to synsets."""
    return {row["type"]: row["synset"] for _, row in read_csv(Path(__file__).with_name("coco-types.csv")).rows()}


def form_of(content: Any) -> str:
    """What a file holds, by the keys of its rows; empty if it is of no known form.

    COCO: ``instances`` or ``captions`` (also results).  Visual Genome: ``image_data``, ``objects``, ``attributes``,
    ``relationships`` or ``attribute_synsets``.  Annotations with a caption and no category are captions.
    """
    if isinstance(content, Mapping) and isinstance(entries := content.get("annotations"), list):
        captions = _any_has(entries, "caption")
        of_boxes = all(isinstance(content.get(key), list) for key in ("images", "categories"))
        if of_boxes and (not captions or _any_has(entries, "category_id")):
            return "instances"
        return "captions" if captions or not (entries or "categories" in content) else ""
    if isinstance(content, Mapping):
        values = list(content.values())[:20]
        named = values and all(isinstance(value, str) and value.count(".") >= 2 for value in values)
        return "attribute_synsets" if named else ""
    if not isinstance(content, list) or _any_has(content, "caption", "image_id"):
        return "captions" if isinstance(content, list) else ""
    keys = set(next((entry for entry in content if isinstance(entry, Mapping)), ()))
    if not keys & {"image_id", "id"}:
        return ""
    return next((name for name in KINDS if name in keys), "image_data" if {"width", "height"} <= keys else "")


def _any_has(entries: Iterable[Any], *keys: str) -> bool:
    return any(isinstance(entry, Mapping) and all(key in entry for key in keys) for entry in entries)


# -- COCO -------------------------------------------------------------------------------------------------------------


def read_instances(content: Mapping[str, Any]) -> StageRows:
    """Objects with boxes as shares of the sides.

    A box that is outside of its image, empty or not of numbers is dropped and counted, as are an unknown category, an
    annotation whose id came before, and a row that is not a record or names no image.

    Raises: DataMissing if an id has two images of different sizes, or two categories.
    """
    rows = StageRows()
    sizes: dict[str, tuple[float, float] | None] = {}
    for image in rows.records(content["images"], "image"):
        key, size = id_of(image.get("id")), size_of(image)
        if not key:
            rows.drop("image without an id")
        elif sizes.setdefault(key, size) != size:
            raise DataMissing(f"The image id {key[:40]} is used for two images.", "Give each image an id of its own.")
    rows.images |= set(sizes)
    names: dict[str, str] = {}
    for row in rows.records(content["categories"], "category"):
        number, name = id_of(row.get("id")), row.get("name")
        if not number or not isinstance(name, str) or not name.strip():
            rows.drop("category without an id or a name")
        elif names.setdefault(number, name) != name:
            raise DataMissing(f"The category id {number} is used for {names[number]} and {name}.", "Give each its own.")
    for key, row in _annotations(content["annotations"], rows):
        name = names.get(id_of(row.get("category_id")))
        if name is None:
            rows.drop("unknown category")
            continue
        corners = clip(row.get("bbox"), sizes.get(key))
        if corners is None:
            rows.drop_box(key)
        else:
            rows.labels.append(Label(key, "object", name.replace(" ", "_"), types().get(name), corners=corners))
        rows.images.add(key)
    rows.closed = frozenset(types()[name] for name in names.values() if name in types())
    return rows


def read_captions(content: Any) -> StageRows:
    """Captions in the order of the file, under annotations or a list of results; of a list of texts each is one.

    Dropped and counted: an annotation whose id came before, and a row that is not a record or names no image.
    """
    rows = StageRows()
    for key, row in _annotations(content["annotations"] if isinstance(content, Mapping) else content, rows):
        rows.captions += caption_rows(key, row.get("caption"))
    return rows


def _annotations(entries: Iterable[Any], rows: StageRows) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Image and record of each annotation, each id once; the others are counted as dropped."""
    for row in rows.records(entries, "annotation", lambda row: id_of(row.get("id"))):
        if image := id_of(row.get("image_id")):
            yield image, row
        else:
            rows.drop("annotation without an image")


# -- Visual Genome ----------------------------------------------------------------------------------------------------


def read_image_data(content: Sequence[Any]) -> ImageData:
    """Ids and sizes; an image of COCO goes by COCO's id."""
    rows = [row for row in content if isinstance(row, Mapping)]
    return {_image(row): (id_of(row.get("coco_id")) or f"vg{_image(row)}", size_of(row)) for row in rows}


def read_form(
    content: Sequence[Any], form: str, data: ImageData, synsets: Mapping[str, str], wordnet: Callable[[str], bool]
) -> StageRows:
    """Rows of one file; a synset that WordNet lacks is counted as dropped.

    form: objects, attributes or relationships.  data: of image_data.json.  synsets: attribute to synset, of
    attribute_synsets.json.  wordnet: whether there is a synset of a name.
    """
    rows = StageRows(kinds={KINDS[form]})

    def known(names: Any) -> str | None:
        """The first name, if WordNet has it."""
        name = names[0] if isinstance(names, list) and names else names if isinstance(names, str) else None
        if name is not None and not wordnet(name):
            rows.drop("synset that this WordNet does not have")
            return None
        return name

    def thing(row: Mapping[str, Any]) -> tuple[str, str | None]:
        """The name and synset of an object."""
        names = row.get("names", row.get("name", ""))
        first = names[0] if isinstance(names, list) and names else names
        return plain(str(first or "")).strip().lower().replace(" ", "_"), known(row.get("synsets"))

    what, number = KINDS[form], f"{form.removesuffix('s')}_id"
    for entry in rows.records(content, "image"):
        image, size = data.get(_image(entry), (f"vg{_image(entry)}", None))
        rows.images.add(image)
        given = entry.get(form)
        key = partial(_key, image, number)
        for row in rows.records(given if isinstance(given, list) else (), what, key):
            name, synset = thing(row)
            if form == "objects":
                box = clip([row.get(side) for side in ("x", "y", "w", "h")], size)
                if box is None:
                    rows.drop_box(image)
                rows.labels.append(Label(image, what, name, synset, corners=box))
            elif form == "attributes":
                listed = row.get("attributes")
                for word in (plain(str(text)).strip().lower() for text in (listed if isinstance(listed, list) else ())):
                    meaning = known(synsets[word]) if word in synsets else None
                    rows.labels.append(Label(image, what, word.replace(" ", "_"), meaning, name, synset))
            elif isinstance(subject := row.get("subject"), Mapping) and isinstance(other := row.get("object"), Mapping):
                word = " ".join(plain(str(row.get("predicate", ""))).lower().split())
                rows.labels.append(Label(image, what, word, synset, *thing(subject), *thing(other)))
            else:
                rows.drop("relation without subject or object")
    return rows


def _key(image: str, number: str, row: Mapping[str, Any]) -> str:
    return f"{image} {row.get(number, row)!r}"


def _image(row: Mapping[str, Any]) -> str:
    return id_of(row.get("image_id", row.get("id")))
