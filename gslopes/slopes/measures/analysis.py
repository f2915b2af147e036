"""From answers to everything that can be said about them: estimators, intervals, tests, decisions and groups.

It is one pure function of tables. A placebo sweep is another attribute in the same tables; a part of the photos is
``photos``.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas import DataFrame, Series

from gslopes.core import ConfigError, TableError, Texts, frozen_identity, placebo, tables
from gslopes.core.crossed import split
from gslopes.core.geometry import TONE
from gslopes.core.records import Integers, Objects
from gslopes.slopes.measures import decision, estimators, kinds
from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.measures.crossed import along
from gslopes.slopes.measures.differences import group_slopes
from gslopes.slopes.measures.explained import explained_rows, mediated_rows
from gslopes.slopes.measures.observed import drawing_rows, observed_rows
from gslopes.slopes.measures.options import EDITOR, WORDING, FitOptions, Study
from gslopes.slopes.measures.reach import per_reach, reach_rows
from gslopes.slopes.measures.selection import (
    LOSSES,
    STATUS,
    Asked,
    asked_about,
    bounds,
    check_status,
    gating_rows,
    loss_trend,
    observed_slopes,
)
from gslopes.slopes.measures.truth import Truth, check_truths, error_tables, split_truth
from gslopes.stats.clusters import codes_of, effective_units, few, named_codes, normal_texts
from gslopes.stats.multiplicity import is_finding

# Tables with rows of interactions, and of slopes at an end.
OF_VIEWS = ("slopes", "placebos", "balance")


@frozen_identity
class FitTables:
    """The tables of a fit, each with the columns of its schema in core.tables.

    slopes: a row for each classifier, attribute, estimator and label, with its decision; of two crossed attributes
        for each view of their grid, see ``slopes.measures.crossed``.
    groups, differences: by columns of a photos table.
    balance: how many photos count, why others do not, and what to be warned of.
    placebos: paired differences from the placebo sweeps.
    reach: slopes per unit of what an independent reader sees.  gating: gated and ungated slopes.
    error_rates, error_slopes: if the truth is given, see ``slopes.measures.truth``.
    observed: differences between groups in unedited photos, if those were asked about, see ``measures.observed``.
    drawing: what drawing a face does by itself, see ``slopes.measures.observed``.
    explained: what goes with what else moved, see ``slopes.measures.explained``.
    soundness: how often what no picture shows is answered, see ``slopes.measures.soundness``.
    """

    slopes: DataFrame
    groups: DataFrame
    differences: DataFrame
    balance: DataFrame
    placebos: DataFrame
    reach: DataFrame
    gating: DataFrame
    error_rates: DataFrame
    error_slopes: DataFrame
    observed: DataFrame
    drawing: DataFrame
    explained: DataFrame
    soundness: DataFrame

    def tables(self) -> Iterator[tuple[tables.Table, DataFrame]]:
        """Each table's schema with its rows."""
        for field in fields(self):
            yield tables.TABLES[field.name], getattr(self, field.name)


