"""Tables 7 to 14 of Barlas et al. 2020 in their layout, and more, from the tables of a run.

In Table 14 an effect is found where q < 0.05 in its table; which contexts are feminine and masculine is as in the stars
of Tables 7 and 9: see ``measures.ratings.sides``.  As published, RQ1 and RQ3 have a second answer, which counts these
stars as the paper does.
"""

import math
import re
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from gslopes.contexts import SENTENCES, TABLES
from gslopes.contexts.measures.describe import EMPTY
from gslopes.contexts.measures.ratings import sides
from gslopes.contexts.measures.typology import normalise
from gslopes.core.files import csv_bytes
from gslopes.core.tables import Record, Row
from gslopes.frame.spec import Tables
from gslopes.report import numbers
from gslopes.report.layouts import markdown, tabular
from gslopes.report.words import many, printable
from gslopes.stats.multiplicity import is_finding

TITLES = SENTENCES["titles"]
QUESTIONS = tuple(SENTENCES["questions"])
STARRED = SENTENCES["starred"]  # the two that count stars
UNNAMED = "not judged: no context has tags in its dictionary"
STAR = 0.002  # the paper's level in tables 11 and 13; it does not state where that comes from
SIDES = (("woman", "women", "feminine"), ("man", "men", "masculine"))


def paper_tables(results: Tables, published: bool = False) -> dict[str, pd.DataFrame]:
    """Name to table, of the gross tags; those without rows are left out.

    published: Table 14 has the paper's own answers, too.
    """

    def rows_of(name: str) -> pd.DataFrame:
        frame = results.get(name, pd.DataFrame())
        frame = (
            frame[frame["tags"] == "gross"] if "tags" in frame and name != "congruence" else frame
        )
        if "context" in frame and name != "backgrounds":
            return _in_order(frame, results)
        return frame

    makers = (
        ("table4", "scores", lambda rows: _table4(rows, results)),
        ("table7", "inferred", _table7),
        ("table8", "recognised", _table8),
        ("table9", "accuracy", _table9),
        ("table10", "distances", lambda rows: _table10(rows, rows_of("tukey"))),
        ("table11", "changes", _table11),
        ("table14", "backgrounds", lambda rows: _by_question(table14(results, published))),
        ("congruence", "congruence", _congruence),
        ("backgrounds", "backgrounds", _backgrounds),
    )
    made = {name: make(rows) for name, source, make in makers if len(rows := rows_of(source))}
    return {name: table for name, table in made.items() if len(table)}


def _in_order(rows: pd.DataFrame, results: Tables) -> pd.DataFrame:
    """Each tagger's rows as the paper has its contexts: baselines, then feminine, then masculine ones, by rating."""
    contexts = [name for name in ("original", "canvas") if name in set(rows["context"])]
    if "backgrounds" in results:
        rooms = results["backgrounds"].drop_duplicates("context")
        side = rooms["context"].map(sides(rooms)).map({"feminine": 0, "masculine": 2}).fillna(1)
        ordered = rooms.assign(side=side).sort_values(["side", "rating", "context"])
        contexts += ordered["context"].tolist()
    place = {name: at for at, name in enumerate(contexts)}
    places = rows["context"].map(place).fillna(len(place))
    taggers, _ = pd.factorize(rows["classifier"])
    return rows.iloc[np.lexsort((places, taggers))]


def forms(frame: pd.DataFrame) -> dict[str, str]:
    """The table as CSV, Markdown and LaTeX, by ending."""
    clean = frame.map(printable)
    head = [str(column) for column in clean.columns]
    rows = [list(row) for row in clean.itertuples(index=False)]
    csv = csv_bytes(clean.map(_unsigned)).decode()
    return {"csv": csv, "md": markdown(head, rows) + "\n", "tex": tabular(head, rows)}


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


def _number(number: float, form: str = ".4f", missing: str = "NA") -> str:
    if math.isfinite(number):
        return f"{number:{form}}"
    return missing


def _share(number: float, digits: int = 3) -> str:
    """A share without its leading zero."""
    if number in (0, 1):
        return f"{number:.0f}"
    return re.sub(r"^0(?=\.)", "", _number(number, f".{digits}f"))


