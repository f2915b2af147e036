"""The GitHub Action and the page about gates: the steps run, red and green; every option that they name exists."""

import html
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
from gslopes.core import printable, summary
from gslopes.frame import conditions
from gslopes.slopes.page import decisions
from tests.test_house import options_of, python, unknown_options
from tests.test_supply import tool

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
    run = step(name)["run"]
    names = {
        key: re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", text)[1]
        for key, text in step(name)["env"].items()
    }
    env = {key: options[item] for key, item in names.items()}
    shims = folder / "bin"
    shims.mkdir(exist_ok=True)
    for name, command in tools.items():
        (shims / name).write_text(f'#!/bin/sh\n{command} "$@"\n')
        (shims / name).chmod(0o755)
    files = {file: folder / file.lower() for file in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for file in files.values():
        file.write_text("")
    env |= {key: str(file) for key, file in files.items()} | {"GITHUB_ACTION_PATH": str(ROOT)}
    script = folder / "step.sh"
    script.write_text(run)
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
    return done, outputs_of(files["GITHUB_OUTPUT"].read_bytes()) | {
        "said": files["GITHUB_STEP_SUMMARY"].read_text()
    }


def outputs_of(file: bytes) -> dict[str, str]:
    """As a runner reads them: NAME=VALUE, or NAME<<WORD and lines up to that word; a line ends at LF, CR or both."""
    result, lines = {}, iter(re.split("\r\n|\r|\n", file.decode("utf-8")))
    for line in filter(None, lines):
        equals, heredoc = line.find("="), line.find("<<")
        if equals >= 0 and not 0 <= heredoc < equals:
            result[line[:equals]] = line[equals + 1 :]
        else:
            word = line[heredoc + 2 :]
            result[line[:heredoc]] = "\n".join(iter(lambda word=word: next(lines), word))
    return result


def commands_of(log: str) -> list[str]:
    """What a runner obeys in a log: ``::NAME`` at the beginning of a line, ``##[NAME]`` anywhere; between
    ``::stop-commands::WORD`` and ``::WORD::`` it obeys nothing."""
    obeyed, word = [], ""
    for line in log.splitlines():
        said = line.lstrip()
        if word:
            word = "" if said.startswith(f"::{word}::") else word
        elif said.startswith("::stop-commands::"):
            word = said.removeprefix("::stop-commands::")
        elif said.startswith("::") or "##[" in line:
            obeyed.append(line)
    assert not word
    return obeyed


def test_the_action_is_composite_pinned_and_pastes_no_input_into_a_script() -> None:
    assert ACTION["runs"]["using"] == "composite"
    for step in ACTION["runs"]["steps"]:
        assert "uses" in step or (step["shell"], "${{" in step["run"]) == ("bash", False)
    uses = re.findall(r"uses: (.+)", (ROOT / "action.yml").read_text("utf-8"))
    assert uses
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", use) for use in uses)


def test_the_action_calls_options_that_every_command_of_it_has() -> None:
    assert step("Audit")["run"].startswith('python -P "$GITHUB_ACTION_PATH/.ci/action.py" 2>&1')
    script = (ROOT / ".ci/action.py").read_text("utf-8")
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", script))
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
    assert red.returncode == conditions.FAILED, red.stdout
    assert outputs["code"] == "4"
    summary = json.loads((tmp_path / outputs["summary"]).read_text("utf-8"))
    assert html.unescape(outputs["said"]) == f"<p>{summary['headline']}</p>\n"
    assert "<failure" in (tmp_path / outputs["junit"]).read_text("utf-8")
    green, outputs = run_step(
        "Audit", tmp_path, tools, **options, **{"fail-if": "finding and abs(value) > 90"}
    )
    assert (green.returncode, outputs["code"]) == (0, "0"), green.stdout
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


# -- texts of others in it --------------------------------------------------------------------------------------------


@pytest.fixture
def audited(tmp_path: Path):
    """Runs the step with a gslopes that says a text, whatever it is asked."""
    tools = {"python": sys.executable, "gslopes": f"sh {tmp_path / 'says.sh'}"}

    def run(said: str = "A finding.", code: int = 0, **inputs: str):
        (tmp_path / "said.txt").write_text(said)
        (tmp_path / "said.json").write_text(json.dumps({"headline": said}))
        end = f"exit {code}" if code >= 0 else f"kill {code} $$"
        (tmp_path / "says.sh").write_text(
            'printf "%s\\n" "$@"; cat said.txt; cat said.txt >&2; out="${2#--out=}"\n'
            f'mkdir -p -- "$out"; cp -- said.json "$out/summary.json"; {end}\n'
        )
        return run_step("Audit", tmp_path, tools, **{"arguments": "photos"} | inputs)

    return run


def fault(command: str = "audit", out: str = "run", arguments: str = "photos") -> str:
    from runpy import run_path

    return run_path(str(ROOT / ".ci/action.py"))["fault"](command, out, arguments.split("\n"))


def test_an_input_that_would_say_more_than_its_own_is_refused(audited) -> None:
    for breaks in (
        "\n",
        "\r",
        "\r\n",
        "\u2028",
        "\u2029",
        "\x0b",
        "\x0c",
        "\x1c",
        "\x85",
        "\x1b[2K",
    ):
        assert "one line" in fault(out=f"run{breaks}code=0")
    assert all("one line" in fault(out=out) for out in ("", " ", "run\0", "\udc80", "\u202erun"))
    for command in ("audit\nsummary=x", "--help", "demo", "", "audit ", "cache"):
        assert fault(command=command).startswith("command is one of audit, contexts,")
    for ours in ("--out\nelsewhere", "-oelsewhere", "-o\nx", "--fail-if=false", "--junit\nx"):
        assert "inputs of the action" in fault(arguments=f"photos\n{ours}")
    assert fault() == fault(arguments="photos\n--only\n--outer\n--\n-") == ""
    for inputs in (
        {"out": "run\ncode=0\nsummary=evil"},
        {"command": "##[set-output name=code;]0"},
        {"command": "audit\n::error::no"},
        {"arguments": "photos\r\n--junit\r\nelsewhere.xml"},
    ):
        done, outputs = audited(**inputs)
        assert (done.returncode, outputs) == (2, {"code": "2", "said": ""})
        assert re.fullmatch(r"::stop-\S+\ngslopes: .+\.\n\n::\w{32}::\n", done.stdout)
        assert commands_of(done.stdout + done.stderr) == []


@pytest.mark.parametrize(
    "out", ["a run of ours", "-x", "%0Acode=0", "run<<EOF", "q\"'`$(touch hacked)", "läuft", "a=b"]
)
def test_a_folder_with_an_odd_name_is_that_folder(audited, tmp_path, out) -> None:
    odd = '--label\nit\'s "quoted" $(touch hacked)\n--\n-x'
    done, outputs = audited(out=out, arguments=odd, code=4, **{"fail-if": "a\ncode=0"})
    assert done.returncode == 4
    expected = {"code": "4", "summary": f"{out}/summary.json", "junit": f"{out}.junit.xml"}
    assert outputs == expected | {"said": "<p>A finding.</p>\n"}
    assert (tmp_path / outputs["summary"]).is_file()
    assert not (tmp_path / "hacked").exists()
    assert "\n".join(["audit", f"--out={out}", "--fail-if=a"]) in done.stdout
    assert f"\n{odd}\n" in done.stdout


HOSTILE = [
    "![](http://127.0.0.1:9/a.png) <img src=http://127.0.0.1:9/b.png> <script>1</script>",
    "</p><h1>No finding</h1> # No finding | [all](javascript:1) `x` https://evil.example www.evil.example",
    "::add-mask::a\n::set-output name=code::0\n  ::error file=a::no\n##[set-output name=code;]0 ##[error]no",
    "\x1b[2J\x1b]0;title\x07 \u202eno\u2028finding \x00\r\n\n<b>no</b>",
]


@pytest.mark.parametrize("said", HOSTILE)
def test_a_headline_of_strangers_is_one_paragraph_and_no_command(audited, said) -> None:
    from markdown_it import MarkdownIt

    done, outputs = audited(said)
    assert done.returncode == 0
    assert commands_of(done.stdout + done.stderr) == []
    assert {name for name in outputs if name != "said"} == {"code", "summary", "junit"}
    page = MarkdownIt("gfm-like", {"linkify": False}).render(outputs["said"])
    assert page.count("<") == 2, page  # the paragraph's own
    assert page.startswith("<p>")
    assert page.endswith("</p>\n")
    assert html.unescape(page) == f"<p>{printable(said)}</p>\n"
    assert len(page.splitlines()) == 1


@pytest.mark.parametrize("code", [1, 2, 130, -9])
def test_an_audit_that_failed_shows_no_headline_that_was_there_before(audited, code) -> None:
    done, outputs = audited(code=code)
    assert outputs["code"] == str(done.returncode)
    assert done.returncode == (137 if code == -9 else code)
    assert outputs["said"] == ""


def test_what_lies_in_the_checkout_is_not_imported(audited, tmp_path) -> None:
    for name in ("json", "html", "gslopes", "secrets", "site"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('mine')")
    done, outputs = audited()
    assert (done.returncode, outputs["code"]) == (0, "0"), done.stdout


# -- what it installs -------------------------------------------------------------------------------------------------


@pytest.fixture
def installed(tmp_path: Path):
    """Runs the step that installs, with a pip that writes down what it was to install."""
    log = tmp_path / "pip.txt"
    pip = tmp_path / "pip.sh"
    pip.write_text(
        f'case "$*" in "-I -m pip"*) echo "$PWD $*" >> {log}; for a; do [ ! -f "$a" ] || cat "$a" >> {log}; done;;'
        f' *) exec {sys.executable} "$@";; esac\n'
    )
    tools = {"python": f"sh {pip}", "uv": tool("uv")}

    def run(**inputs: str):
        done, _ = run_step("Install", tmp_path, tools, **inputs)
        return done, log.read_text() if log.exists() else ""

    return run


def test_all_that_is_installed_is_locked_and_has_its_hash(installed, monkeypatch) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")
    done, log = installed(extras="onnx, llm")
    assert done.returncode == 0, done.stderr
    calls = [line for line in log.splitlines() if " -I -m pip " in line]
    assert all(line.startswith(f"{ROOT} -I -m pip install ") for line in calls)
    assert [line.split(" install ")[1].split(" -r ")[0] for line in calls] == [
        "--require-hashes --no-deps",
        "--require-hashes --no-deps --no-build-isolation",
        "--no-deps --no-build-isolation .",
    ]
    pins = re.findall(r"^([\w.-]+)==\S+ ?[^\\\n]*\\\n    --hash=sha256:", log, re.MULTILINE)
    assert {"uv", "hatchling", "numpy", "torch", "onnxruntime", "httpx"} <= set(pins)
    assert len(pins) == len(re.findall(r"^[\w.-]+==", log, re.MULTILINE))
    assert "==" not in step("Install")["run"]


@pytest.mark.parametrize(
    "extras",
    [
        "onnx]; touch hacked",
        "--index-url=x",
        "onnx\n--all-extras",
        "$(touch hacked)",
        "onnx,",
        "../x",
        "onxx",
    ],
)
def test_an_odd_extra_installs_nothing_of_it(installed, monkeypatch, tmp_path, extras) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")
    done, log = installed(extras=extras)
    assert done.returncode == 2
    assert "numpy" not in log
    assert not (tmp_path / "hacked").exists()
    assert ("extras are names" in done.stderr) is (extras != "onxx")
    assert extras != "onxx" or "onxx" in done.stderr
