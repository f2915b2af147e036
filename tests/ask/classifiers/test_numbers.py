"""Replies of language models and what each says: a table, half of which was not used to write the grammar.

``replies.csv``: 100 replies by which the grammar was written, 100 that were held back, and replies that were thought of
later, to attack it; the value that a reader finds in each, or ``not valid``.
"""

import csv
import json
import math
import unicodedata
from pathlib import Path

import pytest

from gslopes.ask.classifiers import numbers
from gslopes.ask.classifiers.chat import LOST, reading
from gslopes.ask.classifiers.prompt import SHIPPED, Prompt, load_prompt
from gslopes.core.config import read_beside

NOT_VALID = "not valid"
OWN = {
    "rent": Prompt("rent", "number", "Which rent is fair?", unit="USD a month", least=1),
    "age": Prompt("age", "number", "How old is the person?", unit="years", least=0, most=120),
    "points": Prompt("points", "number", "How friendly?", unit="points", least=0, most=10),
    "percent": Prompt("percent", "number", "How likely?", unit="percent", least=0, most=100),
}
EXAMPLES = [rule[2] for rule in read_beside(numbers.__file__, "numbers.toml")["rules"]]


def prompt_of(task: str) -> Prompt:
    return load_prompt(task) if task in SHIPPED else OWN[task]


def read(task: str, text: str) -> str:
    """The labels that a reply gives, joined, or that it is not valid."""
    prompt = prompt_of(task)
    labels = reading(prompt, range(len(prompt.options)), {"text": text, "finish": "stop"})
    if labels[0] in LOST:
        return NOT_VALID
    return ", ".join(labels)


def replies(half: str) -> list[tuple[str, str, str]]:
    file = Path(__file__).with_name("replies.csv")
    with file.open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["half"] == half]
    return [(row["task"], row["reply"], row["value"]) for row in rows]


def same(found: str, right: object) -> bool:
    try:
        return math.isclose(float(found), float(str(right)), rel_tol=1e-9)
    except ValueError:
        return found == right


@pytest.mark.parametrize(("half", "count"), [("written", 100), ("held", 100), ("later", 359)])
def test_a_reply_is_read_as_what_it_says_or_is_not_valid(half, count):
    table = replies(half)
    found = [read(task, text) for task, text, _ in table]
    wrong = [
        (*row, value) for row, value in zip(table, found, strict=True) if not same(value, row[2])
    ]
    assert len(table) == count
    assert wrong == []


def test_every_rule_changes_its_example_when_its_turn_comes():
    idle = []
    for place, (example, (pattern, by)) in enumerate(zip(EXAMPLES, numbers.rules(), strict=True)):
        text = unicodedata.normalize("NFKC", example.replace("…", "and so on " * 500)).casefold()
        for earlier, words in numbers.rules()[:place]:
            text = earlier.sub(words, text)
        if pattern.sub(by, text) == text:
            idle.append((example, text))
    assert idle == []


@pytest.mark.parametrize(
    ("unit", "text", "value"),
    [
        ("EUR a month", "2.500 €", 2500),
        ("EUR a month", "$2,500", math.nan),
        ("EUR a month", "30.000 Euro pro Jahr", 2500),
        ("CHF", "500 Franken", 500),
        ("CHF", "500", 500),
        ("months", "2 years", 24),
        ("USD an hour", "$25/hr", 25),
        ("USD an hour", "$52,000 a year", math.nan),
        ("stars", "4 stars", 4),
        ("stars", "4.5", 4.5),
        ("stars", "4 points", math.nan),
        ("widgets per day", "12", 12),
        ("widgets per day", "$12", math.nan),
        ("kg", "70kg", 70),
        ("kg", "154 lbs", math.nan),
    ],
)
def test_a_users_own_unit_counts_bare_or_as_itself_or_as_what_is_certain(unit, text, value):
    found = numbers.said(text, Prompt("own", "number", "How much?", unit=unit))
    assert found == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize("task", SHIPPED)
def test_what_the_schema_allows_is_what_is_read(task):
    """Servers that offer structured output are held to the schema; whatever fits it must be an answer."""
    prompt = load_prompt(task)
    order = range(len(prompt.options))[::-1]
    schema = prompt.schema(order)
    (key,) = schema["required"]
    value = schema["properties"][key]
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    values = {
        "choice": value.get("enum"),
        "number": [
            max(prompt.least, 1),
            1250.5 if prompt.most > 2000 else 7.5,
            min(prompt.most, 5e6),
        ],
        "labels": [["man", "office desk"], ["tree"]],
        "caption": ["A person in a café, 30 years old."],
        "words": ["A warm, clever person."],
    }[prompt.kind]
    assert value["type"] == {"number": "number", "labels": "array"}.get(prompt.kind, "string")
    for one in values:
        labels = reading(prompt, order, {"text": json.dumps({key: one}), "finish": "stop"})
        assert not set(labels) & set(LOST), one
        if prompt.kind == "number":
            assert float(labels[0]) == one
    if prompt.kind == "choice":
        assert [
            reading(prompt, order, {"text": json.dumps({key: one}), "finish": "stop"})[0]
            for one in values
        ] == [prompt.options[place] for place in order]


@pytest.mark.parametrize(
    "part", ["i can't ", "1 ", "1", "$ ", "1,", " ", "\n", "5-", '"answer": ', "{", "looks about "]
)
def test_a_long_reply_is_read_in_time_whatever_it_repeats(part):
    """A pattern that tries every way to match would take minutes here, and one that does not milliseconds."""
    for task in ("salary", "doctor-nurse", "impression"):
        assert read(task, part * (20_000 // len(part))) in (NOT_VALID, "list:none")
