"""A rerun redoes what differs, and nothing else: no page may show another run's numbers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from gslopes.core import runfolder, tables
from gslopes.frame import stamps as frame_stamps
from gslopes.frame.asking import run_score
from gslopes.frame.stamps import is_current
from gslopes.slopes import stages, stamps, walk
from gslopes.slopes.config import FitConfig

QUICK = "part = 2\n[fit]\nbootstrap = 20\npermutations = 50\nmin_varying = 1\n"
FIT = FitConfig(bootstrap=20, permutations=50, min_varying=1)
STANDARD = {"p": 0.001, "slope": 0.03, "embed": "thumbs", "labels": []}
DONE = ("fit        up to date", "report     up to date")
ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import sys
import gslopes
from gslopes.ask.questions import Worker
Worker.ask = None
gslopes.audit(sys.argv[1], sys.argv[2], config=sys.argv[3], landmarks=sys.argv[4], masks=sys.argv[5], placebo=False)
print(sorted({name.partition(".")[0] for name in sys.modules}))
"""


class Notes(stages.OneProcess):
    """An executor that remembers what it was asked to say."""

    def note(self, text: str) -> None:
        said.append(text)


said: list[str] = []


@pytest.fixture(scope="module")
def audited(draw, tiny_models, tmp_path_factory):
    """(faces, a finished run folder of theirs), made once."""
    faces, folder = draw(5), tmp_path_factory.mktemp("audited")
    (folder / "audit.toml").write_text(QUICK)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GSLOPES_HOME", str(tiny_models))
        patch.setenv("GSLOPES_CACHE", str(folder / "cache"))
        walk.audit(faces.photos, folder / "run", config=folder / "audit.toml", **faces.known)
    return faces, folder / "run"


@pytest.fixture
def audit(audited, home, tmp_path):
    """Audits a copy of that folder again; returns what the progress lines said."""
    faces, run = audited
    shutil.copytree(run, tmp_path / "run")

    def again(text: str = QUICK, **options: object) -> list[str]:
        again.config.write_text(text)
        said.clear()
        walk.audit(faces.photos, again.run, executor=Notes(), config=again.config, **faces.known, **options)
        return list(said)

    again.faces, again.config, again.run = faces, tmp_path / "audit.toml", tmp_path / "run"
    again.config.write_text(QUICK)
    return again


def of_run(run: Path) -> tuple[dict[str, list[float]], int]:
    manifest = runfolder.read_manifest(run)
    return manifest["values"], manifest["seed"]


def current(run: Path, **options: object) -> dict[str, bool]:
    """Which of the two stages an audit would leave as it is."""
    reads = stamps.fit_reads(run, FIT, *of_run(run))
    drawn = stamps.report_reads(run, STANDARD | options)
    return {"fit": is_current(run, "fit", reads), "report": is_current(run, "report", drawn)}


def times(run: Path) -> dict[Path, tuple[int, int]]:
    return {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in run.rglob("*") if path.is_file()}


def test_a_rerun_rewrites_nothing_and_says_so(audit):
    before = times(audit.run)
    assert audit()[-2:] == list(DONE)
    assert times(audit.run) == before


def test_a_rerun_imports_no_torch_and_asks_nobody(audit):
    before = times(audit.run)
    known = [audit.faces.known["landmarks"], audit.faces.known["masks"]]
    command = [sys.executable, "-c", SCRIPT, audit.faces.photos, audit.run, audit.config, *known]
    out = subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ)).stdout
    assert "'gslopes'" in out
    assert not [
        name for name in ("torch", "torchvision", "facenet_pytorch", "scipy", "matplotlib") if f"'{name}'" in out
    ]
    assert times(audit.run) == before


@pytest.mark.slow
def test_other_options_of_the_fit_are_fitted_anew_and_reported_anew(audit, toy):
    audit(classifier=toy)  # its answers vary on every photo
    before = tables.read(tables.SLOPES, audit.run / "slopes.parquet")
    assert not set(DONE) & set(audit(QUICK.replace("= 20", "= 30"), classifier=toy))
    assert not before.equals(tables.read(tables.SLOPES, audit.run / "slopes.parquet"))
    assert set(DONE) <= set(audit(QUICK.replace("= 20", "= 30"), classifier=toy))


def test_other_answers_are_fitted_anew(audit):
    part = next((audit.run / "parts" / "score").rglob("scores-000000.parquet"))
    scores = tables.read(tables.SCORES, part)
    runfolder.write_table(tables.SCORES, scores[scores["step"] != 1], part)
    assert not set(DONE) & set(audit())
    assert set(DONE) <= set(audit())


def test_a_classifier_more_is_fitted_and_reported(audit, toy):
    found = audit(classifier=("celeba-tagger", toy))
    assert not set(DONE) & set(found)
    assert tables.read(tables.SLOPES, audit.run / "slopes.parquet")["classifier"].nunique() == 2


def test_other_verdicts_of_the_gate_leave_neither_slopes_nor_page_as_they_were(audit):
    asked = tables.read(tables.ASKED, audit.run / "asked.parquet")
    row = dict.fromkeys(tables.VERDICTS.columns, 0) | {
        "attribute": "gender",
        "off_target_reading": "",
        "kept": False,
        "detail": "",
    }
    row |= {"photo": asked["photo"][0], "reason": "too dark", "detail": ""}
    runfolder.write_table(tables.VERDICTS, pd.DataFrame([row]), audit.run / "verdicts.parquet")
    assert current(audit.run) == {"fit": False, "report": False}  # the table gating is fitted to the verdicts
    stages.run_fit(audit.run, FIT)
    stages.run_report(audit.run, stages.QUIET)
    assert current(audit.run) == {"fit": True, "report": True}
    run_score(audit.run, [], stages.QUIET, gate=True)
    assert current(audit.run) == {"fit": False, "report": False}


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("report/index.html", "deleted"),
        ("report/slopes.csv", "damaged"),
        ("slopes.parquet", "damaged"),
        ("balance.parquet", "deleted"),
    ],
)
def test_what_is_missing_or_damaged_is_made_again(audit, name, how):
    path, whole = audit.run / name, (audit.run / name).read_bytes()
    path.unlink() if how == "deleted" else path.write_bytes(whole[:-1] + b"?")
    found = audit()
    assert (DONE[0] in found) == name.startswith("report/")
    assert path.read_bytes() == whole
    assert set(DONE) <= set(audit())


