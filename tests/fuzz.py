"""Mutated input for everything that reads what strangers wrote: only our own errors may come out.

    python -m tests.fuzz --seconds 600 --seed 7

A corpus is made on the spot; each round takes one entry of one target and flips, cuts, doubles, splices or replaces
parts of it. What raises anything else than the errors that a reader declares, or takes longer than ``SLOW``, is a
finding, printed with the input as Python writes it.
"""

import argparse
import contextlib
import io
import json
import random
import resource
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from gslopes.ask.answers import parse_answer
from gslopes.ask.classifiers import load_classifier
from gslopes.ask.classifiers.replay import ReplayClassifier, ReplayOptions
from gslopes.ask.retry import DAY, seconds_to_wait
from gslopes.ask.secrets import scrub, scrub_json
from gslopes.collect.collector import _read_journal
from gslopes.collect.fetch import (
    AGENT,
    LONGEST_DELAY,
    DownloadError,
    is_public,
    min_interval,
    parse,
    parse_url,
)
from gslopes.collect.search import read_keywords, read_occupations
from gslopes.core import runfolder, tables
from gslopes.core.config import read_toml
from gslopes.core.errors import GslopesError
from gslopes.core.files import hexdigest
from gslopes.photos.decode import decode

SLOW = 20.0  # seconds for one input, on a busy machine
EXPECTED = (GslopesError, DownloadError)
BITS = (
    *(bytes([byte]) for byte in b'\0\xff=[]{",\n\r'),
    b"-1",
    b"1e999",
    b"NaN",
    b"\xc2\xb2",
    b"9" * 5000,
)


@dataclass(frozen=True)
class Target:
    """name: of the reader.  corpus: good input.  read: raises one of ``EXPECTED``, or nothing."""

    name: str
    corpus: tuple[bytes, ...]
    read: Callable[[bytes], object]


def targets(folder: Path) -> list[Target]:
    """All readers; files that they need are made in the folder."""
    file = folder / "input"
    answers = json.dumps({"version": "1", "labels": {"nurse": 0.9, "person": 1}}).encode()
    line = {
        "classifier": "azure",
        "version": "",
        "picture": "00" * 32,
        "status": "answered",
        "raw": {"tags": []},
    }
    line |= {"model": "m", "asked": "2026-11-21T00:00:00+00:00", "client": "0.1.0"}
    manifest = {
        "seed": 0,
        "values": {"gender": [-2, 0, 2]},
        "classifiers": {"toy": {"version": "1"}},
        "config": {},
    }
    http = load_classifier("http:https://host/x", prepare=False)

    def written(reader: Callable[[Path], object]) -> Callable[[bytes], object]:
        def read(data: bytes) -> object:
            file.write_bytes(data)
            return reader(file)

        return read

    def of_run(data: bytes) -> object:
        (folder / runfolder.MANIFEST).write_bytes(data)
        return runfolder.compare(
            folder, manifest, ("seed", "values", "classifiers")
        ) or runfolder.read_manifest(folder)

    return [
        Target("decoder", pictures(), lambda data: decode(data, "x")),
        Target("run.json", (json.dumps(manifest).encode(), b"[" * 100_000), of_run),
        Target(
            "configuration",
            (b'photos = "x"\nlimit = 3\n[score]\nclassifiers = ["celeba-tagger"]\n',),
            written(read_toml),
        ),
        Target("answers", (answers, b'{"refused": "no face"}'), lambda data: answered(http, data)),
        Target(
            "robots.txt",
            (b"User-agent: *\nDisallow: /p/*.png$\nCrawl-delay: 2\nRequest-rate: 1/5\n",),
            robots,
        ),
        Target(
            "addresses",
            (b"https://host:8443/a/b.jpg?x=1#y", b"http://[2606:4700::1111]/", b"//xn--nxasmq6b/"),
            address,
        ),
        Target("Retry-After", (b"120", b"Fri, 31 Dec 2027 23:59:59 GMT"), wait),
        Target(
            "jobs CSV",
            (b"occupation,soc,cps\nchef,35-1011,Chefs\n",),
            written(lambda path: read_occupations(str(path))),
        ),
        Target(
            "keywords CSV", (b"keyword\nfemale\n",), written(lambda path: read_keywords(str(path)))
        ),
        Target("recording", (json.dumps(line).encode() + b"\n",), written(recording)),
        Target(
            "journal",
            (b'{"rank": 1, "status": "kept", "path": "a.jpg"}\n',),
            written(lambda path: _read_journal(path, folder)),
        ),
        Target("table", parquet(folder), written(table)),
        Target("scrub", (b"https://me:pw@host/x?api_key=abc Authorization: Bearer x",), scrubbed),
    ]


def every_target(folder: Path) -> list[Target]:
    """Those of the sibling audits among them, tables of others, and what comes over a network."""
    from tests import fuzz_http, fuzz_siblings, fuzz_tables

    (folder / "siblings").mkdir()
    (folder / "tables").mkdir()
    replies = fuzz_http.Replies()
    over_network = [
        Target("HTTP replies", fuzz_http.corpus(), replies.asked),
        Target("HTTP downloads", fuzz_http.corpus(), replies.downloaded),
    ]
    siblings = fuzz_siblings.targets(folder / "siblings", Target)
    tables_of_others = fuzz_tables.targets(folder / "tables", Target)
    return [*targets(folder), *siblings, *tables_of_others, *over_network]


