"""What tests of composing share."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gslopes.faces.compose import device


@contextmanager
def as_if_on_cuda() -> Iterator[None]:
    """The device ``cuda`` is the CPU, by the arithmetic of ``compose.device``."""
    blended = device.blended
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device, "blended", lambda *given: blended(*given[:-1], "cpu"))
        yield
