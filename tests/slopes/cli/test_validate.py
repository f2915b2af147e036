import json
from pathlib import Path

import pytest

import gslopes
from gslopes.core.errors import UsageError


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"photos_csv": "people.csv", "groups": ["height"]}, "has no column 'height'"),
        ({"groups": ["gender"]}, "There is no table with the column 'gender'."),
        ({"photos_csv": "nowhere.csv"}, "nowhere.csv"),
        ({}, "it has no values of gender, which was edited"),
    ],
)
def test_what_is_wrong_is_said_before_any_sweep_is_measured(home, draw, tmp_path, monkeypatch, given, said) -> None:
    faces, run = draw(2), tmp_path / "run"
    gslopes.synthesise(faces.photos, run, steps=3, device="cpu", **faces.known)
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{path.name},female\n" for path in faces.photos.iterdir())
    Path("people.csv").write_text(f"photo,gender\n{rows}")
    if not given:
        content = json.loads((run / "run.json").read_text())
        (run / "run.json").write_text(json.dumps(content | {"values": {}}))
    with pytest.raises(UsageError, match=said):
        gslopes.validate_run(run, **given)
    assert not (run / "parts/gate").exists()
