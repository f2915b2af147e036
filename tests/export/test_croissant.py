from __future__ import annotations

import json

import pytest

import gslopes
from gslopes.core.files import sha256_of


@pytest.mark.filterwarnings("ignore")  # of what mlcroissant imports
@pytest.mark.parametrize("form", ["imagefolder", "parquet", "webdataset"])
def test_files_are_named_with_their_digests_and_the_words_of_responsible_ai_are_there(run, tmp_path, form):
    out = gslopes.export(run, form, tmp_path / "out").path
    found = json.loads((out / "croissant.json").read_text("utf-8"))
    assert "http://mlcommons.org/croissant/1.1" in found["conformsTo"]
    files = [one for one in found["distribution"] if one["@type"] == "cr:FileObject"]
    assert files
    assert all(one["sha256"] == sha256_of(out / one["contentUrl"]) for one in files)
    assert "detector of gender" in " ".join(found["rai:dataLimitations"])
    assert "1 of them: the face was not found again" in found["rai:dataPreprocessingProtocol"]
    assert found["license"] == "CC BY 4.0"


@pytest.mark.slow  # seconds to import mlcroissant
@pytest.mark.filterwarnings("ignore")  # of what mlcroissant imports
@pytest.mark.parametrize("form", ["imagefolder", "parquet", "webdataset"])
def test_mlcroissant_has_no_error_and_reads_the_records(run, tmp_path, form, monkeypatch):
    monkeypatch.setattr("gslopes.export.SHARD", 10e3)
    mlc = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed: pip install 'gslopes[croissant]'")
    out = gslopes.export(run, form, tmp_path / "out").path
    found = mlc.Dataset(jsonld=str(out / "croissant.json"))
    assert not found.metadata.ctx.issues.errors
    assert not any("context" in warning for warning in found.metadata.ctx.issues.warnings)
    assert found.metadata.data_biases
    if form in ("imagefolder", "parquet"):
        records = list(found.records("records"))
        assert len(records) == 32
        assert len({record["records/set"] for record in records}) == 8
    if form == "parquet":
        assert records[0]["records/image"].size == (24, 24)
