"""Tables 7 to 13 of Barlas et al. 2020 in their layout, and more, from the tables of a run."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from gslopes.contexts.report.answers import table14
from gslopes.core.files import csv_bytes
from gslopes.report import numbers, words
from gslopes.report.layouts import markdown, tabular

TITLES = {
    "table7": "Table 7: inferred woman-man-neutral (* more of the congruent gender than at the baseline)",
    "table8": "Table 8: Pr(R); Pr(R | woman); Pr(R | man); Pr(R | neutral)",
    "table9": "Table 9: F1 men / women, against self-report (* above the baseline in a congruent context)",
    "table10": "Tables 10 and 12: mean distance by gender and group, and the differences found",
    "table11": "Tables 11 and 13: shares of tags, women and men (* significant as in the paper; † found, q < 0.05, of "
    "the sign that linguistic expectancy bias predicts)",
    "table14": "Table 14: the answers for each tagger (found: q < 0.05; RQ4: the paper's level)",
    "congruence": "Congruence: slope of the answer on how well the context fits",
    "errors": "Direction of errors: women inferred as men and men as women",
    "interaction": "Context and face: points",
    "palettes": "Colours within one context: pictures with a label, one palette minus another of the same rooms",
    "anova": "Analysis of variance of the distance (* below the paper's level)",
    "tukey": "Tukey's differences of the distance that are below the paper's level",
    "backgrounds": "Backgrounds, with licence and credit",
    "ratings": "Crowd ratings of the contexts, 0 feminine to 10 masculine",
}
STAR = 0.002  # the paper's level in tables 11 and 13; it does not state where that comes from
Row = Mapping[Any, Any]


def paper_tables(results: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Name to table, of the gross tags; those without rows are left out."""

    def rows_of(name: str, kind: str | None = "gross") -> pd.DataFrame:
        frame = results[name] if name in results else pd.DataFrame()
        return frame[frame["tags"] == kind] if kind and "tags" in frame else frame

    makers: tuple[tuple[str, str, Callable[[pd.DataFrame], pd.DataFrame]], ...] = (
        ("table7", "inferred", _table7),
        ("table8", "recognised", _table8),
        ("table9", "accuracy", _table9),
        ("table10", "distances", lambda rows: _table10(rows, rows_of("tukey"))),
        ("table11", "changes", _table11),
        ("errors", "inferred", _errors),
        ("interaction", "interaction", _interaction),
        ("palettes", "palettes", _palettes),
        ("anova", "anova", _anova),
        ("tukey", "tukey", _tukey),
        ("backgrounds", "backgrounds", _backgrounds),
        ("ratings", "ratings", _rounded),
    )
    made = {name: make(rows) for name, source, make in makers if len(rows := rows_of(source))}
    if len(rows := rows_of("congruence", None)):
        made["congruence"] = _congruence(rows)
    if "backgrounds" in results:
        made["table14"] = table14(results)
    return {name: made[name] for name in TITLES if name in made and len(made[name])}


def forms(frame: pd.DataFrame) -> dict[str, str]:
    """The table as CSV, Markdown and LaTeX, by ending."""
    clean = frame.map(words.printable)
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
    return f"{number:{form}}" if math.isfinite(number) else missing


def _share(number: float, digits: int = 3) -> str:
    """A share without its leading zero."""
    return f"{number:.0f}" if number in (0, 1) else re.sub(r"^0(?=\.)", "", _number(number, f".{digits}f"))


def _ends(row: Row, low: str, high: str, form: str = "+.1f", scale: float = 1.0) -> str:
    """An interval in brackets; empty where there is none."""
    ends = [scale * row[name] for name in (low, high)]
    return f"[{ends[0]:{form}}, {ends[1]:{form}}]" if all(map(math.isfinite, ends)) else ""


def _span(row: Row, middle: str, low: str, high: str, form: str = "+.1f") -> str:
    return f"{row[middle]:{form}} {_ends(row, low, high, form)}".rstrip()


def _q(row: Row) -> str:
    return numbers.probability(row["q"])


def _of_rooms(rows: pd.DataFrame, cells: Mapping[str, Callable[[Row], Any]]) -> Mapping[str, Callable[[Row], Any]]:
    """The cells about any such rooms, if a context has several."""
    several = [name for name in rows if "rooms_" in str(name)]
    return cells if several and rows[several].notna().any(axis=None) else {}


