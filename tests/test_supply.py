"""What others made is named by its version and checked: JavaScript that ships, actions and tools of the workflows."""

import os
import re
import shutil
import subprocess
import sysconfig
import tomllib
from hashlib import sha256
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LOCK = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))
WORKFLOWS = ROOT / ".github/workflows"
RELEASE = yaml.safe_load((WORKFLOWS / "release.yml").read_text("utf-8"))


def tool(name: str) -> str:
    """A program of the extra dev."""
    found = shutil.which(name, path=sysconfig.get_path("scripts")) or shutil.which(name)
    return found or pytest.skip(f"{name} is not installed: pip install -e '.[dev]'")


def test_javascript_that_ships_is_the_file_of_a_named_version():
    folder = ROOT / "gslopes/report/vendor"
    sources = tomllib.loads((folder / "sources.toml").read_text("utf-8"))
    assert sources.keys() == {path.name for path in folder.glob("*.js")}
    for name, source in sources.items():
        assert sha256((folder / name).read_bytes()).hexdigest() == source["sha256"]
        assert f"v{source['version']} " in (folder / name).read_text("utf-8")[:100]


def test_actions_are_named_by_their_commit_and_tools_by_their_version():
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        text = path.read_text("utf-8")
        assert all(
            re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", use)
            for use in re.findall(r"uses: (.+)", text)
        )
        for tools in re.findall(r"pip install (.+)", text):
            local = {"-e", "'.[dev]'", "--no-deps", "dist/*.whl"}
            if tools.startswith("--require-hashes "):
                local |= {"--require-hashes", "-r", "locked/locked.txt"}
            assert all("==" in tool for tool in set(tools.split()) - local)


def test_the_weekly_audit_reads_the_lowest_and_the_newest_set_and_fails_where_it_cannot_look_up_a_package():
    text = (ROOT / ".github/workflows/audit.yml").read_text("utf-8")
    assert re.search(r"cron: \"\d+ \d+ \* \* \d\"", text)
    assert "versions: [lowest-direct, highest]" in text
    assert (
        "uv pip compile pyproject.toml --extra test --resolution ${{ matrix.versions }} -o pins.txt"
        in text
    )
    assert (
        "pip-audit -r pins.txt --no-deps --disable-pip --strict" in text
    )  # without, what is not found is left out


def test_the_lock_is_of_these_requirements() -> None:
    def plain(text: str) -> tuple[str, frozenset[str], SpecifierSet]:
        one = Requirement(text)
        return one.name.replace("_", "-").lower(), frozenset(one.extras), one.specifier

    (ours,) = [package for package in LOCK["package"] if package["name"] == PROJECT["name"]]
    wanted = {(plain(text), "") for text in PROJECT["dependencies"]}
    for extra, texts in PROJECT["optional-dependencies"].items():
        wanted |= {(plain(text), extra) for text in texts}
    locked = {
        (
            (row["name"], frozenset(row.get("extras", ())), SpecifierSet(row.get("specifier", ""))),
            (re.findall(r"extra == '(\w+)'", row.get("marker", "")) or [""])[0],
        )
        for row in ours["metadata"]["requires-dist"]
    }
    assert {row for row in locked if row[0][0] != PROJECT["name"]} == {
        row for row in wanted if row[0][0] != PROJECT["name"]
    }, "uv lock writes it"


def test_every_locked_package_has_hashes_and_lies_within_our_bounds() -> None:
    versions: dict[str, list[str]] = {}
    for package in LOCK["package"]:
        if package["name"] != PROJECT["name"]:
            versions.setdefault(package["name"], []).append(package["version"])
            files = [*package.get("wheels", ()), *filter(None, [package.get("sdist")])]
            assert files, package["name"]
            assert all(file["hash"].startswith("sha256:") for file in files)
    for text in PROJECT["dependencies"]:
        one = Requirement(text)
        assert all(version in one.specifier for version in versions[one.name]), text


@pytest.mark.parametrize("machine", ["cpu", "cuda"])
def test_what_is_locked_for_a_machine_is_hashed_and_for_cpus_without_libraries_for_gpus(
    machine: str, tmp_path: Path
) -> None:
    env = os.environ | {
        "UV_OFFLINE": "1",
        "PATH": f"{Path(tool('uv')).parent}:{os.environ['PATH']}",
    }
    command = [ROOT / ".ci/locked", machine, tmp_path, "onnx", "llm"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    whole, torch = ((tmp_path / f"{name}.txt").read_text("utf-8") for name in ("locked", "torch"))
    entries = re.split(r"\n(?=\S)", whole.strip())
    names = {re.match(r"[\w.-]+", entry)[0] for entry in entries}
    assert all("--hash=sha256:" in entry for entry in entries)
    assert {"numpy", "onnxruntime", "httpx", "sympy"} <= names
    gpu = {name for name in names if re.match(r"nvidia|cuda|triton|torch", name)}
    if machine == "cuda":
        assert {"torch", "torchvision", "triton"} < gpu
        assert torch == ""
    else:
        assert gpu == set()
        pins = dict(line.split("==") for line in torch.splitlines())
        assert pins.keys() == {"torch", "torchvision"}
        for name, version in pins.items():
            assert f'name = "{name}"\nversion = "{version.removesuffix("+cpu")}"' in (
                ROOT / "uv.lock"
            ).read_text("utf-8")


def test_the_workflows_hold_zizmors_audit() -> None:
    command = [tool("zizmor"), "--offline", "--no-progress", WORKFLOWS, ROOT / "action.yml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_release_is_signed_where_it_was_built_and_published_without_a_token() -> None:
    jobs = RELEASE["jobs"]
    assert RELEASE["permissions"] == {}
    writes = {
        name: {k for k, v in job["permissions"].items() if v == "write"}
        for name, job in jobs.items()
    }
    assert writes == {
        "test": set(),
        "build": set(),
        "provenance": {"id-token", "attestations"},
        "publish": {"id-token"},
        "release": {"contents"},
    }
    order = {name: job.get("needs") for name, job in jobs.items()}
    assert order == {
        "test": None,
        "build": "test",
        "provenance": "build",
        "publish": "provenance",
        "release": "provenance",
    }
    uses = [step.get("uses", "").partition("@")[0] for step in jobs["publish"]["steps"]]
    assert uses == ["actions/download-artifact", "pypa/gh-action-pypi-publish"]
    assert "environment" in jobs["publish"]
    assert "secrets." not in (WORKFLOWS / "release.yml").read_text("utf-8")


def test_tools_that_build_have_one_version_everywhere() -> None:
    files = [*WORKFLOWS.glob("*.yml"), ROOT / ".ci/versions", ROOT / "Dockerfile"]
    texts = "".join(path.read_text("utf-8") for path in files)
    for name in ("uv", "hatchling"):
        assert len(set(re.findall(rf"\b{name}==([\d.]+)", texts))) == 1
