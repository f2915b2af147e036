"""What a language model's replies mean: options, free labels or words; refusals and unusable answers.

A refusal says something about the model, and so does an answer that is none of those allowed: each is a label of its
own (``REFUSED``, ``UNUSABLE``) with its own slope, and its picture stays in the fit.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from gslopes.core.files import parse_json
from gslopes.score.classifiers.chat_body import answer_text, log_probability
from gslopes.score.classifiers.llm_prompt import KEYS, Prompt

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
