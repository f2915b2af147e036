"""How counterfactual faces are made: sections of every configuration that makes some."""

import math
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

from gslopes.core import ConfigError, Names, frozen, placebo
from gslopes.core.geometry import DEFAULT_EXTENT, EXTENT, TONE
from gslopes.core.options import extent, names, option
from gslopes.core.records import FloatArray
from gslopes.core.runfolder import FARTHEST


@frozen
class FindConfig:
    """Which faces are edited."""

    min_face: int = 32
    landmarks: Path | None = None


# Joo & Kärkkäinen 2020, §3.3 and §4.3: a in (-2, 2), seven values for gender, five for race.
STEPS = {"gender": 7, "race": 5}
DEFAULT_STEPS = 7


def values_for(
    attribute: str, steps: int | None = None, extent: tuple[float, float] | None = None
) -> FloatArray:
    """K values, evenly spaced, ascending, (K,) float32.

    steps: K, odd and at least 3, so that there is a centre; the paper's K for the attribute by default.
    extent: the first and the last value, in units of the attribute (0 is neutral); of tone steps of its scale.

    Raises: ConfigError for an even K, one below 3, or an extent that does not grow or leaves the scale.

    >>> values_for("race").tolist()
    [-2.0, -1.0, 0.0, 1.0, 2.0]
    >>> values_for("tone").tolist()
    [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    """
    count = STEPS.get(attribute, DEFAULT_STEPS) if steps is None else steps
    if count < 3 or count % 2 == 0:
        raise ConfigError(
            f"A sweep of {count} values has no centre to compare with.",
            f"Give an odd number of values such as {max(3, count + 1)}.",
        )
    low, high = EXTENT.get(attribute, DEFAULT_EXTENT) if extent is None else extent
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ConfigError(
            f"A sweep cannot run from {low} to {high}.",
            "Give --range two numbers that grow, such as -2,2.",
        )
    if attribute == TONE and not 1 <= low < high <= 10:
        raise ConfigError(
            f"Tones of skin have steps 1 to 10, not {low:g} to {high:g}.",
            "Give --range two of them, such as 2,8.",
        )
    return np.linspace(low, high, count, dtype=np.float32)


@frozen
class EditConfig:
    """What is changed, and how far: a sweep for each attribute."""

    attributes: Names = ("gender",)
    steps: int | None = None
    range: tuple[float, float] | None = option(None, parse=extent, least=-FARTHEST, most=FARTHEST)
    model: str = ""
    ends: Names = ()
    calibrated: bool = True

    def __post_init__(self) -> None:
        if not self.attributes:
            raise ConfigError("No attribute is given.", "Name one, such as gender.")
        if len(set(self.attributes)) < len(self.attributes):
            raise ConfigError(
                f"An attribute is given twice: {', '.join(self.attributes)}.", "Name each once."
            )
        if taken := [name for name in self.attributes if placebo.CROSS in name]:
            raise ConfigError(
                f"The attribute {taken[0]!r} has the name of two that are crossed.",
                f"Give the editor's attribute a name without {placebo.CROSS}.",
            )
        for name in self.attributes:
            values_for(name, self.steps, self.range)

    @property
    def wanted(self) -> list[str]:
        """The names among ``ends``, which may have commas between them."""
        return [name for text in self.ends for name in names(text)]

    def names(self, attribute: str) -> list[str]:
        """Of the ends of an attribute's editor, one of the zoo.  Raises: UnknownName, ModelError."""
        from gslopes.faces.zoo import editor_for, identify

        return identify(editor_for(attribute, self.model, bool(self.ends)))[0].names


@frozen
class ComposeConfig:
    """How the edited face goes back into the photo, and how the photo is written.

    region: ``face`` is skin, nose, brows, eyes, lips and mouth; ``skin`` skin and nose; ``head`` face, ears and neck,
        down to the collar; ``auto`` the editor's own, see ``faces.zoo.spec``.
    blend: ``difference`` adds the editor's change to the photo, ``ratio`` multiplies the photo by the editor's ratio,
        ``paste`` takes the editor's picture, as in the paper; ``whole`` keeps all that an editor of others gave,
        background and hair as well.
    parser: the public checkpoint of BiSeNet, the paper's face parser; see ``faces.zoo.checkpoint``.
    placebo: see ``faces.compose.placebo``. Findings are held against placebos: without them a slope that differs from 0
        stays open.
    """

    region: Literal["auto", "face", "skin", "head"] = "auto"
    blend: Literal["auto", "difference", "ratio", "paste", "whole"] = "auto"
    format: Literal["jpeg", "png"] = "jpeg"
    masks: Path | None = None
    parser: Path | None = None
    placebo: bool = True

    def __post_init__(self) -> None:
        if self.masks is not None and self.parser is not None:
            raise ConfigError("Known masks need no face parser.", "Leave out masks, or parser.")

    def blend_of_ours(self) -> Literal["difference", "ratio", "paste"] | None:
        """The blend of one of our own editors; None for its own.  Raises: ConfigError for ``whole``."""
        if self.blend == "whole":
            raise ConfigError(
                "Our own editors edit nothing but the face: no whole is kept.",
                "Leave out blend=whole, or name an --editor of others.",
            )
        if self.blend == "auto":
            return None
        return self.blend


class FacesConfig(Protocol):
    """The part of an audit's configuration by which faces are found, edited and put back."""

    @property
    def photos(self) -> Path:
        """The folder."""

    @property
    def find(self) -> FindConfig:
        """Which faces."""

    @property
    def edit(self) -> EditConfig:
        """What is changed."""

    @property
    def compose(self) -> ComposeConfig:
        """How it goes back."""
