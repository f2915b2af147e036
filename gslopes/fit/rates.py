"""How many photos got each label at each step of a sweep: the counts under every estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gslopes.fit.answers import Answers, gather

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """One classifier's labels along the sweep of one attribute, over the photos answered at all K values.

    values: (K,) float64, increasing; the centre is the middle one.
    labels: (L,) str, every label that the classifier returned for this attribute, sorted.
    photos: n, how many photos were answered at all K values; the others drop out whole.
    counts: (L, K) int64, photos with the label at the step.
    active: (L,) int64, photos with the label at one step at least.
    """

    classifier: str
    attribute: str
    values: Array
    labels: NDArray[np.object_]
    photos: int
    counts: Integers
    active: Integers

    @property
    def shares(self) -> Array:
        """y_k, (L, K): the share of the n photos with the label at step k; 0 if there is no photo."""
        return np.asarray(self.counts / max(self.photos, 1), dtype=np.float64)

    @property
    def relative(self) -> Array:
        """z_k = y_k / y_c, (L, K); NaN for a label that no photo has at the centre."""
        centre = self.counts[:, [len(self.values) // 2]].astype(np.float64)
        relative: Array = np.divide(self.counts, centre, out=np.full(self.counts.shape, np.nan), where=centre > 0)
        return relative


def count(scores: pa.Table, asked: pa.Table, values: Mapping[str, Array]) -> list[Rates]:
    """Count labels, one result for each pair of classifier and attribute that has scores, in that order.

    A label counts for a picture if its row is there, whatever its score, and once if it is there twice.

    scores, asked: Arrow tables of the schemas in core.tables; ``asked`` decides which photos count.
    values: attribute to its (K,) values.

    Source: Joo & Kärkkäinen 2020, section 4.3.
    """
    return [rates(answers) for answers in gather(scores, asked, values)]


def rates(answers: Answers) -> Rates:
    """Counts of every label of one classifier and attribute."""
    size, width = len(answers.labels), len(answers.values)
    counts = np.zeros((size, width), dtype=np.int64)
    for step in range(width):
        counts[:, step] = np.bincount(answers.label[answers.present[:, step]], minlength=size)
    active = np.bincount(answers.label, minlength=size)
    values, photos = answers.values, len(answers.photos)
    return Rates(answers.classifier, answers.attribute, values, answers.labels, photos, counts, active)
