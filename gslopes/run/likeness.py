"""Is it still the same person? A run's edited faces beside their own centre picture, and beside other people's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gslopes.core import tables
from gslopes.core.errors import UsageError
from gslopes.core.records import ByteArray, FloatArray
from gslopes.datasets.folder import open_photo
from gslopes.validate.identity import FaceEmbedding, cosine
from gslopes.validate.numbers import Number, mean

MOST = 100  # photos; an embedding takes a tenth of a second on a CPU

Embed = Callable[[Sequence[ByteArray], FloatArray], FloatArray]


def recogniser() -> Embed | None:
    """The third party's face embedding, if the extra ``identity`` is installed."""
    try:
        return FaceEmbedding()
    except UsageError:
        return None


def likeness(run: Path, attribute: str, embed: Embed, most: int = MOST) -> dict[str, Number]:
    """Cosines of embeddings: of the first and the last value with the centre, and of two people's centre pictures.

    At most ``most`` photos, in the order of their ids. A cosine means something beside that of two people alone.
    """
    edits = tables.read(tables.EDITS, run / "edits.parquet")
    photos = tables.read(tables.PHOTOS, run / "photos.parquet")
    points = {photo: found for photo, found in zip(photos["photo"], photos["points"], strict=True) if found is not None}
    own = edits[(edits["attribute"] == attribute) & edits["photo"].isin(list(points))]
    chosen = sorted(own["photo"].unique())[:most]
    if len(chosen) < 2:
        return {}
    places = np.stack([np.asarray(points[photo], np.float32).reshape(5, 2) for photo in chosen])
    files = own.set_index(["photo", "step"])["file"]
    last = int(own["step"].max())

    def at(step: int) -> NDArray[np.float32]:
        return embed([open_photo(run / files[photo, step]).pixels for photo in chosen], places)

    first, centre, end = at(0), at(last // 2), at(last)
    return {
        "first value and centre": mean(cosine(first, centre)),
        "last value and centre": mean(cosine(end, centre)),
        "two people": mean(cosine(centre, np.roll(centre, 1, 0))),
    }
