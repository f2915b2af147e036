"""What an editor that takes words is told: a file of sentences for each attribute.

The sentences of an attribute are a TOML file; ten lines do for your own:

    keep = ["Keep identity, hair, clothes, background, pose and light.", "All else stays: identity, hair, ..."]
    unchanged = ["Return the photo unchanged.", "Change nothing in this photo."]
    [change]
    -1 = ["Edit only the face, so that people would perceive it as tired.", "Make the face alone look tired."]
    0 = ["Edit only the face, so that it looks neither tired nor rested.", "Make the face alone look as usual."]
    1 = ["Edit only the face, so that people would perceive it as rested.", "Make the face alone look rested."]
    [placebos]
    gaze.up = ["Edit only the eyes: they look slightly up.", "Turn the gaze alone a little up."]
    gaze.down = ["Edit only the eyes: they look slightly down.", "Turn the gaze alone a little down."]

Each list has one sentence for each *wording*, two at least: every photo is asked in one of them, and the page tells
how far wordings differ. ``keep`` ends every sentence. ``change`` has numbers, symmetric around the centre, if the model
can grade the attribute; else names, the baseline first, each of which is compared with it. ``unchanged`` asks for no
change, and ``placebos`` for changes that are not the attribute, two opposite ones in each pair. Say how a face is
perceived, never what a person is. ``name`` and ``source`` may be added.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gslopes.core import (
    ConfigError,
    Names,
    UnknownName,
    from_dict,
    frozen,
    hexdigest,
    many,
    read_toml,
    to_dict,
)
from gslopes.core.placebo import plain

_FOLDER = Path(__file__).parent / "prompts"
SHIPPED = tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
Sentences = Names  # one for each wording


@frozen
class Prompts:
    """The sentences of one attribute.

    name: for messages.  keep: what must stay, at the end of every sentence.  unchanged: ask for no change.
    change: a value, or the name of an end, to its sentences.  placebos: a pair to its two sides and their sentences.
    source: on what they are modelled.

    Raises: ConfigError if a list has too few or too many wordings, a sentence is empty or comes twice, or values have
        no centre.
    """

    name: str
    keep: Sentences
    unchanged: Sentences
    change: dict[str, Sentences]
    placebos: dict[str, dict[str, Sentences]]
    source: str = ""

    def __post_init__(self) -> None:
        for fault, remedy in self._faults():
            raise ConfigError(f"The prompts {self.name!r} have {fault}.", remedy)

    @property
    def digest(self) -> str:
        """sha256 of all that is said, 64 hex digits."""
        return hexdigest(json.dumps(to_dict(self) | {"name": "", "source": ""}))

    @property
    def values(self) -> tuple[float, ...]:
        """Those that are graded, ascending; empty if ends are named."""
        return tuple(sorted(float(end) for end in self.change if _NUMBER.fullmatch(end)))

    @property
    def ends(self) -> Names:
        """Those that are named, the baseline first; empty if values are graded."""
        return tuple(end for end in self.change if not _NUMBER.fullmatch(end))

    @property
    def wordings(self) -> int:
        """How many every sentence has."""
        return len(self.keep)

    @property
    def pairs(self) -> int:
        """Of changes that are not the attribute."""
        return len(self.placebos)

    def sentence(self, value: float | str, wording: int) -> str:
        """Asks for a value, or a named end.  Raises: ConfigError if the file has no such sentence."""
        known = self.change
        if self.values:
            known = {f"{float(end):g}": texts for end, texts in known.items()}
        asked = value if isinstance(value, str) else f"{value:g}"
        if asked not in known:
            raise ConfigError(
                f"The prompts {self.name!r} have no sentence for {asked}: they have {', '.join(known)}.",
                "Choose --steps and --range among them, or add sentences: prompt=FILE.",
            )
        return self._whole(known[asked], wording)

    def same(self, wording: int) -> str:
        """Asks for no change."""
        return self._whole(self.unchanged, wording)

    def random(self, pair: int, side: int, wording: int) -> str:
        """Asks for a change that is not the attribute.  pair: from 0.  side: 0 or 1, which are opposite."""
        sides = list(self.placebos.values())[pair]
        return self._whole(list(sides.values())[side], wording)

    def _whole(self, texts: Sentences, wording: int) -> str:
        return f"{texts[wording].strip()} {self.keep[wording].strip()}"

    def _faults(self) -> Iterator[tuple[str, str]]:
        """What is wrong, and what to do."""
        lists = {"keep": self.keep, "unchanged": self.unchanged} | self.change
        for pair, sides in self.placebos.items():
            lists |= {f"{pair}.{side}": texts for side, texts in sides.items()}
            if len(sides) != 2:
                yield f"{many(len(sides), 'side')} of {pair}", "Give it two opposite ones."
        most = max(2, *map(len, lists.values()))
        for name, texts in lists.items():
            if len(texts) < most:
                remedy = "Give each list one sentence for each wording, two at least."
                yield f"{many(len(texts), 'wording')} of {name}", remedy
        said = [" ".join(text.casefold().split()) for texts in lists.values() for text in texts]
        for text in said:
            if not text or said.count(text) > 1:
                remedy = "Give each value, side and wording its own."
                yield f"a sentence that is empty or comes twice: {text[:60]!r}", remedy
        gaps = np.diff(self.values)
        if self.ends and self.values:
            yield f"{self.ends[0]} next to numbers", "Give values or named ends."
        elif len(gaps) % 2 or not gaps.all() or not np.allclose(gaps, gaps[::-1]):
            remedy = "Give an odd number, three at least, as many below the centre as above."
            yield f"values without a centre: {', '.join(self.change)}", remedy
        if len(self.change) < 2 or not self.placebos:
            remedy = "Give two ends or three values, and a pair of other changes."
            yield "no two ends, or no pair, to compare", remedy
        for end in self.ends:
            if plain(end) != end or not end:
                yield f"an end that is no name of a sweep: {end!r}", "Give it a short, plain name."


def load_prompts(text: str, attribute: str) -> Prompts:
    """The sentences that an editor's option ``prompt`` names.

    text: one of ``SHIPPED``, or a TOML file; empty: the attribute's own that ship.

    Raises: ConfigError for a missing file or a wrong one, or if none ship for the attribute; UnknownName.
    """
    if not text and attribute not in SHIPPED:
        raise ConfigError(
            f"No sentences ship for {attribute!r}: they do for {', '.join(SHIPPED)}.",
            "Write some: gslopes list editors images shows a file of ten lines, for prompt=FILE.",
        )
    name = text or attribute
    path = _FOLDER / f"{name}.toml" if name in SHIPPED else Path(name).expanduser()
    if path.suffix != ".toml" and not path.is_file():
        raise UnknownName("file of prompts", name, SHIPPED)
    content = {"name": path.stem} | read_toml(path)
    return from_dict(Prompts, content, where=f"the prompts {name}")
