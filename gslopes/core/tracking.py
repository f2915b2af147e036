"""An audit in the log of an experiment tracker: MLflow, or Weights & Biases; each is an extra."""

from __future__ import annotations

import math
import re
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from gslopes.core.errors import UsageError
from gslopes.core.files import csv_bytes, read_json
from gslopes.core.opening import load
from gslopes.core.result import AuditResult
from gslopes.core.summary import NAME

_PLAIN = re.compile(r"[^\w.\- ]+")  # what MLflow allows in a name, but for the slash between its parts


def log_mlflow(audit: str | Path | AuditResult, *, page: bool = True) -> str:
    """Log a finished audit with MLflow: into the active run, or into a new one that it ends.

    Metrics: found, used, each decision's count, and the estimate of every row of ``summary.json``, named
    ``model/contrast/label``.  Parameters: audit, models, version, date.  Tag ``headline``.  Artifacts: summary.json,
    findings.csv and, if ``page``, the page, which shows photos unless it was made without.

    audit: a run folder or what an audit returned.

    Returns the id of the run.

    Raises: UsageError if MLflow is not installed, or the audit is not finished; what MLflow raises.

        gslopes.log_mlflow("RUN")
    """
    mlflow = _module("mlflow", "mlflow")
    found, content = _finished(audit)
    active, own = mlflow.active_run(), mlflow.active_run() is None
    active = mlflow.start_run(run_name=found.folder.name) if own else active
    try:
        mlflow.log_params(_facts(content))
        mlflow.set_tag("headline", content["headline"][:5000])
        mlflow.log_metrics(_metrics(content))
        with tempfile.TemporaryDirectory() as folder:
            for file in _files(found, Path(folder)):
                mlflow.log_artifact(str(file), "gslopes")
        if page and found.page is not None:
            mlflow.log_artifacts(str(found.page.parent), "gslopes/report")
    finally:
        if own:
            mlflow.end_run()
    return str(active.info.run_id)


def log_wandb(audit: str | Path | AuditResult, *, page: bool = True) -> str:
    """Log a finished audit with Weights & Biases: into the active run, or into a new one of the project ``gslopes``.

    The summary holds the metrics of ``log_mlflow``, the configuration its parameters and the headline; ``findings`` is
    a table; an artifact of the type ``audit`` holds summary.json, findings.csv and, if ``page``, the page, which shows
    photos unless it was made without.

    audit: a run folder or what an audit returned.

    Returns the id of the run.

    Raises: UsageError if wandb is not installed, or the audit is not finished; what wandb raises.

        gslopes.log_wandb("RUN")
    """
    wandb = _module("wandb", "wandb")
    found, content = _finished(audit)
    own = wandb.run is None
    active = wandb.init(project="gslopes", job_type="audit", name=found.folder.name) if own else wandb.run
    try:
        active.config.update({**_facts(content), "headline": content["headline"]}, allow_val_change=True)
        active.summary.update(_metrics(content))
        active.log({"findings": wandb.Table(dataframe=found.findings)})
        artifact = wandb.Artifact(_PLAIN.sub("-", f"audit-{found.folder.name}").replace(" ", "-"), type="audit")
        with tempfile.TemporaryDirectory() as folder:
            for file in _files(found, Path(folder)):
                artifact.add_file(str(file))
            if page and found.page is not None:
                artifact.add_dir(str(found.page.parent), name="report")
            active.log_artifact(artifact)
    finally:
        if own:
            active.finish()
    return str(active.id)


def _module(name: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise UsageError(f"{name} is not installed.", f"pip install 'gslopes[{extra}]'") from error


def _finished(audit: str | Path | AuditResult) -> tuple[AuditResult, dict[str, Any]]:
    """The audit with its summary.  Raises: UsageError if it has none."""
    found = audit if isinstance(audit, AuditResult) else load(audit)
    path = found.folder / NAME
    if not path.is_file():
        raise UsageError(f"{found.folder} has no {NAME}.", "Finish the audit: repeat the command that began it.")
    content: dict[str, Any] = read_json(path)
    return found, content


def _facts(content: dict[str, Any]) -> dict[str, str]:
    facts = {name: str(content[name]) for name in ("audit", "gslopes", "date")}
    return facts | {"models": ", ".join(content["models"])[:500]}


def _metrics(content: dict[str, Any]) -> dict[str, float]:
    """Name to number; of two rows whose names come out alike the second has a number at its end."""
    found = {name: float(content[name]) for name in ("found", "used")}
    found |= {f"decisions/{code}": float(count) for code, count in content["decisions"].items()}
    for row in content["rows"]:
        if row["value"] is None or not math.isfinite(row["value"]):
            continue
        parts = [_PLAIN.sub("_", str(row[key])).strip(" .") or "_" for key in ("model", "contrast", "label")]
        name, count = "/".join(parts)[:240], 2
        while name in found:
            name, count = f"{'/'.join(parts)[:240]} {count}", count + 1
        found[name] = float(row["value"])
    return found


def _files(found: AuditResult, folder: Path) -> list[Path]:
    table = folder / "findings.csv"
    table.write_bytes(csv_bytes(found.findings))
    return [found.folder / NAME, table]
