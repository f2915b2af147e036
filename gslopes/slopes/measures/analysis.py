"""From answers to everything that can be said about them: estimators, intervals, tests, decisions and groups.

It is one pure function of tables. A placebo sweep is another attribute in the same tables; a part of the photos is
``photos``.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from gslopes.core import placebo, tables
from gslopes.core.arrays import Array, Integers, Objects
from gslopes.core.crossed import split
from gslopes.core.errors import ConfigError, TableError
from gslopes.core.tables import MEASURED
from gslopes.slopes.measures.answers import Answers, gather
from gslopes.slopes.measures.crossed import along
from gslopes.slopes.measures.decision import decide, placebo_differences
from gslopes.slopes.measures.differences import group_slopes
from gslopes.slopes.measures.drawing import drawing_rows
from gslopes.slopes.measures.estimators import estimate
from gslopes.slopes.measures.explained import explained_rows
from gslopes.slopes.measures.kinds import beyond, choose, measured, of_rows
from gslopes.slopes.measures.observed import observed_rows
from gslopes.slopes.measures.options import FitOptions
from gslopes.slopes.measures.reach import per_reach, reach_rows
from gslopes.slopes.measures.selection import (
    LOSSES,
    STATUS,
    Asked,
    Gate,
    asked_about,
    bounds,
    check_status,
    gating_rows,
    label_counts,
    loss_trend,
)
from gslopes.slopes.measures.truth import Truth, check_truths, error_tables, split_truth
from gslopes.stats.clusters import effective_units, few, named_codes, normal_texts
from gslopes.stats.multiplicity import is_finding

OF_VIEWS = (
    "slopes",
    "placebos",
    "balance",
)  # tables with rows of interactions, and of slopes at an end
_CLUSTER = "\0cluster"  # its key among the columns, which may be one of the groups as well


@dataclass(frozen=True, slots=True, eq=False)
class FitTables:
    """The tables of a fit, each with the columns of its schema in core.tables.

    slopes: a row for each classifier, attribute, estimator and label, with its decision; where two attributes are
        crossed for each view of their grid, see ``slopes.measures.crossed``.
    groups, differences: by columns of a photos table.
    balance: how many photos count, why others do not, and what to be warned of.
    placebos: paired differences from the placebo sweeps.
    reach: slopes per unit of what an independent reader sees.  gating: gated and ungated slopes.
    error_rates, error_slopes: where the truth is known, see ``slopes.measures.truth``.
    observed: differences between groups in unedited photos, where those were asked about, see ``measures.observed``.
    drawing: what drawing a face does by itself, see ``slopes.measures.drawing``.
    explained: what goes with what else moved, see ``slopes.measures.explained``.
    """

    slopes: pd.DataFrame
    groups: pd.DataFrame
    differences: pd.DataFrame
    balance: pd.DataFrame
    placebos: pd.DataFrame
    reach: pd.DataFrame
    gating: pd.DataFrame
    error_rates: pd.DataFrame
    error_slopes: pd.DataFrame
    observed: pd.DataFrame
    drawing: pd.DataFrame
    explained: pd.DataFrame

    def tables(self) -> Iterator[tuple[tables.Table, pd.DataFrame]]:
        """Each table's schema with its rows."""
        for field in fields(self):
            yield tables.TABLES[field.name], getattr(self, field.name)


