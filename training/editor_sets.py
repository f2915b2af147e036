"""The training sets of editors: photos of one set of people, or of several, whose edited attribute is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gslopes.core.errors import DataMissing
from gslopes.faces.zoo import ModelSpec
from training.chips import find_faces
from training.layouts import layouts_in
from training.sets import CERTAIN, TrainingSet, balanced, where_certain
from training.sources import (
    YOUNG,
    LabelledPhotos,
    is_census,
    need,
    people_tables,
    read_celeba,
    read_celeba_wide,
    read_census,
    read_table,
    read_utkface,
    unpacked,
)

TONES = (
    10.0,
    28.0,
    41.0,
)  # degrees between dark, tan, intermediate and light skin (Chardon et al. 1991)
LEAST = 10  # faces at each end of an attribute without which photos are no training set
GROWN = (18, 27)
OLD = 56  # years at the ends of age: from, and below; from
SURE_OF_AGE = 0.9  # the labeller's, which reads 60 at the median of those it holds for old, and 25 of the young
OFTEN = 2.0  # how often a face of age may be drawn, times the mean of its end and gender
CELEBRITIES = ("celeba-hq", "celeba-wide", "img_align_celeba")  # forms of one set
SHARES = {"utkface": 0.35}  # how often a set is drawn if there are two; another 0.65


def read_people_sets(data: Path) -> list[LabelledPhotos]:
    """What a folder has for an editor: a census; or sets that are known by their layout; or photos with a CSV.

    Of CelebA only one form is taken, since they show the same people: CelebA-HQ, else wide, else aligned.

    Raises: DataMissing, naming all of them, if there is none; as the readers do.
    """
    if is_census(need(data, "The folder of photos")):
        return [read_census(data)]
    readers = {
        "celeba-wide": read_celeba_wide,
        "img_align_celeba": read_celeba,
        "UTKFace": read_utkface,
    }
    present = layouts_in(data)
    present |= {name: read for name, read in readers.items() if unpacked(data, name).is_dir()}
    celebrities = [name for name in CELEBRITIES if name in present]
    for name in celebrities[1:]:
        del present[name]
    if present:
        return [read(data) for read in present.values()]
    if people_tables(data):
        return [read_table(data)]
    raise DataMissing(
        f"{data} holds no photos that an editor can learn from.",
        "It may be a folder of gslopes census; or hold celeba-wide, or img_align_celeba and list_attr_celeba.txt; or "
        "UTKFace, FairFace, FFHQ or CelebA-HQ; or photos and a CSV with columns for file and gender, or file and race.",
    )


def fader(
    spec: ModelSpec,
    sources: Sequence[LabelledPhotos],
    device: str,
    tone: bool = False,
    checked: bool = True,
) -> TrainingSet:
    """The photos of ``read_people_sets`` with the spec's attributes from -1 to 1; of UTKFace the editors' fold.

    Faces with glasses are left out, unless the editor knows glasses as an attribute.

    The edited attribute is read from the set. If the set lacks it, it is as the tagger and the labeller see
    it, if they are certain (Joo and Kärkkäinen label their photos by a model in the same way). The other attributes
    that are held fixed are the set's if it has them, else the tagger's and the labeller's.

    tone: draw evenly over beards and the measured tone of the skin, in place of the race that the labeller reads.

    checked: refuse too few; else it is a part of a larger set.

    Raises: DataMissing if there are too few faces at an end of the edited attribute.
    """
    parts = [_part(spec, source, device, tone) for source in sources]
    shares = [SHARES.get(source.set, 0.65) for source in sources]
    labels, held_out = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("labels", "held_out")
    )
    if checked:
        check_ends(spec, labels[:, 0], held_out, "faces that can be aligned")
    weights = np.concatenate(
        [share * part.weights for part, share in zip(parts, shares, strict=True)]
    )
    if spec.labels[:2] == ("age", "gender"):
        weights = with_even_genders(labels[:, 0], labels[:, 1], weights)
    pixels = np.concatenate([part.pixels for part in parts])
    return TrainingSet(pixels, labels, weights, held_out)


def with_even_genders(
    ends: NDArray[np.float32], genders: NDArray[np.float32], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weights (n,) of which men and women of an end have the same sum, and both ends the sum of their photos' number.

    What is left of the given weights is how they differ among faces of the same end and gender, bounded by ``OFTEN``
    times their mean. So no loop has to bound them again: that had left 65 men of 100 old faces, and 40 of 100 young.

    ends, genders: (n,) -1 to 1.  weights: (n,) above 0.
    """
    evened = np.zeros(len(weights))
    for end in np.unique(ends):
        for men in (False, True):
            cell = (ends == end) & ((genders > 0) == men)
            if cell.any():
                bounded = np.minimum(weights[cell], OFTEN * weights[cell].mean())
                evened[cell] = bounded * ((ends == end).sum() / 2 / bounded.sum())
    return evened


