"""``replay:FILE``: rectangles got elsewhere, from a CSV or Parquet file."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from gslopes.ask.croppers import Request
from gslopes.ask.croppers.records import Crop
from gslopes.core.csv_table import read_frame
from gslopes.core.errors import AnswerError, ConfigError
from gslopes.core.files import sha256_of
from gslopes.core.records import ByteArray

COLUMNS = ("picture", "ratio", "left", "top", "width", "height")


class Replay:
    """Answers by the sha256 of a picture's pixels (``picture_key``) and the ratio.

    The file has the columns picture, ratio, left, top, width, height.
    """

    def __init__(self, request: Request) -> None:
        request.only()
        path = Path(request.path())
        table = read_frame(path, raises=ConfigError)
        missing = [name for name in COLUMNS if name not in table]
        if missing:
            raise ConfigError(f"{path} lacks the columns {', '.join(missing)}.", f"It needs {', '.join(COLUMNS)}.")
        self.name = request.name
        self.version = sha256_of(path)[:16]
        self._answers: dict[tuple[str, float], Crop] = {}
        for row in table[list(COLUMNS)].to_dict("records"):
            try:
                key = str(row["picture"]), round(float(row["ratio"]), 4)
                left, top, width, height = (_whole(row[name]) for name in COLUMNS[2:])
            except (ValueError, TypeError, OverflowError) as error:
                raise ConfigError(
                    f"{path} has a rectangle that is not of whole numbers: {error}.",
                    "Write left, top, width and height in whole pixels.",
                ) from error
            crop = Crop(left, top, width, height)
            if self._answers.setdefault(key, crop) != crop:
                what = f"the picture {key[0][:12]} at the ratio {key[1]:g}"
                raise ConfigError(f"{path} has two rectangles of {what}.", "Keep one of them.")

    def crop(self, picture: ByteArray, ratio: float) -> Crop:
        """Raises: AnswerError if the file has no answer about the picture."""
        key = picture_key(picture)
        found = self._answers.get((key, round(ratio, 4)))
        if found is None:
            raise AnswerError(f"{self.name} has no answer about the picture {key[:12]} at the ratio {ratio:g}.")
        return found


def _whole(value: object) -> int:
    number = float(str(value))
    if not number.is_integer():
        raise ValueError(f"{value}")
    return int(number)


def picture_key(picture: ByteArray) -> str:
    """The sha256 of a picture's size and pixels, hex."""
    return sha256(f"{picture.shape}".encode() + picture.tobytes()).hexdigest()
