"""A local Ray cluster for the tests of a module."""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A local cluster of two cores; an executor leaves a connection as it found it."""
    if find_spec("ray") is None:  # not imported yet: its logging is set up before that
        pytest.skip("Ray is not installed: pip install 'gslopes[ray]'.")
    from gslopes.frame.executors import ray as rays

    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RAY_ADDRESS", raising=False)
        ray, started = rays.connect(2)
        assert started
        yield ray
        ray.shutdown()
