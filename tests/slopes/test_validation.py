"""The summary of a judged run, on tables whose truth is written into them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.slopes.validation import format_summary, summarise

VALUES = [-1.0, 0.0, 1.0]
# Of 60 photos the first 20 do not move; the others' reading goes from 0.1 to 0.9. A quarter of them is read as 0.9.
MOVES = np.repeat([0.0, 0.4], [20, 40])
OWN = np.tile([0.9, 0.1, 0.1, 0.1], 15)


@pytest.fixture
def run(tmp_path) -> Path:
    """Tables of 60 photos, of which 20 were dropped; the reading ``young`` moves half as far as gender."""
    ids = [f"{index:064x}" for index in range(60)]
    kept = {
        "kept": MOVES > 0,
        "reason": np.where(MOVES > 0, "", "the reading does not follow the edit (shift +0.00)"),
    }
    nothing = {
        "looked": 3,
        "found": 3,
        "tau": None,
        "shift": None,
        "off_target": None,
        "off_target_reading": "",
    }
    sizes = {"mask_area": 0.1, "mask_share": None, "change": None, "identity": None}
    verdicts = pd.DataFrame({"photo": ids, "attribute": "gender", **kept, **nothing, **sizes})
    rows = []
    for photo, move, centre in zip(ids, MOVES, OWN, strict=True):
        for name, part in (("gender", 1.0), ("young", 0.5)):
            scores = [centre, *(0.5 + part * move * value for value in VALUES)]
            rows += [(photo, "gender", step - 1, name, score) for step, score in enumerate(scores)]
    for table, frame in (
        (tables.VERDICTS, verdicts),
        (tables.READINGS, pd.DataFrame(rows, columns=tables.READINGS.columns)),
        (tables.PHOTOS, photos(ids)),
    ):
        tables.write(table, frame, tmp_path / f"{table.name}.parquet")
    (tmp_path / "run.json").write_text(
        json.dumps(
            {
                "values": {"gender": VALUES},
                "inputs": {"photos": 4},
                "config": {"part": 4},
                "seed": 0,
            }
        )
    )
    return tmp_path


def photos(ids: list[str]) -> pd.DataFrame:
    plain = {"width": 9, "height": 9, "status": "used", "reason": "", "faces": 1}
    where = {"box": None, "points": None, "detection": None}
    return pd.DataFrame(
        {"photo": ids, "path": [f"{index}.jpg" for index in range(60)], **plain, **where}
    )


def test_numbers_are_over_all_sweeps_and_dropped_ones_are_counted(run):
    (found,) = summarise(run)
    assert (found.sweeps, found.kept) == (60, 40)
    assert found.dropped == {"the reading does not follow the edit": 20}
    assert [number.value for number in found.means] == pytest.approx(
        [0.5 - 0.8 / 3, 0.5, 0.5 + 0.8 / 3]
    )
    assert found.shift.value == pytest.approx(0.8 * 2 / 3)
    assert found.monotone.value == pytest.approx(2 / 3)


def test_another_reading_that_moves_half_as_far_has_a_share_of_a_half(run):
    (found,) = summarise(run)
    assert found.leakage["young"].value == pytest.approx(0.5)


def test_groups_are_those_of_the_unedited_photo_and_of_a_csv(run, tmp_path):
    csv = tmp_path / "about.csv"
    csv.write_text(
        "file,team\n" + "".join(f"{i}.jpg,{'still' if i < 20 else 'moving'}\n" for i in range(60))
    )
    (found,) = summarise(run, csv, ["team"])
    team = found.groups["team"]
    assert {name: (group.n, round(group.number.value, 3)) for name, group in team.each.items()} == {
        "moving": (40, 0.8),
        "still": (20, 0),
    }
    assert team.gap.value == pytest.approx(0.8)
    assert {name: group.n for name, group in found.groups["perceived gender"].each.items()} == {
        "read as feminine": 45,
        "read as masculine": 15,
    }


def test_text_and_json_tell_the_same(run):
    (found,) = summarise(run)
    text, facts = format_summary(found), json.loads(json.dumps(found.facts(), allow_nan=False))
    assert text.startswith("gender: 40 of 60 sweeps kept\n")
    assert "20: the reading does not follow the edit" in text
    assert "shift         +0.53 [" in text
    assert facts["shift"]["value"] == pytest.approx(0.8 * 2 / 3)


def test_an_attribute_that_was_not_read_is_counted_and_no_more(run):
    readings = tables.read(tables.READINGS, run / "readings.parquet")
    tables.write(
        tables.READINGS, readings[readings["reading"] == "young"], run / "readings.parquet"
    )
    (found,) = summarise(run)
    assert (found.kept, found.shift) == (40, None)
    assert "no reading of this attribute" in format_summary(found)
