"""What a language model is asked: a prompt file, and the request that is made of it.

A prompt is a TOML file:

    name = "doctor-or-nurse"
    kind = "choice"                       # one of a closed list; or labels, caption, number, words: see below
    system = "..."                        # may be left out
    question = "Is the person in the photo a doctor or a nurse?"
    options = ["doctor", "nurse"]         # of a choice; or options_list = "occupations", "traits" or a text file
    orders = "both"                       # each picture is asked in an order and its reverse; "drawn": in one
    scoring = "doctor"                    # what counts as high if tasks are compared
    unknowable = true                     # no picture shows the answer: shares of abstentions are reported
    abstain = "cannot tell"               # may be answered as well; abstain=yes of any classifier adds it
    source = "..."                        # on what it is modelled; shown with the result

============  ======================================  ==============================================================
kind          answer                                  label
============  ======================================  ==============================================================
``choice``    one of the options                      each option; with ``scoring = "order"``, where options go from
                                                      the lowest to the highest, also ``NAME (levels)``: the mean
                                                      place, from 1; of two people ``NAME (points ahead)``, see below
``number``    a number in ``unit``, between           ``NAME (UNIT)`` and, if ``least`` is above 0,
              ``least`` and ``most``                  ``NAME (log points)``: 100 times its logarithm
``words``     a free text                             ``list:NAME`` of each of ``lists`` that it has a word of, unless
                                                      a "not" denies it; ``scoring`` is one of them
``labels``    a free list                             its entries
``caption``   one sentence                            its words, synsets and mentions
============  ======================================  ==============================================================

NAME is ``measures``, else the prompt's name. ``lists`` are those that ship, or a table of your own words.

With ``people = 2`` a choice is between two pictures of one photo, at opposite values; ``options`` are then what may be
answered instead of one of them, such as "cannot tell", or left out. The label of a picture is by how many points it is
chosen more often than the other one while it comes first: 100 if always, -100 if never. Each of the two is asked about
in first place once, so both orders are asked, and what the order does is told apart from what the pictures show.

Models prefer what comes first (Zheng et al. 2024, *Large Language Models Are Not Robust Multiple Choice Selectors*,
arXiv 2309.03882): the order of the options is drawn for each photo, is the same for all pictures of that photo, and is
kept with the answer. Both orders of a picture count alike, and how far they differ is reported. Up to 20 options are
answered by a letter, whose probability a server can give, more by their text.
"""

import json
from collections.abc import Sequence
from dataclasses import field, replace
from math import inf
from pathlib import Path
from string import ascii_uppercase
from typing import Literal

import numpy as np

from gslopes.ask.classifiers.model_file import label_list
from gslopes.ask.cost import said
from gslopes.ask.names import UNITS
from gslopes.core import (
    ConfigError,
    JsonObject,
    Names,
    UnknownName,
    from_dict,
    frozen,
    hexdigest,
    read_beside,
    read_toml,
)
from gslopes.words import wordlists

_FOLDER = Path(__file__).parents[1] / "prompts"
SHIPPED = tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))
LETTERS = 20  # options; servers give the probabilities of at most this many tokens
ANSWERS = read_beside(__file__, "answers.toml")
Order = Sequence[int]  # places of the options, in which they are asked
Drawn = tuple[int, ...]  # the same, as drawn for a photo
ORDER = "order"
CANNOT_TELL = "cannot tell"
LOG = "log points"
_DEFAULTS: tuple[object, ...] = ("", {}, "drawn", -inf, inf)


