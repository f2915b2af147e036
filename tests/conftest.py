"""Fixtures that every room may use: where the real photos are, and their sets unpacked."""

from __future__ import annotations

import gc
import itertools
import os
import shutil
import signal
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from tests.fake_provider import FakeProvider

pytest_plugins = ["tests.fixtures"]

# No claim is about time: a busy machine may be slow. In CI the examples are the same in every run.
settings.register_profile("house", deadline=None, derandomize="CI" in os.environ, print_blob=True)
settings.load_profile("house")

# A job in the background is started deaf to Ctrl-C, and so would be every process that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Before torch, OpenCV or matplotlib are imported: sums in one order, no window.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

os.fsync = lambda fd: None  # no test cuts the power

ROOT = Path(__file__).resolve().parents[1]


def pytest_collection_finish() -> None:
    gc.freeze()  # what is imported by now stays to the end


@pytest.hookimpl(tryfirst=True)  # before -m looks at the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("row"):
            item.add_marker(pytest.mark.evidence)


@pytest.fixture(autouse=True)
def no_secret_outlives_its_test() -> Iterator[None]:
    """No key of one test is a key in the next, in which a text may look like a part of it."""
    name = "gslopes.ask.secrets"
    before = set(sys.modules[name]._REMEMBERED) if name in sys.modules else set()
    yield
    if name in sys.modules:
        sys.modules[name]._REMEMBERED.intersection_update(before)


@pytest.fixture(scope="session")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Folders that are not there yet."""
    root = tmp_path_factory.mktemp("caches")
    return (str(root / str(number)) for number in itertools.count())


@pytest.fixture(autouse=True)
def empty_cache(caches: Iterator[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """No test meets the answers that another one, or the user, has cached."""
    monkeypatch.setenv("GSLOPES_CACHE", next(caches))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with the zips of real photos, which may not be part of the project."""
    named = os.environ.get("GSLOPES_TEST_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(
            f"Real photos are missing: no folder {folder}. Name the folder of the zips in GSLOPES_TEST_DATA."
        )
    return folder


@pytest.fixture(scope="session")
def unpacked(shared_data: Path) -> Callable[[str], Path]:
    """Unpacks a set by name: ``unpacked("london")`` is the folder in which london.zip was unpacked, once a machine."""

    def unpack(name: str) -> Path:
        archive = shared_data / f"{name}.zip"
        if not archive.is_file():
            pytest.skip(f"Real photos are missing: {archive.name} is not in {shared_data}.")
        stat = archive.stat()
        cache = Path(tempfile.gettempdir()) / f"gslopes-test-data-{os.getuid()}"
        folder = cache / f"{name}-{stat.st_size}-{int(stat.st_mtime)}"
        if not folder.is_dir():
            cache.mkdir(mode=0o700, exist_ok=True)
            fresh = Path(tempfile.mkdtemp(dir=cache))
            with zipfile.ZipFile(archive) as zipped:
                zipped.extractall(fresh)
            try:
                fresh.rename(folder)
            except OSError:  # another process was faster
                shutil.rmtree(fresh)
        return folder

    return unpack


@pytest.fixture(scope="session")
def listening_provider() -> Iterator[FakeProvider]:
    """The fake of the commercial services, started once; use ``provider``."""
    from tests.fake_provider import FakeProvider

    with FakeProvider() as fake:
        yield fake


@pytest.fixture
def provider(listening_provider: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> FakeProvider:
    """The fake of the commercial services as it is in the beginning, with the environment pointing at it."""
    listening_provider.reset()
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in listening_provider.environment.items():
        monkeypatch.setenv(name, value)
    return listening_provider
