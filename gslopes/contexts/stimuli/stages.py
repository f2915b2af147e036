"""What a context audit is about: people and their self-reports, backgrounds, the values of a sweep.

All of it is looked at and checked before any work; then people are cut out, and put in front of every background.
"""

import importlib.util
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from pandas import DataFrame

from gslopes.contexts import TABLES, filled
from gslopes.contexts.config import ContextsConfig, StageConfig
from gslopes.contexts.measures.typology import read_typology
from gslopes.contexts.stimuli.backgrounds import BackgroundPicture, read_backgrounds
from gslopes.contexts.stimuli.composing import Composing, Cutting, Part, Sweeper
from gslopes.contexts.stimuli.people import cfd_person, read_reports, read_review, reviewed
from gslopes.core import (
    JsonObject,
    Row,
    UsageError,
    frozen,
    hexdigest,
    reasons,
    runfolder,
    runtime,
    to_dict,
)
from gslopes.core.records import Finder
from gslopes.core.tables import frame_of
from gslopes.faces.components import default_components, model_records
from gslopes.faces.config import ComposeConfig, EditConfig, FindConfig, values_for
from gslopes.faces.find import KnownFinder, MtcnnFinder
from gslopes.faces.zoo import identify
from gslopes.frame.spec import Inputs, Made, Run, Tables
from gslopes.photos.folder import PhotoFile, digest_of, list_photos
from gslopes.photos.people import matched

EXTRAS = ("statsmodels", "krippendorff")


@frozen
class Material:
    """Looked at, and not yet worked on.

    files: photos of people.  who: relative name to its row of people.csv.
    backgrounds: skipped ones too.  used: those that people are put in front of.  values: (K,) of the sweep.
    photos: relative name to the sha256 of its bytes, or of the name itself if the file cannot be read.
    """

    files: tuple[PhotoFile, ...]
    who: dict[str, Row]
    backgrounds: list[BackgroundPicture]
    used: tuple[BackgroundPicture, ...]
    values: tuple[float, ...]
    photos: dict[str, str]

    def pictures(self, kinds: Sequence[str]) -> int:
        """Pictures that taggers are asked about, at most: P (B + 2) + B, and P (B + 1) K with a sweep."""
        people = len(self.who)
        backgrounds = len(self.used)
        plain = backgrounds + ("original" in kinds) + ("canvas" in kinds)
        return people * (plain + (backgrounds + 1) * len(self.values)) + backgrounds


# -- before any work --------------------------------------------------------------------------------------------------


def look(people: Path, config: ContextsConfig) -> Inputs:
    """People and backgrounds.  Raises: as ``audit_contexts``."""
    if missing := [name for name in EXTRAS if importlib.util.find_spec(name) is None]:
        raise UsageError(
            f"The context audit needs {' and '.join(missing)}.", "pip install 'gslopes[contexts]'"
        )
    pictures = config.pictures
    if config.analysis.typology:
        read_typology(config.analysis.typology)
    if not config.table:
        raise UsageError(
            "The context audit needs the self-reported gender of the people.",
            "Give it with --people people.csv: columns id, gender and, where known, ethnicity and person.",
        )
    files = tuple(list_photos(people))
    who, absent = self_reports(files, config.table, config.group_column)
    published = config.preset == "published"
    backgrounds = read_backgrounds(
        pictures.backgrounds, pictures.canvas, lambda: MtcnnFinder(20), published
    )
    used = tuple(room for room in backgrounds if room.used)
    if published:
        _check_published(used)
    values: tuple[float, ...] = ()
    models = {}
    if pictures.sweep:
        values = tuple(float(str(value)) for value in values_for(pictures.sweep, pictures.steps))
        models = model_records(swept_faces(people, pictures))
    elif pictures.cutout in ("auto", "studio"):
        spec, digest = identify("face-parser")
        models = {"parser": {"sha256": digest, "licence": spec.licence}}
    if config.review and not config.review.is_file():
        raise UsageError(
            f"There is no file {runfolder.show(config.review)}.",
            "Name the CSV that the page of cut-outs saves.",
        )
    photos = {file.relative: digest_of(file.path) or hexdigest(file.relative) for file in files}
    lines = [f"{name}\0{photo}\0{who.get(name)}\n" for name, photo in photos.items()]
    lines += [f"{room.key}\0{room.photo}\0{asdict(room.record)}\n" for room in used]
    digest = hexdigest("".join(lines))
    conditions = [*(room.key for room in used), "canvas"] if values else []
    facts = {
        **identity(config),
        "values": {f"{condition}~{pictures.sweep}": list(values) for condition in conditions},
        "models": models,
        "inputs": {"photos": len(files) + len(used), "digest": digest},
    }
    material = Material(files, who, backgrounds, used, values, photos)
    return Inputs(material, facts, notes=tuple(filter(None, [absent])))


def identity(config: ContextsConfig) -> JsonObject:
    """What of the options makes it another run."""
    return {"pictures": to_dict(config.pictures), "seed": config.seed}


def _check_published(used: Sequence[BackgroundPicture]) -> None:
    counts = Counter(room.context for room in used)
    if crowded := sorted(name for name in counts if counts[name] > 1):
        raise UsageError(
            f"As published, a context has one photograph; {crowded[0]} has several.",
            "Leave one of them in the folder.",
        )


