"""Writes walk/{labels,gated}.json and .txt: every table of ``gslopes audit`` and the text of its page.

Twenty-four discs drawn with whole numbers are swept by the editor of drawn faces. What two classifiers answer about a
picture was thrown by a seeded generator, whatever the editor made of it: the tables are the same on every processor.
The gate's, which a network reads, are compared only by which photos it keeps. Run from the repository root:

    OMP_NUM_THREADS=1 python -m tests.golden.walk
"""

import contextlib
import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from PIL import Image

import gslopes
from tests.fixtures import save_empty
from tests.golden.houses import kept, written
from tests.golden.page_text import run_text

FOLDER = Path(__file__).with_suffix("")
PEOPLE, STEPS, SIDE = 24, 5, 96
EYES_TO_MOUTH = ("left_eye", "right_eye", "nose", "left_mouth", "right_mouth")
POINTS = dict(zip(EYES_TO_MOUTH, ((38, 42), (58, 42), (48, 50), (40, 60), (56, 60)), strict=True))
# Label to its share at the centre, and how that changes along gender from end to end.
LABELS = {
    "first": {"Nurse": (0.5, -0.6), "Manager": (0.4, 0.5), "Portrait": (0.9, 0.0), "Hat": (0.3, 0.1), "Male": (0.5, 1)},
    "second": {"Nurse": (0.6, -0.3), "Manager": (0.5, 0.0), "Smile": (0.5, 0.2)},
}  # fmt: skip
READ = {"labels": (), "gated": ("verdicts", "readings", "reach")}
"""The tables of a run whose numbers a network read; of the first only columns of words are compared."""
LEFT_OUT = ("edits",)
FIT = """
[fit]
permutations = 199
min_varying = 3
photos_csv = "about.csv"
groups = ["team"]
cluster = "family"
truth = ["Nurse=nurse", "Smile=smile"]
"""
GATE = """
[gate]
on = true
shift = -1.0
tau = -1.0
off_target = 9.0
[fit]
permutations = 199
min_varying = 3
"""