def _listed(rows: pd.DataFrame, same: str, cells: Mapping[str, Callable[[Row], Any]]) -> pd.DataFrame:
    """A row for each row.  same: columns that stay as they are, first.  cells: head to what makes a cell."""
    made = {name: rows[name].tolist() for name in same.split()}
    records = rows.to_dict("records")
    return pd.DataFrame({**made, **{head: [cell(row) for row in records] for head, cell in cells.items()}})


def _wide(rows: pd.DataFrame, cell: Callable[[pd.DataFrame], str]) -> pd.DataFrame:
    """One row a context, one column a classifier, each cell from its part of the rows."""
    parts = rows.groupby(["classifier", "context"], sort=False)
    cells = {(context, name): cell(part) for (name, context), part in parts}
    names = list(dict.fromkeys(name for _, name in cells))
    contexts = dict.fromkeys(context for context, _ in cells)
    filled = [[context, *(cells.get((context, name), "") for name in names)] for context in contexts]
    return pd.DataFrame(filled, columns=["context", *names])


# -- the paper's tables -----------------------------------------------------------------------------------------------


def _table7(rows: pd.DataFrame) -> pd.DataFrame:
    def cell(part: pd.DataFrame) -> str:
        count = part.set_index("inferred")["count"]
        return f"{count['woman']}-{count['man']}-{count['neutral']}" + "*" * bool(part["congruent_rise"].any())

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
        f1 = {
            row["gender"]: _share(row["f1"], 2) + "*" * bool(row["congruent_rise"]) for row in part.to_dict("records")
        }
        return f"{f1.get('man', 'NA')}/{f1.get('woman', 'NA')}"

    return _wide(rows, cell)


