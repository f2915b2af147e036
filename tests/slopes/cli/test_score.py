"""``gslopes audit --only score`` through the door: a finished run costs nothing, and no secret gets out."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from gslopes.core import tables
from tests.fake_provider.folder import write_run

ROOT = Path(__file__).resolve().parents[3]
SECRET = "planted-0123456789-abcdef"
CAREFREE = """
import logging, os, warnings
def judge(photos):
    key = os.environ["TEAM_SECRET"]
    logging.getLogger("vendor").warning("POST https://host/v1?key=%s Authorization: Bearer %s", key, key)
    if MODE == "raise":
        raise RuntimeError("refused for " + key)
    if MODE == "stop":
        raise SystemError("api_key=" + key)
    return [{"face": 0.5, "said " + key: 0.25} for _ in photos]
"""
RERUN = """
import sys
sys.argv = ["gslopes", "audit", sys.argv[1], "--only", "score", "--classifier", "celeba-tagger", "--json"]
from gslopes.ask.classifiers.celeba_tagger import CelebaTagger
def ask(self, pictures):
    raise AssertionError("asked again")
CelebaTagger.ask = ask
from gslopes.cli import main
try:
    main()
finally:
    heavy = {"torch", "torchvision", "scipy", "matplotlib", "sklearn"} & set(sys.modules)
    print("imported", sorted(heavy), file=sys.stderr)
"""


@pytest.fixture
def run(tmp_path) -> Path:
    return write_run(tmp_path / "run", 2, part=2)


def test_a_finished_run_asks_nobody_and_imports_no_torch(gslopes, home, run):
    first = gslopes("audit", run, "--only", "score", "--classifier", "celeba-tagger")
    assert first.code == 0, first.err
    asked = tables.read(tables.ASKED, run / "asked.parquet")
    assert len(asked) == 14
    again = subprocess.run(
        [sys.executable, "-c", RERUN, str(run)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert again.returncode == 0, again.stderr
    assert "imported []" in again.stderr
    assert sum(json.loads(again.stdout)["answers"]["celeba-tagger"].values()) == 14
    assert tables.read(tables.ASKED, run / "asked.parquet").equals(asked)


def test_new_weights_are_noticed_without_torch_too(gslopes, home, run, monkeypatch):
    gslopes("audit", run, "--only", "score", "--classifier", "celeba-tagger")
    content = json.loads((run / "run.json").read_text())
    content["classifiers"]["celeba-tagger"]["version"] = "0" * 64
    (run / "run.json").write_text(json.dumps(content))
    done = gslopes("audit", run, "--only", "score", "--classifier", "celeba-tagger")
    assert done.code != 0
    assert "in version 000000" in done.err


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["answer", "raise", "stop"])
def test_a_local_classifier_that_is_careless_with_a_secret_gives_it_to_nobody(
    gslopes, run, tmp_path, monkeypatch, mode
):
    """Its own logging, errors and answers are scrubbed: in the output, the run folder, the cache, an export."""
    (tmp_path / "carefree.py").write_text(f"MODE = {mode!r}\n{CAREFREE}")
    monkeypatch.setenv("TEAM_SECRET", SECRET)
    cache = tmp_path / "cache"
    monkeypatch.setenv("GSLOPES_CACHE", str(cache))
    command = ["audit", run, "--only", "score", "--classifier", "python:carefree:judge,version=1"]
    command += ["--cache", cache, "--debug"]
    done = subprocess.run(
        [sys.executable, "-m", "gslopes", *map(str, command)],
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"},
        capture_output=True,
        text=True,
    )
    said = done.stdout + done.stderr
    for more in (["export", tmp_path / "answers.jsonl"], ["show"]):
        shown = gslopes("cache", *more)
        said += shown.out + shown.err
    assert "POST https://host/v1?key=*** Authorization: Bearer ***" in said
    files = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert (tmp_path / "answers.jsonl") in files
    assert SECRET not in said
    assert [path for path, content in files.items() if SECRET.encode() in content] == []
    for path in run.rglob("*.parquet"):
        assert SECRET not in pd.read_parquet(path).to_csv()


def test_the_door_guards_every_log_of_the_process(gslopes, caplog, monkeypatch):
    monkeypatch.setattr(logging, "_logRecordFactory", logging.LogRecord)
    monkeypatch.setenv("TEAM_SECRET", SECRET)
    gslopes("list", "classifiers", "--json")
    logging.getLogger("anybody").warning("Ocp-Apim-Subscription-Key: %s", SECRET)
    try:
        raise ValueError(f"password={SECRET}")
    except ValueError:
        logging.getLogger("anybody").exception("It failed.")
    assert "It failed." in caplog.text
    assert SECRET not in caplog.text
