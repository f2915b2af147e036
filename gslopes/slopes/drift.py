"""Does a service still answer as it did?  A sample of a run's pictures is asked again, past the cache."""

import math
import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame

from gslopes.ask.classifiers import load_classifier
from gslopes.ask.client import Client
from gslopes.ask.config import CostLimits
from gslopes.ask.cost import Budget, UsageStats
from gslopes.ask.questions import PartProgress, about_edits
from gslopes.ask.scoring.cost import Price, confirm_cost, estimate
from gslopes.core import (
    Executor,
    JsonObject,
    Names,
    UsageError,
    frozen_identity,
    many,
    placebo,
    runfolder,
    tables,
    two_digits,
)
from gslopes.core.records import Array, Classifier, Integers, doubles
from gslopes.report import inline
from gslopes.report.headline import MATTERS, OF_SPREAD, Nothing, Sentences, judged, points, verdicts
from gslopes.stats import clusters, multiplicity, permutation
from gslopes.stats.contrast import Units, contrast
from gslopes.stats.rounding import STORED, exceeds, ranked

COLUMNS = ("label", "n", "before", "now", "difference", "ci_low", "ci_high", "p", "q")
FLIPS = 9_999  # changes of signs
SAMPLE = 50  # pictures
FEWEST = 1 + math.ceil(
    -math.log2(multiplicity.LEVEL)
)  # photos: with fewer, all changes of signs together show no p below LEVEL
HOME = Path(__file__).parent
_KEY = ["photo", "attribute", "step"]


@frozen_identity
class Drift:
    """What came of asking again.

    classifier: its name.  pictures: asked again.  answered: of them, answered both times.
    same: share of those whose highest label, or none, is the same.  models: versions reported in the run, and now.
    photos: how many photos those are of, the units of every test.
    labels: a row a label, see ``changes_of``.
    """

    classifier: str
    pictures: int
    answered: int
    photos: int
    same: float
    models: tuple[Names, Names]
    labels: DataFrame

    @property
    def another(self) -> bool:
        """Whether another model answers."""
        before, now = map(set, self.models)
        return bool(before and now and before != now)

    @property
    def changed(self) -> bool:
        """Whether another model answers, or a label's mean changed, and not by less than would matter."""
        return self.another or bool(self.labels["changed"].any())

    def as_dict(self) -> JsonObject:
        """Everything as JSON has it."""
        rows = self.labels.astype(object).where(self.labels.notna(), None).to_dict("records")
        before, now = map(list, self.models)
        return asdict(self) | {
            "same": None if np.isnan(self.same) else self.same,
            "models": {"before": before, "now": now},
            "changed": self.changed,
            "labels": rows,
        }


def check_drift(
    run: Path,
    classifier: str | Classifier,
    executor: Executor,
    *,
    sample: int = SAMPLE,
    seed: int = 0,
    cost_limits: CostLimits | None = None,
) -> Drift:
    """Ask again about a sample of the pictures that a classifier answered in a run; nothing in the run changes.

    classifier: the name under which it was asked, or an object.  sample: pictures.  seed: of the sample.
    cost_limits: budget, confirm_above and yes count.

    Raises: UsageError if the run has no answers of it; as ``slopes.audit.score_photos`` for what asking may meet.
    """
    if sample < 2:
        raise UsageError("A sample is of two pictures or more.", "Such as sample=50.")
    run = Path(run)
    cost_limits = cost_limits or CostLimits()
    model = load_classifier(classifier, "cpu") if isinstance(classifier, str) else classifier
    edits = _sampled(run, model.name, sample, seed)
    budget = Budget.of(cost_limits)
    price = estimate(model, [len(edits)], stage="drift")
    budget.agree(confirm_cost([price], cost_limits, executor))
    usage = UsageStats()
    order = runfolder.read_manifest(run)["seed"]
    parts: list[PartProgress] = []
    client = Client(model, budget=budget, usage=usage)
    client.ask_parts([(0, about_edits(edits, run, order, model))], parts.append)
    if str(usage):
        executor.note(f"drift      {model.name}: {many(usage.requests, 'call')}, {usage}.")
    if not parts:
        raise UsageError(
            "The check was stopped before its end.", "The same command starts it again."
        )
    recorded = runfolder.read_manifest(run)["classifiers"].get(model.name, {})
    models = tuple(sorted(recorded.get("models") or {})), tuple(sorted(usage.models))
    drift = _compared(run, model.name, edits, parts[0].rows(model.name), models)
    runfolder.write_json(run / f"drift-{runfolder.slug(model.name)}.json", drift.as_dict())
    return drift


