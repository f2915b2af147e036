"""Calibrate the whole walk on drawn faces: every planted bias next to its truth, what was recovered, and what was not.

Truth is the slope under do(cue): the same faces drawn again with nothing but the cue changed. The editor has learned
from faces whose hair, background and smile correlate with the cue, as they may in photos from the web; the audited
faces are drawn that way too, so that a comparison of the photos as they are is confounded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.ask.answers import read_picture
from gslopes.core import runfolder, tables
from gslopes.core.executor import Executor
from gslopes.core.files import csv_bytes
from gslopes.core.records import FloatArray
from gslopes.faces.config import values_for
from gslopes.photos import drawn as rendered
from gslopes.photos.drawn.folder import FACES, MASKS
from gslopes.slopes import audit as stages
from gslopes.slopes.demo import SIZE, drawn_in_place
from gslopes.slopes.fit.analysis import analyse
from gslopes.slopes.fit.options import FitOptions
from gslopes.stats.intervals import mean_t
from gslopes.stats.ols import line_weights
from training.sets import CONFOUND
from training.studies.planted_classifier import GRID, PlantedClassifier, totals

EDITOR = "drawn-confounded"
READING = "photo-rate"
ATTRIBUTE = "gender"
LEVEL = 0.05


def calibrate(
    out: Path, executor: Executor, *, faces: int = 1000, sets: int = 10, seed: int = 0, device: str = "auto"
) -> tuple[pd.DataFrame, dict[str, float]]:
    """Draw faces, audit them, compare with the truth; called again, it goes on where it was stopped.

    faces: how many are drawn.  sets: into how many audits they are dealt, each fitted by itself.

    Returns a row a label (see ``compare``), and one number a line (see ``summarise``) with ``reach``: how far the edit
    moves the drawn cue, as a share of drawing the face again. They are written to calibration.csv and calibration.json.

    Raises: StorageError, ModelError.
    """
    runfolder.make_folder(out)
    parameters = drawn_in_place(faces, seed + 200, CONFOUND)
    classifier = PlantedClassifier()
    executor.note(f"{faces:,} drawn faces, {len(GRID)} planted biases, {sets} audits of {faces // sets} photos each.")
    photos, run = out / "photos", out / "run"
    with runfolder.storage(out):
        rendered.write_folder(parameters, photos, SIZE)
    known: dict[str, Any] = {"landmarks": photos / FACES, "masks": photos / MASKS, "editor": EDITOR}
    stages.synthesise(photos, run, executor=executor, seed=seed, device=device, **known)
    stages.score_photos(run, classifier, executor=executor)

    executor.note("truth      every face drawn again at every value")
    values = values_for("gender")
    shares, cue = drawn_again(parameters, classifier, values)
    weights = line_weights(values.astype(np.float64))
    redrawn = float(cue @ weights)
    moved = cue_by_photo(run, classifier, values)
    reach = float(moved["reach"].mean()) / redrawn

    executor.note("fit        each audit by itself")
    slopes = fit_sets(run, sets, seed, moved)
    unedited = totals(classifier.read(rendered.render(parameters, SIZE).pixels)) > 0
    labels = compare(100 * shares @ weights, slopes, naive(unedited, parameters.gender, faces, sets), reach, redrawn)
    summary = {"reach": reach, **summarise(labels)}
    runfolder.write_bytes(out / "calibration.csv", csv_bytes(labels))
    runfolder.write_json(out / "calibration.json", {"faces": faces, "sets": sets, **summary})
    return labels, summary


def drawn_again(
    parameters: rendered.FaceParameters, classifier: PlantedClassifier, values: FloatArray
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Every face drawn with the cue at each value: (labels, K) shares of photos with the label, (K,) mean cue."""
    shares, cue = [], []
    for value in values:
        parts = [parameters.take(slice(start, start + 250)) for start in range(0, len(parameters), 250)]
        pixels = (rendered.render(part.replace(gender=float(value)), SIZE).pixels for part in parts)
        read = np.concatenate([classifier.read(picture) for picture in pixels])
        shares.append((totals(read) > 0).mean(0))
        cue.append(read[:, 0].mean())
    return np.stack(shares, 1), np.array(cue)


def cue_by_photo(run: Path, classifier: PlantedClassifier, values: FloatArray) -> pd.DataFrame:
    """How far the edit moves the cue in each photo, per unit: columns photo, attribute, reading and reach."""
    edits = tables.read(tables.EDITS, run / "edits.parquet").sort_values(["step", "photo"])
    edits = edits[edits["attribute"] == ATTRIBUTE]
    read = []
    for _, group in edits.groupby("step"):
        answers = classifier.ask([read_picture(run, file) for file in group["file"]])
        read.append(np.asarray(answers, np.float64)[:, 0])
    photos = edits.loc[edits["step"] == 0, "photo"].to_numpy()
    reach = np.stack(read, 1) @ line_weights(values.astype(np.float64))
    return pd.DataFrame({"photo": photos, "attribute": ATTRIBUTE, "reading": "cue", "reach": reach})


