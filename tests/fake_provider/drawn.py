"""What a paid audit looks like, without paying: drawn faces, and five services whose answers are planted.

    python -m tests.fake_provider.drawn FOLDER

FOLDER/run is then the run folder of one audit of all five, asked by ``gslopes audit --only score --yes`` over their
protocols. The gallery's page is made of it: see docs/gallery/models.toml, ``paid-audit``.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import gslopes
from gslopes.core import tables
from tests.fake_provider.control import FakeProvider
from tests.fake_provider.pictures import PLANTED, present
from tests.fake_provider.protocol import Labels

FACES = 60
SERVICES = {
    "rekognition": 60,
    "google": 60,
    "clarifai": 15,
    "azure": 60,
    "imagga": 60,
}  # requests a second
ALWAYS = {"Person": 0.97, "Face": 0.95, "Portrait": 0.9}  # under every picture


def pictured(folder: Path, faces: int) -> Path:
    """The run folder of drawn faces, swept along gender and by the placebos; nobody is asked yet."""
    return gslopes.synthesise(
        out=folder / "run", device="cpu", **gslopes.drawn_faces(folder / "drawn", faces)
    ).folder


def planted(run: Path) -> dict[str, dict[str, Labels]]:
    """Service to sha256 of each picture of a run to its labels; under a placebo, which changes nothing, as at 0.

    As in ``pictures``, a label with slope b is there iff u < c (1 + b a); here u is the photo's place in an order of
    the label's own.
    """
    edits = tables.read(tables.EDITS, run / "edits.parquet")
    photos = sorted(set(edits["photo"]))
    options: dict[str, dict[str, Labels]] = {}
    for service, slopes in PLANTED.items():
        position = {label: _places(f"{service} {label}", photos) for label in slopes}
        options[service] = {}
        for photo, along, value, file in edits[["photo", "attribute", "value", "file"]].itertuples(
            index=False
        ):
            a = value if along == "gender" else 0.0
            margins = {
                label: present(slope, a, position[label][photo]) for label, slope in slopes.items()
            }
            result = ALWAYS | {
                label: 0.6 + 0.4 * margin for label, margin in margins.items() if margin > 0
            }
            name = hashlib.sha256((run / file).read_bytes()).hexdigest()
            options[service][name] = sorted(result.items(), key=lambda pair: -pair[1])
    return options


def _places(seed: str, photos: list[str]) -> dict[str, float]:
    order = sorted(photos, key=lambda photo: hashlib.sha256(f"{seed} {photo}".encode()).digest())
    return {photo: (number + 0.5) / len(photos) for number, photo in enumerate(order)}


def commands(run: Path) -> list[list[str]]:
    """The arguments of ``gslopes`` that ask all five services in one audit, and make its page."""
    questions = [f"{name}:rate={rate}" for name, rate in SERVICES.items() if name != "google"]
    questions.insert(1, "google:images_per_minute=3600")
    named = [part for name in questions for part in ("--classifier", name)]
    again = ["audit", str(run), "--only"]
    return [[*again, "score", *named, "--yes"], [*again, "fit"], [*again, "report"]]


def main(folder: Path) -> None:
    run = pictured(folder, FACES)
    with FakeProvider() as provider:
        provider.known = planted(run)
        environment = os.environ | provider.environment | {"GSLOPES_CACHE": str(folder / "cache")}
        for command in commands(run):
            subprocess.run([sys.executable, "-m", "gslopes", *command], env=environment, check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
