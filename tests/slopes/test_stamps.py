"""A rerun redoes what differs, and nothing else: no page may show another run's numbers."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gslopes
from gslopes.core import GslopesError, tables
from gslopes.frame.executors import OneProcess
from gslopes.slopes import audit as stages

QUICK = "part = 2\n[fit]\npermutations = 50\nmin_varying = 1\n"
DONE = ("fit        up to date", "report     up to date")
ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import sys
import gslopes
from gslopes.ask.answers import Worker
Worker.ask = None
named = dict(zip(("config", "landmarks", "masks"), sys.argv[3:]))
assert "gender" in str(gslopes.audit(sys.argv[1], sys.argv[2], placebo=False, **named))
print(*sys.modules)
"""
# What a resume imports of others, and what of gslopes it must not: each costs as much as all that it does.
OTHERS = {
    "PIL",
    "click",
    "cv2",
    "dateutil",
    "jinja2",
    "markupsafe",
    "numpy",
    "pandas",
    "platformdirs",
    "pyarrow",
}
OTHERS |= {"cloudpickle", "cython_runtime", "pi_heif", "pillow_heif", "rich", "safetensors", "six"}
UNUSED = {
    "ask.classifiers.chat",
    "ask.classifiers.numbers",
    "ask.classifiers.prompt",
    "ask.classifiers.service",
}
UNUSED |= {
    "ask.transport",
    "faces.networks",
    "faces.zoo.loading",
    "slopes.measures.analysis",
    "report.inference",
}


class Notes(OneProcess):
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
        stages.audit(faces.photos, folder / "run", config=folder / "audit.toml", **faces.known)
    return faces, folder / "run"


@pytest.fixture
def audit(audited, home, tmp_path):
    """Audits a copy of that folder again; returns what the progress lines said."""
    faces, run = audited
    shutil.copytree(run, tmp_path / "run")

    def again(text: str = QUICK, **options: object) -> list[str]:
        again.config.write_text(text)
        said.clear()
        stages.audit(
            faces.photos, again.run, executor=Notes(), config=again.config, **faces.known, **options
        )
        return list(said)

    again.faces, again.config, again.run = faces, tmp_path / "audit.toml", tmp_path / "run"
    again.config.write_text(QUICK)
    return again


def times(run: Path) -> dict[Path, tuple[int, int]]:
    return {
        path: (path.stat().st_mtime_ns, path.stat().st_ino)
        for path in run.rglob("*")
        if path.is_file()
    }


@pytest.mark.slow
def test_a_rerun_and_what_it_prints_import_no_torch_and_ask_nobody(audit):
    before = times(audit.run)
    known = [audit.faces.known["landmarks"], audit.faces.known["masks"]]
    command = [sys.executable, "-c", SCRIPT, audit.faces.photos, audit.run, audit.config, *known]
    out = subprocess.run(
        command, capture_output=True, text=True, check=True, env=dict(os.environ)
    ).stdout
    loaded = out.splitlines()[-1].split()
    public = {name.partition(".")[0] for name in loaded if not name.startswith("_")}
    assert public - set(sys.stdlib_module_names) - OTHERS == {"gslopes"}
    assert not {f"gslopes.{name}" for name in UNUSED} & set(loaded)
    assert times(audit.run) == before


@pytest.mark.slow
def test_a_classifier_more_is_fitted_and_reported(audit, toy):
    found = audit(classifier=("celeba-tagger", toy))
    assert not set(DONE) & set(found)
    assert tables.read(tables.SLOPES, audit.run / "slopes.parquet")["classifier"].nunique() == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "how"), [("report/index.html", "deleted"), ("slopes.parquet", "damaged")]
)
def test_what_is_missing_or_damaged_is_made_again(audit, name, how):
    path, whole = audit.run / name, (audit.run / name).read_bytes()
    path.unlink() if how == "deleted" else path.write_bytes(whole[:-1] + b"?")
    found = audit()
    assert (DONE[0] in found) == name.startswith("report/")
    assert path.read_bytes() == whole
    assert set(DONE) <= set(audit())


