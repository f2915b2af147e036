"""``gslopes.audit`` and ``gslopes.validate_run``: the walk for people who work in Python."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from gslopes.core.config import check_names
from gslopes.core.records import Classifier
from gslopes.run.config import Options
from gslopes.score.classifiers.function import Function, FunctionClassifier

if TYPE_CHECKING:
    from gslopes.run.outcome import Audit


def audit(
    photos: str | Path,
    out: str | Path,
    *,
    classifier: str | Function | Classifier | Sequence[str | Function | Classifier] | None = None,
    classifiers: Sequence[Classifier] = (),
    progress: bool = False,
    trust: bool = False,
    **options: Any,
) -> Audit:
    """Measure how a classifier's labels go along with how the faces in a folder of photos look.

    Called again with the same arguments, it resumes where it was stopped, and does nothing twice.

    photos: the folder.  out: the run folder, made if missing.
    classifier: a name such as ``celeba-tagger`` or ``onnx:model.onnx``, a function, or several. A function takes a
        list of pictures, (H, W, 3) uint8 RGB arrays of any sizes, and returns for each a mapping of label to score in
        [0, 1], or None where it will not answer.
    classifiers: ready objects, beside those of ``classifier``.
    progress: show lines of progress on stderr.
    trust: a classifier in a file that is a program, ``torchscript:FILE``, may run with your rights; remembered for this
        run folder and file, see ``gslopes.core.trust``.
    options: as of ``gslopes audit --help``, with underscores: attribute, steps, range, placebo, gate, limit, seed, ...

    Returns an ``Audit``, which shows itself in a notebook: run (Path), page (Path), slopes (DataFrame; one row a
    classifier, attribute, label and estimator), photos, used, skipped, dropped.  Columns of ``slopes``: classifier,
    attribute, label, n, active, varying, y_centre, slope, intercept, se, t, p, ci_low, ci_high, p_perm, q, estimator,
    unit, boot_low, boot_high, bca_low, bca_high, p_max, agreement, note, decision (finding, placebo, open, none,
    unjudged), reason, detail, and more: see core.tables.SLOPES.

    Raises: UsageError, ModelError, ClassifierError, StorageError; all that can be known beforehand before any work.

        def brightness(pictures):
            return [{"bright": float(picture.mean() / 255)} for picture in pictures]

        audit = gslopes.audit("photos", "run", attribute="gender", classifier=brightness)
    """
    from gslopes.executors import OneProcess
    from gslopes.run import stages

    check_names(
        "audit", options, {*Options.__annotations__, "classifier", "classifiers", "progress", "components", "trust"}
    )
    given = _listed(classifier)
    names = tuple(one for one in given if isinstance(one, str))
    objects = [one for one in given if not isinstance(one, str)]
    ready = (*(FunctionClassifier(one) if inspect.isroutine(one) else one for one in objects), *classifiers)
    if names:
        options["classifier"] = names
    executor = OneProcess(progress=progress)
    return stages.audit(photos, out, classifiers=ready, executor=executor, trust=trust, **options)


def validate_run(run: str | Path, *, photos_csv: str | Path | None = None, groups: Sequence[str] = ()) -> pd.DataFrame:
    """Judge the sweeps of a run folder, if that was not done: do they move their target, and what else?

    photos_csv, groups: a CSV about the photos, and those of its columns that make groups.

    Returns one row an attribute and measure: attribute, measure (``kept``, ``shift``, ``monotone``, ``leakage``,
    ``identity``, ``shift by <column>``), name, value, low, high (95 % interval over photos).

    Raises: UsageError, ModelError, TableError, StorageError.
    """
    from gslopes.executors import OneProcess
    from gslopes.run import stages
    from gslopes.run.validation import summarise

    folder = Path(run)
    stages.run_gate(folder, OneProcess(), device="cpu")
    rows: list[tuple[str, str, str, Any, Any, Any]] = []
    for one in summarise(folder, None if photos_csv is None else Path(photos_csv), groups):
        rows.append((one.attribute, "kept", "", one.kept / max(one.sweeps, 1), None, None))
        measured = [("shift", "", one.shift), ("monotone", "", one.monotone)]
        measured += [("leakage", name, share) for name, share in one.leakage.items()]
        measured += [("identity", name, cosine) for name, cosine in one.identity.items()]
        for column, by_group in one.groups.items():
            measured += [(f"shift by {column}", name, group.number) for name, group in by_group.each.items()]
        rows += [(one.attribute, kind, name, e.value, e.low, e.high) for kind, name, e in measured if e is not None]
    return pd.DataFrame(rows, columns=["attribute", "measure", "name", "value", "low", "high"])


def _listed(classifier: Any) -> list[Any]:
    if classifier is None:
        return []
    return list(classifier) if isinstance(classifier, (list, tuple)) else [classifier]
