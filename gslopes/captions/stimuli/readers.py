"""The rows that all readers of stages return; captions and labels in CSV, Parquet, COCO's JSON and Visual Genome's.

Sources: Lin et al. 2014, Microsoft COCO, and the data format of cocodataset.org; Krishna et al. 2017, Visual Genome,
IJCV 123:32, of which some versions write ``id`` for ``image_id`` and ``name`` for ``names``. Its images join COCO
through ``coco_id``; its boxes become shares of the image's width and height.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields
from math import isfinite, isnan, nan
from operator import add, or_
from pathlib import Path
from typing import Any, NamedTuple

from pandas import DataFrame

from gslopes.core import DataMissing, Record, Texts, read_beside, show
from gslopes.core.csv_table import read_frame
from gslopes.core.tables import records
from gslopes.words.reading import label_of

LARGEST = 4 << 30  # bytes of a table: Conceptual 12M has 2.5 GB
LONGEST_CAPTION = 131_072  # characters, as many as a cell of a CSV may have
_LONGEST = 1_000_000  # pixels of an image's side


class Label(NamedTuple):
    """One object, attribute (of its subject) or relation.

    corners: of an object's box, x0, y0, x1 and y1 as shares of the sides, or None.
    """

    image: str
    kind: str
    word: str
    synset: str | None
    subject: str = ""
    subject_synset: str | None = None
    object: str = ""
    object_synset: str | None = None
    corners: tuple[float, float, float, float] | None = None
    score: float = nan


@dataclass(slots=True)
class StageRows:
    """The rows of one or more files.

    captions: image and caption, a text or any other value.  closed: synsets of a closed vocabulary of objects, empty
    for an open one.  dropped: reason to rows left out.  told: what captions hold besides words, to how many do.
    unsized: images with a box that could not be used.  kinds: of facts that labels have, if the file names them.
    keys: ids of the records.
    digest: sha256 over the bytes of the files.
    """

    images: set[str] = field(default_factory=set)
    captions: list[tuple[str, Any]] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    closed: frozenset[str] = frozenset()
    dropped: Counter[str] = field(default_factory=Counter)
    told: Counter[str] = field(default_factory=Counter)
    unsized: set[str] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)
    keys: set[tuple[str, str]] = field(default_factory=set)
    digest: str = ""

    @property
    def ids(self) -> set[str]:
        """Ids of all its images."""
        return {image for image, _ in self.captions} | self.images

    def drop(self, reason: str) -> None:
        """Count a row that is left out."""
        self.dropped[reason] += 1

    def drop_box(self, image: str) -> None:
        """Count a box that is left out, and its image."""
        self.drop("box without area inside its image, or image of unknown size")
        self.unsized.add(image)

    def take(self, rows: "StageRows") -> None:
        """Add the rows of another file."""
        for column in fields(self):
            join = or_ if isinstance(getattr(self, column.name), Set) else add
            both = [getattr(part, column.name) for part in (self, rows)]
            setattr(self, column.name, join(*both))

    def records(
        self,
        entries: Iterable[Any],
        what: str,
        key: Callable[[Record], str] = lambda row: "",
    ) -> Iterator[Record]:
        """The entries that are records, each key once unless it is empty; the others are counted as dropped."""
        for entry in entries:
            if not isinstance(entry, Mapping):
                self.drop(f"{what} that is not a record")
                continue
            number = key(entry)
            if (what, number) in self.keys:
                self.drop(f"{what} that came before")
                continue
            if number:
                self.keys.add((what, number))
            yield entry


def examples(ids: Iterable[str]) -> str:
    """Three ids, for messages."""
    return show(", ".join(map(repr, sorted(ids)[:3])))


def id_of(value: Any) -> str:
    """An id as text; empty for none. A whole number is one id in whichever way it is written."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value).strip()


