"""Context audits with hardly any answers: none, all refused, a third refused, one person, one answer for all."""

from collections.abc import Callable
from pathlib import Path

import pytest

import gslopes
from gslopes.core.errors import Refused
from tests.broken import broken, shown
from tests.contexts.drawn import Tagger, audit


class Partly(Tagger):
    """Refuses every nth picture; all for 1."""

    def __init__(self, every: int) -> None:
        super().__init__()
        self.every, self.asked = every, 0

    def ask(self, pictures):
        numbers = range(self.asked + 1, self.asked + 1 + len(pictures))
        self.asked += len(pictures)
        answers = zip(numbers, super().ask(pictures), strict=True)
        return [answer if number % self.every else Refused("policy") for number, answer in answers]


class Constant(Tagger):
    """The same tags for every picture."""

    def __init__(self, *tags: str) -> None:
        super().__init__()
        self.tags = list(tags)

    def ask(self, pictures):
        return [self.tags for _ in pictures]


CASES: dict[str, Callable[[], Tagger]] = {
    "all refused": lambda: Partly(1),
    "a third refused": lambda: Partly(3),
    "no tag": Constant,
    "women only": lambda: Constant("woman", "shirt"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(case, marks=[] if "all" in case else pytest.mark.slow) for case in CASES]
)
def test_every_table_and_the_page_are_made(few: Path, tmp_path: Path, name: str):
    result = audit(few, tmp_path / "run", classifier=CASES[name]())
    page = result.page.read_text("utf-8")
    texts = [
        result.summary,
        str(result),
        result._repr_html_(),
        result.findings.to_csv(index=False),
        shown(page),
    ]
    assert sorted({fault for text in texts for fault in broken(text)}) == []
    assert gslopes.load(tmp_path / "run").summary == result.summary
    assert result.summary.startswith("No tagger described any picture") == (name == "all refused")


@pytest.mark.slow
@pytest.mark.parametrize("people", [1, 2])
def test_of_one_or_two_people_too(folder: Path, tmp_path: Path, people: int):
    lines = (folder / "people.csv").read_text("utf-8").splitlines()
    (tmp_path / "people.csv").write_text("\n".join(lines[: people + 1]) + "\n", "utf-8")
    result = audit(folder, tmp_path / "run", people=tmp_path / "people.csv")
    assert result.page.is_file()
    assert "nan" not in str(result).lower()
