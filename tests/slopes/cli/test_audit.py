import errno
import fcntl
import json
import os
import shutil
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes.core import tables
from gslopes.core.reasons import explained
from gslopes.slopes.page.loading import STEPS

ROOT = Path(__file__).resolve().parents[3]
SWEEPS = ("gender", "gender-same", "gender-light", "gender-random")


@pytest.fixture
def faces(draw):
    return draw(6)


@pytest.fixture
def synthesise(gslopes, faces, tmp_path):
    """The first stage of an audit of a folder of six rendered faces, three steps."""

    def run(*args, out=tmp_path / "run"):
        return gslopes(
            "audit",
            faces.photos,
            "--out",
            out,
            "--only",
            "synthesise",
            "--steps",
            3,
            *faces.args,
            *args,
        )

    return run


def photos(run: Path) -> dict[str, str]:
    """Path of each photo to the reason why it was skipped."""
    frame = tables.read(tables.PHOTOS, run / "photos.parquet")
    return dict(zip(frame["path"], map(explained, frame["reason"], frame["detail"]), strict=True))


# --- What a user sees ---


@pytest.mark.slow
def test_the_table_goes_to_stdout_and_everything_else_to_stderr(gslopes, faces, toy, tmp_path):
    args = (
        "audit",
        faces.photos,
        "--out",
        tmp_path / "run",
        "--steps",
        3,
        "--classifier",
        toy,
        *faces.args,
    )
    done = gslopes(*args)
    assert done.code == 0, done.err
    assert done.out.startswith("onnx:toy.onnx,labels=labels.txt along perceived gender\n")
    assert "Photos: 6 found → 6 edited → 6 asked → 6 answered → 6 judged" in done.out
    assert "photos     6 edited of 6" in done.err
    assert f"page       {tmp_path}/run/report/index.html" in done.err
    printed = json.loads(gslopes(*args, "--json").out)
    assert printed["photos"] == {"found": 6, "used": 6, "skipped": {}, "errors": 0}
    assert printed["funnel"][0]["counts"] == dict.fromkeys(
        ("found", "edited", "asked", "answered", "judged"), 6
    )
    html = Path(printed["page"]).read_text("utf-8")
    for step, number in printed["funnel"][0][
        "counts"
    ].items():  # terminal, JSON and page count alike
        assert f"<b>{number}</b> <span>{STEPS[step]}</span>" in html
    assert {"Hat", "Tie"} <= {row["label"] for row in printed["slopes"]}


