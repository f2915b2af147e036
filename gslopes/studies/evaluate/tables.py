"""The tables of a card: rows to columns to numbers, and what was asked of an editor beside what it reaches."""

from __future__ import annotations

from typing import Any

from gslopes.validate.estimates import Estimate

Table = dict[str, dict[str, Any]]

FACE, SKIN = "face, difference", "skin, difference"


def cell(number: Estimate) -> dict[str, float]:
    """A number as metrics.json holds it, rounded to four places."""
    return {"value": round(number.value, 4), "low": round(number.low, 4), "high": round(number.high, 4)}


def asked(attribute: str, tables: dict[str, Table]) -> Table:
    """What was asked of an editor, what it reaches, and whether that is enough: judged by the value alone."""
    edits, others = tables["what it edits"], tables["what else moves"]
    natural, latent, groups = tables["how natural"], tables["latent and reconstruction"], tables["for whom"]
    face, skin = edits[f"{FACE}: reader"], edits[f"{SKIN}: reader"]
    name = "P(masculine)" if attribute == "gender" else "P(White)"
    rows: Table = {
        f"shift of {name} from -2 to 2, face": _row("at least 0.7", face["shift"], 0.7, least=True),
        f"shift of {name} from -2 to 2, skin": _row("at least 0.5", skin["shift"], 0.5, least=True),
        "faces whose reading follows the values (tau 0.8)": _row("at least 0.95", face["monotone"], 0.95, least=True),
        "probe on the latent, AUC": _row("under 0.65", latent["probe on the latent, AUC"]["number"], 0.65),
    }
    for kind in ("gender", "race"):
        if f"gap by {kind}" in groups:
            rows[f"gap of the shift by {kind}"] = _row("under 0.1", groups[f"gap by {kind}"]["shift"], 0.1)
    for other, row in others.items():
        rows[f"{other}, share of the target's slope"] = _row("under 0.15 either way", row[FACE], 0.15)
    for value in ("-1", "+1"):
        number = natural[f"{FACE} at {value}"]["two-sample AUC"]
        rows[f"two-sample AUC at {value}"] = _row("at most 0.75", number, 0.75)
    for value in ("-2", "+2"):
        number = natural[f"{FACE} at {value}"]["colour ratio"]
        rows[f"colour ratio at {value}"] = _row("at most 1.3", number, 1.3)
    found = [row["face found"] for row in natural.values() if "face found" in row]
    if found:
        rows["face still found, worst value"] = _row("0.99", min(found, key=lambda n: n["value"]), 0.99, least=True)
    return rows


def _row(wish: str, number: dict[str, float], bound: float, *, least: bool = False) -> dict[str, Any]:
    value = number["value"]
    met = value >= bound if least else abs(value) <= bound
    return {"asked": wish, "reached": number, "met": "yes" if met else "no"}
