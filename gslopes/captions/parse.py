"""Parsing: parts of 2,000 images, distinct captions once a process, in as many processes as wanted."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.captions import tables as schemas
from gslopes.captions.tabulate import caption_tuples
from gslopes.core import runfolder, tables
from gslopes.core.errors import UsageError
from gslopes.core.files import read_json
from gslopes.executors import Executor, Tick
from gslopes.executors.executor import RemoteTask, Work
from gslopes.language.graph import Fact, with_synsets
from gslopes.language.parsers import find_parser
from gslopes.language.senses import RELAX, Rule, Senses
from gslopes.language.wordnet import wordnet

STAGE = "parse"
PART = 2000


class Parse:
    """The work of one part: the captions of its images to tuples.

    out: the run folder, whose sentences table is there.  parser, source, rule, relax: of parser, WordNet, senses.
    """

    in_threads = False

    def __init__(self, out: Path, parser: str, source: str, rule: Rule, relax: str = RELAX) -> None:
        self.out, self.parser_name, self.source, self.rule, self.relax = out, parser, source, rule, relax
        self._parse: Callable[[str], tuple[Fact, ...]] | None = None
        self._parser: Any = None
        self._fallen_back = 0
        self._known: dict[str, tuple[Fact, ...]] = {}
        self._sentences: dict[int, pd.DataFrame] | None = None

    def __call__(self, part: int, tick: Tick) -> None:
        """Parse a part and write it."""
        frame = self._part(part)
        rows = []
        for image, stage, source, text in zip(
            *(frame[name].tolist() for name in ("image", "stage", "source", "text")), strict=True
        ):
            rows.append((image, stage, source, self._facts(text)))
            if len(rows) % 500 == 0:
                tick(500)
        tick(len(rows) % 500)
        if self._parser is not None and hasattr(self._parser, "fallen_back"):
            known = {"captions": self._parser.fallen_back - self._fallen_back}
            self._fallen_back = self._parser.fallen_back
            path = fallback_path(self.out, part)
            path.parent.mkdir(parents=True, exist_ok=True)
            runfolder.write_json(path, known)
        path = runfolder.part_path(self.out, STAGE, schemas.TUPLES, part)
        runfolder.write_table(schemas.TUPLES, caption_tuples(rows), path)

    def remote_task(self) -> RemoteTask:
        """The same work in another process."""
        make = partial(_make, self.out, self.parser_name, self.source, self.rule, self.relax)
        return RemoteTask(make, (self.out,), lambda part: f"part {part + 1} of the captions")

    def _facts(self, text: str) -> tuple[Fact, ...]:
        if text not in self._known:
            if self._parse is None:
                senses = Senses(wordnet(self.source), self.rule, self.relax)
                parser = self._parser = find_parser(self.parser_name, self.source)
                self._parse = lambda caption: tuple(with_synsets(fact, senses) for fact in parser.parse(caption))
            self._known[text] = self._parse(text)
        return self._known[text]

    def _part(self, part: int) -> pd.DataFrame:
        if self._sentences is None:
            frame = tables.read(schemas.SENTENCES, self.out / "sentences.parquet")
            frame = frame[frame["status"] == "parsed"]
            self._sentences = dict(list(frame.groupby(_part_of(frame, self.out))))
        return self._sentences.get(part, pd.DataFrame(columns=schemas.SENTENCES.columns))


def _make(out: Path, parser: str, source: str, rule: Rule, relax: str, device: str) -> Work:
    del device
    return Parse(out, parser, source, rule, relax)


def _part_of(frame: pd.DataFrame, out: Path) -> pd.Series[int]:
    images = tables.read(schemas.IMAGES, out / "images.parquet")["image"]
    place = pd.Series(range(len(images)), index=images.to_numpy())
    return frame["image"].map(place) // PART


def fallback_path(out: Path, part: int) -> Path:
    """Where a part says how many of its distinct captions a parser could not read."""
    return out / "parts" / STAGE / f"fallback-{part:06d}.json"


def fallen_back(out: Path) -> int:
    """Distinct captions that were parsed by chunks, since the parser's answer could not be read."""
    files = sorted((out / "parts" / STAGE).glob("fallback-*.json"))
    return sum(int(read_json(file)["captions"]) for file in files)


def parse_all(out: Path, images: int, sentences: pd.DataFrame, work: Parse, executor: Executor) -> int:
    """Every part that is not there yet; how many parts there are."""
    count = max(1, -(-images // PART))
    missing = runfolder.missing_parts(out, STAGE, schemas.TUPLES, count)
    usable = sentences[sentences["status"] == "parsed"]
    if missing:
        sizes = usable.groupby(_part_of(usable, out)).size().to_dict() if len(usable) else {}
        left = {part: int(sizes.get(part, 0)) for part in missing}
        executor(work, left, label="parse", unit="captions", done=len(usable) - sum(left.values()))
    return count


def tuples_of_file(file: Path) -> pd.DataFrame:
    """The user's own tuples.  Raises: UsageError if the file is no such table."""
    try:
        return tables.read(schemas.TUPLES, file)
    except Exception as error:
        raise UsageError(
            f"{file} is not a tuples table: {error}", "See the schema in core/tables/captions.py."
        ) from error
