import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gslopes.core import runfolder, tables
from gslopes.core.errors import StorageError, UsageError
from gslopes.report import numbers
from gslopes.slopes.compare import compare_runs, edits_differ, write_page
from gslopes.slopes.page.changes import print_changes

VALUES = np.linspace(-1, 1, 3)


def folder(run: Path, classifier: str, slope: float, seed: int = 0, photos: int = 60) -> Path:
    """A scored run with one label whose share goes from 0.5 - slope to 0.5 + slope; a photo's luck is the seed's."""
    run.mkdir()
    luck = np.random.default_rng(seed).random(photos)
    rows, asked = [], []
    for index in range(photos):
        for step, value in enumerate(VALUES):
            asked.append((f"{index:064x}", "gender", step, classifier, "answered", "", ""))
            if luck[index] < 0.5 + slope * value:
                rows.append((f"{index:064x}", "gender", step, value, classifier, "nurse", 0.9))
    tables.write(
        tables.SCORES, pd.DataFrame(rows, columns=tables.SCORES.columns), run / "scores.parquet"
    )
    tables.write(
        tables.ASKED, pd.DataFrame(asked, columns=tables.ASKED.columns), run / "asked.parquet"
    )
    runfolder.write_json(run / "run.json", {"values": {"gender": VALUES.tolist()}})
    return run


def test_a_mitigation_is_found_with_its_interval(tmp_path: Path) -> None:
    before, after = folder(tmp_path / "a", "model", -0.3), folder(tmp_path / "b", "model", -0.05)
    row = compare_runs(before, after).iloc[0]
    assert row["slope"] < row["other_slope"] < 0
    assert row["ci_low"] > 0
    assert row["q"] < 0.05
    assert "nurse" in print_changes(compare_runs(before, after))
    (line,) = [
        line
        for line in print_changes(compare_runs(before, after)).splitlines()
        if line.startswith(" nurse")
    ]
    assert line.split()[-3:] == ["of", "60", "yes"]


@pytest.mark.parametrize(
    ("photos", "changed", "said"),
    [
        (12, 0, "No answer differs on 12 photos."),
        (
            5,
            1,
            "Answers to a label differ on up to 1 of 5 photos. No label is on enough photos to say whether its",
        ),
        (
            60,
            1,
            "1 of 60 photos. Cannot tell with 60 photos whether “nurse” changed its slope along perceived gender: its",
        ),
        (
            300,
            1,
            "1 of 300 photos. “nurse” did not change its slope along perceived gender more than chance explains (",
        ),
    ],
)
def test_equal_answers_and_the_least_difference_are_said(
    tmp_path: Path, photos: int, changed: int, said: str
) -> None:
    one, other = (folder(tmp_path / name, "model", -0.3, photos=photos) for name in "ab")
    rows = tables.read(tables.SCORES, other / "scores.parquet")
    tables.write(tables.SCORES, rows[changed:], other / "scores.parquet")
    found = compare_runs(one, other)
    assert found["differing"].tolist() == [changed]
    assert said in " ".join(print_changes(found).split())
    assert said in write_page(one, other, found).read_text("utf-8")
    tables.write(tables.SCORES, rows.assign(score=rows["score"] + 1e-3), other / "scores.parquet")
    again = compare_runs(one, other)
    assert (again["difference"].item(), again["differing"].item()) == (
        0,
        rows["photo"].nunique(),
    ), "scores differ"


def test_labels_count_as_they_did_when_each_run_was_fitted(tmp_path: Path) -> None:
    one, other = folder(tmp_path / "a", "model", -0.3), folder(tmp_path / "b", "model", -0.3)
    rows = tables.read(tables.SCORES, one / "scores.parquet")
    weak = rows.drop_duplicates("photo").loc[:, list(rows.columns)].assign(label="weak", score=0.2)
    both = pd.concat(
        [rows, *(weak.assign(step=step, value=value) for step, value in enumerate(VALUES))]
    )
    for run in (one, other):
        tables.write(tables.SCORES, both, run / "scores.parquet")
        runfolder.write_json(
            run / "presence.json", {"limits": {"model": {"score": 0.5, "most": 0}}}
        )
    assert compare_runs(one, other)["label"].tolist() == ["nurse"]
    (other / "presence.json").unlink()
    assert sorted(compare_runs(one, other)["label"]) == ["nurse", "weak"]


