"""What a shell is offered after a tab: by the program itself, and typed into the shells that are installed."""

import json
import os
import pty
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gslopes.cli import completion

SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], 'eval "$({})"'),
    "zsh": (["zsh", "-f", "-i"], 'autoload -Uz compinit; compinit -u; eval "$({})"'),
    "fish": (["fish", "--no-config", "-i"], "{} | source"),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a user's files and a finished run."""
    (tmp_path / "mine.py").write_text("import os\ndef hire(x): ...\ndef _no(x): ...\n", "utf-8")
    (tmp_path / "people.csv").write_text("\ufeffphoto,ethnicity,age group\na.jpg,x,1\n", "utf-8")
    (tmp_path / "net.onnx").touch()
    (tmp_path / "sub").mkdir()
    (tmp_path / "run").mkdir()
    rows = [{"label": "Heavy_Makeup"}, {"label": "it's"}, {"label": 'a "b"'}]
    (tmp_path / "run/summary.json").write_text(json.dumps({"rows": rows}, indent=2), "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def offered(here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def ask(line: str) -> list[str]:
        monkeypatch.setenv("COMP_LINE", f"gslopes {line}")
        completion.complete("bash")
        out = capsys.readouterr()
        assert out.err == ""
        return [text.partition("  # ")[0] for text in out.out.splitlines()]

    return ask


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("aud", ["audit"]),
        ("list ''", ["classifiers", "editors", "models"]),
        ("list classifiers tim", ["timm:"]),
        ("audit --photos-c", ["--photos-csv"]),
        ("audit --no-pl", ["--no-placebo"]),
        ("audit -c ce", ["celeba-tagger"]),
        ("audit --cross -c ce", ["celeba-tagger"]),
        ("audit -c celeba-tagger -c ne", ["net.onnx"]),
        ("audit -c onnx:''", ["onnx:net.onnx", "onnx:run/", "onnx:sub/"]),
        ("audit -c onnx:net.onnx,lab", ["onnx:net.onnx,labels="]),
        ("audit -c python:mi", ["python:mine.py"]),
        ("audit -c python:mine.py:''", ["python:mine.py:hire"]),
        ("audit -c mine.py:h", ["mine.py:hire"]),
        ("audit -c celeba-tagger:th", ["celeba-tagger:threshold="]),
        ("audit -c llm:m,prompt=sal", ["llm:m,prompt=salary"]),
        ("audit --task sal", ["salary"]),
        ("audit --attribute ra", ["race"]),
        ("audit --editor race-g", ["race-groups"]),
        ("audit --ends Bl", ["Black"]),
        ("audit --engine o", ["one"]),
        ("audit --engine=o", ["one"]),
        ("audit --device c", ["cpu", "cuda"]),
        ("audit --only f", ["fit"]),
        ("audit --set fit.perm", ["fit.permutations="]),
        ("audit --set engine=o", ["engine=one"]),
        ("audit ru", ["run/"]),
        ("audit --photos-csv people.csv --groups eth", ["ethnicity"]),
        ("audit --photos-csv people.csv --cluster ph", ["photo"]),
        ("audit run --fail-if lab", ["label == 'Heavy_Makeup'", 'label == "it\'s"']),
        ("power --pilot run --label H", ["Heavy_Makeup"]),
        ("compare run --fail-if cha", ["changed", "changed and abs(difference) > 3"]),
        ("contexts x --sweep ''", ["gender", "race"]),
        ("contexts x --typology cel", ["celeba"]),
        ("crops x -c spec", ["spectral-residual"]),
        ("crops x --policy arg", ["argmax"]),
        ("captions x --technique S1", ["S1"]),
        ("captions x --truth human-l", ["human-labels"]),
        ("export run --form w", ["webdataset"]),
        ("audit --budget 1", []),
        ("nonsense ''", list(completion._TOLD["values"]["gslopes"][""])),
        ("audit 'unfinished", []),
    ],
)
def test_a_line_goes_on_with(offered, line: str, found: list[str]) -> None:
    assert sorted(offered(line)) == sorted(found)


def test_what_is_wrong_is_silent(offered, here: Path) -> None:
    (here / "bad.py").write_bytes(b"\xff\xfe def x")
    (here / "run/summary.json").write_text("{", "utf-8")
    os.mkfifo(here / "pipe")
    for line in ("audit -c bad.py:x", "audit -c no.py:x", "audit run --fail-if label", "audit pi"):
        assert offered(line) == []


def test_other_packages_add_names(offered, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "site/plugin-1.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Name: plugin\nVersion: 1\n", "utf-8")
    (folder / "entry_points.txt").write_text("[gslopes.classifiers]\nteam-one = x:Y\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert offered("audit -c team") == ["team-one"]


def test_nothing_heavy_is_imported() -> None:
    code = "import sys; from gslopes.cli import main; main(); print(*sys.modules, file=sys.stderr)"
    line = {"COMP_LINE": "gslopes audit -c ce", "_GSLOPES_COMPLETE": "bash"}
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | line,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.startswith("celeba-tagger  # 40 CelebA attributes")
    assert not {"numpy", "pandas", "torch", "jinja2"} & {*run.stderr.split()}


@pytest.fixture
def typed(here: Path, request: pytest.FixtureRequest) -> Iterator:
    """A shell in a terminal of its own, with completion; what it shows after a line and a tab."""
    name = request.param
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    program = here / "bin/gslopes"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m gslopes "$@"\n', "utf-8")
    program.chmod(0o755)
    argv, load = SHELLS[name]
    root = str(Path(__file__).parents[2])
    env = {
        **os.environ,
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "PYTHONPATH": root,
        "TERM": "xterm",
        "HOME": str(here),
    }
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe(argv[0], argv, env)

    def until(text: str, seconds: float = 30.0) -> str:
        shown = ""
        end = time.monotonic() + seconds
        while text not in shown and time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                shown += os.read(terminal, 65536).decode("utf-8", "replace")
        return shown

    def tab(line: str, expected: str) -> str:
        os.write(terminal, f"{line}\t".encode())
        shown = until(expected)
        os.write(terminal, b"\x15")
        until("nothing more", 0.3)
        return shown

    os.write(
        terminal,
        (load.format(f"_GSLOPES_COMPLETE={name}_source gslopes") + "; echo lo''aded\n").encode(),
    )
    until("loaded")
    yield tab
    os.close(terminal)
    os.kill(pid, 9)
    os.waitpid(pid, 0)


@pytest.mark.slow
@pytest.mark.parametrize("typed", SHELLS, indirect=True)
def test_in_a_real_shell(typed) -> None:
    for line, end in (
        ("gslopes aud", "audit "),
        ("gslopes audit -c ce", "celeba-tagger "),
        ("gslopes audit -c python:mine.py:h", "python:mine.py:hire "),
        ("gslopes audit -c llm:m,prompt=sal", "llm:m,prompt=salary "),
        ("gslopes audit --engine=o", "--engine=one "),
        ("gslopes power --pilot run --label Hea", "Heavy_Makeup "),
        ("gslopes audit --photos-csv people.csv --groups eth", "ethnicity "),
    ):
        shown = typed(line, end.strip())
        assert end.strip() in shown, (line, shown)
        assert "Traceback" not in shown
