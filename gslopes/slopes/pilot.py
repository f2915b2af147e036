"""What a pilot run tells about a label, for planning the audit: how often it is there, and how its answers vary."""

from pathlib import Path

import numpy as np
import pandas as pd

from gslopes.core import placebo, tables
from gslopes.core.errors import UsageError
from gslopes.core.runfolder import show
from gslopes.slopes.measures.power import Measured, Presence, presence_of


def read_pilot(
    run: Path, label: str, classifier: str = "", attribute: str = ""
) -> tuple[Presence | Measured, int, str]:
    """The label as the run's fit has it, how many labels it judged, and the unit of the slopes.

    classifier, attribute: needed if the run has several.

    Raises: UsageError if the run is not fitted, has no placebo sweeps, or did not judge this label.
    """
    if not (run / "placebos.parquet").is_file():
        raise UsageError(
            f"{show(run)} is not fitted.", f"Fit it: gslopes audit {show(run)} --only fit."
        )
    slopes = tables.read(tables.SLOPES, run / "slopes.parquet")
    differences = tables.read(tables.PLACEBOS, run / "placebos.parquet")
    rows = tables.reading(slopes)
    for column, name in (("classifier", classifier), ("attribute", attribute)):
        names = sorted(map(str, rows.loc[~placebo.among(rows["attribute"]), column].unique()))
        if not name and len(names) > 1:
            raise UsageError(
                f"{show(run)} has several: {', '.join(names)}.", f"Name one with --{column}."
            )
        if name and name not in names:
            raise UsageError(f"{show(run)} has no {column} {name}.", f"It has {', '.join(names)}.")
        chosen = name or names[0]
        rows = rows[rows[column] == chosen]
    judged = rows[rows["decision"] != "unjudged"]
    if label not in set(judged["label"]):
        some = ", ".join(sorted(map(str, judged["label"]))[:8]) or "none"
        raise UsageError(f"{show(run)} has not judged the label {label}.", f"It has judged {some}.")
    row = judged[judged["label"] == label].iloc[0]
    fakes, paired = _placebos(slopes, differences, row)
    edit = _variance(row)
    if row["measure"] == "presence":
        fake = float(np.mean(list(fakes.values())))
        rate = float(np.clip(row["y_centre"], 0.5 / row["n"], 1 - 0.5 / row["n"]))
        return (
            presence_of(rate, abs(row["slope"]), float(row["t"]), edit, fake),
            len(judged),
            row["unit"],
        )
    sd = float(np.sqrt(edit))
    sds = tuple(float(np.sqrt(fakes[kind])) for kind in placebo.KINDS)
    both = [(edit + fakes[kind] - paired[kind]) / 2 for kind in placebo.KINDS]  # covariances
    shared = tuple(
        float(np.clip(c / (sd * fake_sd), -1, 1)) if sd * fake_sd else 0.0
        for c, fake_sd in zip(both, sds, strict=True)
    )
    return Measured(sd, sds, shared), len(judged), row["unit"]


def _variance(row: pd.Series) -> float:
    """Of the photos' slopes."""
    if pd.isna(row["se"]):
        return 0.0
    return float(row["se"] ** 2 * row["n"])


def _placebos(
    slopes: pd.DataFrame, differences: pd.DataFrame, row: pd.Series
) -> tuple[dict[str, float], dict[str, float]]:
    """Kind to the variances of the photos' slopes along the placebo, and of their differences from the edit's.

    Raises: UsageError if a kind is missing.
    """
    keys = ["classifier", "label", "estimator"]
    fakes = {}
    paired = {}
    for kind in placebo.KINDS:
        name = placebo.name(row["attribute"], kind)
        same = (slopes[keys] == row[keys]).all(axis=1) & (slopes["attribute"] == name)
        pair = (differences[[*keys, "attribute"]] == row[[*keys, "attribute"]]).all(axis=1)
        pair &= differences["placebo"] == kind
        if not pair.any():
            raise UsageError("The pilot run has no placebo sweeps.", "Run it without --no-placebo.")
        fakes[kind] = _variance(slopes[same].iloc[0]) if same.any() else 0.0
        paired[kind] = _variance(differences[pair].iloc[0])
    return fakes, paired
