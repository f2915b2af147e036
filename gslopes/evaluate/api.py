"""``gslopes.evaluate_model``."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def evaluate_model(
    model: str | Path,
    *,
    data: str | Path,
    photos: int | None = None,
    device: str = "auto",
    write: bool = False,
    sheets: str | Path | None = None,
) -> dict[str, Any]:
    """What a model reaches on held-out people: ``{"note": ..., "tables": {title: {row: {column: number}}}}``.

    model: its name, or a folder of weights.  data: the folder that holds the data sets.
    photos: the most held-out photos, all by default.  device: auto, cpu, cuda or cuda:N.
    write: also into metrics.json next to the weights and into the card.
    sheets: of an editor, a folder for a contact sheet of each set of faces: photos of people, not to be published.

    Raises: UnknownName, ModelError, DataMissing.
    """
    from gslopes.core.runtime import pick_device
    from gslopes.evaluate.models import measure_model

    where = None if sheets is None else Path(sheets)
    return measure_model(
        str(model), data=Path(data), photos=photos, device=pick_device(device), write=write, sheets=where
    )
