"""What the replies of a language model hold: the body of a reply, its answer, and the labels that it means.

Nothing of a reply is taken from a library's typed objects: servers leave fields out, send null, or put them elsewhere.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from html import unescape
from itertools import accumulate
from typing import Any

import numpy as np

from gslopes.ask.classifiers import problems, service
from gslopes.ask.classifiers.prompt import KEYS, LOG, Prompt
from gslopes.core.errors import AnswerError
from gslopes.core.files import JsonObject, parse_json
from gslopes.words import wordlists

# -- replies -----------------------------------------------------------------------------------------------------------


REFUSED = "(refused)"
UNUSABLE = "(unusable answer)"
ByOrder = dict[tuple[int, ...], dict[str, float]]  # order of the options to the score of each label
LEAST = 1e-6  # probability below which an option is left out

_SORRY = re.compile(
    r"(?i)\b(?:i(?:['’]m| am) (?:sorry|unable|not able|not going)|sorry,|i (?:can(?:no|['’])t|can not|won['’]t|must)|"
    r"unable to (?:help|assist|answer|identify|determine)|as an ai\b|cannot (?:help|assist|identify|comply))"
)
# What may stand around an answer; the last three are how tokens write a space and a line's end.
_AROUND = " \t\r\n\"'`´“”„‘’«»*_()[]{}<>.,:;!-–\u2581\u0120\u010a"
_IN_FRONT = re.compile(
    rf"(?i)\A[{re.escape(_AROUND)}]*(?:(?:the|my|best|correct|final) )*(?:answer|option|choice|letter)\b(?: is)?"
)
_NUMBERS = re.compile(
    r"(?i)(?<![\w.])(-?\d+(\.\d+)?(?:e[+-]?\d+)?)(?:\s*(k|thousand|m|million)\b)?"
)
_CUT_SHORT = frozenset({"length", "max_tokens", "model_length", "max_output_tokens", "token_limit"})


def reading(prompt: Prompt, order: Sequence[int], reply: JsonObject) -> tuple[str, ...]:
    """The labels, or the caption, that one reply gives; or ``(REFUSED,)`` or ``(UNUSABLE,)``.

    reply: ``text``, ``refusal`` (text or None) and ``finish`` (why it ended) of one choice of the server.
    """
    text = answer_text(reply.get("text"))
    if (
        problems.said(reply.get("refusal"))
        or reply.get("blocked")
        or reply.get("finish") == "content_filter"
    ):
        return (REFUSED,)
    labels = () if cut_short(reply) or reply.get("mismatch") else _answered(prompt, order, text)
    return labels or ((REFUSED,) if _SORRY.search(text) else (UNUSABLE,))


def cut_short(reply: JsonObject) -> bool:
    """Whether the server ended a reply at its limit of tokens."""
    return str(reply.get("finish") or "").lower() in _CUT_SHORT


def shares(prompt: Prompt, order: Sequence[int], replies: Sequence[JsonObject]) -> dict[str, float]:
    """Each label with the share of the replies that give it, in (0, 1]."""
    counts = Counter(label for reply in replies for label in reading(prompt, order, reply))
    return {label: count / len(replies) for label, count in counts.most_common()}


def probabilities(prompt: Prompt, order: Sequence[int], reply: JsonObject) -> dict[str, float]:
    """Each option with its probability among the options; a refusal or an unusable answer has 1.

    reply: as for ``reading``, with ``letters``: letter to log-probability at the place of the answer.
    """
    (label, *_) = reading(prompt, order, reply)
    if label in (REFUSED, UNUSABLE) or not reply.get("letters"):
        return {label: 1.0}
    answers = prompt.answers(order)
    weights = {
        answers[letter]: math.exp(value)
        for letter, value in reply["letters"].items()
        if letter in answers
    }
    total = sum(weights.values())
    if not total:
        return {label: 1.0}
    shares = {
        option: weight / total for option, weight in weights.items() if weight / total >= LEAST
    }
    return dict(sorted(shares.items(), key=lambda pair: -pair[1]))


def by_order(prompt: Prompt, answer: JsonObject) -> ByOrder:
    """Order of the options to the score of each option, label or word in it.

    By log-probabilities where they were asked for, else by replies.

    answer: ``order`` of the options, ``replies``, which have their own where there are two, and ``scored``:
        "logprobs" or "repeats".
    """
    replies: dict[tuple[int, ...], list[JsonObject]] = {}
    for reply in answer["replies"]:
        replies.setdefault(tuple(reply.get("order", answer["order"])), []).append(reply)
    if answer["scored"] == "logprobs":
        return {order: probabilities(prompt, order, said[0]) for order, said in replies.items()}
    return {order: shares(prompt, order, said) for order, said in replies.items()}


def joined_orders(found: ByOrder) -> dict[str, float]:
    """Each label's mean score over the orders, the highest first."""
    labels = dict.fromkeys(label for each in found.values() for label in each)
    means = {
        label: sum(each.get(label, 0.0) for each in found.values()) / len(found) for label in labels
    }
    return dict(sorted(means.items(), key=lambda pair: -pair[1]))


