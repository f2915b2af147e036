"""``gslopes captions RUN`` of an audit with a captioner: R2 on the counterfactual photos; nothing is asked."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from gslopes.captions import tables as schemas
from gslopes.captions.measures import sweeps
from gslopes.captions.options import AuditOptions
from gslopes.core import runfolder, tables
from gslopes.core.errors import UsageError
from gslopes.core.runfolder import show

TABLE = "captions-measures.parquet"


def is_audit(run: Path) -> bool:
    """Whether a folder is the run of an audit, rather than of captions."""
    return (run / runfolder.MANIFEST).exists() and (run / "slopes.parquet").exists()


def measure_sweep(run: Path, options: AuditOptions | None = None) -> pd.DataFrame:
    """Rows of the measures table, written to RUN/captions-measures.parquet; the note begins with the classifier.

    Raises: UsageError if no classifier of the run is a captioner; StorageError.
    """
    options = options or AuditOptions()
    scores, asked = (tables.read(table, run / f"{table.name}.parquet") for table in (tables.SCORES, tables.ASKED))
    slopes = tables.read(tables.SLOPES, run / "slopes.parquet")
    placebo_file = run / "placebos.parquet"
    placebos = tables.read(tables.PLACEBOS, placebo_file) if placebo_file.exists() else tables.PLACEBOS.empty()
    names = sorted({str(name) for name in scores["classifier"][scores["label"].str.startswith("mention:")]})
    if not names:
        raise UsageError(
            f"No classifier of {show(run)} is a captioner.", "Run gslopes audit with --classifier captioner-chat:MODEL."
        )
    attributes = [str(name) for name in scores["attribute"].unique() if "-" not in str(name)]
    rows = []
    for name in names:
        for attribute in attributes:
            chosen = scores[(scores["classifier"] == name) & (scores["attribute"] == attribute)]
            answered = asked[(asked["classifier"] == name) & (asked["attribute"] == attribute)]
            labels: dict[tuple[str, int], set[str]] = {
                (str(photo), int(step)): set()
                for photo, step in answered.loc[answered["status"] == "answered", ["photo", "step"]].to_numpy()
            }
            for photo, step, label in chosen[["photo", "step", "label"]].to_numpy():
                labels[str(photo), int(step)].add(str(label))
            values = {int(step): float(value) for step, value in chosen[["step", "value"]].drop_duplicates().to_numpy()}
            of = slopes["classifier"] == name
            beside = placebos[(placebos["classifier"] == name) & (placebos["attribute"] == attribute)]
            found = sweeps.slope_rows(slopes[of], beside, attribute)
            found += sweeps.switch_rows(sweeps.states(labels, values), attribute, options)
            found += sweeps.new_concept_rows(labels, values, attribute)
            rows += [row | {"note": f"{name}; {row['note']}".rstrip("; ")} for row in found]
    frame = pd.DataFrame(rows, columns=schemas.MEASURES.columns)
    runfolder.write_table(schemas.MEASURES, frame, run / TABLE)
    return tables.read(schemas.MEASURES, run / TABLE)
