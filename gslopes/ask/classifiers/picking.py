"""Labels and scores out of any JSON reply, by JSONPath (RFC 9535), and what a reply holds in words.

A path may find one mapping of label to score, or items: mappings with a label and a score under the names that
endpoints use, [label, score] pairs, or only labels, whose score is 1; or numbers, the highest of which is the score of
the path's last name. Two paths find labels and scores in parallel.
"""

import json
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

from gslopes.ask.secrets import scrub
from gslopes.core import AnswerError, ConfigError, Facts, JsonObject, read_beside

Pairs = tuple[tuple[str, Any], ...]
NAMES = read_beside(__file__, "picking.toml")
_KEYS = 6  # of a reply, that are shown
_LAST_NAME = re.compile(r"([^\W\d_][^.\[\]'\"]*)['\"]?\]?(?:\[\d+\])*$")


@cache
def query(path: str) -> Any:
    """The compiled path.  Raises: ConfigError if it is malformed."""
    import jsonpath_rfc9535

    try:
        return jsonpath_rfc9535.compile(path)
    except jsonpath_rfc9535.JSONPathError as error:
        hint = "Such as $.predictions[*]." if path.startswith("$") else f"Write $.{path}."
        raise ConfigError(f"{path!r} is not a JSONPath: {scrub(str(error))}.", hint) from None


def first_name(path: str) -> list[str]:
    """The key that a path goes through first, if it names one.

    >>> first_name("$.crops[0].box"), first_name("$[*].label"), first_name("$")
    (['crops'], ['label'], [])
    """
    return re.findall(r"[^$.\[\]'\"*\d]+", path)[:1]


def found(reply: Any, path: str) -> list[Any]:
    """What a path finds: several values, or the items of the one list; none if a list on the way there is empty.

    Raises: AnswerError naming what the reply holds, if it holds nothing there.
    """
    from jsonpath_rfc9535 import JSONPathQuery

    part = compiled = query(path)
    while not (values := part.find(reply).values()):
        part = JSONPathQuery(env=compiled.env, segments=part.segments[:-1])
    if part is not compiled:
        if all(value == [] for value in values):
            return []
        holds = f"{_dotted(str(part))} is {shape(values[0])}"
        raise AnswerError(f"The reply has nothing at {path}: {holds}.{suggestion(reply)}")
    if len(values) == 1 and isinstance(values[0], list):
        return values[0]
    return list(values)


def picked(reply: Any, labels: str, scores: str) -> Pairs:
    """Label and score of what the paths find, the highest first, each label once with its highest score.

    labels, scores: JSONPath; if only one is given, it finds both.
    Raises: AnswerError naming what the reply holds.
    """
    if not labels or not scores:
        if name := _LAST_NAME.search(scores):
            numbers = list(map(only, query(scores).find(reply).values()))
            if numbers and all(map(is_number, numbers)):
                return ((name[1], float(max(numbers))),)
        return pairs(found(reply, labels or scores))
    names = found(reply, labels)
    values = found(reply, scores)
    if len(names) != len(values):
        raise AnswerError(
            f"The reply has {len(names)} labels at {labels} and {len(values)} scores at {scores}."
        )
    return pairs([list(pair) for pair in zip(names, values, strict=True)])


def pairs(items: Iterable[Any]) -> Pairs:
    """Label and score of what each item holds, as ``picked``."""
    best: JsonObject = {}
    for label, score in (pair for item in items for pair in _of_item(item)):
        best[label] = max(best.get(label, score), score)
    return ranked(best)


def ranked(scores: Facts) -> Pairs:
    """Labels with their scores, the highest first."""
    return tuple(sorted(scores.items(), key=lambda pair: -pair[1]))


def _of_item(item: Any) -> Sequence[tuple[str, Any]]:
    pair = [item, 1.0] if isinstance(item, str) else item
    if isinstance(item, dict):
        pair = labelled(item)
        # unless the keys are places in a list of labels that is not there
        if pair == [None, None] and not "".join(item).isdecimal():
            return [(key, _number(value)) for key, value in item.items()]
    if isinstance(pair, list) and len(pair) == 2:
        label, score = pair
        if isinstance(label, str) and score is not None:
            return [(label, _number(score))]
    hint = "Scores need names. Give both paths, such as labels=$.predictions[*].name,scores=$.predictions[*].p."
    raise AnswerError(f"The reply has {shape(item)} where a label with its score should be. {hint}")


def only(value: Any) -> Any:
    """The one item of a list; any other value itself."""
    if isinstance(value, list) and len(value) == 1:
        return value[0]
    return value


def labelled(item: Facts) -> list[Any]:
    """[label, score] under the names that models and endpoints use; None for what is missing."""
    keys = {str(key).lower(): value for key, value in item.items()}
    label = next((keys[key] for key in NAMES["labels"] if isinstance(keys.get(key), str)), None)
    return [label, next((keys[key] for key in NAMES["scores"] if key in keys), None)]


def is_number(value: Any) -> bool:
    """Whether a value of JSON is one."""
    return type(value) in (int, float)


def _number(value: Any) -> float:
    """A number, also as a text, which some endpoints make of one.  Raises: AnswerError."""
    with suppress(ValueError):
        if is_number(value) or (isinstance(value, str) and value.isascii()):
            return float(value)
    raise AnswerError(f"The reply has {shape(value)} where a score should be.")


def shape(value: Any, depth: int = 4) -> str:
    """What a value holds: its keys and kinds, none of its texts and numbers.

    >>> shape({"predictions": [{"label": "cat", "score": 0.9}, {"label": "dog", "score": 0.1}], "ok": True})
    '{"predictions": [{"label": text, "score": number}, … 2], "ok": true}'
    """
    if isinstance(value, dict):
        if depth < 1:
            return "{…}"
        pairs = [
            f"{json.dumps(scrub(str(key))[:40], ensure_ascii=False)}: {shape(inner, depth - 1)}"
            for key, inner in value.items()
        ]
        pairs[_KEYS:] = ["…"] * (len(pairs) > _KEYS)
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        if not value:
            return "[]"
        more = f", … {len(value):,}" if len(value) > 1 else ""
        return f"[{shape(value[0], depth - 1)}{more}]"
    if isinstance(value, str):
        return "text"
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return "number"


def suggestion(reply: Any) -> str:
    """`` Perhaps scores=PATH.``, at which labels with scores in [0, 1] can be read; empty if nothing fits."""
    for node in (*query("$").find(reply), *query("$..*").find(reply)):
        items = node.value if isinstance(node.value, list) else [node.value]
        with suppress(AnswerError):
            scored = () if items and isinstance(items[0], str) else pairs(items)
            if scored and all(0 <= score <= 1 for _, score in scored):
                return f" Perhaps scores={_dotted(node.path())}."
    return ""


def _dotted(path: str) -> str:
    return re.sub(r"\['([A-Za-z_]\w*)'\]", r".\1", path)