def order_effects(prompt: Prompt, found: ByOrder) -> tuple[tuple[str, float, float], ...]:
    """(option, score in the order where it stands nearer the front, score in the other); none in the middle."""
    if len(found) < 2:
        return ()
    (order, each), (_, reverse) = found.items()
    effects = []
    for place, index in enumerate(order):
        option = prompt.options[index]
        both = (each, reverse)
        early, late = both if 2 * place < len(order) - 1 else both[::-1]
        if 2 * place != len(order) - 1:
            effects.append((option, early.get(option, 0.0), late.get(option, 0.0)))
    return tuple(sorted(effects))


def with_number(prompt: Prompt, labels: Mapping[str, float]) -> dict[str, float]:
    """The labels with the task's number: the mean over the replies, or over the options' probabilities.

    Returns: nothing if all was refused, since no number can stand for that.
    Raises: AnswerError if no reply can be used.
    """
    lost = {label: score for label, score in labels.items() if label in (REFUSED, UNUSABLE)}
    rest = {label: score for label, score in labels.items() if label not in lost}
    if not rest and REFUSED not in lost:
        raise AnswerError(f"The model's reply holds no answer to the task {prompt.name}.")
    if not rest:
        return {}
    places = {option: place for place, option in enumerate(prompt.options, 1)}
    numbers = np.array([float(places.get(label, label)) for label in rest])
    weights = np.array(list(rest.values())) / sum(rest.values())
    made = {prompt.scale: float(weights @ numbers)}
    if prompt.kind == "number" and prompt.least > 0:
        made[f"{prompt.measures or prompt.name} ({LOG})"] = float(100 * weights @ np.log(numbers))
    return made | (lost if prompt.kind == "number" else dict(labels))


def meant(text: str, answers: Mapping[str, str]) -> str | None:
    """Which of the answers a text means, a whole reply or one token of it; None if it means none.

    Upper and lower case, and blanks, quotes, brackets, stars and points around it do not count, nor does "Option" or
    "The answer is" in front. What is left must be a letter, an option's own text, or both: ``(b) nurse``.  Where an
    option is itself a letter, it is the place in the list that is meant.

    answers: letters to options, or options to themselves.

    >>> [meant(text, {"A": "nurse", "B": "doctor"}) for text in ("a", '"A"', "(a)", " Option A.", "Nurse", "A or B")]
    ['A', 'A', 'A', 'A', 'A', None]
    """
    plain = unicodedata.normalize("NFKC", text)
    for form in (plain.strip(), plain.strip(_AROUND), _IN_FRONT.sub("", plain).strip(_AROUND)):
        form = form.casefold()
        for key in answers:
            if form == key.casefold():
                return key
        for key, option in answers.items():
            both = re.fullmatch(rf"{re.escape(key)}\W+(.+)", form, re.IGNORECASE | re.DOTALL)
            if (both[1] if both else form).strip(_AROUND) == option.strip(_AROUND).casefold():
                return key
    return None


