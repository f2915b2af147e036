"""The audit as a whole on small stages: Python call, clusters, options, measuring again."""

from __future__ import annotations

import json
import shutil
from html import unescape
from pathlib import Path

import pandas as pd
import pytest

import gslopes
from gslopes.core.errors import ConfigError, RunFolderMismatch, UnknownName, UsageError
from tests.fixtures import QUESTIONS, questions

QUICK = {"bootstrap": 100, "permutations": 99, "splits": 20}


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty images by ten photographers; of women one in two goes unmentioned by the system, of men none."""
    folder = tmp_path_factory.mktemp("captions") / "stages"
    folder.mkdir()
    human, system, groups = ["image,caption"], ["image,caption"], ["image,gender,photographer,age"]
    for place in range(40):
        word = "woman" if place % 2 else "man"
        human += [f"{place},A {word} on a bench.", f"{place},A {word} with a dog."]
        said = "bench" if place % 4 == 1 else f"{word} on a bench"
        system.append(f"{place},A {said}.")
        groups.append(f"{place},{'female' if place % 2 else 'male'},p{place // 4},{10 + place}")
    (folder / "human-captions.csv").write_text("\n".join(human) + "\n")
    (folder / "system-captions.csv").write_text("\n".join(system) + "\n")
    (folder.parent / "groups.csv").write_text("\n".join(groups) + "\n")
    return folder


def one(measures: pd.DataFrame, **facts: str) -> pd.Series:
    chosen = measures
    for name, value in facts.items():
        chosen = chosen[chosen[name] == value]
    assert len(chosen) == 1
    return chosen.iloc[0]


def test_groups_of_images_that_no_stage_has_are_said_and_not_refused(stages: Path, tmp_path: Path):
    text = (stages.parent / "groups.csv").read_text("utf-8")
    (tmp_path / "groups.csv").write_text(text + "x,male,p1,20\n", "utf-8")
    said = "1 row of groups.csv is about none of the images looked at: 'x'."
    how = {"columns": ["gender"], "techniques": ("D2",), **QUICK}
    audit = gslopes.audit_captions(stages, tmp_path / "run", groups=tmp_path / "groups.csv", **how)
    assert said in audit.notes
    assert unescape(audit.page.read_text("utf-8")).count(said) == 1
    assert len(audit.tables["measures"])


def test_the_python_call_gives_tables_and_pages(stages: Path, tmp_path: Path):
    groups = stages.parent / "groups.csv"
    audit = gslopes.audit_captions(
        stages, tmp_path / "run", groups=groups, columns=["gender"], techniques=("D2", "S3"), **QUICK
    )
    row = one(audit.tables["measures"], technique="D2", concept="unmentioned", unit="pp", column="gender")
    assert (row["value"], row["group"], row["other"]) == (50, "female", "male")
    assert row["ci_low"] > 0
    assert audit.page == audit.folder / "report" / "index.html"
    assert audit.page.is_file()
    assert not (audit.folder / "report.html").exists()
    assert questions(audit.page.read_text("utf-8")) == QUESTIONS
    assert 'href="../review.html"' in audit.page.read_text("utf-8")
    assert (audit.page.parent / "../review.html").resolve() == audit.review.resolve()
    assert audit.review.is_file()
    opened = gslopes.load(audit.folder)
    assert (opened.summary, opened.page, opened.review) == (audit.summary, audit.page, audit.review)
    again = gslopes.audit_captions(audit.folder, audit.folder)
    pd.testing.assert_frame_equal(again.tables["measures"], audit.tables["measures"])


def test_clusters_are_resampled_together_and_never_compared(stages: Path, tmp_path: Path):
    groups = stages.parent / "groups.csv"
    options = {"groups": groups, "columns": ["gender"], "techniques": ["D2"], "cluster": "photographer", **QUICK}
    audit = gslopes.audit_captions(stages, tmp_path / "run", **options)
    row = one(audit.tables["measures"], technique="D2", concept="unmentioned", unit="pp")
    assert row[["ci_low", "boot_low"]].isna().all()  # there are fewer than ten clusters
    assert row["note"].endswith("too few clusters with and without it for an interval")
    assert "clusters" in row["estimator"]
    assert set(audit.tables["measures"]["column"]) == {"", "gender"}
    again = gslopes.audit_captions(audit.folder, audit.folder)
    pd.testing.assert_frame_equal(again.tables["measures"], audit.tables["measures"])


def test_unknown_options_are_named_with_the_nearest(stages: Path, tmp_path: Path):
    with pytest.raises(UsageError, match="technique"):
        gslopes.audit_captions(stages, tmp_path / "run", techniqe=["D2"])
    with pytest.raises(ConfigError, match="relax"):
        gslopes.audit_captions(stages, tmp_path / "run", relax="nx")
    with pytest.raises(UnknownName, match="photographr"):
        gslopes.audit_captions(stages, tmp_path / "run", groups=stages.parent / "groups.csv", cluster="photographr")
    with pytest.raises(UsageError, match="--groups"):
        gslopes.audit_captions(stages, tmp_path / "run", cluster="photographer")


def test_groups_of_other_images_are_an_error_before_anything_is_parsed(stages: Path, tmp_path: Path):
    (tmp_path / "others.csv").write_text("image,gender\n000.jpg,male\n001.jpg,female\n")
    with pytest.raises(UsageError, match=r"none of the images.*'000\.jpg', '001\.jpg'.*same ids"):
        gslopes.audit_captions(stages, tmp_path / "run", groups=tmp_path / "others.csv", **QUICK)
    assert not (tmp_path / "run").exists()


def test_another_order_of_parts_of_speech_is_another_run(stages: Path, tmp_path: Path):
    gslopes.audit_captions(stages, tmp_path / "run", techniques=["D1"], **QUICK)
    with pytest.raises(RunFolderMismatch, match="senses"):
        gslopes.audit_captions(stages, tmp_path / "run", techniques=["D1"], relax="vn", **QUICK)
    assert json.loads((tmp_path / "run" / "run.json").read_text())["senses"] == "overrides"


def test_an_age_column_says_who_is_an_adult(tmp_path: Path):
    stages = tmp_path / "stages"
    stages.mkdir()
    rows = [f"{i},A person on a bench." for i in range(4)]
    (stages / "human-captions.csv").write_text("\n".join(["image,caption", *rows]))
    (stages / "system-captions.csv").write_text("\n".join(["image,caption", *(f"{i},A boy." for i in range(4))]))
    (tmp_path / "groups.csv").write_text("image,years\n0,30\n1,17\n2,adult\n3,\n")
    options = {"groups": tmp_path / "groups.csv", "techniques": ["D3"], "age": "years", **QUICK}
    audit = gslopes.audit_captions(stages, tmp_path / "run", **options)
    found = audit.tables["cases"][["image", "rule"]].to_numpy().tolist()
    assert sorted(found) == [["0", "boys"], ["2", "boys"], ["3", "boys (unclear)"]]
    with pytest.raises(UnknownName, match="yeers"):
        gslopes.audit_captions(stages, tmp_path / "other", **{**options, "age": "yeers"})


def test_the_groups_may_lie_among_the_stages(stages: Path, tmp_path: Path):
    shutil.copytree(stages, tmp_path / "stages")
    groups = shutil.copy(stages.parent / "groups.csv", tmp_path / "stages" / "groups.csv")
    options = {"groups": groups, "column": "gender", "technique": "D1"}
    assert set(gslopes.audit_captions(tmp_path / "stages", tmp_path / "run", **options).tables["people"]["value"])


@pytest.mark.parametrize("caption", ["", None, 7, [], [["a"]], {"raw": "a man"}])
def test_captions_of_which_none_is_a_text_end_in_tables_with_their_status(tmp_path: Path, caption: object):
    (tmp_path / "stages").mkdir()
    rows = [{"id": place, "image_id": place, "caption": caption} for place in range(5)]
    (tmp_path / "stages" / "human-captions.json").write_text(json.dumps({"annotations": rows}))
    found = gslopes.audit_captions(tmp_path / "stages", tmp_path / "run", technique="D1", **QUICK)
    assert set(found.tables["sentences"]["status"]) <= {"empty", "failed"}
    assert any("5 captions" in note for note in found.notes)
