"""Does a crop follow how a face looks? Pictures of ``gslopes synthesise`` next to other people's, and to each other.

Each person's pictures at all K values are joined with the unedited-value pictures of the same other people, in both
orders; y(v), their mean, is a score like any classifier's, so ``fit`` gives slope, interval and p, also of the run's
placebo sweeps. Others meet several persons, which a t interval over persons leaves out: the interval shown is the wider
one of it and a bootstrap over persons and opponents. Duels join a person's own pictures.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gslopes.ask.boxes import Box
from gslopes.core import placebo, runfolder, tables
from gslopes.core.errors import UsageError
from gslopes.core.executor import Executor
from gslopes.core.files import read_json, resolved, sha256_of, show, why_unreadable
from gslopes.core.records import Finder
from gslopes.crops import following
from gslopes.crops.asker import Asker
from gslopes.crops.asking import Costs, Given, asked_names, model_of, resolve, services_of
from gslopes.crops.audit import Croppers
from gslopes.crops.config import SweepConfig
from gslopes.crops.duels import Swept, ask_about, duel_rows, slope_intervals
from gslopes.crops.pairing import opponents
from gslopes.crops.people import people_of
from gslopes.crops.pictures import head_box
from gslopes.crops.portraits import ScaledPhotos
from gslopes.crops.tables import TABLES
from gslopes.frame.executors import OneProcess
from gslopes.frame.plan import Plan, plan
from gslopes.frame.result import Result
from gslopes.frame.run import Run, carry_out
from gslopes.frame.spec import Audit, Inputs, Made, Stage, Tables
from gslopes.stats.multiplicity import benjamini_hochberg

PART = 16


@dataclass(frozen=True, eq=False)
class Subjects:
    """The pictures of a sweep, and who is on them.

    person: photo to person.  groups: name to photos, from which opponents are drawn equally.
    absent: a sentence on people without a photo; often empty.
    """

    edits: pd.DataFrame
    photos: pd.DataFrame
    person: Mapping[str, str]
    groups: Mapping[str, Sequence[str]]
    digest: dict[str, Any] = field(default_factory=dict)
    absent: str = ""


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

    run: a folder of ``gslopes synthesise``, best with ``--placebo``.  out: made if missing.  Options, among them
        ``people``: as of ``gslopes crops sweep --help-all``; the rest as of ``crops.audit.audit_crops``.

    Raises: UsageError if the run has no pictures; as ``audit_crops``.
    """
    planned = plan(SWEEP, Path(run), Path(out), options, trust=trust, given=Given(croppers, finder))
    return carry_out(planned, executor or OneProcess())


# -- before any work --------------------------------------------------------------------------------------------------


def read(run: Path, config: SweepConfig) -> Inputs:
    """The pictures, and who is on them.  Raises: UsageError if there are none, or one cannot be read."""
    manifest = runfolder.read_manifest(run)
    if not (run / "edits.parquet").is_file():
        raise UsageError(f"{show(run)} has no pictures yet.", "Make them with: gslopes synthesise PHOTOS --out RUN.")
    edits = tables.read(tables.EDITS, run / "edits.parquet")
    photos = tables.read(tables.PHOTOS, run / "photos.parquet")
    found = _subjects(edits, photos, manifest, config)
    counts = {"pictures": len(edits), "photos": int(edits["photo"].nunique())}
    facts = {"pictures": {**counts, "digest": _digest(run, edits["file"].tolist()), **found.digest}}
    values = {name: [float(v) for v in steps] for name, steps in manifest["values"].items()}
    return Inputs(found, facts, {"values": values}, (found.absent,) if found.absent else ())


def _digest(run: Path, files: Sequence[str]) -> str:
    """The sha256 over the bytes of all pictures.  Raises: UsageError for one that is not in the run folder."""
    lines = hashlib.sha256()
    for name in files:
        try:
            lines.update(f"{name}\0{sha256_of(resolved(run, name))}\n".encode())
        except (OSError, ValueError) as error:
            hint = "Make the pictures again with: gslopes synthesise."
            raise UsageError(f"{show(run)}: {name!r} cannot be read: {why_unreadable(error)}.", hint) from error
    return lines.hexdigest()


