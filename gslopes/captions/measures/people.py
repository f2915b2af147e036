"""D2: people depicted but not mentioned; and E1, who of several people are.

Source: Wang et al. 2022 (D2); E1 is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from gslopes.captions.config import AuditOptions
from gslopes.captions.material import Material, Presence, presence_of_images, presence_of_rows
from gslopes.captions.measures.estimates import change
from gslopes.captions.measures.rows import Recorder, Row, measure
from gslopes.words.graph import Fact
from gslopes.words.mentions import PERSON, Mentions

COLLECTIVES = frozenset(
    ("people", "couple", "crowd", "group", "family", "team", "audience", "trio", "duo", "crew", "class", "gang", "folk")
)
GENDER_GROUPS = {"female": "feminine", "male": "masculine"}
"""Annotated gender to the group of its words."""


def annotated_genders(material: Material) -> dict[str, str]:
    """Image to ``female`` or ``male``, of those that a column of groups annotates so."""
    return {i: v for values in material.groups.values() for i, v in values.items() if v in GENDER_GROUPS}


def covered(boxes: Sequence[Sequence[float]], width: float = 1.0, height: float = 1.0) -> float:
    """The share of the image under the union of boxes, computed exactly.

    boxes: x, y, width, height from the top left, in the units of width and height; clipped to the image.

    >>> covered([(0, 0, 40, 30), (20, 10, 40, 30)], 100, 100)
    0.2
    """
    corners = []
    for x, y, w, h in boxes:
        ends = max(x, 0.0), max(y, 0.0), min(x + w, width), min(y + h, height)
        if ends[2] > ends[0] and ends[3] > ends[1]:
            corners.append(ends)
    if not corners:
        return 0.0
    xs = sorted({end for corner in corners for end in (corner[0], corner[2])})
    area = 0.0
    for left, right in pairwise(xs):
        spans = sorted((c[1], c[3]) for c in corners if c[0] <= left and c[2] >= right)
        end = total = 0.0
        for low, high in spans:
            start = max(low, end) if total or end else low
            total += max(0.0, high - start)
            end = max(end, high)
        area += total * (right - left)
    return area / (width * height)


def is_large(area: float, least: float = 0.1) -> bool:
    """Whether people cover more than that share of an image, strictly.

    >>> is_large(0.1), is_large(0.2)
    (False, True)
    """
    return area > least * (1 + 1e-9)


def mentioned(facts: Iterable[Fact], mentions: Mentions) -> bool:
    """Whether any person is mentioned."""
    return bool(mentions.people(facts))


def singular_only(facts: Iterable[Fact], mentions: Mentions) -> bool:
    """Whether people are mentioned, and only by one word in the singular."""
    people = mentions.people(facts)
    return len({fact.word for fact in people}) == 1 and not _names_several(people)


def count_people(material: Material, stage: str, image: str) -> int:
    """How many people a stage shows, at least: boxes, else distinct words; plurals and groups count two."""
    boxes = [box for box in material.boxes.get(image, ()) if box.synset == PERSON]
    most = len(boxes) if stage == "human-labels" else 0
    for caption in material.stages[stage].get(image, ()):
        people = material.mentions.people(caption.kept)
        most = max(most, len({fact.word for fact in people}), 2 if _names_several(people) else 0)
    return most


def _names_several(people: Iterable[Fact]) -> bool:
    return any(fact.plural or fact.word in COLLECTIVES for fact in people)


def people_unmentioned(recorder: Recorder) -> None:
    """D2 at one target: shares of images whose people go unmentioned, by group."""
    material = recorder.material
    if material.areas:
        annotated = {image for values in material.groups.values() for image, value in values.items() if value}
        base = [image for image in _large(recorder.images, material, recorder.options) if image in annotated]
    else:
        base = [image for image in recorder.images if mentioned(recorder.truth_facts(image), material.mentions)]
        recorder.header |= {"note": "truth: captions that mention a person; no areas"}
    _unmentioned(recorder, base, "unmentioned")


def people_erased(recorder: Recorder) -> None:
    """E1: people unmentioned without the area rule, and several people described as one."""
    material = recorder.material
    base = [image for image in recorder.images if material.mentions.people(recorder.truth_facts(image))]
    _unmentioned(recorder, base, "people unmentioned")
    several = [image for image in base if count_people(material, recorder.truth, image) > 1]
    one = [image for image in several if singular_only(recorder.facts(image), material.mentions)]
    recorder.image_shares({"several described as one": one}, several)
    for image in one:
        recorder.case("several described as one", image)


def unmentioned_changes(material: Material, first: str, second: str, truth: str, options: AuditOptions) -> list[Row]:
    """D2 between two targets: how much wider the groups' difference is at the second, paired over images."""
    header = {"harm": "demeaning", "technique": "D2", "stage": second, "truth": truth, "origin": "paper"}
    images = _large(material.images(first, second), material, options)
    before, after = (
        presence_of_images(
            {"unmentioned": [i for i in images if not mentioned(material.facts(stage, i), material.mentions)]}, images
        )
        for stage in (first, second)
    )
    rows = []
    for pair in material.pairs:
        sides = material.sides(pair, images)
        n, m = int((sides == 1).sum()), int((sides == -1).sum())
        if min(n, m) < 10:
            continue
        weight = np.where(sides == 1, 1 / n, np.where(sides == -1, -1 / m, 0.0))
        clusters = material.cluster_numbers(images)
        found = change(before.matrix, after.matrix, weight, options, clusters)
        value, low, high, boot_low, boot_high, p = found.at(0)
        facts = {"concept": f"unmentioned, beyond {first}", **pair.columns, "n": n + m, "unit": "pp", "p": p, "q": p}
        facts |= {"value": 100 * value, "ci_low": 100 * low, "ci_high": 100 * high}
        facts |= {"boot_low": 100 * boot_low, "boot_high": 100 * boot_high}
        facts |= {"estimator": f"difference at {second} less that at {first}, paired"}
        facts |= {"null_hypothesis": "the two stages are exchangeable for each image"}
        rows.append(measure(header, **facts))
    return rows


def _large(images: Iterable[str], material: Material, options: AuditOptions) -> list[str]:
    return [image for image in images if is_large(material.areas.get(image, 0.0), options.min_people_area)]


def _unmentioned(recorder: Recorder, base: list[str], name: str) -> None:
    material = recorder.material
    missing = [i for i in base if not mentioned(recorder.facts(i), material.mentions)]
    recorder.image_shares({name: missing}, base)
    if material.has_several_captions(recorder.stage):
        recorder.shares(_shares_of_captions(name, material, recorder.stage, base), captions="each")
    for image in missing:
        recorder.case(name, image, reading="look")


def _shares_of_captions(name: str, material: Material, stage: str, base: list[str]) -> Presence:
    """The share of an image's captions that mention no person."""
    rows: dict[int, float] = {}
    for index, image in enumerate(base):
        captions = material.stages[stage][image]
        silent = [c for c in captions if not mentioned(c.kept, material.mentions)]
        if silent:
            rows[index] = len(silent) / len(captions)
    return presence_of_rows({name: rows}, base, binary=False)
