"""What an editor that takes words is told: a file of sentences for each attribute.

The sentences of an attribute are a TOML file; ten lines do for your own:

    keep = ["Keep identity, hair, clothes, background, pose and light.", "All else stays: identity, hair, ..."]
    same = ["Return the photo unchanged.", "Change nothing in this photo."]
    [change]
    -1 = ["Edit only the face, so that people would perceive it as tired.", "Make the face alone look tired."]
    0 = ["Edit only the face, so that it looks neither tired nor rested.", "Make the face alone look as usual."]
    1 = ["Edit only the face, so that people would perceive it as rested.", "Make the face alone look rested."]
    [random]
    gaze.up = ["Edit only the eyes: they look slightly up.", "Turn the gaze alone a little up."]
    gaze.down = ["Edit only the eyes: they look slightly down.", "Turn the gaze alone a little down."]

Each list has one sentence for each *wording*, two at least: every photo is asked in one of them, and the page tells
how far wordings differ. ``keep`` ends every sentence. ``change`` has numbers, symmetric around the centre, if the model
can grade the attribute; else names, the baseline first, each of which is compared with it. ``same`` asks for no change,
and ``random`` for changes that are not the attribute, two opposite ones in each pair; both are placebos. Say how a
face is perceived, never what a person is. ``name`` and ``source`` may be added.
"""

import json
import math
import re
from collections.abc import Iterator
from importlib.resources import files
from itertools import chain
from pathlib import Path

import numpy as np

from gslopes.core import frozen
from gslopes.core.config import from_dict, read_toml, to_dict
from gslopes.core.errors import ConfigError, UnknownName
from gslopes.core.files import hexdigest
from gslopes.core.placebo import plain
from gslopes.core.text import many

_FOLDER = Path(str(files("gslopes.ask.editors") / "prompts"))
SHIPPED = tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
Sentences = tuple[str, ...]  # one for each wording
Fault = tuple[str, str]  # what a file has that it should not, and what to do


@frozen
class Words:
    """What a file says.

    keep: what must stay, at the end of every sentence.  same: asks for no change.
    change: a value, or the name of an end, to its sentences.  random: a pair to its two sides and their sentences.
    name: for messages.  source: on what they are modelled.
    """

    keep: Sentences
    same: Sentences
    change: dict[str, Sentences]
    random: dict[str, dict[str, Sentences]]
    name: str
    source: str = ""

    def __post_init__(self) -> None:
        """Raises: ConfigError if a list has too few or too many wordings, a text is empty or comes twice, or values
        have no centre.
        """
        for fault, remedy in chain(self._of_lists(), self._of_texts(), self._of_ends()):
            raise ConfigError(f"The prompts {self.name!r} have {fault}.", remedy)

    def lists(self) -> dict[str, Sentences]:
        """Where a list stands in the file, to the list."""
        named = {"keep": self.keep, "same": self.same}
        named |= {f"change.{end}": texts for end, texts in self.change.items()}
        for pair, sides in self.random.items():
            named |= {f"random.{pair}.{side}": texts for side, texts in sides.items()}
        return named

    def _of_lists(self) -> Iterator[Fault]:
        if len(self.keep) < 2:
            yield "one wording", "Write each sentence in two at least: their effect is measured."
        for where, texts in self.lists().items():
            if len(texts) != len(self.keep):
                count = f"{many(len(texts), 'wording')} of {where}, and {len(self.keep)} of keep"
                yield count, "Give every list one sentence for each wording."
        if not self.random:
            yield "no pair under [random]", "Write two opposite changes that are not the attribute."
        for pair, sides in self.random.items():
            if len(sides) != 2:
                yield f"{many(len(sides), 'side')} of random.{pair}", "Give it two opposite ones."

    def _of_texts(self) -> Iterator[Fault]:
        seen: dict[str, str] = {}
        for where, texts in self.lists().items():
            for text in texts:
                words = " ".join(text.casefold().split())
                if not words:
                    yield f"an empty sentence in {where}", "Write it, or leave its list out."
                if words in seen:
                    places = f"one sentence twice, in {seen[words]} and {where}: {text[:60]!r}"
                    yield places, "Give each its own."
                seen[words] = where

    def _of_ends(self) -> Iterator[Fault]:
        numbers = [end for end in self.change if _NUMBER.fullmatch(end)]
        names = [end for end in self.change if end not in numbers]
        if numbers and names:
            yield f"a number, {numbers[0]}, and a name, {names[0]}", "Give values or named ends."
        if odd := [end for end in names if not end or plain(end) != end]:
            yield f"the end {odd[0]!r}, which is no name of a sweep", "Give it a short, plain name."
        if len(names) < 2 and not numbers:
            yield f"{many(len(names), 'end')} under [change]", "Name two at least, or give values."
        values = sorted(map(float, numbers))
        middle = float(np.median(values or [0]))
        centred = np.allclose(np.add(values, values[::-1]), 2 * middle)
        distinct = len({*values}) == len(values)
        if numbers and not (centred and distinct and len(values) % 2 and len(values) > 1):
            listed = ", ".join(f"{value:g}" for value in values)
            remedy = "Give three or more, an odd number, as many below the centre as above it."
            yield f"the values {listed}, which have no centre", remedy


