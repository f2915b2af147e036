"""Strict configuration: a TOML file or a mapping becomes a frozen dataclass, and an unknown key is an error.

Sections of a file are nested dataclasses. Nothing is evaluated, nothing is looked up by a dotted path, and nothing is
guessed: ``3`` may be given for ``3.0``, a list for a tuple and a string for a path; every other type must match.
"""

import dataclasses
import functools
import inspect
import re
import tomllib
import types
from collections.abc import Mapping
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from gslopes.core.errors import ConfigError, nearest
from gslopes.core.files import Facts, JsonObject, read_text

T = TypeVar("T")
_WORDS: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    str: "a text",
    bool: "true or false",
    Path: "a path",
}
MOST = 1e18  # of a number that is given for an option: within 64 bits, and far from where products overflow


class Stored(str):
    """A text that a run folder alone names, not this command: it says who runs code, or is sent pictures and keys.

    What is added to it stays one, see ``ask.classifiers.catalogue.resolved``.
    """

    def __add__(self, more: str) -> "Stored":
        return Stored(super().__add__(more))


def from_dict(cls: type[T], mapping: Facts, *, where: str = "") -> T:
    """A dataclass from a mapping with exactly its fields; fields with a default may be left out.

    cls: its fields annotated with bool, int, float, str, Path, tuple, list, dict, Literal, another dataclass, Any or
        unions of those.
    mapping: field name to value, as ``tomllib`` or ``json`` give it.  where: the section's name, for messages.

    Raises: ConfigError for an unknown or missing key (with the nearest known one), a value of another type, or a number
        that is not finite or outside the ``least`` and ``most`` of its field, see ``facts_of``.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Find:
    ...     min_face: int = 32
    >>> from_dict(Find, {"min_face": 20})
    Find(min_face=20)
    """
    section = f"The section [{where}]" if where else "The configuration"
    if not isinstance(mapping, Mapping):
        raise ConfigError(f"{section} must be a table of keys and values, not {mapping!r}.")
    fields = {field.name: field for field in dataclasses.fields(cls) if field.init}  # type: ignore[arg-type]
    hints = get_type_hints(cls)
    for key in mapping:
        if key not in fields:
            hint = nearest(str(key), fields, f"Known keys: {', '.join(fields)}.")
            raise ConfigError(f"{section} has an unknown key {key!r}.", hint)
    for name, field in fields.items():
        required = (
            field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        )
        if required and name not in mapping:
            raise ConfigError(
                f"{section} lacks the key {name!r}.", f"Known keys: {', '.join(fields)}."
            )
    facts = facts_of(cls)  # type: ignore[arg-type]  # a class can be hashed
    return cls(
        **{
            name: _value(name, hints[name], value, where, facts[name])
            for name, value in mapping.items()
        }
    )


def check(config: Any, where: str = "") -> None:
    """A ready configuration, and its sections.  Raises: as ``from_dict``."""
    hints = get_type_hints(type(config))
    for name, facts in facts_of(type(config)).items():  # type: ignore[arg-type]
        _value(name, hints[name], getattr(config, name), where, facts)


@functools.cache
def facts_of(cls: Any) -> dict[str, JsonObject]:
    """What is told about fields of a dataclass, by its options.toml and its code; see ``core.options``.

    The file lies next to the module of the class, and of what it extends.
    """
    told: dict[str, JsonObject] = {}
    for kind in reversed(cls.__mro__):
        with suppress(TypeError, OSError):  # of a class that is built in, or typed into a notebook
            file = Path(inspect.getfile(kind)).with_name("options.toml")
            if file.is_file():
                told |= read_toml(file).get(kind.__name__, {})
    for field in dataclasses.fields(cls):
        told[field.name] = told.get(field.name, {}) | dict(field.metadata)
    return told


def _value(name: str, kind: Any, value: Any, where: str, bounds: Facts) -> Any:
    """The value of a field, of its type and within its bounds."""
    name = f"{where}.{name}" if where else name
    converted = convert(kind, value, name)
    least = bounds.get("least", -inf)
    most = bounds.get("most", inf)
    for number in converted if isinstance(converted, list | tuple) else [converted]:
        if isinstance(number, int | float) and not least <= number <= most:
            within = f"at least {least:g}" if most == inf else f"between {least:g} and {most:g}"
            raise ConfigError(f"{name} is {number}; it must be {within}.")
    return converted


