"""Every kind of run goes out and comes back: export, then ``--pairs`` of the export, gives the same slopes."""

import io
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import gslopes
from gslopes.core import runfolder, tables
from gslopes.core.errors import UsageError
from gslopes.frame.result import Result
from gslopes.slopes.pairs import read_pairs
from tests.export.test_writers import FORMS

NUMBERS = ["attribute", "label", "estimator", "n", "slope", "se", "p", "ci_low", "ci_high"]
NUMBERS += ["p_perm", "y_first", "y_last"]
ODD = r"a?b*[c]#d::e {x} %20 \ 'q' ;&=1+1.5"  # an attribute that glob, tar and format would read
Rows = list[dict[str, Any]]


def warm(pictures: Sequence[np.ndarray]) -> list[dict[str, float]]:
    return [
        {
            "warm": float((picture[..., 0].astype(float) - picture[..., 2]).mean() / 510 + 0.5),
            "light": float(picture.mean() / 255),
        }
        for picture in pictures
    ]


def audited(photos: Any, out: Path, **options: Any) -> Result:
    usual = {"placebo": False, "fit.min_varying": 2, "fit.permutations": 30}
    return gslopes.audit(photos, out, classifier=warm, gate=False, **(usual | options))


def slopes(result: Result) -> pd.DataFrame:
    result = result.tables["slopes"][NUMBERS]
    real = result[~result["attribute"].str.contains("-(?:same|light|random)(?:=|$)")]
    return real.sort_values(NUMBERS[:3]).reset_index(drop=True)


def assert_comes_back(run: Result, out: Path, forms: Sequence[Any], **options: Any) -> None:
    first = slopes(run)
    assert first["slope"].abs().max() > 0
    for form in forms:
        exported = gslopes.export(run.folder, form, out / form)
        again = audited(None, out / f"{form}-again", pairs=exported.path, **options)
        pd.testing.assert_frame_equal(first, slopes(again), check_exact=True)


def seen(run: Path) -> dict[tuple[object, ...], bytes]:
    """The files of each picture."""
    edits = tables.read(tables.EDITS, run / "edits.parquet").sort_values("step")
    keys = zip(edits["photo"], edits["attribute"], edits["step"], edits["value"], strict=True)
    return dict(zip(keys, [(run / file).read_bytes() for file in edits["file"]], strict=True))


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Rows], Path]:
    """Writes a set: a table, and a picture for each row."""

    def written(rows: Rows) -> Path:
        folder = tmp_path / "set"
        folder.mkdir()
        lot = np.random.default_rng(0)
        for row in rows:
            kind = "png" if row["file_name"].endswith("png") else "jpeg"
            pixels = lot.integers(0, 255, (32, 32, 3), np.uint8)
            Image.fromarray(pixels).save(folder / row["file_name"], kind)
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "metadata.jsonl").write_text(lines)
        return folder

    return written


def sweep(attribute: str, values: Sequence[object], units: int = 4, ending: str = "jpg") -> Rows:
    return [
        {
            "file_name": f"{unit} {place}-{attribute[:1]}.{ending}",
            "unit": f"=ü {unit}",
            "attribute": attribute,
            "value": value,
            "group": "ab"[unit % 2],
        }
        for unit in range(units)
        for place, value in enumerate(values)
    ]


def crossed(first: Sequence[object], second: Sequence[object], units: int = 4) -> Rows:
    return [
        {"file_name": f"{unit}-{a}-{b}.jpg", "scene": f"s{unit}", "gender": a, "race": b}
        for unit in range(units)
        for a in first
        for b in second
    ]


