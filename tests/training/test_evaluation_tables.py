import numpy as np
import pytest

from gslopes.faces.gate.manipulation import Estimate
from training.evaluation.models import tables_as_text
from training.evaluation.tables import asked, cell
from training.evaluation.taggers import group_names


def number(value: float) -> dict[str, float]:
    return cell(Estimate(value, value - 0.1, value + 0.1))


@pytest.fixture
def tables():
    edited = {"shift": number(0.8), "shift, -1 to 1": number(0.4), "monotone": number(0.99)}
    return {
        "what it edits, London": {"face, difference: reader": edited},
        "what else moves, London": {
            "smiling": {"face, difference": number(-0.2)},
            "young": {"face, difference": number(0.1)},
            "luminance": {"face, difference": number(0.5)},
        },
        "for whom, London": {"gap by gender": {"shift": number(0.2)}, "men": {"shift": number(0.7)}},
        "how natural, London": {
            f"face, difference at {value:+g}": {
                "two-sample AUC": number(0.65),
                "face found": number(0.98 if value == 2 else 1.0),
            }
            for value in (-2, -1, 0, 1, 2)
        },
    }


def test_what_was_asked_stands_beside_what_is_reached(tables):
    found = asked("gender", "face, difference", tables)
    met = {name: row["met"] for name, row in found.items()}
    assert met["shift of P(masculine) from -2 to 2, London"] == "yes"
    assert met["shift of P(masculine) from -1 to 1, London"] == "no"
    assert met["gap by gender of the shift, London"] == "no"
    assert met["smiling, share of the target's slope, London"] == "no"
    assert met["young, share of the target's slope, London"] == "yes"
    assert met["luminance, share of the target's slope, London"] == "no"
    assert met["two-sample AUC at -1, London"] == "no"
    assert met["two-sample AUC at -2, London"] == "yes"
    assert found["face still found, worst value, London"]["reached"]["value"] == 0.98
    assert met["face still found, worst value, London"] == "no"
    assert not any("UTKFace" in name or name.startswith("men") for name in found)


def test_the_luminance_of_a_race_edit_is_its_own_and_not_asked_for(tables):
    tables = {name: dict(table) for name, table in tables.items()}
    for name in ("what it edits, London", "what else moves, London", "how natural, London"):
        tables[name] = {
            key.replace("difference", "ratio"): {k.replace("difference", "ratio"): v for k, v in row.items()}
            for key, row in tables[name].items()
        }
    assert not any(name.startswith("luminance") for name in asked("race", "face, ratio", tables))


def test_the_tables_become_markdown_with_every_number(tables):
    text = tables_as_text({"note": "A note.", "tables": tables})
    assert text.startswith("A note.\n\n| what it edits, London | shift | shift, -1 to 1 | monotone |")
    assert "| smiling | -0.2 [-0.3, -0.1] |" in text


def test_a_photo_without_known_race_is_in_no_group():
    labels = ("masculine", "white", "black", "asian", "indian", "other", "young", "smiling")
    values = np.array([[1, 0, 1, 0, 0, 0, 1, np.nan], [1, *[np.nan] * 6, 1]], np.float32)
    assert group_names(labels, values).tolist() == ["black, young", ""]
