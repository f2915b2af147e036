"""Slopes of labels that are titles of jobs, next to the share of women among the people who have the job.

Joo & Kärkkäinen 2020, section 4.3, say that classifiers behave in a way close to the gender gap in real occupations,
and show no number; these are two. Shares are the Bureau's, titles those of ``gslopes collect``'s list, spelt alike.

    rank correlation    of slopes and shares; interval over titles, see ``stats.agreement.rank_correlation``
    line                change of the slope from a job without women to one without men, by least squares over titles;
                        interval: t over photos, corrected for skewness; null hypothesis: 0

Only both together show an order. All slopes come from the same photos: what moves all titles by chance, such as light,
gives them an order which titles alone would take for the classifier's.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gslopes.collect.source import as_title, women_by_title
from gslopes.core import placebo, runfolder
from gslopes.core.arrays import centre_of
from gslopes.core.files import csv_bytes
from gslopes.report import numbers, words
from gslopes.slopes.fit.answers import Answers
from gslopes.slopes.fit.measures import measured
from gslopes.slopes.fit.measures import numbers as outcome_numbers
from gslopes.slopes.report import answers as matrix
from gslopes.slopes.report import decisions, page_data
from gslopes.slopes.report.loading import PAPER, Finding, Source
from gslopes.stats.intervals import Estimate, linearised
from gslopes.stats.ols import line_weights

LEAST = 10  # titles: with fewer the intervals of the rank correlations do not hold
ATTRIBUTE = "gender"
UNITS = {
    "presence": "change of the share of photos with the label, relative to value 0, per unit (the paper's estimator)",
    "log-odds": "log-odds of the score per unit",
    "value": "of the label's number per unit",
}
COLUMNS = ("classifier", "occupation", "label", "women", "slope", "measure", "decision")

# of the scatter, in the units of its drawing
WIDE, TALL = 340, 230
LETTER, LINE = 6, 12  # of a name next to its dot


def panels(report: Path, source: Source) -> list[dict[str, Any]]:
    """A panel of occupations.html.j2 for each classifier and measure with enough titles; writes them as tables, too.

    ``occupations.csv`` has a row a title, ``occupation_ranks.csv`` one a panel.

    Raises: StorageError.
    """
    shown = []
    for finding in source.findings:
        if finding.attribute == ATTRIBUTE and not placebo.of_a_set(source.manifest):
            titles = titles_of(finding)
            parts = [part for _, part in titles.groupby("measure", sort=True) if len(part) >= LEAST]
            shown += [(finding, part) for part in parts]
    for name in ("occupations.csv", "occupation_ranks.csv"):
        (report / name).unlink(missing_ok=True)
    if not shown:
        return []
    from gslopes.stats.agreement import rank_correlation  # SciPy's ranks take half a second to import

    ranks = []
    for finding, part in shown:
        head = {"classifier": finding.classifier, "measure": part["measure"].iloc[0]}
        answers = matrix.read(source.run, finding.classifier, finding.attribute, finding.values)
        steep = line(answers, part, page_data.clusters(source.run, finding.classifier, finding.attribute))
        ends = {"line": steep.value, "line_low": steep.low, "line_high": steep.high, "line_p": steep.p}
        ranks.append({**head, **rank_correlation(part["women"], part["slope"])._asdict(), **ends})
    runfolder.write_bytes(report / "occupations.csv", csv_bytes(pd.concat([part for _, part in shown]), digits=6))
    runfolder.write_bytes(report / "occupation_ranks.csv", csv_bytes(pd.DataFrame(ranks), digits=6))
    return [_panel(part, rank) for (_, part), rank in zip(shown, ranks, strict=True)]


def line(answers: Answers, part: pd.DataFrame, clusters: Sequence[int] = ()) -> Estimate:
    """The change of the slope from a job without women to one without men, with its interval over photos.

    answers: of the finding.  part: titles of one measure, as of ``titles_of``.
    clusters: photos and the units that they make, where they are fewer: photos of a unit count as alike.
    """
    measure = str(part["measure"].iloc[0])
    by_number = {} if measure == "presence" else dict.fromkeys(part["label"].astype(str), measure)
    answers = measured(answers, by_number)
    n = len(answers.photos)
    if not n:
        return Estimate(*[math.nan] * 5)
    shares = part["women"].to_numpy(np.float64)
    far = shares - shares.mean()
    of_title = dict(zip(part["label"], far / float(far @ far), strict=True))
    weights = np.array([of_title.get(label, 0.0) for label in answers.labels])
    rows = np.flatnonzero(weights[answers.label])
    label, photo = answers.label[rows], answers.photo[rows]
    counted = outcome_numbers(answers, rows)[0] if by_number else answers.present[rows]
    own = counted.astype(np.float64) @ line_weights(answers.values)
    slopes = np.bincount(label, own, len(weights)) / n
    if by_number:
        value = float(weights @ slopes)
        moves = (np.bincount(photo, weights[label] * own, n) - value) / n
    else:  # relative to the share at the centre, which varies with the photos as well
        centre = answers.present[rows, centre_of(answers.values)]
        level = np.maximum(np.bincount(label, centre, len(weights)) / n, 1 / n)
        slopes = slopes / level
        value = float(weights @ slopes)
        moves = np.bincount(photo, (weights / level)[label] * (own - slopes[label] * centre), n) / n
    alike = math.sqrt(clusters[0] / clusters[1]) if clusters else 1.0
    return linearised(value, moves * alike)


def titles_of(finding: Finding) -> pd.DataFrame:
    """A row for each label of a finding that is the title of a job and is judged, with ``COLUMNS``; sorted by share.

    slope: of labels that are judged by their presence the paper's, which does not depend on how frequent a label is.
    Of labels that are spelt alike but for case the most frequent one stands for the job.
    """
    women = women_by_title()
    rows = finding.read.assign(occupation=finding.read["label"].map(lambda label: as_title(str(label))))
    rows = rows[rows["occupation"].isin(women) & (rows["decision"] != decisions.UNJUDGED)]
    rows = rows.sort_values(["y_centre", "label"], ascending=[False, True]).drop_duplicates("occupation")
    rows = rows.assign(women=rows["occupation"].map(women).astype(float), measure=rows["measure"].fillna("presence"))
    published = finding.of(PAPER).drop_duplicates("label").set_index("label")["slope"]
    by_presence = rows["measure"] == "presence"
    rows["slope"] = rows["slope"].where(~by_presence, rows["label"].map(published)).astype(float)
    return rows.dropna(subset=["slope"]).sort_values(["women", "occupation"])[list(COLUMNS)]


def _panel(part: pd.DataFrame, rank: dict[str, Any]) -> dict[str, Any]:
    """A sentence, the scatter and the rows of the table."""
    rho = numbers.with_interval(rank["rho"], rank["rho_low"], rank["rho_high"], numbers.ratio)
    tau = numbers.with_interval(rank["tau"], rank["tau_low"], rank["tau_high"], numbers.ratio)
    steep = numbers.with_interval(rank["line"], rank["line_low"], rank["line_high"], numbers.signed)
    of_titles = f"p {numbers.probability(rank['p'])}; Kendall's tau {tau}"
    of_photos = f"slopes change by {steep}, p {numbers.probability(rank['line_p'])}"
    rows = part.to_dict("records")
    return {
        "classifier": words.printable(rank["classifier"]),
        "sentence": sentence(rank, rho),
        "more": f"Over titles: {of_titles}. Over photos: from a job without women to one without men {of_photos}",
        "unit": UNITS[rank["measure"]],
        "scatter": scatter(part),
        "rows": [
            (
                words.label(row["label"]),
                numbers.share(row["women"]),
                numbers.signed(row["slope"]),
                decisions.SHOWN.get(row["decision"], ""),
            )
            for row in rows
        ],
    }


def sentence(rank: dict[str, Any], rho: str) -> str:
    """What the order of the titles shows.  rank: a row of ``occupation_ranks.csv``.  rho: as text."""
    of = f"Spearman's rank correlation {rho}, {words.many(rank['n'], 'title')}"
    if rank["rho_high"] < 0 and rank["line_high"] < 0:
        return f"The more women have a job, the further its title moves towards feminine faces: {of}."
    if rank["rho_low"] > 0 and rank["line_low"] > 0:
        return f"The more women have a job, the further its title moves towards masculine faces: {of}."
    if rank["rho_low"] > 0 or rank["rho_high"] < 0:
        return f"The titles are in order, but chance in these photos may have moved all of them: {of}."
    return f"It is not shown that the slopes follow the share of women in the job: {of}."


def scatter(part: pd.DataFrame) -> dict[str, Any]:
    """Where the dots of a scatter lie, which of them have room for their name, and its ticks.

    dots: x, y, name, side of the axis, whether the label moves.  names: x, y, anchor, text.
    """
    far = _round_up(float(part["slope"].abs().max()) or 1.0)
    dots = [
        {
            "x": round(WIDE * row["women"], 1),
            "y": round(TALL / 2 * (1 - row["slope"] / far), 1),
            "name": words.label(row["label"]),
            "colour": "neg" if row["slope"] < 0 else "pos",
            "moves": row["decision"] in (decisions.FINDING, decisions.OPEN),
        }
        for row in part.to_dict("records")
    ]
    ticks = [numbers.value(end, sign=True) for end in (far, far / 2, 0.0, -far / 2, -far)]
    return {"wide": WIDE, "tall": TALL, "dots": dots, "names": _names(dots), "ticks": ticks}


def _round_up(number: float) -> float:
    """The least multiple of a fifth of its power of ten that is no smaller, such as 3.2 for 3.1."""
    step = 10 ** math.floor(math.log10(number)) / 5
    return step * math.ceil(number / step - 1e-9)


def _names(dots: list[dict[str, Any]]) -> list[tuple[float, float, str, str]]:
    """Names next to their dots, those furthest from the axis first; one that would cover anything is left out."""
    taken = [(dot["x"] - 4, dot["y"] - 4, dot["x"] + 4, dot["y"] + 4) for dot in dots]
    named = []
    for dot in sorted(dots, key=lambda dot: -abs(dot["y"] - TALL / 2)):
        long = LETTER * len(dot["name"])
        for anchor, left in (("start", dot["x"] + 6), ("end", dot["x"] - 6 - long)):
            box = (left, dot["y"] - LINE / 2, left + long, dot["y"] + LINE / 2)
            if left < 0 or left + long > WIDE or any(_overlap(box, other) for other in taken):
                continue
            taken.append(box)
            named.append((dot["x"] + (6 if anchor == "start" else -6), dot["y"] + 3.5, anchor, dot["name"]))
            break
    return named


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Whether two boxes (left, top, right, bottom) share a point."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
