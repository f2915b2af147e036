"""Tables 7 to 14 of Barlas et al. 2020 in their layout, and more, from the tables of a run; and the charts of the page.

In Table 14 an effect is found if q < 0.05 in its table; which contexts are feminine and masculine is as in the stars
of Tables 7 and 9: see ``measures.ratings.sides``.  As published, RQ1 and RQ3 have a second answer, which counts these
stars as the paper does.
"""

import math
import re
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import rc_context
from pandas import DataFrame

from gslopes.contexts import SENTENCES, rows_of
from gslopes.contexts.measures import describe, typology
from gslopes.contexts.measures.ratings import sides
from gslopes.core import Record, Row, Texts, csv_bytes
from gslopes.core.tables import lookup, records
from gslopes.frame.page import Content
from gslopes.frame.spec import Tables
from gslopes.report import inline, layouts, numbers, words
from gslopes.report.charts import FORMS, LIGHT, Form, Mark, new_figure, panel, render, tidy
from gslopes.report.words import printable
from gslopes.stats.multiplicity import are_findings, is_finding

HOUSE = Path(__file__).parents[1] / "templates"
TITLES = SENTENCES["titles"]
CELLS = SENTENCES["cells"]
QUESTIONS = tuple(SENTENCES["questions"])
STARRED = SENTENCES["starred"]  # the two that count stars
SIDES = (("woman", "women", "feminine"), ("man", "men", "masculine"))


def gross(results: Tables) -> dict[str, DataFrame]:
    """All tables, without the rows of net tags."""
    return {
        name: frame.query("tags == 'gross'") if "tags" in frame else frame
        for name, frame in results.items()
    }


def paper_tables(results: Tables, published: bool = False) -> dict[str, DataFrame]:
    """Name to table, of the gross tags; those without rows are left out.

    published: Table 14 has the paper's own answers, too.
    """
    rows = gross(results)
    for name in ("inferred", "recognised", "accuracy", "distances", "changes"):
        if name in rows:
            rows[name] = _in_order(rows[name], results)
    makers = (
        ("table4", "scores", lambda scores: _table4(scores, results)),
        (
            "table7",
            "inferred",
            lambda shares: _wide("table7", shares.query("gender == 'all'"), "inferred"),
        ),
        ("table8", "recognised", lambda shares: _wide("table8", shares, "given")),
        ("table9", "accuracy", lambda scores: _wide("table9", scores, "gender")),
        (
            "table10",
            "distances",
            lambda means: _table10(means, rows_of(rows, "tukey")),
        ),
        ("table11", "changes", _table11),
        ("table14", "backgrounds", lambda _: _by_question(table14(rows, published))),
        ("congruence", "congruence", lambda _: _congruence(results["congruence"])),
        (
            "backgrounds",
            "backgrounds",
            lambda rooms: inline.listed(CELLS["backgrounds"], records(rooms)),
        ),
    )
    return {
        name: table
        for name, source, make in makers
        if len(rows.get(source, ())) and len(table := make(rows[source]))
    }


def _in_order(rows: DataFrame, results: Tables) -> DataFrame:
    """Each tagger's rows as the paper has its contexts: baselines, then feminine, then masculine ones, by rating."""
    contexts = ["original", "canvas"]
    if "backgrounds" in results:
        rooms = results["backgrounds"].drop_duplicates("context")
        side = rooms["context"].map(sides(rooms)).map({"feminine": 0, "masculine": 2}).fillna(1)
        ordered = rooms.assign(side=side).sort_values(["side", "rating", "context"])
        contexts += ordered["context"].tolist()
    order = {name: index for index, name in enumerate(contexts)}
    places = rows["context"].map(order).fillna(len(order))
    return rows.iloc[np.lexsort((places, pd.factorize(rows["classifier"])[0]))]


def forms(frame: DataFrame) -> dict[str, str]:
    """The table as CSV, Markdown and LaTeX, by ending."""
    clean = frame.map(printable)
    head = [*map(str, clean)]
    rows = clean.to_numpy().tolist()
    return {
        "csv": csv_bytes(clean.map(_unsigned)).decode(),
        "md": layouts.markdown(head, rows) + "\n",
        "tex": layouts.tabular(head, rows),
    }


