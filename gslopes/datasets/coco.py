"""COCO's JSON: instances, captions and results, recognised by their keys.

Source: Lin et al. 2014, Microsoft COCO: Common Objects in Context; the data format of cocodataset.org.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

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

    A box that is outside of its image, empty or not a number is dropped and counted, as is an unknown category.
    """
    rows = StageRows()
    sizes: dict[str, tuple[float, float]] = {}
    for image in content["images"]:
        key = str(image.get("id"))
        rows.images[key] = ImageRow(key, image.get("width"), image.get("height"))
        if size := size_of(image):
            sizes[key] = size
    names = {row.get("id"): str(row.get("name", "")) for row in content["categories"]}
    for row in content["annotations"]:
        key = str(row.get("image_id"))
        name = names.get(row.get("category_id"))
        if name is None:
            rows.drop("unknown category")
            continue
        rows.images.setdefault(key, ImageRow(key))
        corners = clip(row.get("bbox"), sizes.get(key))
        if corners is None:
            rows.drop(UNUSABLE_BOX)
            rows.unsized.add(key)
        else:
            rows.objects.append(BoxRow(key, name.replace(" ", "_"), types().get(name), *corners))
    rows.closed = frozenset(types()[name] for name in names.values() if name in types())
    return rows


def read_captions(entries: Iterable[Mapping[str, Any]]) -> StageRows:
    """Captions in the order of the file.  entries: of ``caption_entries``."""
    return StageRows(captions=[CaptionRow(str(row.get("image_id")), row.get("caption")) for row in entries])
