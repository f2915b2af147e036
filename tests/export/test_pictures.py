"""What is exported: pictures in sets and splits, and answers."""

import json
from pathlib import Path

import pytest

import gslopes
from gslopes.core.errors import ConfigError, StorageError, UsageError
from gslopes.core.options import build
from gslopes.export.pictures import ExportConfig, pictures
from tests.export.conftest import DIGEST


def rows(run: Path, **options: object):
    return pictures(run, build(ExportConfig, options))


def test_a_set_is_a_photo_along_an_attribute_with_its_original_first(run):
    result = rows(run)
    assert len(result) == 4 * 2 * (3 + 1)
    sets = result.groupby("set", sort=False)
    assert len(sets) == 8
    for _, item in sets:
        assert item["step"].tolist() == [-1, 0, 1, 2]
        assert item["kind"].tolist() == ["original", "edit", "edit", "edit"]
        assert item["value"].isna().tolist() == [True, False, False, False]
        assert item["photo"].nunique() == item["attribute"].nunique() == 1
    edits = result[result["kind"] == "edit"]
    assert set(edits["editor"]) == {"gender-field", "race-field"}
    assert set(edits["editor_sha256"]) == {DIGEST}
    assert result["source_path"].isin([f"p{index}.jpg" for index in range(4)]).all()
    assert set(result["licence"]) == {"", "CC BY 4.0"}
    assert result["box"].map(list).iloc[0] == [2.0, 3.0, 12.0, 18.5]


def test_an_editor_that_others_made_is_named_with_its_version(run):
    manifest = json.loads((run / "run.json").read_text())
    manifest["models"] = {
        "images:a,url=http://h": {"version": "a-1"},
        "parser": {"sha256": DIGEST, "licence": "MIT"},
    }
    manifest["config"]["edit"]["model"] = "images:url=http://h,a"
    (run / "run.json").write_text(json.dumps(manifest))
    result = rows(run)
    edits, originals = (result[result["kind"] == kind] for kind in ("edit", "original"))
    assert set(edits["editor"]) == {"images:a,url=http://h"}
    assert set(edits["editor_sha256"]) == {"a-1"}
    assert set(originals["editor"]) == set(originals["editor_sha256"]) == {""}


def test_the_gate_is_said(run):
    result = rows(run)
    dropped = result[~result["kept"]]
    assert set(dropped["reason"]) == {"the face was not found again"}
    assert dropped["set"].nunique() == 1


def test_a_run_that_no_gate_judged_has_kept_sweeps(run):
    (run / "verdicts.parquet").unlink()
    (run / "sources.parquet").unlink()
    result = rows(run)
    assert result["kept"].all()
    assert "licence" not in result


def test_columns_of_the_people_table_are_there_and_none_takes_our_name(run, people):
    result = rows(run, photos_csv=people)
    assert {"person", "group", "photo_licence"} <= set(result)
    assert set(result["licence"]) == {"", "CC BY 4.0"}


@pytest.mark.parametrize("seed", range(6))
def test_no_split_goes_through_a_set_or_a_person(run, people, seed):
    manifest = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(manifest | {"seed": seed}))
    by_photo = rows(run, split=0.5)
    assert by_photo.groupby("photo")["split"].nunique().eq(1).all()
    assert by_photo.drop_duplicates("photo")["split"].value_counts().to_dict() == {
        "train": 2,
        "test": 2,
    }
    by_person = rows(run, split=0.67, split_by="person", photos_csv=people)
    assert by_person.groupby(by_person["person"].str.strip())["split"].nunique().eq(1).all()
    assert by_person["split"].nunique() == 2
    assert by_person["split"].is_monotonic_decreasing  # train first


def test_what_cannot_be_chosen_is_refused(run, people):
    for options in (
        {"split": 1.0},
        {"split_by": "person"},
        {"split_by": "person", "photos_csv": people},
    ):
        with pytest.raises(ConfigError):
            rows(run, **options)
    with pytest.raises(UsageError, match="no column 'name'"):
        rows(run, split=0.5, split_by="name", photos_csv=people)
    with pytest.raises(UsageError, match="cannot be split"):
        rows(run, split=0.01)


@pytest.mark.parametrize("place", ["export", "export/imagefolder", "export/imagefolder/train"])
def test_an_export_into_the_run_goes_through_no_link_that_leads_out(run, tmp_path, place):
    away = tmp_path / "away"
    away.mkdir()
    (run / place).parent.mkdir(parents=True, exist_ok=True)
    (run / place).symlink_to(away)
    with pytest.raises(StorageError, match="is a link that leads out"):
        gslopes.export(run, "imagefolder")
    assert not any(away.iterdir())
    (tmp_path / "named").symlink_to(away)
    assert gslopes.export(run, "imagefolder", tmp_path / "named").rows
    assert any(away.iterdir())