def letters(tokens: Sequence[JsonObject], answers: Mapping[str, str]) -> dict[str, float]:
    """Letter to log-probability, at the token that holds the answer; empty if no token is the whole of it.

    A token stands for the letter that it means, as a reply does: of "A", " a" and "nurse" the chances are one.

    tokens: as ``logprobs.content`` gives them: ``token`` and ``top_logprobs``, a list of ``token`` and ``logprob``.
    answers: letters to options.
    """
    text = "".join(str(token["token"]) for token in tokens)
    begin = re.search(r'"answer"\s*:', text)
    place = begin.end() if begin else 0
    place += len(text[place:]) - len(_IN_FRONT.sub("", text[place:]).lstrip(_AROUND))
    ends = accumulate(len(str(token["token"])) for token in tokens)
    token = next((token for token, end in zip(tokens, ends, strict=True) if end > place), None)
    said = _choice(text, answers)
    if token is None or said is None or meant(str(token["token"]), answers) != said:
        return {}
    weights: dict[str, float] = {}
    for other in token.get("top_logprobs") or ():
        chance = log_probability(other.get("logprob")) if isinstance(other, Mapping) else None
        if chance is not None and (letter := meant(str(other.get("token")), answers)) is not None:
            weights[letter] = weights.get(letter, 0.0) + math.exp(chance)
    return {letter: math.log(weight) for letter, weight in weights.items() if weight > 0}


def _content(text: str, key: str) -> object:
    """The value under a key of a reply in JSON, or the one text that it is; None if it is not JSON."""
    with suppress(ValueError):
        content = parse_json(text)
        content = content[0] if isinstance(content, list) and len(content) == 1 else content
        if isinstance(content, dict):
            return content.get(key, "")
        if isinstance(content, str):
            return content
        return ""
    return None


def _choice(text: str, answers: Mapping[str, str]) -> str | None:
    value = _content(text, KEYS["choice"])
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    return meant(value if isinstance(value, str) else text if value is None else "", answers)


def _number(value: object) -> float | None:
    """The one number that a value or a text holds, with thousands in commas, or a k or a word behind it."""
    text = (
        ""
        if isinstance(value, bool)
        else re.sub(r"(?<=\d)[,'\u2009\u00a0\u202f](?=\d{3}(?!\d))", "", str(value))
    )
    found = _NUMBERS.findall(text)
    if len(found) != 1:
        return None
    number, _, word = found[0]
    return float(number) * {"k": 1e3, "t": 1e3, "m": 1e6}.get(word[:1].lower(), 1.0)


def _answered(prompt: Prompt, order: Sequence[int], text: str) -> tuple[str, ...]:
    if prompt.kind == "choice":
        answers = prompt.answers(order)
        key = _choice(text, answers)
        if key is None:
            return ()
        return (answers[key],)
    value = _content(text, KEYS[prompt.kind])
    if prompt.kind == "number":
        number = _number(text if value is None else value)
        if number is not None and prompt.least <= number <= prompt.most:
            return (repr(number),)
        return ()
    if prompt.kind == "words":
        said = text if value is None else value
        found = (
            wordlists.named_in(said, prompt.lists)
            if isinstance(said, str) and said.strip()
            else None
        )
        if found is None:
            return ()
        return tuple(f"list:{name}" for name in found or ("none",))
    if prompt.kind == "labels":
        items = (
            value
            if isinstance(value, list) and all(isinstance(item, str) for item in value)
            else []
        )
        return tuple(
            dict.fromkeys(" ".join(item.casefold().split()) for item in items if item.strip())
        )
    if isinstance(value, str) and value.strip():
        return (value,)
    return ()


# -- the body of a reply -----------------------------------------------------------------------------------------------


_POLICY = frozenset(
    {"content_filter", "content_policy_violation", "moderation_blocked", "responsible_ai_policy"}
)
_OPTIONAL = (
    "response_format",
    "top_logprobs",
    "logprobs",
    "temperature",
    "max_tokens",
    "seed",
    "n",
)
CHARACTERS_A_TOKEN = 8  # of an answer, at most; English has about four
_REFUSAL = re.compile(
    r"(?i)safety|content[_ ]?filter|content[_ ]?policy|prohibited|block|spii|recitation|refus|moderat|sensitive|"
    r"guardrail|policy|inappropriate|jailbreak|responsible"
)
_NAME = r"(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning|analysis|reflection)"
_OPEN = rf"[<\[]{_NAME}[>\]]"
_CLOSE = rf"[<\[]/{_NAME}[>\]]"
_THOUGHT = re.compile(rf"\A.*{_CLOSE}|{_OPEN}.*\Z", re.DOTALL | re.IGNORECASE)
_CHANNEL = re.compile(
    r"\A.*<\|channel\|>\s*final\s*(?:<\|[^|<>]*\|>[^<]*)*?<\|message\|>", re.DOTALL
)
_SPECIAL = re.compile(r"</?s>|<\|[^|<>]*\|>|<(?:eos|bos|end_of_turn|start_of_turn)>|\ufeff")
_WRAPPED = re.compile(
    r"\A<(answer|final|final_answer|output|response|result|json)>(.*)</\1>\Z", re.DOTALL | re.I
)
_FENCE = re.compile(r"\A[^{}`]*```[\w+-]*\s*(.*?)\s*```\s*\Z", re.DOTALL)
_THINKING_PART = re.compile(r"(?i)think|thought|reason|redacted|tool|signature")


