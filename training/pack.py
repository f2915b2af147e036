"""Pack an editor's training set into one file, for a machine that has no copy of the photos and a narrow way to it."""

from __future__ import annotations

from pathlib import Path

from gslopes.zoo.spec import find_spec
from training import sets
from training.training_set import write_packed


def pack(model: str, data: Path, out: Path, device: str = "cpu") -> int:
    """Write the file and return the number of its photos.

    model: an editor, such as ``gender-field``.  data: the folder that holds the data sets.
    device: where faces are found and read, if that is not in the cache yet.

    Raises: UnknownName, DataMissing.
    """
    spec = find_spec(model)
    return write_packed(sets.SETS["fader"](spec, data, device), out)