def size_of(image: Record) -> tuple[float, float] | None:
    """Width and height of an image's record; None if one of them is not a positive number or a text of one."""
    width, height = (number_of(image.get(name)) for name in ("width", "height"))
    if 0 < width <= _LONGEST and 0 < height <= _LONGEST:
        return (width, height)
    return None


def number_of(value: Any) -> float:
    """A number, or a text of one; NaN for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return nan


def clip(box: Any, size: tuple[float, float] | None) -> tuple[float, float, float, float] | None:
    """Corners as shares, clipped to the image; None if nothing is left, or the size is unknown.

    box: x, y, width, height in pixels from the top left.  size: width and height.

    >>> clip([-10, 0, 30, 50], (100, 100))
    (0.0, 0.0, 0.2, 0.5)
    """
    if size is None or not isinstance(box, Sequence) or len(box) != 4:
        return None
    x, y, w, h = map(number_of, box)
    if not isfinite(x + y + w + h):
        return None
    width, height = size
    x0 = max(x, 0.0)
    y0 = max(y, 0.0)
    x1 = min(x + w, width)
    y1 = min(y + h, height)
    if x1 > x0 and y1 > y0:
        return (x0 / width, y0 / height, x1 / width, y1 / height)
    return None


def caption_rows(image: str, caption: Any) -> list[tuple[str, Any]]:
    """What an image's caption is read as: of a list of texts each is one, of an empty list one without text.

    Raises: DataMissing for a caption of more than ``LONGEST_CAPTION`` characters.
    """
    texts = caption.tolist() if hasattr(caption, "tolist") else caption
    if not (isinstance(texts, list) and all(isinstance(text, str) for text in texts)):
        texts = [texts]
    longest = max((len(text) for text in texts if isinstance(text, str)), default=0)
    if longest > LONGEST_CAPTION:
        problem = f"A caption of the image {show(image[:80])} has {longest:,} characters"
        raise DataMissing(
            f"{problem}, and at most {LONGEST_CAPTION:,} are read.", "Take it out, or cut it."
        )
    return [(image, text) for text in texts or [None]]


def read_table(file: Path) -> StageRows:
    """Captions ``image, caption[, source]``, or labels ``image, kind, word[, …]``; at most 4 GiB.

    Raises: DataMissing if the file is not a table, or has neither form.
    """
    frame = read_frame(file, raises=DataMissing, limit=LARGEST)
    columns = set(frame.columns)
    if {"image", "caption"} <= columns:
        if "source" in columns:
            frame = frame.sort_values(["image", "source"])
        rows = StageRows()
        for image, caption in frame[["image", "caption"]].itertuples(index=False):
            rows.captions += caption_rows(str(image), _text(caption))
        return rows
    if {"image", "kind", "word"} <= columns:
        return _labels(frame)
    names = ", ".join(map(str, frame.columns))
    raise DataMissing(
        f"{file} has the columns {names}.", "It needs image, caption or image, kind, word."
    )


def _labels(frame: DataFrame) -> StageRows:
    rows = StageRows(
        kinds={str(kind) for kind in frame["kind"].unique()}, images=set(frame["image"].astype(str))
    )
    names = ("synset", "subject", "subject_synset", "object", "object_synset")
    for row in rows.records(records(frame), "row", repr):
        kind = str(row["kind"])
        word = label_of(row["word"])
        texts = (str(_text(row.get(name)) or "") for name in names)
        synset, subject, subject_synset, target, target_synset = texts
        name = word if kind == "relation" else word.replace(" ", "_")
        label = Label(str(row["image"]), kind, name, synset or None)
        if kind not in KINDS.values():
            rows.drop(f"kind {kind[:20]!r}")
            continue
        if kind == "object":
            x0, y0, x1, y1 = sides = tuple(number_of(row.get(side)) for side in SIDES)
            corners = None
            if 0 <= x0 < x1 <= 1 and 0 <= y0 < y1 <= 1:
                corners = (x0, y0, x1, y1)
            elif not all(map(isnan, sides)):
                rows.drop("box outside of its image")
            label = label._replace(corners=corners, score=number_of(row.get("score")))
        else:
            ends = (
                label_of(subject),
                subject_synset or None,
                label_of(target),
                target_synset or None,
            )
            label = Label(*label[:4], *ends)
        rows.labels.append(label)
    return rows


def _text(value: Any) -> Any:
    if isinstance(value, float) and isnan(value):
        return None
    return value


SIDES = ("x0", "y0", "x1", "y1")
KINDS = {"objects": "object", "attributes": "attribute", "relationships": "relation"}
ImageData = dict[
    str, tuple[str, tuple[float, float] | None]
]  # Visual Genome's id to the id used here, and the size


TYPES: dict[str, str] = read_beside(__file__, "coco-types.toml")


def form_of(content: Any) -> str:
    """What a file holds, by the keys of its rows; empty if it is of no known form.

    COCO: ``instances`` or ``captions`` (also results).  Visual Genome: ``image_data``, ``objects``, ``attributes``,
    ``relationships`` or ``attribute_synsets``.  Annotations with a caption and no category are captions.
    """
    if isinstance(content, Mapping):
        return _form_of_mapping(content)
    if not isinstance(content, list):
        return ""
    if _any_has(content, "caption", "image_id"):
        return "captions"
    keys = set(next((entry for entry in content if isinstance(entry, Mapping)), ()))
    if not keys & {"image_id", "id"}:
        return ""
    if {"width", "height"} <= keys and keys.isdisjoint(KINDS):
        return "image_data"
    return next((name for name in KINDS if name in keys), "")


def _form_of_mapping(content: Record) -> str:
    entries = content.get("annotations")
    if isinstance(entries, list):
        captions = _any_has(entries, "caption")
        of_boxes = all(isinstance(content.get(key), list) for key in ("images", "categories"))
        if of_boxes and (not captions or _any_has(entries, "category_id")):
            return "instances"
        if captions or not (entries or "categories" in content):
            return "captions"
        return ""
    values = [*content.values()][:20]
    if values and all(isinstance(value, str) and value.count(".") >= 2 for value in values):
        return "attribute_synsets"
    return ""


def _any_has(entries: Iterable[Any], *keys: str) -> bool:
    return any(
        isinstance(entry, Mapping) and all(key in entry for key in keys) for entry in entries
    )


# -- COCO -------------------------------------------------------------------------------------------------------------


def read_instances(content: Record) -> StageRows:
    """Objects with boxes as shares of the sides.

    A box that is outside of its image, empty or not of numbers is dropped and counted, as are an unknown category, an
    annotation whose id came before, and a row that is not a record or names no image.

    Raises: DataMissing if an id has two images of different sizes, or two categories.
    """
    rows = StageRows()
    sizes: dict[str, tuple[float, float] | None] = {}
    for image in rows.records(content["images"], "image"):
        key = id_of(image.get("id"))
        size = size_of(image)
        if not key:
            rows.drop("image without an id")
        elif sizes.setdefault(key, size) != size:
            raise DataMissing(
                f"The image id {key[:40]} is used for two images.",
                "Give each image an id of its own.",
            )
    rows.images |= set(sizes)
    names: dict[str, str] = {}
    for row in rows.records(content["categories"], "category"):
        number = id_of(row.get("id"))
        name = row.get("name")
        if not number or not isinstance(name, str) or not name.strip():
            rows.drop("category without an id or a name")
        elif names.setdefault(number, name) != name:
            raise DataMissing(
                f"The category id {number} is used for {names[number]} and {name}.",
                "Give each its own.",
            )
    for key, row in _annotations(content["annotations"], rows):
        name = names.get(id_of(row.get("category_id")))
        if name is None:
            rows.drop("unknown category")
            continue
        corners = clip(row.get("bbox"), sizes.get(key))
        if corners is None:
            rows.drop_box(key)
        else:
            rows.labels.append(
                Label(key, "object", name.replace(" ", "_"), TYPES.get(name), corners=corners)
            )
        rows.images.add(key)
    rows.closed = frozenset(TYPES[name] for name in names.values() if name in TYPES)
    return rows


def read_captions(content: Any) -> StageRows:
    """Captions in the order of the file, under annotations or a list of results; of a list of texts each is one.

    Dropped and counted: an annotation whose id came before, and a row that is not a record or names no image.
    """
    rows = StageRows()
    for key, row in _annotations(
        content["annotations"] if isinstance(content, Mapping) else content, rows
    ):
        rows.captions += caption_rows(key, row.get("caption"))
    return rows


def _annotations(entries: Iterable[Any], rows: StageRows) -> Iterator[tuple[str, Record]]:
    """Image and record of each annotation, each id once; the others are counted as dropped."""
    for row in rows.records(entries, "annotation", lambda row: id_of(row.get("id"))):
        if image := id_of(row.get("image_id")):
            yield image, row
        else:
            rows.drop("annotation without an image")


# -- Visual Genome ----------------------------------------------------------------------------------------------------


def read_image_data(content: Sequence[Any]) -> ImageData:
    """Ids and sizes; an image of COCO goes by COCO's id."""
    return {
        _image(row): (id_of(row.get("coco_id")) or f"vg{_image(row)}", size_of(row))
        for row in content
        if isinstance(row, Mapping)
    }