def _table10(rows: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    wide = rows.assign(cell=rows["gender"] + " " + rows["group"]).pivot_table(
        index=["classifier", "context"], columns="cell", values="mean", sort=False
    )
    women_first = sorted(wide.columns, key=lambda cell: (not cell.startswith("woman"), cell))
    table = wide[women_first].map(_share).reset_index()
    for factor in ("gender", "group"):
        places = zip(table["classifier"], table["context"], strict=True)
        table[f"differs by {factor}"] = [_differing(pairs, *place, factor) for place in places]
    return table


def _differing(pairs: pd.DataFrame, classifier: str, context: str, factor: str) -> str:
    """The pairs of levels that differ by Tukey's test, the larger one first."""
    if not len(pairs):
        return ""
    subset = pairs[(pairs["classifier"] == classifier) & (pairs["context"] == context) & (pairs["factor"] == factor)]
    subset = subset[subset["paper_significant"].astype(bool)]
    return ", ".join(
        f"{row['one']} > {row['other']}" if row["difference"] > 0 else f"{row['other']} > {row['one']}"
        for row in subset.to_dict("records")
    )


def _table11(rows: pd.DataFrame) -> pd.DataFrame:
    made: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows.sort_values("analysis", ascending=False, kind="stable").to_dict("records"):
        head = {"classifier": row["classifier"], "context": row["context"], "tags": row["super"]}
        sign = "Δ " if row["analysis"] == "within" else ""
        t = _number(row["t"], ".2f", "ns") + "*" * (row["p"] < STAR) + "†" * bool(row.get("consistent", False))
        cells = made.setdefault(tuple(head.values()), head)
        cells |= {f"{sign}women": _number(row["women"]), f"{sign}men": _number(row["men"]), f"{sign}t": t}
    return pd.DataFrame(list(made.values())).fillna("")


# -- more tables ------------------------------------------------------------------------------------------------------


def _congruence(rows: pd.DataFrame) -> pd.DataFrame:
    subset = rows[(rows["group"] == "all") & rows["slope"].notna()]
    return _listed(subset, "classifier tags measure", {
        "people": lambda row: row["gender"],
        "n": lambda row: row["n"],
        "slope": lambda row: f"{row['slope']:+.2f} {'tags' if row['measure'] == 'n_tags' else 'points'}",
        "95 %": lambda row: _ends(row, "ci_low", "ci_high", "+.2f") or numbers.NONE,
        "p": lambda row: numbers.probability(row["p"] if math.isnan(row["p_perm"]) else row["p_perm"]),
        "q": _q,
        **_of_rooms(subset, {
            "95 %, any such rooms": lambda row: _ends(row, "rooms_low", "rooms_high", "+.2f"),
            "p, any such rooms": lambda row: numbers.probability(row["p_rooms"]),
        }),
    })  # fmt: skip


def _change(row: Row) -> str:
    points = f"{100 * row['change']:+.1f} points {_ends(row, 'change_low', 'change_high', scale=100)}".rstrip()
    return points if math.isfinite(row["change"]) else ""


def _errors(rows: pd.DataFrame) -> pd.DataFrame:
    wrong = rows[(rows["gender"] + " " + rows["inferred"]).isin(["woman man", "man woman"])]

    return _listed(wrong, "classifier context", {
        "says": lambda row: row["gender"],
        "inferred": lambda row: row["inferred"],
        "count": lambda row: f"{row['count']} of {row['n']}",
        "in 100": lambda row: _ends(row, "ci_low", "ci_high", ".1f", 100),
        "change": _change,
        "q": _q,
        **_of_rooms(wrong, {
            "in 100, any such rooms": lambda row: _ends(row, "rooms_low", "rooms_high", ".1f", 100),
            "change, any such rooms": lambda row: _ends(row, "change_rooms_low", "change_rooms_high", scale=100),
            "p, any such rooms": lambda row: numbers.probability(row["p_rooms"]),
        }),
    })  # fmt: skip


def _interaction(rows: pd.DataFrame) -> pd.DataFrame:
    shown = rows["label"].isin(["inferred woman", "inferred man", "recognised"]) | (rows["q"] < 0.05)
    return _listed(rows[shown], "classifier background label", {
        "context alone": lambda row: _span(row, "effect", "effect_low", "effect_high"),
        "face alone, -1 to 1": lambda row: _span(row, "face", "face_low", "face_high"),
        "slope here minus canvas": lambda row: _span(row, "difference", "ci_low", "ci_high"),
        "q": _q,
    })  # fmt: skip


def _palettes(rows: pd.DataFrame) -> pd.DataFrame:
    shown = rows[rows["label"].isin(["inferred woman", "inferred man", "recognised"]) | (rows["q"] < 0.05)]
    return _listed(shown, "classifier context label", {
        "palettes": lambda row: f"{row['palette']} − {row['other']}",
        "in each, %": lambda row: f"{100 * row['share']:.1f} − {100 * row['share_other']:.1f}",
        "change": _change,
        "q": _q,
        **_of_rooms(shown, {
            "any such rooms": lambda row: _ends(row, "change_rooms_low", "change_rooms_high", scale=100),
            "p, any such rooms": lambda row: numbers.probability(row["p_rooms"]),
        }),
    })  # fmt: skip


def _anova(rows: pd.DataFrame) -> pd.DataFrame:
    return _listed(rows[rows["term"] != "residual"], "classifier context term", {
        "F": lambda row: _number(row["F"], ".2f"),
        "p": lambda row: numbers.probability(row["p"]) + "*" * bool(row["paper_significant"]),
        "q": _q,
        "partial η²": lambda row: _share(row["eta_sq"]),
    })  # fmt: skip


def _tukey(rows: pd.DataFrame) -> pd.DataFrame:
    def difference(row: Row) -> str:
        return f"{row['one']} − {row['other']}: " + _span(row, "difference", "ci_low", "ci_high", "+.4f")

    kept = rows[rows["paper_significant"].astype(bool)]
    cells = {"difference": difference, "p": lambda row: numbers.probability(row["p"])}
    return _listed(kept, "classifier context factor", cells)


def _backgrounds(rows: pd.DataFrame) -> pd.DataFrame:
    shown = rows[["key", "status", "reason", "detail", "rating", "label", "licence", "creator", "source"]]
    return shown.assign(rating=[_number(rating, "g", "") for rating in shown["rating"].astype(float)]).fillna("")


def _rounded(rows: pd.DataFrame) -> pd.DataFrame:
    """The same with three decimals."""
    shown = rows.copy()
    for column in shown.columns:
        if column == "p":
            shown[column] = [numbers.probability(p) for p in rows[column]]
        elif shown[column].dtype.kind == "f":
            shown[column] = [re.sub(r"\.?0+$", "", _number(number, ".3f", "")) for number in rows[column]]
    return shown
