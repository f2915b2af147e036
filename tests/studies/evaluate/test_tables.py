import numpy as np
import pytest

from gslopes.studies.evaluate.parser import typology_angle
from gslopes.studies.evaluate.reader import group_names
from gslopes.studies.evaluate.tables import asked, cell
from gslopes.validate.estimates import Estimate
from gslopes.zoo.cards import tables_as_text


def number(value: float) -> dict[str, float]:
    return cell(Estimate(value, value - 0.1, value + 0.1))


@pytest.fixture
def tables():
    edited = {"shift": number(0.8), "monotone": number(0.99)}
    return {
        "what it edits": {"face, difference: reader": edited, "skin, difference: reader": edited},
        "what else moves": {"smiling": {"face, difference": number(-0.2)}, "young": {"face, difference": number(0.1)}},
        "for whom": {"gap by gender": {"shift": number(0.2)}},
        "how natural": {
            f"face, difference at {value:+g}": {
                "two-sample AUC": number(0.7),
                "colour ratio": number(1.5),
                "face found": number(0.98 if value == 2 else 1.0),
            }
            for value in (-2, -1, 0, 1, 2)
        },
        "latent and reconstruction": {"probe on the latent, AUC": {"number": number(0.6)}},
    }


def test_what_was_asked_stands_beside_what_is_reached(tables):
    found = asked("gender", tables)
    met = {name: row["met"] for name, row in found.items()}
    assert met["shift of P(masculine) from -2 to 2, face"] == "yes"
    assert met["gap of the shift by gender"] == "no"
    assert met["smiling, share of the target's slope"] == "no"
    assert met["young, share of the target's slope"] == "yes"
    assert met["two-sample AUC at -1"] == "yes"
    assert met["colour ratio at +2"] == "no"
    assert found["face still found, worst value"]["reached"]["value"] == 0.98
    assert met["face still found, worst value"] == "no"


def test_the_tables_become_markdown_with_every_number(tables):
    text = tables_as_text({"note": "A note.", "tables": tables})
    assert text.startswith("A note.\n\n| what it edits | shift | monotone |")
    assert "| smiling | -0.2 [-0.3, -0.1] |" in text


def test_lighter_skin_has_a_larger_typology_angle():
    everywhere = np.ones((4, 4), bool)
    light, dark = (np.full((4, 4, 3), rgb, np.uint8) for rgb in ((235, 200, 180), (90, 55, 40)))
    assert typology_angle(light, everywhere) > 41
    assert typology_angle(dark, everywhere) < -30


def test_a_photo_without_known_race_is_in_no_group():
    labels = ("masculine", "white", "black", "asian", "indian", "other", "young", "smiling")
    values = np.array([[1, 0, 1, 0, 0, 0, 1, np.nan], [1, *[np.nan] * 6, 1]], np.float32)
    assert group_names(labels, values).tolist() == ["black, young", ""]
