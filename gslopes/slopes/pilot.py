"""What a pilot run tells about a label, for planning the audit: the slopes of its photos, or of its people's photos."""

from collections.abc import Mapping
from functools import reduce
from pathlib import Path

import numpy as np
from pandas import Series

from gslopes.core import UsageError, from_dict, placebo, runfolder, show, tables
from gslopes.photos.people import read_about
from gslopes.slopes.config import FitConfig
from gslopes.slopes.fitting import answers_of, verdicts_of
from gslopes.slopes.measures.analysis import Fit
from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.measures.kinds import SCALE, slopes_by_measure
from gslopes.slopes.measures.options import Study
from gslopes.slopes.measures.power import Pilot, Pool
from gslopes.stats.ols import line_weights


def read_pilot(run: Path, label: str, classifier: str, attribute: str) -> tuple[Pilot, str]:
    """The label as the run saw it, next to all others, and the unit of the slopes.

    Photos count that have placebo sweeps, too.  Photos of one person are drawn together if the run's fit has a cluster.
    classifier, attribute: needed if the run has several.

    Raises: UsageError if the run is not fitted, has no placebo sweeps, or did not judge this label.
    """
    if not (run / "placebos.parquet").is_file():
        raise UsageError(
            f"{show(run)} is not fitted.", f"Fit it: gslopes audit {show(run)} --only fit."
        )
    row = _judged(run, label, classifier, attribute)
    manifest = runfolder.read_manifest(run)
    config = from_dict(FitConfig, manifest["config"]["fit"])
    scores, asked, _ = answers_of(run, config)
    study = Study(
        values=manifest["values"],
        about=None if config.photos_csv is None else read_about(config.photos_csv, run),
        cluster=config.cluster,
        gates=verdicts_of(run, manifest["values"]),
    )
    fit = Fit(scores, asked, study, config.options(0))
    names = row["classifier"], row["attribute"]
    fakes = fit.placebos(*names)
    if set(fakes) != set(placebo.KINDS):
        raise UsageError("The pilot run has no placebo sweeps.", "Run it without --no-placebo.")
    return pilot_of(fit.sweep(*names), fakes, label, config.min_varying), row["unit"]


def _judged(run: Path, label: str, classifier: str, attribute: str) -> Series:
    """The label's row of slopes to read.  Raises: as ``read_pilot``."""
    rows = tables.reading(tables.read(tables.SLOPES, run / "slopes.parquet"))
    for column, name in (("classifier", classifier), ("attribute", attribute)):
        names = sorted(map(str, placebo.real(rows)[column].unique()))
        if not name and len(names) > 1:
            raise UsageError(
                f"{show(run)} has several: {', '.join(names)}.", f"Name one with --{column}."
            )
        if name and name not in names:
            raise UsageError(f"{show(run)} has no {column} {name}.", f"It has {', '.join(names)}.")
        chosen = name or names[0]
        rows = rows[rows[column] == chosen]
    judged = rows.query("decision != 'unjudged'")
    if label not in set(judged["label"]):
        some = ", ".join(sorted(map(str, judged["label"]))[:8]) or "none"
        raise UsageError(f"{show(run)} has not judged the label {label}.", f"It has judged {some}.")
    return judged.query("label == @label").iloc[0]


def pilot_of(edit: Answers, fakes: Mapping[str, Answers], label: str, least: int = 10) -> Pilot:
    """A label's slopes, and those of the others, of the photos of all sweeps.

    edit: answers along the edit, with their units.  fakes: kind of placebo, all of them, to the answers along it.
    least: see ``Pilot``.
    """
    sweeps = [edit, *(fakes[kind] for kind in placebo.KINDS)]
    photos = reduce(np.intersect1d, [sweep.photos.astype(str) for sweep in sweeps])
    sweeps = [sweep.among(photos) for sweep in sweeps]
    labels = reduce(np.union1d, [sweep.labels for sweep in sweeps])
    labels = labels[np.argsort(labels != label, kind="stable")]
    edit = sweeps[0]
    order = np.argsort(edit.codes, kind="stable")
    single = [slopes_by_measure(sweep.single, labels).sums for sweep in sweeps]
    slopes = np.stack([sums.toarray()[:, order] for sums in single])
    changes = edit.present.any(1) & ~edit.present.all(1)
    varies = np.zeros(slopes.shape[1:], bool)
    varies[edit.places_in(labels)[edit.label[changes]], edit.photo[changes]] = True
    varies = varies[:, order] | (slopes[0] != 0)
    bound = np.inf
    if label not in edit.measures:
        bound = SCALE["rate"] * np.maximum(line_weights(edit.values), 0).sum()
    return Pilot(
        Pool(slopes, varies, np.bincount(edit.codes), np.arange(len(labels))), least, float(bound)
    )
