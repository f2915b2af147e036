"""How counterfactual faces are made: sections of every configuration that makes some."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from gslopes.core.errors import ConfigError
from gslopes.core.options import check, extent, option
from gslopes.core.runtime import check_device


@dataclass(frozen=True, slots=True)
class FindConfig:
    """Which faces are edited."""

    min_face: int = option(32, help="Smallest face to edit, pixels.", metavar="PX", advanced=True, least=1)
    landmarks: Path | None = option(None, help="Known faces instead of a face detector.", metavar="CSV", advanced=True)
    device: str = option(
        "cpu",
        help="Where faces are found. On the CPU every run uses the same photos, whatever --device is, and a GPU edits "
        "meanwhile.",
        name="find_device",
        metavar="cpu|cuda[:N]",
        advanced=True,
    )

    def __post_init__(self) -> None:
        check(self)
        check_device(self.device)


@dataclass(frozen=True, slots=True)
class EditConfig:
    """What is changed, and how far: a sweep for each attribute."""

    attributes: tuple[str, ...] = option(
        ("gender",), help="The attribute to edit; may be repeated.", name="attribute", short="a"
    )
    steps: int | None = option(None, help="Number of values in a sweep, odd.", metavar="K", shown="7; race: 5")
    range: tuple[float, float] | None = option(
        None, help="Ends of a sweep, or one number.", metavar="LOW,HIGH", shown="-2,2", parse=extent, advanced=True
    )
    model: str = option(
        "",
        help="The model that edits, or a kind: fader is gender-fader for gender.",
        name="editor",
        metavar="MODEL",
        shown="the attribute's own",
        advanced=True,
    )

    def __post_init__(self) -> None:
        if not self.attributes:
            raise ConfigError("No attribute is given.", "Name one, such as gender.")
        if len(set(self.attributes)) < len(self.attributes):
            raise ConfigError(f"An attribute is given twice: {', '.join(self.attributes)}.", "Name each once.")
        if self.steps is not None and (self.steps < 3 or self.steps % 2 == 0):
            hint = "Use an odd number of 3 or more: the middle step is the centre that the others are compared with."
            raise ConfigError(f"The number of steps cannot be {self.steps}.", hint)
        if self.range is not None and not (all(map(math.isfinite, self.range)) and self.range[0] < self.range[1]):
            raise ConfigError(f"The range {self.range} must go from a smaller to a larger number.", "Try -2,2.")

    def sweeps(self, placebos: bool = False) -> dict[str, list[float]]:
        """Attribute to its K values; its placebo sweeps after it, if asked for.

        Raises: UnknownName for an attribute that no editor knows; UsageError for a bad number of steps or range.
        """
        from gslopes.core import placebo
        from gslopes.faces.edit.steps import values_for
        from gslopes.faces.zoo import editor_for

        found: dict[str, list[float]] = {}
        for name in self.attributes:
            if not self.model:
                editor_for(name)
            # the shortest decimal of each float32: what is printed is what is meant
            values = [float(str(value)) for value in values_for(name, steps=self.steps, extent=self.range)]
            found |= dict.fromkeys((name, *(placebo.names(name) if placebos else ())), values)
        return found


@dataclass(frozen=True, slots=True)
class ComposeConfig:
    """How the edited face goes back into the photo, and how the photo is written.

    region: ``face`` is skin, nose, brows, eyes, lips and mouth; ``skin`` skin and nose; ``head`` face, ears and neck,
        down to the collar; ``auto`` the editor's own, see ``faces.zoo.spec``.
    blend: ``difference`` adds the editor's change to the photo, ``ratio`` multiplies the photo by the editor's ratio,
        ``paste`` takes the editor's picture, as in the paper.
    placebo: see ``faces.compose.placebo``. Findings are held against placebos: without them a slope that differs from 0
        stays open.
    """

    region: Literal["auto", "face", "skin", "head"] = option(
        "auto", help="Which part of the face may change.", shown="the editor's own: face", advanced=True
    )
    blend: Literal["auto", "difference", "ratio", "paste"] = option(
        "auto", help="How an edit is blended into the photo.", shown="the editor's own", advanced=True
    )
    format: Literal["jpeg", "png"] = option("jpeg", help="File format of the pictures.", advanced=True)
    masks: Path | None = option(None, help="Known masks instead of a face parser.", metavar="DIR", advanced=True)
    skin_weights: Path | None = option(
        None,
        help="A public face parser instead of the shipped one: a CelebAMask-HQ BiSeNet with a ResNet-18, such as "
        "79999_iter.pth, or the same as .safetensors. About half a second a face on a CPU core.",
        metavar="FILE",
        advanced=True,
    )
    placebo: bool = option(
        True,
        help="Add three sweeps that should move nothing, which findings must exceed. Four times the pictures; paid "
        "classifiers are asked about a sample of them.",
    )

    def __post_init__(self) -> None:
        if self.masks is not None and self.skin_weights is not None:
            raise ConfigError("Both known masks and a parser's weights are given.", "Use --masks or --skin-weights.")


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
