"""``replay:FILE``: recorded answers, from a file with one JSON object a line.

    {"picture": "<sha256 of the picture's bytes, hex>", "labels": {"nurse": 0.93}, "version": "2026-05"}
    {"picture": "...", "refused": "content policy"}
    {"picture": "...", "classifier": "google", "status": "answered", "raw": {...}}      as gslopes cache export writes

The first two are the public fake that our own tests use; the third is parsed as its classifier does, without its
credentials. A picture that is not in the file is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from gslopes.ask.classifiers.model_file import digest_of, existing
from gslopes.ask.classifiers.python import PythonClassifier
from gslopes.ask.names import ARGUMENT
from gslopes.core.errors import ModelError, Refused, UsageError
from gslopes.core.files import LARGEST_TABLE, open_regular, parse_json
from gslopes.core.records import Answer, Classifier

ABSENT = "there is no recorded answer"


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """file: the recording.  classifier: only the lines of this one, where the file holds those of several."""

    file: Path = field(metadata=ARGUMENT)
    classifier: str = ""


class ReplayClassifier:
    """A ``records.Classifier`` over a recording; in memory is only where each answer stands.

    Raises: ModelError if the file is missing, or a line of it is no answer.
    """

    Options = ReplayOptions
    picks_device = True
    batch = 64

    def __init__(self, name: str, options: ReplayOptions, device: str = "cpu") -> None:
        del device
        self.name = name
        self._file = existing(options.file, "recording")
        self.version = digest_of([self._file])
        self._offsets = self._indexed(options.classifier)
        self._parsers: dict[str, Classifier] = {}

    def ask(self, pictures: list[bytes]) -> list[object]:
        """Encoded pictures to their lines, Refused where there is none."""
        answers: list[object] = []
        with open_regular(self._file) as file:
            for data in pictures:
                place = self._offsets.get(sha256(data).digest())
                if place is None:
                    answers.append(Refused(ABSENT))
                    continue
                file.seek(place)
                answers.append(parse_json(file.readline(LARGEST_TABLE), finite=False))
        return answers

    def parse(self, raw: object) -> Answer:
        """A line to its answer."""
        line: Any = raw
        if "refused" in line:
            return Answer("refused", (), str(line["refused"]))
        if "labels" in line:
            return Answer("answered", tuple(line["labels"].items()), version=str(line.get("version", "")))
        if line.get("status") == "refused":
            return Answer("refused", (), str(line["raw"]))
        name = line["classifier"]
        if name not in self._parsers:
            self._parsers[name] = _parser_of(name)
        return self._parsers[name].parse(line["raw"])

    def _indexed(self, only: str) -> dict[bytes, int]:
        offsets: dict[bytes, int] = {}
        names: set[str] = set()
        with open_regular(self._file) as file:
            place, number = 0, 0
            for number, text in enumerate(iter(partial(file.readline, LARGEST_TABLE), b""), 1):
                try:
                    line = parse_json(text, finite=False)
                    key, name = bytes.fromhex(line["picture"]), str(line.get("classifier", ""))
                    known = bool({"labels", "refused", "raw"} & set(line))
                except (ValueError, KeyError, TypeError, AttributeError):
                    known, key, name = False, b"", ""
                if not known or len(key) != sha256().digest_size:
                    message = f"Line {number} of the recording {self._file} is no answer."
                    raise ModelError(message, "gslopes cache export writes such files.")
                if only in ("", name):
                    offsets[key] = place
                    names.add(name)
                place += len(text)
        if len(names) > 1:
            names_given = " and ".join(sorted(names)[:3])
            raise ModelError(f"The recording {self._file} holds answers of {names_given}.", "Give classifier=NAME.")
        return offsets


def _parser_of(name: str) -> Classifier:
    """The classifier that a recording names, to parse its answers; no code that a recording names is run."""
    from gslopes.ask.classifiers import load_classifier
    from gslopes.ask.trust import Trust

    base = name.partition(":")[0]
    if base == "python":
        return object.__new__(PythonClassifier)  # parses without its function
    if base == "captioner-python":
        message = f"The recording holds answers of {name}, whose code would have to run to read them."
        raise UsageError(message, "Name that classifier itself, in the folder where its module is.")
    return load_classifier(name, prepare=False, trust=Trust(named=False))
