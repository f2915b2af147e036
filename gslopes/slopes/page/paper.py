"""The tables of Joo & Kärkkäinen (2020) from a run, laid out as the paper prints them: CSV, Markdown, LaTeX (booktabs).

Tables 1 and 2: API, label and slope of the labels pulled to the feminine and to the masculine end, slopes rising in
each API; the paper's four come as it prints them, then others by name.  Table 3: the ten occupations most female next
to the ten most male.  Table 4: API, label and slope of those pulled to Black next to those pulled to White, the
steepest first.  Ties are by name.  Plain concepts ("face", "Red color") are left out as in the paper.  The paper's
estimator has no interval to judge by: labels that are not findings are marked in Markdown and LaTeX; what is judged,
with intervals, is in ``findings.csv`` and ``findings.tex``.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from pandas import DataFrame

from gslopes.core import files, read_beside, runfolder
from gslopes.core.tables import COMPOSITION, read_rows
from gslopes.report import numbers, words
from gslopes.report.composition import TITLE, by_occupation, table3
from gslopes.report.layouts import RACES, TEXTS, to_latex, to_markdown
from gslopes.stats.rounding import exceeds, ranked

FOLDER = "tables"
MARK = "†"
COLUMNS = ["API", "Label", "Slope"]
PLAIN = "plain-concepts.txt"
_PRINTED = read_beside(__file__, "paper.toml")


def write(
    report: Path,
    run: Path,
    slopes: DataFrame,
    findings: DataFrame,
    *,
    p: float,
    slope: float,
) -> list[str]:
    """Write the tables that the run has the data for; a table of an earlier report that it has not is removed.

    slopes: rows of the estimator ``paper`` of real sweeps.  findings: as ``decisions.findings_table`` gives it.
    p, slope: thresholds.

    Returns their file names relative to the report, without ending: ``tables/table1`` and so on.

    Raises: StorageError.
    """
    folder = report / FOLDER
    plain = plain_concepts(run)
    pale = slopes["label"].map(lambda label: is_plain(label, plain)).astype(bool)
    frames = _frames(run, slopes[~pale], p, slope)
    for old in folder.glob("*"):
        if old.stem not in frames:
            old.unlink()
    sure = findings.query("decision == 'finding'")
    for name, (frame, caption, attribute) in frames.items():
        runfolder.write_bytes(folder / f"{name}.csv", files.csv_bytes(frame, digits=6))
        found = sure[sure["attribute"] == attribute]
        labels = found["label"].map(words.label)
        pairs = {*zip(found["classifier"].map(words.printable), labels, strict=True)}
        text = as_text(frame)
        printed = _marked(text, pairs)
        if not printed.equals(text):
            caption += f" {MARK}: no finding; findings.tex has what is judged, with intervals."
        forms = {"md": to_markdown(printed, caption), "tex": to_latex(printed, caption, name)}
        for form, content in forms.items():
            runfolder.write_bytes(folder / f"{name}.{form}", content.encode("utf-8", "replace"))
    return [f"{FOLDER}/{name}" for name in frames]


def _marked(frame: DataFrame, pairs: set[tuple[str, str]]) -> DataFrame:
    """The table with a mark at labels that are not among the pairs of API and label."""
    marked = frame.copy()
    for api, label, _ in _sides_of(frame):
        named = zip(frame[api], frame[label], strict=True)
        sure = [pair in pairs or not pair[1] for pair in named]
        known = pd.Series(sure, frame.index, bool)
        marked[label] = frame[label].where(known, frame[label].map(f"{{}} {MARK}".format))
    return marked


def _frames(
    run: Path, slopes: DataFrame, p: float, slope: float
) -> dict[str, tuple[DataFrame, str, str]]:
    """Name to table, caption and attribute."""
    frames = {}
    thresholds = (
        f"p < {p:g}, |slope| > {slope:g}; paper's estimator, without plain concepts; ties by name"
    )
    gender, race = (slopes.query("attribute == @name") for name in ("gender", "race"))
    if len(gender):
        ends = zip(pulled(gender, p=p, slope=slope), words.ends("gender"), strict=True)
        for number, (rows, end) in enumerate(ends, 1):
            caption = f"Labels returned more often the more {end} the face looks ({thresholds})."
            frames[f"table{number}"] = _layout(rows), caption, "gender"
    composition = read_rows(COMPOSITION, run)
    if len(composition):
        frames["table3"] = table3(by_occupation(composition, {})), TITLE, ""
    if len(race):
        black, white = pulled(race, p=p, slope=slope)
        frames["table4"] = (
            _races(black, white),
            f"Labels pulled along perceived race ({thresholds}).",
            "race",
        )
    for attribute, rows in slopes.groupby("attribute", sort=True):
        if attribute not in ("gender", "race"):
            both = pd.concat(pulled(rows, p=p, slope=slope))
            caption = f"Labels pulled along {words.perceived(str(attribute))} ({thresholds})."
            frames[f"table-{runfolder.slug(str(attribute))}"] = (
                _layout(both),
                caption,
                str(attribute),
            )
    return frames


def _layout(rows: DataFrame) -> DataFrame:
    place = rows["classifier"].map(printed_place)
    return _printed(ranked(rows, place, "classifier", "slope", "label")).set_axis(COLUMNS, axis=1)


def _races(black: DataFrame, white: DataFrame) -> DataFrame:
    """A row for each API and label with its slope, by |slope|; Black next to White."""
    sides = []
    for rows in (black, white):
        place = rows["classifier"].map(printed_place)
        sides.append(_printed(ranked(rows, -rows["slope"].abs(), "label", place, "classifier")))
    return pd.concat(sides, axis=1).set_axis(list(RACES), axis=1)


def _printed(rows: DataFrame) -> DataFrame:
    """API, label and slope, fit to be shown."""
    texts = {name: rows[name].map(words.printable) for name in ("classifier", "label")}
    return rows.assign(**texts)[["classifier", "label", "slope"]].reset_index(drop=True)


def printed_place(classifier: str) -> int:
    """The place in which the paper prints a service: Amazon 0, Google 1, IBM 2, Clarifai 3, every other 4.

    classifier: its name in the run; only its first word counts, in any case.

    >>> printed_place("rekognition:min_confidence=55"), printed_place("IBM Watson"), printed_place("azure")
    (0, 2, 4)
    """
    return _PRINTED.get(re.split(r"[\W_]", classifier.casefold(), maxsplit=1)[0], 4)


def plain_concepts(run: Path) -> frozenset[str]:
    """The run's list if it has one, else ours; lower case."""
    in_run = run / PLAIN
    file = in_run if in_run.is_file() else Path(__file__).parents[1] / "data" / PLAIN
    lines = [line.strip().casefold() for line in files.read_text(file).splitlines()]
    return frozenset(line for line in lines if line and not line.startswith("#"))


