"""Every audit on the frame with small inputs: how one is begun, and its expensive stages in small parts."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import gslopes
from gslopes.captions import audit as captions
from gslopes.contexts import audit as contexts
from gslopes.contexts.config import ContextOptions
from gslopes.crops import audit as crops
from gslopes.frame.result import Result
from tests.contexts.drawn import CANVAS, Finder, Tagger, draw as draw_people_and_rooms, small
from tests.crops.drawn import Brightness, a_face, draw_people
from tests.golden.walk import draw

MODULES = {
    "captions": (captions, "CAPTIONS"),
    "contexts": (contexts, "CONTEXTS"),
    "crops": (crops, "CROPS"),
}


def shorten_first_file(source: Path) -> None:
    """The first table without its last rows, or the first picture with a byte more."""
    first = next(path for path in sorted(source.rglob("*")) if path.suffix in (".csv", ".png"))
    content = first.read_bytes()
    first.write_bytes(
        b"\n".join(content.splitlines()[:-2]) + b"\n" if first.suffix == ".csv" else content + b"\n"
    )


@dataclass(frozen=True)
class Small:
    """One audit of small inputs.

    prepare: writes the inputs into a folder; what to give the audit.  begin: audits them into a run folder.
    change: an option, and the first stage that it makes stale.  part: items a part.
    expensive: the first stage with parts.  change_source: makes other inputs of them.
    flags: without which the command does not begin.  told: what of the summary the page says.
    """

    prepare: Callable[[Path], Path]
    begin: Callable[..., Result]
    change: tuple[Mapping[str, Any], str]
    expensive: str
    part: int
    change_source: Callable[[Path], None] = shorten_first_file
    flags: Callable[[Path], tuple[str, ...]] = lambda source: ()
    told: Callable[[str], str] = str


def in_small_parts(monkeypatch: pytest.MonkeyPatch, name: str, part: int) -> None:
    """Let the stages of an audit have parts of so many items."""
    if name not in MODULES:  # its stages cut their own parts
        return
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
    categories = [
        {"id": 1, "name": "person", "supercategory": ""},
        {"id": 2, "name": "dog", "supercategory": ""},
    ]
    instances = {"images": images, "annotations": boxes, "categories": categories}
    (stages / "human-labels.json").write_text(json.dumps(instances))
    human = [
        f"{i},A {w} with a {o}."
        for i in range(36)
        for w in ("man", "woman")
        for o in ("dog", "bag")
    ]
    system = [
        f"{i},A {'boy' if i % 5 else 'man'} {'with a dog' if i % 3 else ''}." for i in range(36)
    ]
    for name, rows in (("human-captions", human), ("system-captions", system)):
        (stages / f"{name}.csv").write_text("\n".join(["image,caption", *rows]) + "\n")
    groups = [
        f"{i},{'female' if i % 2 else 'male'},{'darker' if i % 4 < 2 else 'lighter'}"
        for i in range(36)
    ]
    (folder / "groups.csv").write_text("\n".join(["image,gender,skin", *groups]) + "\n")
    return stages


def audit_captions(stages: Path, run: Path, **more: Any) -> Result:
    """All techniques, quickly."""
    return gslopes.audit_captions(
        stages, run, **{"groups": stages.parent / "groups.csv", "types": 5, **more}
    )


# -- crops ------------------------------------------------------------------------------------------------------------


def portraits(folder: Path) -> Path:
    """Three people of each of two groups, with their table."""
    draw_people(folder / "people", {"blue": 3, "green": 3}, {"blue": 10})
    return folder / "people"


def crop_options(people: Path, /, **more: Any) -> dict[str, Any]:
    """Options and objects of an audit of drawn portraits by a cropper that looks at what is bright."""
    known = {"people": people.parent / "people.csv", "groups": ("team",), "cropper": ("centre",)}
    return {"croppers": [Brightness()], "finder": a_face, **known, **more}


def named_in_small_groups(people: Path) -> tuple[str, ...]:
    """Who is on the photos, in groups of three."""
    table = str(people.parent / "people.csv")
    return (
        "--people",
        table,
        "--groups",
        "team",
        "--set",
        "cropper=centre",
        "--set",
        "min_group=2",
    )


def audit_crops(people: Path, run: Path, /, **more: Any) -> Result:
    """Two croppers."""
    quick = {"min_group": 2, "ratios": (1.0,)}
    return gslopes.audit_crops(people, run, **crop_options(people, **{**quick, **more}))


# -- contexts ---------------------------------------------------------------------------------------------------------


def people_and_rooms(folder: Path) -> Path:
    """Eight drawn people and two walls."""
    return draw_people_and_rooms(folder, 8) / "people"


def reports(people: Path) -> tuple[str, ...]:
    """Who is on the portraits."""
    return ("--people", str(people.parent / "people.csv"))


def audit_contexts(people: Path, run: Path, /, **more: Any) -> Result:
    """With a tagger of this process, quickly; a run alone is done again by its options."""
    home = people.parent
    with small(Finder(), 1):
        if (people / "run.json").is_file():
            return gslopes.audit_contexts(people, **more)
        given = {
            "people": home / "people.csv",
            "backgrounds": str(home / "backgrounds"),
            "cutout": "eraser",
        }
        given |= {
            "canvas": CANVAS,
            "classifier": Tagger(),
            "analysis": ContextOptions(permutations=19),
        }
        return gslopes.audit_contexts(people, run, **{**given, **more})


# -- slopes -----------------------------------------------------------------------------------------------------------


def discs(folder: Path) -> Path:
    """Photos of discs with known faces and masks, and one that is broken."""
    folder.mkdir(parents=True, exist_ok=True)
    draw(folder)
    (folder / "faces.csv").rename(folder / "photos" / "faces.csv")
    return folder / "photos"


def brightness(pictures: Any) -> list[dict[str, float]]:
    """A classifier with one label."""
    return [{"bright": float(picture.mean() / 255)} for picture in pictures]


def audit_discs(photos: Path, run: Path, **more: Any) -> Result:
    """One attribute without placebos, quickly."""
    known = {
        "landmarks": photos / "faces.csv",
        "masks": photos.parent / "masks",
        "editor": "drawn-fader",
    }
    quick = {"fit.permutations": 49, "fit.min_varying": 1, "steps": 3, "part": 3, "device": "cpu"}
    options = {} if (photos / "run.json").is_file() else {**known, **quick, "placebo": False}
    return gslopes.audit(photos, run, **{"classifier": brightness, **options, **more})


AUDITS = {
    "captions": Small(caption_stages, audit_captions, ({"types": 4}, "measure"), "parse", 3),
    "audit": Small(
        discs, audit_discs, ({"fit.permutations": 60}, "fit"), "synthesise", 3,
        told=lambda summary: summary.partition(": ")[2],
    ),
    "crops": Small(portraits, audit_crops, ({"min_group": 3}, "measure"), "look", 2, flags=named_in_small_groups),
    "contexts": Small(
        people_and_rooms, audit_contexts, ({"analysis": ContextOptions(permutations=18)}, "measure"), "cutout", 1,
        flags=reports, told=lambda summary: summary.partition(". ")[0],
    ),
}  # fmt: skip
