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

import os
from dataclasses import replace
from pathlib import Path
from typing import Literal

from gslopes.ask.config import ScoreConfig
from gslopes.ask.editors import canonical_name, is_outside
from gslopes.core import (
    ConfigError,
    Facts,
    JsonObject,
    Names,
    from_dict,
    frozen,
    read_beside,
    to_dict,
)
from gslopes.core.crossed import Grid
from gslopes.core.options import counts, merged, option, put, section
from gslopes.core.runfolder import GIVEN
from gslopes.core.runtime import check_device
from gslopes.faces.config import ComposeConfig, EditConfig, FindConfig, values_for
from gslopes.faces.gate.verdict import GateConfig
from gslopes.slopes.asked_for import sweeps_of
from gslopes.slopes.layouts import absolute
from gslopes.slopes.measures.options import TEMPLATES, FitOptions
from gslopes.slopes.page import ReportConfig

GRID = (5, 3)  # values of two attributes that are crossed

PUBLISHED = read_beside(__file__, "data/published.toml")
_LISTED = read_beside(__file__, "data/config.toml")


@frozen
class FitConfig:
    """What the fit computes; see ``slopes.measures.options.FitOptions``, ``slopes.presence`` and
    ``photos.people.read_about``.
    """

    permutations: int = 10_000
    presence: str = "vendor"
    min_varying: int = 10
    photos_csv: Path | None = None
    groups: Names = ()
    cluster: str = ""
    truth: Names = ()

    def __post_init__(self) -> None:
        from gslopes.slopes.presence import parse

        self.options(0)
        parse(self.presence)
        if (self.groups or self.cluster or self.truth) and self.photos_csv is None:
            raise ConfigError(
                "Groups, clusters and truth are columns of a table of photos.",
                "Name it with --photos-csv.",
            )

    @property
    def columns(self) -> dict[str, str]:
        """The columns of ``photos_csv`` that the fit reads, to the option that names each."""
        named = dict.fromkeys(self.groups, "--groups") | {self.cluster: "--cluster"}
        named |= {text.rpartition("=")[2]: "--truth" for text in self.truth}
        return {part.strip(): option for text, option in named.items() for part in text.split("+")}

    def options(self, seed: int) -> FitOptions:
        """The pure part.  Raises: ConfigError, UnknownName.  seed: of the run."""
        return FitOptions(permutations=self.permutations, min_varying=self.min_varying, seed=seed)


@frozen
class RunConfig:
    """One run; engine and workers as in ``frame.executors.engine``."""

    photos: Path
    pairs: Path | None = option(None, parse=absolute)
    baseline: str | None = None
    limit: int | None = None
    seed: int = 0
    part: int = 32
    device: str = "auto"
    engine: Literal["auto", "one", "ray"] = "auto"
    workers: int | None = None
    cross: bool = False
    grid: tuple[int, int] = option(GRID, parse=counts)
    find: FindConfig = section(FindConfig)
    edit: EditConfig = section(EditConfig)
    compose: ComposeConfig = section(ComposeConfig)
    gate: GateConfig = section(GateConfig, flat=("on",))
    score: ScoreConfig = section(ScoreConfig)
    fit: FitConfig = section(FitConfig, flat=("photos_csv", "groups", "cluster", "truth"))
    report: ReportConfig = section(ReportConfig, flat=("embed",))
    as_published: bool = False

    def __post_init__(self) -> None:
        check_device(self.device)
        self._check_editor()
        self.crossed  # noqa: B018  checked

    def _check_editor(self) -> None:
        """Raises: ConfigError for what only goes with our own editors."""
        if self.outside:
            self._refuse("An editor that others made")
        if self.edit.ends:
            self._refuse("--ends")

    def _refuse(self, what: str, hint: str = "Leave one of the two out.") -> None:
        """Raises: ConfigError for the first option that is given and does not go with another, ``what``."""
        from gslopes.report import inline

        given = inline.plain("against.txt.j2", TEMPLATES, what=what, config=self, grid=GRID)
        for other in given.splitlines():
            raise ConfigError(f"{what} does not go with {other}.", hint)

    @property
    def outside(self) -> bool:
        """Whether others made the editor."""
        return is_outside(self.edit.model)

    @property
    def crossed(self) -> Grid | None:
        """The grid of values, with ``cross``.  Raises: ConfigError if there can be none."""
        names = self.edit.attributes
        if not self.cross:
            return None
        self._refuse("--cross", "Leave one out; --grid 5,3 says how many values.")
        if len(names) != 2:
            raise ConfigError(
                f"--cross takes two attributes, not {len(names)}.",
                "Name both, as in --attribute gender --attribute race --cross.",
            )
        if self.edit.ends:
            return self._grid_of_names()
        each = (values_for(*one, self.edit.range) for one in zip(names, self.grid, strict=True))
        first, second = (tuple(float(str(value)) for value in values) for values in each)
        if not min(first[-1], -first[0]) > 0:
            raise ConfigError(
                "A grid has both ends of each attribute.",
                "Give a --range from below 0 to above it.",
            )
        return Grid((names[0], names[1]), (first, second))

    def _grid_of_names(self) -> Grid:
        """Both ends of an attribute, and the named ones of another.  Raises: as ``crossed``; ModelError."""
        sweeps = sweeps_of(self.edit, None, self.baseline or self.edit.wanted[0])
        values, named = (
            [one for one in sweeps if bool(one.ends) == kind] for kind in (False, True)
        )
        if len(values) != 1:
            raise ConfigError(
                "--cross takes one attribute of named ends, and one of values.",
                "Such as --attribute gender --attribute race.",
            )
        if not named:
            raise ConfigError("--cross takes two named ends at least.", "Name more with --ends.")
        levels = (named[0].ends[0], *(one.ends[1] for one in named))
        ends = (values[0].values[0], values[0].values[-1])
        steps = tuple(map(float, range(len(levels))))
        return Grid((values[0].name, named[0].attribute), (ends, steps), levels)

    def identity(self) -> JsonObject:
        """The part of the configuration that ``run.json`` keeps: what must be the same when a run is resumed."""
        sections: JsonObject = to_dict(self)
        # of a plain run only where one was asked for later: --grid on its folder is then refused
        grid = {"grid": list(self.grid)} if self.cross or self.grid != GRID else {}
        if self.edit.calibrated:  # as every run was that does not say
            del sections["edit"]["calibrated"]
        if not self.edit.ends:
            del sections["edit"]["ends"]
        if self.outside:
            sections["edit"]["model"] = canonical_name(self.edit.model)
        return {
            key: value for key, value in sections.items() if key not in _LISTED["conditions"]
        } | grid


