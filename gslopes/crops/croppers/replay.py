"""``replay:FILE``: rectangles got elsewhere, from a CSV or Parquet file."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pandas as pd

from gslopes.core.errors import AnswerError, ConfigError
from gslopes.core.records import ByteArray
from gslopes.crops.croppers import Request
from gslopes.crops.records import Crop

COLUMNS = ("picture", "ratio", "left", "top", "width", "height")


class Replay:
    """Answers by the sha256 of a picture's pixels (``picture_key``) and the ratio.

    The file has the columns picture, ratio, left, top, width, height.
    """

    def __init__(self, request: Request) -> None:
        request.only()
        path = Path(request.path())
        try:
            table = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
        except (OSError, ValueError) as error:
            raise ConfigError(f"{path} cannot be read as a table: {error}.", "Give a CSV or Parquet file.") from error
        missing = [name for name in COLUMNS if name not in table]
        if missing:
            raise ConfigError(f"{path} lacks the columns {', '.join(missing)}.", f"It needs {', '.join(COLUMNS)}.")
        self.name = request.name
        self.version = sha256(path.read_bytes()).hexdigest()[:16]
        rows = table[list(COLUMNS)].to_dict("records")
        try:
            self._answers = {
                (str(row["picture"]), round(float(row["ratio"]), 4)): Crop(
                    int(row["left"]), int(row["top"]), int(row["width"]), int(row["height"])
                )
                for row in rows
            }
        except (ValueError, TypeError, OverflowError) as error:
            raise ConfigError(
                f"{path} has a rectangle that is not of whole numbers: {error}.",
                "Write left, top, width and height in whole pixels.",
            ) from error

    def crop(self, picture: ByteArray, ratio: float) -> Crop:
        """Raises: AnswerError if the file has no answer about the picture."""
        key = picture_key(picture)
        found = self._answers.get((key, round(ratio, 4)))
        if found is None:
            raise AnswerError(f"{self.name} has no answer about the picture {key[:12]} at the ratio {ratio:g}.")
        return found


def picture_key(picture: ByteArray) -> str:
    """The sha256 of a picture's size and pixels, hex."""
    return sha256(f"{picture.shape}".encode() + picture.tobytes()).hexdigest()
