import subprocess
import sys

import pytest

from gslopes.core.errors import UsageError
from gslopes.core.runtime import SHARE, batch_size, pick_device, versions


def test_versions_name_what_can_move_a_number():
    assert {"python", "numpy", "torch", "pyarrow"} <= set(versions())


FORKS = """
import os, time, numpy, {module}
import gslopes.core.runtime
{threads}(2)
def compute():
    {compute}
compute()
time.sleep(0.5)  # its threads have nothing left to do, and sleep
child = os.fork()
if child == 0:
    compute()
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""
CONVOLUTION = "torch.nn.functional.conv2d(torch.ones(8, 16, 64, 64), torch.ones(16, 16, 3, 3))"
BLUR = "cv2.GaussianBlur(numpy.zeros((2000, 2000, 3), numpy.uint8), (0, 0), 5)"


@pytest.mark.parametrize(
    ("module", "threads", "compute"),
    [
        ("cv2", "cv2.setNumThreads", BLUR),
        pytest.param("torch", "torch.set_num_threads", CONVOLUTION, marks=pytest.mark.slow),
    ],
)
def test_a_fork_computes_on(module, threads, compute):
    program = FORKS.format(module=module, threads=threads, compute=compute)
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=60)


@pytest.mark.parametrize("device", ["gpu", "cuda:x", "cpu:0", "cuda:99", ""])
def test_a_device_that_is_not_there_is_a_usage_error(device):
    with pytest.raises(UsageError):
        pick_device(device)


def test_a_cuda_device_is_given_what_its_free_memory_holds(monkeypatch):
    import torch

    free, reserved, allocated = 32 * 900, 320, 32 * 5
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free, 10 * free))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: reserved)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: allocated)
    assert batch_size("cuda:1", 2.0, 7) == int((free + reserved - allocated) * SHARE / 2) == 452
    assert batch_size("cuda", 1e9, 7) == 1
    assert batch_size("cpu", 2.0, 7) == 7