def configure(photos: str | Path | None, options: Facts, out: Path | None = None) -> RunConfig:
    """The configuration of a run from options, see ``core.options.build``.

    photos: the folder; None if the file names it.  out: the run folder, in which a set of pairs has its photos.

    Raises: ConfigError for an unknown option or a value out of its range.
    """
    mapping = merged(RunConfig, options, base=Path())
    if photos is not None and "photos" not in options:  # as by --set
        mapping["photos"] = photos
    if mapping.get("as_published"):
        publish(mapping)
    if "grid" in mapping and not mapping.get("cross"):
        raise ConfigError(
            "--grid is for two attributes that are crossed.", "Add --cross, or leave --grid out."
        )
    edit = mapping.get("edit") or {}
    named = edit.get("ends") or edit.get("model")
    if mapping.get("pairs") or (mapping.get("baseline") and not named):
        set_of_pairs(mapping, out)
    if "photos" not in mapping:
        raise ConfigError("No folder of photos is given.", "Name the folder that holds the photos.")
    config = from_dict(RunConfig, mapping)
    return replace(config, photos=Path(os.path.abspath(config.photos)))


def set_of_pairs(mapping: JsonObject, out: Path | None) -> None:
    """Photos of a set are in the run folder.  Raises: ConfigError if they are to be edited, or photos are named."""
    if not mapping.get("pairs"):
        raise ConfigError(
            "A baseline is one of the values of a set of pairs.", "Name the set with --pairs."
        )
    given = ["PHOTOS"] if mapping.get("photos") else []
    given += [
        f"{part} {key}"
        for part, keys in _LISTED["editing"].items()
        for key in keys
        if (mapping.get(part) or {}).get(key)
    ]
    if given:
        raise ConfigError(
            "The pictures of a set of pairs are its own, and are not edited.",
            f"Leave out {given[0]}, or --pairs.",
        )
    mapping["photos"] = (out or Path()) / GIVEN


def publish(mapping: JsonObject) -> None:
    """Set what the paper sets.  Raises: ConfigError if something else was asked for."""
    for part, options in PUBLISHED.items():
        section = mapping.get(part, {})
        for key, value in options.items():
            given = section.get(key)
            if given and key == "model":  # a Fader Network of the user's own
                continue
            if given is not None and given != value:
                raise ConfigError(
                    f"As published, {part}.{key} is {value}, not {given}.",
                    "Leave one of the two out: gslopes audit --as-published --method lists what it sets.",
                )
            put(mapping, (part, key), value)
    for key in ("steps", "range"):
        if mapping.get("edit", {}).get(key) is not None:
            raise ConfigError(
                f"As published, {key} is the paper's.", f"Leave --{key} out, or --as-published."
            )