def draw(folder: Path) -> dict[str, Any]:
    """Photos, faces, masks and a table about them; the arguments of an audit that name them."""
    for name in ("photos", "masks"):
        (folder / name).mkdir()
    down, across = np.mgrid[:SIDE, :SIDE]
    distance = (across - 48) ** 2 + (down - 48) ** 2
    faces, about = [], []
    for index in range(PEOPLE):
        pixels = np.full((SIDE, SIDE, 3), 40 + 7 * index, np.uint8)
        pixels[distance < 30**2] = (230 - 6 * index, 190 - 5 * index, 170 - 5 * index)
        for x, y in POINTS.values():
            pixels[y - 2 : y + 3, x - 4 : x + 5] = (60, 40, 40 + index)
        mask = distance < (6 if index % 8 == 5 else 30) ** 2  # too small for the gate
        Image.fromarray(pixels).save(folder / "photos" / f"{index:02}.bmp")
        Image.fromarray(np.where(mask, 255, 0).astype(np.uint8)).save(
            folder / "masks" / f"{index:02}.png"
        )
        faces.append(
            [
                f"{index:02}.bmp",
                1,
                20,
                16,
                76,
                80,
                *(number for xy in POINTS.values() for number in xy),
            ]
        )
        nurse, smile = ("yes", "no")[index % 3 > 0], ("no", "yes")[index % 2]
        about.append([f"{index:02}.bmp", ("red", "blue")[index % 2], index // 2, nurse, smile])
    (folder / "photos" / "broken.jpg").write_bytes(b"no picture")
    points = [f"{name}_{axis}" for name in POINTS for axis in "xy"]
    columns = ["path", "faces", "x0", "y0", "x1", "y1", *points]
    pd.DataFrame(faces, columns=columns).to_csv(folder / "faces.csv", index=False)
    columns = ["path", "team", "family", "nurse", "smile"]
    pd.DataFrame(about, columns=columns).to_csv(folder / "about.csv", index=False)
    return {
        "photos": "photos",
        "landmarks": "faces.csv",
        "masks": "masks",
        "editor": "drawn-fader",
        "format": "png",
    }


def classifier(
    name: str, thrown: dict[str, tuple[int, str, float]], always: bool
) -> Callable[..., Any]:
    """A function that knows what it answers about each picture.

    thrown: pixels of a picture, as ``of_pixels``, to its person, attribute and value.
    always: every label with its score; otherwise those above a half, and now and then no answer at all.
    """

    def answer(pictures: Any) -> list[dict[str, float] | None]:
        return [about(*thrown[of_pixels(picture)]) for picture in pictures]

    def about(person: int, attribute: str, value: float) -> dict[str, float] | None:
        if not always and (7 * person + round(value)) % 61 == 0:
            return None
        scores = {}
        for number, (label, (share, change)) in enumerate(LABELS[name].items()):
            noise = np.random.default_rng([number, person, len(name)]).random()
            moved = (
                change * value / 4
                if attribute == "gender"
                else 0.02 * ((person + number) % 3 - 1) * value
            )
            scores[label] = round(
                float(np.clip(0.5 + 0.5 * (share - noise) + 0.5 * moved, 0.01, 0.99)), 3
            )
        return (
            scores if always else {label: score for label, score in scores.items() if score > 0.5}
        )

    answer.__name__ = answer.__qualname__ = name
    return answer


def of_pixels(picture: np.ndarray | str) -> str:
    """A digest of a picture, or of a file's."""
    pixels = np.asarray(Image.open(picture).convert("RGB")) if isinstance(picture, str) else picture
    return hashlib.sha256(np.ascontiguousarray(pixels).tobytes()).hexdigest()


def audited(run: str, config: str) -> gslopes.audit:
    """An audit in the working directory, which holds nothing yet."""
    options = draw(Path()) | {
        "config": "options.toml",
        "device": "cpu",
        "steps": STEPS,
        "cache": "cache",
    }
    Path("options.toml").write_text(config, encoding="utf-8")
    result = gslopes.synthesise(out=run, **options)
    paths = result.tables["photos"].set_index("photo")["path"]
    thrown = {
        of_pixels(f"photos/{index:02}.bmp"): (index, "unedited", 0.0) for index in range(PEOPLE)
    }
    for row in result.tables["edits"].to_dict("records"):
        key = of_pixels(f"{run}/{row['file']}")
        thrown.setdefault(
            key, (int(paths[row["photo"]][:2]), row["attribute"], float(row["value"]))
        )
    both = [classifier("first", thrown, always=False), classifier("second", thrown, always=True)]
    return gslopes.audit(out=run, classifier=both, **options)


# -- what is stored ---------------------------------------------------------------------------------------------------

RUNS = {"labels": FIT, "gated": GATE}


def shown(name: str, folder: Path) -> tuple[dict[str, Any], str]:
    """Tables and text of a run, as they are stored.  folder: empty."""
    with contextlib.chdir(folder), patch("matplotlib.figure.Figure.savefig", save_empty):
        audit = audited(name, RUNS[name])
        frames = {table: frame for table, frame in audit.tables.items() if table not in LEFT_OUT}
        for table in READ[name]:
            frames[table] = frames[table].select_dtypes(exclude="floating")
        terminal = f"{audit.summary}\n\n{audit}"
        return {table: kept("walk", table, frame) for table, frame in frames.items()}, run_text(
            Path(name), terminal, folder
        )


def main() -> None:
    """Write the files."""
    FOLDER.mkdir(exist_ok=True)
    for name in RUNS:
        with tempfile.TemporaryDirectory() as folder:
            tables, text = shown(name, Path(folder))
        (FOLDER / f"{name}.json").write_text(written(tables), encoding="utf-8")
        (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
