"""COCO's JSON: instances, captions and results, recognised by their keys.

Source: Lin et al. 2014, Microsoft COCO: Common Objects in Context; the data format of cocodataset.org.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from gslopes.captions.caption_tables import UNUSABLE_BOX, BoxRow, StageRows, caption_rows, clip, size_of
from gslopes.core.errors import DataMissing

INSTANCES = ("images", "annotations", "categories")


@cache
def types() -> dict[str, str]:
    """COCO's 80 types to synsets."""
    with Path(__file__).with_name("coco-types.csv").open(encoding="utf-8") as file:
        return {row["type"]: row["synset"] for row in csv.DictReader(file)}


def is_instances(content: Any) -> bool:
    """Whether it is an instances file: images, categories, and annotations that are no captions."""
    if not isinstance(content, Mapping) or not all(isinstance(content.get(key), list) for key in INSTANCES):
        return False
    return not _any_has(content["annotations"], "caption") or _any_has(content["annotations"], "category_id")


def caption_entries(content: Any) -> list[Any] | None:
    """The entries of a captions file (under annotations) or of a results file (a list); None for other content.

    What the rows are decides: one of them has a caption.
    """
    of_file = isinstance(content, Mapping)
    entries = content.get("annotations") if of_file else content
    if not isinstance(entries, list):
        return None
    if of_file and not entries and "categories" not in content:
        return entries
    return entries if _any_has(entries, "caption", *(() if of_file else ("image_id",))) else None


def read_instances(content: Mapping[str, Any]) -> StageRows:
    """Objects with boxes as shares of the sides.

    A box that is outside of its image, empty or not of numbers is dropped and counted, as are an unknown category, an
    annotation whose id stood there before, and a row that is no record or names no image.

    Raises: DataMissing if an id has two images of different sizes, or two categories.
    """
    rows = StageRows()
    sizes: dict[str, tuple[float, float] | None] = {}
    for image in rows.records(content["images"], "image"):
        key, size = _id(image.get("id")), size_of(image)
        if not key:
            rows.drop("image without an id")
        elif sizes.setdefault(key, size) != size:
            raise DataMissing(f"The image id {key[:40]} stands for two images.", "Give each image an id of its own.")
        elif size is None and any(image.get(name) is not None for name in ("width", "height")):
            rows.drop("image size that is no size")
    rows.images = {key: None if size is None else (round(size[0]), round(size[1])) for key, size in sizes.items()}
    names: dict[str, str] = {}
    for row in rows.records(content["categories"], "category"):
        number, name = _id(row.get("id")), row.get("name")
        if not number or not isinstance(name, str) or not name.strip():
            rows.drop("category without an id or a name")
        elif names.setdefault(number, name) != name:
            raise DataMissing(f"The category id {number} stands for {names[number]} and {name}.", "Give each its own.")
    for row in _annotations(content["annotations"], rows):
        key, label = _id(row["image_id"]), names.get(_id(row.get("category_id")))
        if label is None:
            rows.drop("unknown category")
            continue
        rows.images.setdefault(key, None)
        corners = clip(row.get("bbox"), sizes.get(key))
        if corners is None:
            rows.drop(UNUSABLE_BOX)
            rows.unsized.add(key)
        else:
            rows.objects.append(BoxRow(key, label.replace(" ", "_"), types().get(label), *corners))
    rows.closed = frozenset(types()[name] for name in names.values() if name in types())
    return rows


def read_captions(entries: Iterable[Any]) -> StageRows:
    """Captions in the order of the file; of a list of texts each is one.  entries: of ``caption_entries``.

    Dropped and counted: an annotation whose id stood there before, and a row that is no record or names no image.
    """
    rows = StageRows()
    for row in _annotations(entries, rows):
        rows.captions += caption_rows(_id(row["image_id"]), row.get("caption"))
    return rows


def _annotations(entries: Iterable[Any], rows: StageRows) -> Iterator[Mapping[str, Any]]:
    """Records that name an image, each id once; the others are counted as dropped."""
    seen: set[str] = set()
    for entry in rows.records(entries, "annotation"):
        key = _id(entry.get("id"))
        if not _id(entry.get("image_id")):
            rows.drop("annotation without an image")
        elif key and key in seen:
            rows.drop("annotation whose id stood there before")
        else:
            seen.add(key)
            yield entry


def _id(value: Any) -> str:
    """An id as text; empty for none. A whole number is one id in whichever way it is written."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value).strip()


def _any_has(entries: Iterable[Any], *keys: str) -> bool:
    return any(isinstance(one, Mapping) and all(key in one for key in keys) for one in entries)
