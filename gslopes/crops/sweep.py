"""Does a crop follow how a face looks? Pictures of ``gslopes synthesise`` next to other people's.

Each person's pictures at all K values are joined with the unedited-value pictures of the same other people, in both
orders; y(v) is their mean, and a photo's slope its least squares line over v, also of the run's placebo sweeps. Others
meet several persons, which a t interval over persons leaves out: the interval shown is the wider one of it and a
bootstrap over persons and opponents.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.ask.boxes import Box
from gslopes.core import placebo, runfolder, tables
from gslopes.core.errors import UsageError
from gslopes.core.executor import Executor
from gslopes.core.files import resolved, sha256_of, show, why_unreadable
from gslopes.core.records import Finder
from gslopes.crops import following
from gslopes.crops.asker import Asker
from gslopes.crops.asking import Croppers, Given, asked_names, confirm_cost, resolve
from gslopes.crops.config import BOOTSTRAP, SweepConfig
from gslopes.crops.pairing import opponents
from gslopes.crops.parity import interval
from gslopes.crops.pictures import head_box
from gslopes.crops.portraits import reader_of
from gslopes.crops.tables import SWEPT, TABLES
from gslopes.frame.executors import OneProcess
from gslopes.frame.plan import Plan, plan
from gslopes.frame.result import Result
from gslopes.frame.run import Run, carry_out
from gslopes.frame.spec import Audit, Inputs, Made, Stage, Tables
from gslopes.photos.people import read_about
from gslopes.stats.clusters import clustered_mean, codes_of
from gslopes.stats.multiplicity import benjamini_hochberg
from gslopes.stats.ols import line_slopes
from gslopes.stats.resampling import multinomial_counts

PART = 16
LEAST_VARYING = 10  # people
Array = NDArray[np.float64]
Codes = NDArray[np.int64]


def sweep_crops(
    run: str | Path,
    out: str | Path,
    *,
    croppers: Croppers = (),
    trust: bool = False,
    executor: Executor | None = None,
    finder: Finder | None = None,
    **options: Any,
) -> Result:
    """Does the chance to be favoured move with the perceived attribute of one face, everything else the same?

    run: a folder of ``gslopes synthesise``, best with ``--placebo``.  out: made if missing.  Options: as of
        ``gslopes crops sweep --help-all``; the rest as of ``crops.audit.audit_crops``.

    Raises: UsageError if the run has no pictures; as ``audit_crops``.
    """
    planned = plan(SWEEP, Path(run), Path(out), options, trust=trust, given=Given(croppers, finder))
    return carry_out(planned, executor or OneProcess())


# -- before any work --------------------------------------------------------------------------------------------------


def read(run: Path, config: SweepConfig) -> Inputs:
    """The pictures, and whose they are.  Raises: UsageError if there are none, or one cannot be read."""
    manifest = runfolder.read_manifest(run)
    if not (run / "edits.parquet").is_file():
        raise UsageError(f"{show(run)} has no pictures yet.", "Make them with: gslopes synthesise PHOTOS --out RUN.")
    edits = tables.read(tables.EDITS, run / "edits.parquet")
    photos = tables.read(tables.PHOTOS, run / "photos.parquet").drop_duplicates("photo")
    person: dict[str, str] = {}
    if config.people is not None:
        about = read_about(config.people, run)
        if "person" not in about:
            raise UsageError(f"{show(config.people)} has no column 'person'.", "It says whose photos they are.")
        person = {str(photo): name for photo, name in about["person"].items() if name}
    counts = {"pictures": len(edits), "photos": int(edits["photo"].nunique())}
    facts = {"pictures": {**counts, "digest": digest_of(run, edits["file"].tolist())}, "person": person}
    values = {name: [float(v) for v in steps] for name, steps in manifest["values"].items()}
    return Inputs((edits, photos, person), facts, {"values": values})


def digest_of(run: Path, files: Sequence[str]) -> str:
    """The sha256 over the bytes of all pictures.  Raises: UsageError for one that is not in the run folder."""
    lines = hashlib.sha256()
    for name in files:
        try:
            lines.update(f"{name}\0{sha256_of(resolved(run, name))}\n".encode())
        except (OSError, ValueError) as error:
            hint = "Make the pictures again with: gslopes synthesise."
            raise UsageError(f"{show(run)}: {name!r} cannot be read: {why_unreadable(error)}.", hint) from error
    return lines.hexdigest()


def outline(planned: Plan) -> tuple[list[str], dict[str, Any]]:
    """How many pictures there are, and of which attributes."""
    edits = planned.inputs.content[0]
    facts = {"pictures": len(edits), "photos": int(edits["photo"].nunique())}
    names = sorted(edits["attribute"].unique())
    lines = [f"pictures     {facts['pictures']:,} of {facts['photos']:,} photos", f"sweeps       {', '.join(names)}"]
    return [*lines, f"opponents    {planned.config.others:,} of each"], {**facts, "sweeps": names}


# -- stages -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Material:
    """What is asked.  files: attribute to its photos' numbers of pictures, (n, K), with the photos as index.

    pairs: attribute to (P, 2) places of each photo and its opponents.  askers: by cropper.
    """

    files: dict[str, pd.DataFrame]
    pairs: dict[str, Codes]
    askers: dict[str, Asker]


def material(run: Run) -> Material:
    """All pictures by attribute; photos without one of the values are left out."""
    assert run.plan is not None
    edits, photos, person = run.inputs
    edits = edits.reset_index(drop=True)
    looked = photos.set_index("photo").loc[edits["photo"]]
    sizes = [(int(wide), int(tall)) for wide, tall in zip(looked["width"], looked["height"], strict=True)]
    heads: dict[int, Box] = {
        number: head_box(list(box), *sizes[number]) for number, box in enumerate(looked["box"]) if box is not None
    }
    photo = reader_of([resolved(run.plan.source, name) for name in edits["file"]], sizes, run.config)
    askers = {
        name: Asker(run.plan.models[name], photo, sizes, run.config, heads, note=run.note) for name in asked_names(run)
    }
    files, pairs = {}, {}
    for attribute, rows in edits.reset_index(names="number").groupby("attribute", sort=True):
        wide = rows.pivot_table(index="photo", columns="step", values="number", aggfunc="first").dropna().astype(int)
        if len(wide):
            persons = [person.get(photo, photo) for photo in wide.index]
            files[str(attribute)] = wide
            pairs[str(attribute)] = opponents(len(wide), run.config.others, run.config.seed, persons)
    return Material(files, pairs, askers)


def swept_photos(run: Run) -> list[tuple[str, int]]:
    """(attribute, place of a photo in it) of all that is asked about."""
    return [(name, place) for name, wide in run.once(material).files.items() for place in range(len(wide))]


def ask(run: Run, items: Sequence[tuple[str, int]], name: str) -> Made:
    """Each photo at every value next to its opponents, in both orders."""
    known = run.once(material)
    keys, pictures = [], []
    for attribute, place in items:
        wide, pairs = known.files[attribute], known.pairs[attribute]
        numbers = wide.to_numpy()
        for step in range(numbers.shape[1]):
            for other in pairs[pairs[:, 0] == place, 1].tolist():
                one, two = numbers[place, step], numbers[other, numbers.shape[1] // 2]
                pictures += [(one, two), (two, one)]
                keys.append((name, attribute, wide.index[place], wide.index[other], step))
    favoured = np.full(len(pictures), np.nan)
    for answer in known.askers[name].answers(np.array(pictures).reshape(-1, 2), run.folder, lambda _: None):
        if answer.main is not None:
            favoured[answer.row] = answer.main.shares[0]
    run.tick(len(items))
    rows = [(*key, share) for key, share in zip(keys, (favoured[0::2] + 1 - favoured[1::2]) / 2, strict=True)]
    return {"opponents": tables.frame_of(TABLES["opponents"], rows)}


def fit(run: Run) -> Made:
    """The mean over photos of each one's least squares slope of being favoured, with both intervals.

    A photo counts if every picture of it was answered; fewer than ``LEAST_VARYING`` whose answers vary have no test.
    """
    manifest, rows = runfolder.read_manifest(run.folder), []
    for (cropper, attribute), faced in run.table("opponents").groupby(["cropper", "attribute"], sort=True):
        values = np.asarray(manifest["values"][attribute], np.float64)
        wide = (
            faced.set_index(["photo", "opponent", "step"])["share"].unstack("step").reindex(columns=range(len(values)))
        )
        lost = wide[wide.isna().any(axis=1)].index.unique("photo")
        photos = wide.groupby("photo").mean().drop(lost)
        person = manifest["person"]
        codes = {name: code for code, name in enumerate(sorted({person.get(photo, photo) for photo in faced["photo"]}))}
        of = {photo: codes[person.get(photo, photo)] for photo in faced["photo"]}
        units = codes_of(photos.index.map(of).to_numpy(np.int64), len(photos))
        over_people = clustered_mean(line_slopes(photos.to_numpy(np.float64), values), units)
        one, other = (wide.index.get_level_values(name).map(of).to_numpy(np.int64) for name in ("photo", "opponent"))
        low, high, p = pair_slope(line_slopes(wide.to_numpy(np.float64), values), one, other, len(codes))
        ends = over_people.low, over_people.high
        if np.isnan(ends[0]) or high - low > ends[1] - ends[0]:
            ends = low, high
        varying = len(np.unique(units[np.ptp(photos.to_numpy(), axis=1) > 0])) if len(photos) else 0
        p = np.nan if varying < LEAST_VARYING else np.fmax(p, over_people.p)
        row = {"cropper": cropper, "attribute": attribute, "photos": len(photos), "people": len({*one, *other})}
        row |= {"pairs": len(wide), "slope": over_people.value, "t_low": over_people.low, "t_high": over_people.high}
        rows.append({**row, "boot_low": low, "boot_high": high, "ci_low": ends[0], "ci_high": ends[1], "p": p})
    return {"sweep_slopes": rows}


def pair_slope(
    slopes: Array, person: Codes, opponent: Codes, people: int, count: int = BOOTSTRAP, seed: int = 0
) -> tuple[float, float, float]:
    """Ends of the percentile interval of the mean slope over pairs, and the two-sided p of slope 0, 1/B at least.

    People are drawn again: a pair weighs its person's weight times its opponent's. A person is in the sample twice, as
    the one who is edited and as an opponent of others; the one-sample t interval over persons covers the first alone.
    Resampling both ways is conservative for crossed samples.

    slopes: (P,), NaN ones are left out.  person, opponent: (P,) codes below ``people``.
    count: draws.  Source: Owen 2007, "The pigeonhole bootstrap", doi 10.1214/07-AOAS122.
    """
    known = ~np.isnan(slopes)
    slopes, person, opponent = slopes[known], person[known], opponent[known]
    if not len(slopes):
        return np.nan, np.nan, np.nan
    generator, drawn = np.random.default_rng([seed, 12]), []
    size = max(1, (1 << 24) // len(slopes))  # weights held at once
    for start in range(0, count, size):
        times = multinomial_counts(people, min(size, count - start), generator)
        weights = times[:, person] * times[:, opponent]
        with np.errstate(invalid="ignore"):
            drawn.append(weights @ slopes / weights.sum(axis=1))
    draws = np.concatenate(drawn)
    draws = draws[~np.isnan(draws)]
    beyond = min(float((draws <= 0).mean()), float((draws >= 0).mean())) if len(draws) else np.nan
    return *interval(draws), min(1.0, max(2 * beyond, 1 / count))


def begin(run: Run, executor: Executor) -> None:
    """Before the first stage that is not up to date: the most that asking costs is confirmed."""
    if not run.has("opponents"):
        pictures = len(run.inputs[0]) * run.config.others * 2
        confirm_cost(run, pictures, executor)


def judged(tables_: Tables) -> pd.DataFrame:
    """The slope of being favoured along each attribute; no test where a placebo is as steep."""
    slopes = tables_["sweep_slopes"]
    rows = slopes[~placebo.among(slopes["attribute"])]
    q = pd.Series(benjamini_hochberg(rows["p"].to_numpy(np.float64)), rows.index)
    like = [following.placebo_as_steep(row, slopes) is not None for row in rows.to_dict("records")]
    return pd.DataFrame(
        {
            "model": rows["cropper"],
            "contrast": rows["attribute"],
            "label": "favoured",
            "n": rows["photos"],
            "value": 100 * rows["slope"],
            "ci_low": 100 * rows["ci_low"],
            "ci_high": 100 * rows["ci_high"],
            "unit": "percentage points per unit",
            "q": q.mask(pd.Series(like, rows.index, dtype=bool)),
            "reason": ["a placebo is as steep" if one else "it moves too rarely with the edit" for one in like],
        }
    )


def counts(tables_: Tables) -> tuple[int, int, int]:
    """Photos that were swept."""
    photos = int(tables_["opponents"]["photo"].nunique())
    return photos, photos, 0


SWEEP = Audit(
    name="crops sweep",
    home=Path(__file__).parent,
    question="Does a crop follow how a face looks?",
    source="RUN",
    about="""The causal version: the same two people, one of them moved along perceived gender or race.

    RUN is a folder of gslopes synthesise; its placebo sweeps, if it has them, go through the same.
    """,
    examples=(
        "gslopes synthesise PHOTOS --attribute gender --placebo --out SWEEP",
        "gslopes crops sweep SWEEP --cropper spectral-residual --out RUN",
    ),
    config=SweepConfig,
    tables={name: TABLES[name] for name in SWEPT},
    inputs=read,
    outline=outline,
    stages=(
        Stage(
            "sweep", ("inputs",), ("opponents",), ask,
            items=swept_photos, part=PART, each=asked_names, here=True, options=("others",),
        ),
        Stage("fit", ("inputs", "opponents"), ("sweep_slopes",), fit, options=()),
    ),
    judged=judged,
    headline=following.sweep_headline,
    counts=counts,
    terminal=following.print_sweep,
    shown=("sweep_slopes",),
    page=following.SECTIONS,
    models=resolve,
    before=begin,
    of_runs=True,
)  # fmt: skip
