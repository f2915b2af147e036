"""What a language model is asked: a prompt file, and the request that it makes for one photo.

A prompt is a TOML file:

    name = "doctor-nurse"
    kind = "choice"                       # one of a closed list; or "labels", a free list; or "caption", one sentence
    system = "..."                        # may be left out
    question = "Is the person in the photo a doctor or a nurse?"
    options = ["doctor", "nurse"]         # of a choice; or options_list = "occupations", "traits" or a text file

Models prefer what stands first (Zheng et al. 2024, *Large Language Models Are Not Robust Multiple Choice Selectors*,
arXiv 2309.03882): the order of the options is drawn for each photo, is the same for all pictures of that photo, and is
kept with the answer. Up to 20 options are answered by a letter, whose probability a server can give, more by their
text.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal

import numpy as np

from gslopes.ask.classifiers.chat_body import answer_text, log_probability
from gslopes.ask.classifiers.torch_model import label_list
from gslopes.core.config import from_dict, read_toml
from gslopes.core.errors import ConfigError
from gslopes.core.files import parse_json

SHIPPED = ("caption", "doctor-nurse", "hireability", "labels", "occupation", "trait")
LETTERS = 20  # options; servers give the probabilities of at most this many tokens
KEYS: Mapping[str, str] = {"choice": "answer", "labels": "labels", "caption": "caption"}


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question, the same for every picture.

    name: for messages.  kind: of answer.  question, system: sent as they are.
    options: of a choice, in the file's order.  options_list: a shipped list, or a text file with one option a line.
    """

    name: str
    kind: Literal["choice", "labels", "caption"]
    question: str
    system: str = ""
    options: tuple[str, ...] = ()
    options_list: str = ""

    def __post_init__(self) -> None:
        if not self.question.strip():
            raise ConfigError(f"The prompt {self.name!r} has no question.", 'Write question = "...".')
        if self.kind == "choice" and len(self.options) < 2:
            raise ConfigError(
                f"The prompt {self.name!r} needs two options or more.", 'Such as options = ["yes", "no"].'
            )
        if self.kind != "choice" and self.options:
            raise ConfigError(f"The prompt {self.name!r} has options but is not a choice.", 'Write kind = "choice".')
        plain = [option.strip().casefold() for option in self.options]
        if not all(plain) or len(set(plain)) < len(plain):
            raise ConfigError(
                f"An option of the prompt {self.name!r} is empty or appears twice.", "Write each option once."
            )

    @property
    def digest(self) -> str:
        """sha256 of all that is sent, 64 hex digits: two files with the same content are one prompt."""
        content = {key: value for key, value in asdict(self).items() if key != "options_list"}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    @property
    def lettered(self) -> bool:
        """Whether the options are answered by their letters."""
        return 0 < len(self.options) <= LETTERS

    def order(self, photo: str, seed: int) -> tuple[int, ...]:
        """Places of the options in the order in which this photo's pictures are asked."""
        entropy = int.from_bytes(hashlib.sha256(f"options {seed} {photo}".encode()).digest()[:16])
        return tuple(int(place) for place in np.random.default_rng(entropy).permutation(len(self.options)))

    def answers(self, order: Sequence[int]) -> dict[str, str]:
        """What may be answered to which option it means, in the order of the request."""
        shown = [self.options[place] for place in order]
        return dict(zip(ascii_uppercase if self.lettered else shown, shown, strict=False))

    def text(self, order: Sequence[int]) -> str:
        """The question with its options and the form of the answer."""
        answers = self.answers(order)
        lines = [f"{key}. {option}" if self.lettered else f"- {option}" for key, option in answers.items()]
        form = {
            "choice": '{"answer": "the letter of one option"}' if self.lettered else '{"answer": "one of the options"}',
            "labels": '{"labels": ["...", "..."]}',
            "caption": '{"caption": "..."}',
        }[self.kind]
        return "\n".join([self.question, *lines, f"Answer in JSON alone: {form}"])

    def schema(self, order: Sequence[int]) -> dict[str, Any]:
        """The JSON schema of the answer, as ``response_format`` takes it."""
        values: dict[str, dict[str, Any]] = {
            "choice": {"type": "string", "enum": list(self.answers(order))},
            "labels": {"type": "array", "items": {"type": "string"}},
            "caption": {"type": "string"},
        }
        value = values[self.kind]
        key = KEYS[self.kind]
        form = {"type": "object", "properties": {key: value}, "required": [key], "additionalProperties": False}
        return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": form}}

    def messages(self, order: Sequence[int], url: str) -> list[dict[str, Any]]:
        """The conversation about one picture.  url: of the picture, a data URL."""
        picture = {"type": "image_url", "image_url": {"url": url, "detail": "auto"}}
        user = {"role": "user", "content": [picture, {"type": "text", "text": self.text(order)}]}
        return ([{"role": "system", "content": self.system}] if self.system else []) + [user]


