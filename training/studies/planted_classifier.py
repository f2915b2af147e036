"""A classifier with biases that we know, because we planted them: it reads cue, tone and confounders from pixels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from gslopes.core.records import Answer, ByteArray, FloatArray
from gslopes.photos import drawn as rendered
from gslopes.photos.decode import decode
from gslopes.slopes.demo import SIZE, drawn_in_place

CONFOUNDERS = ("hair", "background", "smile")

# Where each confounder shows in photos of SIZE pixels: boxes x0 y0 x1 y1, and the side of the squares averaged there.
# Hair and background are read outside the face's mask (38 to 121 across, 42 to 133 down), the smile inside it.
Boxes = tuple[tuple[int, int, int, int], ...]
_ZONES: dict[str, tuple[Boxes, int]] = {
    "background": (((0, 0, 160, 16),), 8),
    "hair": (((0, 40, 36, 160), (124, 40, 160, 160), (36, 138, 124, 160)), 6),
    "smile": (((52, 90, 108, 132),), 4),
}
_FITTED_ON, _SEED, _RIDGE = 1200, 5, 1.0


@dataclass(frozen=True, slots=True)
class Bias:
    """One label: returned where tone + cue * (its reading) + amount * confounder + offset is above 0.

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
    """A records.Classifier with the biases of ``GRID``, which looks at nothing but the picture."""

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
        return np.stack([*columns, *(readout(pixels) for readout in readouts())], 1).astype(np.float64)

    def parse(self, raw: object) -> Answer:
        """The labels whose sum is positive; the score grows with it."""
        sums = totals(np.asarray(raw, np.float64)[None])[0]
        shares = 1 / (1 + np.exp(-sums))
        pairs = zip(GRID, shares.tolist(), strict=True)
        return Answer("answered", tuple((bias.label, share) for bias, share in pairs if share > 0.5))


def totals(readings: NDArray[np.float64]) -> NDArray[np.float64]:
    """Readings (n, 5) to (n, labels): a label is there where its sum is above 0."""
    cue, tone, *others = readings.T
    side = dict(zip(CONFOUNDERS, others, strict=True))
    return np.stack([tone + b.cue * cue + b.amount * side.get(b.confounder, cue * 0) + b.offset for b in GRID], 1)


@dataclass(frozen=True, slots=True, eq=False)
class Readout:
    """A linear reading of one confounder.  zones, side: as in _ZONES.  centre, spread, weights: of the features."""

    zones: Boxes
    side: int
    centre: NDArray[np.float64]
    spread: NDArray[np.float64]
    weights: NDArray[np.float64]

    def __call__(self, pixels: ByteArray) -> NDArray[np.float64]:
        """(n, SIZE, SIZE, 3) uint8 RGB to (n,), from about -2 to 2."""
        features = (_features(pixels, self.zones, self.side) - self.centre) / self.spread
        return np.asarray(features @ self.weights)


@cache
def readouts() -> tuple[Readout, ...]:
    """The readings of ``CONFOUNDERS``, fitted by ridge regression to 1,200 rendered faces, nothing confounded.

    Correlation with the truth on other faces: 0.99 for background and smile, 0.9 and more for hair.
    """
    parameters = drawn_in_place(_FITTED_ON, _SEED)
    pixels = rendered.render(parameters, SIZE).pixels
    return tuple(_fit(name, pixels, getattr(parameters, name)) for name in CONFOUNDERS)


def _fit(name: str, pixels: ByteArray, shown: FloatArray) -> Readout:
    """The reading of one confounder.  shown: (n,) what was drawn, from 0 to 1."""
    zones, side = _ZONES[name]
    features = _features(pixels, zones, side)
    truth = 4 * shown.astype(np.float64) - 2
    centre, spread = features.mean(0), features.std(0) + 1e-6
    centre[-1], spread[-1] = 0, 1
    x = (features - centre) / spread
    weights = np.linalg.solve(x.T @ x + _RIDGE * np.eye(x.shape[1]), x.T @ truth)
    return Readout(zones, side, centre, spread, weights)


def _features(pixels: ByteArray, zones: Boxes, side: int) -> NDArray[np.float64]:
    """Mean log colours of squares of the zones, their squares, and a constant, (n, features)."""
    means = np.concatenate([_means(pixels, zone, side) for zone in zones], 1)
    return np.concatenate([means, means**2, np.ones((len(means), 1))], 1)


def _means(pixels: ByteArray, zone: tuple[int, int, int, int], side: int) -> NDArray[np.float64]:
    x0, y0, x1, y1 = zone
    logs = np.log1p(pixels[:, y0:y1, x0:x1].astype(np.float64))
    n, height, width, _ = logs.shape
    rows, columns = height // side, width // side
    cut = logs[:, : rows * side, : columns * side].reshape(n, rows, side, columns, side, 3)
    return np.asarray(cut.mean((2, 4)).reshape(n, -1))