def fit_sets(run: Path, sets: int, seed: int, seen: pd.DataFrame) -> pd.DataFrame:
    """The photo-rate slopes of each audit, with their ratios to how far the cue was seen to move, and a column ``set``.

    seen: as ``cue_by_photo`` gives it.
    """
    scores, asked = (tables.read_arrow(table, run / f"{table.name}.parquet") for table in (tables.SCORES, tables.ASKED))
    photos = tables.read(tables.PHOTOS, run / "photos.parquet").sort_values("path")["photo"].to_numpy()
    options = FitOptions(estimators=(READING,), permutations=2000, seed=seed)
    frames = []
    for index in range(sets):
        found = analyse(scores, asked, options=options, photos=set(photos[index::sets]), reach=seen)
        slopes = found.slopes[found.slopes["attribute"] == ATTRIBUTE]
        ratios = found.reach[["label", "ratio_low", "ratio_high"]]
        frames.append(slopes.merge(ratios, on="label", how="left").assign(set=index))
    return pd.concat(frames, ignore_index=True)


def naive(unedited: NDArray[np.bool_], cue: FloatArray, faces: int, sets: int) -> NDArray[np.float64]:
    """What a comparison of photos of men and women concludes, with nothing edited, audit by audit.

    unedited: (faces, labels) whether the unedited photo has the label.  cue: (faces,); above 0 is called a man.

    Returns (sets, labels, 2): the difference of the two shares over that of the two mean cues, in percentage points
    per unit, and the p-value of the two-sample t test with unequal variances.
    """
    from scipy.stats import ttest_ind

    out = np.full((sets, unedited.shape[1], 2), np.nan)
    for index in range(sets):
        rows = np.arange(index, faces, sets)
        men = cue[rows] > 0
        difference = float(cue[rows][men].mean() - cue[rows][~men].mean())
        a, b = unedited[rows][men].astype(np.float64), unedited[rows][~men].astype(np.float64)
        out[index, :, 0] = 100 * (a.mean(0) - b.mean(0)) / difference
        varies = (a.std(0) + b.std(0)) > 0
        out[index, varies, 1] = ttest_ind(a[:, varies], b[:, varies], equal_var=False).pvalue
    return out


def compare(
    truth: NDArray[np.float64], slopes: pd.DataFrame, plain: NDArray[np.float64], reach: float, redrawn: float
) -> pd.DataFrame:
    """A row a label, slopes in percentage points per unit of the attribute.

    cue, confounder, amount: what was planted.  truth: the slope under do(cue).
    recovered: mean over the audits; recovered_low, recovered_high: its 95 % t interval over them.
    per_reach: the same over how far the edit moves the cue, that is per unit of the
        cue as it is seen.  covered: share of the audits whose 95 % t interval holds the truth; covered_per_reach: the
        same of Fieller's interval per unit of the cue as it is seen.  flagged: share of the audits with q < 0.05.
    decided: share of the audits that call the label a finding, placebos and all.
    redrawn: slope of the cue where faces are drawn again.
    naive: mean over the audits of what comparing men's and women's photos gives; naive_flagged: share with p < 0.05.
    """
    rows = []
    for index, bias in enumerate(GRID):
        label, real = slopes[slopes["label"] == bias.label], float(truth[index])
        mean, per_cue = mean_t(label["slope"].to_numpy(float)), redrawn * label[["ratio_low", "ratio_high"]]
        rows.append(
            {
                "label": bias.label,
                "cue": bias.cue,
                "confounder": bias.confounder,
                "amount": bias.amount,
                "truth": real,
                "recovered": mean.value,
                "recovered_low": mean.low,
                "recovered_high": mean.high,
                "per_reach": mean.value / reach,
                "covered": float(((label["ci_low"] <= real) & (real <= label["ci_high"])).mean()),
                "covered_per_reach": float(((per_cue["ratio_low"] <= real) & (real <= per_cue["ratio_high"])).mean()),
                "flagged": float((label["q"] < LEVEL).mean()),
                "decided": float((label["decision"] == "finding").mean()),
                "naive": float(plain[:, index, 0].mean()),
                "naive_flagged": float((plain[:, index, 1] < LEVEL).mean()),
                "audits": len(label),
            }
        )
    return pd.DataFrame(rows)


def summarise(labels: pd.DataFrame) -> dict[str, float]:
    """One number a line: errors in percentage points per unit, shares of audits.

    Coverage is over labels with a planted cue: where nothing moves, an interval of no width misses a truth of 0.002.
    """
    no_cue, confounded = labels["cue"] == 0, labels["confounder"] != ""
    summary = {}
    for name, column in (("error", "recovered"), ("error_per_reach", "per_reach"), ("error_naive", "naive")):
        summary[name] = float(np.sqrt(((labels[column] - labels["truth"]) ** 2).mean()))
    for column in ("covered", "covered_per_reach"):
        summary[column] = float(labels.loc[~no_cue, column].mean())
    rates = {"false_positives": "flagged", "findings": "decided", "naive_false_positives": "naive_flagged"}
    for name, column in rates.items():
        summary[f"{name}_nothing"] = float(labels.loc[no_cue & ~confounded, column].mean())
        summary[f"{name}_confounder_only"] = float(labels.loc[no_cue & confounded, column].mean())
    return summary
