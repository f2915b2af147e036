"""Two runs compared, for terminal and page: slopes side by side, differences with intervals, photos that changed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pandas import DataFrame

from gslopes.core import Record, read_beside, runfolder
from gslopes.core.tables import records
from gslopes.frame.findings import decide
from gslopes.frame.page import Content
from gslopes.report import numbers, units, words
from gslopes.report.headline import Nothing, Sentences, judged, verdicts
from gslopes.report.inline import plain, render
from gslopes.report.terminal import listed, wrap
from gslopes.slopes.page.lead import nothing, over, would_matter
from gslopes.stats.multiplicity import LEVEL
from gslopes.stats.rounding import ranked

_FORM = read_beside(__file__, "changes.toml")
MOST_LINES = 60  # labels of one pair on a terminal
PAIR = ["first_classifier", "classifier", "attribute"]
# What a condition on the changes may name, each with a value of its type; see ``changed``.
CONDITION: dict[str, float | str | bool] = _FORM["condition"]
HOME = Path(__file__).parents[1]
HEADLINES = Sentences.read(HOME, "changes")
NOTE = """\
first, second: slopes in the two runs per unit of the attribute, over the photos that both answered at
all values; difference: second minus first, with its 95 % interval, t over the photos' own differences.
changed: yes if q < 0.05, the interval is without 0, and not all of it is less than would matter; else
too little. q: p of the test by changes of their signs (of that t where no change of signs reaches the
difference), adjusted over the classifier's labels; null hypothesis: nothing changed.
What would matter: 0.2 log-odds (22 % of the odds); of a share as many points as these are, 5 at a half;
of another number a fifth of its standard deviation among photos.
differing: photos whose answers to the label differ at some value."""


def print_changes(changes: DataFrame) -> str:
    """The changes as tables, a block for each classifier and attribute, the surest change first.

    changes: the columns of ``slopes.measures.differences.COLUMNS``.
    """
    blocks = []
    for name, attribute, part in _by_pair(changed(changes)):
        judged = part.dropna(subset="q")
        t = (judged["difference"] / judged["se"].where(judged["se"] > 0)).abs().fillna(0)
        printed = ranked(judged, "q", -t, "label")[:MOST_LINES]
        styles = ["bold" if changed else "dim" for changed in printed["changed"]]
        rows = records(printed.assign(verdict=verdicts(printed)))
        facts: Content = {
            "name": name,
            "attribute": attribute,
            "sentence": sentence(part, attribute),
        }
        facts |= {"part": part, "judged": judged, "printed": printed}
        drawn = listed(_FORM["columns"], [{**row, **_row(row)} for row in rows], styles)
        blocks.append(plain("changes.txt.j2", HOME / "templates", table=drawn, wrap=wrap, **facts))
    return "\n\n".join([*blocks, NOTE])


def _by_pair(changes: DataFrame) -> Iterator[tuple[str, str, DataFrame]]:
    """(both classifiers as shown, attribute, its changes), sorted."""
    for (first, second, attribute), part in changes.groupby(PAIR, sort=True):
        yield words.both(str(first), str(second)), str(attribute), part


def changed(changes: DataFrame) -> DataFrame:
    """The changes with the columns of ``report.headline.judged``; a row's names come first."""
    names = ["classifier", "attribute", "label"]
    changes = judged(changes, _estimates(changes))
    return changes[[*names, *changes.columns.drop(names)]]


def _estimates(changes: DataFrame) -> list[Nothing]:
    """The changes as ``report.headline`` takes them; one that all photos share is as far as it is."""
    judged = changes["q"].notna()
    estimates = []
    for row in changes.to_dict("records"):
        name = HEADLINES.say("change", int(judged.sum()), label=words.readable(row["label"]))
        why = f"q {row['q']:.2g}"
        if row["se"] == 0:
            row |= {"ci_low": row["difference"], "ci_high": row["difference"]}
        estimates.append(nothing(row, name, row["share"], int(row["units"]), why))
    return estimates


def findings_table(changes: DataFrame) -> DataFrame:
    """The changes as the rows of ``core.summary.FINDINGS``; decided by the rule of every audit."""
    pairs = zip(changes["first_classifier"], changes["classifier"], strict=True)
    names = {"attribute": "contrast", "difference": "value", "note": "reason"}
    rows = (
        changed(changes)
        .rename(columns=names)
        .assign(model=[words.both(str(old), str(new)) for old, new in pairs])
    )
    return decide(rows)


