"""The demo: what gslopes does, on faces whose truth is known and on one real photo, without data and without network.

Drawn faces are audited with a classifier into which a bias was planted. Its true slope is known, because a drawn face
can be drawn again with nothing but the cue changed; next to it is the slope that the walk recovers through the
editor. Then the shipped gender editor sweeps the public-domain portrait of the astronaut Eileen Collins.
"""

from pathlib import Path
from typing import Any

import numpy as np
from pandas import DataFrame

from gslopes.ask.pictures import png
from gslopes.ask.questions import read_picture
from gslopes.core import (
    Executor,
    JsonObject,
    UsageError,
    frozen,
    read_beside,
    runfolder,
    tables,
)
from gslopes.core.records import Answer, Array, ByteArray, FloatArray, doubles
from gslopes.faces.config import values_for
from gslopes.photos import drawn as rendered
from gslopes.photos.decode import decode
from gslopes.photos.folder import open_photo
from gslopes.slopes.audit import audit
from gslopes.slopes.outcome import Walked
from gslopes.stats.ols import fit_lines

EDITOR = "drawn-confounded"

# Label to its bias and offset, and when it is returned.
PLANTED = read_beside(__file__, "data/planted.toml")


@frozen
class Demo:
    """What the demo found.

    recovered: a row a label: label, planted (slope under re-rendering), slope, ci_low, ci_high, n; in percentage points
        per unit, by the estimator of the page.
    reach: how far the edit moved the drawn cue per unit, as a share of drawing the face again; slopes scale with it.
    rendered: the audit of the drawn faces.  portrait: the astronaut's.
    sweep: a picture of the astronaut's sweep.
    """

    recovered: DataFrame
    reach: float
    rendered: Walked
    portrait: Walked
    sweep: Path


class PlantedClassifier:
    """A classifier with a bias that we know: it reads the drawn cue and the skin's tone from the pixels.

    points: (5, 2) the landmarks of all its photos, photo frame.
    """

    name = "planted"
    version = "1"
    batch = 64

    def __init__(self, points: FloatArray) -> None:
        self.points = points

    def ask(self, pictures: list[bytes]) -> list[object]:
        """Encoded pictures to [cue, tone] each."""
        pixels = np.stack([decode(data, "picture")[0] for data in pictures])
        return list(self.read(pixels).tolist())

    def read(self, pixels: ByteArray) -> Array:
        """(B, S, S, 3) uint8 RGB to (B, 2): cue and tone."""
        points = np.broadcast_to(self.points, (len(pixels), 5, 2))
        columns = rendered.gender_readout(pixels, points), rendered.tone_readout(pixels, points)
        return doubles(np.stack(columns, 1))

    def parse(self, raw: object) -> Answer:
        """The labels whose sum is positive; the score grows with it."""
        cue, tone = np.asarray(raw, np.float64)
        sums = {label: tone + bias * cue + offset for label, (bias, offset) in PLANTED.items()}
        return Answer(
            "answered", tuple((k, float(1 / (1 + np.exp(-v)))) for k, v in sums.items() if v > 0)
        )