def read(text: str) -> JsonObject:
    """The reply as a JSON object.  Raises: ValueError, saying what came instead, with a status where it names one."""
    plain = text.strip()
    if not plain:
        raise ValueError("the reply is empty")
    if plain.startswith("<"):
        title = re.search(r"(?is)<(title|h1)[^>]*>(.*?)</\1>", plain)
        words = " ".join(unescape(re.sub(r"<[^>]*>", " ", title[2] if title else plain)).split())
        raise ValueError(f"the reply is a web page: {words[:120]}")
    body = parse_json(plain, finite=False)
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    if not isinstance(body, dict):
        raise ValueError(f"the reply is not a JSON object: {plain[:120]}")
    return body


def problem_of(body: JsonObject, status: int = 200) -> tuple[service.Kind, str, Any] | None:
    """The kind of an error that a body or one of its choices holds, its words, and itself; None if it holds none.

    status: of the reply; within a good one the status or code counts that the error names.
    """
    answered = bool(body.get("choices"))
    error = next(
        filter(None, (problems.error_in(holder, answered) for holder in (body, *choices_of(body)))),
        {},
    )
    if status >= 400:
        error = error or dict(body) or {"message": f"HTTP status {status}"}
    if not error:
        return None
    words = problems.words_of(error)
    codes = service.codes_of("llm")
    known = next(
        (codes[value] for name in ("code", "type") if (value := str(error.get(name))) in codes),
        None,
    )
    kind = known or (
        service.kind_of_status(status) if status >= 400 else service.kind_inside(error, "lost")
    )
    ours = kind == "failed" and problems.status_in(error) not in (413, 415)
    return (
        "service" if ours else kind,
        words,
        error,
    )  # the request is ours: it would fail for every picture


def policy_in(error: JsonObject) -> str:
    """What the server said if it refuses to answer about this picture: policy, not format; empty otherwise."""
    nested = error.get("innererror")
    codes = {str(error.get("code") or ""), str(error.get("type") or "")}
    codes |= {str(nested.get("code") or "")} if isinstance(nested, dict) else set()
    matches = {code.lower() for code in codes} & _POLICY
    if matches:
        return str(error.get("message") or min(matches))
    return ""


def unknown_parameters(error: JsonObject, sent: set[str]) -> list[str]:
    """The optional parameters that a 400 or 422 complains about; none if it complains about something else."""

    def named_in(value: Any) -> set[str]:
        if isinstance(value, Mapping):
            own = {str(part) for part in _list(value.get("loc"))} | {str(value.get("param") or "")}
            return own.union(*map(named_in, value.values()))
        if isinstance(value, list):
            return set[str]().union(*map(named_in, value))
        return set()

    text = problems.words_of(error)
    params = named_in(error)
    optional = [name for name in _OPTIONAL if name in sent]
    named = [name for name in optional if name in params]
    if not named:  # a single letter is a word of its own only between quotation marks
        quoted = {
            name: rf"['\"`]{name}['\"`]" if len(name) == 1 else rf"(?<!\w){name}(?!\w)"
            for name in optional
        }
        named = [name for name, pattern in quoted.items() if re.search(pattern, text)][:1]
    return list(dict.fromkeys("logprobs" if name == "top_logprobs" else name for name in named))


# -- one choice -------------------------------------------------------------------------------------------------------