def read_form(
    content: Sequence[Any],
    form: str,
    data: ImageData,
    synsets: Texts,
    wordnet: Callable[[str], bool],
) -> StageRows:
    """Rows of one file; a synset that WordNet lacks is counted as dropped.

    form: objects, attributes or relationships.  data: of image_data.json.  synsets: attribute to synset, of
    attribute_synsets.json.  wordnet: whether there is a synset of a name.
    """
    kind = KINDS[form]
    number = f"{form.removesuffix('s')}_id"
    rows = StageRows(kinds={kind})

    def known(names: Any) -> str | None:
        """The first name, if WordNet has it."""
        name = _first(names)
        if name is None or wordnet(name):
            return name
        rows.drop("synset that this WordNet does not have")
        return None

    def thing(row: Record) -> tuple[str, str | None]:
        """The name and synset of an object."""
        name = label_of(_first(row.get("names", row.get("name"))) or "")
        return name.replace(" ", "_"), known(row.get("synsets"))

    for entry in rows.records(content, "image"):
        image, size = data.get(_image(entry), (f"vg{_image(entry)}", None))
        rows.images.add(image)
        for row in rows.records(
            _listed(entry.get(form)),
            kind,
            lambda row: f"{image} {row.get(number, row)!r}",  # noqa: B023 - called at once
        ):
            name, synset = thing(row)
            subject = row.get("subject")
            target = row.get("object")
            if form == "objects":
                box = clip([row.get(side) for side in ("x", "y", "w", "h")], size)
                if box is None:
                    rows.drop_box(image)
                rows.labels.append(Label(image, kind, name, synset, corners=box))
            elif form == "attributes":
                for text in _listed(row.get("attributes")):
                    word = label_of(text)
                    meaning = known(synsets.get(word))
                    word = word.replace(" ", "_")
                    rows.labels.append(Label(image, kind, word, meaning, name, synset))
            elif isinstance(subject, Mapping) and isinstance(target, Mapping):
                word = label_of(row.get("predicate", ""))
                ends = (*thing(subject), *thing(target))
                rows.labels.append(Label(image, kind, word, synset, *ends))
            else:
                rows.drop("relation without subject or object")
    return rows


def _listed(entries: Any) -> list[Any]:
    """The entries, if they are a list."""
    if isinstance(entries, list):
        return entries
    return []


def _first(names: Any) -> Any:
    """The first of a list, or the text itself; None without either."""
    match names:
        case [first, *_]:
            return first
        case str():
            return names
    return None


def _image(row: Record) -> str:
    return id_of(row.get("image_id", row.get("id")))
