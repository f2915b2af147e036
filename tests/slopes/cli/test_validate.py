import json
from pathlib import Path

import pytest

from gslopes.slopes.cli.validate import _next


@pytest.mark.parametrize(("there", "verb"), [((), "score"), (("scores",), "fit"), (("scores", "slopes"), "report")])
def test_the_next_step_is_that_of_how_far_the_run_is(tmp_path: Path, there: tuple[str, ...], verb: str) -> None:
    for name in there:
        (tmp_path / f"{name}.parquet").write_bytes(b"")
    assert _next(tmp_path) == f"gslopes {verb} {tmp_path}"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--photos-csv", "people.csv", "--groups", "height"), "has no column 'height'"),
        (("--groups", "gender"), "There is no table with the column 'gender'."),
        (("--photos-csv", "nowhere.csv"), "nowhere.csv"),
        ((), "it has no values of gender, which was edited"),
    ],
)
def test_what_is_wrong_is_said_before_any_sweep_is_measured(gslopes, draw, tmp_path, monkeypatch, given, said) -> None:
    faces, run = draw(2), tmp_path / "run"
    assert gslopes("synthesise", faces.photos, *faces.args, "--steps", 3, "--device", "cpu", "--out", run).code == 0
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{path.name},female\n" for path in faces.photos.iterdir())
    Path("people.csv").write_text(f"photo,gender\n{rows}")
    if not given:
        content = json.loads((run / "run.json").read_text())
        (run / "run.json").write_text(json.dumps(content | {"values": {}}))
    done = gslopes("validate", run, *given)
    assert done.code == 2
    assert said in " ".join(done.err.split())
    assert not (run / "parts/gate").exists()