def _subjects(edits: pd.DataFrame, photos: pd.DataFrame, manifest: Mapping[str, Any], config: SweepConfig) -> Subjects:
    ids: dict[str, str] = dict(photos.drop_duplicates("photo")[["photo", "path"]].itertuples(index=False))
    if config.people is None:
        return Subjects(edits, photos, {photo: photo for photo in ids}, {"all": list(ids)})
    folder = Path(str(manifest.get("config", {}).get("photos", ".")))
    found = people_of(folder, config, min_group=2)
    of_path = {portrait.relative: portrait.person for portrait in found.portraits}
    person = {photo: of_path.get(path, photo) for photo, path in ids.items()}
    groups = {name: [photo for photo in ids if person[photo] in members] for name, members in found.cells.items()}
    groups = {name: members for name, members in groups.items() if members}
    if len(groups) < 2:
        raise UsageError(
            f"{show(config.people)} names photos of fewer than two groups of this sweep.",
            f"Its photos are those of {show(folder)}, such as {next(iter(ids.values()), '')}.",
        )
    digest = hashlib.sha256(repr(sorted((photo, person[photo]) for photo in ids) + sorted(groups.items())).encode())
    known = {"balanced": sorted(groups), "people": digest.hexdigest()}
    return Subjects(edits, photos, person, groups, known, found.absent)


def outline(planned: Plan) -> tuple[list[str], dict[str, Any]]:
    """How many pictures there are, and of which attributes."""
    found: Subjects = planned.inputs.content
    facts = {"pictures": len(found.edits), "photos": int(found.edits["photo"].nunique())}
    names = sorted(found.edits["attribute"].unique())
    lines = [f"pictures     {facts['pictures']:,} of {facts['photos']:,} photos", f"sweeps       {', '.join(names)}"]
    return [*lines, f"opponents    {planned.config.others:,} of each"], {**facts, "sweeps": names}


# -- stages -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Material:
    """Every sweep, and, by cropper and attribute, who asks about its pictures."""

    swept: dict[str, Swept]
    askers: dict[tuple[str, str], Asker]


def material(run: Run) -> Material:
    """All pictures by attribute; photos without one of the values are left out."""
    assert run.plan is not None
    subjects: Subjects = run.inputs
    known = Material({}, {})
    for attribute in sorted(subjects.edits["attribute"].unique()):
        edits = subjects.edits[subjects.edits["attribute"] == attribute]
        wide = edits.pivot_table(index="photo", columns="step", values="file", aggfunc="first").dropna()
        ids, steps = wide.index.tolist(), wide.shape[1]
        if not ids:
            continue
        photos = ScaledPhotos([resolved(run.plan.source, name) for name in wide.to_numpy().ravel()], run.config)
        sizes, heads = _sizes_and_heads(subjects.photos, ids, steps)
        values = [float(v) for v in edits.drop_duplicates("step").sort_values("step")["value"]]
        files = np.arange(len(ids) * steps).reshape(len(ids), steps)
        known.swept[attribute] = Swept(attribute, ids, values, files, _met(subjects, ids, run.config))
        for name in asked_names(run):
            asker = Asker(model_of(run, name), photos.__getitem__, sizes, run.config, heads, note=run.note)
            known.askers[name, attribute] = asker
    return known


def _met(subjects: Subjects, ids: Sequence[str], config: SweepConfig) -> Any:
    """(P, 2) of each photo and its opponents."""
    number = {photo: index for index, photo in enumerate(ids)}
    groups = {
        name: sorted(number[photo] for photo in members if photo in number) for name, members in subjects.groups.items()
    }
    return opponents(range(len(ids)), groups, config.others, config.seed, [subjects.person[photo] for photo in ids])


def _sizes_and_heads(
    photos: pd.DataFrame, ids: Sequence[str], steps: int
) -> tuple[list[tuple[int, int]], dict[int, Box]]:
    known = photos.drop_duplicates("photo").set_index("photo")
    sizes: list[tuple[int, int]] = []
    heads: dict[int, Box] = {}
    for index, photo in enumerate(ids):
        row: Any = known.loc[photo]
        width, height = int(row["width"]), int(row["height"])
        sizes += [(width, height)] * steps
        if row["box"] is not None:
            head = head_box(list(row["box"]), width, height)
            heads |= {index * steps + step: head for step in range(steps)}
    return sizes, heads


def swept_photos(run: Run) -> list[tuple[str, int]]:
    """(attribute, number of a photo in it) of all that is asked about."""
    return [(name, place) for name, swept in run.once(material).swept.items() for place in range(len(swept.photos))]


def ask(run: Run, items: Sequence[tuple[str, int]], name: str) -> Made:
    """Each photo at every value next to its opponents and next to itself."""
    known = run.once(material)
    made: dict[str, list[Any]] = {"duels": [], "opponents": [], "scores": [], "asked": []}
    for attribute in dict.fromkeys(attribute for attribute, _ in items):
        people = [place for one, place in items if one == attribute]
        found = ask_about(known.swept[attribute], people, known.askers[name, attribute], run.folder, lambda _: None)
        for table, rows in found.items():
            made[table] += rows
        run.tick(len(people))
    return {table: list(rows) for table, rows in made.items()}


