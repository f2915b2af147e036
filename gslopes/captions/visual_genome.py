"""Visual Genome's JSON: image data, objects, attributes, relationships and attribute synsets.

Source: Krishna et al. 2017, Visual Genome, IJCV 123:32. Some versions write ``id`` for ``image_id`` and ``name`` for
``names``. Images join COCO through ``coco_id``; boxes become shares of Visual Genome's own width and height.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gslopes.captions.caption_tables import UNUSABLE_BOX, BoxRow, ImageRow, LinkRow, StageRows, clip, size_of
from gslopes.captions.coco import records
from gslopes.core.text import plain

FORMS = ("objects", "attributes", "relationships")
_IDS = {"objects": "object_id", "attributes": "attribute_id", "relationships": "relationship_id"}


@dataclass(slots=True)
class ImageData:
    """Visual Genome's id to the image id used here, and to its size."""

    ids: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, tuple[float, float]] = field(default_factory=dict)


def form_of(content: Any) -> str:
    """``image_data``, ``objects``, ``attributes``, ``relationships``, ``attribute_synsets``; empty if it is none."""
    if isinstance(content, Mapping):
        values = list(content.values())[:20]
        named = values and all(isinstance(value, str) and value.count(".") >= 2 for value in values)
        return "attribute_synsets" if named else ""
    if not isinstance(content, list):
        return ""
    keys = set(next((entry for entry in content if isinstance(entry, Mapping)), ()))
    if not keys & {"image_id", "id"}:
        return ""
    found = [name for name in FORMS if name in keys]
    if found:
        return found[0]
    return "image_data" if {"width", "height"} <= keys else ""


def read_image_data(content: Sequence[Mapping[str, Any]]) -> ImageData:
    """Ids and sizes; an image of COCO goes by COCO's id."""
    data = ImageData()
    for row in content:
        if not isinstance(row, Mapping):
            continue
        image_id = _id(row)
        coco = row.get("coco_id")
        data.ids[image_id] = str(coco) if coco is not None else f"vg{image_id}"
        if size := size_of(row):
            data.sizes[image_id] = size
    return data


def read_form(
    content: Sequence[Mapping[str, Any]],
    form: str,
    data: ImageData,
    synsets: Mapping[str, str],
    wordnet: Callable[[str], bool],
) -> StageRows:
    """Rows of one file.

    data: of image_data.json.  synsets: attribute to synset, of attribute_synsets.json.  wordnet: whether there is
    a synset of a name.
    """
    rows = StageRows(kinds={form.removesuffix("s").replace("relationship", "relation")})
    known = _Known(wordnet, rows)
    seen: set[tuple[str, str]] = set()
    for entry in records(content, rows, "image"):
        image_id = _id(entry)
        image = data.ids.get(image_id, f"vg{image_id}")
        rows.images.setdefault(image, ImageRow(image))
        given = entry.get(form)
        what = form.removesuffix("s")
        for row in records(given if isinstance(given, list) else (), rows, what):
            key = (image, repr(row.get(_IDS[form], row)))
            if key in seen:
                rows.drop(f"{what} whose id stood there before")
                continue
            seen.add(key)
            if form == "objects":
                _object(row, image, data.sizes.get(image_id), rows, known)
            elif form == "attributes":
                _attributes(row, image, synsets, rows, known)
            else:
                _relation(row, image, rows, known)
    return rows


class _Known:
    """Looks synsets up in WordNet; those that it lacks are counted as dropped."""

    def __init__(self, wordnet: Callable[[str], bool], rows: StageRows) -> None:
        self.wordnet, self.rows = wordnet, rows

    def first(self, names: Any) -> str | None:
        """The first name, if WordNet has it."""
        name = names[0] if isinstance(names, list) and names else names if isinstance(names, str) else None
        if name is None:
            return None
        if not self.wordnet(name):
            self.rows.drop("synset that this WordNet does not have")
            return None
        return str(name)


def _object(
    row: Mapping[str, Any], image: str, size: tuple[float, float] | None, rows: StageRows, known: _Known
) -> None:
    box = clip([row.get(name) for name in ("x", "y", "w", "h")], size)
    if box is None:
        rows.drop(UNUSABLE_BOX)
        rows.unsized.add(image)
    corners = box or (float("nan"),) * 4
    rows.objects.append(BoxRow(image, _name(row), known.first(row.get("synsets")), *corners))


def _attributes(row: Mapping[str, Any], image: str, synsets: Mapping[str, str], rows: StageRows, known: _Known) -> None:
    subject = known.first(row.get("synsets"))
    given = row.get("attributes")
    for attribute in given if isinstance(given, list) else ():
        word = plain(str(attribute)).strip().lower()
        synset = known.first(synsets[word]) if word in synsets else None
        rows.links.append(LinkRow(image, "attribute", word.replace(" ", "_"), synset, _name(row), subject))


def _relation(row: Mapping[str, Any], image: str, rows: StageRows, known: _Known) -> None:
    subject, other = row.get("subject"), row.get("object")
    if not isinstance(subject, Mapping) or not isinstance(other, Mapping):
        rows.drop("relation without subject or object")
        return
    word = " ".join(plain(str(row.get("predicate", ""))).lower().split())
    synset = known.first(row.get("synsets"))
    ends = (_name(subject), known.first(subject.get("synsets")), _name(other), known.first(other.get("synsets")))
    rows.links.append(LinkRow(image, "relation", word, synset, *ends))


def _id(row: Mapping[str, Any]) -> str:
    return str(row.get("image_id", row.get("id", "")))


def _name(row: Mapping[str, Any]) -> str:
    names = row.get("names", row.get("name", ""))
    first = names[0] if isinstance(names, list) and names else names
    return plain(str(first or "")).strip().lower().replace(" ", "_")
