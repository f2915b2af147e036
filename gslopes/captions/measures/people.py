"""D2: people depicted but not mentioned; and E1, who of several people are.

Source: Wang et al. 2022 (D2); E1 is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from gslopes.captions.material import Caption, Material, Presence, flags, tabulate
from gslopes.captions.measures.estimates import change
from gslopes.captions.measures.rows import RowHeader, TechniqueResult, case, measure, shares, truth_text
from gslopes.captions.options import AuditOptions
from gslopes.language.graph import Fact
from gslopes.language.mentions import PERSON, Mentions

SEVERAL = frozenset(
    ("people", "couple", "crowd", "group", "family", "team", "audience", "trio", "duo", "crew", "class", "gang", "folk")
)
GROUP_WORDS = {"female": "feminine", "male": "masculine"}


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
        reach = total = 0.0
        for low, high in spans:
            start = max(low, reach) if total or reach else low
            total += max(0.0, high - start)
            reach = max(reach, high)
        area += total * (right - left)
    return area / (width * height)


def is_large(area: float, least: float = 0.1) -> bool:
    """Whether people cover more than that share, strictly.

    >>> is_large(0.1), is_large(0.2)
    (False, True)
    """
    return area > least * (1 + 1e-9)


def mentioned(facts: Iterable[Fact], mentions: Mentions, value: str = "") -> bool:
    """Whether anybody is mentioned; with a value, female or male, anybody of that gender."""
    people = mentions.people(facts)
    if not value:
        return bool(people)
    return any(mention.group == GROUP_WORDS.get(value) for mention in mentions.identity(facts))


def singular_only(facts: Iterable[Fact], mentions: Mentions) -> bool:
    """Whether people are mentioned, and only by one word in the singular."""
    people = mentions.people(facts)
    words = {fact.word for fact in people}
    return len(words) == 1 and not any(fact.plural or fact.word in SEVERAL for fact in people)


def people_unmentioned(material: Material, target: str, truth: str, options: AuditOptions) -> TechniqueResult:
    """D2 at one target: shares of images whose people go unmentioned, by group."""
    header = RowHeader("demeaning", "D2", target, truth, origin="paper")
    images = material.images(target, truth)
    if material.areas:
        annotated = {image for values in material.groups.values() for image, value in values.items() if value}
        base = [i for i in images if is_large(material.areas.get(i, 0.0), options.min_people_area) and i in annotated]
    else:
        base = [i for i in images if mentioned(material.facts(truth, i), material.mentions)]
        header = replace(header, note="truth: captions that mention a person; no areas")
    return _unmentioned(header, material, base, "unmentioned", options)


def people_erased(material: Material, target: str, truth: str, options: AuditOptions) -> TechniqueResult:
    """E1: people unmentioned without the area rule, and several people described as one."""
    header = RowHeader("erasing", "E1", target, truth, reading="look")
    images = material.images(target, truth)
    base = [image for image in images if material.mentions.people(material.facts(truth, image))]
    found = _unmentioned(header, material, base, "people unmentioned", options)
    several = [image for image in base if persons(material, truth, image) > 1]
    one = [image for image in several if singular_only(material.facts(target, image), material.mentions)]
    found.measures += shares(header, material, flags({"several described as one": one}, several), options)
    found.cases += [
        case(
            header, "several described as one", i, _any(material, target, i), truth_text=truth_text(material, truth, i)
        )
        for i in one
    ]
    return found


def widened(material: Material, first: str, second: str, truth: str, options: AuditOptions) -> TechniqueResult:
    """D2 between two targets: how much wider the difference of the groups is at the second, paired over images."""
    header = RowHeader("demeaning", "D2", second, truth, origin="paper")
    images = [
        image
        for image in material.images(first, second)
        if is_large(material.areas.get(image, 0.0), options.min_people_area)
    ]
    found = TechniqueResult()
    have = [
        flags({"unmentioned": [i for i in images if not mentioned(material.facts(s, i), material.mentions)]}, images)
        for s in (first, second)
    ]
    for pair in material.pairs:
        member = material.members(pair, images)
        n, m = int((member == 1).sum()), int((member == -1).sum())
        if min(n, m) < 10:
            continue
        weight = np.where(member == 1, 1 / n, np.where(member == -1, -1 / m, 0.0))
        value, low, high, p = change(have[0].matrix, have[1].matrix, weight, options, material.cluster_of(images))
        facts = {"column": pair.column, "group": pair.group, "other": pair.other, "n": n + m}
        found.measures.append(
            measure(
                header,
                **facts,
                concept=f"unmentioned, beyond {first}",
                value=100 * value[0],
                unit="pp",
                boot_low=100 * low[0],
                boot_high=100 * high[0],
                p=p[0],
                q=p[0],
                estimator=f"difference at {second} less that at {first}, paired",
                null_hypothesis="the two stages are exchangeable for each image",
            )
        )
    return found


def _unmentioned(
    header: RowHeader, material: Material, base: list[str], name: str, options: AuditOptions
) -> TechniqueResult:
    genders: dict[str, str] = {}
    if options.mentioned_as == "group":
        genders = {i: v for values in material.groups.values() for i, v in values.items() if v in GROUP_WORDS}
    missing = [
        image
        for image in base
        if not mentioned(material.facts(header.stage, image), material.mentions, genders.get(image, ""))
    ]
    found = TechniqueResult(shares(header, material, flags({name: missing}, base), options))
    if material.several(header.stage):
        each = replace(header, captions="each")
        found.measures += shares(each, material, _each(name, material, header.stage, base, genders), options)
    look = replace(header, reading="look")
    found.cases = [
        case(look, name, i, _any(material, header.stage, i), truth_text=truth_text(material, header.truth, i))
        for i in missing
    ]
    return found


def _each(name: str, material: Material, stage: str, base: list[str], genders: Mapping[str, str]) -> Presence:
    """The share of an image's captions that mention nobody."""
    rows: dict[int, float] = {}
    for place, image in enumerate(base):
        captions = material.stages[stage][image]
        silent = [c for c in captions if not mentioned(c.kept, material.mentions, genders.get(image, ""))]
        if silent:
            rows[place] = len(silent) / len(captions)
    return tabulate({name: rows}, base, binary=False)


def persons(material: Material, stage: str, image: str) -> int:
    """How many people a stage shows, at least: boxes, else distinct words; plurals and groups count two."""
    mentions = material.mentions
    boxes = [box for box in material.boxes.get(image, ()) if box.synset == PERSON]
    most = len(boxes) if stage == "human-labels" else 0
    for caption in material.stages[stage].get(image, ()):
        people = mentions.people(caption.kept)
        several = any(fact.plural or fact.word in SEVERAL for fact in people)
        most = max(most, len({fact.word for fact in people}), 2 if several else 0)
    return most


def _any(material: Material, stage: str, image: str) -> Caption | None:
    return next(iter(material.stages[stage].get(image, ())), None)
