"""The tables of a card: rows to columns to numbers, and what is asked of an editor next to what it reaches."""

from __future__ import annotations

from typing import Any

from gslopes.faces.gate.manipulation import Estimate

Table = dict[str, dict[str, Any]]  # row to column to a number with its interval, a number or a word

# What is asked: the bound for gender and for race.
BOUNDS = {
    "shift": (0.75, 0.65),
    "shift, -1 to 1": (0.45, 0.4),
    "monotone": (0.95, 0.95),
    "two-sample AUC at 1": (0.62, 0.68),
    "two-sample AUC at 2": (0.70, 0.78),
    "matched two-sample AUC at 1": (0.65, 0.65),
    "matched two-sample AUC at 2": (0.70, 0.75),
    "share": (0.12, 0.15),
    "gap": (0.1, 0.1),
    "probe": (0.65, 0.7),
    "found": (0.995, 0.995),
    "nearest to itself": (1, 1),
}


def cell(number: Estimate) -> dict[str, float]:
    """A number as metrics.json holds it, rounded to four places."""
    return {"value": round(number.value, 4), "low": round(number.low, 4), "high": round(number.high, 4)}


def asked(attribute: str, way: str, tables: dict[str, Table]) -> Table:
    """What was asked of an editor, what it reaches, and whether that is enough: judged by the value alone.

    way: that of an audit, such as ``face, ratio``.
    """
    column = 0 if attribute == "gender" else 1
    bound = {name: pair[column] for name, pair in BOUNDS.items()}
    target = "P(masculine)" if attribute == "gender" else "P(White)"
    rows: Table = {}
    for name in ("UTKFace", "London"):
        if f"what it edits, {name}" in tables:
            found = {title.removesuffix(f", {name}"): table for title, table in tables.items() if title.endswith(name)}
            rows |= {f"{what}, {name}": row for what, row in _asked_of(attribute, way, target, bound, found).items()}
    return rows


def _asked_of(attribute: str, way: str, target: str, bound: dict[str, float], tables: dict[str, Table]) -> Table:
    """As ``asked``, of one set of faces."""
    edits_of, natural = tables["what it edits"], tables["how natural"]
    edits = edits_of[f"{way}: reader"]
    rows: Table = {
        f"shift of {target} from -2 to 2": _least(edits["shift"], bound["shift"]),
        f"shift of {target} from -1 to 1": _least(edits["shift, -1 to 1"], bound["shift, -1 to 1"]),
        "faces whose reading follows the values (tau 0.8)": _least(edits["monotone"], bound["monotone"]),
    }
    for value in ("-2", "-1", "+1", "+2"):
        for test in ("two-sample AUC", "matched two-sample AUC"):
            if test in natural[f"{way} at {value}"]:
                rows[f"{test} at {value}"] = _most(natural[f"{way} at {value}"][test], bound[f"{test} at {value[1]}"])
    for other, row in tables["what else moves"].items():
        if other != "sharpness" and (other != "luminance" or attribute == "gender"):
            rows[f"{other}, share of the target's slope"] = _most(row[way], bound["share"])
    for name, row in tables["for whom"].items():
        if name in ("gap by gender", "gap by race", "gap by age", "gap by skin tone"):
            rows[f"{name} of the shift"] = _most(row["shift"], bound["gap"])
    published = edits_of.get("skin, paste: reader")
    if published:
        rows[f"as published: shift of {target} from -2 to 2"] = {"reached": published["shift"]}
        for value in ("-2", "+2"):
            rows[f"as published: two-sample AUC at {value}"] = {
                "reached": natural[f"skin, paste at {value}"]["two-sample AUC"]
            }
    latent = tables.get("latent and reconstruction")
    if latent:
        rows["probe on the latent, AUC"] = _most(latent["probe on the latent, AUC"]["number"], bound["probe"])
    found = [row["face found"] for row in natural.values() if "face found" in row]
    if found:
        rows["face still found, worst value"] = _least(min(found, key=lambda n: n["value"]), bound["found"])
    nearest = [row["nearest to itself"] for row in tables.get("who it is", {}).values() if "nearest to itself" in row]
    if nearest:
        worst = min(nearest, key=lambda n: n["value"])
        rows["nearer to its own photo than to anyone else's, worst value"] = _least(worst, bound["nearest to itself"])
    return rows


def _least(number: dict[str, float], bound: float) -> dict[str, Any]:
    return {"asked": f"at least {bound:g}", "reached": number, "met": "yes" if number["value"] >= bound else "no"}


def _most(number: dict[str, float], bound: float) -> dict[str, Any]:
    met = abs(number["value"]) <= bound
    return {"asked": f"at most {bound:g}", "reached": number, "met": "yes" if met else "no"}