def test_two_versions_are_paired_by_name_or_because_they_are_alone(tmp_path: Path) -> None:
    one, other = folder(tmp_path / "a", "model:v=1", 0.1), folder(tmp_path / "b", "model:v=2", 0.1)
    assert compare_runs(one, other)["difference"].tolist() == [0]
    assert len(compare_runs(one, other, [("model:v=1", "model:v=2")])) == 1
    with pytest.raises(UsageError, match="in common"):
        compare_runs(one, other, [("model:v=1", "nobody")])


def test_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        compare_runs(tmp_path, tmp_path)


def test_a_pair_is_cut_where_both_sides_are_classifiers_of_their_runs(tmp_path: Path) -> None:
    one, other = folder(tmp_path / "a", "a", 0.1), folder(tmp_path / "b", "b:threshold=0.7", 0.2)
    found = compare_runs(one, other, ["a=b:threshold=0.7"])
    assert found[["first_classifier", "classifier"]].to_numpy().tolist() == [
        ["a", "b:threshold=0.7"]
    ]
    assert print_changes(found).startswith("a → b:threshold=0.7: change of each label's slope")
    assert "a → b:threshold=0.7 along perceived gender</h2>" in write_page(
        one, other, found
    ).read_text("utf-8")
    with pytest.raises(UsageError, match="is not OLD=NEW") as error:
        compare_runs(one, other, ["a=c"])
    assert "b:threshold=0.7" in error.value.hint


def test_the_page_says_what_changed_and_holds_every_number_that_is_printed(tmp_path: Path) -> None:
    before, after = (
        folder(tmp_path / "a", "<b>model</b>", -0.3),
        folder(tmp_path / "b", "<b>model</b>", -0.05),
    )
    found = compare_runs(before, after)
    page = write_page(before, after, found)
    assert page == after / "compare" / "index.html"
    content = json.loads((page.parent / "summary.json").read_text("utf-8"))
    assert content["audit"] == "compare"
    assert content["headline"].startswith("The slope of “nurse” along perceived gender went from")
    assert content["rows"][0]["value"] == pytest.approx(found.iloc[0]["difference"])
    html = page.read_text("utf-8")
    row = found.iloc[0]
    assert content["headline"] in html
    assert numbers.points(row["difference"]) in html
    assert "<b>model</b>" not in html
    assert "&lt;b&gt;model&lt;/b&gt;" in html


def test_two_runs_whose_decoders_were_given_other_values_are_said_to_be_made_differently(
    tmp_path: Path,
) -> None:
    before, after = folder(tmp_path / "a", "model", -0.3), folder(tmp_path / "b", "model", -0.05)
    assert edits_differ(before, after) == ""
    for run, edit in (
        (before, {"model": "fader"}),
        (after, {"model": "fader", "calibrated": False}),
    ):
        runfolder.write_json(
            run / "run.json", runfolder.read_manifest(run) | {"identity": {"edit": edit}}
        )
    said = edits_differ(before, after)
    assert "edit.calibrated is not set there and false here" in said
    assert said in write_page(before, after, compare_runs(before, after)).read_text("utf-8")


def test_the_page_goes_through_no_link_out_of_the_run_unless_it_is_named(tmp_path: Path) -> None:
    one, other = folder(tmp_path / "a", "model", -0.3), folder(tmp_path / "b", "model", -0.05)
    changes = compare_runs(one, other)
    (tmp_path / "away").mkdir()
    (other / "compare").symlink_to(tmp_path / "away")
    with pytest.raises(StorageError, match="is a link that leads out"):
        write_page(one, other, changes)
    assert not any((tmp_path / "away").iterdir())
    assert write_page(one, other, changes, other / "compare").is_file()
