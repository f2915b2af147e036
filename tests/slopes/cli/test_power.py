import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from gslopes.core import placebo, runfolder, tables
from gslopes.core.config import from_dict
from gslopes.slopes.config import FitConfig
from gslopes.slopes.fitting import fit_folder
from gslopes.slopes.measures import power as planning
from tests.slopes.measures.conftest import build

VALUES = np.linspace(-2, 2, 7)


def pilot(folder, kinds=placebo.KINDS, people=0, move=0.06):
    """A fitted run of 150 photos: two labels, of which one moves.  people: how many there are; 0: one a photo."""
    rng = np.random.default_rng(0)
    parts = []
    for name in ("gender", *(placebo.name("gender", kind) for kind in kinds)):
        moves = (move if name == "gender" else 0.0) * np.array([1, 0])
        present = rng.random((150, 2, 7)) < 0.4 + moves[:, None] * VALUES
        parts.append(build(present, VALUES, labels=["moves", "still"], attribute=name))
    scores, asked = (pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True))
    folder.mkdir(exist_ok=True)
    runfolder.write_table(tables.SCORES, scores, folder / "scores.parquet")
    runfolder.write_table(tables.ASKED, asked, folder / "asked.parquet")
    fit = {"permutations": 200}
    names = sorted(set(asked["photo"]))
    if people:
        about = pd.DataFrame({"photo": names, "person": np.arange(len(names)) % people})
        about.to_csv(folder / "people.csv", index=False)
        fit |= {"photos_csv": str(folder / "people.csv"), "cluster": "person"}
        photos = tables.PHOTOS.empty().reindex(range(len(names)))
        used = photos.assign(photo=names, path=names, status="used", reason="", detail="")
        zeros = {
            field.name: 0
            for field in tables.PHOTOS.schema
            if field.type in (pa.int32(), pa.int16())
        }
        runfolder.write_table(tables.PHOTOS, used.assign(**zeros), folder / "photos.parquet")
    values = {name: VALUES.tolist() for name in ("gender", *placebo.names("gender"))}
    manifest = {"config": {"fit": fit}, "values": values, "seed": 0}
    runfolder.write_json(folder / runfolder.MANIFEST, manifest)
    found = fit_folder(folder, from_dict(FitConfig, fit), values, 0)
    for table, frame in found.tables():
        runfolder.write_table(table, frame, folder / f"{table.name}.parquet")
    return folder


@pytest.fixture(autouse=True)
def few_audits(request, monkeypatch):
    """Quick tests are about what is asked and told: a quarter of the audits tells it."""
    if not request.node.get_closest_marker("slow"):
        monkeypatch.setitem(planning.power.__kwdefaults__, "sets", 50)


@pytest.mark.slow
@pytest.mark.evidence
def test_the_three_questions_have_an_answer_each(gslopes) -> None:
    known = ("power", "--rate", 0.3, "--labels", 5, "--noise", 0.5, "--json")
    slope = json.loads(gslopes(*known, "--photos", 40).out)["slope"]
    chance = json.loads(gslopes(*known, "--photos", 40, "--slope", slope).out)
    assert chance["power"] == pytest.approx(0.8, abs=0.06)
    assert (chance["labels"], chance["noise"]) == (5, 0.5)
    assert json.loads(gslopes(*known, "--slope", slope).out)["photos"] == pytest.approx(40, rel=0.2)


@pytest.mark.slow
def test_the_answer_is_a_sentence_for_both_kinds_of_classifiers(gslopes) -> None:
    text = gslopes("power", "--photos", 100, "--rate", 0.3, "--slope", 4).out
    assert text.startswith(
        "100 photos make a slope of 4 percentage points per unit a finding with a chance of "
    )
    assert "one label, on 30.0 % of the photos." in text
    assert (
        "whose answers are by chance. If only the edit changes its answers, the chance is " in text
    )
    assert (
        "may not be able to judge it"
        in gslopes("power", "--photos", 50, "--rate", 0.05, "--slope", 1).out
    )


def asked_of(gslopes, *args):
    return json.loads(gslopes("power", *args, "--json").out)


