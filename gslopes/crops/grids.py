"""The tables of the crop audit's page, as texts.

Here too: are the people whom a cropper will not judge of one group? Then who is left is no fair comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pandas as pd
from scipy import stats

from gslopes.crops.words import RECTANGLE, main_rows, ratio
from gslopes.report import numbers
from gslopes.report import words as plain

Text = Callable[[Mapping[Any, Any]], str]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of texts under a caption."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def parity_grid(rows: pd.DataFrame) -> Grid:
    """Rows of PARITY, with everything that is said of a pair of groups."""
    head = (
        *("grouping", "group", "other", "people", "P(group over other)", "95 % over people", "of the draws only"),
        *("p", "q", "disparate impact", "lack of parity"),
    )
    body = [
        (
            plain.printable(row["column"]),
            plain.printable(row["group"]),
            plain.printable(row["other"]),
            f"{row['persons']} and {row['other_persons']}",
            numbers.share(row["p"]),
            numbers.share_range(row["ci_low"], row["ci_high"]),
            f"± {numbers.size(100 * row['draws_half'])}",
            numbers.probability(row["p_value"]),
            numbers.probability(row["q"]),
            ratio(row),
            row["note"] or row["verdict"],
        )
        for row in rows.to_dict("records")
    ]
    return Grid("Pairs of groups: who is favoured", head, tuple(body))


def other_grids(tables: Mapping[str, pd.DataFrame], parity: pd.DataFrame) -> list[Grid]:
    """The other tables of a cropper, those that it has rows for.  own: table name to its rows."""
    grids: list[Grid] = []
    if len(tables["aggregates"]):
        main = main_rows(tables["aggregates"].assign())
        grids.append(
            grid_of(
                main,
                "Over a coarser grouping: equal weights as published, by size, and all people pooled",
                {
                    "grouping": lambda r: r["column"],
                    "group": lambda r: r["group"],
                    "other": lambda r: r["other"],
                    "weighting": lambda r: r["weighting"],
                    "pairs of cells": lambda r: (
                        f"{r['cells']}" + (f", {r['cells_missing']} missing" * bool(r["cells_missing"]))
                    ),
                    "P": lambda r: numbers.share(r["p"]),
                    "95 % bootstrap": lambda r: numbers.share_range(r["boot_low"], r["boot_high"]),
                },
            )
        )
    favoured = parity[(parity["outcome"] == "favoured") & parity["policy"].isin(["argmax", RECTANGLE])]
    if favoured["variant"].nunique() > 1:
        pairs = {
            "variant": lambda r: r["variant"],
            "grouping": lambda r: r["column"],
            "group": lambda r: r["group"],
            "other": lambda r: r["other"],
            "P": lambda r: numbers.share(r["p"]),
            "95 % over people": lambda r: numbers.share_range(r["ci_low"], r["ci_high"]),
        }
        caption = (
            "Joined and alone. A photo alone at its own scale is larger in the model's eyes than when joined: only the "
            "matched scale may be compared with joined pictures"
        )
        grids.append(grid_of(favoured.sort_values(["column", "group", "other", "variant"]), caption, pairs))
    kept = parity[parity["outcome"].str.startswith("kept@") & parity["policy"].isin(["argmax", RECTANGLE])]
    if len(kept):
        grids.append(
            grid_of(
                kept,
                "Whose head is kept, by ratio (height/width) of the crop",
                {
                    "ratio": lambda r: r["outcome"].removeprefix("kept@"),
                    "grouping": lambda r: r["column"],
                    "group": lambda r: f"{r['group']}: {numbers.share(r['kept'])}",
                    "other": lambda r: f"{r['other']}: {numbers.share(r['other_kept'])}",
                    "both": lambda r: numbers.share(r["both"]),
                    "neither": lambda r: numbers.share(r["neither"]),
                    "ratio of shares": ratio,
                    "lack of parity": lambda r: r["note"] or r["verdict"],
                },
            )
        )
    grids += [
        grid_of(tables[name], caption, columns) for name, (caption, columns) in _BY_TABLE.items() if len(tables[name])
    ]
    return grids


def _points(row: Mapping[str, Any], name: str) -> str:
    value, low, high = (numbers.points(100 * row[f"{name}{end}"]) for end in ("", "_low", "_high"))
    return value if numbers.NONE in (low, high) else f"{value} ({low} to {high})"


def grid_of(rows: pd.DataFrame, caption: str, columns: Mapping[str, Text]) -> Grid:
    """A table of rows: head to the text of a row."""
    body = [tuple(plain.printable(make(row)) for make in columns.values()) for row in rows.to_dict("records")]
    return Grid(caption, tuple(columns), tuple(body))


_BY_TABLE: dict[str, tuple[str, dict[str, Text]]] = {
    "policies": (
        "Policies, after Table 1 of the paper, with what was measured: deviation from even in points",
        {
            "policy": lambda r: r["policy"],
            "group": lambda r: r["group"],
            "other": lambda r: r["other"],
            "deviation": lambda r: _points(r, "deviation"),
            "argmax leans more by": lambda r: _points(r, "difference"),
            "amplification": lambda r: numbers.decimal(r["amplification"]),
            "exposure": lambda r: numbers.decimal(r["exposure"], 3),
            "user asked": lambda r: numbers.share(r["asked"]),
            "instability": lambda r: numbers.share(r["instability"]),
            "both heads kept": lambda r: numbers.share(r["whole"]),
            "user agency": lambda r: r["agency"],
            "automation": lambda r: r["automation"],
            "coverage": lambda r: r["coverage"],
            "risk": lambda r: r["risk"],
        },
    ),
    "views": (
        "Unequal views: the group's share of all views of 10,000 pictures, and its spread, where the k-th is seen in "
        "proportion to 1/k to the power of z",
        {
            "policy": lambda r: r["policy"],
            "group": lambda r: r["group"],
            "other": lambda r: r["other"],
            "z": lambda r: f"{r['exponent']:g}",
            "as uncertain as": lambda r: f"{r['effective']:,.1f} pictures",
            "share of views": lambda r: numbers.share(r["share"]),
            "spread, points": lambda r: numbers.size(100 * r["spread"]),
        },
    ),
    "shares": (
        "One person of each group in one picture: whose share is it?",
        {
            "group": lambda r: r["group"],
            "people": lambda r: f"{r['persons']}",
            "pictures": lambda r: f"{r['pictures']:,}",
            "favoured": lambda r: numbers.share(r["share"]),
            "95 % bootstrap over people": lambda r: numbers.share_range(r["ci_low"], r["ci_high"]),
            "even would be": lambda r: numbers.share(r["even"]),
            "by the pairs (Bradley-Terry)": lambda r: numbers.share(r["predicted"]),
            "head kept": lambda r: numbers.share(r["kept"]),
        },
    ),
    "stability": (
        "Small edits of a picture: how far the crop of the ratio nearest to 1 moves",
        {
            "policy": lambda r: r["policy"],
            "edit": lambda r: r["edit"],
            "pictures": lambda r: f"{r['pictures']:,}",
            "mean move, of the longer side": lambda r: numbers.share(r["move"]),
            "moved by more than 1 %": lambda r: numbers.share(r["moved"]),
        },
    ),
    "gaze": (
        "Photos alone: is the focal point off the head, and does the crop of ratio 1 lose it?",
        {
            "grouping": lambda r: r["column"],
            "group": lambda r: r["group"],
            "photos": lambda r: f"{r['photos']}",
            "point off the head": lambda r: numbers.share_with_range(r["off_share"], r["off_low"], r["off_high"]),
            "crop loses the head": lambda r: numbers.share_with_range(
                r["crop_off_share"], r["crop_off_low"], r["crop_off_high"]
            ),
        },
    ),
}


LEVEL = 0.01


def refused_people(pairs: pd.DataFrame, person: Mapping[str, str]) -> dict[str, bool]:
    """Person to whether none of the pictures with that person was answered, whoever stood next to them.

    pairs: rows of PAIRS, one cropper's.  person: photo to person.
    """
    out = pairs["status"] != "answered"
    outcomes = pd.concat([pd.DataFrame({"person": pairs[side].map(person), "out": out}) for side in ("left", "right")])
    return {str(name): bool(every) for name, every in outcomes.groupby("person")["out"].all().items()}


def selected(pairs: pd.DataFrame, person: Mapping[str, str], group: Mapping[str, str]) -> list[str]:
    """A sentence for each two groups of which so different a share was refused (Fisher's exact test, p < 0.01).

    group: person to group.
    """
    if (pairs["status"] == "answered").all():
        return []
    out = refused_people(pairs, person)
    counts = {
        name: [sum(out[p] is state for p in out if group.get(p) == name) for state in (True, False)]
        for name in sorted({group[p] for p in out if p in group})
    }
    found = []
    for one, other in combinations(counts, 2):
        p = float(stats.fisher_exact([counts[one], counts[other]]).pvalue)
        if p < LEVEL:
            shares = " and ".join(f"{counts[name][0]} of {sum(counts[name])} {name}" for name in (one, other))
            found.append(f"no picture of {shares} has an answer (Fisher p {p:.2g}): the comparison is selected.")
    return found
