"""The configuration of a run.

Its sections are the rooms of the walk; the same words are the command line's options and the keys of a
TOML file:

    photos = "photos"
    limit = 100

    [find]
    min_face = 20

    [edit]
    attributes = ["gender", "race"]

    [score]
    classifiers = ["celeba-tagger"]
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypedDict

from gslopes.core.config import from_dict, to_dict
from gslopes.core.errors import ConfigError
from gslopes.core.options import check, extent, merged, option, section
from gslopes.core.runtime import check_device
from gslopes.fit.options import DEFAULT, Correction, FitOptions
from gslopes.run.published import publish
from gslopes.validate.gate import Thresholds

# Not part of what makes two runs the same. The device moves numbers by rounding alone; any number of classifiers can be
# asked about the same pictures, and each is recorded with its own version.
_CONDITIONS = ("device", "engine", "workers", "seed", "gate", "score", "fit", "as_published")


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
        from gslopes.edit.steps import values_for
        from gslopes.zoo import editor_for

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
        down to the collar; ``auto`` the editor's own, see ``zoo.spec``.
    blend: ``difference`` adds the editor's change to the photo, ``ratio`` multiplies the photo by the editor's ratio,
        ``paste`` takes the editor's picture, as in the paper.
    placebo: see ``compose.placebo``. Findings are held against placebos: without them a slope that differs from 0
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


@dataclass(frozen=True, slots=True)
class GateConfig(Thresholds):
    """Whether sweeps are judged, and by which thresholds; see ``validate.gate.Thresholds``.

    on: None judges unless the faces come from a table of landmarks: of drawn faces neither the detector nor the judge
        is a measurer.
    """

    on: bool | None = option(
        None,
        help="Ask only about sweeps in which the face is found again and its reading follows the edit while little "
        "else changes.",
        name="gate",
        shown="--gate, but --no-gate with --landmarks",
    )
    look: Literal["ends", "all"] = option("ends", help="Values at which the face is looked for.")

    def judges(self, landmarks: Path | str | None) -> bool:
        """Whether an audit judges.  landmarks: the run's table of known faces, if it has one."""
        return landmarks is None if self.on is None else self.on


@dataclass(frozen=True, slots=True)
class CostLimits:
    """What asking may cost, and where answers are kept."""

    cache: Path | None = option(
        None,
        help="Where answers are cached.",
        metavar="DIR",
        shown="$GSLOPES_CACHE, or your cache folder",
        advanced=True,
    )
    budget: float | None = option(None, help="Stop before more than this is spent.", metavar="USD", least=0)
    max_calls: int | None = option(None, help="Stop after this many requests to services.", advanced=True, least=0)
    confirm_above: float = option(
        10.0, help="Ask for confirmation above this cost.", metavar="USD", advanced=True, least=0
    )
    yes: bool = option(False, help="Do not ask for confirmation of the cost.", advanced=True)
    retry_failed: bool = option(False, help="Retry pictures that failed.", advanced=True)

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, slots=True)
class ScoreConfig(CostLimits):
    """Which classifiers are asked, about what, and what that may cost."""

    classifiers: tuple[str, ...] = option(
        (),
        help="The classifier to audit; may be repeated.",
        name="classifier",
        short="c",
        shown="celeba-tagger",
    )
    placebo_sample: int = option(
        200,
        help="Photos whose placebo sweeps are asked about where asking costs money.",
        advanced=True,
        least=0,
    )
    dropped_sample: int = option(
        50,
        help="Sweeps dropped by the gate that are asked about for comparison; their answers stay out of the tables.",
        advanced=True,
        least=0,
    )
    unedited: bool = option(False, help="Ask about each photo as it was, too.", shown="with groups", advanced=True)


