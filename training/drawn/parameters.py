"""What a drawn face looks like: its parameters, and how they are sampled."""

import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gslopes.core import frozen_identity
from gslopes.core.errors import ConfigError, UnknownName
from gslopes.core.records import Array, FloatArray, doubles, floats

FACE = tomllib.loads((Path(__file__).parent / "face.toml").read_text("utf-8"))


@frozen_identity
class FaceParameters:
    """What n drawn faces look like: one (n,) float32 array a column.

    Appearance of the face
        gender: the cue, -2 feminine to 2 masculine.  tone: skin, -2 dark to 2 light.
        smile: 0 closed mouth to 1 broad and open.  age: 0 smooth to 1 lined and gray.
        width: of the head, -1 narrow to 1 wide.  eye_size, nose: -1 small to 1 large.
        eye_colour: 0 dark brown to 1 blue.
    Around the face
        hair: length, 0 cropped to 1 below the shoulders.  hair_shade: 0 black to 1 blond.
        part: where the hair parts, -1 to 1, viewer's left to right.  shirt: 0 to 1 along a palette.
        background: 0 blue to 1 rose.  background_shade: 0 dark to 1 bright.
    Light
        light: exposure, a factor on all of the picture.  light_contrast: 0 flat to 1 strong.
        light_angle: degrees, where the light comes from: -90 viewer's left, 0 above, 90 viewer's right.
    Pose
        shift_x, shift_y: in sides of the photo.  scale: 1 is a head of two thirds of the photo's height.
        rotation: degrees, clockwise as the viewer sees it.

    Raises: ConfigError for columns of other shapes than (n,), values that are not finite, or out of their range.
    """

    gender: FloatArray
    tone: FloatArray
    smile: FloatArray
    age: FloatArray
    width: FloatArray
    eye_size: FloatArray
    eye_colour: FloatArray
    nose: FloatArray
    hair: FloatArray
    hair_shade: FloatArray
    part: FloatArray
    shirt: FloatArray
    background: FloatArray
    background_shade: FloatArray
    light: FloatArray
    light_contrast: FloatArray
    light_angle: FloatArray
    shift_x: FloatArray
    shift_y: FloatArray
    scale: FloatArray
    rotation: FloatArray

    def __post_init__(self) -> None:
        length = np.shape(self.gender)
        for column in fields(self):
            values = np.asarray(getattr(self, column.name), np.float32)
            if values.ndim != 1 or values.shape != length:
                message = f"Column {column.name} has shape {values.shape}, gender {length}."
                raise ConfigError(message, "Give every column as (n,).")
            low, high = COLUMNS[column.name].range
            if not np.all((values >= low) & (values <= high)):  # false for NaN as well
                raise ConfigError(f"Column {column.name} has a value outside [{low}, {high}].")
            object.__setattr__(self, column.name, values)

    def __len__(self) -> int:
        return len(self.gender)

    def replace(self, **columns: float | FloatArray) -> "FaceParameters":
        """The same faces with some columns replaced: an (n,) array, or one number for all.

        Raises: UnknownName for a column that does not exist; ConfigError as the class.
        """
        for name in columns:
            if name not in COLUMNS:
                raise UnknownName("face parameter", name, COLUMNS)
        full: dict[str, Any] = {
            name: np.broadcast_to(values, np.shape(values) or len(self))
            for name, values in columns.items()
        }
        return replace(self, **full)

    def take(self, rows: slice | np.ndarray) -> "FaceParameters":
        """The faces of these rows: a slice, indices or a boolean mask."""
        return FaceParameters(**{name: getattr(self, name)[rows] for name in COLUMNS})


class Column(NamedTuple):
    """The values that a parameter may have, and those that ``sample`` takes."""

    range: tuple[float, float]
    drawn: tuple[float, float]


COLUMNS = {
    name: Column((numbers[0], numbers[1]), (numbers[-2], numbers[-1]))
    for name, numbers in FACE["parameters"].items()
}
POSE = ("shift_x", "shift_y", "scale", "rotation")


def sample(
    n: int, seed: int, *, confound: Mapping[str, float] | None = None, pose: float = 1.0
) -> FaceParameters:
    """Draw n faces, each column uniform over its drawn range and independent of the others.

    n: number of faces; the first m of n faces are ``sample(m, seed)``.
    confound: columns that correlate with the gender cue, each with its Pearson correlation in [-1, 1], such as
        ``{"hair": -0.6}``; their ranges stay uniform (Gaussian copula), and columns not named are the same as without.
    pose: how far shift, scale and rotation stray, as a multiple of their small default range; 0 for none.

    Raises: UnknownName for a column that does not exist; ConfigError for a correlation out of range, for one of the
        cue with itself, or for a pose that leaves the allowed range.
    """
    # keyed by the column's name: a column added later does not change the others
    streams = {
        name: np.random.default_rng([seed, int.from_bytes(name.encode(), "big")])
        for name in COLUMNS
    }
    uniform = {name: stream.random(n) for name, stream in streams.items()}
    for name, correlation in (confound or {}).items():
        if name not in COLUMNS:
            raise UnknownName("face parameter", name, COLUMNS)
        if name == "gender" or not -1 <= correlation <= 1:
            hint = "Give another column, and -1 to 1."
            raise ConfigError(f"Gender and {name} cannot correlate at {correlation}.", hint)
        uniform[name] = _correlated(uniform["gender"], uniform[name], correlation)
    columns = {}
    for name, column in COLUMNS.items():
        low, high = column.drawn
        half = (high - low) / 2
        if name in POSE:
            half *= pose
        columns[name] = floats((low + high) / 2 + half * (2 * uniform[name] - 1))
    return FaceParameters(**columns)


def _correlated(source: Array, noise: Array, correlation: float) -> Array:
    """A uniform column with this Pearson correlation to a uniform one.

    Source: for a Gaussian copula of correlation r, uniform margins correlate at 6 asin(r / 2) / pi.
    """
    from scipy.special import ndtr, ndtri

    r = np.clip(2 * np.sin(np.pi * correlation / 6), -1, 1)
    tiny = np.finfo(float).tiny  # random() may return 0, whose normal quantile is infinite
    normals = [ndtri(np.maximum(column, tiny)) for column in (source, noise)]
    return doubles(ndtr(r * normals[0] + np.sqrt(1 - r * r) * normals[1]))