def test_a_set_that_others_made_goes_out_unchanged_and_comes_back(
    write: Callable[[Rows], Path], home: Path, tmp_path: Path
) -> None:
    """Names and uneven numbers, JPEG and PNG, groups, one unit as it was, and names that are no file's."""
    rows = sweep("race", ["East Asian", "White", "Black: x"]) + sweep(
        ODD, [0, 0.12345678, 5], 4, "png"
    )
    rows.append({"file_name": "was.png", "unit": "=ü 1", "attribute": ODD, "group": "b"})
    folder = write(rows)
    options: dict[str, Any] = {"pairs": folder, "baseline": "White", "placebo": False}
    run = gslopes.synthesise(None, tmp_path / "run", **options).folder
    out = gslopes.export(run, "imagefolder", tmp_path / "out").path
    again = gslopes.synthesise(None, tmp_path / "again", **options | {"pairs": out}).folder
    for name in ("values", "models"):
        assert runfolder.read_manifest(again)[name] == runfolder.read_manifest(run)[name]
    assert seen(again) == seen(run)
    lines = [json.loads(line) for line in (out / "train/metadata.jsonl").read_text().splitlines()]
    assert len(lines) == 4 * 3 + 4 * 3 + 2, "of the unit as it was a row in both of its sets"
    bare = {(folder / row["file_name"]).read_bytes() for row in rows}
    assert {(out / "train" / line["file_name"]).read_bytes() for line in lines} == bare
    assert {line["kind"] for line in lines} == {"picture", "original"}
    assert {line["value"] for line in lines if line["attribute"] == "race"} == {
        "", "East Asian", "White", "Black x",
    }  # fmt: skip
    assert {(line["editor"], line["group"]) for line in lines} == {("", "a"), ("", "b")}
    card = (out / "README.md").read_text("utf-8")
    assert "**Others made them**: they are those of the set `set`." in card
    assert "--baseline 'White'" in card
    about = json.loads((out / "croissant.json").read_text("utf-8"))
    assert "others made" in about["rai:dataCollection"]
    for text in ("by which model", "XMP", "synthetic", "was edited"):
        assert text not in card.replace("what an edit changed", "")
        assert text not in json.dumps(about)
    (out / "README.md").unlink()
    with pytest.raises(UsageError, match="an export that was stopped"):
        read_pairs(out)


def test_a_grid_of_numbers_and_one_of_a_number_and_names_are_read_as_grids(
    write: Callable[[Rows], Path],
) -> None:
    grids = crossed([-2, 0, 2], [0, 0.5, 1]), crossed([2, -2], "ABW"), crossed([1, 2], [1, 2])
    folder = write([*grids[0], *grids[1], *grids[2]])
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in grids[0]))
    columns = ",unit=scene,attribute=gender+race"
    assert set(read_pairs(f"{folder}{columns}", placebos=False).values) == {
        "gender",
        "race",
        "gender-x-race",
    }
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in grids[1]))
    result = read_pairs(f"{folder}{columns}", "W", placebos=False).values
    assert set(result) == {"gender", "race: A − W", "race: B − W", "gender-x-race"}
    assert result["gender"] == [-2, 2]
    # no centre: sweeps in clusters
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in grids[2]))
    assert "gender-x-race" not in read_pairs(f"{folder}{columns}", placebos=False).values


@pytest.mark.slow
@pytest.mark.evidence
@pytest.mark.parametrize(
    ("rows", "columns", "baseline", "attributes"),
    [
        (crossed("fm", "ABW"), ",unit=scene,attribute=gender+race", "f,W", 12),
        (crossed([-2, 0, 2], [0, 1, 3]), ",unit=scene,attribute=gender+race", "", 7),
        (crossed([-2, 2], "ABW"), ",unit=scene,attribute=gender+race", "W", 12),
        (crossed([1, 2], [1, 2]), ",unit=scene,attribute=gender+race", "", 2),
        (
            [
                row
                for row in crossed("fm", "ABW")
                if row["gender"] == "f" or row["race"] == "W" or row["scene"] == "s3"
            ],
            ",unit=scene,attribute=gender+race",
            "f,W",
            3,
        ),
        (sweep("race", "ABW", ending="png") + sweep("tone", [1, 2, 7]), "", "W", 3),
        (sweep("a-same", [1, 2]) + sweep("b: c − d", "xy"), "", "x", 2),
    ],
    ids=["grid", "numbers", "number and names", "even", "clusters", "mixed", "names like ours"],
)
def test_sets_of_every_kind_come_back_from_folders_and_parquet(
    write: Callable[[Rows], Path],
    home: Path,
    tmp_path: Path,
    rows: Rows,
    columns: str,
    baseline: str,
    attributes: int,
) -> None:
    options: dict[str, Any] = {"baseline": baseline} if baseline else {}
    folder = write(rows)
    run = audited(None, tmp_path / "run", pairs=f"{folder}{columns}", **options)
    assert slopes(run)["attribute"].nunique() == attributes
    assert_comes_back(run, tmp_path / "out", ["imagefolder", "parquet"], **options)
    again = tmp_path / "out/parquet-again"
    assert_comes_back(gslopes.load(again), tmp_path / "twice", ["parquet"], **options)


