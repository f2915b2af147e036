"""Ray hands each worker a GPU of its own: on a cluster that is said to have two."""

from collections.abc import Iterator
from typing import Any

import pytest

from gslopes.frame.executors import RayCluster
from tests.frame.executors.scripted_tasks import ScriptedTasks

pytestmark = [pytest.mark.ray, pytest.mark.slow]


@pytest.fixture
def two_gpus(monkeypatch) -> Iterator[Any]:
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'gslopes[ray]'")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    quiet = {"log_to_driver": False, "logging_level": "ERROR", "include_dashboard": False}
    ray.init(address="local", num_cpus=4, num_gpus=2, object_store_memory=100_000_000, **quiet)
    yield ray
    ray.shutdown()


@pytest.mark.parametrize(("device", "words"), [("cuda", {"cuda"}), ("cpu", {"cpu"})])
def test_each_worker_is_shown_its_own_gpu(two_gpus, tmp_path, capfd, device, words):
    tasks = ScriptedTasks(tmp_path, dict.fromkeys(range(2), "meets"))
    RayCluster(2, device, progress=True)(
        tasks, dict.fromkeys(range(2), 2), label="tasks", unit="parts"
    )
    assert {word for word, _, _ in tasks.done().values()} == words
    assert len(set(tasks.pids())) == 2
    if device == "cuda":
        assert tasks.cards() == {"0", "1"}
        assert "2 workers, on 1 machine with 2 GPUs" in capfd.readouterr().err
