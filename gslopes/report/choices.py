"""How an audit differs from its paper: one choice a row, each with the paper's section, as text and as Markdown."""

from collections.abc import Iterable
from pathlib import Path

from gslopes.core import Facts, Texts, frozen, read_toml
from gslopes.report import inline

SLOPES = "Joo & Kärkkäinen (2020), doi 10.1145/3422841.3423533"


@frozen
class Choice:
    """One choice of the method.

    what: is chosen.  paper: as the paper has it.  here: as the run has it.  reason: of the difference, or what cannot
    be set; may be empty.  option: that sets it as published; empty if nothing does.  section: of the
    paper that describes it; empty if the paper is silent.
    """

    what: str
    paper: str
    here: str
    reason: str = ""
    option: str = ""
    section: str = ""

    @property
    def same(self) -> bool:
        """Whether the run does as the paper."""
        return self.paper == self.here

    @property
    def printed(self) -> str:
        """The paper's choice with its section."""
        if self.section:
            return f"{self.paper} ({self.section})"
        return self.paper


def read_choices(file: Path, config: Facts) -> tuple[str, list[Choice]]:
    """(the paper, its choices) for a run of a sibling audit.

    file: TOML with ``paper`` and ``[[choice]]``, see ``choice_of``.  config: the run's, flat.
    """
    texts = read_toml(file)
    return texts["paper"], [choice_of(text, config) for text in texts["choice"]]


def choice_of(text: Texts, facts: Facts) -> Choice:
    """A choice as TOML has it: each cell is a template of what the run has, and of the cell ``paper``.

    of: a cell that says to whom the choice belongs, and is no part of it.

    >>> text = {"what": "pairs", "paper": "all", "here": "{{ paper if published else 'some' }}"}
    >>> choice_of(text, {"published": True}).same, choice_of(text, {"published": False}).here
    (True, 'some')
    """
    fill = inline.templates(escape=False).from_string
    known = {"paper": text["paper"], **facts}
    cells = {key: fill(cell).render(known).strip() for key, cell in text.items() if key != "of"}
    return Choice(**cells)


HEAD = ("choice", "paper", "this run", "reason")


def rows_of(choices: Iterable[Choice]) -> list[tuple[str, str, str, str]]:
    """What differs, as rows under ``HEAD``, for a page."""
    return [
        (choice.what, choice.printed, choice.here, choice.reason)
        for choice in choices
        if not choice.same
    ]


def print_method(choices: Iterable[Choice], paper: str = SLOPES) -> str:
    """The list as text: what differs first, each with its reason and the option that undoes it."""
    return inline.plain("method.txt.j2", choices=list(choices), paper=paper)


def to_markdown(choices: Iterable[Choice], paper: str = SLOPES) -> str:
    """The list as a Markdown table."""
    return inline.plain("method.md.j2", choices=choices, head=HEAD, paper=paper) + "\n"
