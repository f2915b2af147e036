"""The page of the causal version: one face moved along an attribute, the cropper asked again."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from gslopes.core import placebo, runfolder
from gslopes.crops import charts
from gslopes.crops.grids import Grid
from gslopes.frame.page import Page
from gslopes.frame.spec import Headline, Section, Tables
from gslopes.report import caution, numbers
from gslopes.report import words as plain

_NAMES = {
    "same": "placebo: the same picture, encoded again",
    "light": "placebo: lighter and darker",
    "random": "placebo: a random change as large",
}


def lede(page: Page) -> dict[str, Any]:
    """How many photos, and next to how many others."""
    about = runfolder.read_manifest(page.run.folder)["pictures"]
    balanced = [plain.printable(name) for name in about.get("balanced", [])]
    return {"photos": about["photos"], "others": page.run.config.others, "balanced": balanced}


def differently(page: Page) -> dict[str, Any]:
    """Each cropper and attribute, with its curve against the placebos."""
    return {"sections": _sections(page)}


def sure(page: Page) -> dict[str, Any]:
    """Slopes and duels."""
    return {"sections": _sections(page)}


def made(page: Page) -> dict[str, Any]:
    """How the numbers were made."""
    return {"notes": page.notes}


SECTIONS = (
    Section("lede", "", lede),
    Section("differently", "", differently),
    Section("sure", "", sure),
    Section("made", "How this was made", made),
)


def _sections(page: Page) -> list[dict[str, Any]]:
    scores, slopes, duels = (page.tables[name] for name in ("scores", "sweep_slopes", "duels"))
    pairs = {(str(c), str(a)) for c, a in zip(slopes["classifier"], slopes["attribute"], strict=True)}
    return [_section(*pair, scores, slopes, duels) for pair in sorted(pairs) if not placebo.is_placebo(pair[1])]


def headline_of(tables: Tables) -> Headline:
    """Of all croppers and attributes, the slope of being favoured that is shown best."""
    return Headline(sweep_headline(tables["sweep_slopes"]))


def terminal(tables: Tables) -> str:
    """What the terminal shows."""
    return print_sweep(tables["sweep_slopes"], tables["duels"])


def sweep_headline(slopes: pd.DataFrame) -> str:
    """The finding in one sentence: of all croppers and attributes, the slope of being favoured that is shown best.

    It stands against the placebo sweeps: one that reaches into its interval, in its direction, is named next to it.

    slopes: rows of SWEEP_SLOPES.
    """
    chosen = slopes[(slopes["label"] == "favoured") & ~placebo.among(slopes["attribute"])]
    judged = chosen.dropna(subset=["p"])
    if judged.empty:
        return "The crop moves too rarely with the edit to be judged."
    best = min(judged.to_dict("records"), key=lambda row: row["p"])
    cropper, what = best["classifier"].removeprefix("crop:"), plain.perceived(best["attribute"])
    if not (best["ci_low"] > 0 or best["ci_high"] < 0):
        return plain.printable(f"{_none(judged, what)}.")
    like = placebo_as_steep(best, slopes)
    if like is not None:
        both = f"{_points(best['slope'])} and {_points(like['slope'])} points per unit"
        return plain.printable(f"{cropper} follows {what} no more than a placebo: {both}.")
    end = plain.ends(best["attribute"])[1 if best["slope"] > 0 else 0]
    size = numbers.size(100 * best["slope"], 2)
    ends = numbers.interval(100 * best["ci_low"], 100 * best["ci_high"], lambda share: numbers.points(share, 2))
    return plain.printable(f"{cropper} favours a face more the more {end} it looks: {size} points per unit {ends}.")


def _none(judged: pd.DataFrame, what: str) -> str:
    """The sentence where no crop is shown to follow the edit: none does, or it cannot be said."""
    found = []
    for row in judged.to_dict("records"):
        low, high = 100 * row["ci_low"], 100 * row["ci_high"]
        name, shown = row["classifier"].removeprefix("crop:"), f"{numbers.interval(low, high)} points per unit"
        found.append(caution.Nothing(name, low, high, int(row["people"]), caution.POINTS, shown))
    widest = caution.widest(found)
    if not widest.clear:
        which = widest.name if len(found) == 1 else "any crop"
        return caution.cannot_tell(widest, f"whether {which} follows {what}", "person", "people")
    return f"No crop follows {what} ({plain.many(widest.n, 'person', 'people')}; widest: {widest.shown})"


def placebo_as_steep(row: Mapping[Hashable, Any], slopes: pd.DataFrame) -> Mapping[Hashable, Any] | None:
    """The steepest placebo sweep in the direction of a slope, if it reaches into the slope's interval."""
    sign = 1 if row["slope"] > 0 else -1
    same = (slopes["classifier"] == row["classifier"]) & (slopes["label"] == row["label"])
    family = slopes["attribute"].map(
        lambda name: placebo.split(name)[0] == row["attribute"] and name != row["attribute"]
    )
    found = slopes[same & family].to_dict("records")
    steep = max(found, key=lambda one: sign * one["slope"], default=None)
    near = row["ci_low"] if sign > 0 else -row["ci_high"]
    return steep if steep is not None and sign * steep["slope"] >= near else None


