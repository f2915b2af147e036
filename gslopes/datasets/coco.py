"""COCO's JSON: instances, captions and results, recognised by their keys.

Source: Lin et al. 2014, Microsoft COCO: Common Objects in Context; the data format of cocodataset.org.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from gslopes.datasets.caption_tables import BoxRow, CaptionRow, ImageRow, StageRows, clip

INSTANCES = ("images", "annotations", "categories")


@cache
def types() -> dict[str, str]:
    """COCO's 80 types to synsets."""
    with Path(__file__).with_name("coco-types.csv").open(encoding="utf-8") as file:
        return {row["type"]: row["synset"] for row in csv.DictReader(file)}


def is_instances(content: Any) -> bool:
    """Whether it is an instances file: images, annotations with boxes, and categories."""
    return isinstance(content, Mapping) and all(isinstance(content.get(key), list) for key in INSTANCES)


def is_captions(content: Any) -> bool:
    """Whether it is a captions file: images and annotations with captions."""
    found = isinstance(content, Mapping) and isinstance(content.get("annotations"), list)
    rows = content["annotations"] if found else []
    return (
        found and "categories" not in content and (not rows or (isinstance(rows[0], Mapping) and "caption" in rows[0]))
    )


def is_results(content: Any) -> bool:
    """Whether it is a results file: a list of image ids and captions."""
    return (
        isinstance(content, list)
        and bool(content)
        and isinstance(content[0], Mapping)
        and {
            "image_id",
            "caption",
        }
        <= set(content[0])
    )


def read_instances(content: Mapping[str, Any], file: Path) -> StageRows:
    """Objects with boxes as shares of the sides.

    A box that is outside of its image, empty or not a number is dropped and counted, as is an unknown category.
    """
    rows = StageRows()
    sizes: dict[str, tuple[float, float]] = {}
    for image in content["images"]:
        key = str(image.get("id"))
        width, height = image.get("width"), image.get("height")
        rows.images[key] = ImageRow(key, width, height)
        if isinstance(width, int | float) and isinstance(height, int | float) and width > 0 and height > 0:
            sizes[key] = float(width), float(height)
    names = {row.get("id"): str(row.get("name", "")) for row in content["categories"]}
    for row in content["annotations"]:
        key = str(row.get("image_id"))
        name = names.get(row.get("category_id"))
        if name is None:
            rows.drop("unknown category")
            continue
        rows.images.setdefault(key, ImageRow(key))
        synset = types().get(name)
        word = name.replace(" ", "_")
        box = clip(row.get("bbox"), sizes.get(key))
        if box is None:
            rows.drop("box without area inside its image, or image of unknown size")
            rows.unsized.add(key)
            continue
        area = row.get("area")
        largest = float(area) if isinstance(area, int | float) and not row.get("iscrowd") else 0.0
        rows.objects.append(BoxRow(key, word, synset, *box, area=largest, crowd=bool(row.get("iscrowd"))))
    rows.closed = frozenset(types()[name] for name in names.values() if name in types())
    return rows


def read_captions(content: Mapping[str, Any], file: Path) -> StageRows:
    """Captions in the order of the file."""
    rows = StageRows()
    for row in content["annotations"]:
        rows.captions.append(CaptionRow(str(row.get("image_id")), row.get("caption")))
    return rows


def read_results(content: list[Mapping[str, Any]], file: Path) -> StageRows:
    """Captions of a system, in the order of the file."""
    return StageRows(captions=[CaptionRow(str(row.get("image_id")), row.get("caption")) for row in content])
