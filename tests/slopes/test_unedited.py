"""The photos as they were: asked about once, resumed, kept apart from the edits, and compared between groups."""

import csv
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

import gslopes
from gslopes.core import tables
from gslopes.core.traits import Limits, Traits
from gslopes.slopes import audit as stages
from gslopes.slopes.fitting import unedited_answers
from tests.slopes.test_stages import Counting


@pytest.fixture
def faces(draw, home):
    return draw(24)


@pytest.fixture
def people(faces, tmp_path):
    path = tmp_path / "people.csv"
    with path.open("w", newline="") as file:
        rows = sorted(
            str(one.relative_to(faces.photos)) for one in faces.photos.rglob("*.*") if one.is_file()
        )
        csv.writer(file).writerows(
            [("file", "team"), *((name, "ab"[place % 2]) for place, name in enumerate(rows))]
        )
    return path


def settings(tmp_path: Path, people: Path) -> Path:
    file = tmp_path / "audit.toml"
    fit = f'photos_csv = "{people}"\ngroups = ["team"]\npermutations = 50\nmin_varying = 1\n'
    file.write_text(f"part = 8\n[fit]\n{fit}")
    return file


@pytest.mark.evidence
@pytest.mark.slow
@pytest.mark.figures("png")
def test_groups_of_an_audit_have_their_observed_difference_everywhere(faces, people, tmp_path):
    config = settings(tmp_path, people)
    audit = gslopes.audit(faces.photos, tmp_path / "run", steps=3, config=config, **faces.known)
    found = audit.tables["observed"]
    assert set(found["column"]) == {"team"}
    scores = tables.read(tables.SCORES, audit.folder / "unedited" / "scores.parquet")
    assert set(scores["attribute"]) == {"unedited"}
    assert set(tables.read(tables.SCORES, audit.folder / "scores.parquet")["attribute"]) == {
        "gender"
    }
    row = found.iloc[0]
    assert 4 <= row["n"] + row["n_other"] <= audit.tables["balance"]["used"].iloc[0]
    assert 'id="observed"' in audit.page.read_text("utf-8")
    content = json.loads((audit.folder / "summary.json").read_text("utf-8"))
    assert (
        len(content["observed"])
        == found["agreement"]
        .isin(["same sign", "opposite signs", "observed only", "edit only"])
        .sum()
    )
    before = {path: path.stat().st_mtime_ns for path in audit.folder.rglob("*.parquet")}
    gslopes.audit(faces.photos, tmp_path / "run", steps=3, config=config, **faces.known)
    assert before == {path: path.stat().st_mtime_ns for path in audit.folder.rglob("*.parquet")}


def test_each_photo_is_asked_about_once_and_an_interrupted_asking_goes_on(faces, tmp_path):
    run, counting = tmp_path / "run", Counting(left=20)
    config = tmp_path / "audit.toml"
    config.write_text("part = 8\n")
    gslopes.synthesise(faces.photos, run, steps=3, config=config, **faces.known)
    with pytest.raises(KeyboardInterrupt):  # 18 batches of the edits, two of the photos
        gslopes.score_photos(run, counting, unedited=True)
    assert (run / "scores.parquet").is_file()
    assert not (run / "unedited" / "scores.parquet").exists()
    counting.left = 10**9
    gslopes.score_photos(run, counting, unedited=True)
    assert len(counting.seen) == 24 * 4
    found = unedited_answers(run, {})
    assert len(found["counting"].photos) == 24


@pytest.mark.parametrize(("unedited", "groups", "blend", "free", "asked"), [
    (False, ("team",), "auto", True, True), (False, (), "ratio", True, False), (False, ("team",), "auto", False, False),
    (True, (), "auto", False, True), (False, (), "paste", False, True),
])  # fmt: skip
def test_drawn_faces_make_a_paid_classifier_be_asked_and_groups_do_not(
    monkeypatch, unedited, groups, blend, free, asked
):
    config = SimpleNamespace(
        pairs=None, score=SimpleNamespace(unedited=unedited), fit=SimpleNamespace(groups=groups)
    )
    monkeypatch.setattr(stages, "to_dict", lambda config: {"compose": {"blend": blend}})
    traits = Traits(Limits(price=0.0 if free else 1.0))
    monkeypatch.setattr(stages, "traits_of", lambda classifier: traits)
    run = SimpleNamespace(config=config, models={"one": Counting()})
    assert list(stages.observers(run)) == ["one"] * asked