def demo(
    out: str | Path,
    executor: Executor,
    *,
    faces: int = 240,
    seed: int = 0,
    device: str = "auto",
) -> Demo:
    """Run the demo in the folder ``out``; called again, it continues a stopped run.

    faces: how many of the drawn faces that ship, 30 to 240.

    Raises: StorageError, ModelError.
    """
    out = Path(out)
    runfolder.make_folder(out)
    executor.note(
        f"{faces:,} drawn faces, and a classifier with a planted bias. The first faces tell how long all take."
    )
    with runfolder.storage(out):
        given = drawn_faces(out / "rendered-photos", faces)
    classifier = PlantedClassifier(rendered.landmarks())
    common: dict[str, Any] = {"executor": executor, "seed": seed, "device": device}
    first = audit(out=out / "rendered", classifier=classifier, **given, **common)
    planted, drawn_cue = true_slopes(faces)
    reach = cue_per_unit(classifier, first.folder) / drawn_cue
    rates = first.tables["slopes"].query("estimator == 'photo-rate' and attribute == 'gender'")
    fitted = rates.set_index("label")[["slope", "ci_low", "ci_high", "n"]]
    recovered = planted.join(fitted).rename_axis("label").reset_index()

    executor.note("A real photo: the astronaut, swept by the shipped gender editor.")
    photo = out / "astronaut-photo" / "astronaut.png"
    sweep = out / "sweep.png"
    if not photo.exists():
        runfolder.write_bytes(photo, png(astronaut()))
    # of one photo nothing is judged: no placebo sweeps
    portrait = audit(photo.parent, out / "astronaut", placebo=False, gate=False, **common)
    edits = sorted(
        (portrait.folder / "edits" / "gender").iterdir(), key=lambda file: file.stem.rsplit("-")[-1]
    )
    upper = [open_photo(file).pixels[:256, 96:352] for file in (photo, *edits)]  # where the face is
    runfolder.write_bytes(sweep, png(np.concatenate(upper, 1)))
    return Demo(recovered, reach, first, portrait, sweep)


def astronaut() -> ByteArray:
    """Eileen Collins, (512, 512, 3) uint8 RGB: NASA 1998, public domain; the pixels that scikit-image ships."""
    return open_photo(Path(__file__).with_name("data") / "astronaut.webp").pixels


def drawn_faces(out: str | Path, faces: int = 60) -> JsonObject:
    """Write drawn faces into a folder, to try things without photos of people: every attribute is known.

    out: the folder, made if missing.  faces: how many, up to 240; 160 by 160 px each.

    Returns arguments of ``audit``: photos, the known faces and masks, and the editor of drawn faces.

        gslopes.audit(out="run", classifier=my_function, **gslopes.drawn_faces("drawn"))

    Raises: StorageError; UsageError for fewer than one face, or more than ship.
    """
    if not 1 <= faces <= rendered.SHIPPED:
        raise UsageError(
            f"{faces:,} faces cannot be drawn: {rendered.SHIPPED} ship.",
            f"Give 1 to {rendered.SHIPPED}; 40 and more for a finding.",
        )
    folder = Path(out)
    photos = rendered.unpack(folder, faces)
    truths = {"landmarks": folder / rendered.FACES, "masks": folder / rendered.MASKS}
    # the gate's reader and its detector know photos, not drawings
    return {"photos": photos, **truths, "editor": EDITOR, "gate": False}


def true_slopes(faces: int) -> tuple[DataFrame, float]:
    """The slope of each planted label under do(cue), and the cue's as read: each face drawn again at each value.

    Returns (a frame with index label and one column, planted, percentage points per unit; mean read cue per unit).
    """
    values = values_for("gender")
    read = doubles(rendered.readings()[:faces])
    cue, tone = np.moveaxis(read, -1, 0)
    shares = [(tone + bias * cue + offset > 0).mean(0) for bias, offset in PLANTED.values()]
    lines = fit_lines(
        doubles(values), np.stack([*(100 * share for share in shares), cue.mean(0)])
    ).slope
    return DataFrame({"planted": lines[:-1]}, index=list(PLANTED)), float(lines[-1])


def cue_per_unit(classifier: PlantedClassifier, run: Path) -> float:
    """The slope of the mean cue as read from a run's edited pictures."""
    edits = tables.read(tables.EDITS, run / "edits.parquet")
    values = []
    cue = []
    for value, group in edits.query("attribute == 'gender'").groupby("value"):
        read = classifier.ask([read_picture(run, file) for file in group["file"]])
        values.append(float(value))  # type: ignore[arg-type]
        cue.append(np.asarray(read, np.float64)[:, 0].mean())
    return float(fit_lines(np.array(values), np.array([cue])).slope[0])