def number(text: str, kind: type = float) -> Any:
    """What a text means where an option is a number.  kind: int for a whole one.

    Raises: ValueError unless it is finite, of ASCII, at most ``MOST``, and 0 only if it says so.

    >>> number("0.5"), number("-0"), number("1e3"), number("1_000", int)
    (0.5, 0.0, 1000.0, 1000)
    """
    with suppress(ValueError):
        value = kind(text)
        none = re.fullmatch(r"\s*[-+]?[0._]+(?:[eE].*)?\s*", text)
        if text.isascii() and (none or 1 / MOST <= abs(value) <= MOST):
            return value + 0
    raise ValueError(
        f"{text[:40]!r} is not {_WORDS[kind]} that is read: 0, or one of {1 / MOST:g} to {MOST:g}."
    )


whole = functools.partial(number, kind=int)


def read_toml(path: Path) -> JsonObject:
    """The plain dictionary of a TOML file.  Raises: ConfigError if it is missing, unreadable or no TOML."""
    try:
        return tomllib.loads(read_text(path, raises=ConfigError, hint="Name a TOML file in UTF-8."))
    except RecursionError as error:
        raise ConfigError(
            f"{path} is not valid TOML: it is nested too deeply.", "Flatten it."
        ) from error
    except ValueError as error:  # of TOML, or a number of 5,000 digits
        raise ConfigError(f"{path} is not valid TOML: {error}.") from error


def read_beside(module: str, name: str) -> JsonObject:
    """As ``read_toml``, of a file in the folder of a module.  module: its ``__file__``."""
    return read_toml(Path(module).parent / name)


def load_toml(cls: type[T], path: Path) -> T:
    """A dataclass from a TOML file; messages name the file.  Raises: ConfigError as ``read_toml`` and ``from_dict``."""
    mapping = read_toml(path)
    try:
        return from_dict(cls, mapping)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}", error.hint) from error


def to_dict(obj: Any) -> Any:
    """A dataclass as nested dictionaries of plain values (tuples as lists, paths as strings), as JSON would hold it.

    ``from_dict(type(obj), to_dict(obj)) == obj``.
    """
    if dataclasses.is_dataclass(obj) and not isinstance(obj, type):
        return {
            field.name: to_dict(getattr(obj, field.name))
            for field in dataclasses.fields(obj)
            if field.init
        }
    if isinstance(obj, Mapping):
        return {str(key): to_dict(value) for key, value in obj.items()}
    if isinstance(obj, list | tuple):
        return [to_dict(item) for item in obj]
    if isinstance(obj, Path):
        return str(obj)
    return obj


def convert(kind: Any, value: Any, where: str) -> Any:
    """A value of a type, such as ``dict[str, float]``.  where: its name.  Raises: ConfigError if it is of another."""
    origin = get_origin(kind)
    args = get_args(kind)
    if kind is Any or (value is None and type(None) in args):
        return value
    if origin in (Union, types.UnionType):
        errors = []
        for alternative in args:
            try:
                return convert(alternative, value, where)
            except ConfigError as error:
                errors.append(error)
        raise errors[0]
    if origin is Literal:
        if value in args:
            return value
        hint = nearest(str(value), map(str, args))
        raise ConfigError(
            f"{where} is {value!r}; it must be one of {', '.join(map(repr, args))}.", hint
        )
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        if not isinstance(value, kind):
            return from_dict(kind, value, where=where)
        check(value, where)
        return value
    container = origin or kind
    if container in (tuple, list):
        if not isinstance(value, list | tuple):
            raise ConfigError(f"{where} is {value!r}; it must be a list.")
        fixed = container is tuple and args and args[-1] is not Ellipsis
        if fixed and len(value) != len(args):
            raise ConfigError(f"{where} is {list(value)!r}; it must have {len(args)} entries.")
        kinds = args if fixed else [args[0] if args else Any] * len(value)
        pairs = enumerate(zip(kinds, value, strict=True))
        return container(
            convert(item_kind, item, f"{where}[{index}]") for index, (item_kind, item) in pairs
        )
    if container is dict and isinstance(value, Mapping):
        item = args[1] if args else Any
        return {str(key): convert(item, entry, f"{where}.{key}") for key, entry in value.items()}
    if kind in (int, float) and isinstance(value, int | float) and not abs(value) <= MOST:
        raise ConfigError(
            f"{where} is {value:.3g}; it must be a finite number, of at most {MOST:g}."
        )
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if kind is Path and isinstance(value, str):
        return Path(value)
    # bool is an int to Python, never to a reader of a configuration
    if not isinstance(value, container) or (kind is int and isinstance(value, bool)):
        must = _WORDS.get(kind, getattr(kind, "__name__", str(kind)))
        raise ConfigError(f"{where} is {value!r}; it must be {must}.")
    return value