@pytest.mark.slow
def test_every_file_that_the_report_opens_is_in_its_stamp(audit):
    """Whatever a later section reads must be there as well, or a rerun could show an old one."""
    code = (
        "import os, sys\nfrom pathlib import Path\n"
        "from tests.again import redo\nimport gslopes.slopes.page.folder\n"
        "from gslopes.core import tables\n"
        "opened = set()\n"
        "sys.addaudithook(lambda event, args: event == 'open' and isinstance(args[0], (str, bytes)) "
        "and opened.add(os.fsdecode(args[0])))\n"
        "import pyarrow.parquet as pq\nread = pq.read_table\n"
        "pq.read_table = lambda path, *a, **k: (opened.add(os.fspath(path)), read(path, *a, **k))[1]\n"
        "from matplotlib.figure import Figure\nfrom tests.fixtures import save_empty\nFigure.savefig = save_empty\n"
        "run = Path(sys.argv[1])\nredo(run, 'report')\nprint(*opened, sep='\\n')\n"
    )
    (audit.run / "parts" / "report.json").unlink()
    ran = subprocess.run(
        [sys.executable, "-c", code, audit.run],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    inside = {
        Path(line).relative_to(audit.run)
        for line in ran.stdout.splitlines()
        if line.startswith(str(audit.run))
    }
    reads = [path for path in inside if path.parts[:1] not in (("report",), ("edits",), (".lock",))]
    # stamps, whose notes the result tells, the summary that goes with the page, both before they have their names
    made = re.compile(r"parts/[^/]*json|parts/[^/]*/made-from\.json|summary\.json|.*\.tmp")
    reads = [path for path in reads if not made.fullmatch(path.as_posix())]
    reads = [path for path in reads if not (audit.run / path).is_dir()]
    assert {Path("run.json"), Path("scores.parquet")} <= set(reads)
    assert [
        str(path) for path in reads if len(path.parts) > 1
    ] == []  # the stamp covers RUN/* and RUN/edits
    stamp = json.loads((audit.run / "parts" / "report.json").read_text())
    files = {path.name.removesuffix(".parquet") for path in reads if (audit.run / path).is_file()}
    assert files - {name.removesuffix(".parquet") for name in stamp["reads"]["tables"]} == set()


@pytest.mark.slow
def test_the_page_follows_from_the_pictures_and_from_what_it_shows(audit):
    picture = next((audit.run / "edits" / "gender").iterdir())
    now = picture.stat().st_mtime_ns
    os.utime(picture, ns=(now, now + 1))
    assert set(DONE) & set(audit()) == {DONE[0]}
    assert set(DONE) & set(audit(embed="none")) == {DONE[0]}
    assert set(DONE) <= set(audit(embed="none"))


@pytest.mark.slow
def test_a_damaged_summary_of_the_gate_is_made_again_and_the_page_that_shows_it_stays(audit):
    gated = f"{QUICK}[gate]\non = true\n"
    audit(gated)
    validity = audit.run / "validity.json"
    content = validity.read_bytes()
    validity.write_text("{}")
    assert set(DONE) <= set(audit(gated))
    assert validity.read_bytes() == content


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "lost", "said"),
    [
        ("gender-field", "synthesise", "models.gender-field.sha256"),
        ("celeba-tagger", "score", "has answers of celeba-tagger in version"),
    ],
)
def test_weights_that_were_replaced_in_the_middle_are_told_and_nothing_is_mixed(
    audit, tiny_models, tmp_path, monkeypatch, model, lost, said
):
    """A kill lost a part, and before the command is repeated another network has taken the file's place."""
    home = tmp_path / "other"
    shutil.copytree(tiny_models, home)
    replace_weights(home / "weights" / model)
    monkeypatch.setenv("GSLOPES_HOME", str(home))
    markers = [*(audit.run / "parts" / lost).rglob("*-000001.parquet")]
    assert markers
    for marker in markers:
        marker.unlink()
    for name in ("edits", "photos", "scores", "asked"):
        (audit.run / f"{name}.parquet").unlink()
    before = {path: path.read_bytes() for path in (audit.run / "parts").rglob("*.parquet")}
    for again in (audit, lambda: gslopes.audit(audit.run)):
        with pytest.raises(GslopesError, match=said) as caught:
            again()
        assert "new folder" in caught.value.hint
    assert (
        before.items()
        <= {path: path.read_bytes() for path in (audit.run / "parts").rglob("*.parquet")}.items()
    )


def replace_weights(folder: Path) -> None:
    """Other numbers in the same network, with a sha256 that is right."""
    from safetensors import safe_open
    from safetensors.numpy import save_file

    file = folder / "model.safetensors"
    with safe_open(file, "np") as old:
        about = old.metadata()
        arrays = {key: old.get_tensor(key) for key in old.keys()}  # noqa: SIM118
    last = max(arrays)
    save_file(arrays | {last: arrays[last] + 1}, file, about)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    (sha,) = (path for path in folder.iterdir() if "sha256" in path.name)
    sha.write_text(f"{digest}  {file.name}\n")