class Prompts:
    """The sentences of one attribute, each with what must stay.

    name: for messages.  source: on what they are modelled.  digest: sha256 of all that is said, 64 hex digits.
    values: that are graded, ascending; empty if ends are named.  ends: that are named, the baseline first; else empty.
    wordings: of every sentence.  pairs: of random changes.
    """

    def __init__(self, words: Words) -> None:
        self.name = words.name
        self.source = words.source
        self.digest = hexdigest(json.dumps({**to_dict(words), "name": "", "source": ""}))
        self.wordings = len(words.keep)
        self.pairs = len(words.random)
        graded = all(map(_NUMBER.fullmatch, words.change))
        self.values = tuple(sorted(map(float, words.change))) if graded else ()
        self.ends = () if graded else tuple(words.change)
        self._words = words

    def sentence(self, value: float | str, wording: int) -> str:
        """Asks for a value, or a named end.  Raises: ConfigError if the file has no such sentence."""
        for end, texts in self._words.change.items():
            alike = end == value
            if self.values and not isinstance(value, str):
                alike = math.isclose(float(end), value, rel_tol=1e-6, abs_tol=1e-6)
            if alike:
                return self._whole(texts, wording)
        asked = value if isinstance(value, str) else f"{value:.3g}"
        known = ", ".join(self.ends or (f"{value:g}" for value in self.values))
        raise ConfigError(
            f"The prompts {self.name!r} have no sentence for {asked}: they have {known}.",
            "Choose --steps and --range among them, or add sentences: prompt=FILE.",
        )

    def same(self, wording: int) -> str:
        """Asks for no change."""
        return self._whole(self._words.same, wording)

    def random(self, pair: int, side: int, wording: int) -> str:
        """Asks for a change that is not the attribute.  pair: from 0.  side: 0 or 1, which are opposite."""
        sides = list(self._words.random.values())[pair]
        return self._whole(list(sides.values())[side], wording)

    def _whole(self, texts: Sentences, wording: int) -> str:
        return f"{texts[wording].strip()} {self._words.keep[wording].strip()}"


def load_prompts(text: str, attribute: str) -> Prompts:
    """The sentences that an editor's option ``prompt`` names.

    text: one of ``SHIPPED``, or a TOML file; empty: the attribute's own that ship.

    Raises: ConfigError for a missing file or a wrong one, or if none ship for the attribute; UnknownName.
    """
    if not text and attribute not in SHIPPED:
        raise ConfigError(
            f"No sentences ship for {attribute!r}: they do for {', '.join(SHIPPED)}.",
            "Write some, and give the editor prompt=FILE; gslopes list editors images shows a file.",
        )
    name = text or attribute
    path = _FOLDER / f"{name}.toml" if name in SHIPPED else Path(name).expanduser()
    if path.suffix != ".toml" and not path.is_file():
        raise UnknownName("file of prompts", name, SHIPPED)
    content = {"name": path.stem} | read_toml(path)
    return Prompts(from_dict(Words, content, where=f"the prompts {name}"))
