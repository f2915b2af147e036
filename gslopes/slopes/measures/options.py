"""Options of a fit, passed by name: what it computes and how hard it tries, and what is known next to the answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from gslopes.core import Names, config, frozen, frozen_identity

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from gslopes.slopes.measures.answers import Answers

TEMPLATES = Path(__file__).parents[1] / "templates"
RARE = "too few photos change their answer"
# In the column classifier: whoever made the pictures, if others did; it is asked for each of them.
EDITOR = "the editor"
WORDING = "the editor's wording"  # in the column column: groups that users did not name
NEVER = " never returns "  # between a classifier and a label that is true of photos
LEAST_KEPT = (
    0.8  # share of sweeps; below it the gated slope is not to be trusted without the ungated
)


@frozen
class FitOptions:
    """Settings of ``slopes.measures.analysis.analyse``.

    estimators: which rows the table of slopes has, see ``slopes.measures.estimators``; all if empty.
    permutations: within photos, m; 0 for none.
    min_varying: a label whose answers vary on fewer photos (units, with clusters) is listed as not judged and
        not tested: photos that have it at every value, or at none, tell nothing of the slope.
    seed: of the permutations.

    Raises: ConfigError for a number below 0.
    """

    estimators: Names = ()
    permutations: int = 10_000
    min_varying: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        config.check(self)


@frozen_identity
class Study:
    """What is known of the photos and of their pictures next to the answers; nothing is required.

    values: attribute to its K values; without it they are read from the scores.
    photos: ids of the photos that count; all of them if None.
    about: what is known about photos, one row a photo, its index the photo's id, columns of texts.
    groups: columns of ``about`` to fit by; ``"a + b"`` crosses two.
    cluster: a column of ``about``: photos that share its text (one person, one query) are one unit of every standard
        error, resample and permutation; a photo without a text is a unit by itself.
    truth: columns of ``about`` that name the right label, or ``LABEL=COLUMN``, which affirm or deny one, see
        ``slopes.measures.truth``.
    reach: how far the edit moved an independent reader: columns photo, attribute, reading and reach, as
        ``slopes.measures.reach.photo_reach`` gives it; and odds, its log-odds in the unedited photo, if ``unedited`` is
        given.
    tones: photo to the name of its skin tone's group; the table reach has slopes by them.
    steps: attribute of our own edits to the slope of the skin's measured step along it, by photo, see ``explained``.
    moved: what an independent reader saw move next to the attribute, see ``slopes.measures.explained``; or None.
    gates: attribute to whether a gate kept each photo's sweep, see ``slopes.measures.selection``.
        Slopes are then of the kept sweeps, and gating compares them with the others.
    unedited: classifier to its answers about the photos before any edit, with K = 1, see ``slopes.measures.observed``.
    drawn: attributes whose pictures are drawn, so that value 0 is not the photo.
    wordings: attribute to the wording that each photo's editor was told; slopes are compared by it as by ``groups``.
    lost: attribute to why photos that an editor was asked for do not count, reasons as labels; compared by ``groups``.
    unchanged: sweeps whose same placebo is the photo drawn with no change.
    """

    values: Mapping[str, Sequence[float]] | None = None
    photos: Collection[str] | None = None
    about: DataFrame | None = None
    groups: Sequence[str] = ()
    cluster: str = ""
    truth: Sequence[str] = ()
    reach: DataFrame | None = None
    tones: Series | None = None
    steps: Mapping[str, Series] = field(default_factory=dict)
    moved: DataFrame | None = None
    gates: Mapping[str, Series] = field(default_factory=dict)
    unedited: Mapping[str, Answers] = field(default_factory=dict)
    drawn: Collection[str] = ()
    wordings: Mapping[str, Series] = field(default_factory=dict)
    lost: Mapping[str, Answers] = field(default_factory=dict)
    unchanged: Collection[str] = ()