def analyse(
    scores: DataFrame | pa.Table,
    asked: DataFrame | pa.Table,
    study: Study | None = None,
    *,
    options: FitOptions | None = None,
    tick: Callable[[int], None] | None = None,
) -> FitTables:
    """Fit everything.

    Every row of slopes has its estimator and the null hypothesis of its p in ``measures.estimators``, the null
    hypothesis of its p_perm in ``stats.permutation``, and a t interval.  q is p_test, adjusted over the labels of one
    classifier, attribute and estimator: p_perm, or, if no permutation reached the observed statistic, t's p if it is
    smaller; p_source names the one (see ``stats.permutation.below_floor``).  In the rows of the paper it is p adjusted
    after Benjamini and Hochberg.  A label whose answers vary on fewer than ``min_varying`` units is not judged: the
    rows of the photo estimators hold its counts and slope, but neither test nor interval; the paper's row stays as the
    paper has it, without p_perm.
    decision, reason and detail: see ``slopes.measures.decision``.  The bounds for lost answers are in the rows of
    photo-rate; see ``slopes.measures.selection``.

    scores, asked: of core.tables.SCORES and ASKED, as data frames or Arrow tables, rows in any order.  Placebo sweeps
        are further attributes in them, named as ``core.placebo`` does; their photos may be a sample.
    study: what is known next to them, see ``measures.options.Study``.
    options: what is computed, see ``measures.options.FitOptions``.
    tick: called with 1 whenever a classifier along a sweep is finished, placebo sweeps included.

    Raises: UnknownName for an estimator; TableError, ConfigError as ``answers.values_by_attribute``; TableError for a
        status that is unknown or a score that is not a finite number; ConfigError for a column that ``about`` lacks,
        or if it has no photo of them.
    """
    fit = Fit(scores, asked, study or Study(), options or FitOptions())
    frames: dict[str, list[DataFrame]] = {field.name: [] for field in fields(FitTables)}
    for (classifier, attribute), sweep in fit.sweeps.items():
        plain = placebo.CROSS not in attribute
        for name, frame in fit.tables_of(classifier, attribute):
            if not plain and "label" in frame:  # opposite cells of a grid show no interaction
                frame = frame[~frame["label"].str.endswith("(points ahead)")]
            if plain or name in OF_VIEWS:
                frames[name].append(estimators.of_rows(frame, sweep.measures))
            if name == "slopes" and not plain:
                break
        if tick is not None:
            tick(1)
    frames["balance"] += [fit.balance_of_editor(name)[0] for name in fit.wished]
    frames["observed"] += fit.lost_by_group()
    return FitTables(
        **{name: checked(tables.TABLES[name], parts) for name, parts in frames.items()}
    )


