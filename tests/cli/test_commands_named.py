"""Every command that a text of ours names exists, with its options: hints of errors, docstrings, README, docs."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from gslopes.cli.main import VERBS, main

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.compile(
    r"\bgslopes ([a-z]+)((?: (?:(?![`\n]|&&|;|\. |, ).)*)?)"
)  # the verb, and the rest of its command
OURS = {"--help", "--help-all", "--debug", "--version"}


def texts(path: Path) -> Iterator[str]:
    """The literals of a module, with a placeholder for each part that is filled in; other files whole."""
    if path.suffix != ".py":
        yield path.read_text("utf-8")
        return
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "X" for part in node.values]
            yield "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def options_of(verb: str) -> set[str] | None:
    """The options of a verb, and of the commands below it; None if it hands them on."""
    command = main.get_command(click.Context(main), verb)
    assert command is not None
    if command.context_settings.get("ignore_unknown_options"):
        return None
    commands = list(command.commands.values()) if isinstance(command, click.Group) else [command]
    params = [param for member in commands for param in member.params]
    return OURS | {name for param in params for name in (*param.opts, *param.secondary_opts)}


def unknown(text: str) -> list[str]:
    """What a text names that is not there; words after our name in a sentence are no command."""
    faults = []
    for verb, rest in NAMED.findall(text):
        options = re.findall(r"(?<![\w-])--[a-z][\w-]*", rest)
        if verb not in VERBS:
            faults += [f"gslopes {verb}"] if options or re.match(r" [A-Z]{3,}", rest) else []
        else:
            options_of_verb = options_of(verb)
            faults += [
                f"gslopes {verb} {option}"
                for option in options
                if options_of_verb is not None and option not in options_of_verb
            ]
    return faults


FILES = [
    *ROOT.glob("gslopes/**/*.py"),
    *ROOT.glob("docs/pages/**/*.md"),
    *ROOT.glob("models/*/card.md"),
]
FILES += [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "action.yml"]


def test_a_command_that_is_not_there_is_found() -> None:
    assert unknown("gslopes is a program; gslopes audit PHOTOS --out RUN") == []
    assert unknown("`gslopes drift RUN`, gslopes audit --outt RUN") == [
        "gslopes drift",
        "gslopes audit --outt",
    ]


@pytest.mark.parametrize(
    "folder", sorted({path.parent for path in FILES}), ids=lambda path: str(path.relative_to(ROOT))
)
def test_every_command_and_option_that_a_text_names_exists(folder: Path) -> None:
    faults = {
        path.name: names
        for path in FILES
        if path.parent == folder
        and (names := [name for text in texts(path) for name in unknown(text)])
    }
    assert faults == {}
