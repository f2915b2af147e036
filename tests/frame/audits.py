"""Every audit on the frame with small inputs: how one is begun, and its expensive stages in small parts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import gslopes
from gslopes.captions import audit as captions
from gslopes.core.result import AuditResult

MODULES = {"captions": (captions, "CAPTIONS")}


@dataclass(frozen=True)
class Small:
    """One audit of small inputs.

    prepare: writes the inputs into a folder; what to give the audit.  begin: audits them into a run folder.
    change: an option, and the first stage that it makes stale.  part: items a part.  expensive: the stage with parts.
    """

    prepare: Callable[[Path], Path]
    begin: Callable[..., AuditResult]
    change: tuple[Mapping[str, Any], str]
    expensive: str
    part: int


def in_small_parts(monkeypatch: pytest.MonkeyPatch, name: str, part: int) -> None:
    """Let the stages of an audit have parts of so many items."""
    module, constant = MODULES[name]
    audit = getattr(module, constant)
    stages = tuple(replace(stage, part=part) for stage in audit.stages)
    monkeypatch.setattr(module, constant, replace(audit, stages=stages))


# -- captions ---------------------------------------------------------------------------------------------------------


def caption_stages(folder: Path) -> Path:
    """Labels with boxes, four human captions and one of a system, and groups, of 36 images."""
    stages = folder / "stages"
    stages.mkdir(parents=True)
    images = [{"id": i, "width": 100, "height": 100, "file_name": f"{i}.jpg"} for i in range(36)]
    boxes = [
        {"id": 10 * i + k, "image_id": i, "category_id": k, "bbox": box, "area": 900, "iscrowd": 0}
        for i in range(36)
        for k, box in ((1, [0, 0, 40, 60]), (2, [50, 50, 20, 10 + i % 7]))
    ]
    categories = [{"id": 1, "name": "person", "supercategory": ""}, {"id": 2, "name": "dog", "supercategory": ""}]
    instances = {"images": images, "annotations": boxes, "categories": categories}
    (stages / "human-labels.json").write_text(json.dumps(instances))
    human = [f"{i},A {w} with a {o}." for i in range(36) for w in ("man", "woman") for o in ("dog", "bag")]
    system = [f"{i},A {'boy' if i % 5 else 'man'} {'with a dog' if i % 3 else ''}." for i in range(36)]
    for name, rows in (("human-captions", human), ("system-captions", system)):
        (stages / f"{name}.csv").write_text("\n".join(["image,caption", *rows]) + "\n")
    groups = [f"{i},{'female' if i % 2 else 'male'},{'darker' if i % 4 < 2 else 'lighter'}" for i in range(36)]
    (folder / "groups.csv").write_text("\n".join(["image,gender,skin", *groups]) + "\n")
    return stages


def audit_captions(stages: Path, run: Path, **more: Any) -> AuditResult:
    """All techniques, quickly."""
    quick = {"bootstrap": 50, "permutations": 49, "splits": 20, "types": 5}
    return gslopes.audit_captions(stages, run, groups=stages.parent / "groups.csv", **{**quick, **more})


AUDITS = {
    "captions": Small(caption_stages, audit_captions, ({"bootstrap": 60}, "measure"), "parse", 3),
}
