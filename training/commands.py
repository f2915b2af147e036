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
@click.option(
    "--pool",
    type=click.IntRange(min=1),
    default=8192,
    metavar="N",
    help="Of a set in shards: chips that are held in memory. [default: 8192]",
)
@click.option(
    "--sheet-every",
    type=click.IntRange(min=1),
    metavar="N",
    help="Every N steps draw held-out faces over the values, into OUT/samples. [default: never]",
)
@click.option(
    "--tensorboard/--no-tensorboard",
    default=False,
    help="Also write losses and sheets for TensorBoard, into OUT/tensorboard. [default: no]",
)
@dry_run_option
@flags(RunConfig, "device")
@out_option("DIR", "Where the weights go. [default: weights/<model>]", default=None)
def train(
    recipe: str,
    data: Path,
    steps: int | None,
    limit: int | None,
    pool: int,
    sheet_every: int | None,
    tensorboard: bool,
    dry_run: bool,
    device: str,
    out: Path | None,
) -> int:
    """Train a model: RECIPE is a name in training/ or a TOML file. Run again, it resumes from its checkpoint.

    What it makes of the photos before its first step is kept for other trainings, see python -m training cache.

    On several GPUs: torchrun --nproc-per-node 4 -m training RECIPE --data DIR. Each process takes its share of every
    batch, and the loss is that of one. DIR may hold the shards of chips that python -m training pack wrote, more of
    them than memory holds.
    """
    from gslopes.core.config import load_toml
    from gslopes.core.runfolder import show, storage
    from gslopes.core.runtime import pick_device
    from training.parallel import processes, rank
    from training.photo_streams import refuse_stream
    from training.recipe import Recipe, find_recipe, run_recipe

    refuse_stream(load_toml(Recipe, find_recipe(recipe)).model, data)
    with storage(out or Path("weights")), processes(pick_device(device)) as here:
        leads = rank() == 0
        folder = run_recipe(
            recipe,
            data=data,
            steps=steps,
            limit=limit,
            dry_run=dry_run,
            device=here,
            out=out,
            pool=pool,
            sheet_every=sheet_every or 0,
            tensorboard=tensorboard,
        )
    if leads and not dry_run:
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
    "python -m training pack gender-fader hf:OWNER/FACES shards",
    "python -m training pack gender-fader photos-in-tars shards",
)
@click.argument("model")
@click.argument("data")
@click.argument("out", type=PATH)
@limit_option
@flags(RunConfig, "device")
def pack(model: str, data: str, out: Path, limit: int | None, device: str) -> int:
    """Pack the photos of MODEL, an editor, from DATA into OUT: PACKED/<model>.npz, or a folder of shards.

    DATA holds the data sets; or it is a stream: hf:NAME of Hugging Face, a folder of its Parquet files, or one of tar
    files as WebDataset has them, with a picture each and a JSON of gender, race and age if these are known. A machine
    without the photos then trains from it: python -m training MODEL --data PACKED, of shards more than memory holds.
    OUT has the aligned chips as WebP with their labels, weights and split. It holds photos of people: never commit it.
    """
    from gslopes.core.config import load_toml
    from gslopes.core.errors import UsageError
    from gslopes.core.runtime import pick_device
    from gslopes.faces.zoo.spec import find_spec
    from training.data import made
    from training.photo_streams import is_stream, write_shards
    from training.recipe import Recipe, find_recipe
    from training.sets import write_packed

    kind, spec = load_toml(Recipe, find_recipe(model)).set, find_spec(model)
    if out.suffix != ".npz":
        if limit is not None:
            raise UsageError("Shards hold all photos.", "Leave --limit out, or name FILE.npz.")
        count = write_shards(spec, kind, data, out, pick_device(device))
        say(f"{out}: {count} photos in shards")
        return 0
    if is_stream(data):
        raise UsageError("A stream is packed into shards.", "Name a folder as OUT.")
    photos = made(kind, spec, Path(data), pick_device(device), limit)
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
