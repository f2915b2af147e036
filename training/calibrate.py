"""Calibrate the whole walk on drawn faces: every planted bias next to its truth, what was recovered, and what was not.

Truth is the slope under do(cue): the same faces drawn again with nothing but the cue changed. The editor has learned
from faces whose hair, background and smile correlate with the cue, as they may in photos from the web; the audited
faces are drawn that way too, so that a comparison of the photos as they are is confounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.ask.questions import read_picture
from gslopes.core import runfolder, tables
from gslopes.core.executor import Executor
from gslopes.core.files import csv_bytes
from gslopes.core.records import Answer, ByteArray, FloatArray
from gslopes.faces.config import values_for
from gslopes.photos.decode import decode
from gslopes.photos.drawn import FACES, MASKS
from gslopes.slopes import audit as stages
from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.options import FitOptions, Study
from gslopes.stats.intervals import mean_t
from gslopes.stats.ols import line_weights
from training import drawn as rendered
from training.data import CONFOUND
from training.drawn import SIZE, drawn_in_place

EDITOR = "drawn-confounded"
READING = "photo-rate"
ATTRIBUTE = "gender"
LEVEL = 0.05
CONFOUNDERS = ("hair", "background", "smile")

# Where each confounder shows in photos of SIZE pixels: boxes x0 y0 x1 y1, and the side of the squares averaged there.
# Hair and background are read outside the face's mask (38 to 121 across, 42 to 133 down), the smile inside it.
ZONES: dict[str, tuple[tuple[tuple[int, int, int, int], ...], int]] = {
    "background": (((0, 0, 160, 16),), 8),
    "hair": (((0, 40, 36, 160), (124, 40, 160, 160), (36, 138, 124, 160)), 6),
    "smile": (((52, 90, 108, 132),), 4),
}


@dataclass(frozen=True, slots=True)
class Bias:
    """One label: returned if tone + cue * (its reading) + amount * confounder + offset is above 0.

    Readings run from about -2 to 2. tone, the skin's, is drawn evenly from (-2, 2) and no part of the edit, so the
    share of photos with the label is a straight line in the cue.
    """

    cue: float
    confounder: str = ""
    amount: float = 0.0
    offset: float = 0.0

    @property
    def label(self) -> str:
        """Its name: what was planted."""
        parts = [f"cue {self.cue:+.2f}"] if self.cue else []
        parts += [f"{self.confounder} {self.amount:+.2f}"] if self.confounder else []
        return " and ".join(parts) or f"nothing {self.offset:+.1f}"


STRENGTHS = (-0.6, -0.3, -0.15, 0.0, 0.15, 0.3, 0.6)
GRID: tuple[Bias, ...] = (
    *(Bias(cue) for cue in STRENGTHS if cue),
    *(Bias(cue, name, 0.5) for name in CONFOUNDERS for cue in STRENGTHS),
    *(Bias(0.0, offset=offset) for offset in (-0.8, -0.4, 0.0, 0.4, 0.8)),
)


class PlantedClassifier:
    """A records.Classifier with the biases of ``GRID``: it reads cue, tone and confounders only from the pixels."""

    name = "planted"
    version = "2"
    batch = 64

    def __init__(self) -> None:
        self.points = rendered.render(drawn_in_place(2, 0), SIZE).points.mean(0)

    def ask(self, pictures: list[bytes]) -> list[object]:
        """Encoded pictures to [cue, tone, hair, background, smile] each."""
        return list(self.read(np.stack([decode(data, "picture")[0] for data in pictures])).tolist())

    def read(self, pixels: ByteArray) -> NDArray[np.float64]:
        """(B, SIZE, SIZE, 3) uint8 RGB to (B, 5): cue, tone, hair, background, smile, each from about -2 to 2."""
        points: FloatArray = np.broadcast_to(self.points, (len(pixels), 5, 2))
        columns = [rendered.gender_readout(pixels, points), rendered.tone_readout(pixels, points)]
        return np.stack([*columns, *(confounder(pixels, name) for name in CONFOUNDERS)], 1).astype(
            np.float64
        )

    def parse(self, raw: object) -> Answer:
        """The labels whose sum is positive; the score grows with it."""
        sums = totals(np.asarray(raw, np.float64)[None])[0]
        shares = 1 / (1 + np.exp(-sums))
        pairs = zip(GRID, shares.tolist(), strict=True)
        return Answer(
            "answered", tuple((bias.label, share) for bias, share in pairs if share > 0.5)
        )


def totals(readings: NDArray[np.float64]) -> NDArray[np.float64]:
    """Readings (n, 5) to (n, labels): a label is present if its sum is above 0."""
    cue, tone, *others = readings.T
    side = dict(zip(CONFOUNDERS, others, strict=True))
    return np.stack(
        [tone + b.cue * cue + b.amount * side.get(b.confounder, cue * 0) + b.offset for b in GRID],
        1,
    )


def confounder(pixels: ByteArray, name: str) -> NDArray[np.float64]:
    """The reading of one confounder, (n, SIZE, SIZE, 3) uint8 RGB to (n,), from about -2 to 2."""
    centre, spread, weights = _weights()[name]
    return np.asarray((_features(pixels, name) - centre) / spread @ weights)


@cache
def _weights() -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]]:
    """Centre, spread and weights of each confounder's features: ridge regression to 1,200 faces, nothing confounded.

    Correlation with the truth on other faces: 0.99 for background and smile, 0.9 and more for hair.
    """
    parameters = drawn_in_place(1200, 5)
    weights = {}
    pixels = rendered.render(parameters, SIZE).pixels
    for name in CONFOUNDERS:
        features = _features(pixels, name)
        centre = features.mean(0)
        spread = features.std(0) + 1e-6
        centre[-1], spread[-1] = 0, 1
        x = (features - centre) / spread
        truth = 4 * getattr(parameters, name).astype(np.float64) - 2
        weights[name] = centre, spread, np.linalg.solve(x.T @ x + np.eye(x.shape[1]), x.T @ truth)
    return weights


def _features(pixels: ByteArray, name: str) -> NDArray[np.float64]:
    """Mean log colours of squares of the confounder's zones, their squares, and a constant, (n, features)."""
    zones, side = ZONES[name]
    means = []
    for x0, y0, x1, y1 in zones:
        rows = (y1 - y0) // side
        columns = (x1 - x0) // side
        logs = np.log1p(
            pixels[:, y0 : y0 + rows * side, x0 : x0 + columns * side].astype(np.float64)
        )
        squares = logs.reshape(len(pixels), rows, side, columns, side, 3)
        means.append(squares.mean((2, 4)).reshape(len(pixels), -1))
    colours = np.concatenate(means, 1)
    return np.concatenate([colours, colours**2, np.ones((len(colours), 1))], 1)


