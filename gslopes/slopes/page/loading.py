"""What a report is made of, read from a run folder: only the columns and rows that it needs."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow.compute as pc
from pandas import DataFrame

from gslopes.core import (
    Facts,
    Names,
    crossed,
    files,
    frozen_identity,
    placebo,
    read_beside,
    reasons,
    runfolder,
    tables,
)
from gslopes.core.records import Array, doubles
from gslopes.report import fonts, inline, words
from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.measures.options import NEVER
from gslopes.slopes.page.decisions import HOUSE

Outcome = tuple[int, str]  # how many, and why
Embed = Literal["thumbs", "none"]
PAPER = "paper"
Corners = tuple[float, float, float, float]  # left, top, right, bottom
Drawn = Mapping[str, Mapping[Any, Any]]  # label to its row of core.tables.DRAWING


@dataclass(frozen=True, eq=False)
class Finding:
    """One classifier along one attribute.

    key: names its data files.  values: (K,), or none if unknown.
    rows: of the slopes table, all estimators.  placebo: see ``placebos``.
    outcomes: see ``outcomes_of``.  drawn: label to row of core.tables.DRAWING, if faces are drawn.
    run: the folder.
    """

    key: str
    classifier: str
    attribute: str
    values: Array
    rows: DataFrame
    placebo: DataFrame
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    drawn: Drawn = field(default_factory=dict)
    run: Path = Path()

    @cached_property
    def answers(self) -> Answers:
        """See ``answers.read``; read once."""
        from gslopes.slopes.page.answers import read  # it imports SciPy

        return read(self.run, self.classifier, self.attribute, self.values)

    def of(self, estimator: str) -> DataFrame:
        """The rows of one estimator."""
        return self.rows.query("estimator == @estimator")

    @property
    def published(self) -> DataFrame:
        """The paper's rows that have a slope."""
        return self.of(PAPER).dropna(subset=["slope"])

    @property
    def read(self) -> DataFrame:
        """The row of each label that is to be read, by the label's measure."""
        return tables.reading(self.rows)


@frozen_identity
class RunTables:
    """A run folder as a report sees it.

    slopes: the whole table.  values: attribute to (K,), placebo sweeps aside.
    """

    run: Path
    manifest: Facts
    slopes: DataFrame
    values: Mapping[str, Array]
    findings: Sequence[Finding]

    @property
    def real(self) -> DataFrame:
        """The slopes, placebo sweeps left out."""
        return placebo.real(self.slopes)

    @property
    def steps(self) -> dict[str, int]:
        """Attribute to K, if its values are known."""
        return {name: len(values) for name, values in self.values.items() if len(values)}


def load(run: Path) -> RunTables:
    """Read a run folder.

    Raises: UsageError if it is not one; TableError if it has no slopes table, or a damaged one.
    """
    manifest = runfolder.read_manifest(run)
    slopes = with_facts(tables.read(tables.SLOPES, run / "slopes.parquet"), run)
    real = placebo.real(slopes)
    grid = crossed.grid_of(manifest["values"])
    by_attribute = manifest["values"]
    if grid:
        by_attribute = {grid.name: by_attribute[grid.name]}
    values = {
        name: doubles(by_attribute.get(name) or ())
        for name in sorted({*real["attribute"], *(by_attribute if grid else ())})
    }
    outcomes = outcomes_of(run)
    drawn = drawings(run)
    placebo_rows = placebos(run, slopes)
    findings = []
    plain = real[~real["attribute"].str.contains(placebo.CROSS, regex=False)]
    for index, (pair, rows) in enumerate(plain.groupby(["classifier", "attribute"], sort=True)):
        classifier, attribute = key = str(pair[0]), str(pair[1])
        fake = placebo_rows.query("classifier == @classifier and attribute == @attribute")
        asked = outcomes.get((classifier, grid.name) if grid else key, {})
        facts = values[attribute], rows, fake, asked, drawn.get(key, {}), run
        findings.append(Finding(f"f{index}", classifier, attribute, *facts))
    return RunTables(run, manifest, slopes, values, findings)


# -- tables -----------------------------------------------------------------------------------------------------------

LONGEST_TEXT = 200  # characters: a service's own reason, or a photo's title, may be a page


