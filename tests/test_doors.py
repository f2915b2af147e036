"""Nothing that a table names is opened outside of the folder that the table belongs to, in any of the four audits."""

import base64
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes import contexts
from gslopes.ask.questions import read_picture
from gslopes.captions import config as captions
from gslopes.contexts.audit import CONTEXTS
from gslopes.contexts.page import sections as context_page
from gslopes.contexts.stimuli.composing import read_cutout
from gslopes.core import tables
from gslopes.core.config import from_dict
from gslopes.core.errors import GslopesError, PhotoError
from gslopes.core.runfolder import read_manifest
from gslopes.core.tables import Table
from gslopes.crops.config import TABLES as CROPS
from gslopes.crops.stimuli.people import read_people
from gslopes.frame.page import write_page
from gslopes.frame.spec import Run
from gslopes.photos.folder import open_photo
from gslopes.slopes.page import pictures
from tests.contexts.conftest import audited, folder

__all__ = ["audited", "folder"]  # fixtures
NAMES = (
    "{secret}",
    "../secret.png",
    "edits/../../secret.png",
    "edits/link.png",
    "out/secret.png",
    "edits/pipe",
    "",
)
SHOWN = {
    "manifest.path",
    "backgrounds.path",
    "photos.path",
    "people.path",
    "census.path",
}  # never opened by the name
OPENED = {"edits.file", "composites.file", "cutouts.file"}


def a_person(run: Path, name: str) -> Path:
    """Of crops: people.csv of the folder names a photo."""
    Image.new("RGB", (40, 30), "red").save(run / "second.png")
    (run / "people.csv").write_text(f"file,sex\n{name},f\nsecond.png,m\n", "utf-8")
    return read_people(run, run / "people.csv", ("sex",)).portraits[0].path


def a_sheet(run: Path, name: str) -> object:
    """Of the walk's page."""
    result = pictures.picture(run / name, None, run)
    if result is None:
        raise PhotoError(name, "not shown")
    return result


READERS: dict[str, Callable[[Path, str], object]] = {
    "what a classifier is asked about": read_picture,
    "what the gate reads": lambda run, name: open_photo(name, run),
    "a cut-out": read_cutout,
    "a person": a_person,
    "a sheet": a_sheet,
}


def hostile(run: Path) -> list[str]:
    """Names that lead out of a folder, whose neighbour is the secret; links and a pipe are made for them."""
    (run / "edits").mkdir(parents=True, exist_ok=True)
    secret = run.parent / "secret.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 64, 3), np.uint8)).save(secret)
    (run / "edits/link.png").symlink_to(secret)
    (run / "out").symlink_to(run.parent)
    os.mkfifo(run / "edits/pipe")
    return [name.format(secret=secret) for name in NAMES]


def test_every_column_that_may_name_a_file_is_known():
    result = set()
    for module in (vars(tables), vars(contexts), {"": CROPS}, vars(captions)):
        for value in module.values():
            values = list(value.values()) if isinstance(value, dict) else value
            listed = values if isinstance(values, tuple | list) else [values]
            for table in listed:
                if isinstance(table, Table):
                    result |= {
                        f"{table.name}.{name}"
                        for name in table.columns
                        if name in ("file", "path", "src")
                    }
    assert result == SHOWN | OPENED


@pytest.mark.parametrize("reader", READERS)
def test_no_reader_leaves_the_folder(reader: str, tmp_path: Path):
    run = tmp_path / "run"
    names = hostile(run)
    Image.new("RGB", (64, 64), "blue").save(run / "edits/own.png")
    READERS[reader](run, "edits/own.png")
    for name in names:
        with pytest.raises(GslopesError):
            READERS[reader](run, name)


def run_of(folder: Path) -> Run:
    """A finished run of contexts."""
    return Run(CONTEXTS, folder, from_dict(CONTEXTS.config, read_manifest(folder)["config"]))


@pytest.mark.slow
def test_a_page_of_contexts_shows_nothing_from_outside(audited, tmp_path: Path):
    run = tmp_path / "run"
    shutil.copytree(audited.folder, run)
    names = hostile(run)
    secret = (tmp_path / "secret.png").read_bytes()
    for table in (tables.EDITS, contexts.TABLES["composites"], contexts.TABLES["cutouts"]):
        frame = tables.read(table, run / f"{table.name}.parquet")
        frame["file"] = pd.Series(
            [names[row % len(names)] for row in range(len(frame))], frame.index
        )
        tables.write(table, frame, run / f"{table.name}.parquet")
    context_page.write_sheets(run_of(run))
    write_page(run_of(run))
    for file in (run / "report").rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert secret not in content
            assert base64.b64encode(secret)[8:-8] not in content
            assert b"secret.png" not in content, file


def test_windows_is_refused_at_import_in_one_sentence():
    code = "import sys; sys.platform = 'win32'; import gslopes"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1] == (
        "ImportError: gslopes runs on Linux and macOS; on Windows, install it in WSL (wsl --install)."
    )


@pytest.mark.parametrize("how", [["-m", "gslopes", "demo"], ["gslopes", "--help"], ["gslopes.exe"]])
def test_the_command_on_windows_is_one_sentence_and_exit_code_2(how: list[str], tmp_path: Path):
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.platform = 'win32'\n")
    if how[0] != "-m":  # as installers write it
        script = tmp_path / how[0]
        script.write_text("import sys\nfrom gslopes.cli import main\nsys.exit(main())\n")
        how = [str(script), *how[1:]]
    env = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{Path(__file__).parents[1]}"}
    done = subprocess.run(
        [sys.executable, *how], env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "gslopes runs on Linux and macOS; on Windows, install it in WSL (wsl --install).\n"
    )