def calibrate(
    out: Path,
    executor: Executor,
    *,
    faces: int = 1000,
    sets: int = 10,
    seed: int = 0,
    device: str = "auto",
) -> tuple[pd.DataFrame, dict[str, float]]:
    """Draw faces, audit them, compare with the truth; called again, it resumes.

    faces: how many are drawn.  sets: into how many audits they are dealt, each fitted by itself.

    Returns a row a label (see ``compare``), and one number a line (see ``summarise``) with ``reach``: how far the edit
    moves the drawn cue, as a share of drawing the face again. They are written to calibration.csv and calibration.json.

    Raises: StorageError, ModelError.
    """
    runfolder.make_folder(out)
    parameters = drawn_in_place(faces, seed + 200, CONFOUND)
    classifier = PlantedClassifier()
    executor.note(
        f"{faces:,} drawn faces, {len(GRID)} planted biases, {sets} audits of {faces // sets} photos each."
    )
    drawn = out / "drawn"
    run = out / "run"
    with runfolder.storage(out):
        photos = rendered.write_folder(parameters, drawn, SIZE)
    truths: dict[str, Any] = {"landmarks": drawn / FACES, "masks": drawn / MASKS, "editor": EDITOR}
    stages.synthesise(photos, run, executor=executor, seed=seed, device=device, **truths)
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
    labels = compare(
        100 * shares @ weights,
        slopes,
        naive(unedited, parameters.gender, faces, sets),
        reach,
        redrawn,
    )
    summary = {"reach": reach, **summarise(labels)}
    runfolder.write_bytes(out / "calibration.csv", csv_bytes(labels))
    runfolder.write_json(out / "calibration.json", {"faces": faces, "sets": sets, **summary})
    return labels, summary