def price_drift(run: Path, classifier: str) -> Price:
    """What ``check_drift`` costs at most; nobody is asked.  Raises: UsageError if the run has no answers of it."""
    model = load_classifier(classifier, "cpu")
    return estimate(model, [len(_sampled(run, model.name, SAMPLE, 0))], stage="drift")


def _sampled(run: Path, name: str, sample: int, seed: int) -> DataFrame:
    """Rows of the edits table: this many pictures that were answered, of no placebo sweep, by lot, of many photos.

    A second picture of a photo is drawn after one of each photo, and so on: photos are what the tests count.
    """
    asked = tables.read(tables.ASKED, run / "asked.parquet")
    names = sorted(asked["classifier"].unique())
    answered = asked.query("classifier == @name and status == 'answered'")
    answered = placebo.real(answered)
    if answered.empty:
        hint = (
            f"It has answers of {', '.join(names)}."
            if names
            else "Run gslopes audit RUN --only score first."
        )
        raise UsageError(f"{runfolder.show(run)} has no answers of {name}.", hint)
    edits = tables.read(tables.EDITS, run / "edits.parquet").merge(answered[_KEY], on=_KEY)
    edits = edits.sort_values(_KEY).reset_index(drop=True)
    drawn = edits.iloc[np.random.default_rng(seed).permutation(len(edits))]
    rounds = drawn.groupby("photo").cumcount().sort_values(kind="stable")
    return edits.loc[sorted(rounds.index[:sample])].reset_index(drop=True)


def _compared(
    run: Path,
    name: str,
    edits: DataFrame,
    rows: tuple[DataFrame, DataFrame],
    models: tuple[Names, Names],
) -> Drift:
    asked, scored = rows
    answered = asked.query("status == 'answered'")
    index = pd.MultiIndex.from_frame(answered[_KEY])
    scores = tables.read(tables.SCORES, run / "scores.parquet")
    before = _wide(scores.query("classifier == @name"), index)
    now = _wide(scored, index)
    labels = sorted({*before.columns, *now.columns})
    returned = [frame.reindex(columns=labels) for frame in (before, now)]
    photos = clusters.codes_of(index.get_level_values("photo").to_numpy(str), len(index))
    same = (
        float(np.equal(*map(_highest, returned)).mean()) if labels and len(index) else float("nan")
    )
    return Drift(
        name,
        len(edits),
        len(index),
        len(np.unique(photos)),
        same,
        models,
        changes_of(returned[0], returned[1], photos),
    )


def _wide(scores: DataFrame, index: pd.MultiIndex) -> DataFrame:
    """Scores by picture and label, NaN for a label that was not returned."""
    wide = scores.pivot_table(
        index=_KEY, columns="label", values="score", aggfunc="max", observed=True
    )
    return wide.reindex(index)


def _highest(scores: DataFrame) -> Integers:
    """(pictures,) column of the highest score; -1 if no label was returned."""
    numbers = scores.fillna(-np.inf).to_numpy(float)
    tied = ~exceeds(numbers.max(1, initial=-np.inf)[:, None], numbers)
    return np.where(scores.notna().any(axis=1), tied.argmax(1), -1)