def together(run: Run, made: Tables) -> Made:
    """The duels of all persons from those of each; who is on each photo is written down."""
    subjects: Subjects = run.inputs
    runfolder.write_json(run.folder / "people.json", dict(subjects.person))
    values = runfolder.read_manifest(run.folder)["values"]
    return {**made, "duels": duel_rows(made["duels"], values)}


def fit(run: Run) -> Made:
    """Slopes of each outcome along each attribute, with both intervals."""
    from gslopes.slopes.fit.analysis import analyse
    from gslopes.slopes.fit.options import FitOptions

    values = runfolder.read_manifest(run.folder)["values"]
    person: dict[str, str] = read_json(run.folder / "people.json")
    scores, asked = run.table("scores"), run.table("asked")
    attribute_values = {name: values[name] for name in scores["attribute"].unique()}
    options = replace(FitOptions(), estimators=("photo-score",), permutations=0)
    about = pd.DataFrame({"person": pd.Series(person)})
    slopes = analyse(scores, asked, values=attribute_values, options=options, about=about, cluster="person").slopes
    intervals = slope_intervals(run.table("opponents"), slopes, person, values, run.config)
    return {"slopes": slopes, "sweep_slopes": intervals}


def begin(run: Run, executor: Executor) -> None:
    """Before the first stage: what asking costs at most is confirmed."""
    costs = run.once(Costs)
    costs.executor = executor
    if run.has("asked") or not services_of(run):
        return
    names, known = asked_names(run), run.once(material)
    steps = {name: len(swept.values) for name, swept in known.swept.items()}
    each = {name: 2 * (k * run.config.others + k * (k - 1) // 2) for name, k in steps.items()}
    total = sum(each[name] * len(swept.photos) for name, swept in known.swept.items())
    costs.confirm(run, names, [total] * len(names))


def judged(tables_: Tables) -> pd.DataFrame:
    """The slope of being favoured along each attribute; no test where a placebo is as steep."""
    slopes = tables_["sweep_slopes"]
    rows = slopes[(slopes["label"] == "favoured") & ~placebo.among(slopes["attribute"])]
    q = pd.Series(benjamini_hochberg(rows["p"].to_numpy(np.float64)), rows.index)
    like = [following.placebo_as_steep(row, slopes) is not None for row in rows.to_dict("records")]
    return pd.DataFrame(
        {
            "model": rows["classifier"].str.removeprefix("crop:"),
            "contrast": rows["attribute"],
            "label": rows["label"],
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
    photos = int(tables_["asked"]["photo"].nunique())
    return photos, photos, 0


SWEEP = Audit(
    name="crops sweep",
    home=Path(__file__).parent,
    question="Does a crop follow how a face looks?",
    source="RUN",
    about="""The causal version: the same two people, one of them moved along perceived gender or race.

    RUN is a folder of gslopes synthesise; its placebo sweeps, if it has them, go through the same. With --people
    opponents are balanced over groups.
    """,
    examples=(
        "gslopes synthesise PHOTOS --attribute gender --placebo --out SWEEP",
        "gslopes crops sweep SWEEP --cropper spectral-residual --out RUN",
        "gslopes crops sweep SWEEP --people people.csv --groups gender,ethnicity --out RUN",
    ),
    config=SweepConfig,
    tables={
        **{name: TABLES[name] for name in ("duels", "opponents", "sweep_slopes")},
        **{table.name: table for table in (tables.SCORES, tables.ASKED, tables.SLOPES)},
    },
    inputs=read,
    outline=outline,
    stages=(
        Stage(
            "sweep", ("inputs",), ("duels", "opponents", "scores", "asked", "people.json"), ask,
            items=swept_photos, part=PART, each=asked_names, here=True, join=together,
            options=("others", "seed", "ratios"),
        ),
        Stage(
            "fit", ("scores", "asked", "opponents", "people.json"), ("slopes", "sweep_slopes"), fit,
            options=("bootstrap", "seed"),
        ),
    ),
    judged=judged,
    headline=following.headline_of,
    counts=counts,
    terminal=following.terminal,
    shown=("slopes", "sweep_slopes", "duels"),
    page=following.SECTIONS,
    models=resolve,
    before=begin,
    of_runs=True,
)  # fmt: skip
