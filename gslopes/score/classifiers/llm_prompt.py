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
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal

import numpy as np

from gslopes.core.config import from_dict, read_toml
from gslopes.core.errors import ConfigError
from gslopes.score.classifiers.zero_shot import label_list

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

    def messages(self, order: Sequence[int], url: str, detail: str = "auto") -> list[dict[str, Any]]:
        """The conversation about one picture.

        url: of the picture, a data URL.  detail: as the protocol's ``image_url.detail``.
        """
        picture = {"type": "image_url", "image_url": {"url": url, "detail": detail}}
        user = {"role": "user", "content": [picture, {"type": "text", "text": self.text(order)}]}
        return ([{"role": "system", "content": self.system}] if self.system else []) + [user]


def load_prompt(name: str) -> Prompt:
    """A shipped prompt by its name, or one of the user's own.

    name: one of ``SHIPPED``, or a TOML file.
    Raises: ConfigError if there is no such prompt or file, or if it is no prompt.
    """
    if name in SHIPPED:
        content = read_toml(Path(str(files("gslopes.score") / "prompts" / f"{name}.toml")))
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