def _section(
    classifier: str, attribute: str, scores: pd.DataFrame, slopes: pd.DataFrame, duels: pd.DataFrame
) -> dict[str, object]:
    fitted = slopes[slopes["classifier"] == classifier]
    family = fitted[fitted["attribute"].map(lambda name: placebo.split(name)[0]) == attribute]
    named = {name: _named(name) for name in sorted(family["attribute"].unique(), key=lambda n: (n != attribute, n))}
    curves = []
    for name, word in named.items():
        answers = scores[
            (scores["classifier"] == classifier) & (scores["attribute"] == name) & (scores["label"] == "favoured")
        ]
        mean = answers.groupby("value")["score"].mean()
        curves.append((word, mean.index.to_numpy(np.float64), mean.to_numpy(np.float64)))
    rows = [
        (
            named[row["attribute"]],
            plain.printable(row["label"]),
            f"{row['photos']:,}",
            _points(row["slope"]),
            _ends(row, "ci"),
            _ends(row, "t"),
            _ends(row, "boot"),
            numbers.probability(row["p"]),
        )
        for row in family.sort_values(["label", "attribute"]).to_dict("records")
    ]
    head = (
        *("sweep", "outcome", "photos", "slope, points per unit", "95 %, the wider", "over people (t)"),
        *("over people and opponents (bootstrap)", "p"),
    )
    cropper = classifier.removeprefix("crop:")
    negative, positive = plain.ends(attribute)
    both = duels[(duels["cropper"] == cropper) & duels["low"].isna()]
    duel = [
        (
            named[row["attribute"]],
            f"{row['persons']:,}",
            numbers.signed(row["p"]),
            numbers.interval(row["ci_low"], row["ci_high"], numbers.signed),
        )
        for row in both[both["attribute"].isin(list(named))].to_dict("records")
    ]
    main = family[(family["attribute"] == attribute) & (family["label"] == "favoured")].iloc[0]
    answer = (
        f"Along {plain.perceived(attribute)}, from {negative} to {positive}, the chance to be favoured changes by "
        f"{_points(main['slope'])} points per unit ({_points(main['ci_low'])} to {_points(main['ci_high'])}, "
        f"p {numbers.probability(main['p'])}): the association under this edit. "
        "Read it against the placebos, whose edits change no perceived attribute."
    )
    like = placebo_as_steep(main.to_dict(), slopes)
    if like is not None:
        steepest = f"{_named(like['attribute']).capitalize()} reaches {_points(like['slope'])}"
        answer += f" {steepest}: the edit is not distinguished from it."
    title = f"Chance to be favoured (%) along {plain.perceived(attribute)}, {negative} (−) to {positive} (+)"
    return {
        "cropper": plain.printable(cropper),
        "attribute": plain.perceived(attribute),
        "answer": answer,
        "chart": Markup(charts.sweep_lines(curves, title)),
        "grids": [
            Grid("Slope of each outcome over the values, a person's photo being the unit", head, tuple(rows)),
            Grid(
                "Duels: a person's own picture at two values side by side; D is 1 if the larger value always wins",
                ("sweep", "persons", "D, −1 to 1", "95 % over people"),
                tuple(duel),
            ),
        ],
    }


def _named(attribute: str) -> str:
    base, kind = placebo.split(attribute)
    return _NAMES[kind] if kind else plain.perceived(base)


def _ends(row: Mapping[Hashable, Any], name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return numbers.NONE if math.isnan(low) else f"{_points(low)} to {_points(high)}"


def _points(value: float) -> str:
    return numbers.points(100 * value, 2)


def print_sweep(slopes: pd.DataFrame, duels: pd.DataFrame) -> str:
    """What the terminal shows: the slope of being favoured by each sweep, and its duels; slopes: SWEEP_SLOPES."""
    lines = []
    chosen = slopes[slopes["label"] == "favoured"]
    for row in chosen.sort_values(["classifier", "attribute"]).to_dict("records"):
        cropper = row["classifier"].removeprefix("crop:")
        both = duels[(duels["cropper"] == cropper) & (duels["attribute"] == row["attribute"]) & duels["low"].isna()]
        duel = "" if both.empty else f"; duels D {numbers.signed(both['p'].iloc[0])}"
        lines.append(
            f"{plain.printable(cropper)}, {plain.printable(row['attribute'])}: {_points(row['slope'])} points per unit "
            f"({_ends(row, 'ci')}), p {numbers.probability(row['p'])}, {plain.many(row['photos'], 'photo')}{duel}"
        )
    return "\n".join(lines)
