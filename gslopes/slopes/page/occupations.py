"""Slopes of labels that are titles of jobs, next to the share of women among the people who have the job.

Joo & Kärkkäinen 2020, section 4.3, state that classifiers behave in a way close to the gender gap in real occupations,
and show no number; these are two. Shares are the Bureau's, titles are in ``gslopes collect``'s list, spelt alike.

    rank correlation    of slopes and shares; interval over titles, see ``stats.agreement.rank_correlation``
    line                change of the slope from a job without women to one without men; interval over photos, see
                        ``slopes.measures.titles``

Only both together show an order: what moves all titles by chance gives them one that a test over titles would take
for the classifier's.
"""

import math
from pathlib import Path

import pandas as pd
from pandas import DataFrame

from gslopes.collect.search import as_title, women_by_title
from gslopes.core import csv_bytes, placebo, read_beside, runfolder
from gslopes.core.tables import ends, lookup, records
from gslopes.frame.page import Content
from gslopes.report import inline, numbers, words
from gslopes.slopes.measures import titles
from gslopes.slopes.page import answers as matrix, decisions, page_data
from gslopes.slopes.page.loading import Finding, RunTables

LEAST = 10  # titles: with fewer the intervals of the rank correlations do not hold
ATTRIBUTE = "gender"
_FORM = read_beside(__file__, "occupations.toml")
UNITS = _FORM["units"]

POINTS = "occupations.csv"
RANKS = "occupation_ranks.csv"

# of the scatter, in the units of its drawing
WIDE = 340
TALL = 230
LETTER = 6  # width, of a name next to its dot
LINE = 12
GAP = 6  # from the dot's middle to its name
DOT = 4  # radius


def panels(report: Path, source: RunTables) -> list[Content]:
    """A panel of occupations.html.j2 for each classifier and measure with enough titles; writes them as tables, too.

    ``occupations.csv`` has a row a title, ``occupation_ranks.csv`` one a panel.

    Raises: StorageError.
    """
    for name in (POINTS, RANKS):
        (report / name).unlink(missing_ok=True)
    if placebo.of_a_set(source.manifest):
        return []
    parts = []
    for finding in source.findings:
        if finding.attribute == ATTRIBUTE:
            parts += [part for _, part in titles_of(finding).groupby("measure", sort=True)]
    parts = [part for part in parts if len(part) >= LEAST]
    if not parts:
        return []
    ranks = [_ranked(source, part) for part in parts]
    runfolder.write_bytes(report / POINTS, csv_bytes(pd.concat(parts), digits=6))
    runfolder.write_bytes(report / RANKS, csv_bytes(DataFrame(ranks), digits=6))
    return [
        {
            "sentence": sentence(rank),
            "rank": rank,
            "unit": UNITS[rank["measure"]],
            "scatter": scatter(part),
            "rows": part.to_dict("records"),
            "decisions": decisions.SHOWN,
        }
        for part, rank in zip(parts, ranks, strict=True)
    ]


def _ranked(source: RunTables, part: DataFrame) -> Content:
    """A row of ``occupation_ranks.csv``.  part: titles of one classifier and measure."""
    # SciPy's ranks take half a second to import
    from gslopes.stats.agreement import rank_correlation

    classifier = str(part["classifier"].iloc[0])
    measure = str(part["measure"].iloc[0])
    answers = matrix.read(source.run, classifier, ATTRIBUTE, source.values[ATTRIBUTE])
    photos, units = page_data.clusters(source.run, classifier, ATTRIBUTE) or (1, 1)
    shares = lookup(part, "label", "women")
    line = titles.line(answers, shares, measure, photos / units)
    return {
        "classifier": classifier,
        "measure": measure,
        **rank_correlation(part["women"], part["slope"])._asdict(),
        "line": line.value,
        **ends((line.low, line.high), "line"),
        "line_p": line.p,
    }


def titles_of(finding: Finding) -> DataFrame:
    """A row for each label of a finding that is the title of a job and is judged, sorted by share.

    slope: of labels that are judged by their presence the paper's, which does not depend on how frequent a label is.
    Of labels that are spelt alike but for case the most frequent one represents the job.
    """
    rows = finding.read
    rows = rows.query("decision != @decisions.UNJUDGED")
    occupation = [as_title(label) for label in rows["label"]]
    rows = rows.assign(occupation=occupation, measure=rows["measure"].fillna("presence"))
    rows["women"] = rows["occupation"].map(women_by_title()).astype(float)
    rows = rows.dropna(subset=["women"])
    rows = rows.sort_values(["y_centre", "label"], ascending=[False, True])
    rows = rows.drop_duplicates("occupation")
    published = finding.published.drop_duplicates("label").set_index("label")["slope"]
    by_number = rows["measure"] != "presence"
    rows["slope"] = rows["slope"].where(by_number, rows["label"].map(published)).astype(float)
    return rows.dropna(subset=["slope"]).sort_values(["women", "occupation"])[_FORM["columns"]]


def sentence(rank: Content) -> str:
    """What the order of the titles shows.  rank: a row of ``occupation_ranks.csv``."""
    return inline.plain("occupation.txt.j2", decisions.HOUSE, rank=rank, ends=words.ends(ATTRIBUTE))


def scatter(part: DataFrame) -> Content:
    """The positions of the dots of a scatter, which of them have room for their name, and its ticks.

    dots: rows with x, y and name.  names: x, y, anchor, text.
    """
    most = float(part["slope"].abs().max()) or 1.0
    step = 10 ** math.floor(math.log10(most)) / 5
    far = step * math.ceil(most / step - 1e-9)  # such as 3.2 for 3.1
    dots: list[Content] = [
        {
            **row,
            "x": round(WIDE * row["women"], 1),
            "y": round(TALL / 2 * (1 - row["slope"] / far), 1),
            "name": words.label(row["label"]),
        }
        for row in records(part)
    ]
    ticks = [numbers.value(share * far, sign=True) for share in (1, 0.5, 0, -0.5, -1)]
    return {"wide": WIDE, "tall": TALL, "dots": dots, "names": _names(dots), "ticks": ticks}


def _names(dots: list[Content]) -> list[tuple[float, float, str, str]]:
    """Names next to their dots, those furthest from the axis first; one that would cover anything is left out."""
    from matplotlib.transforms import Bbox

    side = 2 * DOT
    taken = [Bbox.from_bounds(dot["x"] - DOT, dot["y"] - DOT, side, side) for dot in dots]
    named = []
    for dot in sorted(dots, key=lambda dot: -abs(dot["y"] - TALL / 2)):
        long = LETTER * len(dot["name"])
        for anchor, gap, left in (("start", GAP, GAP), ("end", -GAP, -GAP - long)):
            box = Bbox.from_bounds(dot["x"] + left, dot["y"] - LINE / 2, long, LINE)
            if box.x0 >= 0 and box.x1 <= WIDE and not box.count_overlaps(taken):
                taken.append(box)
                named.append((dot["x"] + gap, dot["y"] + LINE / 3, anchor, dot["name"]))
                break
    return named