@pytest.mark.slow
def test_a_pilot_says_how_the_answers_vary_and_how_many_labels_are_judged(
    gslopes, tmp_path
) -> None:
    run = pilot(tmp_path / "run")
    plan = asked_of(gslopes, "--pilot", run, "--label", "moves", "--photos", 100, "--slope", 5)
    assert plan["labels"] == 2
    assert plan["unit"] == "percentage points per unit"
    assert plan["people"] is None
    by_chance = asked_of(
        gslopes, "--rate", 0.4, "--labels", 2, "--photos", 100, "--slope", 5
    )  # as every answer was
    assert plan["power"] == pytest.approx(by_chance["power"], abs=0.2)
    said = gslopes("power", "--pilot", run, "--label", "moves", "--photos", 100, "--slope", 5).out
    assert "“moves”, whose answers vary as in the pilot run" in said


def test_no_label_of_a_pilot_is_too_steep_for_its_own_slope(gslopes, tmp_path) -> None:
    run = pilot(tmp_path / "run", move=0.3)
    slope = tables.read(tables.SLOPES, run / "slopes.parquet").query("label == 'moves'")
    measured = tables.reading(slope).query("attribute == 'gender'")["slope"].item()
    assert measured > 20
    plan = asked_of(
        gslopes, "--pilot", run, "--label", "moves", "--photos", 40, "--slope", measured
    )
    assert plan["power"] == 1


@pytest.mark.slow
def test_a_pilot_of_people_is_read_by_people(gslopes, tmp_path) -> None:
    run = pilot(tmp_path / "run", people=30)
    known = ("--pilot", run, "--label", "moves", "--slope", 4)
    plan = asked_of(gslopes, *known, "--people", 20)
    assert (plan["people"], plan["photos"]) == (20, 100)
    assert asked_of(gslopes, *known, "--photos", 100) == plan
    said = gslopes("power", *known, "--people", 20).out
    assert said.startswith("100 photos of 20 people make a slope of 4 ")


@pytest.mark.slow
@pytest.mark.evidence
def test_people_with_photos_that_are_alike_need_more_of_them(gslopes) -> None:
    known = ("--rate", 0.3, "--noise", 0.3, "--slope", 4)
    people = asked_of(gslopes, *known, "--people", 25, "--photos-each", 4)
    assert (people["people"], people["photos"]) == (25, 100)
    assert people["power"] < asked_of(gslopes, *known, "--photos", 100)["power"] - 0.05
    same = asked_of(gslopes, *known, "--photos", 100, "--photos-each", 4)
    assert same == people


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["--rate", 0.1], "Give --photos or --people, --slope, or both."),
        (["--rate", 0.1, "--photos", 9, "--people", 3], "Give --photos or --people:"),
        (["--rate", 0.1, "--photos", 9, "--labels", 0], "labels is 0"),
        (["--photos", 9, "--pilot", "RUN", "--label", "moves", "--noise", 1], "Leave --noise out"),
        (["--people", 9, "--pilot", "RUN", "--label", "moves"], "--cluster COLUMN"),
        (["--rate", 2, "--photos", 9], "between 0 and 1"),
        (["--photos", 9], "--rate"),
        (["--photos", 9, "--pilot", "RUN"], "--label"),
        (["--photos", 9, "--pilot", "RUN", "--label", "nothing"], "It has judged moves, still."),
        (
            ["--photos", 9, "--pilot", "RUN", "--label", "moves", "--classifier", "x"],
            "has no classifier x",
        ),
        (["--photos", 9, "--pilot", "EMPTY", "--label", "moves"], "is not fitted"),
        (["--photos", 9, "--pilot", "BARE", "--label", "moves"], "--no-placebo"),
    ],
)
def test_a_question_without_an_answer_is_a_usage_error(gslopes, tmp_path, args, why) -> None:
    folders = {
        "RUN": lambda: pilot(tmp_path / "run"),
        "BARE": lambda: pilot(tmp_path / "bare", ()),
        "EMPTY": lambda: tmp_path,
    }
    done = gslopes("power", *(folders[arg]() if arg in folders else arg for arg in args))
    assert done.code == 2
    assert not done.out
    assert why in done.err
