"""What a walk will do, before it does anything: its photos, and the values along which they are edited."""

from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any, cast

from gslopes.ask.classifiers import canonical_name
from gslopes.ask.editors import Setting, load_editor
from gslopes.core import (
    JsonObject,
    Names,
    UsageError,
    pick_device,
    placebo,
    sha256_of,
    show,
    tables,
)
from gslopes.core.crossed import Grid, grid_of
from gslopes.core.records import Classifier
from gslopes.faces.components import Components, default_components, model_records
from gslopes.faces.edit.protocol import PictureEditor
from gslopes.faces.find import MtcnnFinder
from gslopes.frame.parts import missing_parts
from gslopes.frame.spec import Plan
from gslopes.photos.folder import PhotoFile, list_files, listing, same_bytes, size_of
from gslopes.report.inline import templates
from gslopes.slopes.asked_for import Asked, Sweep, sweeps_of, values_of
from gslopes.slopes.config import RunConfig
from gslopes.slopes.pairs import PairSet, read_pairs


@dataclass(frozen=True)
class Walk:
    """A checked configuration with what it means in numbers.

    files: the photos, in order.  values: of every sweep.  inputs: a digest of what is read.
    classifiers: canonical names.  components: None for those that the configuration names.
    pairs: the set, if others made the pictures; the files are then one of each unit, by its name.
    editor: if others made it.  sweeps: what it is asked for, or our own; none if two are crossed.
    """

    config: RunConfig
    files: tuple[PhotoFile, ...]
    values: dict[str, list[float]]
    inputs: JsonObject
    classifiers: Names
    components: Components | None = None
    pairs: PairSet | None = None
    editor: PictureEditor | None = None
    sweeps: tuple[Sweep, ...] = ()

    def asked(self, photo: str = "") -> list[Asked]:
        """What the editor is asked for about a photo.  photo: its sha256; of all photos it is as much."""
        compose = self.config.compose
        needs = compose.placebo, compose.blend == "difference"
        return [
            one for sweep in self.sweeps for one in sweep.asked(photo, self.config.seed, *needs)
        ]

    @property
    def asked_of_each(self) -> int:
        """Pictures of a photo that the editor is asked for."""
        return len({one.wish for one in self.asked()})

    def asked_of_editor(self) -> Classifier:
        """Who is asked for the first of a photo's pictures."""
        return cast("PictureEditor", self.editor).at(self.asked()[0].wish)

    @property
    def parts(self) -> int:
        """How many parts the photos are cut into."""
        return -(-len(self.files) // self.config.part)

    @cached_property
    def same(self) -> dict[str, str]:
        """Relative name of every photo that repeats an earlier one, byte for byte, to that one's."""
        return same_bytes(self.files if self.pairs is None else ())

    @cached_property
    def grid(self) -> Grid | None:
        """The grid, if two attributes are crossed."""
        return grid_of(self.values)

    @property
    def device(self) -> str:
        """A real one, never ``auto``; torch is imported to find it, so it is resolved lazily."""
        return pick_device(self.config.device)

    @property
    def images(self) -> int:
        """Counterfactual photos if every photo has a usable face."""
        lengths = [
            len(values)
            for name, values in self.values.items()
            if not self.grid or name not in self.grid.sweeps
        ]
        return len(self.files) * sum(lengths)

    @property
    def facts(self) -> JsonObject:
        """What the run is, for ``run.json``.  Raises: UnknownName, ModelError."""
        models = {}
        if self.pairs is None:
            models = (
                model_records(self.config, self.editor)
                if self.components is None
                else self.components.models
            )
        facts = {
            "identity": self.config.identity(),
            "seed": self.config.seed,
            "values": self.values,
        }
        return {**facts, "models": models, "inputs": self.inputs}

    def ready(self) -> Components:
        """The components, loaded.  Raises: as ``faces.components.default_components``."""
        if self.pairs is not None:
            return Components(
                MtcnnFinder(self.config.find.min_face), cast("Any", None), {}, {}, named=True
            )
        named = {sweep.name: sweep.ends for sweep in self.sweeps if sweep.ends}
        if self.grid and self.grid.levels:
            named[self.grid.names[1]] = self.grid.levels
        return self.components or default_components(self.config, self.device, self.editor, named)

    def pictures_asked(self, sample: int) -> tuple[int, int]:
        """(pictures that a paid classifier is asked about at most, pictures of placebo sweeps among them).

        sample: of how many photos its placebo sweeps are.
        """
        fake = sum(len(values) for name, values in self.values.items() if placebo.is_placebo(name))
        placebos = min(sample, len(self.files)) * fake
        return self.images - len(self.files) * fake + placebos, placebos


def look_at(
    config: RunConfig,
    components: Components | None = None,
    given: PictureEditor | None = None,
    trust: bool = False,
) -> Walk:
    """Check everything that can be checked without loading a model, and count.

    given: the editor that the configuration names, if it is an object.  trust: whether programs in files may run.

    Raises: UsageError (names, folders, no photos); as ``ask.editors.load_editor``, ``asked_for.sweeps_of``.
    """
    classifiers = tuple(dict.fromkeys(map(canonical_name, config.score.classifiers)))
    if config.pairs is not None:
        pairs = read_pairs(
            str(config.pairs), config.baseline or "", config.limit, config.compose.placebo
        )
        files = tuple(
            PhotoFile(picture.path, str(name)) for name, picture in pairs.units["picture"].items()
        )
        return Walk(config, files, dict(pairs.values), dict(pairs.facts), classifiers, None, pairs)
    editor = given
    if config.outside and editor is None:
        editor = load_editor(config.edit.model, Setting(config.device, trust))
    sweeps = sweeps_of(config.edit, editor, config.baseline)
    values = values_of(sweeps, config.compose.placebo)
    if grid := config.crossed:
        steps = tuple(map(float, range(prod(map(len, grid.values)))))
        crossing = Sweep(grid.name, grid.name, steps)
        values = grid.sweeps | values_of([crossing], config.compose.placebo)
        sweeps = ()
    files, inputs = read_inputs(config)
    if digests := {sweep.attribute: sweep.prompts.digest for sweep in sweeps if sweep.prompts}:
        inputs["prompts"] = digests
    return Walk(config, files, values, inputs, classifiers, components, None, editor, sweeps)


def read_inputs(config: RunConfig) -> tuple[tuple[PhotoFile, ...], JsonObject]:
    """The photos, and what is read, in one line each: their names and sizes, the contents of the file of landmarks.

    Sizes, not contents: half a million photos are listed in seconds and read once. Each photo's own sha256 is in the
    photos table.

    Raises: UsageError for folders and files that are not there.
    """
    files = tuple(list_files(config.photos, config.limit))
    inputs = listing(files)
    landmarks = config.find.landmarks
    masks = config.compose.masks
    if landmarks is not None:
        if not landmarks.is_file():
            raise UsageError(
                f"There is no file {show(landmarks)}.", "Name the CSV of known landmarks."
            )
        inputs["landmarks"] = sha256_of(landmarks)
    if masks is not None and not masks.is_dir():
        raise UsageError(f"There is no folder {show(masks)}.", "Name the folder of known masks.")
    return files, inputs


def outline(planned: Plan) -> tuple[list[str], JsonObject]:
    """What a walk would do: photos, values, pictures, questions, time and space."""
    walk: Walk = planned.inputs.content
    config = walk.config
    run = planned.folder
    done = 0
    if run is not None:
        missing, parts = missing_parts(run, planned.audit, tables.PHOTOS.name)
        done = parts - len(missing)
    facts = {
        "photos": len(walk.files),
        "images": walk.images,
        "values": walk.values,
        "steps": {name: len(values) for name, values in walk.values.items()},
        "parts": walk.parts,
        "classifiers": list(walk.classifiers),
        "device": walk.device,
        "engine": config.engine,
        "parts_done": done,
        "run": str(run) if run else None,
    }
    about: JsonObject = {"lacking": 0, "show": show}
    about |= {"walk": walk, "facts": facts, "bytes": _bytes(walk)}
    if walk.pairs is not None:
        about["lacking"] = int((walk.pairs.units["lacks"] != "").sum())
    house = templates(Path(__file__).parent / "templates")
    return house.get_template("outline.txt.j2").render(about).rstrip("\n").split("\n"), facts


def _bytes(walk: Walk) -> int:
    """How much the pictures take on the disk, roughly."""
    if walk.pairs is None:
        size = sum(file.path.stat().st_size for file in walk.files)
        return size * walk.images // len(walk.files)
    size = sum(map(size_of, {picture.path for picture in walk.pairs.edits["picture"]}))
    if walk.config.compose.placebo:
        return 4 * size
    return size
