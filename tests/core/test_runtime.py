from __future__ import annotations

import pytest

from gslopes.core.errors import UsageError
from gslopes.core.runtime import pick_device, versions


def test_versions_name_what_can_move_a_number():
    assert {"python", "numpy", "torch", "pyarrow"} <= set(versions())


def test_cpu_is_always_there():
    assert pick_device("cpu") == "cpu"
    assert pick_device("auto") in ("cpu", "cuda")


@pytest.mark.parametrize("device", ["gpu", "cuda:x", "cpu:0", "cuda:99", ""])
def test_a_device_that_is_not_there_is_a_usage_error(device):
    with pytest.raises(UsageError):
        pick_device(device)