def pictures() -> tuple[bytes, ...]:
    """One small picture of each format, some with a profile or an orientation."""
    noise = np.random.default_rng(0).integers(0, 256, (24, 16, 3), np.uint8)
    kinds = (
        *("JPEG RGB", "JPEG CMYK", "PNG RGBA", "PNG P", "WEBP RGB"),
        *("TIFF RGB", "BMP RGB", "GIF RGB"),
    )
    result = []
    for kind, mode in map(str.split, kinds):
        Image.fromarray(noise).convert(mode).save(buffer := io.BytesIO(), kind)
        result.append(buffer.getvalue())
    return tuple(result)


def parquet(folder: Path) -> tuple[bytes, ...]:
    """A table of answers, and one of another program."""
    row = {
        "photo": "a" * 64,
        "attribute": "gender",
        "value": -1.0,
        "score": 0.5,
        "classifier": "c",
        "label": "x",
    }
    frame = pd.DataFrame([row | {"step": step} for step in range(3)])
    tables.write(tables.SCORES, frame, folder / "scores.parquet")
    frame.to_parquet(folder / "other.parquet")
    return tuple((folder / name).read_bytes() for name in ("scores.parquet", "other.parquet"))


def table(path: Path) -> None:
    for read in (tables.read, tables.read_arrow):
        with contextlib.suppress(GslopesError):
            read(tables.SCORES, path)
    tables.read_columns(tables.SCORES, path, ["photo", "score"])


def answered(classifier: object, data: bytes) -> None:
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError):
        raw = data.decode("latin-1")
    answer = parse_answer(classifier, raw)  # type: ignore[arg-type]
    assert answer.status in ("answered", "refused", "failed")
    assert all(0 <= score <= 1 for _, score in answer.labels)


def robots(data: bytes) -> None:
    rules = parse(data)
    assert rules.can_fetch("http://host/p/a.png", AGENT) in (True, False)
    assert 0 <= min_interval(rules) <= LONGEST_DELAY


def address(data: bytes) -> None:
    url = parse_url(data.decode("utf-8", "replace"))
    assert url.port is None or 0 < url.port < 2**16
    host = url.raw_host.decode("ascii").strip("[]")
    with contextlib.suppress(ValueError):  # a name, no address
        is_public(host)
    parse_url(data.decode("latin-1"), url)


def wait(data: bytes) -> None:
    seconds = seconds_to_wait(dict.fromkeys(("retry-after", "date"), data.decode("latin-1")))
    assert seconds is None or 0 <= seconds <= DAY


def recording(path: Path) -> None:
    classifier = ReplayClassifier("replay", ReplayOptions(file=path))
    for raw in classifier.ask([b"picture"]):
        if not isinstance(raw, Exception):
            parse_answer(classifier, raw)


def scrubbed(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    assert len(scrub(text)) <= 300
    scrub_json({"a": [text], text: 1})


def mutated(data: bytes, donor: bytes, lot: random.Random) -> bytes:
    """A neighbour of some good input."""
    for _ in range(lot.choice((1, 1, 2, 4, 16))):
        start = lot.randrange(len(data) + 1)
        end = min(len(data), start + lot.choice((0, 1, 2, 8, 64)))
        match lot.randrange(7):
            case 0:
                data = data[:start] + data[end:]
            case 1:
                data = data[:start] + data[start:end] * lot.choice((2, 9, 300)) + data[end:]
            case 2:
                data = data[:start] + lot.choice(BITS) + data[end:]
            case 3 if data:
                position = start % len(data)
                data = (
                    data[:position]
                    + bytes([data[position] ^ 1 << lot.randrange(8)])
                    + data[position + 1 :]
                )
            case 4:
                data = data[:start] + lot.randbytes(end - start) + data[end:]
            case 5:
                data = data[:start] + donor[lot.randrange(len(donor) + 1) :]
            case _:
                data = data[:start]
    return data[: 1 << 20]


def fuzz(
    seconds: float, seed: int, only: str = "", kept: Path | None = None
) -> tuple[Counter[str], list[str]]:
    """Rounds by target, and what was found; every target gets its turn, whatever the others take.

    only: what the name of a target must hold.  kept: a folder for inputs that are findings.
    """
    lot, rounds, result = random.Random(seed), Counter[str](), list[str]()
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = [target for target in every_target(Path(name)) if only in target.name]
        ends = time.monotonic() + seconds
        while time.monotonic() < ends and len(result) < 20:
            for target in expected:
                seedling = lot.choice(target.corpus)
                data = (
                    mutated(seedling, lot.choice(target.corpus), lot)
                    if rounds[target.name]
                    else seedling
                )
                began = time.monotonic()
                try:
                    with contextlib.suppress(*EXPECTED):
                        target.read(data)
                except Exception as error:
                    if kept is not None:
                        (kept / f"found-{hexdigest(data)[:12]}").write_bytes(data)
                    result.append(
                        f"{target.name}: {type(error).__name__}: {str(error)[:200]} for {data[:300]!r}"
                    )
                if time.monotonic() - began > SLOW:
                    result.append(
                        f"{target.name}: {time.monotonic() - began:.1f} seconds for {data[:300]!r}"
                    )
                rounds[target.name] += 1
    return rounds, result


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kept", type=Path, help="a folder for inputs that are findings")
    parser.add_argument("--gib", type=int, default=0, help="of memory that the process may take")
    parser.add_argument("--only", default="", help="targets whose name holds this")
    options = parser.parse_args()
    if options.gib:
        resource.setrlimit(resource.RLIMIT_AS, (options.gib << 30,) * 2)
    counts, findings = fuzz(options.seconds, options.seed, options.only, options.kept)
    print(
        json.dumps(
            {
                "seed": options.seed,
                "rounds": sum(counts.values()),
                "targets": counts,
                "found": findings,
            },
            indent=1,
        )
    )
    raise SystemExit(bool(findings))