def _unsigned(text: str) -> str | float:
    """A number as one, or its text without a plus and with a typographic minus: nothing that a CSV must guard.

    >>> [_unsigned(text) for text in ("-0.0120", "+1.20 points", "-1.20 points [-2.00, -0.40]", "=cmd")]
    [-0.012, '1.20 points', '−1.20 points [-2.00, -0.40]', '=cmd']
    """
    plain = text.replace("\N{MINUS SIGN}", "-")
    if re.fullmatch(r"-\d+(\.\d+)?|[\d.]+e-\d+", plain):
        return float(plain)
    return re.sub(r"^\+(?=\d)", "", re.sub(r"^-(?=\d)", "\N{MINUS SIGN}", text))


# -- cells ------------------------------------------------------------------------------------------------------------


def _number(number: float, form: str = ".4f") -> str:
    if math.isfinite(number):
        return f"{number:{form}}"
    return "NA"


def _share(number: float, digits: int = 3) -> str:
    """A share without its leading zero."""
    if number in (0, 1):
        return f"{number:.0f}"
    return re.sub(r"^0(?=\.)", "", _number(number, f".{digits}f"))


def _grouped(rows: DataFrame, places: list[str], key: str) -> list[Record]:
    """The rows of each place by their ``key``, next to what names the place."""
    return [
        {**dict(zip(places, names, strict=True)), **part.set_index(key).to_dict("index")}
        for names, part in rows.groupby(places, sort=False)
    ]


def _wide(name: str, rows: DataFrame, key: str) -> DataFrame:
    """One row a context, one column a classifier, each cell from its rows by their ``key``."""
    table = inline.listed(CELLS[name], _grouped(rows, ["context", "classifier"], key), share=_share)
    wide = table.pivot(index="context", columns="classifier", values="text").fillna("")
    wide = wide.loc[rows["context"].unique(), rows["classifier"].unique()]
    return wide.rename_axis(columns=None).reset_index()


# -- the paper's tables -----------------------------------------------------------------------------------------------


