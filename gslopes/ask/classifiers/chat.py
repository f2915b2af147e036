"""What the replies of a language model hold: the body of a reply, its answer, and the labels that it means.

Nothing of a reply is taken from a library's typed objects: servers leave fields out, send null, or put them elsewhere.
The patterns and names by which replies are read are in replies.toml.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from html import unescape
from itertools import permutations, zip_longest
from typing import Any

import numpy as np

from gslopes.ask.classifiers import numbers, problems, service
from gslopes.ask.classifiers.picking import only, ranked
from gslopes.ask.classifiers.problems import AROUND, PATTERNS, REPLIES
from gslopes.ask.classifiers.prompt import ANSWERS, LOG, Drawn, Order, Prompt
from gslopes.core import AnswerError, JsonObject, Names, Texts, parse_json
from gslopes.core.records import ABSTAINS
from gslopes.words import wordlists

# -- replies -----------------------------------------------------------------------------------------------------------


REFUSED = "(refused)"
UNUSABLE = "(unusable answer)"
LOST = (REFUSED, UNUSABLE)
Scores = dict[str, float]  # of labels
ByOrder = dict[Drawn, Scores]  # order of the options to the score of each label
Answers = Texts  # letters to options, or options to themselves
_declined = PATTERNS["apology"].match
LEAST = 1e-6  # probability below which an option is left out
CHARACTERS_A_TOKEN = 8  # of an answer, at most; English has about four


def reading(prompt: Prompt, order: Order, reply: JsonObject) -> Names:
    """The labels, or the caption, that one reply gives; or ``(REFUSED,)`` or ``(UNUSABLE,)``.

    reply: ``text``, ``refusal`` (text or None) and ``finish`` (why it ended) of one choice of the server.
    """
    text = answer_text(reply.get("text"))
    refused = problems.said(reply.get("refusal")) or reply.get("blocked")
    if refused or reply.get("finish") == "content_filter":
        return (REFUSED,)
    labels: Names = ()
    if not cut_short(reply) and not reply.get("mismatch"):
        labels = _answered(prompt, order, text)
    if not labels and PATTERNS["apology"].search(text):
        return (REFUSED,)
    return labels or (UNUSABLE,)


def texts(prompt: Prompt, raw: object) -> list[str]:
    """The free texts of a raw answer, without those that are refused or hold none."""
    replies = problems.within(raw, "replies") or ()
    kept = [reply for reply in replies if reading(prompt, (), reply)[0] not in LOST]
    plain = [answer_text(reply.get("text")) for reply in kept]
    return [str(_content(text, ANSWERS["words"]["key"]) or text) for text in plain]


def cut_short(reply: JsonObject) -> bool:
    """Whether the server ended a reply at its limit of tokens."""
    return str(reply.get("finish")).lower() in REPLIES["cut_short"]


def shares(prompt: Prompt, order: Order, replies: Sequence[JsonObject]) -> Scores:
    """Each label with the share of the replies that give it, in (0, 1]."""
    counts = Counter(label for reply in replies for label in reading(prompt, order, reply))
    return {label: count / len(replies) for label, count in counts.most_common()}


def probabilities(prompt: Prompt, order: Order, replies: Sequence[JsonObject]) -> Scores:
    """Each option with its probability among the options; a refusal or an unusable answer has 1.

    replies: the first as for ``reading``, with ``letters``: letter to log-probability at the place of the answer.
    """
    reply = replies[0]
    (label, *_) = reading(prompt, order, reply)
    answers = prompt.answers(order)
    chances = reply.get("letters") or {}
    weights = {answers[letter]: math.exp(chance) for letter, chance in chances.items()}
    total = sum(weights.values())
    if label in LOST or not total:
        return {label: 1.0}
    chances = {option: weight / total for option, weight in weights.items()}
    return {option: chance for option, chance in ranked(chances) if chance >= LEAST}


def by_order(prompt: Prompt, answer: JsonObject) -> ByOrder:
    """Order of the options to the score of each option, label or word in it.

    By log-probabilities if they were asked for, else by replies.

    answer: ``order`` of the options, ``replies``, each with its ``order`` if there are two, and ``scored``:
        "logprobs" or "repeats".
    """
    replies: dict[Drawn, list[JsonObject]] = {}
    for reply in answer["replies"]:
        replies.setdefault(tuple(reply.get("order", answer["order"])), []).append(reply)
    read = probabilities if answer["scored"] == "logprobs" else shares
    return {order: read(prompt, order, group) for order, group in replies.items()}


def joined_orders(scores: ByOrder) -> Scores:
    """Each label's mean score over the orders, the highest first."""
    totals: Counter[str] = Counter()
    for in_order in scores.values():
        totals.update(in_order)
    return dict(ranked({label: total / len(scores) for label, total in totals.items()}))