def analyse(
    scores: pd.DataFrame | pa.Table,
    asked: pd.DataFrame | pa.Table,
    *,
    values: Mapping[str, Sequence[float]] | None = None,
    options: FitOptions | None = None,
    about: pd.DataFrame | None = None,
    groups: Sequence[str] = (),
    cluster: str = "",
    truth: Sequence[str] = (),
    photos: Collection[str] | None = None,
    reach: pd.DataFrame | None = None,
    tones: pd.Series | None = None,
    gates: Mapping[str, pd.Series] | None = None,
    unedited: Mapping[str, Answers] | None = None,
    drawn: Collection[str] = (),
    moved: pd.DataFrame | None = None,
    tick: Callable[[int], None] | None = None,
) -> FitTables:
    """Fit everything.

    Every row of slopes has its estimator and the null hypothesis of its p in ``measures.estimators``, that of its
    p_perm in ``stats.permutation``, and a t interval.  q is p_test, adjusted over the labels of one classifier,
    attribute and estimator: p_perm, or where no permutation reached the observed statistic t's p if it is smaller, as
    p_source says (see ``stats.permutation.below_floor``).  In the rows of the paper it is p adjusted after Benjamini
    and Hochberg.  A label whose answers vary on fewer than ``min_varying`` units is not judged: the rows of the
    photo estimators hold its counts and slope, but neither test nor interval; the paper's row stays as the paper has
    it, without p_perm.
    decision, reason and detail: see ``slopes.measures.decision``.  The bounds for lost answers stand in the rows of
    photo-rate; see ``slopes.measures.selection``.

    scores, asked: of core.tables.SCORES and ASKED, as data frames or Arrow tables, rows in any order.  Placebo sweeps
        are further attributes in them, named as ``core.placebo`` does; their photos may be a sample.
    values: attribute to its K values; without it they are read from the scores.
    about: what is known about photos, one row a photo, its index the photo's id, columns of texts.
    groups: columns of ``about`` to fit by; ``"a + b"`` crosses two.
    cluster: a column of ``about``: photos that share its text (one person, one query) are one unit of every standard
        error, resample and permutation; a photo without a text is its own.
    truth: columns of ``about`` that name the right label, or ``LABEL=COLUMN``, which affirm or deny one, see
        ``slopes.measures.truth``.
    photos: ids of the photos that count; all of them if None.
    reach: how far the edit moved an independent reader: columns photo, attribute, reading and reach, as
        ``slopes.measures.reach.photo_reach`` gives it; and odds, its log-odds in the unedited photo, if ``unedited`` is
        given.
    tones: photo to the name of its skin tone's group; the table reach has slopes by them.
    gates: attribute to whether a gate kept each photo's sweep, see ``slopes.measures.selection``.
        Slopes are then of the kept sweeps, and gating compares them with the others.
    unedited: classifier to its answers about the photos as they were, with K = 1, see ``slopes.measures.observed``.
    drawn: attributes whose pictures are drawn, so that value 0 is not the photo.
    moved: what an independent reader saw move next to the attribute, see ``slopes.measures.explained``; or None.
    tick: called with 1 whenever a classifier along a sweep is finished, placebo sweeps included.

    Raises: TableError, ConfigError as ``answers.values_by_attribute``; TableError for a status that is unknown or a
        score that is not a finite number; ConfigError for a column that ``about`` lacks, or if it has no photo of them.
    """
    options = options or FitOptions()
    columns = about_columns(about, groups, normal_texts)
    if cluster:  # an identifier, which keeps its case
        columns[_CLUSTER] = about_columns(about, [cluster], _plain_texts)[cluster]
    answers = scores if isinstance(scores, pa.Table) else tables.check(tables.SCORES, scores)
    questions = asked if isinstance(asked, pa.Table) else tables.check(tables.ASKED, asked)
    check_status(questions)
    _check_scores(answers, numbers=MEASURED in options.estimators)
    chosen = None if photos is None else sorted({str(photo) for photo in photos})
    answers, questions, by_attribute, crossed = along(answers, questions, values)
    if crossed:
        options = replace(options, estimators=options.of_photos)
        gates = {name: gates[split(name)[0]] for name in crossed} if gates else gates
    sweeps_by_pair: dict[tuple[str, str], Answers] = {}
    for sweep in gather(answers, questions, by_attribute):
        if crossed:
            view = crossed[placebo.split(sweep.attribute)[0]]
            sweep = replace(sweep, orders=view.orders, ends=view.ends)
        part = sweep if chosen is None else sweep.only(np.isin(sweep.photos.astype(str), chosen))
        sweeps_by_pair[sweep.classifier, sweep.attribute] = part
    seen = {photo for sweep in sweeps_by_pair.values() for photo in sweep.photos.tolist()}
    if columns and seen and about is not None and seen.isdisjoint(about.index):
        hint = f"Its index must be the photos' ids, such as {min(seen)!r}."
        raise ConfigError("The table about photos has a row of none of them.", hint)
    if MEASURED in options.estimators:  # the same measures along all sweeps of a classifier
        by_name: dict[str, list[Answers]] = {}
        for (name, attribute), sweep in sweeps_by_pair.items():
            by_name.setdefault(name, []).extend([] if placebo.is_placebo(attribute) else [sweep])
        measures = {name: choose(sweeps, options.min_varying) for name, sweeps in by_name.items()}
        sweeps_by_pair = {
            key: measured(sweep, measures[key[0]]) for key, sweep in sweeps_by_pair.items()
        }
    truths = _truths(
        about,
        truth,
        {label for sweep in sweeps_by_pair.values() for label in sweep.labels.tolist()},
    )
    inputs = _Inputs(
        *(
            answers,
            questions,
            options,
            columns,
            tuple(dict.fromkeys(groups)),
            cluster,
            truths,
            chosen,
        ),
        *(reach, tones, gates or {}, unedited or {}, drawn, moved, sweeps_by_pair),
    )
    frames: dict[str, list[pd.DataFrame]] = {field.name: [] for field in fields(FitTables)}
    for key in sweeps_by_pair:
        plain = placebo.CROSS not in key[1]
        for name, frame in _tables_of(inputs, *key):
            if plain or name in OF_VIEWS:
                frames[name].append(of_rows(frame, sweeps_by_pair[key].measures))
            if name == "slopes" and not plain:
                break
        if tick is not None:
            tick(1)
    return FitTables(
        **{name: checked(tables.TABLES[name], parts) for name, parts in frames.items()}
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Inputs:
    """What ``analyse`` was given, checked.  whole: answers of every classifier along every sweep, before the gate."""

    scores: pa.Table
    asked: pa.Table
    options: FitOptions
    columns: Mapping[str, pd.Series]
    groups: tuple[str, ...]
    cluster: str
    truths: tuple[Truth, ...]
    photos: Sequence[str] | None
    reach: pd.DataFrame | None
    tones: pd.Series | None
    gates: Mapping[str, pd.Series]
    unedited: Mapping[str, Answers]
    drawn: Collection[str]
    moved: pd.DataFrame | None
    whole: Mapping[tuple[str, str], Answers]

    def sweep(self, classifier: str, attribute: str) -> Answers:
        """The answers about sweeps that the gate kept, with their units."""
        sweep = self.whole[classifier, attribute]
        kept = self.kept(attribute)
        if kept is not None and placebo.split(attribute)[0] in self.gates:
            sweep = sweep.only(np.isin(sweep.photos.astype(str), kept)).labelled()
        return replace(sweep, units=self.units(sweep.photos))

    def kept(self, attribute: str) -> Sequence[str] | None:
        """Ids of the photos that count and whose sweeps the gate kept; None: all."""
        gate = self.gates.get(placebo.split(attribute)[0])
        if gate is None:
            return self.photos
        names = gate.index[gate.eq(True)].astype(str).tolist()
        if self.photos is None:
            return names
        return sorted({*names} & {*self.photos})

    def units(self, photos: Objects) -> Integers | None:
        """(n,) codes of the photos' clusters; a photo without a text is its own."""
        if self.cluster:
            return named_codes(_texts(self.columns[_CLUSTER], photos), photos)
        return None

    def returned(self, classifier: str) -> set[str]:
        """All labels that it returned, of unedited photos and along placebo sweeps too."""
        answers = [sweep for (name, _), sweep in self.whole.items() if name == classifier]
        answers += [self.unedited[classifier]] if classifier in self.unedited else []
        return {label for sweep in answers for label in sweep.labels}

    def placebos(self, classifier: str, attribute: str) -> dict[str, Answers]:
        """Kind of placebo to the answers about it."""
        names = {kind: placebo.name(attribute, kind) for kind in placebo.KINDS}
        return {
            kind: self.sweep(classifier, name)
            for kind, name in names.items()
            if (classifier, name) in self.whole
        }


def _tables_of(
    inputs: _Inputs, classifier: str, attribute: str
) -> Iterator[tuple[str, pd.DataFrame]]:
    """(table, its rows) of one classifier along one sweep."""
    sweep = inputs.sweep(classifier, attribute)
    options = inputs.options
    if not sweep.measures and len(options.estimators) > 1:
        options = replace(
            options, estimators=tuple(name for name in options.estimators if name != MEASURED)
        )
    if attribute in inputs.gates:
        everyone = inputs.whole[classifier, attribute]
        verdicts = inputs.gates[attribute]
        passed = verdicts.reindex(everyone.photos).eq(True).to_numpy(bool)
        gate = Gate(passed, dropped=int((~verdicts.astype(bool)).sum()), total=len(verdicts))
        yield (
            "gating",
            gating_rows(replace(everyone, units=inputs.units(everyone.photos)), gate, options),
        )
        if not len(sweep.photos):
            return  # the gate dropped them all: nothing but what the sample of them says
    sizes = (
        np.ones(len(sweep.photos))
        if sweep.units is None
        else np.bincount(sweep.units).astype(np.float64)
    )
    asked = asked_about(inputs.asked, classifier, attribute, sweep.values, inputs.kept(attribute))
    balance, depend = _balance(sweep, sizes, asked, inputs)
    yield "balance", balance
    rows = estimate(sweep, options)
    if asked.lost.any():
        present = label_counts(inputs.scores, classifier, attribute, sweep.labels, asked)
        ends = pd.DataFrame(
            dict(zip(("worst_low", "worst_high"), bounds(present, asked), strict=True)),
            sweep.labels,
        )
        by_row = ends.reindex(rows["label"]).set_axis(rows.index)
        rows = rows.assign(**by_row.where(rows["estimator"] == "photo-rate"))
    if not placebo.is_placebo(attribute):
        differences = placebo_differences(sweep, inputs.placebos(classifier, attribute), options)
        yield "placebos", differences
        rows = decide(rows, differences, options, lost=" and ".join(depend), units=sizes)
        if classifier in inputs.unedited:
            yield from _observed(inputs, sweep, rows)
            if attribute in inputs.drawn:
                unedited = measured(inputs.unedited[classifier], sweep.measures)
                yield "drawing", drawing_rows(sweep, unedited, options)
        if inputs.moved is not None:
            yield "explained", explained_rows(sweep, inputs.moved, options)
    yield "slopes", rows
    named = [(name, _texts(inputs.columns[name], sweep.photos)) for name in inputs.groups]
    compared = [group_slopes(sweep, name, texts, options) for name, texts in named]
    fakes = None if placebo.is_placebo(attribute) else inputs.placebos(classifier, attribute)
    wrong = error_tables(sweep, inputs.truths, options, fakes, inputs.returned(classifier))
    yield from zip(("error_rates", "error_slopes"), wrong, strict=True)
    if inputs.tones is not None:
        named.append(("skin tone", _texts(inputs.tones, sweep.photos)))
    own = None
    if inputs.reach is not None:
        for reading, part in inputs.reach[inputs.reach["attribute"] == attribute].groupby(
            "reading"
        ):
            seen = part.drop_duplicates("photo").set_index("photo")["reach"]
            yield (
                "reach",
                (rows := reach_rows(sweep, seen, options, named).assign(reading=str(reading))),
            )
            own = rows if reading == attribute else own
    for groups, differences in compared:
        yield from (("groups", groups), ("differences", per_reach(differences, own)))


def _observed(
    inputs: _Inputs, sweep: Answers, rows: pd.DataFrame
) -> Iterator[tuple[str, pd.DataFrame]]:
    """The observed difference of each pair of groups next to the slopes.  rows: of the sweep, with their decisions."""
    read = tables.reading(rows)
    odds = None
    decisions = dict(zip(read["label"], read["decision"], strict=True))
    if inputs.reach is not None:
        own = (inputs.reach["attribute"] == sweep.attribute) & (
            inputs.reach["reading"] == sweep.attribute
        )
        odds = inputs.reach[own].drop_duplicates("photo").set_index("photo")["odds"]
    unedited = measured(inputs.unedited[sweep.classifier], sweep.measures)
    for name in inputs.groups:
        frame = observed_rows(
            sweep, unedited, inputs.columns[name], odds, decisions, inputs.options
        )
        yield "observed", frame.assign(column=name)


def _check_scores(scores: pa.Table, *, numbers: bool) -> None:
    """Raises: TableError for one that is not a finite number or, unless ``numbers``, not in [0, 1]."""
    ends = pc.min_max(scores.column("score")).as_py()
    low = ends["min"]
    high = ends["max"]
    if low is None:
        return
    if not np.isfinite([low, high]).all() or pc.any(pc.is_nan(scores.column("score"))).as_py():
        raise TableError(
            "Some scores are no finite numbers.", "Leave out the rows of labels without a score."
        )
    if not numbers and beyond(np.array([low, high])).any():
        hint = "Divide them by 100 if they are percentages."
        raise TableError(f"The scores go from {low:g} to {high:g}; they must lie in [0, 1].", hint)


def _balance(
    sweep: Answers, sizes: Array, asked: Asked, inputs: _Inputs
) -> tuple[pd.DataFrame, list[str]]:
    """A row of core.tables.BALANCE, and which losses depend on the value, or cannot be shown not to."""
    used = len(sweep.photos)
    cluster = inputs.cluster
    largest = float(sizes.max()) / used if used else np.nan
    effective = effective_units(sizes)
    refused = (asked.status == 2).any(axis=1)
    lost = (asked.status == 3).any(axis=1)
    counts = {"refused": int(refused.sum()), "failed": int((lost & ~refused).sum())}
    counts["missing"] = len(asked.photos) - used - sum(counts.values())
    row: dict[str, object] = {
        "classifier": sweep.classifier,
        "attribute": sweep.attribute,
        "used": used,
        "units": len(sizes),
        **counts,
        "largest": largest,
        "effective_units": effective,
    }
    warnings = []
    if cluster and used and few(effective):
        share = f"one {cluster} of {len(sizes)} holds {largest:.0%} of the photos"
        warnings.append(f"{share}: read p_perm, not t and its interval")
    depend = []
    for name, status, losses in LOSSES:
        if not (asked.status == STATUS.index(status) + 1).any():
            continue
        trend = loss_trend(asked, status, inputs.units, inputs.options)
        ends = {f"{name}_low": trend.low, f"{name}_high": trend.high}
        row |= {f"{name}_slope": trend.value, **ends, f"{name}_p": trend.p}
        found = is_finding(trend.p, trend.low, trend.high)
        if found or np.isnan(trend.p):
            depend.append(losses)
            how = (
                "depend on the value"
                if found
                else "may depend on the value, which no test can tell"
            )
            warnings.append(
                f"{losses} {how} ({trend.value:+.2g} points per unit): what is left is selected"
            )
    return pd.DataFrame([row | {"warning": "; ".join(warnings)}]), depend


def _plain_texts(column: pd.Series) -> pd.Series:
    return column.astype(object).where(column.notna(), "").astype(str)


def about_columns(
    about: pd.DataFrame | None, names: Sequence[str], texts_of: Callable[[pd.Series], pd.Series]
) -> dict[str, pd.Series]:
    """The named columns as texts by photo, crossed where a name says so.  Raises: ConfigError."""
    columns = {}
    for name in names:
        parts = [part.strip() for part in name.split("+")]
        lacking = [part for part in parts if about is None or part not in about]
        if about is None or lacking:
            has = "none is given" if about is None else f"it has {', '.join(map(str, about))}"
            raise ConfigError(f"The table about photos has no column {lacking[0]!r}: {has}.")
        texts = [texts_of(about[part]) for part in parts]
        crossed = texts[0]
        for text in texts[1:]:
            crossed = (crossed + ", " + text).where((crossed != "") & (text != ""), "")
        columns[name] = crossed[~crossed.index.duplicated()]
    return columns


def _truths(
    about: pd.DataFrame | None, given: Sequence[str], labels: Collection[str]
) -> tuple[Truth, ...]:
    """What is true of the photos, checked.  Raises: ConfigError."""
    pairs = dict.fromkeys(split_truth(text) for text in given)
    cells = {
        column: normal_texts(about_columns(about, [column], _plain_texts)[column])
        for column, _ in pairs
    }
    truths = tuple(Truth(column, label, cells[column]) for column, label in pairs)
    check_truths(truths, labels)
    return truths


def _texts(column: pd.Series, photos: Objects) -> list[str]:
    return column.reindex(photos).fillna("").tolist()


def checked(table: tables.Table, frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The frames as one table, sorted by its key and with the very types that reading the written table gives back.

    Columns that may be null and that no frame has are null.

    Raises: TableError as ``core.tables.check``.
    """
    frames = [frame for frame in frames if len(frame)]
    if not frames:
        return tables.check(table, table.empty()).to_pandas()
    joined = pd.concat(frames, ignore_index=True)
    missing = {
        field.name: None for field in table.schema if field.nullable and field.name not in joined
    }
    ordered = joined.assign(**missing).sort_values(list(table.key), kind="stable")
    result: pd.DataFrame = tables.check(table, ordered).to_pandas()
    return result
