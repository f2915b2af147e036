"""The plan of a captions audit (``--dry-run``): what is there, and which techniques can run; nothing is written."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gslopes.captions.analysis import missing_need
from gslopes.captions.config import CaptionsConfig
from gslopes.captions.groups import groups_of, read_checked
from gslopes.captions.lists import mentions_of
from gslopes.captions.load import chosen_stages
from gslopes.captions.material import Material, pairs_of
from gslopes.captions.techniques import TECHNIQUES


@dataclass(frozen=True, slots=True)
class Plan:
    """What an audit would do.

    images, captions: by stage.  shared: images of all stages.  techniques: rows of the techniques table.
    dropped: stage and reason to rows that are left out.
    """

    images: dict[str, int]
    captions: dict[str, int]
    shared: int
    truth: str
    targets: tuple[str, ...]
    techniques: list[dict[str, Any]]
    dropped: dict[str, int]


def plan(stages: Path, config: CaptionsConfig) -> Plan:
    """Read the stages and say what an audit would do.  Raises: as ``audit_captions``."""
    mentions = mentions_of(config)
    read = read_checked(stages, config, mentions)
    images = {stage: read.images(stage) for stage in read.stages}
    truth, targets = chosen_stages(config, list(images))
    groups = groups_of(config)
    named = {stage: dict.fromkeys(some, ()) for stage, some in images.items()}
    material = Material(named, mentions, groups, pairs_of(groups))
    labels = read.stages.get("human-labels")
    known = {"tagger", *(["boxes"] if labels and any(not math.isnan(row.x0) for row in labels.objects) else [])}
    described = []
    for name in config.techniques or TECHNIQUES:
        needs = [need for need in TECHNIQUES[name].needs if need not in known]
        for target in targets:
            why = missing_need(needs, material, target, truth)
            described.append(TECHNIQUES[name].describe(target, truth, why))
    return Plan(
        {stage: len(some) for stage, some in images.items()},
        {stage: len(rows.captions) for stage, rows in read.stages.items()},
        len(set.intersection(*images.values())),
        truth,
        tuple(targets),
        described,
        {f"{stage}: {why}": n for stage, rows in read.stages.items() for why, n in rows.dropped.items()},
    )