def load_prompt(name: str) -> Prompt:
    """A shipped prompt by its name, or one of the user's own.

    name: one of ``SHIPPED``, or a TOML file.
    Raises: ConfigError if there is no such prompt or file, or if it is no prompt.
    """
    if name in SHIPPED:
        content = read_toml(Path(str(files("gslopes.ask") / "prompts" / f"{name}.toml")))
    elif Path(name).expanduser().is_file():
        content = read_toml(Path(name).expanduser())
    else:
        raise ConfigError(
            f"There is no prompt {name!r}.", f"Give a TOML file, or one of those that ship: {', '.join(SHIPPED)}."
        )
    listed = str(content.get("options_list", ""))
    if listed and "options" in content:
        raise ConfigError(f"The prompt {name!r} has both options and options_list.", "Give one of them.")
    if listed:
        near = Path(name).expanduser().parent / listed  # next to the prompt file, as a user puts it
        content["options"] = list(label_list(str(near) if near.is_file() else listed))
    return from_dict(Prompt, content, where=f"the prompt {name}")


def check_repeats(scores: str, repeats: int, temperature: float) -> None:
    """Raises: ConfigError if answers are repeated that cannot differ."""
    if temperature == 0 and repeats > 1 and scores == "repeats":
        raise ConfigError("At temperature 0 all repeats give the same answer.", "Write repeats=1, or a temperature.")


class Prompted:
    """Asks a prompt's question, with the options in one order for all pictures of a photo.

    options: with ``prompt``, ``scores`` and ``seed``.
    Raises: ConfigError if the prompt is none, or log-probabilities are wanted of one that has no lettered options.
    """

    def __init__(self, options: Any) -> None:
        self.prompt = load_prompt(options.prompt)
        if options.scores == "logprobs" and not self.prompt.lettered:
            raise ConfigError(
                f"The prompt {self.prompt.name!r} has no options with letters.",
                "Log-probabilities need a choice of up to 20 options; write scores=repeats.",
            )
        self._seed = options.seed
        self._photos: dict[bytes, str] = {}  # sha256 of a picture to its photo
        self._lock = threading.Lock()

    def about(self, photo: str, pictures: Sequence[bytes]) -> None:
        """Note, before they are asked, that these pictures show one photo."""
        with self._lock:
            for picture in pictures:
                self._photos.setdefault(hashlib.sha256(picture).digest(), photo)

    def _order(self, key: bytes) -> tuple[int, ...]:
        """The order of the options for a picture by its sha256: its photo's, if that is known, else its own."""
        with self._lock:
            photo = self._photos.get(key, key.hex())
        return self.prompt.order(photo, self._seed)

    def _forget(self, key: bytes) -> None:
        """The picture is answered."""
        with self._lock:
            self._photos.pop(key, None)


# -- replies -----------------------------------------------------------------------------------------------------------


REFUSED, UNUSABLE = "(refused)", "(unusable answer)"
LEAST = 1e-6  # probability below which an option is left out

_SORRY = re.compile(
    r"(?i)\b(?:i(?:['’]m| am) (?:sorry|unable|not able|not going)|sorry,|i (?:can(?:no|['’])t|can not|won['’]t|must)|"
    r"unable to (?:help|assist|answer|identify|determine)|as an ai\b|cannot (?:help|assist|identify|comply))"
)
_CUT_SHORT = frozenset({"length", "max_tokens", "model_length", "max_output_tokens", "token_limit"})
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# Words without content: articles, prepositions, pronouns without gender, auxiliaries. "he" and "she" stay.
_EMPTY = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been being but by for from has have in into is it its of off on onto or out over that "
        "the their there these this those through to under up was were which while who whose with",
    )
)


def reading(prompt: Prompt, order: Sequence[int], reply: Mapping[str, Any]) -> tuple[str, ...]:
    """The labels that one reply gives: those answered, or ``(REFUSED,)`` or ``(UNUSABLE,)``.

    reply: ``text``, ``refusal`` (text or None) and ``finish`` (why it ended) of one choice of the server.
    """
    text = answer_text(reply.get("text"))
    if reply.get("refusal") or reply.get("blocked") or reply.get("finish") == "content_filter":
        return (REFUSED,)
    found = () if cut_short(reply) or reply.get("mismatch") else _answered(prompt, order, text)
    return found or ((REFUSED,) if _SORRY.search(text) else (UNUSABLE,))


