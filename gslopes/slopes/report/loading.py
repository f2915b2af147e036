"""What a report is made of, read from a run folder: its options, its findings, its sweeps' values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow.compute as pc
from numpy.typing import NDArray

from gslopes.core import placebo, runfolder, tables
from gslopes.core.errors import ConfigError, UnknownName
from gslopes.slopes.report import tally

Embed = Literal["full", "thumbs", "none"]
MODES: tuple[Embed, ...] = ("full", "thumbs", "none")
PAPER = "paper"


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What a reader may choose.

    p, slope: thresholds of the paper's tables.  embed: which pictures the report has, see
    ``slopes.report.write_report``.
    labels: of the paper's Figures 2 and 3; none: chosen by the program.
    """

    p: float = 0.001
    slope: float = 0.03
    embed: Embed = "thumbs"
    labels: tuple[str, ...] = ()

    def check(self) -> None:
        """Raises: ConfigError or UnknownName if an option is out of its range."""
        if not (0 < self.p <= 1 and self.slope >= 0 and math.isfinite(self.slope)):
            raise ConfigError(
                f"The thresholds p < {self.p:g} and |slope| > {self.slope:g} are out of range.",
                "0 < p <= 1, slope >= 0.",
            )
        if self.embed not in MODES:
            raise UnknownName("way to embed pictures", self.embed, MODES)


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """One classifier along one attribute.

    key: names its data files.  suffix: of its figures' names.  values: (K,), or none if unknown.
    rows: of the slopes table, all estimators.  placebo: the rows to read of its placebo sweeps.
    statuses: how many pictures were answered, refused, failed.  why: of the latter two, the reasons.
    """

    key: str
    suffix: str
    classifier: str
    attribute: str
    values: NDArray[np.float64]
    rows: pd.DataFrame
    placebo: pd.DataFrame
    statuses: Mapping[str, int] = field(default_factory=dict)
    why: Mapping[str, str] = field(default_factory=dict)

    def of(self, estimator: str) -> pd.DataFrame:
        """The rows of one estimator."""
        return self.rows[self.rows["estimator"] == estimator]

    @property
    def read(self) -> pd.DataFrame:
        """The row of each label that is to be read, by the label's measure."""
        return tables.reading(self.rows)

    @property
    def shown(self) -> pd.DataFrame:
        """The paper's rows, else those of photo-rate, else one row a label."""
        for estimator in (PAPER, tables.READING):
            rows = self.of(estimator)
            if len(rows):
                return rows
        return self.rows.drop_duplicates("label")


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A run folder as a report sees it.

    slopes: the whole table.  values: attribute to (K,), placebo sweeps aside.
    """

    run: Path
    manifest: Mapping[str, Any]
    slopes: pd.DataFrame
    values: Mapping[str, NDArray[np.float64]]
    findings: Sequence[Finding]

    @property
    def gated(self) -> bool:
        """Whether sweeps that the gate dropped were kept from the classifiers."""
        gate = self.manifest.get("gate")
        return isinstance(gate, Mapping) and bool(gate.get("applied"))

    @property
    def real(self) -> pd.DataFrame:
        """The slopes, without those of placebo sweeps."""
        return self.slopes[~placebo.among(self.slopes["attribute"])]


def load(run: Path) -> Source:
    """Read a run folder.

    Raises: UsageError if it is none; TableError if it has no slopes table, or a damaged one.
    """
    manifest = runfolder.read_manifest(run)
    slopes = tables.read(tables.SLOPES, run / "slopes.parquet")
    real = slopes[~placebo.among(slopes["attribute"])]
    values = {name: sweep_values(run, manifest, name) for name in sorted(set(real["attribute"]))}
    statuses, why = tally.statuses(run), tally.why(run)
    reading = tables.reading(slopes)
    groups = list(real.groupby(["classifier", "attribute"], sort=True))
    found = []
    for place, (pair, rows) in enumerate(groups):
        classifier, attribute = map(str, pair)
        suffix = "" if len(groups) == 1 else f"-{runfolder.slug(attribute)[:-9]}-{runfolder.slug(classifier)}"
        fake = (reading["classifier"] == classifier) & reading["attribute"].isin(placebo.names(attribute))
        found.append(
            Finding(
                f"f{place}",
                suffix,
                classifier,
                attribute,
                values[attribute],
                rows,
                reading[fake],
                statuses.get((classifier, attribute), {}),
                why.get((classifier, attribute), {}),
            )
        )
    return Source(run, manifest, slopes, values, found)


def sweep_values(run: Path, manifest: Mapping[str, Any], attribute: str) -> NDArray[np.float64]:
    """The K values of an attribute, (K,) float64: from run.json, else from the tables; none if unknown."""
    listed = manifest.get("values")
    values = listed.get(attribute) if isinstance(listed, Mapping) else None
    if isinstance(values, list) and len(values) >= 3 and all(isinstance(value, (int, float)) for value in values):
        return np.array(values, dtype=np.float64)
    for table in (tables.EDITS, tables.SCORES):
        rows = tally.read(table, run, ["step", "value"], pc.field("attribute") == attribute)
        pairs = rows.drop_duplicates("step").sort_values("step")
        if len(pairs) >= 3 and pairs["step"].tolist() == list(range(len(pairs))):
            return pairs["value"].to_numpy(np.float64)
    return np.empty(0)
