"""A page of many photos and labels: as small as one of few, and read in parts."""

import json
from pathlib import Path

import pytest

from gslopes.core import runfolder, tables
from gslopes.slopes.config import FitConfig
from gslopes.slopes.fitting import fit_folder
from gslopes.slopes.page import answers as matrix, loading, page_data, write_report
from tests.benches import large_run

pytestmark = pytest.mark.figures("none")


def reported(run: Path, photos: int, labels: int, classifiers: int) -> Path:
    large_run.write(run, "audit", photos, 60 * photos, labels, classifiers)
    values = runfolder.read_manifest(run)["values"]
    config = FitConfig(permutations=0, photos_csv=run / "people.csv", groups=("region",))
    for table, frame in fit_folder(run, config, values, 0).tables():
        tables.write(table, frame, run / f"{table.name}.parquet")
    return write_report(run, embed="none")


@pytest.mark.slow
def test_a_page_stays_small_whatever_the_number_of_photos(tmp_path: Path) -> None:
    sizes = []
    for photos in (300, 6000):
        page = reported(tmp_path / str(photos), photos, 1000, 5)
        sizes.append(page.stat().st_size)
    assert sizes[1] < 1e6
    assert sizes[1] < 1.05 * sizes[0]
    every = sorted((page.parent / "data").glob("scores-*.js"))
    assert len(every) == 6000 / page_data.PHOTOS_A_FILE
    assert max(file.stat().st_size for file in every) < 200_000
    assert (page.parent / "data" / "photos.js").stat().st_size < 60 * 6000


def test_each_photo_has_its_own_scores_in_the_files_and_the_strongest_first(tmp_path: Path) -> None:
    page = reported(tmp_path / "run", 50, 40, 2)
    found = {}
    for number in range(3):
        text = (page.parent / "data" / f"scores-{number}.js").read_text("ascii")
        content = json.loads(text[text.index(",") + 1 : -3])
        assert content["start"] == number * page_data.PHOTOS_A_FILE
        for place, by_finding in enumerate(content["photos"], content["start"]):
            for key, rows in by_finding.items():
                found |= {(key, place, label): (slope, scores) for label, slope, scores in rows}
    paths = tables.read(tables.PHOTOS, tmp_path / "run" / "photos.parquet")
    places = {photo: place for place, photo in enumerate(paths.query("status == 'used'")["photo"])}
    expected = {}
    for finding in loading.load(tmp_path / "run").findings:
        answers = finding.answers
        for row in matrix.strongest(answers):
            key = finding.key, places[answers.photos[answers.photo[row]]]
            shown = [
                round(1000 * float(score)) if has else None
                for score, has in zip(answers.score[row], answers.present[row], strict=True)
            ]
            slope = round(float(matrix.slopes(answers)[row]), 4)
            expected[(*key, str(answers.labels[answers.label[row]]))] = slope, shown
    assert found.keys() == expected.keys()
    assert len(found) > 100
    for key, (slope, shown) in expected.items():
        assert found[key][0] == slope
        scores = [None if score is None else round(score) for score in found[key][1]]
        assert scores == shown


def test_a_finding_reads_its_answers_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reported(tmp_path / "run", 20, 20, 2)
    reads = []
    whole = matrix.read

    def counted(*given: object) -> object:
        reads.append(given[1:3])
        return whole(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(matrix, "read", counted)
    write_report(tmp_path / "run", embed="none")
    assert sorted(reads) == [("classifier-0", "gender"), ("classifier-1", "gender")]