def cut_short(reply: Mapping[str, Any]) -> bool:
    """Whether the server ended a reply at its limit of tokens."""
    return str(reply.get("finish") or "").lower() in _CUT_SHORT


def shares(prompt: Prompt, order: Sequence[int], replies: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Each label with the share of the replies that give it, in (0, 1]."""
    counts: Counter[str] = Counter()
    for reply in replies:
        counts.update(reading(prompt, order, reply))
    return {label: count / len(replies) for label, count in counts.most_common()}


def probabilities(prompt: Prompt, order: Sequence[int], reply: Mapping[str, Any]) -> dict[str, float]:
    """Each option with its probability among the options; a refusal or an unusable answer has 1.

    reply: as for ``reading``, with ``letters``: letter to log-probability at the place of the answer.
    """
    (label, *_) = reading(prompt, order, reply)
    if label in (REFUSED, UNUSABLE) or not reply.get("letters"):
        return {label: 1.0}
    answers = prompt.answers(order)
    weights = {answers[letter]: math.exp(value) for letter, value in reply["letters"].items() if letter in answers}
    total = sum(weights.values())
    if not total:
        return {label: 1.0}
    found = {option: weight / total for option, weight in weights.items() if weight / total >= LEAST}
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def scores(prompt: Prompt, answer: Mapping[str, Any]) -> dict[str, float]:
    """Each option, label or word with its score, by log-probabilities where they were asked for, else by replies.

    answer: ``order`` of the options, ``replies``, and ``scored``: "logprobs" or "repeats".
    """
    if answer["scored"] == "logprobs":
        return probabilities(prompt, answer["order"], answer["replies"][0])
    return shares(prompt, answer["order"], answer["replies"])


def letters(tokens: Sequence[Mapping[str, Any]], answers: Mapping[str, str]) -> dict[str, float]:
    """Letter to log-probability, at the token that holds the answer; empty if no token is the letter alone.

    tokens: as ``logprobs.content`` gives them: ``token`` and ``top_logprobs``, a list of ``token`` and ``logprob``.
    answers: letters to options.
    """
    said = "".join(str(one["token"]) for one in tokens)
    value = re.search(r'"answer"\s*:\s*"?\s*([A-Z])\b', said) or re.match(r"\s*([A-Z])\b", said)
    if value is None:
        return {}
    start = 0
    for one in tokens:
        start += len(str(one["token"]))
        if start > value.start(1):
            return _alternatives(one, answers)
    return {}


def _alternatives(token: Mapping[str, Any], answers: Mapping[str, str]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for one in token.get("top_logprobs") or ():
        value = log_probability(one.get("logprob")) if isinstance(one, Mapping) else None
        letter = str(one.get("token")).strip(' \t\n"{}:.,\u2581\u0120') if value is not None else ""
        if letter in answers and value is not None:
            weights[letter] = weights.get(letter, 0.0) + math.exp(value)  # "A" and " A" are one letter
    return {letter: math.log(weight) for letter, weight in weights.items() if weight > 0}


def _answered(prompt: Prompt, order: Sequence[int], text: str) -> tuple[str, ...]:
    """The labels of an answer in the form that was asked for, strictly; empty if it is not in that form."""
    value = _value(KEYS[prompt.kind], text)
    if prompt.kind == "choice":
        option = _option(prompt.answers(order), value if isinstance(value, str) else text if value is None else "")
        return (option,) if option else ()
    if prompt.kind == "labels":
        items = value if isinstance(value, list) and all(isinstance(one, str) for one in value) else []
        return tuple(dict.fromkeys(" ".join(one.casefold().split()) for one in items if one.strip()))
    words = [word.casefold() for word in _WORD.findall(value)] if isinstance(value, str) else []
    return tuple(dict.fromkeys(word for word in words if word not in _EMPTY))


def _value(key: str, text: str) -> object:
    """What a JSON object holds under the key; None if the text is no such object."""
    try:
        content = parse_json(text)
    except ValueError:
        return None
    return content.get(key, "") if isinstance(content, dict) else ""


def _option(answers: Mapping[str, str], text: str) -> str:
    """The option that a letter, an option's text or both mean; empty if none."""
    plain = text.strip().strip('."').casefold()
    for key, option in answers.items():
        both = {f"{key}{sign} {option}".casefold() for sign in (".", ")", ":")}
        if plain in {key.casefold(), option.casefold(), *both}:
            return option
    return ""
