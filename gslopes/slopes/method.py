"""How a run differs from Joo & Kärkkäinen (2020), with its reason, from the run's own configuration."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gslopes.ask.editors.registry import is_outside
from gslopes.core import runfolder
from gslopes.core.errors import ModelError, UnknownName, UsageError
from gslopes.core.files import read_json
from gslopes.core.runfolder import show
from gslopes.faces.zoo.spec import ModelSpec, editor_for, identify, regions
from gslopes.report.choices import NOT_SAID, Choice

PRESENCE = "presence.json"  # in a run folder: which labels counted when it was fitted
AS_PUBLISHED = "As published."
VENDORS_OWN = "labels that the service returns as it comes"
VALUES = {"gender": 7, "race": 5}  # K of the paper, section 4.3
UNDRAWN = "none to measure: the photo's own pixels are changed"
THRESHOLDS = (0.001, 0.03)  # of its tables: p below, |slope| above


def of_run(run: Path, thresholds: tuple[float, float] = THRESHOLDS) -> list[Choice]:
    """The list for a run folder.

    thresholds: p and slope of the report's tables.

    Raises: UsageError if it is not one; TableError.
    """
    file = run / runfolder.MANIFEST
    presence_file = run / PRESENCE
    if not file.is_file():
        raise UsageError(
            f"{show(run)} is not a run folder.",
            "Name the folder that gslopes audit --out has made.",
        )
    manifest = runfolder.read_manifest(run)
    recorded = manifest.get("identity") or manifest.get("config") or {}
    config = {name: section for name, section in recorded.items() if isinstance(section, dict)}
    if (config.get("compose") or {}).get("region") == "auto":
        config["compose"] = {
            **config["compose"],
            "region": _each(regions(manifest.get("models") or {})),
        }
    config["gate"] = {"on": (run / "verdicts.parquet").is_file()}
    config["editor"] = manifest.get("editor") or {}
    return choices(config, _presence(presence_file), thresholds)


def is_asked_for(config: Mapping[str, Any]) -> bool:
    """Whether the pictures of a run are those of an editor that others made."""
    return is_outside(str((config.get("edit") or {}).get("model") or ""))


def drawn(config: Mapping[str, Any]) -> set[str]:
    """The attributes of a run whose pictures show a drawn face, at every value: those with edits that are pasted, and
    all of an editor that others made.

    Other blends put nothing but changes into the photo, and a face has no changes at its original value.
    """
    edit = config.get("edit") or {}
    if is_asked_for(config):
        return set(edit.get("attributes") or ["gender"])
    blend = str((config.get("compose") or {}).get("blend") or "auto")
    if blend != "auto":
        if blend == "paste":
            return set(edit.get("attributes") or ["gender"])
        return set()
    return {spec.labels[0] for spec in _editors(edit).values() if spec.blend == "paste"}


def _each(regions: Mapping[str, str]) -> str:
    """The region of all editors, or each attribute's own."""
    alike = len(set(regions.values())) < 2
    if alike:
        return next(iter(regions.values()), "face")
    return "; ".join(": ".join(pair) for pair in regions.items())


def _presence(file: Path) -> dict[str, Any] | None:
    """What the fit wrote; None if it is not there, or damaged."""
    try:
        content = read_json(file)
    except (OSError, ValueError):
        return None
    if isinstance(content, dict):
        return content
    return None


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
    texts = tomllib.loads((Path(__file__).parent / "data" / "method.toml").read_text("utf-8"))
    edit = config.get("edit") or {}
    others = config.get("editor") or {}
    models = {} if others else _editors(edit)
    if edit.get("calibrated") is False:
        models = {name: replace(spec, steps=()) for name, spec in models.items()}
    here = _here(config, models, presence, thresholds)
    if others:
        here |= texts["others"]["here"]
    return [
        *([] if others else _values(texts["values"], edit)),
        *_others(texts["others"]["editor"], others),
        *(
            one
            for name, spec in models.items()
            for text, value_and_reason in zip(
                texts["editor"], _editor(spec, here["blend"], texts["fading"]), strict=True
            )
            if (one := _of_editor(name, spec, text, value_and_reason)) is not None
        ),
        *(Choice(**{"here": here.get(text["what"], ""), **text}) for text in texts["choice"]),
    ]


