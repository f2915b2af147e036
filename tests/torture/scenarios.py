"""What is tortured: a command with small inputs, and what of its results is compared."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from unittest.mock import patch

import numpy as np
from PIL import Image

from gslopes.cli.main import main
from tests.fake_provider.folder import write_run
from tests.frame.audits import caption_stages
from tests.golden import walk

Command = list[str]
QUICK = ("fit.permutations=19", "fit.min_varying=1", "part=2")
_MOMENT = re.compile(
    rb"\d\d:\d\d UTC|\d{4}-\d\d-\d\dT[\d:.]+(?:\+00:00|Z)|\d+\.?\d* (?:s|seconds)\b"
)


@dataclass(frozen=True)
class Scenario:
    """One command.

    prepare: writes its inputs into an empty folder; given the address of a classifier.
    command: what is typed, given that folder and the address.
    results: the folder or file, below, that must come out the same.
    asks: whether the classifier is asked.
    """

    prepare: Callable[[Path, str], None]
    command: Callable[[Path, str], Command]
    results: str = "run"
    asks: bool = True

    def facts(self, home: Path) -> dict[str, bytes]:
        """The files of the results, without what tells a time; parts and stamps are how, not what."""
        facts = {}
        whole = home / self.results
        for path in sorted([whole, *whole.rglob("*")]):
            name = path.relative_to(home).as_posix()
            if (
                path.is_file()
                and path.name != "run.json"
                and "/parts/" not in name
                and path.name != ".lock"
            ):
                facts[name] = _MOMENT.sub(b"", path.read_bytes())
        return facts


def settings(*texts: str) -> Command:
    """Options as --set has them."""
    return [part for text in texts for part in ("--set", text)]


# -- audits -----------------------------------------------------------------------------------------------------------


def discs(home: Path, url: str = "") -> None:
    """Four drawn photos with their faces and masks."""
    with patch.object(walk, "PEOPLE", 4):
        walk.draw(home)
    (home / "photos/broken.jpg").unlink()


def classifier(url: str) -> str:
    """The local one, two pictures a request, one request at a time."""
    return f"http:{url},batch=2,concurrency=1,price=1,version=1"


def asked(home: Path, url: str) -> Command:
    """Which classifier, and where its answers are kept."""
    return ["-c", classifier(url), "--cache", str(home / "cache"), "--yes"]


def audit(home: Path, url: str) -> Command:
    """Photos that our editor edits."""
    known = settings(f"landmarks={home / 'faces.csv'}", f"masks={home / 'masks'}", *QUICK)
    plain = [
        "--editor",
        "drawn-fader",
        "--steps",
        "3",
        "--no-placebo",
        "--no-gate",
        "--device",
        "cpu",
    ]
    return [
        "audit",
        str(home / "photos"),
        "--out",
        str(home / "run"),
        *plain,
        *known,
        *asked(home, url),
    ]


def pairs(home: Path, url: str = "") -> None:
    """Four units of three pictures that others made."""
    rows = []
    for unit in range(4):
        for value in range(3):
            pixels = np.random.default_rng([unit, value]).integers(0, 255, (24, 24, 3), np.uint8)
            Image.fromarray(pixels).save(home / f"{unit}-{value}.png")
            rows.append((f"{unit}-{value}.png", f"u{unit}", "age", value))
    with (home / "set.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("picture", "unit", "attribute", "value"), *rows])


def audit_pairs(home: Path, url: str) -> Command:
    """A set that others made."""
    plain = ["--no-placebo", "--no-gate", "--device", "cpu", *settings(*QUICK)]
    return [
        "audit",
        "--pairs",
        str(home / "set.csv"),
        "--out",
        str(home / "run"),
        *plain,
        *asked(home, url),
    ]


def finished(home: Path, url: str) -> None:
    """A run that is done."""
    discs(home)
    run(audit(home, url))


def done_again(home: Path, url: str) -> Command:
    """The fit and the page, by other options."""
    return ["audit", str(home / "run"), "--trust", *settings("fit.permutations=29")]


def twice(home: Path, url: str) -> None:
    """Two runs that are done, of two classifiers."""
    finished(home, url)
    run(
        [
            text.replace("version=1", "version=2").replace(str(home / "run"), str(home / "other"))
            for text in audit(home, url)
        ]
    )


def compare(home: Path, url: str) -> Command:
    """Two runs."""
    return ["compare", str(home / "run"), str(home / "other"), "--out", str(home / "both")]


def exported(form: str) -> Callable[[Path, str], Command]:
    """A run in one form."""
    ending = ".parquet" if form == "answers" else ""
    return lambda home, url: [
        "export",
        str(home / "run"),
        "--form",
        form,
        "--out",
        str(home / f"set{ending}"),
    ]


def painted(home: Path, url: str) -> None:
    """A run whose pictures are there and were never asked about."""
    write_run(home / "run", 4, part=2, size=(32, 32))


def score(home: Path, url: str) -> Command:
    """Only asking, into the cache."""
    return ["audit", str(home / "run"), "--only", "score", *asked(home, url)]


def captioned(home: Path, url: str) -> None:
    """Captions of 36 images."""
    caption_stages(home / "inputs")


def captions(home: Path, url: str) -> Command:
    """All techniques."""
    groups = ["--groups", str(home / "inputs/groups.csv"), *settings("types=5")]
    return ["captions", str(home / "inputs/stages"), "--out", str(home / "run"), *groups]


SCENARIOS: Mapping[str, Scenario] = {
    "audit": Scenario(discs, audit),
    "pairs": Scenario(pairs, audit_pairs),
    "cache": Scenario(painted, score),
    "parquet": Scenario(finished, exported("parquet"), "set", asks=False),
    "webdataset": Scenario(finished, exported("webdataset"), "set", asks=False),
    "imagefolder": Scenario(finished, exported("imagefolder"), "set", asks=False),
    "answers": Scenario(finished, exported("answers"), "set.parquet", asks=False),
    "again": Scenario(finished, done_again, asks=False),
    "compare": Scenario(twice, compare, "both", asks=False),
    "captions": Scenario(captioned, captions, asks=False),
}


def run(command: Command) -> int:
    """The command line in this process; its exit code."""
    try:
        main(command)
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def answered(picture: bytes) -> dict[str, float]:
    """What the local classifier says about a picture."""
    return {
        label: sha256(label.encode() + picture).digest()[0] / 255 for label in ("nurse", "smile")
    }