def check_ends(
    spec: ModelSpec, edited: NDArray[np.float32], held_out: NDArray[np.bool_], what: str
) -> None:
    """Whether there is enough to learn from, and something to measure on.

    edited: (n,) the edited attribute, -1 and 1 its ends, NaN unknown.  held_out: (n,).  what: is counted.

    Raises: DataMissing with the numbers.
    """
    low, high = (int(((edited == end) & ~held_out).sum()) for end in (-1, 1))
    aside = int((held_out & np.isfinite(edited)).sum())
    if min(low, high) < LEAST or not aside:
        counts = f"{low:,} {spec.ends[0]} and {high:,} {spec.ends[1]}"
        raise DataMissing(
            f"Among the {what}, {counts} are left to learn from, and {aside:,} are held out.",
            f"It takes {LEAST} of each, and one held out: add photos, raise --limit, or name the "
            f"{spec.labels[0]} of more of them; in a census, answer the review of "
            f"gslopes census --unsure {spec.labels[0]}.",
        )


def said(photos: LabelledPhotos) -> dict[str, NDArray[np.float32]]:
    """A set's own labels of an editor's attributes, each (n,): 1, 0, NaN if unknown; only those it has."""
    columns = {
        "gender": ("masculine", "Male"),
        "young": ("young", "Young"),
        "smiling": ("Smiling",),
        "eyeglasses": ("Eyeglasses",),
    }
    named = {
        attribute: [name for name in names if name in photos.names]
        for attribute, names in columns.items()
    }
    values = {attribute: photos.column(names[0]) for attribute, names in named.items() if names}
    if "No_Beard" in photos.names:
        values["beard"] = 1 - photos.column("No_Beard")
    if "age" in photos.names:
        age = photos.column("age")
        values["young"] = np.where(np.isfinite(age), age < YOUNG, np.nan).astype(np.float32)
        values["age"] = ends_of_age(age)
    if "white" in photos.names:
        either = photos.column("white") + photos.column("black")
        values["race"] = np.where(either > 0, photos.column("white"), np.nan).astype(np.float32)
    return values


def ends_of_age(years: NDArray[np.float32]) -> NDArray[np.float32]:
    """Years (n,) to 0 for a young adult, 1 for an old face, and NaN between, below and if unknown.

    >>> ends_of_age(np.array([15, 20, 40, 60, np.nan], np.float32)).tolist()
    [nan, 0.0, nan, 1.0, nan]
    """
    grown = (years >= GROWN[0]) & (years < GROWN[1])
    return np.where(years >= OLD, 1, np.where(grown, 0, np.nan)).astype(np.float32)


def seen_age(read: NDArray[np.float32], tagged: NDArray[np.float32]) -> NDArray[np.float32]:
    """Two models' probabilities of young, (n,), to what ``ends_of_age`` gives: known if one is sure and both agree.

    read: the labeller's.  tagged: the tagger's.
    """
    old = (read <= 1 - SURE_OF_AGE) & (tagged < 0.5)
    grown = (read >= SURE_OF_AGE) & (tagged > 0.5)
    return np.where(old, 1, np.where(grown, 0, np.nan)).astype(np.float32)


def learnt_from(photos: LabelledPhotos) -> NDArray[np.bool_]:
    """(n,) which photos an editor may learn from: none held out, of UTKFace none that the judge knows."""
    if photos.set == "utkface":
        return photos.fold("editors")
    return ~photos.held_out()


def _part(spec: ModelSpec, source: LabelledPhotos, device: str, tone: bool) -> TrainingSet:
    """One set's photos: those whose edited attribute is known, see ``fader`` for glasses."""
    faces = find_faces(source.part(learnt_from(source) | source.held_out()), device)
    photos = faces.photos
    edited = spec.labels[0]
    tags = faces.read("celeba-tagger")
    read = faces.read("labeller")
    white = read["white"]
    black = read["black"]
    known = {
        "gender": where_certain(tags["Male"]) if edited == "gender" else read["masculine"],
        "race": white / (white + black).clip(1e-6),
        "young": read["young"],
        "age": seen_age(read["young"], tags["Young"]),
        "smiling": tags["Smiling"],
        "eyeglasses": tags["Eyeglasses"],
        "beard": 1 - tags["No_Beard"],
    }
    if edited == "race":
        known["race"] = np.where(white >= CERTAIN, 1, np.where(black >= CERTAIN, 0, np.nan)).astype(
            np.float32
        )
    for name, values in said(photos).items():
        if name == edited:
            known[name] = values  # also NaN: such a photo is left out
        elif name != "race" and (name, photos.set) != (
            "gender",
            "utkface",
        ):  # held fixed as what is read, in shades
            known[name] = np.where(np.isfinite(values), values, known[name]).astype(np.float32)
    clear = (known["eyeglasses"] < 0.5) | ("eyeglasses" in spec.labels)
    index = np.flatnonzero(np.isfinite(known[edited]) & clear & (faces.outside < 0.6))
    chosen = faces.part(index)
    labels = np.stack([2 * known[name][index] - 1 for name in spec.labels], 1)
    correlated = "gender" if edited == "age" else "young"  # what else is drawn evenly
    groups: list[NDArray[Any]] = [
        known[name][index].round() for name in (edited, correlated, "smiling")
    ]
    if tone:
        groups += [
            np.digitize(chosen.tones(), TONES),
            known["beard"][index].round(),
        ]
    else:
        groups.append((black + read["indian"])[index].round())
    # Most old faces are men's; a bound of 8, which every combination of less than an eighth meets, would leave it so.
    weights = balanced(*groups, most=np.inf if edited == "age" else 8)
    return TrainingSet(
        chosen.chips(),
        labels.astype(np.float32),
        weights / weights.sum(),
        photos.held_out()[index],
    )
