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
from gslopes.frame.page import Page
from gslopes.frame.spec import Headline, Section, Tables
from gslopes.report import caution, numbers
from gslopes.report import words as plain

_NAMES = {
    "same": "placebo: the same picture, encoded again",
    "light": "placebo: lighter and darker",
    "random": "placebo: a random change as large",
}
_HEAD = (
    *("sweep", "photos", "slope, points per unit", "95 %, the wider", "over people (t)"),
    *("over people and opponents (bootstrap)", "p"),
)


def lede(page: Page) -> dict[str, Any]:
    """How many photos, and next to how many others."""
    about = runfolder.read_manifest(page.run.folder)["pictures"]
    return {"photos": about["photos"], "others": page.run.config.others}


def curves(page: Page) -> dict[str, Any]:
    """Each cropper and attribute, with its answer, its curve against the placebos, and its slopes."""
    faced, slopes = page.tables["opponents"], page.tables["sweep_slopes"]
    values = runfolder.read_manifest(page.run.folder)["values"]
    sections = []
    main = slopes[~placebo.among(slopes["attribute"])].sort_values(["cropper", "attribute"])
    for row in main.to_dict("records"):
        cropper, attribute = row["cropper"], row["attribute"]
        own = slopes[slopes["cropper"] == cropper]
        family = own[own["attribute"].map(lambda name: placebo.split(name)[0]) == attribute]
        family = family.sort_values("attribute", key=lambda names: names.where(names != attribute, ""))
        drawn, rows = [], []
        for one in family.to_dict("records"):
            own_faced = faced[(faced["cropper"] == cropper) & (faced["attribute"] == one["attribute"])]
            mean, name = own_faced.groupby("step")["share"].mean().to_numpy(np.float64), _named(one["attribute"])
            drawn.append((name, np.asarray(values[one["attribute"]], np.float64), mean))
            ends = [_ends(one, kind) for kind in ("ci", "t", "boot")]
            slope, p = _points(one["slope"]), numbers.probability(one["p"])
            rows.append((name, f"{one['photos']:,}", slope, *ends, p))
        negative, positive = plain.ends(attribute)
        title = f"Chance to be favoured (%) along {plain.perceived(attribute)}, {negative} (−) to {positive} (+)"
        sections.append(
            {
                "cropper": plain.printable(cropper),
                "attribute": plain.perceived(attribute),
                "answer": _answer(row, slopes),
                "chart": Markup(charts.sweep_lines(drawn, title)),
                "caption": "Slope of being favoured over the values, a person's photo being the unit",
                "head": _HEAD,
                "rows": rows,
            }
        )
    return {"sections": sections}


def made(page: Page) -> dict[str, Any]:
    """How the numbers were made."""
    return {"notes": page.notes}


SECTIONS = (
    Section("lede", "", lede),
    Section("differently", "", curves),
    Section("sure", "", curves),
    Section("made", "How this was made", made),
)


def sweep_headline(tables: Tables) -> Headline:
    """Of all croppers and attributes, the slope of being favoured that is shown best.

    A placebo sweep that reaches into its interval, in its direction, is named next to it.
    """
    return Headline(plain.printable(_finding(tables["sweep_slopes"])))


def _finding(slopes: pd.DataFrame) -> str:
    judged = slopes[~placebo.among(slopes["attribute"])].dropna(subset=["p"])
    if judged.empty:
        return "The crop moves too rarely with the edit to be judged."
    best = min(judged.to_dict("records"), key=lambda row: row["p"])
    cropper, what = best["cropper"], plain.perceived(best["attribute"])
    if not (best["ci_low"] > 0 or best["ci_high"] < 0):
        return f"{_none(judged, what)}."
    like = placebo_as_steep(best, slopes)
    if like is not None:
        both = f"{_points(best['slope'])} and {_points(like['slope'])} points per unit"
        return f"{cropper} follows {what} no more than a placebo: {both}."
    end = plain.ends(best["attribute"])[1 if best["slope"] > 0 else 0]
    size = numbers.size(100 * best["slope"], 2)
    ends = numbers.interval(100 * best["ci_low"], 100 * best["ci_high"], lambda share: numbers.points(share, 2))
    return f"{cropper} favours a face more the more {end} it looks: {size} points per unit {ends}."


def _none(judged: pd.DataFrame, what: str) -> str:
    """The sentence where no crop is shown to follow the edit: none does, or it cannot be said."""
    found = []
    for row in judged.to_dict("records"):
        low, high = 100 * row["ci_low"], 100 * row["ci_high"]
        name, shown = row["cropper"], f"{numbers.interval(low, high)} points per unit"
        found.append(caution.Nothing(name, low, high, int(row["people"]), caution.POINTS, shown))
    widest = caution.widest(found)
    if not widest.clear:
        which = widest.name if len(found) == 1 else "any crop"
        return caution.cannot_tell(widest, f"whether {which} follows {what}", "person", "people")
    return f"No crop follows {what} ({plain.many(widest.n, 'person', 'people')}; widest: {widest.shown})"


def placebo_as_steep(row: Mapping[Hashable, Any], slopes: pd.DataFrame) -> Mapping[Hashable, Any] | None:
    """The steepest placebo sweep in the direction of a slope, if it reaches into the slope's interval."""
    sign = 1 if row["slope"] > 0 else -1
    base = slopes["attribute"].map(lambda name: placebo.split(name)[0])
    family = slopes[(slopes["cropper"] == row["cropper"]) & (base == row["attribute"])]
    placebos = family[family["attribute"] != row["attribute"]].to_dict("records")
    steep = max(placebos, key=lambda one: sign * one["slope"], default=None)
    near = row["ci_low"] if sign > 0 else -row["ci_high"]
    return steep if steep is not None and sign * steep["slope"] >= near else None


def _answer(row: Mapping[Hashable, Any], slopes: pd.DataFrame) -> str:
    if math.isnan(row["slope"]):
        return "No photo has an answer at every value."
    negative, positive = plain.ends(str(row["attribute"]))
    answer = (
        f"Along {plain.perceived(str(row['attribute']))}, from {negative} to {positive}, the chance to be favoured "
        f"changes by {_points(row['slope'])} points per unit ({_points(row['ci_low'])} to {_points(row['ci_high'])}, "
        f"p {numbers.probability(row['p'])}): the association under this edit. "
        "Read it against the placebos, whose edits change no perceived attribute."
    )
    like = placebo_as_steep(row, slopes)
    if like is None:
        return answer
    steepest = f"{_named(like['attribute']).capitalize()} reaches {_points(like['slope'])}"
    return f"{answer} {steepest}: the edit is not distinguished from it."


def _named(attribute: str) -> str:
    base, kind = placebo.split(attribute)
    return _NAMES[kind] if kind else plain.perceived(base)


def _ends(row: Mapping[Hashable, Any], name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return numbers.NONE if math.isnan(low) else f"{_points(low)} to {_points(high)}"


def _points(value: float) -> str:
    return numbers.points(100 * value, 2)


def print_sweep(tables: Tables) -> str:
    """What the terminal shows: the slope of being favoured by each sweep."""
    lines = []
    for row in tables["sweep_slopes"].sort_values(["cropper", "attribute"]).to_dict("records"):
        cropper = row["cropper"]
        lines.append(
            f"{plain.printable(cropper)}, {plain.printable(row['attribute'])}: {_points(row['slope'])} points per unit "
            f"({_ends(row, 'ci')}), p {numbers.probability(row['p'])}, {plain.many(row['photos'], 'photo')}"
        )
    return "\n".join(lines)
