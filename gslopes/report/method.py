"""Every way in which a run differs from Joo & Kärkkäinen (2020), with its reason, from the run's own configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gslopes.core import runfolder, tables
from gslopes.core.errors import ConfigError, UnknownName, UsageError
from gslopes.core.files import read_json
from gslopes.core.runfolder import show
from gslopes.zoo import home
from gslopes.zoo.identity import editor_for
from gslopes.zoo.spec import ModelSpec, read_spec

PRESENCE = "presence.json"  # in a run folder: which labels counted when it was fitted
VALUES = {"gender": 7, "race": 5}  # K of the paper, section 4.3
THRESHOLDS = (0.001, 0.03)  # of its tables: p below, |slope| above


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


def of_run(run: Path, thresholds: tuple[float, float] = THRESHOLDS) -> list[Choice]:
    """The list for a run folder.

    thresholds: p and slope of the report's tables.

    Raises: UsageError if it is none; TableError.
    """
    file, presence_file = run / runfolder.MANIFEST, run / PRESENCE
    if not file.is_file():
        raise UsageError(f"{show(run)} is no run folder.", "Name the folder that gslopes audit --out has made.")
    kept = runfolder.read_manifest(run).get("config") or {}
    config = {name: section for name, section in kept.items() if isinstance(section, dict)}
    config["gate"] = {"on": (run / "verdicts.parquet").is_file()}
    if (run / "slopes.parquet").is_file():
        slopes = tables.read(tables.SLOPES, run / "slopes.parquet")
        config["fit"] = {"estimators": tuple(sorted(set(slopes["estimator"])))}
    return choices(config, _presence(presence_file), thresholds)


def _presence(file: Path) -> dict[str, Any] | None:
    """What the fit wrote; None if it is not there, or damaged."""
    try:
        found = read_json(file)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def choices(
    config: Mapping[str, Any],
    presence: Mapping[str, Any] | None = None,
    thresholds: tuple[float, float] = THRESHOLDS,
) -> list[Choice]:
    """The list for one run.

    config: the run's configuration by sections, as in ``run.json``; sections and keys that it lacks are the defaults'.
    presence: what ``presence.json`` holds; None if the run was not fitted yet.
    thresholds: p and slope of the report's tables.
    """
    find, edit, compose = (config.get(name) or {} for name in ("find", "edit", "compose"))
    fit, judged = config.get("fit") or {}, (config.get("gate") or {}).get("on")
    models = _editors(edit)
    return [
        *_edits(edit),
        *(choice for name, spec in models.items() for choice in _editor(name, spec)),
        *_composed(compose, models),
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
            "thresholds of the tables",
            _past(THRESHOLDS),
            _past(thresholds),
            "Chosen for this report.",
            f"gslopes report --p {THRESHOLDS[0]} --slope {THRESHOLDS[1]}",
        ),
        Choice(
            "photos",
            "64,500 images of Bing's search: 129 occupations, six keywords",
            "the user's folder, or openly licensed photos that gslopes collect found",
            "Bing's service has ended.",
        ),
        Choice(
            "occupations",
            "129 of the US Bureau of Labor Statistics, some of them printed",
            "gslopes collect's bls-129: those that the paper prints, and our own choice of the others",
            "The paper's list is not public; its column printed says which titles the paper has.",
        ),
    ]


def _past(thresholds: tuple[float, float]) -> str:
    return f"p < {thresholds[0]:g}, |slope| > {thresholds[1]:g}"


def _editors(edit: Mapping[str, Any]) -> dict[str, ModelSpec]:
    """Name to spec of the run's editors, as far as this installation has them."""
    attributes = list(edit.get("attributes") or ["gender"])
    names = [str(edit.get("model") or _default_editor(attribute)) for attribute in attributes]
    found = {}
    for name in dict.fromkeys(names):
        folder = home.find("models", name) if name.replace("-", "").isalnum() else None
        try:
            if folder is not None:
                found[name] = read_spec(folder / "spec.toml")
        except ConfigError:  # a model of the user's that is no longer whole
            continue
    return found