def outcomes_of(
    run: Path, by: Sequence[str] = ("classifier", "attribute")
) -> dict[Names, dict[str, Outcome]]:
    """For each classifier and attribute: status to how many pictures have it, and why, the most frequent first."""
    asked = tables.read_rows(tables.ASKED, run, [*by, "status", "reason", "detail"])
    result: dict[Names, dict[str, Outcome]] = {}
    for key, of_key in asked.groupby(list(by), sort=False):
        statuses = result.setdefault(tuple(map(str, key)), {})
        for status, rows in of_key.groupby("status"):
            why = "" if status == "answered" else reasons.counted(rows["reason"], rows["detail"])
            statuses[str(status)] = len(rows), words.shorten(why, LONGEST_TEXT)
    return result


def unanswered(run: Path) -> list[str]:
    """A sentence for each classifier that answered no picture: how many were refused, and how many failed."""
    by_name = outcomes_of(run, ["classifier"])
    return inline.plain("unanswered.txt.j2", HOUSE, outcomes=by_name).splitlines()


def notes(run: Path) -> list[str]:
    """What a user should know of how sweeps were judged and classifiers asked; none of a stamp that is damaged."""
    sentences: list[str] = []
    for stage in ("gate", "score", "agreement"):
        with suppress(OSError, ValueError, AttributeError, TypeError):
            told = files.read_json(run / "parts" / f"{stage}.json").get("notes", [])
            sentences += map(words.printable, told)
    return sentences


def cautions(run: Path) -> list[str]:
    """What each classifier's slopes must be read with, which true labels it never returns, which fonts are missing."""
    balance = tables.read_rows(tables.BALANCE, run, ["classifier", "attribute", "warning"])
    warned = placebo.real(balance.fillna({"warning": ""})).query("warning != ''")
    sentences = [
        f"{words.printable(name)} along {words.perceived(str(attribute))}: {words.printable(warning)}."
        for name, attribute, warning in warned.itertuples(index=False)
    ]
    notes = tables.read_rows(tables.ERROR_SLOPES, run, ["classifier", "note"]).drop_duplicates()
    never = notes["note"].str.split(NEVER, n=1, regex=False).str[1].dropna()
    for name, labels in never.groupby(notes["classifier"]):
        listed = words.shorten(", ".join(labels), LONGEST_TEXT)
        sentences.append(words.printable(f"{name}{NEVER}{listed}: no error rate is given."))
    drawn = tables.read_rows(tables.SLOPES, run, ["classifier", "label"])
    return [*sentences, *fonts.advice(map(words.label, {*drawn["classifier"], *drawn["label"]}))]


def face_box(value: object) -> Corners | None:
    """A box of the photos table as four numbers, or None if it is not one."""
    numbers = np.ravel(np.asarray([] if value is None else value, dtype=float))
    if len(numbers) == 4 and np.isfinite(numbers).all():
        left, top, right, bottom = numbers.tolist()
        if left < right and top < bottom:
            return left, top, right, bottom
    return None


def drawings(run: Path) -> dict[tuple[str, str], Drawn]:
    """For each classifier and attribute: what drawing the faces does by itself.  Raises: TableError."""
    frame = tables.read_rows(tables.DRAWING, run)
    return {
        (str(pair[0]), str(pair[1])): {row["label"]: row for row in rows.to_dict("records")}
        for pair, rows in frame.groupby(["classifier", "attribute"])
    }


def placebos(run: Path, slopes: DataFrame) -> DataFrame:
    """Rows of core.tables.PLACEBOS to read, and low and high: how far slopes go in the sweep, 95 %.

    They lie about its slope over the same photos, as near as the paired difference's interval is wide; and about its
    opposite, if its sign means nothing.  Raises: TableError if the table is damaged.
    """
    keys = ["classifier", "attribute", "label", "estimator"]
    rows = tables.reading(slopes)[keys].merge(tables.read_rows(tables.PLACEBOS, run), on=keys)
    half = (rows["ci_high"] - rows["ci_low"]).fillna(0.0) / 2
    signed = rows["placebo"].isin(placebo.SIGNED)
    size = rows["placebo_slope"].where(signed, rows["placebo_slope"].abs())
    return rows.assign(low=size.where(signed, -size) - half, high=size + half)


