"""``replay:FILE``: recorded answers, from a file with one JSON object a line.

    {"picture": "<sha256 of the picture's bytes, hex>", "labels": {"nurse": 0.93}, "version": "2026-05"}
    {"picture": "...", "refused": "content policy"}
    {"picture": "...", "classifier": "google", "status": "answered", "raw": {...}}      as gslopes cache export writes

The first two are the public fake that our own tests use; the third is parsed as its classifier does, without its
credentials. A picture that is not in the file is refused.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from gslopes.ask.classifiers.captions import CaptionReader
from gslopes.ask.classifiers.model_file import digest_of, existing
from gslopes.ask.classifiers.problems import said, within
from gslopes.ask.classifiers.python import answer_of
from gslopes.ask.names import split
from gslopes.ask.secrets import PICTURE
from gslopes.core import (
    LONGEST_LINE,
    ModelError,
    Refused,
    UsageError,
    frozen,
    open_regular,
    parse_json,
)
from gslopes.core.records import Answer, Files, Raws


class Recording:
    """A file with one JSON object a line; memory holds only the offset of the line about each picture.

    key: of a line, what it is found by, None to pass over it; raises ValueError and the like for a line without one.
    holds: keys of which a line must have one.

    Raises: ModelError if the file is missing, or a line of it holds none of them.
    """

    def __init__(
        self, file: Path, key: Callable[[Any], bytes | None], holds: Sequence[str]
    ) -> None:
        self._file = existing(file, "recording")
        self.digest = digest_of([self._file])
        self._offsets: dict[bytes, int] = {}
        offset = 0
        with open_regular(self._file) as opened:
            for number, text in enumerate(iter(partial(opened.readline, LONGEST_LINE), b""), 1):
                try:
                    line = parse_json(text, finite=False)
                    picture = key(line)
                    if all(line.get(name) is None for name in holds):
                        raise ValueError("it holds no answer")
                except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
                    raise ModelError(
                        f"Line {number} of the recording {self._file} is not an answer.",
                        "gslopes cache export writes such files.",
                    ) from None
                if picture is not None:
                    self._offsets[picture] = offset
                offset += len(text)

    def lines(self, keys: Iterable[bytes]) -> list[Any]:
        """The objects of these keys, None for a missing one."""
        lines = []
        with open_regular(self._file) as opened:
            for offset in map(self._offsets.get, keys):
                line = None
                if offset is not None:
                    opened.seek(offset)
                    line = parse_json(opened.readline(LONGEST_LINE), finite=False)
                lines.append(line)
        return lines


@frozen
class ReplayOptions:
    """file: the recording.  classifier: only the lines of this one, if the file holds lines of several."""

    file: Path
    classifier: str = ""


class ReplayClassifier:
    """A ``records.Classifier`` over a recording.

    Raises: ModelError if the file is missing, a line of it holds no answer, or it has answers of several classifiers.
    """

    Options = ReplayOptions
    batch = 64

    def __init__(self, name: str, options: ReplayOptions, device: str = "cpu") -> None:
        self.name = name
        self._only = options.classifier
        self._names: set[str] = set()
        self._recording = Recording(options.file, self._key, ("labels", "refused", "raw"))
        self.version = self._recording.digest
        self._parser_of = cache(_parser_of)
        if len(self._names) > 1:
            names = " and ".join(sorted(self._names)[:3])
            raise ModelError(
                f"The recording {options.file} holds answers of {names}.", "Give classifier=NAME."
            )

    def ask(self, pictures: Files) -> Raws:
        """Encoded pictures to their lines, Refused for a picture without one."""
        lines = self._recording.lines(sha256(data).digest() for data in pictures)
        return [Refused("no answer is recorded") if line is None else line for line in lines]

    def parse(self, raw: Any) -> Answer:
        """A line to its answer."""
        if said(raw.get("refused")):
            return Answer("refused", (), str(raw["refused"]))
        if raw.get("labels") is not None:
            return Answer(
                "answered", tuple(raw["labels"].items()), version=str(raw.get("version") or "")
            )
        if raw.get("status") == "refused":
            return Answer("refused", (), str(raw["raw"]))
        return self._parser_of(raw["classifier"])(raw["raw"])

    def _key(self, line: Any) -> bytes | None:
        key = bytes.fromhex(line["picture"])
        name = str(line.get("classifier", ""))
        if len(key) != 32:
            raise ValueError("no sha256")
        if self._only not in ("", name):
            return None
        if PICTURE.match(str(within(line, "raw", "picture"))):
            raise ModelError(
                f"The recording holds pictures of the editor {name}, not answers.",
                "Replay a recording of a classifier; an editor's pictures stay in the cache.",
            )
        self._names.add(name)
        return key


def _parser_of(name: str) -> Callable[[Any], Answer]:
    """What parses the answers of the classifier that a recording names; no code that a recording names is run."""
    from gslopes.ask.classifiers import load_classifier
    from gslopes.ask.classifiers.catalogue import CATALOGUE, full_name

    base = split(full_name(name))[0]
    if base == "python":
        captions = CaptionReader() if "kind=caption" in name.split(",") else None
        return partial(answer_of, captions=captions)
    listed = CATALOGUE.get(base)
    if listed is None or listed.runs_code:
        raise UsageError(
            f"The recording holds answers of {name}, whose code would have to run to read them.",
            "Name that classifier itself, where its module or file is.",
        )
    return load_classifier(name, prepare=False).parse