def _default_editor(attribute: str) -> str:
    """The name of an attribute's default editor; the attribute itself where no installed model edits it."""
    try:
        return editor_for(attribute)
    except UnknownName:
        return attribute


def _edit_of(spec: ModelSpec) -> tuple[str, str]:
    """How an editor's pictures come about, and why."""
    if spec.network == "edit-field":
        return (
            "how each part of this face changes in lightness and colour and how far it moves, as a network says,"
            " applied to the photo's own pixels as a ratio, in proportion to the way from the photo's own value",
            "A decoder draws casts and blotches, and the grain of a photo is not its to draw.",
        )
    if spec.config.get("template"):
        return (
            "the decoder's mean change among training faces, as a ratio",
            "The decoder changes every face to another degree, and dark skin less.",
        )
    if spec.odd_part:
        return (
            "the odd part of the decoder, from the photo's own value; a straight line beyond -1 and 1",
            "What both ends share, such as a colour cast, cancels; no training has seen a value beyond -1 and 1.",
        )
    return "the decoder's picture at each value", "As published."


def _editor(name: str, spec: ModelSpec) -> list[Choice]:
    return [
        Choice(f"edit of {name}", "the decoder's picture at each value", *_edit_of(spec)),
        Choice(
            f"picture size of {name}",
            "256 pixels",
            f"{spec.size} pixels",
            "The size that could be trained on small hardware; the change alone is scaled up to the photo.",
        ),
        Choice(
            f"training data of {name}",
            "CelebA",
            ", ".join(spec.data) or "not said",
            "Data that we could get and may use; hair to chin is seen, not the facial skin alone.",
        ),
        Choice(
            f"loss of {name}",
            "Fader Network, with a classifier of the attribute",
            *_loss_of(spec),
        ),
    ]


def _loss_of(spec: ModelSpec) -> tuple[str, str]:
    """What an editor was trained for, and why."""
    if spec.network == "edit-field":
        return (
            f"an adversary that knows photos of both ends, prices on what changes (training/{spec.recipe}.toml)",
            "A classifier that stands still is satisfied by what no person would see; one that learns on is not.",
        )
    return (
        f"reconstruction and the latent adversary alone (training/{spec.recipe}.toml)",
        "A classifier that guides is satisfied by casts of colour before the face changes.",
    )


def _edits(edit: Mapping[str, Any]) -> list[Choice]:
    steps = edit.get("steps")
    attributes = list(edit.get("attributes") or ["gender"])
    spread = edit.get("range") or [-2, 2]
    return [
        Choice(
            f"values of {name}",
            f"{VALUES.get(name, 7)} from -2 to 2",
            f"{steps or VALUES.get(name, 7)} from {spread[0]:g} to {spread[1]:g}",
            "Chosen for this run.",
            f"--steps {VALUES.get(name, 7)} --range -2,2",
        )
        for name in attributes
    ]


def _composed(compose: Mapping[str, Any], models: Mapping[str, ModelSpec]) -> list[Choice]:
    region, blend = str(compose.get("region") or "face"), str(compose.get("blend") or "auto")
    if blend == "auto" and models:
        blend = ", ".join(sorted({spec.blend for spec in models.values()}))
    return [
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
    listed = "; ".join(f"{name}: {cut}" for name, cut in sorted(cuts.items()))
    which = str((presence or fit).get("presence") or "vendor")
    vendors = "labels that the service returns as it comes"
    return [
        Choice(
            "presence",
            vendors,
            vendors if which == "vendor" else listed or f"presence {which}",
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
    cells = [
        (one.what, one.paper, "the same" if one.same else one.here, "" if one.same else one.reason) for one in found
    ]
    rows = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in cells]
    head = ["# Method", "", "How this run differs from Joo & Kärkkäinen (2020), doi 10.1145/3422841.3423533.", ""]
    return "\n".join([*head, "| choice | paper | this run | reason |", "| --- | --- | --- | --- |", *rows, ""])
