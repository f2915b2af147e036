"""The content of an export's card and Croissant file."""

import json

import pytest

import gslopes
from gslopes.core import runfolder
from gslopes.core.files import sha256_of
from gslopes.faces.gate.verdict import VALIDITY
from gslopes.faces.zoo import identify


def test_the_card_says_what_was_edited_by_what_and_what_was_dropped(run, tmp_path):
    number = {"value": 0.9, "low": 0.8, "high": 0.95}
    facts = {"shift": number, "monotone": None, "leakage": {"young": number}}
    runfolder.write_json(
        run / VALIDITY,
        {"attributes": [{"attribute": name, **facts} for name in ("gender", "race")]},
    )
    manifest = json.loads((run / "run.json").read_text())
    manifest["models"]["gender-field"]["sha256"] = identify("gender-field")[1]
    (run / "run.json").write_text(json.dumps(manifest))
    out = gslopes.export(run, "parquet", tmp_path / "out", split=0.5).path
    text = (out / "README.md").read_text("utf-8")
    head, _, body = text.removeprefix("---\n").partition("\n---\n")
    assert 'path: "data/train-*.parquet"' in head
    assert "license: other" in head
    assert "| race | race-field | dddd" in body
    assert "kept 7 of the run's 8 sweeps" in body
    assert "| the face was not found again | 1 |" in body
    assert "| CC BY 4.0 | 3 |" in body
    assert "| not stated: that gives no permission | 1 |" in body
    assert "young moves too, share of the target's slope | 0.90 [0.80, 0.95]" in body
    assert "share of sweeps whose reading rises | not known" in body
    assert "Known failures of gender-field" in body
    assert "Known failures of race-field" not in body, "its card is of other weights"
    assert "detector of gender" in body


def test_a_run_without_judge_sources_or_known_model_has_a_card_too(run, tmp_path):
    for name in ("verdicts", "sources"):
        (run / f"{name}.parquet").unlink()
    text = (gslopes.export(run, "imagefolder", tmp_path / "out").path / "README.md").read_text(
        "utf-8"
    )
    assert "No gate judged the sweeps." in text
    assert "were not judged by a reader" in text
    assert "Known failures" not in text
    assert "| not stated: that gives no permission | 4 |" in text


# -- test croissant ---------------------------------------------------------------------------------------------------


@pytest.mark.slow  # seconds to import mlcroissant
@pytest.mark.filterwarnings("ignore")  # of what mlcroissant imports
@pytest.mark.parametrize("form", ["imagefolder", "parquet", "webdataset"])
def test_mlcroissant_has_no_error_and_reads_the_records(run, tmp_path, form, monkeypatch):
    monkeypatch.setattr("gslopes.export.SHARD", 10e3)
    mlc = pytest.importorskip("mlcroissant")
    out = gslopes.export(run, form, tmp_path / "out").path
    dataset = mlc.Dataset(jsonld=str(out / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    written = json.loads((out / "croissant.json").read_text("utf-8"))
    files = [item for item in written["distribution"] if item["@type"] == "cr:FileObject"]
    assert files
    assert all(item["sha256"] == sha256_of(out / item["contentUrl"]) for item in files)
    assert "detector of gender" in " ".join(written["rai:dataLimitations"])
    assert "1 of them: the face was not found again" in written["rai:dataPreprocessingProtocol"]
    assert written["license"] == "CC BY 4.0"
    assert not any("context" in warning for warning in dataset.metadata.ctx.issues.warnings)
    assert dataset.metadata.data_biases
    if form in ("imagefolder", "parquet"):
        records = list(dataset.records("records"))
        assert len(records) == 32
        assert len({record["records/set"] for record in records}) == 8
    if form == "parquet":
        assert records[0]["records/image"].size == (24, 24)