@pytest.mark.slow
def test_a_condition_that_holds_is_exit_code_4_and_a_wrong_one_is_said_before_any_work(
    gslopes, faces, toy, tmp_path
):
    args = (
        "audit",
        faces.photos,
        "--out",
        tmp_path / "run",
        "--steps",
        3,
        "--classifier",
        toy,
        *faces.args,
    )
    wrong = gslopes(*args, "--fail-if", "slpe > 5")
    assert wrong.code == 2
    assert "Did you mean 'slope'" in wrong.err
    early = gslopes(*args, "--fail-if", "decision == 'findings'")
    assert (early.code, "Did you mean 'finding'" in early.err) == (2, True)
    assert not (tmp_path / "run").exists()
    lonely = gslopes(*args, "--junit", tmp_path / "junit.xml")
    assert (lonely.code, "Add --fail-if finding" in lonely.err) == (2, True)
    nowhere = gslopes(*args, "--fail-if", "finding", "--junit", tmp_path / "none" / "junit.xml")
    assert (nowhere.code, "There is no folder" in nowhere.err) == (2, True)
    assert not (tmp_path / "run").exists()
    red = gslopes(
        *args,
        "--fail-if",
        "abs(slope) >= 0 and decision == 'unjudged'",
        "--junit",
        tmp_path / "junit.xml",
    )
    assert red.code == 4
    assert "fail-if    holds for" in red.err
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()
    content = json.loads((tmp_path / "run/summary.json").read_text("utf-8"))
    assert (content["audit"], content["models"], content["found"]) == ("photos", [toy], 6)
    assert int(suite.get("tests")) == sum(content["decisions"].values())
    assert int(suite.get("failures")) == content["decisions"]["unjudged"] > 0
    green = gslopes(*args, "--fail-if", "finding and abs(slope) > 1000")
    assert (green.code, "holds for no row" in green.err) == (0, True)
    late = gslopes(*args, "--fail-if", "label == 'hat'")
    assert (late.code, "Did you mean 'Hat'" in late.err) == (2, True)
    assert " along perceived gender\n" in late.out  # the result is there all the same
    gate = json.loads(gslopes(*args, "--json", "--fail-if", "label == 'Hat'").out)["fail_if"]
    assert gate["holds"] == [[toy, "gender", "Hat"]]
    assert gate["rows"] == int(suite.get("tests"))
    assert gate["judged"] == gate["rows"] - content["decisions"]["unjudged"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_gate_that_judged_nothing_says_so_on_the_terminal_in_json_and_in_the_file(
    gslopes, faces, tmp_path
):
    (tmp_path / "same.py").write_text("def same(image):\n    return {'Hat': True}\n")
    args = ("audit", faces.photos, "--out", tmp_path / "run", "--steps", 3, "--json", *faces.args)
    args += ("--classifier", f"{tmp_path}/same.py,version=1", "--junit", tmp_path / "junit.xml")
    done = gslopes(*args, "--fail-if", "finding")
    assert (done.code, "nothing was judged" in done.err) == (0, True)
    gate = json.loads(done.out)["fail_if"]
    assert (gate["rows"], gate["judged"], gate["holds"]) == (1, 0, [])
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert suite.get("skipped") == suite.get("tests") == "1"
    assert "nothing was judged" in suite.find("system-out").text
    strict = gslopes(*args, "--fail-if", "finding or decision == 'unjudged'")
    assert strict.code == 4


@pytest.mark.slow
def test_the_stages_one_by_one_end_in_the_table_of_the_whole_audit(
    gslopes, synthesise, faces, toy, tmp_path
):
    run, names = tmp_path / "run", ["--classifier", toy, "--classifier", f"{toy},threshold=0.6"]
    assert synthesise().code == 0
    scored = gslopes("audit", run, "--only", "score", *names)
    assert scored.code == 0
    assert scored.out == f"{toy}: 18 answered\n{toy},threshold=0.6: 18 answered\n"
    fitted = gslopes("audit", run, "--only", "fit")
    assert fitted.code == 0
    assert gslopes("audit", run, "--only", "report").out == f"{run}/report/index.html\n"
    found = json.loads(gslopes("audit", run, "--only", "fit", "--json").out)
    assert {row["classifier"] for row in found["slopes"]} == {toy, f"{toy},threshold=0.6"}
    whole = ("audit", faces.photos, "--out", tmp_path / "whole", "--steps", 3, *faces.args, *names)
    assert gslopes(*whole).out == fitted.out
    printed = json.loads(gslopes(*whole, "--json").out)  # one form, whichever verb prints it
    assert list(found) == list(printed) == ["run", "page", "photos", "funnel", "findings", "slopes"]
    assert list(found["photos"]) == list(printed["photos"])
    assert found["funnel"] == printed["funnel"]
    columns = [list(content["slopes"][0]) for content in (found, printed)]
    assert columns[0] == columns[1] == list(tables.SLOPES.columns)


def test_a_dry_run_tells_the_plan_and_writes_nothing(gslopes, synthesise, faces, tmp_path):
    for args, pictures in (((), 4 * 42), (("--no-placebo",), 42)):
        done = gslopes("audit", faces.photos, "--out", tmp_path / "run", "--dry-run", *args)
        assert done.code == 0
        for line in (
            "photos       6 in",
            f"images       {pictures} at most",
            "parts        1, of which 0",
            "time         the first photos of the run tell how long the pictures take here",
            f"at most {pictures + 2} pictures",  # two photos as they are, first
            "disk         ",
        ):
            assert line in done.out
    assert not (tmp_path / "run").exists()
    synthesise()
    plan = json.loads(synthesise("--dry-run", "--json").out)
    assert (plan["photos"], plan["images"], plan["calls"], plan["parts_done"]) == (6, 18, 0, 1)


# --- Photos that are none ---


def test_bad_photos_are_skipped_with_their_reasons_and_the_code_is_3(synthesise, faces, tmp_path):
    folder, picture = faces.photos, (faces.photos / "000000.png").read_bytes()
    jpeg = tmp_path / "whole.jpg"
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 64, 3), np.uint8)).save(jpeg)
    (folder / "truncated.jpg").write_bytes(jpeg.read_bytes()[:700])
    (folder / "truncated.png").write_bytes(picture[: len(picture) // 2])
    (folder / "zero.jpg").write_bytes(b"")
    (folder / "zero2.jpg").write_bytes(b"")
    (folder / "text.jpg").write_text("Dear diary,\n")
    Image.new("RGB", (1, 1)).save(folder / "one.png")
    Image.new("1", (20_000, 20_000)).save(folder / "bomb.png")
    (folder / "folder.jpg").mkdir()
    (folder / "link.jpg").symlink_to("nowhere.jpg")
    (folder / "circle").symlink_to(folder)
    shutil.copy(folder / "000001.png", folder / "copy.png")
    done = synthesise()
    reasons = photos(tmp_path / "run")
    assert done.code == 3
    assert reasons["000000.png"] == ""
    for name in (
        "truncated.jpg",
        "truncated.png",
        "zero.jpg",
        "zero2.jpg",
        "text.jpg",
        "bomb.png",
        "link.jpg",
    ):
        assert reasons.pop(name).startswith("unreadable: "), name
    assert reasons["one.png"] == "no face found"
    assert reasons["copy.png"] == "same bytes as another photo (000001.png)"
    assert not {"folder.jpg", "circle"} & set(reasons)
    assert "6 edited of 15" in done.err
    assert "Traceback" not in done.err
    assert synthesise().code == 3


@pytest.mark.slow
def test_names_with_spaces_newlines_and_any_bytes_are_photos_like_others(
    gslopes, draw, toy, tmp_path
):
    folder = draw(4).photos
    names = [b"a b.png", b"new\nline.png", "Zoë 写真.png".encode(), b"latin-\xe9.png"]
    for i, name in enumerate(names):
        os.rename(os.fsencode(folder / f"00000{i}.png"), os.path.join(os.fsencode(folder), name))
    run = tmp_path / "run ü 写"
    table = tmp_path / "faces.csv"
    points = [
        f"{name}_{axis}"
        for name in ("left_eye", "right_eye", "nose", "left_mouth", "right_mouth")
        for axis in "xy"
    ]
    at = [30, 30, 60, 30, 45, 45, 35, 60, 55, 60]
    rows = [["a b.png", 20, 20, 70, 70, *at], ["latin-\\xe9.png", 20, 20, 70, 70, *at]]
    pd.DataFrame(rows, columns=["path", "x0", "y0", "x1", "y1", *points]).to_csv(table, index=False)
    masks = tmp_path / "masks"
    masks.mkdir()
    for name in ("a b.png", "latin-\\xe9.png"):
        Image.new("L", (96, 96), 255).save(masks / name)
    args = (
        "--steps",
        3,
        "--set",
        f"landmarks={table}",
        "--set",
        f"masks={masks}",
        "--classifier",
        toy,
    )
    done = gslopes("audit", folder, "--out", run, *args)
    assert done.code == 0, done.err
    assert "2 edited of 4" in done.err
    assert f"page       {run}" in done.err
    assert (
        json.loads(gslopes("audit", folder, "--out", run, *args, "--json").out)["photos"]["used"]
        == 2
    )
    done = gslopes("audit", folder, "--out", tmp_path / "run \udcff", *args)
    assert done.code == 2
    assert "run \\xff is not valid UTF-8" in done.err


# --- Run folders that cannot be worked in ---


def test_a_folder_with_other_things_in_it_is_no_run_folder(synthesise, tmp_path):
    (tmp_path / "thesis.tex").touch()
    done = synthesise(out=tmp_path)
    assert done.code == 2
    assert "is not a run folder" in done.err


def test_a_run_folder_in_use_by_another_process_is_left_alone(synthesise, gslopes, tmp_path):
    synthesise()
    with (tmp_path / "run" / ".lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for done in (synthesise(), gslopes("audit", tmp_path / "run", "--only", "score")):
            assert done.code == 1
            assert "Another process is working in" in done.err


@pytest.mark.parametrize("out", ["file", "/proc/gslopes-run"])
def test_an_out_that_cannot_be_a_folder_is_a_storage_error(synthesise, tmp_path, out):
    (tmp_path / "file").touch()
    done = synthesise(out=tmp_path / out)
    assert done.code == 1
    assert "cannot be written" in done.err
    assert "--out" in done.err


@pytest.mark.parametrize(
    ("code", "sentence"),
    [(errno.ENOSPC, "no space left"), (errno.EACCES, "permission"), (errno.EFBIG, "ulimit -f")],
)
def test_a_disk_that_refuses_is_a_sentence_and_later_the_same_command_finishes(
    synthesise, tmp_path, monkeypatch, code, sentence
):
    def refuse(self, data):
        raise OSError(code, os.strerror(code), str(self))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", refuse)
        done = synthesise()
    assert done.code == 1
    assert sentence in done.err
    assert "Traceback" not in done.err
    assert synthesise().code == 0