def drawn_again(
    parameters: rendered.FaceParameters, classifier: PlantedClassifier, values: FloatArray
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Every face drawn with the cue at each value: (labels, K) shares of photos with the label, (K,) mean cue."""
    shares = []
    cue = []
    for value in values:
        parts = [
            parameters.take(slice(start, start + 250)) for start in range(0, len(parameters), 250)
        ]
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
    scores, asked_rows = (
        tables.read_arrow(table, run / f"{table.name}.parquet")
        for table in (tables.SCORES, tables.ASKED)
    )
    photos = (
        tables.read(tables.PHOTOS, run / "photos.parquet").sort_values("path")["photo"].to_numpy()
    )
    options = FitOptions(estimators=(READING,), permutations=2000, seed=seed)
    frames = []
    for index in range(sets):
        study = Study(photos=set(photos[index::sets]), reach=seen)
        analysis = analyse(scores, asked_rows, study, options=options)
        slopes = analysis.slopes[analysis.slopes["attribute"] == ATTRIBUTE]
        ratios = analysis.reach[["label", "ratio_low", "ratio_high"]]
        frames.append(slopes.merge(ratios, on="label", how="left").assign(set=index))
    return pd.concat(frames, ignore_index=True)


def naive(
    unedited: NDArray[np.bool_], cue: FloatArray, faces: int, sets: int
) -> NDArray[np.float64]:
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
        a = unedited[rows][men].astype(np.float64)
        b = unedited[rows][~men].astype(np.float64)
        out[index, :, 0] = 100 * (a.mean(0) - b.mean(0)) / difference
        varies = (a.std(0) + b.std(0)) > 0
        out[index, varies, 1] = ttest_ind(a[:, varies], b[:, varies], equal_var=False).pvalue
    return out


def compare(
    truth: NDArray[np.float64],
    slopes: pd.DataFrame,
    plain: NDArray[np.float64],
    reach: float,
    redrawn: float,
) -> pd.DataFrame:
    """A row a label, slopes in percentage points per unit of the attribute.

    cue, confounder, amount: what was planted.  truth: the slope under do(cue).
    recovered: mean over the audits; recovered_low, recovered_high: its 95 % t interval over them.
    per_reach: the same over how far the edit moves the cue, that is per unit of the
        cue as it is seen.  covered: share of the audits whose 95 % t interval holds the truth; covered_per_reach: the
        same of Fieller's interval per unit of the cue as it is seen.  flagged: share of the audits with q < 0.05.
    decided: share of the audits that call the label a finding, placebos and all.
    redrawn: slope of the cue when faces are drawn again.
    naive: mean over the audits of what comparing men's and women's photos gives; naive_flagged: share with p < 0.05.
    """
    rows = []
    for index, bias in enumerate(GRID):
        label = slopes[slopes["label"] == bias.label]
        real = float(truth[index])
        mean = mean_t(label["slope"].to_numpy(float))
        per_cue = redrawn * label[["ratio_low", "ratio_high"]]
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
                "covered_per_reach": float(
                    ((per_cue["ratio_low"] <= real) & (real <= per_cue["ratio_high"])).mean()
                ),
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

    Coverage is over labels with a planted cue: if nothing moves, an interval of no width misses a truth of 0.002.
    """
    no_cue = labels["cue"] == 0
    confounded = labels["confounder"] != ""
    summary = {}
    for name, column in (
        ("error", "recovered"),
        ("error_per_reach", "per_reach"),
        ("error_naive", "naive"),
    ):
        summary[name] = float(np.sqrt(((labels[column] - labels["truth"]) ** 2).mean()))
    for column in ("covered", "covered_per_reach"):
        summary[column] = float(labels.loc[~no_cue, column].mean())
    rates = {
        "false_positives": "flagged",
        "findings": "decided",
        "naive_false_positives": "naive_flagged",
    }
    for name, column in rates.items():
        summary[f"{name}_nothing"] = float(labels.loc[no_cue & ~confounded, column].mean())
        summary[f"{name}_confounder_only"] = float(labels.loc[no_cue & confounded, column].mean())
    return summary
