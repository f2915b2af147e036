"""The GitHub Action and the page about gates: the steps run, red and green; every option that they name exists."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from gslopes.cli import main
from gslopes.core import summary
from gslopes.frame import conditions
from gslopes.slopes.page import decisions
from tests.test_house import options_of, python, unknown_options

ROOT = Path(__file__).resolve().parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
GATE = (ROOT / "docs/pages/howto/gate.md").read_text("utf-8")


def fenced(kind: str, holding: str) -> str:
    """The block of the gate page that holds a text."""
    (result,) = [
        text
        for text in re.findall(rf"```{kind}\n(.*?)```", GATE, flags=re.DOTALL)
        if holding in text
    ]
    return result


def step(name: str) -> dict[str, Any]:
    (result,) = [step for step in ACTION["runs"]["steps"] if step.get("name") == name]
    return result


def run_step(
    name: str, folder: Path, tools: dict[str, str], **inputs: str
) -> tuple[subprocess.CompletedProcess, dict]:
    """A step as a runner runs it, with the action's defaults: what it did, and its outputs."""
    options = {key: item.get("default", "") for key, item in ACTION["inputs"].items()} | inputs
    names = {
        key: re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", text)[1]
        for key, text in step(name)["env"].items()
    }
    env = {key: options[item] for key, item in names.items()}
    shims = folder / "bin"
    shims.mkdir(exist_ok=True)
    for tool, command in tools.items():
        (shims / tool).write_text(f'#!/bin/sh\n{command} "$@"\n')
        (shims / tool).chmod(0o755)
    files = {file: folder / file.lower() for file in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for file in files.values():
        file.write_text("")
    env |= {key: str(file) for key, file in files.items()} | {"GITHUB_ACTION_PATH": str(ROOT)}
    script = folder / "step.sh"
    script.write_text(step(name)["run"])
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PATH": f"{shims}{os.pathsep}{os.environ['PATH']}",
            **env,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    lines = files["GITHUB_OUTPUT"].read_text().splitlines()
    return done, dict(line.split("=", 1) for line in lines) | {
        "said": files["GITHUB_STEP_SUMMARY"].read_text()
    }


def test_the_action_is_composite_pinned_and_pastes_no_input_into_a_script() -> None:
    assert ACTION["runs"]["using"] == "composite"
    for step in ACTION["runs"]["steps"]:
        assert "uses" in step or (step["shell"], "${{" in step["run"]) == ("bash", False)
    uses = re.findall(r"uses: (.+)", (ROOT / "action.yml").read_text("utf-8"))
    assert uses
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", use) for use in uses)


def test_the_action_calls_options_that_every_command_of_it_has() -> None:
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", step("Audit")["run"]))
    assert options == {"--out", "--fail-if", "--junit"}
    for verb in re.findall(r"\w+", ACTION["inputs"]["command"]["description"].replace(" or ", " ")):
        assert options <= options_of(main.get_command(None, verb)), verb


@pytest.fixture
def set_of_captions(tmp_path: Path) -> str:
    """Captions of which half of the women's do not name them, as lines of the action's arguments."""
    folder = tmp_path / "stages of ours"
    folder.mkdir()
    human, system, groups = ["image,caption"], ["image,caption"], ["image,gender"]
    for index in range(60):
        word = "woman" if index % 2 else "man"
        human += [f"{index},A {word} on a bench.", f"{index},A {word} with a dog."]
        system.append(f"{index},A {'bench' if index % 4 == 1 else f'{word} on a bench'}.")
        groups.append(f"{index},{'female' if index % 2 else 'male'}")
    (folder / "human-captions.csv").write_text("\n".join(human) + "\n")
    (folder / "system-captions.csv").write_text("\n".join(system) + "\n")
    (tmp_path / "groups.csv").write_text("\n".join(groups) + "\n")
    return "stages of ours\n--groups\ngroups.csv\n--column\ngender\n--technique\nD2\n"


@pytest.mark.slow
def test_the_audit_step_is_red_and_green(tmp_path: Path, set_of_captions: str) -> None:
    tools = {"gslopes": f"{sys.executable} -m gslopes", "python": sys.executable}
    options = {"command": "captions", "arguments": set_of_captions}
    red, outputs = run_step("Audit", tmp_path, tools, **options)
    assert red.returncode == conditions.FAILED, red.stderr
    assert outputs["code"] == "4"
    summary = json.loads((tmp_path / outputs["summary"]).read_text("utf-8"))
    assert outputs["said"].strip() == summary["headline"]
    assert "<failure" in (tmp_path / outputs["junit"]).read_text("utf-8")
    green, outputs = run_step(
        "Audit", tmp_path, tools, **options, **{"fail-if": "finding and abs(value) > 90"}
    )
    assert (green.returncode, outputs["code"]) == (0, "0"), green.stderr
    off, outputs = run_step("Audit", tmp_path, tools, **options, **{"fail-if": "$(touch hacked)"})
    assert (off.returncode, outputs["code"], (tmp_path / "hacked").exists()) == (2, "2", False)


def test_the_workflow_of_the_page_uses_inputs_outputs_and_options_that_exist() -> None:
    workflow = yaml.safe_load(fenced("yaml", "runs-on"))
    (job,) = workflow["jobs"].values()
    (ours,) = [step for step in job["steps"] if "/gslopes@" in step.get("uses", "")]
    assert set(ours["with"]) <= set(ACTION["inputs"])
    assert {key for key, step in ACTION["inputs"].items() if step.get("required")} <= set(
        ours["with"]
    )
    conditions.Condition(ours["with"]["fail-if"], summary.conditions(decisions.FINDINGS))
    line = " ".join(ours["with"]["arguments"].split())
    assert unknown_options(f"gslopes audit {line}") == []
    for output in re.findall(r"steps\.gslopes\.outputs\.([\w-]+)", json.dumps(job)):
        assert output in ACTION["outputs"]
    for use in re.findall(r"uses: (actions/.+)", fenced("yaml", "runs-on")):
        assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", use)


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "code"), [("> 1e-9", 1), ("> 1e6", 0)])
def test_the_fixture_of_the_page_is_red_and_green(
    tmp_path, draw, toy, home, limit: str, code: int
) -> None:
    """Every label counts as a finding here, whatever the tiny model's answers are: the gate itself is tested."""
    faces = draw(12)
    text = fenced("python", "pytest.fixture").replace("onnx:model.onnx,labels=labels.txt", toy)
    text = text.replace('"photos", "run"', f'{str(faces.photos)!r}, "run"')
    assert "== 'finding'" in text
    assert "> 5" in text
    text = text.replace("== 'finding'", "!= ''").replace("> 5", limit)
    (tmp_path / "test_gate.py").write_text(text)
    expected = {
        name: str(value) if isinstance(value, Path) else value
        for name, value in faces.known.items()
    }
    (tmp_path / "conftest.py").write_text(
        "from functools import partial\n\nimport gslopes\n\n"
        f"gslopes.audit = partial(gslopes.audit, steps=3, **{expected!r})\n"
    )
    done = python(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=tmp_path, PYTHONPATH=str(ROOT)
    )
    assert done.returncode == code, done.stdout + done.stderr