@frozen
class Prompt:
    """One question, the same for every picture.

    name: for messages.  kind: of answer.  question, system: sent unchanged.  people: in a question, 1 or 2.
    options: of a choice, in the file's order.  options_list: a shipped list, or a text file with one option a line.
    orders: ``both``: each picture is asked in the drawn order (of levels the file's) and in its reverse.
    scoring: of a choice an option, or ``order``; of words a list.  measures: what a number is of.
    unit, least, most: of a number.  lists: name to words.  source: on what it is modelled.
    unknowable: whether no picture shows the answer.  abstain: what may be answered by who cannot tell, an option of a
    choice; empty for nothing.  about: what is asked about; of a text it is by ``score.judges``.
    """

    name: str
    kind: Literal["choice", "labels", "caption", "number", "words"]
    question: str
    system: str = ""
    options: Names = ()
    options_list: str = ""
    orders: Literal["drawn", "both"] = "drawn"
    scoring: str = ""
    measures: str = ""
    unit: str = ""
    least: float = -inf
    most: float = inf
    lists: dict[str, Names] = field(default_factory=dict)
    source: str = ""
    unknowable: bool = False
    abstain: str = ""
    about: Literal["picture", "text"] = "picture"
    people: int = 1

    def __post_init__(self) -> None:
        """Raises: ConfigError if what the kind of answer needs is missing, or belongs to another kind."""
        kind = self.kind
        given = self.options
        options = {option.strip().casefold() for option in given}
        scorings = [*given, *([ORDER] if given else self.lists)]
        faults = {
            "no question": not self.question.strip(),
            "two options": kind == "choice" and self.people == 1 and len(given) < 2,
            "no choice": kind != "choice" and given,
            "people": self.people != 1 and (self.people != 2 or kind != "choice" or self.scoring),
            "twice": "" in options or len(options) < len(given),
            "no unit": kind == "number" and not self.unit.strip(),
            "no words": kind == "words" and not (self.lists and all(self.lists.values())),
            "unit": kind != "number" and self.unit,
            "orders": kind != "choice" and self.orders == "both",
            "abstain": kind not in ("choice", "number") and self.abstain,
            "rubric": self.about == "text" and not (self.scoring == ORDER and len(given) <= 7),
            "lists": kind != "words" and self.lists,
            "brackets": set("()") & set(self.unit + self.measures),
            "between": not self.least < self.most,
            "scoring": self.scoring and self.scoring not in scorings,
        }
        for fault, wrong in faults.items():
            if wrong:
                texts = ANSWERS["faults"][fault]
                listed = ", ".join(scorings) or "none"
                raise ConfigError(*(text.format(self, listed) for text in texts))

    @property
    def digest(self) -> str:
        """sha256 of all that is sent, 64 hex digits: two files with the same content are one prompt."""
        content = {
            name: getattr(self, name) for name in ("name", "kind", "question", "system", "options")
        }
        return _digest(content | self._given("orders", "unit", "abstain"))

    @property
    def read_by(self) -> str:
        """16 hex digits over how replies are read; empty if the file leaves that open."""
        reading = self._given("measures", "least", "most", "lists")
        if self.scoring == ORDER:
            reading["scoring"] = ORDER
        if self.unknowable:
            reading["unknowable"] = True
        if reading:
            return _digest(reading)[:16]
        return ""

    def _given(self, *names: str) -> JsonObject:
        """Those of these fields that are not left at their defaults."""
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value not in _DEFAULTS}

    @property
    def numbered(self) -> bool:
        """Whether an answer holds a number in a unit."""
        return self.kind == "number" or self.scoring == ORDER or self.people > 1

    @property
    def scale(self) -> str:
        """The label by which tasks are compared, higher for more of what is asked; empty for none."""
        if self.numbered:
            return f"{self.measures or self.name} ({self.unit or UNITS[self.people]})"
        if self.kind == "words" and self.scoring:
            return f"list:{self.scoring}"
        return self.scoring

    @property
    def lettered(self) -> bool:
        """Whether the options are answered by their letters."""
        return 0 < len(self.options) <= LETTERS

    def order(self, photo: str, seed: int) -> Drawn:
        """Places of the options in the order in which this photo's pictures are asked."""
        if self.numbered:
            return tuple(range(len(self.options)))
        entropy = int(hexdigest(f"options {seed} {photo}")[:32], 16)
        return tuple(np.random.default_rng(entropy).permutation(len(self.options)).tolist())

    def asked_in(self, order: Order) -> tuple[Drawn, ...]:
        """The orders in which a picture is asked, of a photo's own."""
        if self.orders == "both":
            return (tuple(order), tuple(order)[::-1])
        return (tuple(order),)

    def answers(self, order: Order) -> dict[str, str]:
        """What may be answered to which option it means, in the order of the request."""
        options = [self.options[index] for index in order]
        return dict(zip(ascii_uppercase if self.lettered else options, options, strict=False))

    def text(self, order: Order) -> str:
        """The question with its options and the form of the answer."""
        return said("asked.txt.j2", prompt=self, answers=self.answers(order), forms=ANSWERS)

    def schema(self, order: Order) -> JsonObject:
        """The JSON schema of the answer."""
        key = ANSWERS[self.kind]["key"]
        value = dict(ANSWERS[self.kind]["schema"])
        if self.kind == "choice":
            value["enum"] = list(self.answers(order))
        elif self.abstain:
            value = {"anyOf": [value, {"type": "string", "enum": [self.abstain]}]}
        return ANSWERS["object"] | {"properties": {key: value}, "required": [key]}


def load_prompt(name: str, pictures: str = "auto", *, abstain: bool = False) -> Prompt:
    """A shipped prompt by its name, or one of the user's own.

    name: one of ``SHIPPED``, or a TOML file.  pictures: how two people are shown, a key of ``answers.toml``'s people:
        the first options are these.  abstain: whether ``CANNOT_TELL`` may be answered if the file has no answer that
        abstains.
    Raises: UnknownName for an unknown prompt; ConfigError for a missing file, or a wrong one.
    """
    place = Path(name).expanduser()
    path = _FOLDER / f"{name}.toml" if name in SHIPPED else place
    if path.suffix != ".toml" and not path.is_file():
        raise UnknownName("task", name, SHIPPED)
    content = read_toml(path)
    listed = str(content.get("options_list", ""))
    if listed and "options" in content:
        raise ConfigError(
            f"The prompt {name!r} has both options and options_list.", "Give one of them."
        )
    if listed:
        near = place.parent / listed  # next to the prompt file, as a user puts it
        content["options"] = list(label_list(str(near) if near.is_file() else listed))
    if isinstance(words := content.get("lists"), list):  # names of those that ship
        content["lists"] = {
            str(entry): sorted(wordlists.shipped()[str(entry)].entries) for entry in words
        }
    prompt = from_dict(Prompt, content, where=f"the prompt {name}")
    answer = prompt.abstain or CANNOT_TELL * abstain
    options = prompt.options
    if prompt.people > 1:
        options = (*ANSWERS["people"][pictures], *options)
    if answer and options and answer not in options:
        options = (*options, answer)
    return replace(prompt, abstain=answer, options=options)


def _digest(content: JsonObject) -> str:
    return hexdigest(json.dumps(content, sort_keys=True))
