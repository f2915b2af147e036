"""A recipe is data: which model, trained on which set, with which options; ``run_recipe`` follows it."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from gslopes.core import runfolder
from gslopes.core.config import from_dict, load_toml, to_dict
from gslopes.core.errors import ConfigError, GslopesError, UnknownName, UsageError
from gslopes.core.files import read_json
from gslopes.core.text import many
from gslopes.faces.zoo import ModelSpec, load
from gslopes.faces.zoo.spec import HOME_VARIABLE, PACKAGE, asset_names, find_asset, find_spec
from gslopes.frame.commands import print_json, say
from training.data import SETS, chosen, found, made, sentence
from training.distillation import train_edit_ends
from training.edit_field import train_edit_field
from training.face_parser import train_face_parser
from training.fader import train_fader, with_template
from training.forecast import Forecast, forecast, hours, seconds_a_step
from training.group_field import train_edit_groups
from training.masks import MakeMasks, brow_masks, face_masks, group_masks
from training.measure import measure
from training.parallel import after_first, of_first, part, rank, world
from training.sets import joined_sets
from training.shards import POOL, Feed, Shards, index_of
from training.tagger import calibrated, train_tagger
from training.tone_scale import train_tone_scale
from training.watch import Watch, check_sheets, sheets_of, tensorboard_at
from training.weights import save_weights

Loop = Callable[..., dict[str, Any]]
LOOPS: dict[str, Loop] = {
    "tagger": train_tagger,
    "feature-pyramid": train_face_parser,
    "fader": train_fader,
    "edit-field": train_edit_field,
    "edit-ends": train_edit_ends,
    "tone-scale": train_tone_scale,
    "edit-groups": train_edit_groups,
}
TRUNKS = ("edit-ends", "edit-field", "edit-groups")  # networks that have the same trunk


@dataclass(frozen=True, slots=True)
class Recipe:
    """One training/*.toml.

    model: a name in models/.  set: a name of training.data.  train: options of the loop for the model's network.
    template, tint, reach: of an editor whose spec has a template: on how many training photos it is taken, the share
        of its slowly varying colour that stays, and what it is multiplied by, see ``training.fader``.
    eight_bits: weights of 8 bits, see ``training.weights.save_weights``.
    """

    model: str
    set: str
    template: int = 0
    tint: float = 1.0
    reach: float = 1.0
    eight_bits: bool = False
    train: dict[str, Any] = field(default_factory=dict)


def run_recipe(
    recipe: str | Path,
    *,
    data: Path,
    steps: int | None = None,
    limit: int | None = None,
    dry_run: bool = False,
    device: str = "cpu",
    out: Path | None = None,
    pool: int = POOL,
    sheet_every: int = 0,
    tensorboard: bool = False,
) -> Path:
    """Train by a recipe and write weights, metrics.json and log; returns the folder of weights.

    recipe: a name in training/ or a path.  data: the folder that holds the data sets.
    steps: fewer or more than the recipe's.  limit: at most so many photos, see ``training.data.even_handed``.
    dry_run: resolve and check everything, tell how long it will take, then stop.
    pool: chips in memory of a set in shards.  sheet_every: steps between two sheets of held-out faces; 0 for none.
    tensorboard: also write one.  Of several processes each calls this, within ``parallel.processes``.
    out: folder of the weights, weights/<model> of the first home by default; the checkpoint is in ``out/training`` and
        a second call with the same options goes on from it.

    Raises: ConfigError for unknown options, UnknownName for an unknown recipe, DataMissing if a set is absent,
        UsageError or ModelError if the weights that training begins with are not there.
    """
    path = find_recipe(recipe)
    plan = load_toml(Recipe, path)
    spec = find_spec(plan.model)
    loop = LOOPS[spec.network]
    options = loop_options(plan, loop, path, steps)
    if plan.set not in SETS:
        raise UnknownName("training set", plan.set, SETS)
    check_template(plan, spec, path)
    if options.get("begin_with"):
        check_beginning(load(options["begin_with"]).spec, spec)
    if options.get("trunk"):
        check_trunk(find_spec(options["trunk"]), spec)
    if "teacher" in options:
        check_teacher(options["teacher"], spec, path)
    folder = out or _writable() / plan.model
    resolved = {"recipe": path.name, **asdict(plan), "train": to_dict(options), "device": device}
    resolved["torch"] = torch.__version__
    if limit is not None:
        resolved["limit"] = limit
    if sheet_every:
        check_sheets(spec)
    board = tensorboard_at(folder / "tensorboard", tensorboard)
    if world() > 1 and spec.network == "tone-scale":
        raise UsageError(f"{spec.name} has no steps to share.", "Train it without torchrun.")
    leads = rank() == 0
    photos = chosen(plan.set, spec, data, limit)
    sources = of_first(lambda: found(plan.set, spec, data, limit, photos))
    for facts in sources if leads else ():
        say(sentence(spec, facts), err=True)
    prepared = partial(
        forecast, plan.set, spec, data, device, limit, photos, masks_of(spec, options)
    )
    if dry_run:
        ahead = after_first(prepared)
        if leads:
            times = expected(ahead, loop, spec, options, device)
            print_json({**resolved, "data": sources, "out": str(folder), "expected": times})
        return folder
    work = folder / "training"
    with ExitStack() as stack:
        of_first(lambda: _begin(stack, work, resolved))
        watch = Watch(samples=folder / "samples", board=board)
        trained_on = 0
        if index_of(spec, data).is_file():
            shards = Shards(spec, data)
            trained_on = len(shards)
            watch.feed = Feed(shards, batch_of(options), device, pool)
            everything = joined_sets(watch.feed.first(), shards.held_out())
        else:
            ahead = after_first(prepared)
            if leads:
                say(ahead.sentence(), err=True)
            everything = after_first(
                lambda: ahead.everything or made(plan.set, spec, data, device, limit, photos)
            )
        if leads:
            watch.sheets = sheets_of(
                spec, everything.part(everything.held_out), sheet_every, device
            )
            text = json.dumps(resolved, indent=2) + "\n"
            runfolder.write_bytes(work / "options.json", text.encode())
        aside = (
            everything.held_out
            if everything.calibration is None
            else everything.held_out | everything.calibration
        )
        learned = everything.part(~aside)
        if spec.network != "tone-scale":
            options["watch"] = watch
        columns = learned.pixels, learned.labels, learned.weights
        state = loop(spec, *columns, work, device=device, **options)
        part()
        if not leads:
            return folder
        if plan.template:
            subset = slice(None, None, max(1, len(learned.pixels) // plan.template))
            few = learned.pixels[subset], learned.labels[subset]
            state = with_template(spec, state, *few, device, plan.tint, plan.reach)
        if everything.calibration is not None:
            state = calibrated(spec, state, everything.part(everything.calibration), device)
        digest = save_weights(folder, spec, state, eight_bits=plan.eight_bits)
        numbers = measure(spec, folder, everything.part(everything.held_out), device)
        facts = {
            "recipe": path.name,
            "trained_on": trained_on or len(learned.pixels),
            "sha256": digest,
        }
        runfolder.write_json(folder / "metrics.json", {**facts, **numbers})
    return folder


def _begin(stack: ExitStack, work: Path, resolved: dict[str, Any]) -> None:
    """Take the folder of a training for this process; one of other options is refused."""
    stack.enter_context(emptied(work))
    stack.enter_context(runfolder.locked(work))
    check_options(work / "options.json", resolved)


def batch_of(options: dict[str, Any]) -> int:
    """Photos a step, of the options of a loop."""
    return int(options["batch"] if "batch" in options else options["optimisation"].batch)


def find_recipe(recipe: str | Path) -> Path:
    """The file of a recipe.  Raises: UnknownName, naming the nearest."""
    if Path(recipe).is_file():
        return Path(recipe)
    path = find_asset("training", f"{recipe}.toml")
    if path is None:
        names = [
            name.removesuffix(".toml") for name in asset_names("training") if name.endswith(".toml")
        ]
        raise UnknownName("recipe", str(recipe), names)
    return path


def plan_of(spec: ModelSpec) -> Recipe:
    """The recipe of a model.  Raises: UnknownName, ConfigError."""
    return load_toml(Recipe, find_recipe(spec.recipe))


def loop_options(plan: Recipe, loop: Loop, path: Path, steps: int | None = None) -> dict[str, Any]:
    """The keywords of the loop: its defaults, with the recipe's options.  steps: instead.  Raises: ConfigError."""
    parameters = inspect.signature(loop).parameters.values()
    defaults = {
        p.name: p.default
        for p in parameters
        if p.kind is p.KEYWORD_ONLY and p.name not in ("device", "watch")
    }
    unknown = sorted(set(plan.train) - set(defaults))
    if unknown:
        raise ConfigError(
            f"{path} has an unknown option {unknown[0]!r} under [train].",
            f"Known: {', '.join(defaults)}.",
        )
    options = defaults | plan.train
    for name, default in defaults.items():
        if is_dataclass(default):
            section = to_dict(default) | plan.train.get(name, {})
            options[name] = from_dict(type(default), section, where=f"train.{name}")
    if steps is not None and "optimisation" in options:
        options["optimisation"] = replace(options["optimisation"], steps=steps)
    elif steps is not None:
        options["steps"] = steps
    return options


def masks_of(spec: ModelSpec, options: dict[str, Any]) -> list[MakeMasks]:
    """What the loop for a model's network keeps of ``training.masks``."""
    if spec.network == "edit-groups":
        return [group_masks]
    if spec.network == "edit-field":
        return [face_masks, brow_masks] if options["loss_weights"].brows else [face_masks]
    return []


def expected(
    ahead: Forecast, loop: Loop, spec: ModelSpec, options: dict[str, Any], device: str
) -> dict[str, Any]:
    """The times of a training, seconds, also told on stderr; without those of its steps if none could be timed."""
    say(ahead.sentence(), err=True)
    times: dict[str, Any] = {
        "to_prepare": [asdict(task) for task in ahead.tasks],
        "first_step_s": round(ahead.seconds, 1),
    }
    few = ahead.few if world() == 1 else None
    each = seconds_a_step(loop, spec, few, options, device) if few else None
    if each is None:
        return times
    steps = options["optimisation"].steps if "optimisation" in options else options["steps"]
    say(f"{many(steps, 'step')} of {each:.3g} s: {hours(steps * each)}.", err=True)
    return {**times, "step_s": float(f"{each:.3g}"), "steps_s": round(steps * each)}


def check_template(plan: Recipe, spec: ModelSpec, path: Path) -> None:
    """Raises: ConfigError if a template is wanted of a model that has none, or none of one that needs it."""
    has = bool(spec.network == "fader" and spec.config.get("template"))
    if plan.template < 0 or not 0 <= plan.tint <= 1:
        raise ConfigError(
            f"{path}: template is a number of photos, and tint a share, 0 to 1.",
            "Correct the recipe.",
        )
    if has != bool(plan.template):
        what = "has a template, which is taken on some photos" if has else "has no template"
        hint = (
            "Set template to their number, such as 2000."
            if has
            else "Leave template out of the recipe."
        )
        raise ConfigError(f"{path}: {plan.model} {what}, and template is {plan.template}.", hint)


def check_beginning(begin: ModelSpec, spec: ModelSpec) -> None:
    """Raises: ConfigError if a model's weights are not ones that the training of ``spec`` can go on from."""
    if (begin.network, begin.config, begin.labels) != (spec.network, spec.config, spec.labels):
        raise ConfigError(
            f"{spec.name} cannot begin with the weights of {begin.name}: their networks differ.",
            f"Set begin_with to a {spec.network} of the same shape, or leave it out.",
        )


def check_trunk(begin: ModelSpec, spec: ModelSpec) -> None:
    """Raises: ConfigError if a model's trunk is not one that the training of ``spec`` can begin with."""
    alike = (
        begin.network in TRUNKS if spec.network == "edit-groups" else begin.network == spec.network
    )
    if not alike or begin.config.get("widths") != spec.config.get("widths"):
        raise ConfigError(
            f"{spec.name} cannot begin with the trunk of {begin.name}: their networks differ.",
            f"Set trunk to a {spec.network} of the same widths, or leave it out.",
        )


def check_teacher(teacher: str, spec: ModelSpec, path: Path) -> None:
    """Raises: ConfigError if no teacher is named, or one that edits another attribute; UnknownName."""
    if not teacher:
        raise ConfigError(
            f"{path} names no teacher for {spec.name}.",
            "Set teacher under [train] to an edit field.",
        )
    taught_by = find_spec(teacher)
    if (taught_by.network, taught_by.size, taught_by.labels) != (
        "edit-field",
        spec.size,
        spec.labels,
    ):
        raise ConfigError(
            f"{teacher} cannot teach {spec.name}: it is no edit field of the same size and attributes.",
            "Set teacher under [train] to one that is.",
        )


def check_options(path: Path, resolved: dict[str, Any]) -> None:
    """A checkpoint of other options is not resumed.  Raises: ConfigError."""
    if path.is_file():
        try:
            before = dict(read_json(path))
        except (OSError, ValueError, TypeError) as error:
            raise ConfigError(
                f"{path} is damaged.", "Delete its folder, or name another --out."
            ) from error
        if before.get("train") != json.loads(json.dumps(resolved["train"])) or before.get(
            "limit"
        ) != resolved.get("limit"):
            raise ConfigError(
                f"{path.parent} holds a run with other options.",
                "Delete it, or name another --out.",
            )


@contextmanager
def emptied(work: Path) -> Iterator[None]:
    """What a refusal leaves behind is what was there before: folders that hold nothing but a lock go again."""
    fresh = [folder for folder in (work, *work.parents) if not folder.exists()]
    try:
        yield
    except GslopesError:
        if fresh and [file.name for file in work.glob("*")] == [".lock"]:
            (work / ".lock").unlink()
            for folder in fresh:
                folder.rmdir()
        raise


def _writable() -> Path:
    """Where new weights go: in the user's folder if one is set, else of the checkout, else below the cwd."""
    if os.environ.get(HOME_VARIABLE):
        return Path(os.environ[HOME_VARIABLE]) / "weights"
    checkout = PACKAGE.parent
    if (checkout / "pyproject.toml").is_file():
        return checkout / "weights"
    return Path.cwd() / "weights"
