"""The images: what Dockerfile pins, copies and runs as; built where a builder and the base image are to be had."""

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.test_supply import tool

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "Dockerfile").read_text("utf-8")
LINES = re.sub(r"^\s*#.*\n", "", TEXT, flags=re.MULTILINE).replace("\\\n", " ").splitlines()
STEPS = [tuple(line.split(None, 1)) for line in LINES if line.strip()]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]
STAND_IN = "GSLOPES_BASE_IMAGE"  # builds on another base image than the pinned one


def of(kind: str) -> list[str]:
    return [" ".join(rest.split()) for name, rest in STEPS if name == kind]


def let_through() -> set[str]:
    lines = (ROOT / ".dockerignore").read_text("utf-8").split("\n")
    return {line.removeprefix("!") for line in lines if line.startswith("!")}


def test_hadolint_finds_nothing() -> None:
    done = subprocess.run(
        [tool("hadolint"), ROOT / "Dockerfile"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_the_base_image_is_pinned_by_its_digest_and_tools_by_their_version() -> None:
    defaults = dict(one.split("=", 1) for one in of("ARG"))
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+@sha256:[0-9a-f]{64}", defaults["PYTHON"])
    assert {one.split()[0] for one in of("FROM")} == {"${PYTHON}"}
    assert defaults["BUILD"] == "cpu"
    assert set(defaults["EXTRAS"].strip('"').split()) <= EXTRAS.keys()
    for tools in re.findall(r"pip install ((?:(?!&&).)*)", " && ".join(of("RUN"))):
        words = [word.strip(";") for word in tools.split() if not word.startswith("-")]
        others = {
            ".ci/install.txt",
            "locked.txt",
            "torch.txt",
            "dist/*.whl",
            "https://download.pytorch.org/whl/cpu",
            "fi",
        }
        assert all("==" in word for word in words if word not in others), tools
        locked = {".ci/install.txt", "locked.txt"} & set(words)
        assert not locked or {"--require-hashes", "--no-deps"} <= set(tools.split()), tools


def test_what_it_copies_is_there_and_let_through_and_nothing_else_is() -> None:
    sources = {path for one in of("COPY") if "--from" not in one for path in one.split()[:-1]}
    assert all((ROOT / path).exists() for path in sources)
    assert sources == let_through()


def test_it_runs_as_nobody_in_particular_with_a_place_for_runs_and_cache() -> None:
    last = STEPS[max(place for place, step in enumerate(STEPS) if step[0] == "FROM") :]
    users = [rest for name, rest in last if name == "USER"]
    assert users == ["10001"]
    assert [name for name, _ in last].index("USER") < [name for name, _ in last].index("ENTRYPOINT")
    assert json.loads(of("ENTRYPOINT")[0]) == ["gslopes"]
    assert set(json.loads(of("VOLUME")[0])) == {"/runs", "/cache"}
    assert of("WORKDIR")[-1] == "/runs"
    labels = " ".join(of("LABEL"))
    assert 'org.opencontainers.image.licenses="Apache-2.0"' in labels
    assert not re.search(r"ADD |sudo|chmod 777|latest", TEXT)


@pytest.fixture(scope="module")
def builder() -> list[str]:
    """A program that builds, and can have the base image."""
    base = os.environ.get(STAND_IN) or re.search(r"ARG PYTHON=(\S+)", TEXT)[1]
    for name, more in (("docker", []), ("podman", []), ("buildah", ["--isolation", "chroot"])):
        if not shutil.which(name):
            continue
        had = (
            [name, "inspect", base]
            if os.environ.get(STAND_IN)
            else [name, "pull", f"docker.io/library/{base}"]
        )
        try:
            done = subprocess.run(had, capture_output=True, text=True, check=False, timeout=300)
        except subprocess.TimeoutExpired:
            continue
        if done.returncode == 0:
            return [name, "build", *more, "--build-arg", f"PYTHON={base}"]
    return pytest.skip(f"no builder here can have {base}")


@pytest.mark.slow
@pytest.mark.parametrize("machine", ["cpu", "cuda"])
def test_the_image_builds_and_knows_its_models(builder: list[str], machine: str) -> None:
    name = f"gslopes-test:{machine}"
    run = [builder[0], "run", "--rm", name]
    command = [
        *builder,
        "--build-arg",
        f"BUILD={machine}",
        "--build-arg",
        "EXTRAS=onnx",
        "-t",
        name,
        ".",
    ]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr[-3000:]
    if builder[0] == "buildah":
        container = subprocess.check_output(["buildah", "from", name], text=True).strip()
        run = ["buildah", "run", "--isolation", "chroot", container, "--", "gslopes"]
    listed = subprocess.run(
        [*run, "list", "models", "--json"], capture_output=True, text=True, check=False
    )
    assert listed.returncode == 0, listed.stderr
    assert {"celeba-tagger", "gender-field"} <= {
        model["name"] for model in json.loads(listed.stdout)
    }
