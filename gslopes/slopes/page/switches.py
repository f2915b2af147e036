"""The value along a sweep at which a captioner changes from one gender's words for people to the other's.

R2 of Wang et al. 2022, arXiv 2206.07173; the measure is ours. Units are photos that were answered at all values.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from gslopes.core import files, placebo, runfolder
from gslopes.core.records import AnyArray, Array, Flags
from gslopes.core.tables import ends
from gslopes.frame.page import Content
from gslopes.report import words
from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.page import answers as matrix
from gslopes.slopes.page.loading import Finding
from gslopes.stats.intervals import mean_t, wilson

KINDS = ("switch", "woman", "man", "none", "mixed")
FAR = 1e9  # beyond any value


def kinds(woman: Flags, man: Flags, values: Array) -> tuple[AnyArray, Array]:
    """(n,) what the captions of each photo do, of ``KINDS``, and the value half-way if they switch, else NaN.

    They switch if all captions with *woman* lie on one side of all with *man*.

    woman, man: (n, K) captions with such a word.  values: (K,), increasing.

    >>> kinds(np.array([[True, False, False]]), np.array([[False, False, True]]), np.array([-1.0, 0.0, 1.0]))
    (array(['switch'], dtype='<U6'), array([0.]))
    """
    first = [np.where(has, values, FAR).min(1) for has in (woman, man)]
    last = [np.where(has, values, -FAR).max(1) for has in (woman, man)]
    both = woman.any(1) & man.any(1)
    up = both & (last[0] < first[1])
    down = both & (last[1] < first[0])
    kind = np.select(
        [up | down, both, woman.any(1), man.any(1)], ["switch", "mixed", "woman", "man"], "none"
    )
    return kind, np.select([up, down], [(last[0] + first[1]) / 2, (last[1] + first[0]) / 2], np.nan)


def write(report: Path, run: Path, findings: Sequence[Finding]) -> list[Content]:
    """Write switches.csv, a row a sweep of each captioner and its placebos; the same for the page, one a captioner."""
    (report / "switches.csv").unlink(missing_ok=True)
    sweeps = []
    for finding in findings:
        if finding.rows["label"].str.startswith("mention:").any() and len(finding.values):
            names = (finding.attribute, *placebo.names(finding.attribute))
            answers = [matrix.read(run, finding.classifier, name, finding.values) for name in names]
            sweeps.append([_row(sweep) for sweep in answers if len(sweep.photos)])
    if rows := [row for rows_of_one in sweeps for row in rows_of_one]:
        runfolder.write_bytes(report / "switches.csv", files.csv_bytes(pd.DataFrame(rows)))
    return [_panel(rows_of_one) for rows_of_one in sweeps if rows_of_one]


def _row(answers: Answers) -> Content:
    """Of one sweep: photos by what their captions do, the share that switch, and the mean value of the switch."""
    n = len(answers.photos)
    has = np.zeros((2, len(answers.photos), len(answers.values)), dtype=bool)
    for index, word in enumerate(("woman", "man")):
        rows = answers.labels[answers.label] == f"mention:{word}"
        has[index, answers.photo[rows]] = answers.present[rows]
    switching, value = kinds(has[0], has[1], answers.values)
    counts = {kind: int((switching == kind).sum()) for kind in KINDS}
    mean = mean_t(value, (answers.values.min(), answers.values.max()))
    row = {"classifier": answers.classifier, "attribute": answers.attribute, "photos": n, **counts}
    row |= ends(wilson(counts["switch"] / n, n), "share")
    return row | {"value": mean.value, **ends((mean.low, mean.high), "value")}


def _panel(rows: Sequence[Content]) -> Content:
    """The sweeps of one captioner, each with its name."""
    what = words.perceived(rows[0]["attribute"])
    named = [
        row | {"sweep": placebo.TEXTS.get(placebo.split(row["attribute"])[1], what)} for row in rows
    ]
    return {"name": words.printable(rows[0]["classifier"]), "attribute": what, "rows": named}
