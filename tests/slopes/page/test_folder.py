import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes.core import tables
from gslopes.core.errors import StorageError, TableError, UsageError
from gslopes.slopes.page import write_report
from tests.fixtures import paper_slopes


@pytest.fixture
def run(one: Path, tmp_path: Path) -> Path:
    """A run folder of the test's own."""
    copy = tmp_path / "run"
    shutil.copytree(one, copy, ignore=shutil.ignore_patterns("report"))
    return copy


@pytest.fixture(scope="module")
def written(one: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with its report as it is by default, which tests only read."""
    copy = tmp_path_factory.mktemp("written") / "run"
    shutil.copytree(one, copy, ignore=shutil.ignore_patterns("report"))
    write_report(copy)
    return copy


@pytest.fixture
def drawn(written: Path, tmp_path: Path) -> Path:
    """A run folder of the test's own, with the strips of an earlier report, which the next one keeps."""
    copy, report = tmp_path / "run", str(written / "report")
    shutil.copytree(
        written,
        copy,
        ignore=lambda folder, names: {*names} - {"pictures"} if folder == report else set(),
    )
    return copy


def names(run: Path) -> list[str]:
    return sorted(path.name for path in (run / "report").iterdir())


PLAIN = [
    *("data", "findings.csv", "findings.tex", "index.html", "method.md", "slopes.csv"),
    "tables",
]
FIGURES = [f"figure{number}.{form}" for number in (1, 2, 3) for form in ("pdf", "png")]
FILES = sorted([*FIGURES, *PLAIN, "pictures"])


def contents(run: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(run)): path.read_bytes()
        for path in (run / "report").rglob("*")
        if path.is_file()
    }


@pytest.mark.slow
@pytest.mark.figures("png")  # for PDF: test_sheets
def test_report_has_the_promised_files_and_is_the_same_when_written_again(
    make: Callable[..., Path], tmp_path: Path
) -> None:
    run = make(tmp_path / "run", [("celeba-tagger", "gender")], photos=24)
    assert write_report(str(run)) == run / "report" / "index.html"
    assert names(run) == FILES
    with Image.open(run / "report" / "figure3.png") as image:
        image.verify()
    first = contents(run)
    write_report(run)
    assert contents(run) == first


@pytest.mark.row("slopes-table-thresholds")
@pytest.mark.slow
def test_thresholds_are_handed_down(drawn: Path) -> None:
    write_report(drawn, p=0.05, slope=0.15)
    assert pd.read_csv(drawn / "report" / "tables" / "table2.csv")["Label"].tolist() == ["Necktie"]
    assert '"p":0.05,"slope":0.15' in (drawn / "report" / "index.html").read_text("utf-8")


@pytest.mark.parametrize(
    "wrong",
    [{"p": 0}, {"p": float("nan")}, {"slope": -1}, {"slope": float("inf")}, {"embed": "full"}],
)
def test_options_out_of_range_are_refused_before_anything_is_written(
    run: Path, wrong: dict
) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        write_report(run, **wrong)
    assert not (run / "report").exists()


def test_report_needs_no_pictures(run: Path) -> None:
    shutil.rmtree(run / "edits")
    write_report(run)
    assert names(run) == sorted([*FIGURES, *PLAIN])


def test_report_without_pictures_shows_none_and_names_nobody_and_no_folder(
    run: Path, written: Path
) -> None:
    shutil.copytree(written / "report", run / "report")
    manifest = json.loads((run / "run.json").read_text())
    manifest["config"] |= {
        "photos": "/home/anna/secret",
        "edit": {"attributes": ["gender"]},
        "masks": "/mnt/m",
    }
    (run / "run.json").write_text(json.dumps(manifest))
    write_report(run, embed="none")
    kept = contents(run)
    assert not [name for name in kept if "pictures" in name]
    for said in (b"people/000.jpg", b"no face.jpg", b"anna", b"/mnt/m"):
        assert not [name for name, data in kept.items() if said in data]


def test_strip_shows_the_pictures_of_one_sweep_side_by_side(written: Path) -> None:
    strips = sorted((written / "report" / "pictures").rglob("*.webp"))
    assert len(strips) == 80
    with Image.open(strips[0]) as image:
        assert image.size == (7 * image.height, image.height)
        middles = np.asarray(image)[image.height // 2, image.height // 2 :: image.height].astype(
            float
        )
    assert (np.diff(middles[:, 2]) > 0).all()  # the synthetic face gets bluer
    slopes, read = (
        tables.read(tables.SLOPES, written / "slopes.parquet"),
        pd.read_csv(written / "report/slopes.csv"),
    )
    assert len(read.columns) == 14
    pd.testing.assert_frame_equal(read, slopes[read.columns], check_dtype=False, rtol=1e-12)


def test_report_of_published_slopes_alone_has_tables_and_no_figures(run: Path) -> None:
    for name in ("photos", "edits", "asked", "scores"):
        (run / f"{name}.parquet").unlink()
    (run / "run.json").write_text("{}")
    write_report(run)
    assert names(run) == PLAIN
    assert "Lipstick" in (run / "report" / "slopes.csv").read_text("utf-8")


def test_no_label_with_a_slope_gives_a_page_without_curves(drawn: Path) -> None:
    scores = tables.read(tables.SCORES, drawn / "scores.parquet")
    asked = tables.read(tables.ASKED, drawn / "asked.parquet")
    values = {"gender": np.linspace(-2, 2, 7)}
    scores = scores[scores["step"] != 3]
    tables.write(tables.SCORES, scores, drawn / "scores.parquet")
    tables.write(tables.SLOPES, paper_slopes(scores, asked, values), drawn / "slopes.parquet")
    write_report(drawn)
    assert "figure2.png" not in names(drawn)


def test_file_in_the_way_of_the_report_is_a_clear_error(run: Path) -> None:
    (run / "report").write_text("in the way")
    with pytest.raises(StorageError, match="report"):
        write_report(run)
    assert (run / "report").read_text() == "in the way"
    (run / "slopes.parquet").unlink()
    with pytest.raises(TableError, match="no slopes table"):
        write_report(run)