def _ends(row: Record, low: str, high: str) -> str:
    """An interval in brackets; empty where there is none."""
    finite = math.isfinite(row[low]) and math.isfinite(row[high])
    if finite:
        return f"[{row[low]:+.2f}, {row[high]:+.2f}]"
    return ""


def _wide(rows: pd.DataFrame, cell: Callable[[pd.DataFrame], str]) -> pd.DataFrame:
    """One row a context, one column a classifier, each cell from its part of the rows."""
    cells = pd.Series({key: cell(part) for key, part in rows.groupby(["context", "classifier"])})
    wide = cells.unstack(fill_value="").loc[rows["context"].unique(), rows["classifier"].unique()]
    return wide.rename_axis(index="context", columns=None).reset_index()


# -- the paper's tables -----------------------------------------------------------------------------------------------


def _table4(scores: pd.DataFrame, results: Tables) -> pd.DataFrame:
    """All tags of a background, a photo and their composite: of the photo in the middle of the ids, and its most
    feminine room.
    """
    composites = results["composites"]
    rooms = results["backgrounds"].sort_values(["rating", "key"])
    before = composites[
        (composites["kind"] == "context") & composites["attribute"].isin(rooms["key"])
    ]
    photos = sorted(set(before["photo"]))
    if not photos:
        return pd.DataFrame()
    photo = photos[len(photos) // 2]
    seen = set(before.loc[before["photo"] == photo, "attribute"])
    room = rooms[rooms["key"].isin(seen)].iloc[0]
    pictures = {
        f"background {room['key']}": (room["photo"], EMPTY),
        "photo": (photo, "original"),
        f"photo before {room['key']}": (photo, room["key"]),
    }
    tags = scores.sort_values("score", ascending=False, kind="stable")
    tags = tags.assign(label=tags["label"].map(normalise))
    said = tags.groupby(["classifier", "photo", "attribute"])["label"].agg(", ".join)
    rows = [
        {
            "classifier": name,
            **{
                head: said.get((name, *picture), numbers.NONE) for head, picture in pictures.items()
            },
        }
        for name in scores["classifier"].drop_duplicates()
    ]
    return pd.DataFrame(rows)


def _table7(rows: pd.DataFrame) -> pd.DataFrame:
    def cell(part: pd.DataFrame) -> str:
        count = part.set_index("inferred")["count"]
        return f"{count['woman']}-{count['man']}-{count['neutral']}" + "*" * bool(
            part["congruent_rise"].any()
        )

    return _wide(rows[rows["gender"] == "all"], cell)


def _table8(rows: pd.DataFrame) -> pd.DataFrame:
    def cell(part: pd.DataFrame) -> str:
        share = part.set_index("given")["share"]
        if "woman" not in share:
            return "not applicable"
        return ";".join(_share(share[given]) for given in ("all", "woman", "man", "neutral"))

    return _wide(rows, cell)


def _table9(rows: pd.DataFrame) -> pd.DataFrame:
    def cell(part: pd.DataFrame) -> str:
        records = part.to_dict("records")
        f1 = {
            row["gender"]: _share(row["f1"], 2) + "*" * bool(row["congruent_rise"])
            for row in records
        }
        return f"{f1.get('man', 'NA')}/{f1.get('woman', 'NA')}"

    return _wide(rows, cell)


def _table10(rows: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    wide = rows.assign(cell=rows["gender"] + " " + rows["group"]).pivot_table(
        index=["classifier", "context"], columns="cell", values="mean", sort=False
    )
    women_first = sorted(wide.columns, key=lambda cell: (not cell.startswith("woman"), cell))
    table = wide[women_first].map(_share).reset_index()
    differing: dict[
        tuple[str, ...], list[str]
    ] = {}  # the pairs that differ by Tukey's test, the larger one first
    for row in (
        pairs[pairs["paper_significant"].astype(bool)].to_dict("records") if len(pairs) else ()
    ):
        names = (row["one"], row["other"]) if row["difference"] > 0 else (row["other"], row["one"])
        differing.setdefault((row["classifier"], row["context"], row["factor"]), []).append(
            " > ".join(names)
        )
    for factor in ("gender", "group"):
        places = zip(table["classifier"], table["context"], strict=True)
        table[f"differs by {factor}"] = [
            ", ".join(differing.get((*place, factor), ())) for place in places
        ]
    return table


def _table11(rows: pd.DataFrame) -> pd.DataFrame:
    made: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows.sort_values("analysis", ascending=False, kind="stable").to_dict("records"):
        head = {"classifier": row["classifier"], "context": row["context"], "tags": row["super"]}
        sign = "Δ " if row["analysis"] == "within" else ""
        t = (
            _number(row["t"], ".2f", "ns")
            + "*" * (row["p"] < STAR)
            + "†" * bool(row.get("consistent", False))
        )
        cells = made.setdefault(tuple(head.values()), head)
        cells |= {
            f"{sign}women": _number(row["women"]),
            f"{sign}men": _number(row["men"]),
            f"{sign}t": t,
        }
    return pd.DataFrame(list(made.values())).fillna("")


# -- Table 14: the answers to the paper's questions -------------------------------------------------------------------


def table14(results: Tables, published: bool = False) -> pd.DataFrame:
    """A row a tagger, a column a question; empty without answers.

    published: next to RQ1 and RQ3 the paper's own answer, which has no null hypothesis and no interval.
    """
    names = results["inferred"]["classifier"].drop_duplicates() if "inferred" in results else ()
    rows = [
        {"tagger": printable(name), **_answers(results, str(name), published)} for name in names
    ]
    return pd.DataFrame(rows)


def _by_question(answers: pd.DataFrame) -> pd.DataFrame:
    """Table 14 as the paper has it: a row a question, a column a tagger."""
    if not len(answers):
        return answers
    return answers.set_index("tagger").T.rename_axis(columns=None).reset_index(names="question")


def _answers(results: Tables, name: str, published: bool) -> dict[str, str]:
    """Question to its cell."""

    def of(table: str, **wanted: str) -> pd.DataFrame:
        frame = results.get(table, TABLES[table].empty())
        for column, value in {"classifier": name, "tags": "gross", **wanted}.items():
            frame = frame[frame[column] == value]
        return frame

    stereotypes = sides(results["backgrounds"])
    seen = of("inferred", gender="all")
    right = of("accuracy")
    recognised = of("recognised", given="all")
    cells = (
        _congruent(seen, "inferred", "change", stereotypes),
        _independent(recognised),
        _congruent(right, "gender", "paired_change", stereotypes),
        _who_changes(of("tukey")),
        _expected(of("changes")),
    )
    answers = dict(zip(QUESTIONS, cells, strict=True))
    if not published:
        return answers
    unnamed = bool(len(recognised)) and bool(recognised["share"].isna().all())
    starred = {"RQ1": _starred(seen, "inferred", stereotypes)}
    starred["RQ3"] = UNNAMED if unnamed else _starred(right, "gender", stereotypes)
    answers |= {STARRED[name]: cell for name, cell in starred.items()}
    return {
        question: answers[question]
        for question in sorted(answers, key=lambda question: question[:3])
    }


def _starred(rows: pd.DataFrame, column: str, stereotypes: Mapping[str, str]) -> str:
    """The paper's answer: yes for a gender that has a star in any of its contexts."""
    marked = rows[rows["congruent_rise"].astype(bool)]
    answered = []
    counts = []
    for gender, plural, side in SIDES:
        contexts = [name for name, one in stereotypes.items() if one == side]
        stars = marked[marked["context"].isin(contexts) & (marked[column] == gender)]
        answered += [plural] * bool(len(stars))
        counts.append(f"{plural} in {len(stars)} of {len(contexts)} {side}")
    only = " only" * (len(answered) == 1)
    answer = f"yes, for {' and '.join(answered)}{only}" if answered else "no"
    return f"{answer}: {', '.join(counts)}"


def _congruent(rows: pd.DataFrame, column: str, change: str, stereotypes: Mapping[str, str]) -> str:
    """Of women in feminine and of men in masculine contexts: in how many the answer rises, and falls."""
    answers = []
    for gender, plural, side in SIDES:
        contexts = [name for name, one in stereotypes.items() if one == side]
        chosen = rows[rows["context"].isin(contexts) & (rows[column] == gender)]
        judged = chosen[chosen["q"].notna()]
        if not len(judged):
            answers.append(
                f"{plural}: " + ("not judged, too rare" if len(chosen) else f"no {side} context")
            )
            continue
        significant = judged[is_finding(judged["q"], judged["change_low"], judged["change_high"])]
        rises = int((significant[change] > 0).sum())
        falls = int((significant[change] < 0).sum())
        verdict = "mixed" if rises and falls else "yes" if rises else "no"
        fewer = f", less in {falls}" if falls else ""
        answers.append(f"{plural}: {verdict}, more in {rises} of {len(judged)} {side}{fewer}")
    return "; ".join(answers)


def _independent(rows: pd.DataFrame) -> str:
    judged = rows[rows["q"].notna()]
    if not len(judged):
        if rows["share"].isna().all():
            return UNNAMED
        return "not judged: in too few pictures"
    depends = judged[is_finding(judged["q"])]["context"].map(printable).tolist()
    if not depends:
        return f"no dependence found in {many(len(judged), 'context')}"
    return (
        f"no, it depends in {len(depends)} of {many(len(judged), 'context')}: {', '.join(depends)}"
    )


def _who_changes(rows: pd.DataFrame) -> str:
    """Whose mean distance is larger by Tukey's test at the paper's level, and in how many contexts."""
    rows = rows[rows["p"].notna()]
    if not len(rows):
        return "not judged: no group can be compared"
    contexts = rows["context"].nunique()
    significant = rows[rows["paper_significant"].astype(bool)]
    more = significant["one"].where(significant["difference"] > 0, significant["other"])
    counts = (
        significant.assign(more=more).groupby(["factor", "more"], sort=False)["context"].nunique()
    )
    plurals = {"woman": "women", "man": "men"}
    levels = counts.reset_index().itertuples(index=False)
    answers = [
        f"{plurals.get(str(level), printable(level))} in {count} of {contexts}"
        for _, level, count in levels
    ]
    if answers:
        return ", ".join(answers)
    return f"no difference found in {many(contexts, 'context')}"


def _expected(rows: pd.DataFrame) -> str:
    judged = rows[rows["q"].notna()]
    if not len(judged):
        return "not judged: nothing varies"
    significant = int(is_finding(judged["q"], judged["ci_low"], judged["ci_high"]).sum())
    return f"{int(judged['consistent'].sum())} of {significant} differences found ({many(len(judged), 'test')})"


# -- more tables ------------------------------------------------------------------------------------------------------


def _congruence(rows: pd.DataFrame) -> pd.DataFrame:
    subset = rows[(rows["group"] == "all") & rows["slope"].notna()]
    several_rooms = subset["rooms_low"].notna().any()
    made = []
    for row in subset.to_dict("records"):
        cells: Row = {name: row[name] for name in ("classifier", "tags", "measure")}
        cells |= {"people": row["gender"], "n": row["n"]}
        cells["slope"] = f"{row['slope']:+.2f} {'tags' if row['measure'] == 'n_tags' else 'points'}"
        cells["95 %"] = _ends(row, "ci_low", "ci_high") or numbers.NONE
        cells["p"] = numbers.probability(row["p"] if math.isnan(row["p_perm"]) else row["p_perm"])
        cells["q"] = numbers.probability(row["q"])
        if several_rooms:
            cells["95 %, any such rooms"] = _ends(row, "rooms_low", "rooms_high")
            cells["p, any such rooms"] = numbers.probability(row["p_rooms"])
        made.append(cells)
    return pd.DataFrame(made)


def _backgrounds(rows: pd.DataFrame) -> pd.DataFrame:
    columns = rows[
        ["key", "status", "reason", "detail", "rating", "label", "licence", "creator", "source"]
    ]
    return columns.assign(
        rating=[_number(rating, "g", "") for rating in columns["rating"].astype(float)]
    ).fillna("")
