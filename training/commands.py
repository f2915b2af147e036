"""The commands of ``python -m training``; what each does is imported when it runs."""

from __future__ import annotations

from pathlib import Path

import click

from gslopes.frame.commands import (
    PATH,
    dry_run_option,
    flags,
    json_option,
    out_option,
    print_json,
    rows,
    say,
    verb,
)
from gslopes.slopes.config import RunConfig

limit_option = click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="At most N photos, as many of both ends, held-out ones among them. [default: all]",
)


@verb(
    "python -m training gender-field --data data --dry-run",
    "python -m training celeba-tagger --data data --device cuda --out weights/celeba-tagger",
    "python -m training training/judge.toml --data data --steps 200 --limit 500 --out trial",
)
@click.argument("recipe")
@click.option(
    "--data", type=PATH, required=True, metavar="DIR", help="The folder that holds the data sets."
)
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of steps, instead of the recipe's.",
)
@limit_option
@dry_run_option
@flags(RunConfig, "device")
@out_option("DIR", "Where the weights go. [default: weights/<model>]", default=None)
def train(
    recipe: str,
    data: Path,
    steps: int | None,
    limit: int | None,
    dry_run: bool,
    device: str,
    out: Path | None,
) -> int:
    """Train a model: RECIPE is a name in training/ or a TOML file. Run again, it resumes from its checkpoint.

    What it makes of the photos before its first step is kept for other trainings, see python -m training cache.
    """
    from gslopes.core.runfolder import show, storage
    from gslopes.core.runtime import pick_device
    from training.recipe import run_recipe

    with storage(out or Path("weights")):
        folder = run_recipe(
            recipe,
            data=data,
            steps=steps,
            limit=limit,
            dry_run=dry_run,
            device=pick_device(device),
            out=out,
        )
    if not dry_run:
        say(show(folder))
    return 0


@verb(
    "python -m training evaluate gender-field --data data",
    "python -m training evaluate face-parser --data data --no-write --json",
    "python -m training evaluate race-field --data data --photos 200 --device cuda",
)
@click.argument("model")
@click.option(
    "--data", type=PATH, required=True, metavar="DIR", help="The folder that holds the data sets."
)
@click.option(
    "--photos",
    type=click.IntRange(min=40),
    metavar="N",
    help="At most this many photos. [default: all]",
)
@flags(RunConfig, "device")
@click.option(
    "--write/--no-write",
    default=True,
    help="Also write to metrics.json and the card. [default: write]",
)
@click.option(
    "--sheets",
    type=PATH,
    metavar="DIR",
    help="For an editor: also write a contact sheet of each set to this folder.",
)
@json_option
def evaluate(
    model: str,
    data: Path,
    photos: int | None,
    device: str,
    write: bool,
    sheets: Path | None,
    as_json: bool,
) -> int:
    """Measure MODEL, a name or a folder of weights: what it edits, what else moves, for whom, how natural it looks."""
    from gslopes.core.runtime import pick_device
    from training.evaluation.models import measure_model, tables_as_text

    result = measure_model(
        model, data=data, photos=photos, device=pick_device(device), write=write, sheets=sheets
    )
    if as_json:
        print_json(result)
        return 0
    say(tables_as_text(result))
    return 0


@verb(
    "python -m training steps gender-field --data data",
    "python -m training steps gender-fader --data data --end 1",
)
@click.argument("model")
@click.option(
    "--data", type=PATH, required=True, metavar="DIR", help="The folder that holds the data sets."
)
@click.option(
    "--photos",
    type=click.IntRange(min=5),
    default=60,
    metavar="N",
    help="Of either end. [default: 60]",
)
@click.option(
    "--end",
    type=click.FloatRange(min=0.1),
    default=2.0,
    help="Own value that 2 means. [default: 2]",
)
@click.option(
    "--write/--no-write",
    default=True,
    help="Also write to spec, weights and card. [default: write]",
)
def steps(model: str, data: Path, photos: int, end: float, write: bool) -> int:
    """Find the own values of an editor, MODEL, so that 0 is neutral and steps are even; again for new weights.

    Readers that are not the judge choose it on one half of the held-out people; the judge reads the other half.
    """
    from training.evaluation.models import tables_as_text
    from training.evaluation.steps import find_steps

    say(tables_as_text(find_steps(model, data, photos, end=end, write=write)))
    return 0


