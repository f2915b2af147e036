"""Which of the returned labels count as present: a cut per classifier, decided when slopes are fitted.

Services are asked for all that one price buys, so that a later question costs nothing; but the paper's services were
asked as they come, and a label that every picture has, with some score, has no slope. A cut says what counts: scores
from a threshold on, the highest few of a picture, or both. Rows below it are as if they had not been returned, so
asking for more never changes a slope (but where scores are equal at the last place that counts: a service that is asked
for no more leaves some of them out).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gslopes.core.errors import ConfigError
from gslopes.core.tables import EVERY


@dataclass(frozen=True, slots=True)
class Cut:
    """What counts as present.

    score: the least, in [0, 1]; 0: any.  most: labels a picture, those with the highest scores; 0: all.
        Labels that are tied at the last place all count.
    """

    score: float = 0.0
    most: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.score <= 1 or self.most < 0:
            raise ConfigError(f"A presence of {self} is none.", "A score is in [0, 1], a number of labels 0 or more.")

    def __str__(self) -> str:
        parts = [f"score at least {self.score:g}"] if self.score else []
        parts += [f"the {self.most} highest of a picture"] if self.most else []
        return ", ".join(parts) or EVERY


ALL = Cut()


def present(scores: pa.Table, cuts: Mapping[str, Cut]) -> pa.Table:
    """The rows of the labels that count.

    scores: an Arrow table of ``core.tables.SCORES``, rows in any order.  cuts: by classifier; others keep every row.
    Returns: the same rows in the same order, fewer of them.
    """
    cuts = {name: cut for name, cut in cuts.items() if cut != ALL}
    if not cuts or not len(scores):
        return scores
    classifier, score = scores.column("classifier"), scores.column("score").to_numpy()
    keep = np.ones(len(scores), dtype=bool)
    for name, cut in cuts.items():
        rows = np.flatnonzero(pc.equal(classifier.cast(pa.string()), name).to_numpy(zero_copy_only=False))
        # Scores are stored with 24 bits: one that was cut at 0.55 by the service is not lost to rounding here.
        kept = score[rows] >= np.float32(cut.score)
        if cut.most:
            kept &= _ranks(scores, rows) <= cut.most
        keep[rows[~kept]] = False
    return scores.filter(pa.array(keep))


def _ranks(scores: pa.Table, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """(rows,) place of each label among its picture's, from 1; tied labels have the best place of them."""
    frame = scores.take(pa.array(rows)).select(["photo", "attribute", "step", "score"]).to_pandas()
    pictures = frame.groupby(["photo", "attribute", "step"], observed=True, sort=False)["score"]
    return pictures.rank(method="min", ascending=False).to_numpy(np.float64)
