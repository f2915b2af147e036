"""How a run differs from Joo & Kärkkäinen (2020), with its reason, from the run's own configuration."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from gslopes.ask.editors import is_outside
from gslopes.core import (
    Facts,
    JsonObject,
    ModelError,
    Texts,
    UnknownName,
    UsageError,
    files,
    read_beside,
    runfolder,
)
from gslopes.core.geometry import DEFAULT_EXTENT, EXTENT
from gslopes.faces.zoo.spec import ModelSpec, editor_for, identify, regions
from gslopes.report.choices import Choice, choice_of

PRESENCE = "presence.json"  # in a run folder: which labels counted when it was fitted
VALUES = {"gender": 7, "race": 5}  # K of the paper, section 4.3
THRESHOLDS = (0.001, 0.03)  # of its tables: p below, |slope| above


def of_run(run: Path, thresholds: tuple[float, float] = THRESHOLDS) -> list[Choice]:
    """The list for a run folder.

    thresholds: p and slope of the report's tables.

    Raises: UsageError if it is not one; TableError.
    """
    file = run / runfolder.MANIFEST
    if not file.is_file():
        raise UsageError(
            f"{runfolder.show(run)} is not a run folder.",
            "Name the folder that gslopes audit --out has made.",
        )
    manifest = runfolder.read_manifest(run)
    recorded = manifest["identity"] or manifest["config"]
    config = {name: section for name, section in recorded.items() if isinstance(section, dict)}
    if (config.get("compose") or {}).get("region") == "auto":
        config["compose"] = {
            **config["compose"],
            "region": _each(regions(manifest["models"])),
        }
    config["gate"] = {"on": (run / "verdicts.parquet").is_file()}
    config["editor"] = manifest["editor"]
    presence = None
    with suppress(OSError, ValueError):  # it is not there, or damaged
        presence = files.read_json(run / PRESENCE)
    return choices(config, presence if isinstance(presence, dict) else None, thresholds)


def is_asked_for(config: Facts) -> bool:
    """Whether the pictures of a run are those of an editor that others made."""
    return is_outside(str((config.get("edit") or {}).get("model") or ""))


def drawn(config: Facts) -> set[str]:
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


def _each(regions: Texts) -> str:
    """The region of all editors, or each attribute's own."""
    if len(set(regions.values())) < 2:
        return next(iter(regions.values()), "face")
    return "; ".join(": ".join(pair) for pair in regions.items())


def choices(
    config: Facts,
    presence: Facts | None = None,
    thresholds: tuple[float, float] = THRESHOLDS,
) -> list[Choice]:
    """The list for one run.

    config: the run's configuration by sections, as in ``run.json``; sections and keys that it lacks are the defaults'.
    presence: what ``presence.json`` holds; None if the run was not fitted yet.
    thresholds: p and slope of the report's tables.
    """
    texts = read_beside(__file__, "data/method.toml")
    edit = config.get("edit") or {}
    others = config.get("editor") or {}
    models = {} if others else _editors(edit)
    if edit.get("calibrated") is False:
        models = {name: replace(spec, steps=()) for name, spec in models.items()}
    facts = _facts(config, models) | {"presence": presence or {}, "thresholds": thresholds}
    found = [
        choice_of(texts["others"], {"name": name, "editor": told}) for name, told in others.items()
    ]
    if not others:
        found = [choice_of(texts["values"], one) for one in _values(edit)]
    for name, spec in models.items():
        fades = texts["fading"].get(spec.recipe, "")
        for text in texts["editor"]:
            if text.get("of", spec.labels[0]) == spec.labels[0]:
                about = {"name": name, "spec": spec, "fades": fades}
                found.append(choice_of(text, facts | about))
    return found + [choice_of(text, facts) for text in texts["choice"]]


def _facts(config: Facts, models: Mapping[str, ModelSpec]) -> JsonObject:
    """What the run has, for the cells of method.toml: its sections, and what is worked out from them."""
    names = ("find", "compose", "fit", "gate", "score", "editor")
    sections = {name: config.get(name) or {} for name in names}
    blend = str(sections["compose"].get("blend") or "auto")
    if blend == "auto" and sections["editor"]:
        blend = "paste"
    if blend == "auto" and models:
        blend = ", ".join(sorted({spec.blend for spec in models.values()}))
    region = str(sections["compose"].get("region") or "auto")
    if region == "auto":
        region = _each({spec.labels[0]: spec.region for spec in models.values()})
    return sections | {"blend": blend, "region": region, "drawn": drawn(config)}


def _values(edit: Facts) -> Iterator[JsonObject]:
    """The values of each attribute, and the paper's number of them."""
    ends = {spec.labels[0]: spec.names for spec in _editors(edit).values()}
    for name in edit.get("attributes") or ["gender"]:
        low, high = edit.get("range") or EXTENT.get(name, DEFAULT_EXTENT)
        published = VALUES.get(name, 7)
        steps = edit.get("steps") or published
        about = {"name": name, "published": published, "steps": steps, "low": low, "high": high}
        yield {**about, "ends": ends.get(name)}


def _editors(edit: Facts) -> dict[str, ModelSpec]:
    """Name to spec of the run's editors, as their weights carry it, as far as this installation has them."""
    which = str(edit.get("model") or ""), bool(edit.get("ends"))
    specs = {}
    for name in edit.get("attributes") or ["gender"]:
        with suppress(UsageError):  # no installed model edits it
            name = editor_for(name, *which)
        with suppress(
            UnknownName, ModelError
        ):  # a model of the user's that is gone, or lost a file
            if name.replace("-", "").isalnum():
                specs[name] = identify(name)[0]
    return specs