def _others(text: Mapping[str, str], told: Mapping[str, Any]) -> Iterator[Choice]:
    """A choice for each editor that others made.  told: attribute to what run.json has of its editor."""
    for attribute, facts in told.items():
        sentences = [
            f"{value}: {' / '.join(all_of)}" for value, all_of in facts["sentences"].items()
        ]
        versions = [f"{version} ({count:,})" for version, count in facts["models"].items()]
        lists = {"sentences": "; ".join(sentences), "models": ", ".join(versions)}
        here = text["here"].format(**facts | lists)
        yield Choice(text["what"].format(name=attribute), text["paper"], here, text["reason"])


def _of_editor(
    name: str, spec: ModelSpec, text: Mapping[str, str], value_and_reason: tuple[str, str]
) -> Choice | None:
    """A choice of one editor; None for a choice about another attribute."""
    value, reason = value_and_reason
    edited = spec.labels[0]
    if text.get("of", edited) != edited:
        return None
    paper = text.get(f"paper_{edited}", text["paper"])
    reason = reason or text.get("reason", "")
    return Choice(
        text["what"].format(name=name), paper, value, reason, section=text.get("section", "")
    )


def _here(
    config: Mapping[str, Any],
    models: Mapping[str, ModelSpec],
    presence: Mapping[str, Any] | None,
    thresholds: tuple[float, float],
) -> dict[str, str]:
    """What the run has, by choice."""
    find, compose, fit, gate, score = (
        config.get(name) or {} for name in ("find", "compose", "fit", "gate", "score")
    )
    blend = str(compose.get("blend") or "auto")
    if blend == "auto" and config.get("editor"):
        blend = "paste"
    if blend == "auto" and models:
        blend = ", ".join(sorted({spec.blend for spec in models.values()}))
    region = str(compose.get("region") or "auto")
    if region == "auto":
        region = _each({spec.labels[0]: spec.region for spec in models.values()})
    which = str((presence or fit).get("presence") or "vendor")
    cuts = "; ".join(
        f"{name}: {cut}" for name, cut in sorted(((presence or {}).get("cuts") or {}).items())
    )
    return {
        "face parser": _parser(compose),
        "classifiers": ", ".join(map(str, score.get("classifiers") or ()))
        or "those that the user names",
        "region": region,
        "drawing effect": "each label's change from the photo to value 0"
        if drawn(config)
        else UNDRAWN,
        "blend": blend,
        "placebo sweeps": "three" if compose.get("placebo", True) else "none",
        "smallest face": f"{find.get('min_face', 32)} pixels",
        "gate": "none" if gate.get("on") is False else "sweeps that did not work are left out",
        "presence": VENDORS_OWN if which == "vendor" else cuts or f"presence {which}",
        "thresholds of the tables": f"p < {thresholds[0]:g}, |slope| > {thresholds[1]:g}",
    }


def _parser(compose: Mapping[str, Any]) -> str:
    """What finds the region."""
    if compose.get("masks"):
        return "none: known masks"
    if compose.get("parser"):
        return "BiSeNet"
    return "face-parser, a feature pyramid"


def _values(text: Mapping[str, str], edit: Mapping[str, Any]) -> Iterator[Choice]:
    low, high = edit.get("range") or [-2, 2]
    for name in edit.get("attributes") or ["gender"]:
        published = VALUES.get(name, 7)
        yield Choice(
            text["what"].format(name=name),
            f"{published} from -2 to 2",
            f"{edit.get('steps') or published} from {low:g} to {high:g}",
            text["reason"],
            text["option"].format(K=published),
            text["section"],
        )


def _editors(edit: Mapping[str, Any]) -> dict[str, ModelSpec]:
    """Name to spec of the run's editors, as their weights carry it, as far as this installation has them."""
    attributes = list(edit.get("attributes") or ["gender"])
    names = [_editor_name(attribute, str(edit.get("model") or "")) for attribute in attributes]
    specs = {}
    for name in dict.fromkeys(names):
        try:
            if name.replace("-", "").isalnum():
                specs[name] = identify(name)[0]
        except (UnknownName, ModelError):  # a model of the user's that is gone, or lost a file
            continue
    return specs


