"""The tables of Joo & Kärkkäinen (2020) from a run, each as CSV, Markdown and LaTeX (booktabs).

Tables 1 and 2: labels pulled to the feminine and to the masculine end; Table 3: composition of the photos; Table 4:
labels pulled along perceived race, both directions.  Rows: classifier, then the steepest label first.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from gslopes.core import runfolder
from gslopes.core.collection import COMPOSITION
from gslopes.core.files import csv_bytes
from gslopes.report import tally, words
from gslopes.report.composition import table3
from gslopes.report.tables import pulled

FOLDER = "tables"
_COLUMNS = ("API", "Label", "Slope", "p", "q", "n", "Share at centre")
_SPECIAL = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", "−": "$-$",
    **{char: f"\\{char}" for char in "&%$#_{}"},
}  # fmt: skip


def write(report: Path, run: Path, slopes: pd.DataFrame, *, p: float, slope: float) -> list[str]:
    """Write the tables that the run has the data for; a table of an earlier report that it has not is removed.

    slopes: rows of the estimator ``paper`` of real sweeps.  p, slope: thresholds.

    Returns their file names relative to the report, without ending: ``tables/table1`` and so on.

    Raises: StorageError.
    """
    folder = report / FOLDER
    folder.mkdir(exist_ok=True)
    frames = dict(_frames(run, slopes, p, slope))
    for old in folder.iterdir():
        if old.stem not in frames:
            old.unlink()
    for name, (frame, caption) in frames.items():
        runfolder.write_bytes(folder / f"{name}.csv", csv_bytes(frame, digits=6))
        shown = as_text(frame)
        runfolder.write_bytes(folder / f"{name}.md", to_markdown(shown, caption).encode("utf-8", "replace"))
        runfolder.write_bytes(folder / f"{name}.tex", to_latex(shown, caption, name).encode("utf-8", "replace"))
    return [f"{FOLDER}/{name}" for name in frames]


def _frames(run: Path, slopes: pd.DataFrame, p: float, slope: float) -> Mapping[str, tuple[pd.DataFrame, str]]:
    found: dict[str, tuple[pd.DataFrame, str]] = {}
    thresholds = f"p < {p:g}, |slope| > {slope:g}; paper's estimator"
    gender, race = (slopes[slopes["attribute"] == name] for name in ("gender", "race"))
    if len(gender):
        for name, rows, end in zip(
            ("table1", "table2"), pulled(gender, p=p, slope=slope), words.ends("gender"), strict=True
        ):
            found[name] = _layout(rows), f"Labels returned more often the more {end} the face looks ({thresholds})."
    composition = tally.read(COMPOSITION, run, COMPOSITION.columns)
    if len(composition):
        shown = table3(composition, {}).drop(columns="women")
        found["table3"] = shown, "Perceived gender of the photos by occupation, with Wilson's 95 % intervals."
    if len(race):
        both = pd.concat(pulled(race, p=p, slope=slope))
        found["table4"] = _layout(both), f"Labels pulled along perceived race, Black to White ({thresholds})."
    for attribute, rows in slopes.groupby("attribute", sort=True):
        if attribute not in ("gender", "race"):
            both = pd.concat(pulled(rows, p=p, slope=slope))
            caption = f"Labels pulled along {words.perceived(str(attribute))} ({thresholds})."
            found[f"table-{runfolder.slug(str(attribute))}"] = _layout(both), caption
    return found


def _layout(rows: pd.DataFrame) -> pd.DataFrame:
    names = ("classifier", "label", "slope", "p", "q", "n", "y_centre")
    frame = rows[list(names)].set_axis(list(_COLUMNS), axis=1)
    for column in ("API", "Label"):
        frame[column] = frame[column].map(words.printable)
    return frame.reset_index(drop=True)


def as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Every cell as it is printed: slopes with their sign, shares in per cent, a dash where there is none."""
    shown = frame.astype(object)
    for column in frame:
        shown[column] = [_cell(str(column), value) for value in frame[column]]
    return shown


def _cell(column: str, value: object) -> str:
    if isinstance(value, float):
        if pd.isna(value):
            return "–"
        if column == "Slope":
            return words.signed(value).replace("-", "−")
        return words.probability(value).replace("-", "−") if column in ("p", "q") else f"{value:.1%}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def to_markdown(shown: pd.DataFrame, caption: str) -> str:
    """A table of texts as Markdown under its caption, cells escaped, numbers to the right."""
    right = [column not in ("API", "Label", "occupation") for column in shown]
    lines = [
        caption,
        "",
        _md([str(column) for column in shown]),
        _md(["---:" if number else "---" for number in right]),
    ]
    return "\n".join([*lines, *(_md([_escaped(cell) for cell in row]) for row in shown.to_numpy().tolist()), ""])


def _md(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(cell: str) -> str:
    for char in "\\`*_{}[]<>|&~$":
        cell = cell.replace(char, f"\\{char}")
    return cell


def to_latex(shown: pd.DataFrame, caption: str, label: str) -> str:
    r"""A table of texts as LaTeX with booktabs, cells escaped; the classifier stands at its first row only.

    Where rows come from one classifier after the other, ``\midrule`` parts them.
    """
    kinds = "".join("l" if column in ("API", "Label", "occupation") else "r" for column in shown)
    text = io.StringIO()
    text.write("% needs \\usepackage{booktabs}\n\\begin{table}\n\\centering\n")
    text.write(f"\\caption{{{latex(caption)}}}\n\\label{{tab:{label}}}\n\\begin{{tabular}}{{{kinds}}}\n\\toprule\n")
    text.write(" & ".join(latex(str(column)) for column in shown) + " \\\\\n\\midrule\n")
    before = ""
    for row in shown.to_numpy().tolist():
        first = row[0]
        if "API" in shown and first == before:
            row = ["", *row[1:]]
        elif before and "API" in shown:
            text.write("\\midrule\n")
        before = first
        text.write(" & ".join(latex(cell) for cell in row) + " \\\\\n")
    text.write("\\bottomrule\n\\end{tabular}\n\\end{table}\n")
    return text.getvalue()


def latex(text: str) -> str:
    r"""A text of a stranger as LaTeX shows it.

    >>> latex("50 % of R&D_x")
    '50 \\% of R\\&D\\_x'
    """
    return "".join(_SPECIAL.get(char, char) for char in text)