def _table4(scores: DataFrame, results: Tables) -> DataFrame:
    """All tags of a background, a photo and their composite: of the photo in the middle of the ids, and its most
    feminine room.
    """
    rooms = results["backgrounds"].sort_values(["rating", "key"])
    before = results["composites"].query("kind == 'context' and attribute in @rooms.key")
    photos = sorted(set(before["photo"]))
    if not photos:
        return DataFrame()
    photo = photos[len(photos) // 2]
    keys = before.query("photo == @photo")["attribute"]
    room = rooms[rooms["key"].isin(keys)].iloc[0]
    pictures = {
        f"background {room['key']}": (room["photo"], describe.EMPTY),
        "photo": (photo, "original"),
        f"photo before {room['key']}": (photo, room["key"]),
    }
    tags = scores.sort_values("score", ascending=False, kind="stable")
    tags = tags.assign(label=tags["label"].map(typology.normalise))
    listed = tags.groupby(["photo", "attribute", "classifier"])["label"].agg(", ".join).unstack()
    table = listed.reindex(columns=scores["classifier"].unique()).T.reindex(
        columns=[*pictures.values()]
    )
    table.columns = pd.Index(pictures)
    return table.astype(object).fillna(numbers.NONE).rename_axis("classifier").reset_index()


def _table10(rows: DataFrame, pairs: DataFrame) -> DataFrame:
    wide = rows.assign(cell=rows["gender"] + " " + rows["group"]).pivot_table(
        index=["classifier", "context"], columns="cell", values="mean", sort=False
    )
    women_first = sorted(wide.columns, key=lambda cell: (not cell.startswith("woman"), cell))
    table = wide[women_first].map(_share)
    pairs = _differing(pairs)
    pairs["text"] = pairs["more"] + " > " + pairs["less"]
    for factor in ("gender", "group"):
        differing = pairs.query("factor == @factor").groupby(["classifier", "context"])
        joined = differing["text"].agg(", ".join)
        table[f"differs by {factor}"] = joined.reindex(table.index).fillna("")
    return table.rename_axis(columns=None).reset_index()


def _differing(pairs: DataFrame) -> DataFrame:
    """The pairs that differ by Tukey's test at the paper's level, with the level of the larger mean, and the other."""
    pairs = pairs[pairs["paper_significant"].astype(bool)]
    larger = pairs["difference"] > 0
    return pairs.assign(
        more=pairs["one"].where(larger, pairs["other"]),
        less=pairs["other"].where(larger, pairs["one"]),
    )


def _table11(rows: DataFrame) -> DataFrame:
    table = inline.listed(
        CELLS["table11"],
        _grouped(rows, ["classifier", "context", "super"], "analysis"),
        number=_number,
    )
    return table.loc[:, (table != "").any()]


# -- Table 14: the answers to the paper's questions -------------------------------------------------------------------


def table14(results: Tables, published: bool = False) -> DataFrame:
    """A row a tagger, a column a question; empty without answers.

    published: next to RQ1 and RQ3 the paper's own answer, which has no null hypothesis and no interval.
    """
    names = rows_of(results, "inferred")["classifier"].drop_duplicates()
    rows = [{"tagger": printable(name), **_answers(results, name, published)} for name in names]
    return DataFrame(rows)


def _by_question(answers: DataFrame) -> DataFrame:
    """Table 14 as the paper has it: a row a question, a column a tagger."""
    if not len(answers):
        return answers
    return answers.set_index("tagger").T.rename_axis(columns=None).reset_index(names="question")


def _answers(results: Tables, name: str, published: bool) -> dict[str, str]:
    """Question to its cell, in the words of table14.txt.j2."""

    def of(table: str) -> DataFrame:
        rows = rows_of(results, table)
        return rows[rows["classifier"] == name]

    stereotypes = sides(results["backgrounds"])
    recognised = of("recognised").query("given == 'all'")
    known = recognised.dropna(subset="q")
    tukey = of("tukey").dropna(subset="p")
    changed = _differing(tukey).groupby(["factor", "more"], sort=False)["context"].nunique()
    tests = of("changes").dropna(subset="q")
    lines = inline.plain(
        "table14.txt.j2",
        HOUSE,
        inferred=_fitting(
            of("inferred").query("gender == 'all'"), "inferred", "change", stereotypes
        ),
        right=_fitting(of("accuracy"), "gender", "paired_change", stereotypes),
        sides=Counter(stereotypes.values()),
        recognised={
            "judged": len(known),
            "depends": known.loc[is_finding(known["q"]), "context"].tolist(),
            "unnamed": len(recognised) > 0 and recognised["share"].isna().all(),
        },
        compared=tukey["context"].nunique(),
        changers=changed.droplevel("factor").items(),
        tests=len(tests),
        found=are_findings(tests).sum(),
        expected=tests["consistent"].sum(),
    ).splitlines()
    asked = [*QUESTIONS, *STARRED.values()] if published else QUESTIONS
    return dict(sorted(zip(asked, lines, strict=False), key=lambda answer: answer[0][:3]))


def _fitting(rows: DataFrame, column: str, change: str, stereotypes: Texts) -> list[Row]:
    """Of women in feminine and of men in masculine contexts: in how many the answer rises, falls, has a star.

    column: of the gender.  change: of the answer.
    """
    side_of = rows["context"].map(stereotypes)
    parts: list[Row] = []
    for gender, plural, side in SIDES:
        fitting = rows[(side_of == side) & (rows[column] == gender)]
        judged = fitting.dropna(subset="q")
        sure = judged[is_finding(judged["q"], judged["change_low"], judged["change_high"])]
        parts.append(
            {
                "plural": plural,
                "side": side,
                "contexts": len(fitting),
                "judged": len(judged),
                "rises": (sure[change] > 0).sum(),
                "falls": (sure[change] < 0).sum(),
                "stars": fitting.filter(["congruent_rise"]).to_numpy().sum(),
            }
        )
    return parts


# -- more tables ------------------------------------------------------------------------------------------------------


def _congruence(rows: DataFrame) -> DataFrame:
    rows = rows.query("group == 'all'").dropna(subset="slope")
    rows = rows.assign(p=rows["p_perm"].fillna(rows["p"]))
    table = inline.listed(CELLS["congruence"], records(rows))
    several_rooms = rows["rooms_low"].notna().any()
    return table.iloc[:, : None if several_rooms else -2]


# -- charts -----------------------------------------------------------------------------------------------------------

COLOURS = {"woman": "neg", "man": "pos"}


def charts_of(results: Tables) -> dict[str, list[Content]]:
    """Name to the panels of each chart that has something to show, of gross tags."""
    rows = gross(results)
    return {
        name: _panels(chart, _known(chart["table"], rows))
        for name, chart in SENTENCES["chart"].items()
        if chart["table"] in rows
    }


def _known(name: str, rows: Tables) -> DataFrame:
    """A table with what charts show of it, or order it by, besides."""
    table = rows[name]
    if name == "inferred":
        rooms = rows["backgrounds"].drop_duplicates("context").set_index("context")
        ratings = table["context"].map(rooms["rating"].astype(float))
        return table.assign(who=table["gender"].map(SENTENCES["who"]), rating=ratings)
    if name == "accuracy":
        is_baseline = table["context"].isin(["original", "canvas"])
        return table.assign(man_last=table["gender"] == "man", context_last=~is_baseline)
    return table


def _panels(chart: Content, rows: DataFrame) -> list[Content]:
    """A panel a title, of the marks whose number is known.  chart: as in sentences.toml."""
    write = partial(numbers.decimal, digits=1) if chart["share"] else numbers.points
    titled: dict[str, list[Mark]] = defaultdict(list)
    for row in records(rows.query(chart["query"]).sort_values(chart["by"], kind="stable")):
        for mark in chart["marks"]:
            value, low, high = (chart["scale"] * float(row[name]) for name in mark["columns"])
            if np.isfinite(value):
                name = words.readable(mark["name"].format(**row))
                text = numbers.with_interval(value, low, high, write)
                colour = COLOURS.get(row.get(chart["colour"], ""), "")
                marks = titled[chart["title"].format(**row)]
                marks.append(Mark(name, text, (value, low, high), colour))
    return [
        panel(marks, chart["unit"], words.printable(title), chart["middle"])
        for title, marks in titled.items()
    ]


# -- figures 4 to 7 of the paper, as it prints them: PNG and PDF, and on the page -------------------------------------

FIGURE = "RQ4: change of the shares of tags by group (figures 4 to 7 of the paper), first tagger"
SERIES = {
    "demographics": LIGHT.series[4],
    "abstract": LIGHT.series[0],
    "concrete": LIGHT.neutral,
}


def draw_shares(results: Tables) -> dict[Form, bytes]:
    """Every context of the first tagger: mean change of the share of gross tags, in all forms; none without answers."""
    if "described" not in results:
        return {}
    rows = gross(results)["described"]
    rows = rows[rows["classifier"] == rows["classifier"].min()]
    contexts = lookup(results["backgrounds"], "key", "context")
    baseline = "canvas" if (rows["attribute"] == "canvas").any() else "original"
    start = rows[(rows["attribute"] == baseline) & (rows["step"] == 0)].set_index("photo")
    rows = rows.assign(context=rows["attribute"].map(contexts)).dropna(subset="context")
    rows = rows.merge(results["people"], on="photo")
    rows = rows.query("gender in ('woman', 'man') and photo in @start.index")
    if not len(rows):
        return {}
    for series in SERIES:
        rows[series] -= start.loc[rows["photo"], series].to_numpy(float)
    parts = rows.groupby("context", sort=False)
    lines = (len(parts) + 1) // 2
    with rc_context({"text.parse_math": False}):  # untrusted names
        figure = new_figure(11, 2.2 * lines + 0.6, dpi=130, layout="constrained")
        axes = figure.subplots(lines, 2, squeeze=False, sharey=True).ravel()
        for axis in axes[len(parts) :]:
            axis.set_axis_off()
        for axis, (context, part) in zip(axes, parts, strict=False):
            means = part.groupby(["group", "gender"])[[*SERIES]].mean()
            means = means.sort_index(ascending=[True, False])
            means.plot.bar(ax=axis, color=SERIES, width=0.8, legend=False, xlabel="")
            axis.axhline(0, color=LIGHT.ink, linewidth=0.8)
            axis.set_title(words.printable(context), fontsize=9, parse_math=False)
            tidy(axis, size=7)
            cells = [words.printable(f"{gender} {group}") for group, gender in means.index]
            ticks = [words.shorten(cell, 24) for cell in cells]
            axis.set_xticklabels(ticks, rotation=35, ha="right", fontsize=7)
        axes[0].set_ylabel("change of share", fontsize=8)
        axes[0].legend(fontsize=7)
        return {form: render(figure, form) for form in FORMS}
