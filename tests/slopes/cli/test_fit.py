import json

import pytest


@pytest.fixture
def faces(draw):
    return draw(6)


@pytest.fixture
def run(gslopes, faces, toy, tmp_path):
    """A scored run folder of six rendered faces."""
    folder = tmp_path / "run"
    args = ["--out", folder, "--steps", 3, *faces.args]
    assert gslopes("audit", faces.photos, *args, "--only", "synthesise").code == 0
    assert gslopes("audit", folder, "--only", "score", "--classifier", toy).code == 0
    return folder


def test_groups_are_an_option(gslopes, run, faces, tmp_path) -> None:
    photos = sorted(path for path in faces.photos.rglob("*") if path.is_file())
    lines = [f"{path.relative_to(faces.photos)},{'ab'[index % 2]}" for index, path in enumerate(photos)]
    (tmp_path / "people.csv").write_text("path,group\n" + "\n".join(lines) + "\n", encoding="utf-8")
    few = ["--set", "fit.permutations=9"]
    fit = ["audit", run, "--only", "fit", *few, "--photos-csv", tmp_path / "people.csv", "--groups", "group"]
    done = gslopes(*fit, "--set", "fit.min_varying=1")
    assert done.code == 0, done.err
    assert "p_perm after Benjamini and Hochberg" in done.out
    assert (run / "groups.parquet").is_file()
    rows = json.loads(gslopes(*fit, "--json").out)["slopes"]
    assert {row["estimator"] for row in rows} == {"paper", "photo-rate"}
