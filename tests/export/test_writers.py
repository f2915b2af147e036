"""Every form is read back by the library that it is meant for; edits declare themselves."""

import io
import json
import signal
import subprocess
import sys
import zlib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image, PngImagePlugin

import gslopes
from gslopes.core.errors import RunFolderMismatch, UnknownName, UsageError
from gslopes.core.files import sha256_of
from gslopes.export import writers
from tests.export.conftest import opened, picture

ROOT = Path(__file__).resolve().parents[2]
FORMS = ("imagefolder", "parquet", "webdataset")


@pytest.fixture
def small(monkeypatch):
    """Files of 10 kB: several of them."""
    monkeypatch.setattr("gslopes.export.SHARD", 10e3)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.row("slopes-1-reuse", "slopes-3.2-augment")
@pytest.mark.slow  # seconds to import datasets
@pytest.mark.filterwarnings("ignore")  # of what datasets imports
@pytest.mark.parametrize("form", ["parquet", "imagefolder", "webdataset"])
def test_datasets_reads_it_with_the_splits_of_the_card(run, tmp_path, offline, form):
    out = gslopes.export(run, form, tmp_path / "out", split=0.5).path
    splits = offline.load_dataset(str(out), cache_dir=str(tmp_path / "cache"))
    assert {name: len(part) for name, part in splits.items()} == {"train": 16, "test": 16}
    for name, part in splits.items():
        for sample in part:
            facts = sample["json"] if form == "webdataset" else sample
            picture = sample["jpg"] if form == "webdataset" else sample["image"]
            assert picture.size == (24, 24)
            assert facts["split"] == name
            assert facts["value"] is None or facts["value"] in (
                -2.0,
                2.0,
                pytest.approx(-0.6667, abs=1e-4),
            )
            assert list(facts["box"]) == [2.0, 3.0, 12.0, 18.5]


@pytest.mark.filterwarnings("ignore")  # of what webdataset imports
def test_webdataset_reads_it_and_no_set_crosses_a_file(run, tmp_path, small):
    wds = pytest.importorskip(
        "webdataset", reason="webdataset is not installed: pip install 'gslopes[test]'"
    )
    out = gslopes.export(run, "webdataset", tmp_path / "out").path
    tars = sorted(out.glob("data/*.tar"))
    assert len(tars) > 1
    names = []
    for tar in tars:
        samples = list(wds.WebDataset(str(tar), shardshuffle=False).decode("pil"))
        assert {
            len([sample for sample in samples if sample["json"]["set"] == name["json"]["set"]])
            for name in samples
        } == {4}
        names.append({sample["json"]["set"] for sample in samples})
        assert all(sample["jpg"].size == (24, 24) for sample in samples)
    assert sum(map(len, names)) == len(set.union(*names)) == 8


def test_parquet_has_rows_of_whole_sets_in_order(run, tmp_path, small):
    out = gslopes.export(run, "parquet", tmp_path / "out").path
    files = sorted(out.glob("data/*.parquet"))
    sets = [pq.read_table(path)["set"].to_pylist() for path in files]
    assert len(files) > 1
    together = [name for item in sets for name in item]
    assert together == sorted(together)
    assert not any(
        set(item) & set(second) for item in sets for second in sets if item is not second
    )


@pytest.mark.parametrize("form", FORMS)
def test_what_was_stopped_goes_on_and_ends_the_same(run, tmp_path, form, small):
    full, again = (gslopes.export(run, form, tmp_path / name).path for name in ("a", "b"))
    (again / "README.md").unlink()
    if form == "imagefolder":
        (again / "train/metadata.jsonl").unlink()
    for path in sorted(again.glob("*/*/*.*g" if form == "imagefolder" else "data/*"))[1:]:
        path.unlink()
    gslopes.export(run, form, again)
    assert tree(again) == tree(full)
    marks = {
        path: path.stat().st_mtime_ns
        for path in again.rglob("*.*")
        if path.name not in (".lock", ".export.json")
    }
    gslopes.export(run, form, again)
    assert {path: path.stat().st_mtime_ns for path in marks} == marks, (
        "what is done is not done again"
    )


