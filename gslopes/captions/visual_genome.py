"""Visual Genome's JSON: image data, objects, attributes, relationships and attribute synsets.

Source: Krishna et al. 2017, Visual Genome, IJCV 123:32. Some versions write ``id`` for ``image_id`` and ``name`` for
``names``. Images join COCO through ``coco_id``; boxes become shares of Visual Genome's own width and height.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gslopes.captions.caption_tables import UNUSABLE_BOX, BoxRow, LinkRow, StageRows, clip, size_of
from gslopes.core.text import plain

FORMS = ("objects", "attributes", "relationships")
_IDS = {"objects": "object_id", "attributes": "attribute_id", "relationships": "relationship_id"}
ImageData = dict[str, tuple[str, tuple[float, float] | None]]  # Visual Genome's id to the id used here, and the size


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
    return found[0] if found else "image_data" if {"width", "height"} <= keys else ""


def read_image_data(content: Sequence[Any]) -> ImageData:
    """Ids and sizes; an image of COCO goes by COCO's id."""
    return {
        _id(row): (f"vg{_id(row)}" if row.get("coco_id") is None else str(row["coco_id"]), size_of(row))
        for row in content
        if isinstance(row, Mapping)
    }


def read_form(
    content: Sequence[Any], form: str, data: ImageData, synsets: Mapping[str, str], wordnet: Callable[[str], bool]
) -> StageRows:
    """Rows of one file; a synset that WordNet lacks is counted as dropped.

    data: of image_data.json.  synsets: attribute to synset, of attribute_synsets.json.  wordnet: whether there is
    a synset of a name.
    """
    rows = StageRows(kinds={form.removesuffix("s").replace("relationship", "relation")})
    seen: set[tuple[str, str]] = set()

    def known(names: Any) -> str | None:
        """The first name, if WordNet has it."""
        name = names[0] if isinstance(names, list) and names else names if isinstance(names, str) else None
        if name is not None and not wordnet(name):
            rows.drop("synset that this WordNet does not have")
            return None
        return name

    for entry in rows.records(content, "image"):
        image, size = data.get(_id(entry), (f"vg{_id(entry)}", None))
        rows.images.setdefault(image, None)
        given, what = entry.get(form), form.removesuffix("s")
        for row in rows.records(given if isinstance(given, list) else (), what):
            key = (image, repr(row.get(_IDS[form], row)))
            if key in seen:
                rows.drop(f"{what} whose id stood there before")
                continue
            seen.add(key)
            synset = known(row.get("synsets"))
            if form == "objects":
                box = clip([row.get(name) for name in ("x", "y", "w", "h")], size)
                if box is None:
                    rows.drop(UNUSABLE_BOX)
                    rows.unsized.add(image)
                rows.objects.append(BoxRow(image, _name(row), synset, *(box or ())))
            elif form == "attributes":
                words = row.get("attributes")
                for word in (plain(str(one)).strip().lower() for one in (words if isinstance(words, list) else ())):
                    meant = known(synsets[word]) if word in synsets else None
                    rows.links.append(LinkRow(image, "attribute", word.replace(" ", "_"), meant, _name(row), synset))
            elif isinstance(subject := row.get("subject"), Mapping) and isinstance(other := row.get("object"), Mapping):
                word = " ".join(plain(str(row.get("predicate", ""))).lower().split())
                ends = (_name(subject), known(subject.get("synsets")), _name(other), known(other.get("synsets")))
                rows.links.append(LinkRow(image, "relation", word, synset, *ends))
            else:
                rows.drop("relation without subject or object")
    return rows


def _id(row: Mapping[str, Any]) -> str:
    return str(row.get("image_id", row.get("id", "")))


def _name(row: Mapping[str, Any]) -> str:
    names = row.get("names", row.get("name", ""))
    first = names[0] if isinstance(names, list) and names else names
    return plain(str(first or "")).strip().lower().replace(" ", "_")