@pytest.mark.slow
@pytest.mark.evidence
@pytest.mark.parametrize(
    "options",
    [
        {"attribute": ["gender", "race"]},
        {"attribute": ["race", "gender"], "cross": True, "grid": (3, 3), "placebo": True},
        {"editor": "brighter"},
        {"editor": "brighter", "given": True},
    ],
    ids=["two", "crossed", "editor of others", "photos from memory"],
)
def test_our_runs_come_back_whoever_edits_and_wherever_the_photos_are(
    draw: Callable[[int], Any], tmp_path: Path, options: dict[str, Any]
) -> None:
    faces = draw(4)
    photos: Any = tmp_path / "photos"
    for number, file in enumerate(sorted(faces.photos.iterdir())):
        for name in (f"a b/{number}.png", "=1+1/same.png", "ü/-x.png")[number % 3 :][:1]:
            (photos / name).parent.mkdir(parents=True, exist_ok=True)
            (photos / name).write_bytes(file.read_bytes())
    (photos / "again.png").write_bytes(next(photos.glob("a b/*")).read_bytes())
    if options.pop("given", False):
        photos = [np.asarray(Image.open(file)) for file in sorted(photos.rglob("*.png"))]
    if options.get("editor") == "brighter":
        options["editor"] = brighter
    run = audited(photos, tmp_path / "run", **options)
    assert_comes_back(run, tmp_path / "out", ["imagefolder", "parquet"])


def brighter(picture: np.ndarray, value: float) -> np.ndarray:
    return np.clip(picture.astype(float) + 8 * value, 0, 255).astype(np.uint8)


@pytest.mark.slow  # seconds to import datasets
@pytest.mark.filterwarnings("ignore")  # of what they import
def test_the_libraries_read_sets_of_two_kinds_of_files_with_odd_names(
    write: Callable[[Rows], Path], home: Path, tmp_path: Path, offline: Any
) -> None:
    webdataset = pytest.importorskip("webdataset")
    folders = pytest.importorskip("torchvision.datasets")
    rows = sweep(ODD, "ABW", ending="png") + sweep("tone", [1, 2, 7])
    run = audited(None, tmp_path / "run", pairs=write(rows), baseline="W")
    load = partial(offline.load_dataset, cache_dir=str(tmp_path / "cache"), split="train")
    form: Any
    for form in FORMS:
        out = gslopes.export(run.folder, form, tmp_path / form).path
        result = load(str(out))
        assert len(result) == 24
        if form == "imagefolder":
            assert len(folders.ImageFolder(out / "train")) == 24
        if form != "webdataset":
            assert {item["image"].size for item in result} == {(32, 32)}
            assert set(result["value"]) == {"A", "B", "W", "1.0", "2.0", "7.0"}
            continue
        assert {item["png"].size for item in result} == {(32, 32)}
        (tar,) = out.glob("data/*.tar")
        samples = list(webdataset.WebDataset(str(tar), shardshuffle=False))
        bare = {np.asarray(Image.open(file)).tobytes() for file in (tmp_path / "set").glob("*.??g")}
        pixels = (np.asarray(Image.open(io.BytesIO(sample["png"]))) for sample in samples)
        assert {array.tobytes() for array in pixels} == bare, "lossless"


# -- what cannot be exported ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["contexts", "crops", "captions"])
@pytest.mark.parametrize("form", ["parquet", "answers"])
def test_a_sibling_audit_says_that_it_has_no_export_and_where_its_tables_are(
    run: Path, kind: str, form: Any
) -> None:
    manifest = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(manifest | {"kind": kind}))
    with pytest.raises(UsageError, match=f"is a run of gslopes {kind}, w.* no export") as refused:
        gslopes.export(run, form)
    assert ".parquet" in refused.value.hint


def test_a_stopped_run_says_how_much_is_missing(run: Path) -> None:
    edits = tables.read(tables.EDITS, run / "edits.parquet")
    (run / "edits.parquet").unlink()
    with pytest.raises(UsageError, match="has no pictures yet"):
        gslopes.export(run, "parquet")
    parts = run / "parts/synthesise"
    parts.mkdir(parents=True)
    (parts / "made-from.json").write_text('{"parts": 3}')
    tables.write(tables.EDITS, edits, parts / "edits-000001.parquet")
    tables.write(tables.PHOTOS, tables.PHOTOS.empty(), parts / "photos-000001.parquet")
    with pytest.raises(UsageError, match="2 of 3 parts of its pictures are missing") as refused:
        gslopes.export(run, "parquet")
    assert "goes on" in refused.value.hint