def test_the_report_follows_from_the_pictures_too_and_from_what_lies_beside_the_tables(audit):
    assert current(audit.run) == {"fit": True, "report": True}
    picture = next((audit.run / "edits" / "gender").iterdir())
    now = picture.stat().st_mtime_ns
    os.utime(picture, ns=(now, now + 1))
    assert current(audit.run) == {"fit": True, "report": False}
    os.utime(picture, ns=(now, now))
    assert current(audit.run) == {"fit": True, "report": True}
    (audit.run / "validity.json").write_text("{}")
    assert current(audit.run) == {"fit": True, "report": False}


def test_the_report_follows_from_its_options(audit):
    assert current(audit.run, **STANDARD) == {"fit": True, "report": True}
    for other in ({"p": 0.5}, {"slope": 0.1}, {"embed": "none"}, {"labels": ["Male"]}):
        assert not current(audit.run, **STANDARD | other)["report"]


def test_the_fit_follows_from_the_values_the_seed_and_the_table_of_photos(audit, tmp_path):
    config, (values, seed) = FIT, of_run(audit.run)
    known = stamps.fit_reads(audit.run, config, values, seed)
    assert is_current(audit.run, "fit", known)
    people = tmp_path / "people.csv"
    people.write_text("file,group\n")
    about = replace(config, photos_csv=people, groups=("group",))
    others = [stamps.fit_reads(audit.run, config, values, seed + 1), stamps.fit_reads(audit.run, config, {}, seed)]
    others.append(stamps.fit_reads(audit.run, about, values, seed))
    people.write_text("file,group\na,b\n")
    others.append(stamps.fit_reads(audit.run, about, values, seed))
    assert not any(is_current(audit.run, "fit", other) for other in others)
    assert others[2] != others[3]


@pytest.mark.parametrize("content", ["", "{}", "[]", "null", '{"reads": {}, "made": []}', '{"reads": 1}'])
def test_a_stamp_that_cannot_be_read_is_not_believed(audit, content):
    for stage in ("fit", "report"):
        (audit.run / "parts" / f"{stage}.json").write_text(content)
    assert current(audit.run) == {"fit": False, "report": False}


def test_another_program_or_another_library_is_another_stamp(audit, monkeypatch, tmp_path):
    with monkeypatch.context() as patch:
        patch.setattr(frame_stamps.runtime, "versions", lambda: {"numpy": "0"})
        assert current(audit.run) == {"fit": False, "report": False}
    with monkeypatch.context() as patch:
        patch.setattr(frame_stamps, "PROGRAM", tmp_path)
        assert current(audit.run) == {"fit": False, "report": False}
    assert current(audit.run) == {"fit": True, "report": True}


def test_a_folder_that_is_moved_stays_up_to_date(audit, tmp_path):
    renamed = audit.run.rename(tmp_path / "elsewhere")
    assert current(renamed) == {"fit": True, "report": True}


def test_the_verbs_themselves_always_work(audit):
    before = times(audit.run)
    stages.run_fit(audit.run, FIT)
    stages.run_report(audit.run, stages.QUIET)
    page = audit.run / "report" / "index.html"
    assert times(audit.run)[page] != before[page]


def test_every_file_that_the_report_opens_is_in_its_stamp(audit):
    """Whatever a later section reads must be there as well, or a rerun could show an old one."""
    code = (
        "import os, sys\nfrom pathlib import Path\n"
        "from gslopes.slopes import stages\nimport gslopes.slopes.report.folder\nfrom gslopes.core import tables\n"
        "opened = set()\n"
        "sys.addaudithook(lambda event, args: event == 'open' and isinstance(args[0], (str, bytes)) "
        "and opened.add(os.fsdecode(args[0])))\n"
        "import pyarrow.parquet as pq\nread = pq.read_table\n"
        "pq.read_table = lambda path, *a, **k: (opened.add(os.fspath(path)), read(path, *a, **k))[1]\n"
        "from matplotlib.figure import Figure\nfrom tests.fixtures import save_empty\nFigure.savefig = save_empty\n"
        "run = Path(sys.argv[1])\nstages.run_report(run, stages.QUIET)\nprint(*opened, sep='\\n')\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, audit.run], cwd=ROOT, capture_output=True, text=True, check=True)
    inside = {Path(line).relative_to(audit.run) for line in ran.stdout.splitlines() if line.startswith(str(audit.run))}
    reads = [path for path in inside if path.parts[:1] not in (("report",), ("edits",), (".lock",))]
    # the stamp itself, the summary that goes with the page, and both before they have their names
    made = {"parts/report.json", "parts/.report.json.tmp", "summary.json", ".summary.json.tmp"}
    reads = [path for path in reads if path.as_posix() not in made and not (audit.run / path).is_dir()]
    assert {Path("run.json"), Path("scores.parquet")} <= set(reads)
    assert all(len(path.parts) == 1 for path in reads), "the stamp covers RUN/* and RUN/edits, not this"
    stamp = json.loads((audit.run / "parts" / "report.json").read_text())
    assert set(stamp["reads"]["files"]) >= {path.name for path in reads if (audit.run / path).is_file()}
