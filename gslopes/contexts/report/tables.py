"""Tables 7 to 13 of Barlas et al. 2020 in their layout, from the tables of a run."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from gslopes.core.files import csv_bytes
from gslopes.report import words

TITLES = {
    "table7": "Table 7: inferred woman-man-neutral (* more of the congruent gender than at the baseline)",
    "table8": "Table 8: Pr(R); Pr(R | woman); Pr(R | man); Pr(R | neutral)",
    "table9": "Table 9: F1 men / women, against self-report (* above the baseline in a congruent context)",
    "table10": "Tables 10 and 12: mean distance by gender and group, and the differences found",
    "table11": "Tables 11 and 13: shares of tags, women and men (* significant as in the paper)",
    "congruence": "Congruence: slope of the answer on how well the context fits",
    "errors": "Direction of errors: women inferred as men and men as women",
    "interaction": "Context beside face: points",
    "confusion": "Specificity: the share of each kind of picture that each context's dictionary would recognise",
    "anova": "Analysis of variance of the distance (* below the paper's level)",
    "tukey": "Tukey's differences of the distance that are below the paper's level",
    "backgrounds": "Backgrounds, with licence and credit",
    "balance": "Sizes of faces and people on the canvas, by gender and group: Welch's test",
    "ratings": "Crowd ratings of the contexts, 0 feminine to 10 masculine",
}
STAR = 0.002  # the paper's level in tables 11 and 13, whose origin is not told


def papers(found: dict[str, pd.DataFrame], tags: str = "gross") -> dict[str, pd.DataFrame]:
    """Name to table, of one kind of tags; those without rows are left out."""
    subset = {name: frame[frame["tags"] == tags] if "tags" in frame else frame for name, frame in found.items()}
    made = {
        "table7": _table7(subset.get("inferred")),
        "table8": _table8(subset.get("recognised")),
        "table9": _table9(subset.get("accuracy")),
        "table10": _table10(subset.get("distances"), subset.get("tukey")),
        "table11": _table11(subset.get("changes")),
        "congruence": _congruence(found.get("congruence")),
        "errors": _errors(subset.get("inferred")),
        "interaction": _interaction(subset.get("interaction")),
        "confusion": _confusion(found.get("confusion")),
        "anova": _anova(subset.get("anova")),
        "tukey": _tukey(subset.get("tukey")),
        "backgrounds": _backgrounds(found.get("backgrounds")),
        "balance": _rounded(found.get("balance_contexts")),
        "ratings": _rounded(found.get("ratings")),
    }
    return {name: frame for name, frame in made.items() if frame is not None and len(frame)}


def forms(frame: pd.DataFrame) -> dict[str, str]:
    """The table as CSV, Markdown and LaTeX, by ending."""
    clean = frame.map(words.printable)
    head = [str(column) for column in clean.columns]
    rows = [list(row) for row in clean.itertuples(index=False)]
    markdown = ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)]
    latex = [" & ".join(map(_latex, cells)) + r" \\" for cells in (head, *rows)]
    body = "\n".join([latex[0], r"\midrule", *latex[1:]])
    tabular = "\\begin{tabular}{" + "l" * len(head) + "}\n\\toprule\n" + body + "\n\\bottomrule\n\\end{tabular}\n"
    return {"csv": csv_bytes(clean.map(_unsigned)).decode(), "md": "\n".join(markdown) + "\n", "tex": tabular}


def _unsigned(text: str) -> str | float:
    """A number as one, or its text without a plus and with a typographic minus: nothing that a CSV must guard.

    >>> [_unsigned(text) for text in ("-0.0120", "+1.20 points", "-1.20 points [-2.00, -0.40]", "=cmd")]
    [-0.012, '1.20 points', '−1.20 points [-2.00, -0.40]', '=cmd']
    """
    if re.fullmatch(r"-\d+(\.\d+)?", text):
        return float(text)
    return re.sub(r"^\+(?=\d)", "", re.sub(r"^-(?=\d)", "\N{MINUS SIGN}", text))


def _latex(text: str) -> str:
    for sign in ("\\", "&", "%", "$", "#", "_", "{", "}"):
        text = text.replace(sign, "\\textbackslash " if sign == "\\" else f"\\{sign}")
    return text.replace("~", r"\textasciitilde ").replace("^", r"\textasciicircum ").replace("<", "$<$")


def _share(number: float, digits: int = 3) -> str:
    if not math.isfinite(number):
        return "NA"
    text = f"{number:.{digits}f}"
    return f"{number:.0f}" if number in (0, 1) else text[1:] if text.startswith("0.") else text


def _wide(cells: Mapping[tuple[Any, Any], str]) -> pd.DataFrame | None:
    """One row a context, one column a classifier."""
    if not cells:
        return None
    contexts = list(dict.fromkeys(context for context, _ in cells))
    names = list(dict.fromkeys(name for _, name in cells))
    return pd.DataFrame([[context, *(cells.get((context, name), "") for name in names)] for context in contexts],
                        columns=["context", *names])  # fmt: skip


def _table7(rows: pd.DataFrame | None) -> pd.DataFrame | None:
    if rows is None:
        return None
    cells = {}
    subset = rows[rows["gender"] == "all"]
    for (classifier, context), part in subset.groupby(["classifier", "context"], sort=False):
        count = part.set_index("inferred")["count"]
        mark = "*" if part["congruent_rise"].any() else ""
        cells[context, classifier] = f"{count['woman']}-{count['man']}-{count['neutral']}{mark}"
    return _wide(cells)


def _table8(rows: pd.DataFrame | None) -> pd.DataFrame | None:
    if rows is None:
        return None
    cells = {}
    for (classifier, context), part in rows.groupby(["classifier", "context"], sort=False):
        share = part.set_index("given")["share"]
        if "woman" not in share:
            cells[context, classifier] = "not applicable"
            continue
        cells[context, classifier] = ";".join(_share(share[given]) for given in ("all", "woman", "man", "neutral"))
    return _wide(cells)


def _table9(rows: pd.DataFrame | None) -> pd.DataFrame | None:
    if rows is None:
        return None
    cells = {}
    for (classifier, context), part in rows.groupby(["classifier", "context"], sort=False):
        by_gender = part.set_index("gender")
        f1, marks = by_gender["f1"], by_gender["congruent_rise"].astype(bool)
        texts = [
            _share(f1.get(gender, math.nan), 2) + ("*" if marks.get(gender, False) else "")
            for gender in ("man", "woman")
        ]
        cells[context, classifier] = "/".join(texts)
    return _wide(cells)


def _table10(rows: pd.DataFrame | None, pairs: pd.DataFrame | None) -> pd.DataFrame | None:
    if rows is None or not len(rows):
        return None
    wide = rows.assign(cell=rows["gender"] + " " + rows["group"]).pivot_table(
        index=["classifier", "context"], columns="cell", values="mean", sort=False
    )
    if wide.empty:
        return None
    table = wide.map(lambda number: _share(number)).reset_index()
    for factor in ("gender", "group"):
        table[f"differs by {factor}"] = [
            _found(pairs, classifier, context, factor)
            for classifier, context in zip(table["classifier"], table["context"], strict=True)
        ]
    return table


def _found(pairs: pd.DataFrame | None, classifier: str, context: str, factor: str) -> str:
    if pairs is None or not len(pairs):
        return ""
    subset = pairs[(pairs["classifier"] == classifier) & (pairs["context"] == context) & (pairs["factor"] == factor)]
    subset = subset[subset["paper_significant"].astype(bool)]
    return ", ".join(
        f"{one} > {other}" if difference > 0 else f"{other} > {one}"
        for one, other, difference in zip(subset["one"], subset["other"], subset["difference"], strict=True)
    )


def _table11(rows: pd.DataFrame | None) -> pd.DataFrame | None:
    if rows is None or not len(rows):
        return None
    shown = rows[["classifier", "context", "super"]].drop_duplicates()
    result = []
    for classifier, context, name in shown.itertuples(index=False):
        subset = rows[(rows["classifier"] == classifier) & (rows["context"] == context) & (rows["super"] == name)]
        cells = {"classifier": classifier, "context": context, "tags": name}
        for row in subset.to_dict("records"):
            head = "Δ " if row["analysis"] == "within" else ""
            star = "*" if row["p"] < STAR else ""
            t = f"{row['t']:.2f}{star}" if math.isfinite(row["t"]) else "ns"
            cells |= {f"{head}women": _number(row["women"]), f"{head}men": _number(row["men"]), f"{head}t": t}
        result.append(cells)
    return pd.DataFrame(result).fillna("")


def _number(number: float) -> str:
    return f"{number:.4f}" if math.isfinite(number) else "NA"


def _congruence(rows: pd.DataFrame | None) -> pd.DataFrame | None:
    if rows is None or not len(rows):
        return None
    subset = rows[(rows["group"] == "all") & rows["slope"].notna()]
    unit = ["tags" if measure == "n_tags" else "points" for measure in subset["measure"]]
    return pd.DataFrame(
        {
            "classifier": subset["classifier"],
            "tags": subset["tags"],
            "measure": subset["measure"],
            "people": subset["gender"],
            "n": subset["n"],
            "slope": [f"{slope:+.2f} {name}" for slope, name in zip(subset["slope"], unit, strict=True)],
            "95 %": [
                f"[{low:+.2f}, {high:+.2f}]" for low, high in zip(subset["ci_low"], subset["ci_high"], strict=True)
            ],
            "p": [words.probability(p) for p in subset["p_perm"].fillna(subset["p"])],
            "q": [words.probability(q) for q in subset["q"]],
        }
    )


def _errors(rows: pd.DataFrame | None) -> pd.DataFrame | None:
    if rows is None or not len(rows):
        return None
    wrong = rows[
        ((rows["gender"] == "woman") & (rows["inferred"] == "man"))
        | ((rows["gender"] == "man") & (rows["inferred"] == "woman"))
    ]
    return pd.DataFrame(
        {
            "classifier": wrong["classifier"],
            "context": wrong["context"],
            "says": wrong["gender"],
            "inferred": wrong["inferred"],
            "count": [f"{count} of {n}" for count, n in zip(wrong["count"], wrong["n"], strict=True)],
            "change": [
                "" if not math.isfinite(change) else f"{100 * change:+.1f} points [{100 * low:+.1f}, {100 * high:+.1f}]"
                for change, low, high in zip(wrong["change"], wrong["change_low"], wrong["change_high"], strict=True)
            ],
            "q": [words.probability(q) for q in wrong["q"]],
        }
    )


def _confusion(rows: pd.DataFrame | None) -> pd.DataFrame | None:
    """Dictionaries down, what was shown across."""
    if rows is None or not len(rows):
        return None
    wide = rows.pivot_table(index=["classifier", "dictionary"], columns="shown", values="share", sort=False)
    return wide.map(_share).reset_index()


def _anova(rows: pd.DataFrame | None) -> pd.DataFrame | None:
    if rows is None or not len(rows):
        return None
    kept = rows[rows["term"] != "residual"]
    star = kept["paper_significant"].astype(bool)
    return pd.DataFrame(
        {
            "classifier": kept["classifier"],
            "context": kept["context"],
            "term": kept["term"],
            "F": [f"{f:.2f}" if math.isfinite(f) else "NA" for f in kept["F"]],
            "p": [words.probability(p) + ("*" if mark else "") for p, mark in zip(kept["p"], star, strict=True)],
            "q": [words.probability(q) for q in kept["q"]],
            "partial η²": [_share(eta) for eta in kept["eta_sq"]],
        }
    )


def _tukey(rows: pd.DataFrame | None) -> pd.DataFrame | None:
    if rows is None or not len(rows):
        return None
    kept = rows[rows["paper_significant"].astype(bool)]
    return pd.DataFrame(
        {
            "classifier": kept["classifier"],
            "context": kept["context"],
            "factor": kept["factor"],
            "difference": [
                f"{one} − {other}: {difference:+.4f} [{low:+.4f}, {high:+.4f}]"
                for one, other, difference, low, high in zip(
                    kept["one"], kept["other"], kept["difference"], kept["ci_low"], kept["ci_high"], strict=True
                )
            ],
            "p": [words.probability(p) for p in kept["p"]],
        }
    )


def _backgrounds(rows: pd.DataFrame | None) -> pd.DataFrame | None:
    if rows is None:
        return None
    shown = rows[["key", "status", "reason", "detail", "rating", "label", "licence", "creator", "source"]].copy()
    shown["rating"] = [f"{rating:g}" if math.isfinite(rating) else "" for rating in shown["rating"].astype(float)]
    return shown.fillna("")


def _rounded(rows: pd.DataFrame | None) -> pd.DataFrame | None:
    """As it is, with three decimals."""
    if rows is None or not len(rows):
        return None
    shown = rows.copy()
    for column in shown.columns:
        if column == "p":
            shown[column] = [words.probability(p) for p in rows[column]]
        elif shown[column].dtype.kind == "f":
            shown[column] = [
                f"{number:.3f}".rstrip("0").rstrip(".") if math.isfinite(number) else "" for number in rows[column]
            ]
    return shown


def _interaction(rows: pd.DataFrame | None) -> pd.DataFrame | None:
    if rows is None or not len(rows):
        return None
    subset = rows[rows["label"].isin(["inferred woman", "inferred man", "recognised"]) | (rows["q"] < 0.05)]

    def span(middle: str, low: str, high: str) -> list[str]:
        triples = zip(subset[middle], subset[low], subset[high], strict=True)
        return [f"{number:+.1f} [{a:+.1f}, {b:+.1f}]" for number, a, b in triples]

    return pd.DataFrame(
        {
            "classifier": subset["classifier"],
            "background": subset["background"],
            "label": subset["label"],
            "context alone": span("effect", "effect_low", "effect_high"),
            "face alone, -1 to 1": span("face", "face_low", "face_high"),
            "slope here minus canvas": span("difference", "ci_low", "ci_high"),
            "q": [words.probability(q) for q in subset["q"]],
        }
    )
