import json
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

import gslopes
from gslopes.core import runfolder, tables
from gslopes.core.errors import RunFolderMismatch, UsageError
from gslopes.core.records import Answer
from gslopes.faces.components import default_components
from gslopes.frame.executors import OneProcess
from gslopes.frame.plan import plan
from gslopes.frame.run import carry_out
from gslopes.slopes import audit as stages
from gslopes.slopes.config import configure
from gslopes.slopes.page.loading import outcomes_of
from tests.again import redo
from tests.fixtures import paper_slopes

TABLES = ("photos", "edits", "asked", "scores", "slopes")


def read(run: Path) -> dict[str, pd.DataFrame]:
    return {name: tables.read(tables.TABLES[name], run / f"{name}.parquet") for name in TABLES}


@dataclass
class Counting:
    """A classifier that answers by the picture's size in bytes, and may fail after so many calls."""

    name: str = "counting"
    version: str = "1"
    batch: int = 4
    left: int = 10**9
    seen: list[bytes] = field(default_factory=list)

    def ask(self, pictures: list[bytes]) -> list[object]:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        self.seen += pictures
        return [len(picture) for picture in pictures]

    def parse(self, raw: object) -> Answer:
        labels = [("Any", 1.0)] if int(str(raw)) % 2 else [("Any", 1.0), ("Even", 0.5)]
        return Answer("answered", tuple(labels))


@pytest.fixture
def config(tmp_path):
    """Parts of two photos, as only a file can say."""
    file = tmp_path / "audit.toml"
    file.write_text("part = 2\n")
    return file


@pytest.fixture
def faces(draw, home):
    return draw(5)


@pytest.mark.slow
def test_findings_of_an_audit_stand_against_its_placebos(faces, toy, tmp_path):
    """By default: three placebo sweeps, and a decision for every label that is tested."""
    file = tmp_path / "audit.toml"
    file.write_text("[fit]\npermutations = 50\nmin_varying = 1\n")
    known = {key: value for key, value in faces.known.items() if key != "placebo"}
    audit = gslopes.audit(
        faces.photos, tmp_path / "run", steps=3, config=file, classifier=toy, **known
    )
    asked = tables.read(tables.ASKED, audit.folder / "asked.parquet")
    assert set(asked["attribute"]) == {"gender", "gender-same", "gender-light", "gender-random"}
    placebos = tables.read(tables.PLACEBOS, audit.folder / "placebos.parquet")
    assert set(placebos["placebo"]) == {"same", "light", "random"}
    rate = audit.tables["slopes"].query("estimator == 'photo-rate' and attribute == 'gender'")
    assert set(rate["decision"]) <= {"finding", "placebo", "open", "none", "unjudged"}
    assert len(rate) > 0
    assert (rate["q_placebo"].notna() == (rate["q"] < 0.05)).all()
    assert not audit.findings["expected"].any()


@pytest.mark.row("slopes-3.1-attributes", "slopes-4.3-values")
@pytest.mark.slow
@pytest.mark.figures("png")
def test_an_audit_writes_every_table_and_the_page(faces, tmp_path):
    audit = gslopes.audit(
        faces.photos, tmp_path / "run", attribute=("gender", "race"), **faces.known
    )
    found = read(tmp_path / "run")
    assert (audit.photos, audit.used, audit.errors, audit.skipped) == (5, 5, 0, {})
    assert len(found["edits"]) == len(found["asked"]) == 5 * (7 + 5)
    assert audit.page == tmp_path / "run" / "report" / "index.html"
    assert audit.page.is_file()
    pd.testing.assert_frame_equal(audit.tables["slopes"], found["slopes"])
    manifest = json.loads((tmp_path / "run" / "run.json").read_text())
    assert set(manifest["models"]) == {"gender-field", "race-field"}
    assert len(manifest["classifiers"]["celeba-tagger"]["version"]) == 64
    assert {"gslopes", "created", "config", "values", "versions", "inputs", "seed"} <= set(manifest)