def is_plain(label: str, plain: frozenset[str]) -> bool:
    """Whether a label is a plain concept.

    plain: lower case; one that begins with * means all labels that end as it does.

    >>> is_plain("Red color", frozenset({"* color"}))
    True
    """
    label = label.casefold()
    return label in plain or any(
        concept[0] == "*" and label.endswith(concept[1:]) for concept in plain
    )


def _sides_of(frame: DataFrame) -> list[list[str]]:
    """The columns of each list of labels in a table; none in Table 3, which is of occupations."""
    columns = [str(column) for column in frame]
    if columns == list(RACES):
        return [columns[:3], columns[3:]]
    if "Label" in columns:
        return [columns]
    return []


def as_text(frame: DataFrame) -> DataFrame:
    """Every cell as printed: slopes with their sign, shares as in Table 3, a dash for an empty one."""
    texts = frame.astype(object)
    for column in map(str, frame):
        if column.strip() in TEXTS:
            texts[column] = [str(text) if pd.notna(text) else "" for text in frame[column]]
        else:
            texts[column] = frame[column].map(
                numbers.signed if column.strip() == "Slope" else numbers.fraction
            )
    return texts


# -- Tables 1 and 2 ---------------------------------------------------------------------------------------------------

NO_LABEL = (
    "No classifier returned any label about a sweep that counts, so no slope is fitted. If no sweep was kept, look at "
    "the pictures; if scores are below a threshold, give threshold=0: all labels then return, judged by their scores."
)


def no_label(unanswered: Sequence[str]) -> str:
    """Why all slopes are missing.  unanswered: see ``loading.unanswered``."""
    if unanswered:
        return " ".join(["No classifier returned any label.", *unanswered])
    return NO_LABEL


def pulled(slopes: DataFrame, *, p: float, slope: float) -> tuple[DataFrame, DataFrame]:
    """Tables 1 and 2 of the paper: the labels pulled to the negative and to the positive end of the attribute.

    slopes: a data frame with the columns of core.tables.SLOPES.  p, slope: thresholds.

    Returns two data frames with the same columns, in each classifier and attribute the steepest label first.

    Source: Joo & Kärkkäinen 2020, section 4.3 and Tables 1 and 2.
    """
    rows = slopes[(slopes["p"] < p) & exceeds(slopes["slope"].abs(), slope)]
    rows = ranked(rows, "classifier", "attribute", -rows["slope"].abs(), "label")
    negative = rows.query("slope < 0")
    positive = rows.query("slope > 0")
    return negative.reset_index(drop=True), positive.reset_index(drop=True)
