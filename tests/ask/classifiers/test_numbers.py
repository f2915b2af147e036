"""Replies of language models and what each says: a table, half of which was not used to write the grammar."""

import csv
from pathlib import Path

import pytest

from gslopes.ask.classifiers.chat import LOST, reading
from gslopes.ask.classifiers.prompt import SHIPPED, Prompt, load_prompt

NOT_VALID = "not valid"
TABLE = Path(__file__).with_name("replies.csv")
OWN = {
    "rent": Prompt("rent", "number", "Which rent is fair?", unit="USD a month", least=1),
    "age": Prompt("age", "number", "How old is the person?", unit="years", least=0, most=120),
    "points": Prompt("points", "number", "How friendly?", unit="points", least=0, most=10),
    "percent": Prompt("percent", "number", "How likely?", unit="percent", least=0, most=100),
}


def replies(half: str) -> list[tuple[str, str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["half"] == half]
    return [(row["task"], row["reply"], row["value"]) for row in rows]


def read(task: str, text: str) -> str:
    """The labels that a reply gives, joined, or that it is not valid."""
    prompt = load_prompt(task) if task in SHIPPED else OWN[task]
    labels = reading(prompt, range(len(prompt.options)), {"text": text, "finish": "stop"})
    if labels[0] in LOST:
        return NOT_VALID
    return ", ".join(labels)


def same(found: str, right: str) -> bool:
    try:
        return float(found) == pytest.approx(float(right), rel=1e-9)
    except ValueError:
        return found == right


@pytest.mark.parametrize("half", ["written", "held"])
def test_a_reply_is_read_as_what_it_says_or_is_not_valid(half):
    table = replies(half)
    wrong = [(*row, read(*row[:2])) for row in table if not same(read(*row[:2]), row[2])]
    assert len(table) == 100
    assert not wrong