# Exports once for each place to be killed at, and then in peace, a child each; the exit codes on stdout.
KILLED = """
import os, sys
import gslopes.export
gslopes.export.SHARD = 10e3
files = ("file:temporary", "file:placed", "file:temporary:3", "file:placed:3")
shards = ("table:temporary", "table:placed", "file:temporary", "file:placed")
for place in (*{"imagefolder": files, "parquet": shards}[sys.argv[2]], ""):
    child = os.fork()
    if child == 0:
        os.environ["GSLOPES_KILL_AT"] = place
        gslopes.export.export(*sys.argv[1:])
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.slow  # a new process
@pytest.mark.parametrize("form", ["parquet", "imagefolder"])
def test_it_may_be_killed_at_any_place(run, tmp_path, form, small):
    full = gslopes.export(run, form, tmp_path / "whole").path
    out = tmp_path / "out"
    command = [sys.executable, "-c", KILLED, run, form, out]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=True
    )
    assert list(map(int, done.stdout.split())) == [-signal.SIGKILL] * 4 + [0]
    assert tree(out) == tree(full)


def test_originals_are_as_the_edits_are_without_what_the_camera_wrote(run, tmp_path):
    photo = tmp_path / "photos" / "p1.jpg"
    expected = sha256_of(photo)[:16]
    out = gslopes.export(run, "imagefolder", tmp_path / "out").path
    written = next(
        path for path in out.glob("train/*/original.jpg") if path.parent.name.startswith(expected)
    )
    (before, _), (after, info) = opened(photo), opened(written)
    assert np.abs(before - after).max() <= 3
    assert not {"xmp", "exif", "comment"} & set(info)


def test_folders_of_something_else_are_left_alone_and_what_is_gone_is_said(run, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.txt").write_text("x")
    with pytest.raises(UsageError, match="not empty"):
        gslopes.export(run, "parquet", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]
    gslopes.export(run, "parquet", tmp_path / "other")
    with pytest.raises(RunFolderMismatch):
        gslopes.export(run, "parquet", tmp_path / "other", split=0.5)
    with pytest.raises(UnknownName):
        gslopes.export(run, "excel", tmp_path / "third")  # type: ignore[arg-type]
    (tmp_path / "photos" / "p1.jpg").write_bytes((tmp_path / "photos" / "p2.jpg").read_bytes())
    with pytest.raises(UsageError, match=r"p1\.jpg is not the one"):
        gslopes.export(run, "parquet", tmp_path / "fourth")
    next(run.glob("edits/gender/*.jpg")).unlink()
    with pytest.raises(UsageError, match="are gone"):
        gslopes.export(run, "parquet", tmp_path / "fifth")


def test_the_command_says_what_it_wrote(run, tmp_path, gslopes):
    done = gslopes("export", run, "--form", "parquet", "--json")
    assert done.code == 0, done.err
    facts = json.loads(done.out)
    assert facts["rows"] == 8 * 4
    assert Path(facts["path"]) == run / "export" / "parquet"
    done = gslopes("export", run, "--form", "webdataset", "--split", "0.5", "--out", tmp_path / "w")
    assert "32 pictures in 8 sets (train 16, test 16)" in done.out
    assert "export" in done.err
    assert (tmp_path / "w" / "croissant.json").is_file()


# -- test provenance --------------------------------------------------------------------------------------------------

EXT = "{http://iptc.org/std/Iptc4xmpExt/2008-02-29/}"


def read_back(data: bytes) -> dict[str, str]:
    """The XMP of a picture, as Pillow has it."""
    with Image.open(io.BytesIO(data)) as image:
        packet = image.info["xmp"]
    packet = packet.encode() if isinstance(packet, str) else packet
    root = ElementTree.fromstring(packet.decode().strip("\x00"))
    return dict(next(item for item in root.iter() if item.tag.endswith("Description")).attrib)


@pytest.mark.parametrize("form", ["jpeg", "png"])
def test_a_picture_says_what_made_it_and_stays_the_same_picture(form):
    data = picture(7, form)
    model = 'a "model" <&> é'
    about = {"editor": model, "editor_sha256": "0" * 64, "attribute": "gender", "value": -2 / 3}
    xmp = writers.packet("gslopes 1", about)
    marked = writers.embed(data, xmp)
    result = read_back(marked)
    assert result[f"{EXT}DigitalSourceType"].endswith("/compositeWithTrainedAlgorithmicMedia")
    assert result[f"{EXT}AISystemUsed"] == model
    assert result[f"{EXT}AISystemVersionUsed"] == "0" * 64
    assert result[f"{EXT}AIPromptInformation"] == "gender -0.6667"
    with Image.open(io.BytesIO(data)) as before, Image.open(io.BytesIO(marked)) as after:
        assert np.array_equal(np.asarray(before), np.asarray(after))
    with pytest.raises(ValueError, match="neither"):
        writers.embed(b"GIF89a", b"")


def parts(data: bytes) -> list[tuple[str, bytes]]:
    """The segments of a JPEG before its scan, or the chunks of a PNG, whose checksums hold: name and content."""
    found, at = [], 2
    if data.startswith(b"\x89PNG"):
        at = 8
        while at < len(data):
            size, name = int.from_bytes(data[at : at + 4]), data[at + 4 : at + 8]
            body = data[at + 8 : at + 8 + size]
            assert zlib.crc32(name + body) == int.from_bytes(data[at + 8 + size : at + 12 + size])
            found.append((name.decode(), body))
            at += 12 + size
        return found
    while data[at : at + 2] != b"\xff\xda":
        size = int.from_bytes(data[at + 2 : at + 4])
        found.append((data[at + 1 : at + 2].hex(), data[at + 4 : at + 2 + size]))
        at += 2 + size
    return [*found, ("scan", data[at:])]


@pytest.mark.parametrize("own", ["", "of the model", "of the model" * 4000])
@pytest.mark.parametrize("form", ["jpeg", "png"])
def test_the_packet_takes_the_place_of_the_models_own_and_moves_no_other_byte(form, own):
    """Of a file as an editor gave it, which may hold XMP."""
    bare = picture(7, form)
    data = bare
    if own:
        buffer = io.BytesIO()
        more: dict[str, object] = {"xmp": own.encode(), "quality": "keep"}
        if form == "png":
            info = PngImagePlugin.PngInfo()
            info.add_itxt("XML:com.adobe.xmp", own)
            more = {"pnginfo": info}
        with Image.open(io.BytesIO(bare)) as image:
            image.save(buffer, form, **more)
        data = buffer.getvalue()
        assert own[:12].encode() in data
    about = {"editor": "m", "editor_sha256": "v", "attribute": "race", "value": "a − b"}
    marked = writers.embed(data, writers.packet("t", about))
    assert read_back(marked)[f"{EXT}AIPromptInformation"] == "race a − b"
    mine = [(name, body) for name, body in parts(marked) if b"adobe" in body[:40]]
    assert [name for name, _ in mine] == ["e1" if form == "jpeg" else "iTXt"]
    before = [each for each in parts(data) if b"adobe" not in each[1][:40]]
    assert [each for each in parts(marked) if each not in mine] == before
    assert b"of the model" not in marked


def test_exported_edits_have_it_and_those_that_classifiers_are_asked_about_do_not(run, tmp_path):
    questions = {path: path.read_bytes() for path in run.glob("edits/*/*")}
    gslopes.export(run, "imagefolder", tmp_path / "out")
    files = [*(tmp_path / "out").glob("train/*/*.*g")]
    assert len(files) == 32
    lines = [
        json.loads(line)
        for line in (tmp_path / "out/train/metadata.jsonl").read_text("utf-8").splitlines()
    ]
    assert {tmp_path / "out/train" / line["file_name"] for line in lines} == set(files)
    assert lines[0]["creator"] == "É"
    for path in files:
        if path.stem == "original":
            assert "xmp" not in opened(path)[1]
        else:
            result = read_back(path.read_bytes())
            assert result[f"{EXT}DigitalSourceType"] == writers.SOURCE_TYPE
            assert (
                result[f"{EXT}AISystemUsed"]
                in path.parent.name.replace(path.parent.name[:17], "") + "-field"
            )
    assert {path: path.read_bytes() for path in run.glob("edits/*/*")} == questions
    assert not any("xmp" in opened(path)[1] for path in questions)
