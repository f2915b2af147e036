"""Parsing: in parts of 2,000 images, each distinct caption once a process, in any number of processes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.captions import tables as schemas
from gslopes.captions.config import CaptionsConfig
from gslopes.captions.tabulate import caption_tuples
from gslopes.core import runfolder, tables
from gslopes.core.errors import UsageError
from gslopes.executors import Executor, Tick
from gslopes.executors.executor import RemoteTask, Work
from gslopes.language.graph import Fact, Parser, Senses, with_synsets
from gslopes.language.parsers import find_parser
from gslopes.language.wordnet import wordnet

STAGE = "parse"
PART = 2000


class Parse:
    """The work of one part: the captions of its images to tuples.

    out: the run folder, which has the sentences table.  config: its parser, WordNet and sense rule count.
    """

    in_threads = False

    def __init__(self, out: Path, config: CaptionsConfig) -> None:
        self.out, self.config = out, config
        self._loaded: tuple[Parser, Senses] | None = None
        self._known: dict[str, tuple[Fact, ...]] = {}
        self._sentences: dict[int, pd.DataFrame] | None = None

    def __call__(self, part: int, tick: Tick) -> None:
        """Parse a part and write it."""
        if self._sentences is None:
            frame = tables.read(schemas.SENTENCES, self.out / "sentences.parquet")
            frame = frame[frame["status"] == "parsed"]
            self._sentences = dict(list(frame.groupby(_part_of(frame, self.out))))
        frame = self._sentences.get(part, schemas.SENTENCES.empty())
        names = ("image", "stage", "source", "text")
        rows = []
        for image, stage, source, text in zip(*(frame[name].tolist() for name in names), strict=True):
            rows.append((image, stage, source, self._facts(text)))
            if len(rows) % 500 == 0:
                tick(500)
        tick(len(rows) % 500)
        path = runfolder.part_path(self.out, STAGE, schemas.TUPLES, part)
        runfolder.write_table(schemas.TUPLES, caption_tuples(rows), path)

    def remote_task(self) -> RemoteTask:
        """The same work in another process."""
        make = partial(_make, self.out, self.config)
        return RemoteTask(make, (self.out,), lambda part: f"part {part + 1} of the captions")

    def _facts(self, text: str) -> tuple[Fact, ...]:
        if text not in self._known:
            if self._loaded is None:
                senses = Senses(wordnet(), self.config.senses, self.config.relax)
                self._loaded = find_parser(self.config.parser), senses
            parser, senses = self._loaded
            self._known[text] = tuple(with_synsets(fact, senses) for fact in parser.parse(text))
        return self._known[text]


def _make(out: Path, config: CaptionsConfig, device: str) -> Work:
    del device
    return Parse(out, config)


def _part_of(frame: pd.DataFrame, out: Path) -> pd.Series[int]:
    images = tables.read(schemas.IMAGES, out / "images.parquet")["image"]
    number = pd.Series(range(len(images)), index=images.to_numpy())
    return frame["image"].map(number).astype("int64") // PART


def parse_all(out: Path, config: CaptionsConfig, executor: Executor) -> pd.DataFrame:
    """The tuples of all captions.

    Parts that are there are not parsed again.
    """
    kind, _, file = config.parser.partition(":")
    if kind == "tuples":
        return _given_tuples(Path(file))
    images = tables.read(schemas.IMAGES, out / "images.parquet")
    count = max(1, -(-len(images) // PART))
    missing = runfolder.missing_parts(out, STAGE, schemas.TUPLES, count)
    if missing:
        sentences = tables.read(schemas.SENTENCES, out / "sentences.parquet")
        usable = sentences[sentences["status"] == "parsed"]
        sizes: dict[Any, int] = usable.groupby(_part_of(usable, out)).size().to_dict() if len(usable) else {}
        left = {part: int(sizes.get(part, 0)) for part in missing}
        executor(Parse(out, config), left, label="parse", unit="captions", done=len(usable) - sum(left.values()))
    parts = (runfolder.part_path(out, STAGE, schemas.TUPLES, part) for part in range(count))
    return pd.concat([tables.read(schemas.TUPLES, part) for part in parts], ignore_index=True)


def _given_tuples(file: Path) -> pd.DataFrame:
    """The user's own tuples.  Raises: UsageError if the file is no such table."""
    try:
        return tables.read(schemas.TUPLES, file)
    except Exception as error:
        hint = "Its columns are those of TUPLES in gslopes/captions/tables.py."
        raise UsageError(f"{file} is not a tuples table: {error}", hint) from error
