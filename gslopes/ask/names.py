r"""Names with parameters: one grammar for the command line, the configuration and the tables.

    NAME[:ARGUMENT][,key=value...]      onnx:model.onnx,labels=labels.txt,threshold=0.3
    NAME[:key=value[,key=value...]]     celeba-tagger:threshold=0.3

Croppers have the same. Options are a frozen dataclass: fields are the keys, their types are checked. One made by
``field(metadata=ARGUMENT)`` is written right after the colon, and one by ``field(metadata=OPERATIONAL)`` moves no
answer (a rate, a price) and is left out of the canonical name; of our own options.toml tells so, next to the module.
A field that is ``open`` is a tuple of any NAME=VALUE, written ``extra.top_p=0.9,extra.provider.only=x``. The pattern
``form`` must be found in what is written, or the two sentences of ``fault`` are said.
A list of numbers is written with slashes
(``mean=0.5/0.5/0.5``), a comma inside a value as ``\,``.  The canonical name has sorted keys and no defaults, so that
one classifier with one set of parameters has one name in the tables however it was typed.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from configparser import ConfigParser
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from gslopes.ask.secrets import is_secret, scrub, secret_in_address
from gslopes.core import (
    ConfigError,
    JsonObject,
    Names,
    facts_of,
    frozen,
    nearest,
    number,
    read_beside,
    whole,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


UNITS = {1: "levels", 2: "points ahead"}  # of choices with a number, by people


@frozen
class NoOptions:
    """The options of what has none."""


Options = TypeVar("Options", bound="DataclassInstance")
Maker = TypeVar("Maker", bound=Callable[..., Any])

# Metadata of an option's field: it is written right after the colon;
ARGUMENT = {"argument": True}
# it moves no answer (a rate, a price): no part of the canonical name, hence of the cache's key;
OPERATIONAL = {"operational": True}

_BOUNDS = read_beside(__file__, "bounds.toml")


def takes(options: type[DataclassInstance]) -> Callable[[Maker], Maker]:
    """Marks a function that makes a classifier or a cropper with its options, as ``Options`` does a class."""

    def marked(make: Maker) -> Maker:
        make.__dict__["Options"] = options
        return make

    return marked


class Bounded:
    """Options whose numbers are within their bounds, see bounds.toml.  Raises: ConfigError."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for name, (least, most, must) in _BOUNDS.items():
            value = getattr(self, name, None)
            if value is not None and not least <= value <= most:
                raise ConfigError(f"{name} must {must}, not {value:g}.")


def check_unit(kind: str, unit: str) -> None:
    """Raises: ConfigError for a unit of scores."""
    if unit and kind != "number":
        raise ConfigError("Only a number has a unit.", f"Give kind=number,unit={unit}.")


def as_address(text: str) -> str:
    """A text with a scheme before it, if it has none: http on this machine, https elsewhere.

    >>> as_address("localhost:8000/predict"), as_address("api.example.com/v1"), as_address("//host/path")
    ('http://localhost:8000/predict', 'https://api.example.com/v1', 'https://host/path')
    """
    bare = text.lstrip("/")
    return f"{'http' if bare.startswith(('localhost', '127.')) else 'https'}://{scrub(bare)}"


def split(text: str) -> tuple[str, list[str]]:
    r"""The bare name and the comma-separated items after the colon, unescaped.

    Raises: ConfigError if the name or an item is empty.

    >>> split(r"onnx:a\,b.onnx,labels=l.txt")
    ('onnx', ['a,b.onnx', 'labels=l.txt'])
    """
    head, *rest = (item.replace(r"\,", ",") for item in re.split(r"(?<!\\),", text))
    base, colon, argument = head.partition(":")
    items = [argument, *rest] if colon else rest
    if not base.strip() or not all(items):
        raise ConfigError(
            f"{scrub(text)!r} is not a name.", "It is written NAME[:ARGUMENT][,key=value...]."
        )
    return base, items


def with_tasks(given: Sequence[str], tasks: Sequence[str]) -> Names:
    """Each language model without a prompt once for every task; other names unchanged.

    Raises: ConfigError if there are tasks and no language model.

    >>> with_tasks(["llm:m", "llm:m,prompt=loan", "celeba-tagger", "transformers:m,task=answer"], ["salary"])
    ('llm:m,prompt=salary', 'llm:m,prompt=loan', 'celeba-tagger', 'transformers:m,task=answer,prompt=salary')
    """
    names = []
    asked = not tasks
    for name in given:
        base, items = split(name)
        prompted = any(item.startswith("prompt=") for item in items)
        answers = base == "llm" or "task=answer" in items
        asked |= answers or prompted
        if tasks and answers and not prompted:
            names += [name + f",prompt={_escape(task)}" for task in tasks]
        else:
            names.append(name)
    if not asked:
        raise ConfigError(
            "A task is for a language model, and none is named.",
            "Such as --classifier llm:MODEL,url=http://localhost:8080/v1, or transformers:MODEL,task=answer.",
        )
    return tuple(dict.fromkeys(names))


def by_batch(name: Any) -> str:
    """The name of a language model that is asked by batch.  Raises: ConfigError if it names none, as no object does.

    >>> by_batch("llm:m,prompt=loan")
    'llm:m,prompt=loan,by_batch=yes'
    """
    if not isinstance(name, str) or split(name)[0] != "llm":
        raise ConfigError(
            f"Language models are asked by batch, and {scrub(str(name))} is none.",
            "Leave out --batch; by_batch=yes after the name of one asks this one so.",
        )
    return name + ",by_batch=yes"