def answer_text(content: Any) -> str:
    """The answer of a message without what is packed around it: parts, reasoning, special tokens, tags, a fence.

    content: a text, a list of parts, or None.
    """
    text = _SPECIAL.sub("", _CHANNEL.sub("", joined(content)))
    text = _THOUGHT.sub("", text).strip()
    wrapped = _WRAPPED.match(text)
    text = wrapped[2].strip() if wrapped else text
    fenced = _FENCE.match(text)
    if fenced:
        return fenced[1]
    return text


def joined(content: Any) -> str:
    """The text of a message; of a list, its parts joined without those of reasoning."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        if _THINKING_PART.search(str(content.get("type") or "")):
            return ""
        return joined(
            content.get("text") if content.get("text") is not None else content.get("content")
        )
    if isinstance(content, list):
        return "".join(map(joined, content))
    return ""


def refusal_in(choice: JsonObject, body: JsonObject) -> str:
    """Why a choice is a refusal by policy, as the server words it; empty if it is none."""
    for value in (
        choice.get("finish_reason"),
        choice.get("native_finish_reason"),
        choice.get("stop_reason"),
    ):
        if isinstance(value, str) and _REFUSAL.search(value):
            return value
    return prompt_blocked(body)


def prompt_blocked(body: JsonObject) -> str:
    """Why the request itself was blocked, as Gemini's endpoints say it; empty if it was not."""
    feedback = body.get("prompt_feedback") or body.get("promptFeedback")
    reason = (
        feedback.get("block_reason") or feedback.get("blockReason")
        if isinstance(feedback, Mapping)
        else ""
    )
    if str(reason).upper().endswith("UNSPECIFIED") or not problems.said(reason):
        return ""
    return str(reason)


def choices_of(body: JsonObject) -> list[JsonObject]:
    """The choices that are objects."""
    return [choice for choice in _list(body.get("choices")) if isinstance(choice, dict)]


def answer_tokens(choice: JsonObject, text: str) -> list[JsonObject] | None:
    """The tokens of ``logprobs.content`` that make up the answer; None if they do not spell it.

    text: the answer, as ``answer_text`` gives it. Tokens before it, of reasoning, are left out; after it may stand a
    fence, a closing tag or special tokens. White space does not count.
    """
    held = choice.get("logprobs")
    content = _list(held.get("content")) if isinstance(held, Mapping) else []
    tokens = [
        token
        for token in content
        if isinstance(token, dict) and isinstance(token.get("token"), str)
    ]
    if not tokens:
        return []
    texts = [
        re.sub("[\u2581\u0120\u010a]", " ", token["token"]) for token in tokens
    ]  # signs for a space, a line's end
    spelled = ["".join(token.split()) for token in texts]
    all_text = "".join(spelled)
    wanted = "".join(text.split())
    at = all_text.rfind(wanted) if wanted else -1
    if at < 0 or not re.fullmatch(
        r"(?:`{3}|<[^<>]*>|\[/[^\[\]]*\])*", all_text[at + len(wanted) :]
    ):
        return None
    answer = []
    offset = 0
    for token, spaced, bare in zip(tokens, texts, spelled, strict=True):
        if offset + len(bare) > at and offset < at + len(wanted):
            answer.append({**token, "token": spaced})
        offset += len(bare)
    return answer


def log_probability(value: Any) -> float | None:
    """A log-probability as a number; None for what is none: missing, not finite, or above 0 by more than rounding."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not math.isfinite(value)
        or value > 1e-3
    ):
        return None
    return min(float(value), 0.0)


def tokens_used(body: JsonObject, question: int, most: int) -> tuple[int, int] | None:
    """Tokens in and out that count; None if the server reports none of the answer.

    What it reports is a claim: of the question those count that are known beforehand, of the answer no fewer than its
    text has, and no more than were asked for.

    question: tokens of the question and its picture.  most: of the answer.
    """
    usage = body.get("usage")
    reported = usage.get("completion_tokens") if isinstance(usage, Mapping) else None
    if type(reported) is not int or reported < 0:
        return None
    texts = [
        joined(message.get("content"))
        for choice in choices_of(body)
        if (message := choice.get("message"))
    ]
    least = -(-sum(map(len, texts)) // CHARACTERS_A_TOKEN)
    return question, min(max(reported, least, 1), most)


def _list(value: Any) -> Sequence[Any]:
    if isinstance(value, list):
        return value
    return []