@dataclass(frozen=True, slots=True)
class FitConfig:
    """What the fit computes; see ``fit.options.FitOptions``, ``run.presence`` and ``run.fitting.read_about``."""

    estimators: tuple[str, ...] = option(
        DEFAULT, help="An estimator; may be repeated.", name="estimator", shown="all but photo-censored"
    )
    bootstrap: int = option(2000, help="Bootstrap resamples of photos; 0 for none.", metavar="B")
    permutations: int = option(10_000, help="Permutations within photos; 0 for none.", metavar="M")
    correction: Correction = option("bh", help="Correction for q, over a classifier's labels.")
    presence: str = option(
        "vendor",
        help="Which labels count: those that the vendor returns by default, all, or from a score on.",
        metavar="vendor|none|SCORE",
    )
    measure: Literal["auto", "presence", "score", "log-odds", "value"] = option(
        "auto",
        help="What is fitted of a label; auto: its presence, or its number where that is always there.",
        advanced=True,
    )
    min_varying: int = option(10, help="Labels varying on fewer photos are not judged.")
    photos_csv: Path | None = option(
        None, help="A CSV with one row per photo, for --groups, --cluster and --truth.", metavar="CSV"
    )
    groups: tuple[str, ...] = option(
        (), help="Column; slopes for each of its values. 'a + b' crosses two.", metavar="COLUMN"
    )
    cluster: str = option("", help="Column; photos with the same value are one unit.", metavar="COLUMN")
    truth: tuple[str, ...] = option(
        (),
        help="Column with the right label of each photo, or LABEL=COLUMN with yes or no: error rates by value.",
        metavar="COLUMN",
    )
    expected: tuple[str, ...] = option(
        (),
        help="A label, or words in one, whose slope is expected: listed below the others. May be repeated; none leaves "
        "out those that name the attribute.",
        metavar="LABEL",
        shown="labels that name the attribute, such as Male",
        advanced=True,
    )
    seed: int | None = option(None, help="Seed of resamples and permutations.", metavar="S", shown="the run's")

    def __post_init__(self) -> None:
        from gslopes.core import expected
        from gslopes.run.presence import parse

        self.options(0)
        expected.check(self.expected)
        parse(self.presence)
        if (self.groups or self.cluster or self.truth) and self.photos_csv is None:
            raise ConfigError(
                "Groups, clusters and truth are columns of a table of photos.", "Name it with --photos-csv."
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of ``photos_csv`` that the fit reads."""
        named = [*self.groups, *([self.cluster] if self.cluster else [])]
        named += [text.rpartition("=")[2] for text in self.truth]
        return tuple(part.strip() for text in named for part in text.split("+"))

    def options(self, seed: int) -> FitOptions:
        """The pure part.  Raises: ConfigError, UnknownName.  seed: of the run."""
        names = ("estimators", "measure", "bootstrap", "permutations", "correction", "min_varying")
        return FitOptions(
            **{name: getattr(self, name) for name in names}, seed=seed if self.seed is None else self.seed
        )


@dataclass(frozen=True, slots=True)
class RunConfig:
    """One run; engine and workers as in ``executors.engines``."""

    photos: Path = option(help="The folder of photos.", positional=True)
    limit: int | None = option(None, help="Only the first N photos.", least=1)
    seed: int = option(0, help="Seed of all random draws.", metavar="S", advanced=True, least=0)
    part: int = option(32, help="Photos in a part, the unit of work and of resuming.", advanced=True, least=1)
    device: str = option("auto", help="Where the networks run.", metavar="auto|cpu|cuda[:N]", advanced=True)
    engine: Literal["auto", "one", "processes", "ray"] = option(
        "auto",
        help="Where the work runs: in one process; in several on this machine, one for each GPU; on a Ray cluster "
        "($RAY_ADDRESS, or one started here) whose machines all have gslopes and see photos and run folder under the "
        "same paths.",
        shown="one; with several GPUs processes",
        advanced=True,
    )
    workers: int | None = option(
        None, help="Number of workers.", shown="one per GPU, or one per four cores", advanced=True
    )
    find: FindConfig = section(FindConfig)
    edit: EditConfig = section(EditConfig)
    compose: ComposeConfig = section(ComposeConfig)
    gate: GateConfig = section(GateConfig, flat=("on",))
    score: ScoreConfig = section(ScoreConfig)
    fit: FitConfig = section(FitConfig, flat=("expected",))
    as_published: bool = option(
        False,
        help="Follow Joo and Kärkkäinen (2020) in all that can be set: Fader Networks, skin, paste, no gate, "
        "their estimator. gslopes audit --method lists what still differs.",
        advanced=True,
    )

    def __post_init__(self) -> None:
        check(self)
        check_device(self.device)

    def identity(self) -> dict[str, Any]:
        """The part of the configuration that ``run.json`` keeps: what must be the same when a run is resumed."""
        whole: dict[str, Any] = to_dict(self)
        return {key: value for key, value in whole.items() if key not in _CONDITIONS}


class CostOptions(TypedDict, total=False):
    """The fields of ``CostLimits`` as keywords."""

    cache: str | Path | None
    budget: float | None
    max_calls: int | None
    confirm_above: float
    yes: bool
    retry_failed: bool


class RunOptions(CostOptions, TypedDict, total=False):
    """The options of ``RunConfig`` as keywords, except ``classifier``; ``config`` is a TOML file with more."""

    limit: int | None
    seed: int
    part: int
    device: str
    engine: Literal["auto", "one", "processes", "ray"]
    workers: int | None
    min_face: int
    landmarks: str | Path | None
    find_device: str
    attribute: str | Sequence[str]
    steps: int | None
    range: tuple[float, float] | None
    editor: str
    region: Literal["auto", "face", "skin", "head"]
    blend: Literal["auto", "difference", "ratio", "paste"]
    format: Literal["jpeg", "png"]
    masks: str | Path | None
    skin_weights: str | Path | None
    placebo: bool
    gate: bool | None
    placebo_sample: int
    dropped_sample: int
    unedited: bool
    expected: str | Sequence[str]
    as_published: bool
    config: str | Path | None


def configure(photos: str | Path | None, options: Mapping[str, Any]) -> RunConfig:
    """The configuration of a run from options, see ``core.options.build``.

    photos: the folder; None if the file names it.

    Raises: ConfigError for an unknown option or a value out of its range.
    """
    mapping = merged(RunConfig, options, base=Path())
    if photos is not None and "photos" not in options:  # as by --set
        mapping["photos"] = photos
    if mapping.get("as_published"):
        publish(mapping)
    if "photos" not in mapping:
        raise ConfigError("No folder of photos is given.", "Name the folder that holds the photos.")
    config = from_dict(RunConfig, mapping)
    return replace(config, photos=Path(os.path.abspath(config.photos)))