def read(cls: type[Options], base: str, items: list[str], kind: str = "classifier") -> Options:
    """The options that the items spell.

    cls: the frozen dataclass of the options.  base, kind: the bare name and the word for it, for messages.
    items: as from ``split``.
    Raises: ConfigError if an item is unknown (naming the nearest), given twice, missing, or not of its type.
    """
    fields = {item.name: item for item in dataclasses.fields(cls)}
    facts = facts_of(cls)
    leading = next((name for name, told in facts.items() if "argument" in told), None)
    keys = sorted(
        f"{name}{told.get('open', '')}" for name, told in facts.items() if name != leading
    )
    texts = {}
    if leading and items and items[0].partition("=")[0] not in fields:
        texts[leading], items = items[0], items[1:]
    for item in items:
        key, equals, value = item.partition("=")
        if not equals:
            raise ConfigError(
                f"The {kind} {base!r} cannot read {scrub(key)!r}: a parameter is written key=value.",
                r"A comma inside a value is written \,.",
            )
        name, dot, _ = key.partition(".")
        if (f"{name}.NAME" if dot else key) not in keys:
            hint = nearest(key, keys, f"It has: {', '.join(keys) or 'no parameters'}.")
            raise ConfigError(f"The {kind} {base!r} has no parameter {key!r}.", hint)
        if key in texts:
            raise ConfigError(
                f"The {kind} {base!r} has the parameter {key!r} twice.", "Give it once."
            )
        told = facts.get(name, {})
        if not re.search(told.get("form", ""), item) or (dot and is_secret(value)):
            raise ConfigError(*(text.format(key, value) for text in told["fault"]))
        texts[key] = value
    public = ConfigParser.BOOLEAN_STATES.get(texts.get("public", "").lower(), False)
    # A name is stored in tables and caches; nothing of an address is repeated.
    for value in texts.values():
        if secret := secret_in_address(value, public=public):
            hint = "Put the key into an environment variable: token=VARIABLE, or the whole address: http:env:VARIABLE."
            if base != "http":
                hint = f"Set the environment variables that gslopes list classifiers names for {base} instead."
            hint += "" if public else " Add public=yes if nothing in it is a key."
            raise ConfigError(
                f"The address of {base} holds {secret}, which would be stored with the answers.",
                hint,
            )
    for name, field in fields.items():
        if field.default is dataclasses.MISSING and name not in texts:
            shape = f"{base}:{name.upper()}" if name == leading else f"{name}=..."
            raise ConfigError(f"The {kind} {base!r} needs its {name}.", f"Write {shape}.")
    kinds = get_type_hints(cls)
    values: JsonObject = {}
    for key, text in sorted(texts.items()):
        name, dot, inner = key.partition(".")
        if dot:
            values[name] = (*values.get(name, ()), f"{inner}={text}")
        else:
            values[name] = _value(f"{base}'s {name}", kinds[name], text)
    return cls(**values)


def canonical(base: str, options: DataclassInstance) -> str:
    r"""The one spelling of a name with these options: the argument, then sorted keys, defaults left out."""
    items = []
    facts = facts_of(type(options))
    for item in dataclasses.fields(options):
        value = getattr(options, item.name)
        if value == item.default or "operational" in facts[item.name]:
            continue
        if "open" in facts[item.name]:
            items += [(f"{item.name}.", _escape(text)) for text in value]
            continue
        key = "" if "argument" in facts[item.name] else f"{item.name}="
        items.append((key, _escape(value)))
    if items:
        return f"{base}:{','.join(map(''.join, sorted(items)))}"
    return base


def usage(cls: type[DataclassInstance]) -> Names:
    """How each parameter is written, with its default; a required one in capitals.

    The argument is first, then those that decide what is asked, and those that move no answer.
    """
    rows = []
    kinds = get_type_hints(cls)
    facts = facts_of(cls)
    groups = ("argument", "", "form", "operational")
    for item in sorted(
        dataclasses.fields(cls), key=lambda item: groups.index(next(iter(facts[item.name]), ""))
    ):
        default = (
            item.name.upper() if item.default is dataclasses.MISSING else _escape(item.default)
        )
        if "argument" in facts[item.name]:
            rows.append("|".join(get_args(kinds[item.name])) or default)
        else:
            rows.append(f"{item.name}{facts[item.name].get('open', '')}={default}")
    return tuple(rows)


# --- values ---


_READERS: Mapping[Any, tuple[Callable[[str], Any], str]] = {
    bool: (lambda text: ConfigParser.BOOLEAN_STATES[text.lower()], "yes or no"),
    int: (whole, "a whole number"),
    float: (number, "a number"),
    str: (str, "text"),
    Path: (Path, "a path"),
}


def _value(what: str, kind: Any, text: str) -> Any:
    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            raise ConfigError(
                f"{what} must be one of {', '.join(map(str, get_args(kind)))}, not {text!r}."
            )
        return text
    if get_origin(kind) is tuple:
        parts = text.split("/")
        kinds = get_args(kind)
        if len(parts) != len(kinds):
            raise ConfigError(
                f"{what} must be {len(kinds)} values with slashes between them, not {text!r}."
            )
        return tuple(_value(what, each, part) for each, part in zip(kinds, parts, strict=True))
    if type(None) in get_args(kind):  # what is not given depends on the rest
        (kind,) = (option for option in get_args(kind) if option is not type(None))
    reader, word = _READERS[kind]
    try:
        return reader(text)
    except (ValueError, KeyError):
        hint = f"{'Numbers are 0, or from 1e-18 to 1e18.' if 'number' in word else ''}"
        raise ConfigError(f"{what} must be {word}, not {text[:80]!r}.", hint) from None


def _escape(value: Any) -> str:
    if value is None:
        return "auto"
    if isinstance(value, tuple):
        return "/".join(map(_escape, value))
    if isinstance(value, bool):
        if value:
            return "yes"
        return "no"
    text = repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
    return text.replace(",", r"\,")
