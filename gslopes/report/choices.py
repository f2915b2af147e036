"""How an audit differs from its paper: one choice a row, each with the paper's section, as text and as Markdown."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gslopes.core import frozen, read_toml
from gslopes.report import inline, layouts

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


def read_choices(file: Path, config: Mapping[str, Any]) -> tuple[str, list[Choice]]:
    """(the paper, its choices) for a run of a sibling audit.

    file: TOML with ``paper`` and ``[[choice]]``: what, paper, section, reason, option; then either here, or key, a name
    in the configuration, and published, its value as the paper has it; default: of a key that the run does not name;
    otherwise: shown if the run has no such value; instead: shown in place of any other value; named: true for names
    such as ``onnx:FILE``, of which what comes before the colon is compared.
    config: the run's, flat.
    """
    texts = read_toml(file)
    return texts["paper"], [_choice(text, config) for text in texts["choice"]]


def _choice(text: Mapping[str, Any], config: Mapping[str, Any]) -> Choice:
    fields = {name: text.get(name, "") for name in ("what", "paper", "reason", "option", "section")}
    if "key" not in text:
        return Choice(here=text["here"], **fields)
    value = config.get(text["key"], text.get("default"))
    value = list(value) if isinstance(value, tuple) else value
    if text.get("named"):
        value = [name.partition(":")[0] for name in value or ()]
    if value == text["published"]:
        return Choice(here=fields["paper"], **fields)
    if "instead" in text:
        return Choice(here=text["instead"], **fields)
    if not value and "otherwise" in text:
        return Choice(here=text["otherwise"], **fields)
    return Choice(here=_shown(value), **fields)


def _shown(value: Any) -> str:
    """A value of a configuration as text."""
    if isinstance(value, bool) or value is None:
        if value:
            return "yes"
        return "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


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
    cells = [
        (
            choice.what,
            choice.printed,
            *(("the same", "") if choice.same else (choice.here, choice.reason)),
        )
        for choice in choices
    ]
    return f"# Method\n\nHow this run differs from {paper}.\n\n{layouts.markdown(HEAD, cells)}\n"