@verb(
    "python -m training pack gender-fader data packed/gender-fader.npz",
)
@click.argument("model")
@click.argument("data", type=PATH)
@click.argument("out", type=PATH)
@limit_option
@flags(RunConfig, "device")
def pack(model: str, data: Path, out: Path, limit: int | None, device: str) -> int:
    """Pack the photos of MODEL, an editor, from the data sets in DATA into the file OUT, PACKED/<model>.npz.

    A machine without the data sets then trains from it: python -m training MODEL --data PACKED. The file holds the
    aligned chips as WebP with their labels, weights and split. It holds photos of people: never commit it.
    """
    from gslopes.core.config import load_toml
    from gslopes.core.runtime import pick_device
    from gslopes.faces.zoo.spec import find_spec
    from training.data import made
    from training.recipe import Recipe, find_recipe
    from training.sets import write_packed

    plan = load_toml(Recipe, find_recipe(model))
    photos = made(plan.set, find_spec(model), data, pick_device(device), limit)
    write_packed(photos, out)
    say(f"{out}: {len(photos.pixels)} photos, {out.stat().st_size / 2**20:.1f} MiB")
    return 0


@verb(
    "python -m training cache",
    "python -m training cache --clear",
)
@click.option("--clear", is_flag=True, help="Delete all of it.")
@json_option
def cache(clear: bool, as_json: bool) -> int:
    """Show what trainings keep of photos, how large it is and where; or delete it.

    Chips, points, labels, tones and masks, by what made them and the photo's bytes: what has changed is made anew. It
    holds photos of people. It is in the folder training of the user's cache, or of the folder in GSLOPES_CACHE.
    """
    from training import prepared

    kept = prepared.sizes()
    size = sum(facts["bytes"] for facts in kept.values()) / 2**20
    if as_json:
        print_json({"folder": str(prepared.home()), "works": kept})
    else:
        say(
            "\n".join(
                f"{name:<36}{facts['bytes'] / 2**20:>10,.1f} MiB" for name, facts in kept.items()
            )
            or "Nothing is kept."
        )
    if clear:
        prepared.clear()
    done = "deleted" if clear else "photos of people: not to be published"
    say(f"\ncache      {prepared.home()}, {size:,.1f} MiB, {done}", err=True)
    return 0


@verb(
    "python -m training begin photos home",
    "python -m training begin photos home --name age-groups --attribute age --steps 1000",
)
@click.argument("folder", type=PATH)
@click.argument("home", type=PATH)
@click.option("--name", default="", help="Of the editor. [default: <attribute>-groups]")
@click.option(
    "--attribute", default="", help="What the labels are values of. [default: FOLDER's name]"
)
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    default=300,
    metavar="N",
    help="Number of steps of its recipe. [default: 300]",
)
@flags(RunConfig, "device")
def begin(folder: Path, home: Path, name: str, attribute: str, steps: int, device: str) -> int:
    """Begin an editor of named ends from labelled photos: write its spec, recipe and card below HOME.

    FOLDER has one folder of photos for each label, or a CSV with the columns path and label. Then, with
    GSLOPES_HOME=HOME, python -m training NAME --data FOLDER trains it, and evaluate measures it.
    """
    from gslopes.core.runfolder import show, storage
    from gslopes.core.runtime import pick_device
    from training.group_home import begin_home

    with storage(home):
        spec = begin_home(folder, home, name, attribute, steps, pick_device(device))
    say(show(home / "models" / spec.name))
    return 0


@verb(
    "python -m training calibrate --faces 3000 --sets 30 --out calibration --json",
)
@out_option(
    "DIR",
    "The folder, made if missing. [default: gslopes-calibration]",
    default=Path("gslopes-calibration"),
)
@click.option(
    "--faces",
    type=click.IntRange(min=100),
    default=1000,
    metavar="N",
    help="Number of faces to draw. [default: 1000]",
)
@click.option(
    "--sets",
    type=click.IntRange(min=2),
    default=10,
    metavar="N",
    help="Number of audits to split them into. [default: 10]",
)
@flags(RunConfig, "seed", "device")
@json_option
def calibrate(out: Path, faces: int, sets: int, seed: int, device: str, as_json: bool) -> int:
    """Plant biases in a classifier of drawn faces, audit it, and compare with the truth.

    The truth is known because a drawn face can be drawn again with nothing but the cue changed. The editor has learned
    from faces whose hair, background and smile correlate with the cue. It needs no data and no network.
    """
    from gslopes.frame.executors import OneProcess
    from training.calibrate import calibrate as run_calibration

    labels, summary = run_calibration(
        out, OneProcess(progress=True), faces=faces, sets=sets, seed=seed, device=device
    )
    if as_json:
        print_json({"labels": rows(labels), "summary": summary, "run": str(out / "run")})
        return 0
    columns = ["label", "truth", "recovered", "covered", "flagged", "naive", "naive_flagged"]
    say(labels[columns].to_string(index=False, float_format="{:+.2f}".format))
    say(
        f"\nPercentage points per unit (photo-rate), means of {sets} audits of {faces // sets} photos."
    )
    say("\n".join(f"{name:<36}{value:.3f}" for name, value in summary.items()))
    return 0