def headline(changes: DataFrame) -> str:
    """What changed, a sentence for each pair of classifiers along each attribute, named if there are several."""
    sentences = [(name, sentence(part, attribute)) for name, attribute, part in _by_pair(changes)]
    if len(sentences) == 1:
        return sentences[0][1]
    return " ".join(f"{name}: {text}" for name, text in sentences)


def sentence(part: DataFrame, attribute: str) -> str:
    """What changed; that no answer differs; or what changes of slopes are ruled out, by ``report.headline``.

    part: the changes of one pair of classifiers along the attribute.
    """
    part = changed(part)
    judged = part.dropna(subset="q")
    along = words.perceived(attribute)
    photos = words.many(int(part["n"].max()), "photo")
    most = part["differing"].max()
    differ = ""
    if most == 0:
        return HEADLINES.say("same", n=photos)
    if most > 0 and not part[["changed", "small"]].any(axis=None):
        differ = HEADLINES.say("differ", most=f"{most:,.0f}", n=photos)
    if judged.empty:
        return differ + HEADLINES.say("too_few", attribute=along)

    def describe(row: Any) -> dict[str, str]:
        write = units.writer_of(row)
        return {
            "first": write(row["slope"]),
            "second": write(row["other_slope"]),
            "unit": units.after(row),
            "change": numbers.of_row(row, "difference", write),
            "photos": photos,
            "matters": would_matter(row, row["matters"]),
            "label": words.readable(row["label"]),
        }

    rows = judged.to_dict("records")
    facts = {"label": words.readable(str(judged["label"].iloc[0])), "attribute": along}
    return differ + HEADLINES.changes(rows, _estimates(judged), describe, *over(judged), **facts)


# -- the page ---------------------------------------------------------------------------------------------------------

MOST_LABELS = 40


def write_changes(out: Path, changes: DataFrame, names: tuple[str, str], note: str = "") -> Path:
    """Write OUT/index.html; it opens from the disk and asks nothing of any server.

    changes: the columns of ``slopes.measures.differences.COLUMNS``.  names: of the two runs.  note: about both.

    Returns the path of the page.

    Raises: StorageError.
    """
    pairs = [_pair(*pair) for pair in _by_pair(changed(changes))]
    html = render(
        "changes.html.j2",
        house=HOME / "templates",
        scripts=("page-base.js", "page-plots.js", "page-changes.js"),
        data={"changes": pairs, "decisions": {}},
        plots=True,
        headline=headline(changes),
        note=note,
        pairs=pairs,
        first=words.printable(names[0]),
        second=words.printable(names[1]),
        level=LEVEL,
        most=MOST_LABELS,
    )
    page = out / "index.html"
    runfolder.write_bytes(page, html.encode("utf-8", "backslashreplace"))
    return page


def _pair(classifiers: str, attribute: str, part: DataFrame) -> Content:
    """One classifier and attribute on the page: title, ends, sentence, rows, and how many labels are left out."""
    judged = part.dropna(subset="q")
    order = ranked(judged, "q", -judged["difference"].abs(), "label")
    rows = [_row(row) for row in order[:MOST_LABELS].to_dict("records")]
    title = words.perceived(attribute)
    return {
        "title": f"{classifiers} along {title}",
        "ends": words.ends(attribute),
        "rows": rows,
        "sentence": sentence(part, attribute),
        "left": len(part) - len(rows),
    }


def _row(row: Record) -> Content:
    columns = ("slope", "other_slope", "difference", "ci_low", "ci_high")
    figures = numbers.rounded([row[name] for name in columns], 8)
    cells: Content = dict(zip(columns, figures, strict=True))
    write = units.writer_of(row)
    return cells | {
        "label": words.label(row["label"]),
        "read": words.readable(row["label"]),
        "changed": bool(row["changed"]),
        "texts": [write(row[name]) for name in ("slope", "other_slope", "difference")],
        "interval": numbers.ends_of(row, write),
        "unit": units.unit_of(row),
        "short": units.short(row),
        "differing": f"{row['differing']:,.0f} of {row['n']:,}"
        if row["differing"] >= 0
        else numbers.NONE,
        "q": numbers.probability(row["q"]),
    }
