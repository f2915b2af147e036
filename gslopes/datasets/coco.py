"""COCO's JSON: instances, captions and results, recognised by their keys.

Source: Lin et al. 2014, Microsoft COCO: Common Objects in Context; the data format of cocodataset.org.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from gslopes.core.errors import DataMissing
from gslopes.datasets.caption_tables import UNUSABLE_BOX, BoxRow, CaptionRow, ImageRow, StageRows, clip, size_of

INSTANCES = ("images", "annotations", "categories")


@cache
def types() -> dict[str, str]:
    """COCO's 80 types to synsets."""
    with Path(__file__).with_name("coco-types.csv").open(encoding="utf-8") as file:
        return {row["type"]: row["synset"] for row in csv.DictReader(file)}


def is_instances(content: Any) -> bool:
    """Whether it is an instances file: images, annotations with boxes, and categories."""
    return isinstance(content, Mapping) and all(isinstance(content.get(key), list) for key in INSTANCES)


def caption_entries(content: Any) -> list[Any] | None:
    """The entries of a captions file (under annotations) or of a results file (a list); None for other content."""
    entries = content
    if isinstance(content, Mapping):
        entries = content.get("annotations") if "categories" not in content else None
    if not isinstance(entries, list):
        return None
    if not entries:
        return entries if isinstance(content, Mapping) else None
    needed = {"caption"} if isinstance(content, Mapping) else {"image_id", "caption"}
    return entries if isinstance(entries[0], Mapping) and needed <= set(entries[0]) else None


def read_instances(content: Mapping[str, Any]) -> StageRows:
    """Objects with boxes as shares of the sides.

    A box that is outside of its image, empty or not a number is dropped and counted, as are an unknown category and
    an annotation whose id stood there before.

    Raises: DataMissing if an id has two images of different sizes, or two categories.
    """
    rows = StageRows()
    sizes: dict[str, tuple[float, float]] = {}
    for image in content["images"]:
        key = str(image.get("id"))
        one = ImageRow(key, image.get("width"), image.get("height"))
        if rows.images.setdefault(key, one) != one:
            raise DataMissing(f"The image id {key[:40]} stands for two images.", "Give each image an id of its own.")
        if size := size_of(image):
            sizes[key] = size
    names: dict[Any, str] = {}
    for row in content["categories"]:
        number, name = row.get("id"), str(row.get("name", ""))
        if names.setdefault(number, name) != name:
            raise DataMissing(f"The category id {number} stands for {names[number]} and {name}.", "Give each its own.")
    for row in _each_once(content["annotations"], rows):
        key = str(row.get("image_id"))
        label = names.get(row.get("category_id"))
        if label is None:
            rows.drop("unknown category")
            continue
        rows.images.setdefault(key, ImageRow(key))
        corners = clip(row.get("bbox"), sizes.get(key))
        if corners is None:
            rows.drop(UNUSABLE_BOX)
            rows.unsized.add(key)
        else:
            rows.objects.append(BoxRow(key, label.replace(" ", "_"), types().get(label), *corners))
    rows.closed = frozenset(types()[name] for name in names.values() if name in types())
    return rows


def read_captions(entries: Iterable[Mapping[str, Any]]) -> StageRows:
    """Captions in the order of the file, one whose id stood there before dropped.  entries: of ``caption_entries``."""
    rows = StageRows()
    rows.captions = [CaptionRow(str(row.get("image_id")), row.get("caption")) for row in _each_once(entries, rows)]
    return rows


def _each_once(entries: Iterable[Mapping[str, Any]], rows: StageRows) -> Iterator[Mapping[str, Any]]:
    """Annotations of an id, or of none; those whose id stood there before are counted as dropped."""
    seen: set[str] = set()
    for entry in entries:
        key = None if entry.get("id") is None else str(entry["id"])
        if key is not None and key in seen:
            rows.drop("annotation whose id stood there before")
        else:
            seen.add(str(key))
            yield entry