def with_facts(slopes: DataFrame, run: Path) -> DataFrame:
    """The slopes with what other files of the run know.

    units: as how many units of equal size their photos count, rounded down.
    by_order: by how many points the order of the options moves the answers to a language model's task, NaN without.
    share_slope and the like: of two people, see ``estimators.shares_of_two``, NaN for other labels.

    Raises: TableError if the table balance is damaged.
    """
    keys = ["classifier", "attribute"]
    known = tables.read_rows(
        tables.BALANCE, run, [*keys, "units", "used", "effective_units"]
    ).query("units < used")
    worth = slopes[keys].merge(known, how="left", on=keys)["effective_units"].set_axis(slopes.index)
    label = [*keys, "label"]
    of_two = slopes.query("estimator == 'share-of-two'").set_index(label).add_prefix("share_")
    points = {
        name: facts.get("order_points")
        for name, facts in runfolder.read_manifest(run)["classifiers"].items()
    }
    return slopes.merge(of_two.reset_index(), how="left", on=label).assign(
        units=(worth.fillna(slopes["n"]) + 1e-9).astype(int),
        by_order=pd.to_numeric(slopes["classifier"].map(points), errors="coerce"),
    )


# -- what became of the photos ----------------------------------------------------------------------------------------

_FUNNELS = read_beside(__file__, "loading.toml")
STEPS: dict[str, str] = _FUNNELS["steps"]
PAIRED = STEPS | _FUNNELS["paired"]
Funnel = Mapping[str, int]  # step of STEPS to number of photos


def funnels(run: Path) -> dict[tuple[str, str], Funnel]:
    """Classifier, as shown, and attribute of a run folder, placebo sweeps aside, to how many photos took each step.

    A step that the run does not have (no gate, no answers) is left out.

    Raises: TableError if a table is damaged.
    """
    photos = tables.read_rows(tables.PHOTOS, run, ["photo", "status"])
    edits = tables.read_rows(
        tables.EDITS, run, ["photo", "attribute", "step"], pc.field("step") == 0
    )
    verdicts = runfolder.verdicts(run, ["photo", "attribute", "kept"])
    asked = tables.read_rows(
        tables.ASKED, run, ["photo", "attribute", "classifier", "step", "status"]
    )
    slopes = tables.read_rows(tables.SLOPES, run, ["classifier", "attribute", "n"])
    keys = ["classifier", "attribute"]
    edited = edits.groupby("attribute")["photo"].nunique()
    kept_sweeps = verdicts[verdicts["kept"]].groupby("attribute")["photo"].nunique()
    pairs = pd.concat([slopes[keys], asked[keys]]).drop_duplicates()
    grid = crossed.grid_of(runfolder.read_manifest(run)["values"])
    funnels: dict[tuple[str, str], Funnel] = {}
    for classifier, attribute in sorted(pairs.itertuples(index=False, name=None)):
        if placebo.is_placebo(attribute) or placebo.CROSS in attribute:
            continue
        sweep = grid.name if grid else attribute
        judged = slopes.query("classifier == @classifier and attribute == @attribute")["n"]
        rows = asked.query("classifier == @classifier and attribute == @sweep")
        answered = rows.query("status == 'answered'").groupby("photo")["step"].nunique()
        counts: dict[str, int | None] = {
            "found": len(photos) or None,
            "edited": edited.get(sweep),
            "kept": kept_sweeps.get(attribute),
            "asked": rows["photo"].nunique() or None,
            "answered": (answered == rows["step"].nunique()).sum() if len(rows) else None,
            "judged": judged.max() if len(judged) else None,
        }
        funnels[words.printable(classifier), attribute] = {
            step: int(number) for step, number in counts.items() if number is not None
        }
    return funnels


# -- who made a photo -------------------------------------------------------------------------------------------------


def read_credits(run: Path) -> dict[str, dict[str, str]]:
    """Photo to credit: title, creator, licence as texts that can be shown, creator_url, licence_url, page as addresses.

    Empty if the source is silent; no photo if they were not collected.

    Raises: TableError if the table is damaged.
    """
    texts = ("title", "creator", "licence")
    links = ("creator_url", "licence_url", "page")
    rows = tables.read_rows(tables.SOURCES, run, ["photo", *texts, *links]).to_dict("records")
    return {
        row["photo"]: {
            name: words.shorten(words.printable(row[name]), LONGEST_TEXT) for name in texts
        }
        | {name: words.link(row[name]) for name in links}
        for row in rows
    }
