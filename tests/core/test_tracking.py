"""What the trackers hold afterwards, read back from a local MLflow and an offline run of Weights & Biases."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import gslopes
from gslopes.core import summary, tracking
from gslopes.core.errors import UsageError
from gslopes.core.result import AuditResult
from gslopes.core.tracking import log_mlflow, log_wandb


class Found(AuditResult):
    """An audit with two findings whose names come out alike."""

    @property
    def findings(self) -> pd.DataFrame:
        rows = {"label": ["a/b", "a|b", "few"], "value": [-12.5, 3.0, 1.0], "q": [0.001, 0.2, float("nan")]}
        head = {"model": "onnx:m.onnx", "contrast": "gender", "n": 40, "ci_low": 1.0, "ci_high": 2.0}
        return summary.decided(pd.DataFrame({**rows, **head, "unit": "points", "reason": ""}))


@pytest.fixture
def audit(tmp_path: Path) -> Found:
    run = tmp_path / "run"
    (run / "report").mkdir(parents=True)
    (run / "run.json").write_text(json.dumps({"created": "2026-03-04T10:00:00+00:00"}))
    page = run / "report/index.html"
    page.write_text("<p>Page</p>")
    found = Found(run, page, "So it is.")
    summary.write(run, "photos", found.findings, (50, 40), headline=found.summary, page=page)
    return found


METRICS = {"found": 50.0, "used": 40.0, "decisions/finding": 1.0, "decisions/none": 1.0, "decisions/unjudged": 1.0}
METRICS |= {"onnx_m.onnx/gender/a_b": -12.5, "onnx_m.onnx/gender/a_b 2": 3.0}


def test_metrics_have_names_that_trackers_take_and_no_two_the_same(audit: Found) -> None:
    assert tracking._metrics(json.loads((audit.folder / "summary.json").read_text())) == METRICS


@pytest.fixture
def mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    module = pytest.importorskip("mlflow", reason="MLflow is not installed: pip install 'gslopes[mlflow]'")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    before = module.get_tracking_uri()
    module.set_tracking_uri((tmp_path / "mlruns").as_uri())
    yield module
    module.set_tracking_uri(before)


@pytest.mark.filterwarnings("ignore")  # of MLflow's own imports
def test_a_local_mlflow_holds_metrics_findings_summary_and_page(audit: Found, mlflow, tmp_path: Path) -> None:
    run = log_mlflow(audit)
    assert mlflow.active_run() is None
    data = mlflow.tracking.MlflowClient().get_run(run).data
    assert data.metrics == METRICS
    assert data.params == {
        "audit": "photos",
        "gslopes": gslopes.__version__,
        "date": "2026-03-04",
        "models": "onnx:m.onnx",
    }
    assert data.tags["headline"] == "So it is."
    folder = Path(mlflow.artifacts.download_artifacts(run_id=run, dst_path=str(tmp_path / "back")))
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert files == {"gslopes/summary.json", "gslopes/findings.csv", "gslopes/report/index.html"}
    assert pd.read_csv(folder / "gslopes/findings.csv")["value"].tolist() == [-12.5, 3.0, 1.0]


@pytest.mark.filterwarnings("ignore")
def test_the_active_run_of_mlflow_goes_on_and_the_page_can_stay_at_home(audit: Found, mlflow) -> None:
    with mlflow.start_run() as active:
        assert log_mlflow(audit, page=False) == active.info.run_id
        assert mlflow.active_run() is not None
    names = [one.path for one in mlflow.tracking.MlflowClient().list_artifacts(active.info.run_id, "gslopes")]
    assert sorted(names) == ["gslopes/findings.csv", "gslopes/summary.json"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_wandb_offline_holds_the_same(audit: Found, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wandb = pytest.importorskip("wandb", reason="wandb is not installed: pip install 'gslopes[wandb]'")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    monkeypatch.setenv("WANDB_SILENT", "true")
    with wandb.init(project="ours") as active:
        run = log_wandb(audit)
        assert run == active.id
        assert {name: active.summary[name] for name in METRICS} == METRICS
        assert active.config["headline"] == "So it is."
    (table,) = tmp_path.glob("wandb/offline-run-*/files/media/table/findings*.json")
    assert json.loads(table.read_text())["columns"] == summary.FINDINGS.columns
    assert len(list(tmp_path.glob("wandb/offline-run-*"))) == 1


@pytest.mark.parametrize(("log", "name"), [(log_mlflow, "mlflow"), (log_wandb, "wandb")])
def test_a_tracker_that_is_not_installed_and_an_audit_that_is_not_finished_are_said(
    log, name: str, audit: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(module: str):
        raise ImportError(module)

    with monkeypatch.context() as patch:
        patch.setattr(tracking, "import_module", missing)
        with pytest.raises(UsageError, match=f"{name} is not installed") as error:
            log(audit)
    assert f"gslopes[{name}]" in error.value.hint
    (audit.folder / "summary.json").unlink()
    monkeypatch.setattr(tracking, "import_module", lambda module: None)
    with pytest.raises(UsageError, match=r"has no summary\.json"):
        log(audit)