def _editor_name(attribute: str, model: str) -> str:
    """The name of an attribute's editor; the attribute itself if no installed model edits it."""
    try:
        return editor_for(attribute, model)
    except UnknownName:
        return attribute


def _edit_of(spec: ModelSpec, blend: str) -> tuple[str, str]:
    """How an editor's pictures come about, and why.  blend: the run's."""
    if spec.network == "edit-ends":
        return (
            "what each part of this face becomes in lightness and colour at -2 and at 2, and how far it moves, as a"
            " network says, on the photo's own pixels as a ratio; a value between has its share of the way from the"
            " photo's own",
            "A decoder draws casts and blotches, and cannot draw a photo's grain.",
        )
    if spec.config.get("template"):
        return (
            "the decoder's mean change among training faces, as a ratio",
            "The decoder changes every face to another degree, and dark skin less.",
        )
    if spec.odd_part and blend != "paste":
        return (
            "the odd part of the decoder, from the photo's own value; a straight line beyond -1 and 1",
            "What both ends share, such as a colour cast, cancels; no training has seen a value beyond -1 and 1.",
        )
    beyond = ", beyond -1 and 1 extrapolated" if max(map(abs, spec.steps), default=2) > 1 else ""
    return f"the decoder's picture at each value{beyond}", AS_PUBLISHED


def _editor(spec: ModelSpec, blend: str, fading: Mapping[str, str]) -> list[tuple[str, str]]:
    """In the order of method.toml: what an editor has, with its reason, or without one.  fading: as in that file."""
    edit, why = _edit_of(spec, blend)
    if spec.steps and (blend == "paste" or not spec.odd_part):
        edit += f"; a table says where it stands at each value, from {spec.steps[0]:g} to {spec.steps[-1]:g}"
        why = (
            f"{why.removeprefix(AS_PUBLISHED)} By the table 0 is neutral, and equal steps are equal steps of readings."
            " --as-published gives the network the values themselves."
        )
    return [
        (edit, why.strip()),
        (f"{spec.size} pixels", ""),
        (", ".join(spec.data) or NOT_SAID, ""),
        _loss_of(spec),
        _controlled(spec, fading.get(spec.recipe, "")),
        (f"as the card of {spec.name} says; not checked by hand", ""),
    ]


def _controlled(spec: ModelSpec, fades: str) -> tuple[str, str]:
    """What an editor holds still, and why.  fades: the attribute that it does not."""
    still = ", ".join(name for name in spec.labels[1:] if name != fades) or "none"
    if spec.network == "edit-ends" and spec.labels[1:]:
        return (
            f"none is given to the network; a change that readers see of {still} had a price in its teacher's training",
            "The network says how a face changes; it has no decoder to be given them.",
        )
    if fades:
        return (
            f"{still}; {fades} is given, too, but trained to fade towards {spec.ends[0]}",
            f"Those that the training data carry labels of. {spec.ends[0].capitalize()} photos show no {fades}, so that"
            " a critic of pictures would know none to compare with.",
        )
    return still, ""


def _loss_of(spec: ModelSpec) -> tuple[str, str]:
    """What an editor was trained for, and why."""
    if spec.network == "edit-ends":
        return (
            f"what a teacher shows at both ends (training/{spec.recipe}.toml); the teacher's, an adversary that knows"
            " photos of both ends, and prices on what changes",
            "A classifier that learns no more is satisfied by what no person would see; one that learns on is not.",
        )
    if "1912.01865" in spec.paper:  # StarGAN v2, whose critic of pictures it was trained with
        return (
            "the Fader Network's, a parser's features, and an adversary that knows photos of both ends and sees faces"
            " decoded at up to -1.5 and 1.5",
            "With the Fader Network's alone noses and beards were smeared, and readings hardly moved.",
        )
    return "the Fader Network's: reconstruction and a latent adversary", ""