def changes_of(before: DataFrame, now: DataFrame, photos: Integers) -> DataFrame:
    """How the mean of each label changes, (L, 12), what is shown best first.

    Columns: ``COLUMNS``, and those of ``report.headline.judged``; what matters is of ``_mattering``.

    Estimator: the mean over pictures of now minus before.  Interval: 95 %, t over photos; none if all photos change
    alike.  p: by changes of signs of photos (``contrast``, ``below_floor``).  Null hypothesis: nothing has drifted, so
    that of each photo the two answers are as likely the other way round; its pictures may be alike, and the noise of
    an answer skewed.  q: over the labels that change at all; of the others p and q are 1.

    before, now: (n, L) scores of the same pictures, NaN, which counts as 0, for a label that was not returned.
    photos: (n,) codes from 0.
    """
    if not len(photos):
        return DataFrame(columns=[*COLUMNS, "matters", "changed", "small"])
    sizes = doubles(np.bincount(photos))
    matters = _mattering(before, now)
    before, now = (frame.fillna(0.0) for frame in (before, now))
    scores = [frame.to_numpy(float).T for frame in (before, now)]
    change = scores[1] - scores[0]
    errors = STORED * (np.abs(scores[0]) + np.abs(scores[1]))
    shape = change.shape
    cells = np.indices(shape).reshape(2, -1)
    beyond = exceeds(np.abs(np.array(scores) - 0.5), 0.5)  # no score, but a number
    most = np.where(beyond.any((0, 2)), np.inf, 1)
    units = Units.of(
        change.ravel(), errors.ravel(), (cells[0], cells[1]), shape, np.ones(len(photos)), most
    )
    contrasts = contrast(units.joined(photos), permutations=FLIPS)
    p, _ = permutation.below_floor(
        contrasts.p_perm, contrasts.p, FLIPS, trusted=clusters.enough(sizes)
    )
    p = np.where(
        contrasts.varying > 0, np.fmax(p, 2.0 ** (1 - contrasts.varying)), np.nan
    )  # the least that signs can show
    p, q = (np.nan_to_num(numbers, nan=1.0) for numbers in (p, multiplicity.benjamini_hochberg(p)))
    changes = DataFrame(
        {
            "label": before.columns,
            "n": len(photos),
            "before": before.mean().to_numpy(float),
            "now": now.mean().to_numpy(float),
            "difference": contrasts.difference,
            "ci_low": contrasts.low,
            "ci_high": contrasts.high,
            "p": p,
            "q": q,
            "matters": matters,
        }
    )
    changes = judged(changes, _estimates(changes, len(sizes)))
    order = ranked(changes, "q", -changes["difference"].abs(), "label")
    return order.reset_index(drop=True)


def _mattering(before: DataFrame, now: DataFrame) -> Array:
    """(L,) the smallest change of each label's mean that matters, by ``report.headline``.

    That of a score if every picture has one; of a share if some lack the label; of a number in another unit.
    """
    both = pd.concat([before, now])
    shares = both.fillna(0.0).mean()
    percent = np.array([points(share) for share in shares]) / 100
    matters = np.where(both.notna().all(), MATTERS["score"], percent)
    in_units = exceeds(np.abs(both - 0.5).max().to_numpy(float), 0.5)
    return np.where(in_units, OF_SPREAD * before.std(), matters)


def _estimates(changes: DataFrame, photos: int) -> list[Nothing]:
    """The changes as ``report.headline`` takes them; one that all photos share is as far as it is."""
    ends = changes[["ci_low", "ci_high"]].T.fillna(changes["difference"]).T
    estimates = []
    for row, (low, high) in zip(changes.to_dict("records"), ends.to_numpy(), strict=True):
        name = f"the change of “{row['label']}”"
        shown = _interval(low, high)
        estimates.append(Nothing(name, low, high, photos, row["matters"], shown))
    return estimates


def _interval(low: float, high: float) -> str:
    if math.isnan(low):
        return "none"
    return f"[{low:+.3f}, {high:+.3f}]"


def _verdict(drift: Drift) -> str:
    """What changed, how far, and whether by more than would matter; that nothing did, or that it cannot be told."""
    sentences = Sentences.read(HOME, "drift")
    labels = drift.labels
    text = ""
    if drift.another:
        before, now = (" and ".join(names) for names in drift.models)
        text = sentences.say("another", before=before, now=now)
    if drift.photos < FEWEST:
        return text + sentences.say("too_few", FEWEST)
    if labels.empty:
        return text + sentences.say("none")

    def describe(row: Any) -> dict[str, str]:
        interval = _interval(row["ci_low"], row["ci_high"]).replace("none", "on every photo")
        return {
            "label": row["label"],
            "change": f"{row['difference']:+.3f} {interval}",
            "photos": many(drift.photos, "photo"),
            "matters": two_digits(row["matters"], ""),
        }

    estimates = _estimates(labels, drift.photos)
    return text + sentences.changes(labels.to_dict("records"), estimates, describe, "photo")


def print_drift(drift: Drift) -> str:
    """What came of it, in lines of at most 100 columns."""
    rows = drift.labels[:10]
    return inline.plain(
        "drift.txt.j2",
        HOME / "templates",
        drift=drift,
        rows=rows.assign(verdict=verdicts(rows)).to_dict("records"),
        interval=_interval,
        verdict=textwrap.fill(_verdict(drift), 100),
    )
