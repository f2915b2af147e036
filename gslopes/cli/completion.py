"""What a shell offers after a tab: verbs, options and values, from completion.json; nothing heavy is imported.

``python docs/hooks/hooks.py`` writes that file from the verbs and their options: ``options``, by verb, with what they
are about; ``values`` of each, of arguments those by "": the values themselves, or their kind. Of a kind there are
``names`` of gslopes' own, as of what may follow one and a colon or comma; ``files`` by patterns; and what is ``read``
in a file or a run that is named before: its ending, two patterns, of which the second finds words in what the first
finds, and the words' form.
"""

import json
import os
import re
from contextlib import suppress
from glob import escape, glob
from importlib.metadata import entry_points
from pathlib import Path

from click.shell_completion import split_arg_string

from gslopes.core import read_text
from gslopes.frame.commands import say

_HERE = Path(__file__)
_TOLD = json.loads(read_text(_HERE.with_suffix(".json")))


def complete(asked: str) -> None:
    """Print the script of a shell, or what may end $COMP_LINE, a line each; nothing if anything is wrong.

    asked: ``bash_source``, or of another shell; any other text for the rest.
    """
    with suppress(Exception):
        shell, is_script, _ = asked.partition("_source")
        if is_script:
            return say(read_text(_HERE.with_suffix(f".{shell}")))
        # an option and its value as two words
        line = re.sub(r"(\s--[\w-]+)=", r"\1 ", os.environ["COMP_LINE"])
        *before, text = split_arg_string(line)
        for value, about in _values(before, text).items():
            if value.startswith(text):
                say(f"{value}  # {about}")


def _values(before: list[str], text: str) -> dict[str, str]:
    """What may follow the words before, with what it means."""
    verb = "gslopes"
    for word in before:
        if f"{verb} {word}" in _TOLD["values"]:
            verb = f"{verb} {word}"
    if text.startswith("-"):
        return _TOLD["options"][verb]
    kinds = _TOLD["values"][verb]
    kind = kinds.get(before[-1], kinds[""])
    if isinstance(kind, dict):
        return kind
    there = [word for name in before for word in _read(kind, name)]
    return _named(kind, text) | dict.fromkeys(there, "")


def _named(kind: str, text: str) -> dict[str, str]:
    """Names of a kind, and what follows one that is typed up to a colon or a comma."""
    head, start = re.findall("(.*[:,]|)(.*)", text)[0]
    base = re.split("[:,]", head or kind)[0] + head[-1:]
    patterns = _TOLD["files"].get(base, ())
    files = [path for pattern in patterns for path in glob(escape(start) + pattern)]
    found = _read("functions", head.removeprefix("python:").rstrip(":")) or files
    found = [*found, *entry_points(group=f"gslopes.{base}").names]
    names = _TOLD["names"].get(base, {}) | dict.fromkeys(found, "")
    return {head + name: names[name] for name in names}


def _read(kind: str, place: str) -> list[str]:
    """What a file has of a kind; nothing if it cannot be read."""
    with suppress(Exception):
        ending, first, second, form = _TOLD["read"][kind]
        text = read_text(place.removesuffix(ending) + ending)
        parts = "\n".join(re.findall(first, text))
        return [form.format(word) for word in re.findall(second, parts)]
    return []
