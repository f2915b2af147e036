"""Every way in which a run differs from Joo & Kärkkäinen (2020), with its reason, from the run's own configuration."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gslopes.core import runfolder, tables
from gslopes.core.errors import UsageError
from gslopes.core.runfolder import show

PRESENCE = "presence.json"  # in a run folder: which labels counted when it was fitted
VALUES = {"gender": 7, "race": 5}  # K of the paper, section 4.3


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice of the method.

    what: is chosen.  paper: as Joo & Kärkkäinen have it.  here: as the run has it.  reason: of the difference, or what
    cannot be set; empty where there is none.  option: that sets it as published; empty where nothing does.
    """

    what: str
    paper: str
    here: str
    reason: str = ""
    option: str = ""

    @property
    def same(self) -> bool:
        """Whether the run does as the paper."""
        return self.paper == self.here


def of_run(run: Path) -> list[Choice]:
    """The list for a run folder.  Raises: UsageError if it is none; TableError."""
    file, told = run / runfolder.MANIFEST, run / PRESENCE
    if not file.is_file():
        raise UsageError(f"{show(run)} is no run folder.", "Name the folder that gslopes audit --out has made.")
    config = dict(json.loads(file.read_text("utf-8")).get("config") or {})
    config["gate"] = {"on": (run / "verdicts.parquet").is_file()}
    if (run / "slopes.parquet").is_file():
        slopes = tables.read(tables.SLOPES, run / "slopes.parquet")
        config["fit"] = {"estimators": tuple(sorted(set(slopes["estimator"])))}
    return choices(config, json.loads(told.read_text("utf-8")) if told.is_file() else None)


def choices(config: Mapping[str, Any], presence: Mapping[str, Any] | None = None) -> list[Choice]:
    """The list for one run.

    config: the run's configuration by sections, as in ``run.json``; sections and keys that it lacks are the defaults'.
    presence: what ``presence.json`` holds; None if the run was not fitted yet.
    """
    find, edit, compose = (config.get(name) or {} for name in ("find", "edit", "compose"))
    fit, judged = config.get("fit") or {}, (config.get("gate") or {}).get("on")
    return [
        *_edits(edit, compose),
        Choice(
            "smallest face",
            "not said",
            f"{find.get('min_face', 32)} pixels",
            "A face of a few pixels cannot be edited; photos without a usable face are counted and named.",
        ),
        Choice(
            "gate",
            "none",
            "none" if judged is False else "sweeps that did not work are left out",
            "A sweep whose face is lost, or that moves something else, would answer another question.",
            "--no-gate",
        ),
        *_fits(fit, presence),
        Choice(
            "photos",
            "Bing's images of 129 occupations and six keywords, 64,500",
            "the user's folder, or openly licensed photos of 129 occupations",
            "Bing's service has ended; titles that the paper does not print are our own choice.",
        ),
        Choice(
            "training data, size, loss",
            "CelebA at 256 pixels, facial skin alone, classifier loss of the Fader Network",
            "public photos of faces at 128 pixels, hair to chin; each model's card has its recipe",
            "What could be trained openly on small hardware; `gslopes evaluate` measures what the editor reaches.",
        ),
    ]


def _edits(edit: Mapping[str, Any], compose: Mapping[str, Any]) -> list[Choice]:
    steps = edit.get("steps")
    attributes = list(edit.get("attributes") or ["gender"])
    spread = edit.get("range") or [-2, 2]
    found = [
        Choice(
            f"values of {name}",
            f"{VALUES.get(name, 7)} from -2 to 2",
            f"{steps or VALUES.get(name, 7)} from {spread[0]:g} to {spread[1]:g}",
            "Chosen for this run.",
            f"--steps {VALUES.get(name, 7)} --range -2,2",
        )
        for name in attributes
    ]
    region, blend = str(compose.get("region") or "face"), str(compose.get("blend") or "difference")
    return [
        *found,
        Choice(
            "region",
            "skin",
            region,
            "Brows, eyes and lips carry perceived gender as well; with the skin alone the cue moves less.",
            "--region skin",
        ),
        Choice(
            "blend",
            "paste",
            blend,
            "The editor's change is added to the photo, whose own texture stays; a small network's face is smoother.",
            "--blend paste",
        ),
        Choice(
            "placebo sweeps",
            "none",
            "three" if compose.get("placebo", True) else "none",
            "A slope is a finding only against sweeps that should move nothing.",
            "--no-placebo",
        ),
    ]


def _fits(fit: Mapping[str, Any], presence: Mapping[str, Any] | None) -> list[Choice]:
    estimators = tuple(fit.get("estimators") or ())
    cuts = (presence or {}).get("cuts") or {}
    told = "; ".join(f"{name}: {cut}" for name, cut in sorted(cuts.items()))
    which = str((presence or fit).get("presence") or "vendor")
    vendors = "labels that the service returns as it comes"
    return [
        Choice(
            "presence",
            vendors,
            vendors if which == "vendor" and not told else told or f"presence {which}",
            "Services were asked for all that one price buys; the cut comes afterwards, by default the vendor's own.",
            "--presence vendor",
        ),
        Choice(
            "estimator",
            "paper",
            ", ".join(estimators) or "paper, beside photo-rate and others",
            "The line through K shares says nothing about the sampling of photos; the other estimators do.",
            "--estimator paper",
        ),
        Choice(
            "test",
            "none is named",
            "two-sided t with K - 2 degrees of freedom; permutations within photos",
            "The paper prints p < 0.001 and names no test; this is the usual one of a least squares slope.",
        ),
        Choice("thresholds of the tables", "p < 0.001, |slope| > 0.03", "p < 0.001, |slope| > 0.03"),
    ]


def print_method(found: list[Choice]) -> str:
    """The list as text: what differs first, each with its reason and the option that undoes it."""
    differs, same = [one for one in found if not one.same], [one for one in found if one.same]
    lines = ["How this run differs from Joo & Kärkkäinen (2020), doi 10.1145/3422841.3423533:"]
    for one in differs:
        lines += ["", one.what, f"  paper   {one.paper}", f"  here    {one.here}"]
        lines += [f"  why     {one.reason}"] if one.reason else []
        lines += [f"  as published: {one.option}"] if one.option else []
    if same:
        lines += ["", f"As published: {', '.join(one.what for one in same)}."]
    return "\n".join(lines)


def to_markdown(found: list[Choice]) -> str:
    """The list as a Markdown table."""
    rows = [
        f"| {one.what} | {one.paper} | {'the same' if one.same else one.here} | {'' if one.same else one.reason} |"
        for one in found
    ]
    head = ["# Method", "", "How this run differs from Joo & Kärkkäinen (2020), doi 10.1145/3422841.3423533.", ""]
    return "\n".join([*head, "| choice | paper | this run | reason |", "| --- | --- | --- | --- |", *rows, ""])