class Fit:
    """The arguments of ``analyse``, checked.

    groups: column of groups to its texts by photo.  clusters: texts by photo.  sweeps: answers of every classifier
    along every sweep, before the gate.  wished: sweep to what became of the pictures that an editor was asked for.
    """

    def __init__(
        self,
        scores: DataFrame | pa.Table,
        asked: DataFrame | pa.Table,
        study: Study,
        options: FitOptions,
    ) -> None:
        by_number = any(estimator.kind == "measure" for estimator in estimators.chosen(options))
        self.study = study
        self.groups = about_columns(study.about, study.groups, normal_texts)
        if study.cluster:  # an identifier, which keeps its case
            self.clusters = about_columns(study.about, [study.cluster], _plain_texts)[study.cluster]
        if isinstance(scores, DataFrame):
            scores = tables.check(tables.SCORES, scores)
        if isinstance(asked, DataFrame):
            asked = tables.check(tables.ASKED, asked)
        check_status(asked)
        _check_scores(scores, numbers=by_number)
        self.photos = None if study.photos is None else sorted({*map(str, study.photos)})
        self.tables = along(scores, asked, study.values)
        views = self.tables.views
        self.gates = study.gates
        if views:
            names = tuple(estimator.name for estimator in estimators.contrasted(options))
            options = replace(options, estimators=names)
            if study.gates:
                self.gates = {name: study.gates[split(name)[0]] for name in views}
        self.options = options
        self.sweeps: dict[tuple[str, str], Answers] = {}
        for sweep in sorted(self.tables.sweeps(), key=lambda one: (one.classifier, one.attribute)):
            if views:
                view = views[placebo.split(sweep.attribute)[0]]
                sweep = replace(sweep, orders=view.orders, ends=view.ends)
            if self.photos is not None:
                sweep = sweep.among(self.photos)
            self.sweeps[sweep.classifier, sweep.attribute] = sweep
        photos = {photo for sweep in self.sweeps.values() for photo in sweep.photos}
        about = study.about if study.groups or study.cluster else None
        if about is not None and photos and photos.isdisjoint(about.index):
            raise ConfigError(
                "The table about photos has a row of none of them.",
                f"Its index must be the photos' ids, such as {min(photos)!r}.",
            )
        if by_number:
            self._measure()
        self.wished = {
            name: self._asked(EDITOR, name, self.photos)
            for name in study.lost.keys() & self.tables.values.keys()
        }
        labels = {label for sweep in self.sweeps.values() for label in sweep.labels}
        self.truths = _truths(study.about, study.truth, labels)

    def _measure(self) -> None:
        """Give all sweeps of a classifier the same measures."""
        for classifier in {name for name, _ in self.sweeps}:
            sweeps = {key: sweep for key, sweep in self.sweeps.items() if key[0] == classifier}
            real = [sweep for key, sweep in sweeps.items() if not placebo.is_placebo(key[1])]
            measures = kinds.choose(real, self.options.min_varying)
            self.sweeps |= {key: kinds.measured(sweep, measures) for key, sweep in sweeps.items()}

    def sweep(self, classifier: str, attribute: str) -> Answers:
        """The answers about sweeps that the gate kept, with their units."""
        sweep = self.sweeps[classifier, attribute]
        counted = self.counted(attribute)
        if counted is not None and placebo.split(attribute)[0] in self.gates:
            sweep = sweep.among(counted).labelled()
        return replace(sweep, units=self.units(sweep.photos))

    def _asked(self, classifier: str, attribute: str, photos: Collection[str] | None) -> Asked:
        """What became of its questions along a sweep, about these photos."""
        asked = self.tables.rows(self.tables.asked, attribute)
        return asked_about(asked, classifier, attribute, self.tables.values[attribute], photos)

    def counted(self, attribute: str) -> Sequence[str] | None:
        """Ids of the photos that count and whose sweeps the gate kept; None: all."""
        gate = self.gates.get(placebo.split(attribute)[0])
        if gate is None:
            return self.photos
        names = gate.index[gate.eq(True)].astype(str).tolist()
        if self.photos is None:
            return names
        return sorted({*names} & {*self.photos})

    def units(self, photos: Objects) -> Integers | None:
        """(n,) codes of the photos' clusters; a photo without a text is a unit by itself."""
        if self.study.cluster:
            return named_codes(_texts(self.clusters, photos), photos)
        return None

    def returned(self, classifier: str) -> set[str]:
        """All labels that it returned, of unedited photos and along placebo sweeps too."""
        answers = [sweep for (name, _), sweep in self.sweeps.items() if name == classifier]
        if classifier in self.study.unedited:
            answers.append(self.study.unedited[classifier])
        return {label for sweep in answers for label in sweep.labels}

    def placebos(self, classifier: str, attribute: str) -> dict[str, Answers]:
        """Kind of placebo to the answers about it."""
        names = {kind: placebo.name(attribute, kind) for kind in placebo.KINDS}
        return {
            kind: self.sweep(classifier, name)
            for kind, name in names.items()
            if (classifier, name) in self.sweeps
        }

    def tables_of(self, classifier: str, attribute: str) -> Iterator[tuple[str, DataFrame]]:
        """(table, its rows) of one classifier along one sweep."""
        sweep = self.sweep(classifier, attribute)
        options = self._options(sweep)
        if attribute in self.gates:
            everyone = self.sweeps[classifier, attribute]
            everyone = replace(everyone, units=self.units(everyone.photos))
            yield "gating", gating_rows(everyone, self.gates[attribute], options)
            if not len(sweep.photos):
                return  # the gate dropped them all: nothing but the sample of them is left
        asked = self._asked(classifier, attribute, self.counted(attribute))
        balance, depend = self._balance(sweep, asked)
        yield "balance", balance
        if attribute in self.wished:
            asked = asked.beside(self.wished[attribute])
            depend += [f"the editor's {losses}" for losses in self.balance_of_editor(attribute)[1]]
        rows = estimators.slope_rows(sweep, options)
        if asked.lost.any():
            scores = self.tables.rows(self.tables.scores, attribute)
            observed = observed_slopes(scores, classifier, attribute, sweep.labels, asked)
            codes = codes_of(self.units(asked.photos), len(asked.photos))
            ends = np.column_stack(bounds(observed, asked, codes))
            by_label = DataFrame(ends, sweep.labels, ["worst_low", "worst_high"])
            by_row = by_label.reindex(rows["label"]).set_axis(rows.index)
            rows = rows.assign(**by_row.where(rows["estimator"] == tables.READING))
        fakes = None
        if not placebo.is_placebo(attribute):
            fakes = self.placebos(classifier, attribute)
            differences = decision.placebo_differences(sweep, fakes, options)
            yield "placebos", differences
            lost = " and ".join(depend)
            rows = decision.decide(rows, differences, options, lost=lost, units=sweep.sizes)
            yield from self._beside(sweep, rows, options, fakes.get("same"))
        yield "slopes", rows
        yield "slopes", estimators.shares_of_two(sweep)
        wrong = error_tables(sweep, self.truths, options, fakes, self.returned(classifier))
        yield from zip(("error_rates", "error_slopes"), wrong, strict=True)
        yield from self._by_group(sweep, options, (fakes or {}).get("light"))

    def _options(self, sweep: Answers) -> FitOptions:
        """Without the estimators that no label of the sweep has a number for, if others are left."""
        names = [
            estimator.name
            for estimator in estimators.chosen(self.options)
            if estimator.kind == "rate"
        ]
        if sweep.measures or not names:
            return self.options
        return replace(self.options, estimators=tuple(names))

    def _beside(
        self,
        sweep: Answers,
        slopes: DataFrame,
        options: FitOptions,
        same: Answers | None,
    ) -> Iterator[tuple[str, DataFrame]]:
        """What is compared with the slopes, with their decisions: observed differences, drawing, what else moved.

        same: answers along that placebo.
        """
        study = self.study
        if sweep.classifier in study.unedited:
            unedited = kinds.measured(study.unedited[sweep.classifier], sweep.measures)
            read = self._read(sweep.attribute).get(sweep.attribute)
            odds = None if read is None else read["odds"]
            decisions = tables.lookup(tables.reading(slopes), "label", "decision")
            for frame in self._observed(sweep, unedited, odds, decisions):
                yield "observed", frame
            if sweep.attribute not in study.unchanged:
                same = None
            if same is not None or sweep.attribute in study.drawn:
                yield "drawing", drawing_rows(sweep, unedited, options, same)
        if study.moved is not None:
            yield "explained", explained_rows(sweep, study.moved, options)
        if sweep.attribute in study.steps and (sweep.classifier, TONE) in self.sweeps:
            tone = self.sweep(sweep.classifier, TONE)
            steps = study.steps[sweep.attribute]
            yield "explained", mediated_rows(sweep, tone, steps, options)

    def _observed(
        self,
        sweep: Answers,
        unedited: Answers,
        odds: Series | None,
        decisions: Texts,
    ) -> Iterator[DataFrame]:
        """Rows of core.tables.OBSERVED for each column of groups.  odds, decisions: see ``observed_rows``."""
        for name, groups in self.groups.items():
            frame = observed_rows(sweep, unedited, groups, odds, decisions, self.options)
            yield frame.assign(column=name)

    def _read(self, attribute: str) -> dict[str, DataFrame]:
        """Reading to how far it moved along an attribute, by photo."""
        if self.study.reach is None:
            return {}
        rows = self.study.reach.query("attribute == @attribute")
        by_photo = rows.drop_duplicates(["reading", "photo"]).set_index("photo")
        return {str(name): of_it for name, of_it in by_photo.groupby("reading", observed=True)}

    def _by_group(
        self, sweep: Answers, options: FitOptions, light: Answers | None
    ) -> Iterator[tuple[str, DataFrame]]:
        """Groups and their differences, also per unit of reach.  light: answers along that placebo."""
        named = [(name, _texts(groups, sweep.photos)) for name, groups in self.groups.items()]
        if sweep.attribute in self.study.wordings:
            wordings = self.study.wordings[sweep.attribute]
            named.append((WORDING, _texts(wordings, sweep.photos)))
        compared = [group_slopes(sweep, name, texts, options, light) for name, texts in named]
        if self.study.tones is not None:
            named.append(("skin tone", _texts(self.study.tones, sweep.photos)))
        reached = None
        for reading, by_photo in self._read(sweep.attribute).items():
            rows = reach_rows(sweep, by_photo["reach"], options, named).assign(reading=reading)
            yield "reach", rows
            if reading == sweep.attribute:
                reached = rows
        for groups, differences in compared:
            yield "groups", groups
            yield "differences", per_reach(differences, reached)

    def balance_of_editor(self, attribute: str) -> tuple[DataFrame, list[str]]:
        """As ``_balance``, of the pictures that an editor was asked for."""
        asked = self.wished[attribute]
        return self._balance(self.study.lost[attribute].only(asked.complete), asked)

    def lost_by_group(self) -> Iterator[DataFrame]:
        """Rows of core.tables.OBSERVED: photos that an editor or the gate lost, by reason."""
        for answers in self.study.lost.values():
            sweep = replace(answers, units=self.units(answers.photos))
            yield from self._observed(sweep, sweep.at_step(0), None, {})

    def _balance(self, sweep: Answers, asked: Asked) -> tuple[DataFrame, list[str]]:
        """A row of core.tables.BALANCE, and which losses depend on the value, or cannot be shown not to."""
        used = len(sweep.photos)
        sizes = sweep.sizes
        cluster = self.study.cluster
        largest = float(sizes.max()) / used if used else np.nan
        effective = effective_units(sizes)
        refused = int((asked.status == 2).any(1).sum())
        lost = int(asked.lost.any(1).sum())
        row: dict[str, object] = {
            "classifier": sweep.classifier,
            "attribute": sweep.attribute,
            "used": used,
            "units": len(sizes),
            "refused": refused,
            "failed": lost - refused,
            "missing": len(asked.photos) - used - lost,
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
            trend = loss_trend(asked, status, self.units)
            row |= {
                f"{name}_slope": trend.value,
                f"{name}_low": trend.low,
                f"{name}_high": trend.high,
                f"{name}_p": trend.p,
            }
            how = "depend on the value"
            if np.isnan(trend.p):
                how = "may depend on the value, which no test can tell"
            elif not is_finding(trend.p):
                continue
            depend.append(losses)
            warnings.append(
                f"{losses} {how} ({trend.value:+.2g} points per unit): what is left is selected"
            )
        return DataFrame([row | {"warning": "; ".join(warnings)}]), depend


def _check_scores(scores: pa.Table, *, numbers: bool) -> None:
    """Raises: TableError for one that is not a finite number or, unless ``numbers``, not in [0, 1]."""
    low, high = pc.min_max(scores.column("score")).as_py().values()
    if low is None:
        return
    if not np.isfinite([low, high]).all() or pc.any(pc.is_nan(scores.column("score"))).as_py():
        raise TableError(
            "Some scores are no finite numbers.", "Leave out the rows of labels without a score."
        )
    if not numbers and kinds.beyond(np.array([low, high])).any():
        raise TableError(
            f"The scores go from {low:g} to {high:g}; they must lie in [0, 1].",
            "Divide them by 100 if they are percentages.",
        )


def _plain_texts(column: Series) -> Series:
    return column.astype(object).where(column.notna(), "").astype(str)


def about_columns(
    about: DataFrame | None, names: Sequence[str], texts_of: Callable[[Series], Series]
) -> dict[str, Series]:
    """The named columns as texts by photo, crossed if a name crosses them.  Raises: ConfigError."""
    columns = {}
    for name in names:
        parts = [part.strip() for part in name.split("+")]
        lacking = [part for part in parts if about is None or part not in about]
        if about is None or lacking:
            has = "none is given" if about is None else f"it has {', '.join(map(str, about))}"
            raise ConfigError(f"The table about photos has no column {lacking[0]!r}: {has}.")
        crossed, *texts = (texts_of(about[part]) for part in parts)
        for text in texts:
            crossed = (crossed + ", " + text).where((crossed != "") & (text != ""), "")
        columns[name] = crossed[~crossed.index.duplicated()]
    return columns


def _truths(about: DataFrame | None, names: Sequence[str], labels: Collection[str]) -> list[Truth]:
    """What is true of the photos, checked.  Raises: ConfigError."""
    truths = []
    for column, label in dict.fromkeys(map(split_truth, names)):
        cells = about_columns(about, [column], _plain_texts)[column]
        truths.append(Truth(column, label, normal_texts(cells)))
    check_truths(truths, labels)
    return truths


def _texts(column: Series, photos: Objects) -> list[str]:
    return column.reindex(photos).fillna("").tolist()


def checked(table: tables.Table, frames: Sequence[DataFrame]) -> DataFrame:
    """The frames as one table, sorted by its key and with the very types that reading the written table gives back.

    Columns that may be null and that no frame has are null.

    Raises: TableError as ``core.tables.check``.
    """
    frames = [frame for frame in frames if len(frame)]
    if not frames:
        return table.empty()
    joined = pd.concat(frames, ignore_index=True)
    missing = [field.name for field in table.schema if field.nullable and field.name not in joined]
    ordered = joined.assign(**dict.fromkeys(missing)).sort_values(list(table.key), kind="stable")
    return tables.check(table, ordered).to_pandas()