def order_effects(prompt: Prompt, scores: ByOrder) -> tuple[tuple[str, float, float], ...]:
    """(option, its score in the order that has it nearer the front, in the other); not of the middle option."""
    return tuple(
        sorted(
            (option, early.get(option, 0.0), late.get(option, 0.0))
            for (order, early), (_, late) in permutations(scores.items(), 2)
            for option in map(prompt.options.__getitem__, order[: len(order) // 2])
        )
    )


def abstained(prompt: Prompt, labels: Mapping[str, float]) -> Scores:
    """``ABSTAINS`` with the share of the replies that give no answer, of a task to which no picture shows one."""
    if not prompt.unknowable:
        return {}
    share = sum(score for label, score in labels.items() if label in (*LOST, prompt.abstain))
    return {ABSTAINS: min(share, 1.0)}


def with_number(prompt: Prompt, labels: Mapping[str, float]) -> Scores:
    """The labels with the task's number: the mean over the replies, or over the options' probabilities.

    Of two people the number says how far the first one is ahead, and no label names them.

    Returns: nothing if all was refused, since no number means that.
    Raises: AnswerError if no reply can be used.
    """
    lost = {label: score for label, score in labels.items() if label in (*LOST, prompt.abstain)}
    answers = {label: score for label, score in labels.items() if label not in lost}
    if not answers:
        if lost.keys() - {UNUSABLE}:
            return {}
        raise AnswerError(f"The model's reply holds no answer to the task {prompt.name}.")
    positions = {option: position for position, option in enumerate(prompt.options, 1)}
    if prompt.people > 1:
        positions = dict.fromkeys(prompt.options, 0) | ANSWERS["ahead"]
    numbers = np.array([float(positions.get(label, label)) for label in answers])
    weights = np.array(list(answers.values())) / sum(answers.values())
    scores = {prompt.scale: float(weights @ numbers)}
    if prompt.kind != "number":
        return scores | {name: labels[name] for name in labels if name not in ANSWERS["ahead"]}
    if prompt.least > 0:
        scores[f"{prompt.measures or prompt.name} ({LOG})"] = float(100 * weights @ np.log(numbers))
    return scores | lost


def meant(text: str, answers: Answers) -> str | None:
    """Which of the answers a text means, a whole reply or one token of it; None if it means none.

    Upper and lower case, and blanks, quotes, brackets, stars and points around it do not count, nor does "Option" or
    "The answer is" in front. What is left must be a letter, an option's own text, or both: ``(b) nurse``.  Where an
    option is itself a letter, it is the place in the list that is meant.

    answers: letters to options, or options to themselves.

    >>> [meant(text, {"A": "nurse", "B": "doctor"}) for text in ("a", '"A"', "(a)", " Option A.", "Nurse", "A or B")]
    ['A', 'A', 'A', 'A', 'A', None]
    """
    plain = unicodedata.normalize("NFKC", text)
    bare = PATTERNS["introduction"].sub("", plain)
    brief = PATTERNS["afterthought"].sub("", bare)
    for form in (plain.strip(), plain.strip(AROUND), bare.strip(AROUND), brief.strip(AROUND)):
        form = form.casefold()
        for key in answers:
            if form == key.casefold():
                return key
        for key, option in answers.items():
            words = re.sub(rf"\A{re.escape(key.casefold())}\W+", "", form)
            if words.strip(AROUND) == option.strip(AROUND).casefold():
                return key
    return None


def letters(tokens: Sequence[JsonObject], answers: Answers) -> Scores:
    """Letter to log-probability, at the token that holds the answer; empty if no token is the whole of it.

    A token counts for the letter that it means, as a reply does: "A", " a" and "nurse" share one chance.

    tokens: as ``logprobs.content`` gives them: ``token`` and ``top_logprobs``, a list of ``token`` and ``logprob``.
    answers: letters to options.
    """
    text = "".join(token["token"] for token in tokens)
    start = len(text) - len(PATTERNS["introduction"].sub("", text).lstrip(AROUND))
    of_characters = [token for token in tokens for _ in token["token"]]
    chosen = _choice(text, answers)
    if (
        chosen is None
        or start == len(text)
        or meant(of_characters[start]["token"], answers) != chosen
    ):
        return {}
    weights: Counter[str] = Counter()
    for candidate in of_characters[start].get("top_logprobs") or ():
        chance = log_probability(problems.within(candidate, "logprob"))
        letter = meant(str(problems.within(candidate, "token")), answers)
        if chance is not None and letter is not None:
            weights[letter] += math.exp(chance)  # type: ignore[assignment]
    return {letter: math.log(weight) for letter, weight in weights.items() if weight > 0}


def _content(text: str, key: str) -> object:
    """The value under a key of a reply in JSON, or what else it is; None if it is not JSON."""
    with suppress(ValueError):
        content = only(parse_json(text))
        if isinstance(content, dict):
            return content.get(key, "")
        return "" if content is None else content
    return None


def _choice(text: str, answers: Answers) -> str | None:
    value = only(_content(text, ANSWERS["choice"]["key"]))
    return meant(text if value is None else str(value), answers)


def _answered(prompt: Prompt, order: Order, text: str) -> Names:
    """The labels of an answer, by the kind that the prompt asks for; none if it is of another form."""
    kind = prompt.kind
    if kind == "choice":
        answers = prompt.answers(order)
        key = _choice(text, answers)
        if key is None:
            return ()
        return (answers[key],)
    value = _content(text, ANSWERS[kind]["key"])
    if kind == "labels":
        if not isinstance(value, list):
            return ()
        if any(not isinstance(item, str) or _declined(item) for item in value):
            return ()
        labels = (" ".join(item.casefold().split()) for item in value)
        return tuple(dict.fromkeys(filter(None, labels)))
    if kind == "number":
        if prompt.abstain and _choice(text, {prompt.abstain: prompt.abstain}):
            return (prompt.abstain,)
        number = numbers.said(text, prompt)
        return (repr(number),) if prompt.least <= number <= prompt.most else ()
    if kind == "words" and value is None:
        value = text
    if not isinstance(value, str) or not value.strip() or _declined(value):
        return ()
    if kind == "caption":
        return (value,)
    names = wordlists.named_in(value, prompt.lists) or ("none",)
    return tuple(f"list:{name}" for name in names)


# -- the body of a reply -----------------------------------------------------------------------------------------------


def read(text: str) -> JsonObject:
    """The reply as a JSON object.  Raises: ValueError with what came instead, and the status that it names."""
    import jmespath

    plain = text.strip()
    if not plain:
        raise ValueError("the reply is empty")
    if plain.startswith("<"):
        title = PATTERNS["page_title"].search(plain)
        words = unescape(re.sub(r"<[^>]*>", " ", title[2] if title else plain))
        raise ValueError(f"the reply is a web page: {' '.join(words.split())[:120]}")
    if chunks := PATTERNS["chunk"].findall(plain):  # a stream, although none was asked for
        body = jmespath.search(REPLIES["streamed"], list(map(parse_json, chunks)))
    else:
        body = only(parse_json(plain, finite=False))
    if not isinstance(body, dict):
        raise ValueError(f"the reply is not a JSON object: {plain[:120]}")
    return body


def problem_of(body: JsonObject, status: int = 200) -> tuple[service.Kind, str, Any] | None:
    """The kind of an error that a body or one of its choices holds, its words, and itself; None if it holds none.

    status: of the reply; within a good one the status or code counts that the error names.
    """
    holders = (body, *choices_of(body))
    answered = bool(body.get("choices") or body.get("data"))
    error = next(filter(None, (problems.error_in(holder, answered) for holder in holders)), {})
    if status >= 400:
        error = error or dict(body) or {"message": f"HTTP status {status}"}
    if not error:
        return None
    codes = service.codes_of("llm")
    kind = service.kind_inside(error, "lost")
    if status >= 400:
        kind = service.kind_of_status(status)
    kind = next((codes[name] for name in problems.named_in(error) if name in codes), kind)
    words = problems.words_of(error)
    if kind == "failed" and PATTERNS["picture"].search(words):
        kind = "refused"
    if kind == "failed" and problems.status_in(error) not in (413, 415):
        kind = "service"  # the request is ours: it would fail for every picture
    return kind, words, error


def policy_in(error: JsonObject, status: int = 400) -> str:
    """The server's words if it refuses to answer about this picture: policy, not format; empty otherwise.

    status: of the reply; from 500 on words alone are about the server.
    """
    matches = set(map(str.lower, problems.named_in(error))) & {*REPLIES["policy"]}
    words = str(error.get("message") or "")
    if matches or (status < 500 and PATTERNS["moderation"].search(words)):
        return words or min(matches)
    return ""


def unknown_parameters(error: JsonObject, sent: set[str]) -> list[str]:
    """The optional parameters that a 400 or 422 complains about; none if it complains about something else."""

    def named_in(value: Any) -> set[str]:
        if isinstance(value, Mapping):
            names = {str(part) for part in _list(value.get("loc"))} | {str(value.get("param"))}
            return names.union(*map(named_in, value.values()))
        return set[str]().union(*map(named_in, _list(value)))

    params = named_in(error)
    text = f"{problems.words_of(error)} {params}"
    optional = {name: words for name, words in REPLIES["optional"].items() if name in sent}
    named = [name for name in optional if name in params]
    if not named:
        named = [name for name, words in optional.items() if re.search(words, text)][:1]
    return list(dict.fromkeys(name.removeprefix("top_") for name in named))


# -- one choice -------------------------------------------------------------------------------------------------------


def answer_text(content: Any) -> str:
    """The answer of a message without what is packed around it: parts, reasoning, special tokens, tags, a fence.

    content: a text, a list of parts, or None.
    """
    text = joined(content)
    for package in ("channel", "special", "thought"):
        text = PATTERNS[package].sub("", text)
    text = PATTERNS["wrapped"].sub(r"\2", text.strip()).strip()
    return PATTERNS["fence"].sub(r"\1", text)


def joined(content: Any) -> str:
    """The text of a message; of a list, its parts joined without the reasoning."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(map(joined, content))
    if not isinstance(content, Mapping):
        return ""
    if PATTERNS["thinking_part"].search(str(content.get("type") or "")):
        return ""
    text = content.get("text")
    return joined(content.get("content") if text is None else text)


def refusal_in(choice: JsonObject, body: JsonObject) -> str:
    """Why a choice is a refusal by policy, as the server words it; empty if it is not a refusal."""
    for name in ("finish_reason", "native_finish_reason", "stop_reason"):
        value = str(choice.get(name))
        if PATTERNS["refusal"].search(value):
            return value
    return prompt_blocked(body)


def prompt_blocked(body: JsonObject) -> str:
    """Why the request itself was blocked, in the words of Gemini's endpoints; empty if it was not."""
    import jmespath

    reason = jmespath.search(REPLIES["blocked"], body)
    if str(reason).upper().endswith("UNSPECIFIED") or not problems.said(reason):
        return ""
    return str(reason)


def choices_of(body: JsonObject) -> list[JsonObject]:
    """The choices that are objects."""
    return [choice for choice in _list(body.get("choices")) if isinstance(choice, dict)]


def answer_tokens(choice: JsonObject, text: str) -> list[JsonObject] | None:
    """The tokens of ``logprobs.content`` that make up the answer; None if they do not spell it.

    text: the answer, as ``answer_text`` gives it. Tokens before it, of reasoning, are left out; after it may come a
    fence, a closing tag or special tokens. White space does not count.
    """
    lists = (_list(problems.within(choice, "logprobs", name)) for name in ("content", "rivals"))
    tokens = [  # without the signs for a space and for the end of a line
        {**token, **tops, "token": re.sub("[\u2581\u0120\u010a]", " ", token["token"])}
        for token, tops in zip_longest(*lists, fillvalue={})
        if isinstance(problems.within(token, "token"), str)
    ]
    if not tokens:
        return []
    spelled = ["".join(token["token"].split()) for token in tokens]
    all_text = "".join(spelled)
    answer = "".join(text.split())
    start = all_text.rfind(answer) if answer else -1
    end = start + len(answer)
    if start < 0 or not PATTERNS["after_answer"].match(all_text, end):
        return None
    places = [place for place, letters in enumerate(spelled) for _ in letters]
    return tokens[places[start] : places[end - 1] + 1]


def log_probability(value: Any) -> float | None:
    """A log-probability as a number; None if it is missing, not finite, or above 0 by more than rounding."""
    if type(value) in (int, float) and math.isfinite(value) and value <= 1e-3:
        return min(float(value), 0.0)
    return None


def tokens_used(body: JsonObject, question: int, most: int) -> tuple[int, int] | None:
    """Tokens in and out that count; None if the server reports none of the answer.

    What it reports is a claim: of the question those count that are known beforehand, of the answer no fewer than its
    text has, and no more than were asked for.

    question: tokens of the question and its picture.  most: of the answer.
    """
    reported = problems.within(body, "usage", "completion_tokens")
    if type(reported) is not int or reported < 0:
        return None
    contents = (problems.within(choice, "message", "content") for choice in choices_of(body))
    length = sum(len(joined(content)) for content in contents)
    return question, min(max(reported, -(-length // CHARACTERS_A_TOKEN), 1), most)


def _list(value: Any) -> Sequence[Any]:
    if isinstance(value, list):
        return value
    return []
