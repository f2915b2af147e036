"""The gate on pictures whose faults are known: a portrait that is lost, one that stays, thresholds that change."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import gslopes
from gslopes.core import runfolder, tables
from gslopes.core.reasons import Reason
from gslopes.core.records import Answer
from gslopes.faces.gate import judge as gate, verdict as rules
from gslopes.faces.gate.sweep_measurer import Sweep
from gslopes.faces.gate.verdict import GateConfig, Measured
from gslopes.faces.zoo import identify
from gslopes.slopes import audit, validation
from gslopes.slopes.config import FitConfig
from tests.again import redo


class Counting:
    """Answers every picture, and remembers how many."""

    name, version, batch = "counting", "1", 8

    def __init__(self) -> None:
        self.asked = 0

    def ask(self, pictures: list[bytes]) -> list[object]:
        self.asked += len(pictures)
        return [len(picture) for picture in pictures]

    def parse(self, raw: object) -> Answer:
        return Answer(
            "answered", (("Any", 0.9), *([("Even", 0.5)] if int(str(raw)) % 2 == 0 else []))
        )


@pytest.fixture
def run(draw, home, tmp_path) -> Path:
    """Pictures of four drawn faces at three values."""
    faces = draw(4)
    gslopes.synthesise(faces.photos, tmp_path / "run", steps=3, **faces.known)
    return tmp_path / "run"


def drop(run: Path, photos: int, monkeypatch) -> list[str]:
    """Judge, with verdicts that drop the first so many photos; their ids."""
    ids = sorted(tables.read(tables.EDITS, run / "edits.parquet")["photo"].unique())[:photos]
    real = gate.judged

    def judged(frame: pd.DataFrame, config: GateConfig, *, neck: bool = False) -> pd.DataFrame:
        reasons = ["face not found again" if photo in ids else "" for photo in frame["photo"]]
        details = ["1 of 3 values" if reason else "" for reason in reasons]
        retained = [not reason for reason in reasons]
        return real(frame, config).assign(reason=reasons, detail=details, kept=retained)

    monkeypatch.setattr(gate, "judged", judged)
    redo(run, "gate")
    return ids


def asked(run: Path) -> pd.DataFrame:
    return tables.read(tables.ASKED, run / "asked.parquet")


# -- what follows from a verdict --------------------------------------------------------------------------------------


@pytest.mark.parametrize("lost", [2, 4])
def test_a_dropped_photo_is_not_asked_about(run, monkeypatch, lost):
    ids, counting = drop(run, lost, monkeypatch), Counting()
    gslopes.score_photos(run, counting, dropped_sample=0)
    assert counting.asked <= (4 - lost) * 3
    assert not set(ids) & set(asked(run)["photo"])
    slopes = redo(run, "fit").tables["slopes"]
    assert set(slopes["n"]) == ({2} if lost == 2 else set())


@pytest.mark.slow
def test_a_dropped_photo_is_counted_on_the_page(run, monkeypatch):
    drop(run, 2, monkeypatch)
    gslopes.score_photos(run, Counting(), dropped_sample=0)
    redo(run, "fit")
    done = redo(run, "report")
    assert done.dropped == {"face not found again": 2}
    assert "face not found again" in done.page.read_text()


@pytest.mark.row("slopes-0-gate")
def test_without_the_gate_all_photos_are_asked_about_and_with_it_their_answers_stay_out(
    run, monkeypatch
):
    ids, counting = drop(run, 2, monkeypatch), Counting()
    gslopes.score_photos(run, counting, gate=False)
    assert len(asked(run)) == 4 * 3
    before = counting.asked
    gslopes.score_photos(run, counting)
    assert counting.asked == before
    assert not set(ids) & set(asked(run)["photo"])
    assert len(asked(run)) == 2 * 3


def test_a_sample_of_the_dropped_is_asked_about_beside_the_tables(run, monkeypatch):
    ids, counting = drop(run, 3, monkeypatch), Counting()
    gslopes.score_photos(run, counting, dropped_sample=2)
    assert len(asked(run)) == 1 * 3
    beside = tables.read(tables.ASKED, run / "dropped-asked.parquet")
    assert len(set(beside["photo"])) == 2
    assert set(beside["photo"]) < set(ids)
    slopes = redo(run, "fit", FitConfig(permutations=20)).tables["slopes"]
    assert set(slopes["n"]) == {1}
    row = tables.read(tables.GATING, run / "gating.parquet").iloc[0]
    assert (row["n"], row["dropped"], row["sampled"], row["kept"]) == (1, 3, 2, 0.25)
    assert "ungated" in row["note"]


def test_a_classifier_that_costs_money_is_asked_about_a_sample_of_placebos(draw, home, tmp_path):
    faces = draw(4)
    run = tmp_path / "run"
    gslopes.synthesise(faces.photos, run, steps=3, **faces.known | {"placebo": True})
    edits = tables.read(tables.EDITS, run / "edits.parquet")
    full, part = (gate.SweepSelection(run, placebos=number).of(edits) for number in (None, 2))
    assert len(full) == 4 * 3 * 4
    fake = part["attribute"] != "gender"
    assert len(part) == 4 * 3 + 2 * 3 * 3
    assert part.loc[fake, "photo"].nunique() == 2
    again = gate.SweepSelection(run, placebos=2).of(edits)
    pd.testing.assert_frame_equal(part, again)


# -- the stage --------------------------------------------------------------------------------------------------------


VERDICT = ["kept", "reason", "detail"]
OPEN = {"shift": -1, "tau": -1, "off_target": 9}  # an editor of random weights


def test_nothing_is_measured_twice_and_other_thresholds_judge_anew(run, monkeypatch):
    monkeypatch.setattr(rules, "CHANGE", (0, 255))
    first = redo(run, "gate", GateConfig(**OPEN)).tables["verdicts"]
    assert first["kept"].all()
    assert (first["looked"] == 0).all()  # faces known from a table are drawn: no detector is asked

    with monkeypatch.context() as patch:
        patch.setattr(audit, "measure", lambda *_: pytest.fail("measured again"))
        again = redo(run, "gate", GateConfig(**OPEN | {"shift": 0.999})).tables["verdicts"]
    assert not again["kept"].any()
    assert set(again["reason"]) == {Reason.READING_DOES_NOT_FOLLOW}
    pd.testing.assert_frame_equal(first.drop(columns=VERDICT), again.drop(columns=VERDICT))
    (part,) = (run / "parts" / "gate").glob("verdicts-000000.parquet")
    part.unlink()  # as a gate that was stopped
    pd.testing.assert_frame_equal(first, redo(run, "gate", GateConfig(**OPEN)).tables["verdicts"])


@pytest.mark.parametrize("editor", [None, {"name": "mine"}])
def test_only_of_an_editor_of_others_the_pictures_were_asked_for(run, editor):
    manifest = runfolder.read_manifest(run)
    runfolder.write_json(
        run / runfolder.MANIFEST, manifest | ({"editor": editor} if editor else {})
    )
    sweeps = list[Sweep]()

    def measurer(sweep: Sweep) -> tuple[Measured, dict]:
        sweeps.append(sweep)
        return Measured(identity=0.5 if sweep.asked else np.nan), {}

    part = {
        name: tables.read(tables.TABLES[name], run / f"{name}.parquet")
        for name in ("photos", "edits")
    }
    rows = gate.measure(measurer, run, Path(manifest["config"]["photos"]), part, lambda _: None)
    assert [sweep.asked for sweep in sweeps] == [editor is not None] * 4
    verdicts = gate.judged(pd.DataFrame(rows["verdicts"]), GateConfig())
    assert set(verdicts["reason"]) == {Reason.IDENTITY_GONE if editor else ""}
    tables.check(tables.VERDICTS, verdicts)


def test_a_run_without_a_usable_photo_has_no_verdict(draw, home, tmp_path):
    faces = draw(2)
    gslopes.synthesise(faces.photos, tmp_path / "run", steps=3, min_face=5000, **faces.known)
    assert len(redo(tmp_path / "run", "gate").tables["verdicts"]) == 0
    assert validation.summarise(tmp_path / "run") == []


@pytest.mark.parametrize(
    ("region", "heads"),
    [("head", {"gender", "race"}), ("face", set()), ("auto", {"race"}), (None, set())],
)
def test_ears_and_neck_change_where_the_run_or_the_editor_says_so(region, heads):
    compose = {} if region is None else {"region": region}
    names = ("gender-field", "race-field", "labeller")
    models = {name: {"sha256": identify(name)[1]} for name in names} | {"a model of old": {}}
    manifest = {
        "config": {"compose": compose},
        "values": {"gender": [], "race": []},
        "models": models,
    }
    assert gate.heads_of(manifest) == heads
    old = {"config": {"compose": {"region": "auto"}}, "models": {"race-field": {"sha256": "ab"}}}
    assert (
        gate.heads_of(runfolder.Manifest(old)) == set()
    )  # an editor of an older version changed the face


def test_beards_that_stay_are_counted_among_photos_that_show_one():
    """Of four photos three show a beard; two still show it at the first value, whatever is read at the last."""
    read = {"a": (0.9, 0.8, 1.0), "b": (0.6, 0.4, 0.0), "c": (0.7, 0.2, 1.0), "d": (0.4, 0.9, 0.9)}
    rows = [
        {"photo": photo, "reading": "beard", "step": step, "score": score}
        for photo, scores in read.items()
        for step, score in zip((-1, 0, 1), scores, strict=True)
    ]
    others = [{"photo": "a", "reading": "young", "step": 0, "score": 0.9}]
    assert gate.beards(pd.DataFrame([*rows, *others])) == (3, 2)
    assert gate.beards(pd.DataFrame(others)) == (0, 0)