def test_neither_a_picture_nor_a_question_is_repeated_and_every_stage_can_be_taken_alone(
    faces, tmp_path, config
):
    run, counting = tmp_path / "run", Counting()
    options = {"config": config, "steps": 3, **faces.known}
    gslopes.synthesise(faces.photos, run, **options)
    before = {path: path.stat().st_mtime_ns for path in (run / "edits").rglob("*.jpg")}
    gslopes.synthesise(faces.photos, run, **options)
    assert before == {path: path.stat().st_mtime_ns for path in (run / "edits").rglob("*.jpg")}
    gslopes.score_photos(run, counting)
    asked = len(counting.seen)
    assert asked == len(set(counting.seen)) <= 15
    gslopes.score_photos(run, counting)
    assert len(counting.seen) == asked
    slopes = redo(run, "fit").tables["slopes"]
    tables_of_stages = read(run)
    paper = paper_slopes(
        tables_of_stages["scores"], tables_of_stages["asked"], values={"gender": [-2, 0, 2]}
    )
    common = paper.columns[paper.notna().any()]
    kept = slopes[slopes["estimator"] == "paper"].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept[common], paper[common])


def test_a_classifier_stopped_half_way_goes_on_where_it_was_and_stays_out_of_the_tables_until_then(
    faces, tmp_path, config
):
    run = tmp_path / "run"
    gslopes.synthesise(faces.photos, run, config=config, steps=3, **faces.known)
    first, second = Counting("first"), Counting("second", left=2)
    gslopes.score_photos(run, first)
    with pytest.raises(KeyboardInterrupt):
        gslopes.score_photos(run, second)
    gslopes.score_photos(run, first)
    assert outcomes_of(run, ["classifier"]) == {("first",): {"answered": (15, "")}}
    second.left = 100
    gslopes.score_photos(run, second)
    assert len(second.seen) == len(first.seen)
    both = {(name,): {"answered": (15, "")} for name in ("first", "second")}
    assert outcomes_of(run, ["classifier"]) == both


def test_a_command_without_a_classifier_leaves_the_answers_of_one_that_was_stopped(
    faces, tmp_path, config
):
    run, counting = tmp_path / "run", Counting(left=2)
    gslopes.synthesise(faces.photos, run, config=config, steps=3, **faces.known)
    with pytest.raises(KeyboardInterrupt):
        gslopes.score_photos(run, counting)
    before = sorted(run.rglob("asked-*.parquet"))
    assert before
    with pytest.raises(UsageError, match="No classifier is named"):
        carry_out(plan(stages.SLOPES, run, None, {}, only=["score"]), OneProcess())
    assert sorted(run.rglob("asked-*.parquet")) == before


def test_the_same_run_by_parts_of_other_sizes_has_the_same_rows(faces, tmp_path, config):
    for name, options in (("a", {"config": config}), ("b", {})):
        gslopes.synthesise(faces.photos, tmp_path / name, steps=3, **faces.known, **options)
    edits = [
        tables.read(tables.EDITS, tmp_path / name / "edits.parquet").sort_values("file")
        for name in "ab"
    ]
    pd.testing.assert_frame_equal(*(frame.reset_index(drop=True) for frame in edits))


