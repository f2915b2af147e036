"""Run folders as accidents and strangers leave them: every verb says a sentence, or makes anew what it can."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from gslopes.core import tables

TOP = ("photos", "edits", "asked", "scores", "slopes")
VERBS = ("report", "validate", "fit", "score", "compare", "method", "audit")


def manifest(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """Changes run.json."""

    def apply(run: Path) -> None:
        content = json.loads((run / "run.json").read_text())
        change(content)
        (run / "run.json").write_text(json.dumps(content))

    return apply


def gone(*names: str) -> Callable[[Path], None]:
    """Without some of the top tables."""
    return lambda run: [(run / f"{name}.parquet").unlink() for name in names] and None


def written(name: str, data: bytes) -> Callable[[Path], None]:
    """Another content of one file."""
    return lambda run: (run / name).write_bytes(data) and None


def cut(name: str) -> Callable[[Path], None]:
    """Half of one file."""
    return lambda run: (run / name).write_bytes((run / name).read_bytes()[:400]) and None


def another_table(name: str, other: str) -> Callable[[Path], None]:
    """One table under the name of another."""
    return lambda run: shutil.copy(run / f"{other}.parquet", run / f"{name}.parquet") and None


def stamped(stamp: Path) -> None:
    """What the stamp says was made is a device that never ends."""
    content = json.loads(stamp.read_text())
    stamp.write_text(json.dumps(content | {"made": {"/dev/zero": "0" * 64}}))


def piped(path: Path) -> None:
    """A pipe in place of a file."""
    path.unlink(missing_ok=True)
    os.mkfifo(path)


DAMAGES: dict[str, Callable[[Path], None]] = {
    **{f"no {name}": gone(name) for name in TOP},
    "no table at all": gone(*TOP),
    **{f"{name} cut": cut(f"{name}.parquet") for name in TOP},
    **{
        f"{name} is another table": another_table(name, "edits")
        for name in ("photos", "scores", "slopes")
    },
    "deeply nested": written("run.json", b'{"values": ' + b"[" * 100_000),
    "no bytes": written("run.json", b""),
    "values are empty": manifest(lambda it: it.update(values={})),
    "values too large": manifest(lambda it: it.update(values={"gender": [-1e308, 0, 1e308]})),
    "classifiers are a list": manifest(lambda it: it.update(classifiers=["toy"])),
    "a classifier is a number": manifest(lambda it: it.update(classifiers={"toy": 3})),
    "gate is a list": manifest(lambda it: it.update(gate=["kept"])),
    "inputs are gone": manifest(lambda it: it.pop("inputs")),
    "find is a number": manifest(lambda it: it["config"].update(find=3)),
    "a billion photos": manifest(lambda it: it["inputs"].update(photos=10**9)),
    "parts of 0": manifest(lambda it: it["config"].update(part=0)),
    "stamps name a device": lambda run: (
        [stamped(one) for one in (run / "parts").glob("*.json")] and None
    ),
    "stamps are nested": lambda run: (
        [one.write_text("[" * 100_000) for one in (run / "parts").glob("*.json")] and None
    ),
    "two values of another attribute": manifest(lambda it: it.update(values={"race": [-1, 1]})),
    "models are a number, versions a text": manifest(
        lambda it: it.update(models=7, versions="all", seed=-1)
    ),
    "validity is nested": written("validity.json", b"[" * 100_000),
    "presence is nested": written("presence.json", b"[" * 100_000),
    "presence is a pipe": lambda run: piped(run / "presence.json"),
}


@pytest.fixture(scope="module")
def folder(
    tmp_path_factory: pytest.TempPathFactory, tiny_models: Path, draw: Any, toy: str
) -> tuple[Path, list[str]]:
    """A whole audit of four drawn photos, and the command that made it."""
    from gslopes.slopes import audit as stages

    faces = draw(4)
    config = tmp_path_factory.mktemp("config") / "audit.toml"
    config.write_text("part = 2\n[fit]\npermutations = 20\n[edit]\nsteps = 3\n")
    run = tmp_path_factory.mktemp("damaged") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GSLOPES_HOME", str(tiny_models))
        patch.setenv("GSLOPES_CACHE", str(tmp_path_factory.mktemp("answers")))
        stages.audit(faces.photos, run, config=config, classifier=toy, device="cpu", **faces.known)
    command = [
        "audit",
        str(faces.photos),
        *faces.args,
        "--config",
        str(config),
        "--classifier",
        toy,
        "--device",
        "cpu",
    ]
    return run, command


@pytest.fixture
def run(folder: tuple[Path, list[str]], tmp_path: Path) -> Path:
    """A copy of it."""
    shutil.copytree(folder[0], tmp_path / "run")
    return tmp_path / "run"


def commands(run: Path, audit: list[str], toy: str) -> dict[str, list[str]]:
    return {
        "report": ["audit", str(run), "--only", "report"],
        "validate": ["audit", str(run), "--only", "gate"],
        "fit": ["audit", str(run), "--only", "fit"],
        "score": ["audit", str(run), "--only", "score", "--classifier", toy, "--device", "cpu"],
        "compare": ["compare", str(run), str(run)],
        "method": ["audit", "--method", "--out", str(run)],
        "audit": [*audit, "--out", str(run)],
    }


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_folder_is_a_sentence_or_mended_whatever_the_verb(
    gslopes, folder, toy, damage, tmp_path, monkeypatch
):
    # figures are made, but not drawn: most of a report's time
    monkeypatch.setattr("gslopes.report.charts.save", lambda figure, folder, name: None)
    for verb in VERBS:
        run = tmp_path / verb
        shutil.copytree(folder[0], run)
        DAMAGES[damage](run)
        done = gslopes(*commands(run, folder[1], toy)[verb])
        assert done.code in (0, 1, 2, 3)
        assert "Unexpected" not in done.err, (verb, done.err)
        assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("verb", "damage", "said"),
    [
        ("report", "no table at all", "has no table edits yet"),
        ("validate", "values are empty", "run.json is damaged"),
        ("audit", "deeply nested", "nested too deeply"),
        ("score", "classifiers are a list", "its 'classifiers' makes no sense"),
        ("fit", "a classifier is a number", "its 'classifiers' makes no sense"),
    ],
)
def test_what_was_an_unexpected_error_says_what_is_wrong(
    gslopes, folder, run, toy, verb, damage, said
):
    DAMAGES[damage](run)
    done = gslopes(*commands(run, folder[1], toy)[verb])
    assert done.code == 2
    assert said in " ".join(done.err.split())


def test_the_same_command_makes_anew_whatever_is_lost_or_damaged(gslopes, folder, run, toy):
    before = {path.name: path.read_bytes() for path in run.rglob("edits/**/*.jpg")}
    expected = {name: tables.read(tables.TABLES[name], run / f"{name}.parquet") for name in TOP}
    gone(*TOP)(run)
    part = sorted((run / "parts/synthesise").glob("edits-*.parquet"))[0]
    part.write_bytes(part.read_bytes()[:100])
    sorted(run.rglob("edits/**/*.jpg"))[-1].unlink()
    done = gslopes(*folder[1], "--out", run)
    assert done.code == 0, done.err
    for name, frame in expected.items():
        pd.testing.assert_frame_equal(
            frame, tables.read(tables.TABLES[name], run / f"{name}.parquet")
        )
    assert {path.name: path.read_bytes() for path in run.rglob("edits/**/*.jpg")} == before