def self_reports(
    files: Sequence[PhotoFile], people: str | Path, group_column: str = ""
) -> tuple[dict[str, Row], str]:
    """Relative name to its person's row, and a sentence on rows without a photo.

    Raises: UsageError if no photo has a row.
    """
    absent = ""
    if str(people) == "cfd":
        rows = {file.relative: row for file in files if (row := cfd_person(file.relative))}
    else:
        table = read_reports(Path(people), group_column)
        same = {name: (row["gender"], row["group"]) for name, row in table.items()}
        known, absent = matched(Path(people), same, files)
        rows = {photo.relative: table[name] for photo, name in known.items()}
    if not rows:
        raise UsageError(
            f"{people} says nothing about any of the photos.",
            f"The first photo is {files[0].relative}.",
        )
    return rows, absent


# -- stages -----------------------------------------------------------------------------------------------------------


def _people(run: Run) -> Path:
    return Path(runfolder.read_manifest(run.folder)["source"])


def read(run: Run) -> Made:
    """The tables ``people`` and ``backgrounds``."""
    runfolder.check_outside(run.folder, _people(run))
    material: Material = run.inputs
    rows = [{"photo": material.photos[name], **row} for name, row in material.who.items()]
    return {"people": rows, "backgrounds": background_rows(material.backgrounds)}


def background_rows(backgrounds: Sequence[BackgroundPicture]) -> DataFrame:
    """The ``backgrounds`` table."""
    rows = [
        {
            **asdict(background.record),
            "key": background.key,
            "photo": background.photo,
            "context": background.context,
            "path": background.path,
            "status": "used" if background.used else "skipped",
            **background.why.columns,
            "words": "|".join(background.record.tags),
        }
        for background in backgrounds
    ]
    return frame_of(TABLES["backgrounds"], rows)


def cut_out(run: Run, files: Sequence[PhotoFile]) -> Made:
    """Rows of the ``cutouts`` table, and the pictures that they name."""
    work = run.once(_cutting)
    rows = []
    for file in files:
        rows.append(work.row(file))
        run.tick(1)
    return {"cutouts": filled("cutouts", rows)}


def _cutting(run: Run) -> Cutting:
    pictures = run.config.pictures
    finder: Finder = MtcnnFinder(40)
    if pictures.landmarks:
        finder = KnownFinder(pictures.landmarks, _people(run))
    return Cutting(run.folder, run.inputs.photos, pictures.cutout, finder)


def decide(run: Run, parts: Tables) -> Made:
    """The ``cutouts`` table with people's decisions."""
    cutouts = parts["cutouts"]
    review = run.config.review
    decisions = read_review(review) if review else {}
    if unknown := decisions.keys() - set(cutouts["photo"]):
        note = f"{len(unknown):,} of its {len(decisions):,} decisions are about photos that are not in this run"
        run.note(f"{runfolder.show(review)}: {note}, such as {runfolder.show(min(unknown)[:40])}.")
    return {"cutouts": reviewed(cutouts, decisions)}


def compose(run: Run, items: Sequence[PhotoFile | BackgroundPicture]) -> Made:
    """Every person in front of every background, and the backgrounds without a person."""
    rows = Part(run.once(_composing), items, run.tick).rows
    return {**rows, "composites": filled("composites", rows["composites"])}


def _composing(run: Run) -> Composing:
    return Composing(run, load_sweeper(run) if run.inputs.values else None)


def check_anybody(run: Run) -> None:
    """Raises: UsageError if no person has a composite."""
    photos = run.table("photos")
    people = photos[~photos["path"].str.startswith("background ")]
    if not (people["status"] == "used").any():
        first = photos.query("status != 'used'").iloc[0]
        why = reasons.explained(first["reason"], first["detail"])
        raise UsageError(
            f"No person can be put in front of a background: {why}.", "Look at the cut-outs."
        )


# -- a sweep of the face ----------------------------------------------------------------------------------------------


class SweptFaces(NamedTuple):
    """By what the counterfactuals of a sweep are made, see ``faces.config.FacesConfig``: the attribute's own editor."""

    photos: Path
    find: FindConfig
    edit: EditConfig
    compose: ComposeConfig = ComposeConfig()


def swept_faces(people: Path, pictures: StageConfig) -> SweptFaces:
    """The configuration of an audit's sweep."""
    return SweptFaces(
        people,
        FindConfig(landmarks=pictures.landmarks),
        EditConfig(attributes=(pictures.sweep,)),
    )


def load_sweeper(run: Run) -> Sweeper:
    """The sweeper of a run, its models loaded.  Raises: ModelError."""
    from gslopes.faces.gate.sweep_measurer import SweepMeasurer
    from gslopes.faces.zoo.reader import FaceReader

    pictures = run.config.pictures
    device = runtime.pick_device(run.config.device)
    config = swept_faces(_people(run), pictures)
    return Sweeper(
        components=default_components(config, device),
        attribute=pictures.sweep,
        values=run.inputs.values,
        min_face=config.find.min_face,
        measurer=SweepMeasurer(FaceReader.load(device), device, config.find.min_face),
    )