def test_another_configuration_names_what_differs_and_touches_nothing(faces, tmp_path):
    run = tmp_path / "run"
    gslopes.synthesise(faces.photos, run, steps=3, **faces.known)
    before = sorted((path, path.stat().st_mtime_ns) for path in run.rglob("*") if path.is_file())
    with pytest.raises(RunFolderMismatch, match=r"find\.min_face is 32 there and 20 here.*--out"):
        gslopes.synthesise(faces.photos, run, steps=3, min_face=20, **faces.known)
    with pytest.raises(RunFolderMismatch, match=r"edit\.steps is 3 there and 5 here") as found:
        gslopes.audit(faces.photos, run, steps=5, **faces.known)
    assert "values" not in str(found.value)  # which follow from the steps
    with pytest.raises(
        RunFolderMismatch, match=r"edit\.steps is 3 there and 5 here"
    ):  # without the photos, too
        plan(stages.SLOPES, run, None, {"steps": 5})
    with pytest.raises(RunFolderMismatch, match=r"edit\.attributes"):
        gslopes.audit(faces.photos, run, steps=3, **{**faces.known, "attribute": "race"})
    with pytest.raises(RunFolderMismatch, match="seed is 0 there and 1 here"):
        gslopes.synthesise(faces.photos, run, steps=3, seed=1, **faces.known)
    with pytest.raises(RunFolderMismatch, match=r"inputs\.photos is 5 there and 2 here"):
        gslopes.synthesise(faces.photos, run, steps=3, limit=2, **faces.known)
    assert before == sorted(
        (path, path.stat().st_mtime_ns) for path in run.rglob("*") if path.is_file()
    )


def test_another_model_under_the_same_name_is_another_configuration(faces, tmp_path):
    run = tmp_path / "run"
    options = {"steps": 3, **faces.known}
    gslopes.synthesise(faces.photos, run, **options)
    components = default_components(configure(faces.photos, options), "cpu")
    components.models["gender-field"]["sha256"] = "f" * 64
    with pytest.raises(RunFolderMismatch, match=r"models\.gender-field\.sha256"):
        gslopes.synthesise(faces.photos, run, components=components, **options)


def test_stages_out_of_order_say_what_comes_first(faces, tmp_path):
    run = tmp_path / "run"
    with pytest.raises(UsageError, match="gslopes synthesise"):
        gslopes.score_photos(run, Counting())
    gslopes.synthesise(faces.photos, run, steps=3, **faces.known)
    with pytest.raises(UsageError, match="--only score"):
        redo(run, "fit")
    with pytest.raises(UsageError, match="--only score"):
        redo(run, "report")
    runfolder.part_path(run, "synthesise", tables.PHOTOS, 0).unlink()
    with pytest.raises(UsageError, match=r"not complete.*repeat the command"):
        gslopes.score_photos(run, Counting())


def test_no_usable_photo_ends_in_empty_tables_not_in_an_error(faces, tmp_path):
    run = tmp_path / "run"
    audit = gslopes.audit(
        faces.photos, run, steps=3, min_face=5000, classifier=Counting(), **faces.known
    )
    assert (audit.used, audit.errors) == (0, 0)
    assert audit.skipped == {"face too small": 5}
    assert all(len(frame) == 0 for name, frame in read(run).items() if name != "photos")


def test_a_run_begun_with_other_versions_says_so_and_goes_on(faces, tmp_path, capsys):
    run = tmp_path / "run"
    options = {"steps": 3, **faces.known}
    gslopes.synthesise(faces.photos, run, **options)
    manifest = runfolder.read_manifest(run)
    manifest["versions"]["torch"] = "1.0"
    runfolder.write_json(run / "run.json", manifest)
    (run / "parts" / "synthesise.json").unlink()  # of other versions, too
    gslopes.synthesise(faces.photos, run, executor=OneProcess(True), **options)
    assert 'torch is "1.0" there and' in capsys.readouterr().err


@pytest.mark.parametrize(("side", "trims"), [(224, 0), (2000, 1)])
def test_memory_goes_back_after_parts_of_large_photos_only(monkeypatch, side, trims):
    calls = []
    monkeypatch.setattr(stages.runtime, "trim_heap", lambda: calls.append(1))
    made = {"photos": [{"width": side, "height": side}] * 32, "edits": []}
    run = SimpleNamespace(
        config=SimpleNamespace(outside=False), tick=None, once=lambda kind: lambda *args: made
    )
    assert stages.make_pictures(run, []) is made
    assert len(calls) == trims
