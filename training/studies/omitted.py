"""S1's false alarms where labels are missing: nothing is planted, so that every word it flags is right."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gslopes.captions.analysis import run_technique
from gslopes.captions.config import AuditOptions
from gslopes.language.mentions import Mentions
from training.studies.scenes import NOTHING, TARGET, TRUTH, scenes

OMITTED = (0.0, 0.05, 0.1, 0.2, 0.3)
QUIET = replace(NOTHING, inserted=(0.0, 0.0), lazy=(0.0, 0.0))  # captions say what is there, and nothing else


def alarms(omitted: float, images: int, seed: int, mentions: Mentions, options: AuditOptions) -> dict[str, float]:
    """One set: what S1 flags if each label of a thing is missing with that probability.

    Gives shares of the images with a flagged word (``value``) and with a word whose label is missing (``missing``),
    the number of concepts that S1's heuristic keeps, and the smallest q of a difference between the groups.
    """
    material, _ = scenes(replace(QUIET, omitted=omitted), images, seed, mentions)
    whole, _ = scenes(QUIET, images, seed, mentions)  # the same scenes with all their labels
    found = run_technique("S1", material, TARGET, TRUTH, options)
    share = next(row["value"] for row in found.measures if row["concept"] == "any case")
    q = [row["q"] for row in found.measures if row["unit"] == "pp" and not math.isnan(row["q"])]
    unlabelled = 0
    for image in material.images(TARGET):
        kept, there = ({fact.concept for fact in one.facts(TRUTH, image)} for one in (material, whole))
        unlabelled += bool({fact.concept for fact in material.facts(TARGET, image)} & (there - kept))
    return {
        "value": float(share),
        "missing": unlabelled / images,
        "kept": float(sum(bool(row["kept"]) for row in found.inclusions)),
        "q": min(q, default=1.0),
    }


def alarm_rows(drawn: Mapping[float, Sequence[Mapping[str, float]]]) -> list[dict[str, Any]]:
    """Rows of the planted table by share of labels missing: the share of images with a flagged word, and concepts kept.

    truth is 0: no word is wrong.  low, high: the least and the largest of the sets.  flagged: share of sets in which
    any difference between the groups has q < 0.05.
    """
    rows = []
    for omitted, sets in drawn.items():
        found = float(np.mean([one["q"] < 0.05 for one in sets]))
        for name, text in (("value", "images with a word flagged, share"), ("kept", "concepts kept")):
            values = [one[name] for one in sets]
            row = {"set": "omitted", "planted": f"S1, {omitted:.0%} of labels missing: {text}", "truth": 0.0}
            row |= {"mean": float(np.mean(values)), "low": min(values), "high": max(values), "covered": None}
            rows.append(row | {"sets": len(sets), "flagged": found if name == "value" else None, "p_flagged": None})
    return rows
