"""Options, each declared once: as a field of a configuration's dataclass, with its help in options.toml next to it.

    @dataclass(frozen=True)
    class EditConfig:
        steps: int | None = None

    [EditConfig.steps]
    help = "Number of values in a sweep, odd."
    metavar = "K"
    shown = "7; race: 5"
    least = 3

What is code, such as what reads a value, is told by ``option``. A field without help is no option.

The flags of the command line (``frame.commands``), the keys of TOML files, ``--set``, the keywords of the Python
functions follow from the fields.
"""

import dataclasses
import functools
import inspect
import os
import re
import tomllib
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from gslopes.core.config import facts_of, from_dict, number, read_toml, to_dict
from gslopes.core.errors import ConfigError, nearest
from gslopes.core.files import Facts, JsonObject, Names
from gslopes.core.freeze import frozen

T = TypeVar("T")
Function = TypeVar("Function", bound=Callable[..., Any])


@frozen
class Option:
    """One option of a configuration.

    name: as users write it; dotted in a section whose options have no short names.
    path: its sections and its field.  kind: its annotation.  positional: an argument, not a flag.
    advanced: a flag of the long help.  seldom: no flag, it is given by ``--set`` or in a file.
    shown: the default in words, if the value itself is not clear.
    parse: from the text of a command line, if its type is not enough.
    least, most: bounds of the number, of a list the bounds of each, see ``core.config.from_dict``.
    """

    name: str
    path: Names
    kind: Any
    default: Any
    help: str
    metavar: str = ""
    group: str = ""
    advanced: bool = False
    seldom: bool = False
    positional: bool = False
    short: str = ""
    shown: str = ""
    parse: Callable[[str], Any] | None = None
    least: float | None = None
    most: float | None = None

    @property
    def item(self) -> Any:
        """The type of one value: without None, and of a list its entry."""
        kind = next(kind for kind in _alternatives(self.kind) if kind is not type(None))
        if get_origin(kind) is tuple:
            return get_args(kind)[0]
        return kind

    @property
    def several(self) -> bool:
        """Whether it is a list of any length."""
        return any(... in get_args(kind) for kind in _alternatives(self.kind))

    @property
    def default_words(self) -> str:
        """The default as help and reference have it; empty if there is nothing to show."""
        if self.default is True:
            return self.shown or "on"
        nothing = self.default in (None, "", (), dataclasses.MISSING)
        if self.shown or nothing or isinstance(self.default, bool | dict):
            return self.shown
        values = self.default if isinstance(self.default, tuple) else (self.default,)
        return ",".join(
            f"{value:g}" if isinstance(value, float) else str(value) for value in values
        )

    @property
    def about(self) -> str:
        """Its help with its default."""
        words = self.default_words
        return f"{self.help} [default: {words}]" if words else self.help

    @property
    def flag(self) -> str:
        """The name on the command line, without its dashes."""
        return self.name.replace("_", "-")

    def typed(self, text: str) -> Any:
        """The value that a text means: a number, true or false, a TOML list, or else the text itself."""
        if self.parse is not None:
            try:
                return self.parse(text)
            except ValueError as error:
                raise ConfigError(f"{self.name}: {error}") from error
        if self.item in (str, Path) and not text.startswith("["):
            return text
        try:
            return tomllib.loads(f"value = {text}")["value"]
        except ValueError:
            return text


def option(default: Any = dataclasses.MISSING, **facts: Any) -> Any:
    """A field of a configuration with facts that options.toml cannot tell, as the fields of ``Option``.

    default: its value, or ``dict`` for an empty one.
    """
    initial = {"default_factory": dict} if default is dict else {"default": default}
    return dataclasses.field(**initial, metadata=facts)


def section(config: type, *, flat: Collection[str] | None = None, group: str = "") -> Any:
    """A field that is itself a configuration.

    flat: its fields whose options have short names, all of them if None.  group: its heading, if not the field's name.
    """
    return dataclasses.field(default_factory=config, metadata={"section": flat, "group": group})


def with_options(config: type) -> Callable[[Function], Function]:
    """Marks a function whose further keywords are options: its signature and its docstring show them.

    Called with another keyword, it raises ConfigError with the nearest one. ``gslopes/__init__.pyi`` has the same for
    editors and type checkers.
    """

    def marked(function: Function) -> Function:
        own = inspect.signature(function).parameters
        shown = [one for one in own.values() if one.kind != one.VAR_KEYWORD]
        known = {*own, *sections_of(config), "config"}
        lines = [f"{inspect.getdoc(function)}\n\nOptions:"]
        for option in options_of(config).values():
            name = option.name
            if not (option.positional or "." in name or name in own):
                as_word = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY)
                shown.append(as_word.replace(default=option.default, annotation=option.kind))
                lines.append(f"    {name}: {option.about}")

        @functools.wraps(function)
        def checked(*args: Any, **given: Any) -> Any:
            for name in given.keys() - known:
                find_option(config, name, known)
            return function(*args, **given)

        checked.__doc__ = "\n".join(lines)
        checked.__dict__["__signature__"] = inspect.Signature(shown)
        return checked  # type: ignore[return-value]  # of the same signature

    return marked


def sections_of(config: type) -> list[str]:
    """The names of a configuration's sections."""
    return [field.name for field in dataclasses.fields(config) if "section" in field.metadata]


@functools.cache
def options_of(config: type) -> Mapping[str, Option]:
    """Name to option, of a configuration and of its sections, in the order of the fields."""
    return {option.name: option for option in _options(config, (), None, "general")}


def _options(config: type, path: Names, flat: Collection[str] | None, group: str) -> list[Option]:
    hints = get_type_hints(config)
    told = facts_of(config)
    options = []
    for field in dataclasses.fields(config):
        full_path = (*path, field.name)
        if "section" in field.metadata:
            heading = field.metadata["group"] or (group if path else field.name)
            options += _options(hints[field.name], full_path, field.metadata["section"], heading)
        elif "help" in told[field.name]:
            facts = {"group": group, "name": field.name, **told[field.name]}
            if flat is not None and field.name not in flat:
                facts["name"] = ".".join(full_path)
            default = {} if field.default_factory is not dataclasses.MISSING else field.default
            options.append(Option(path=full_path, kind=hints[field.name], default=default, **facts))
    return options


def build(config: type[T], options: Facts) -> T:
    """A configuration from options over the options of a TOML file (``options["config"]``) over the defaults.

    options: name, or dotted path, to value; None and empty mean "not given", one value is a list of one.

    Raises: ConfigError for an unknown name (with the nearest one) or a value of another type or out of its range.
    """
    return from_dict(config, merged(config, options))


def merged(config: type, options: Facts, *, base: Path | None = None) -> JsonObject:
    """The mapping of which ``build`` makes the configuration; paths become absolute from ``base``, if there is one."""
    given = dict(options)
    file = given.pop("config", None)
    explicit = _merged(config, given, base)
    if file:
        return over(explicit, _merged(config, read_toml(Path(file)), Path(file).parent))
    return explicit


def _merged(config: type, given: Facts, base: Path | None) -> JsonObject:
    """Options by name as the sections, fields and plain values that ``from_dict`` takes."""
    sections = sections_of(config)
    nested: JsonObject = {}
    for name, value in given.items():
        if name in sections and isinstance(value, Mapping):
            inner = {f"{name}.{key}": entry for key, entry in value.items()}
            nested = over(_merged(config, inner, base), nested)
        elif name in sections and dataclasses.is_dataclass(value):
            nested[name] = value
        elif name in sections and name not in options_of(config):
            raise ConfigError(f"{name} must be a section [{name}], not {value!r}.")
        elif value is not None and value != ():
            match = find_option(config, name)
            put(nested, match.path, _plain(match, value, base))
    return nested


def over(first: Facts, other: Facts) -> JsonObject:
    """Both mappings in one, section by section; the first wins if both have a value."""
    both = {**other, **first}
    for name, value in first.items():
        if isinstance(value, dict) and isinstance(other.get(name), dict):
            both[name] = over(value, other[name])
    return both


def find_option(config: type, name: str, others: Collection[str] = ()) -> Option:
    """The option of this name or dotted path.  Raises: ConfigError with the nearest name, which may be of others."""
    options = options_of(config)
    name = name.replace("-", "_")
    paths = {".".join(option.path): option for option in options.values()}
    match = options.get(name) or paths.get(name)
    if match is None:
        hint = nearest(name, [*options, *paths, *others], f"There are: {', '.join(options)}.")
        raise ConfigError(f"There is no option {name!r}.", hint)
    return match


def put(mapping: JsonObject, path: Sequence[str], value: Any) -> None:
    """Set what a path of sections and a key leads to."""
    for name in path[:-1]:
        mapping = mapping.setdefault(name, {})
    mapping[path[-1]] = value


def _plain(option: Option, value: Any, base: Path | None) -> Any:
    if option.parse is not None and isinstance(value, str):
        value = option.typed(value)
    if option.several and not isinstance(value, list | tuple):
        value = (value,)
    if base is not None and option.item is Path and isinstance(value, str | Path):
        return os.path.abspath(base / value)
    if base is not None and Path in get_args(option.kind) and isinstance(value, Mapping):
        return {key: os.path.abspath(base / str(inner)) for key, inner in value.items()}
    return to_dict(value)


def _alternatives(kind: Any) -> tuple[Any, ...]:
    if get_origin(kind) in (Union, types.UnionType):
        return get_args(kind)
    return (kind,)


def kind_words(option: Option) -> str:
    """The values that an option takes, for its help."""
    if option.metavar or get_origin(option.item) is not Literal:
        return option.metavar or {int: "N", float: "X", Path: "PATH", bool: ""}.get(
            option.item, "NAME"
        )
    return "|".join(str(value) for value in get_args(option.item) if value != "")


# -- texts of a command line ------------------------------------------------------------------------------------------


def names(text: str) -> Names:
    """``gender,ethnicity`` as two names."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def numbers(text: str) -> tuple[float, ...]:
    """``0.56,1`` as two numbers."""
    try:
        return tuple(map(number, text.split(",")))
    except ValueError:
        raise ValueError(f"{text!r} is not numbers with commas between them.") from None


def extent(text: str) -> tuple[float, float]:
    """``-2,2`` as two numbers, or one number for both sides of 0."""
    with suppress(ValueError):
        match numbers(text):
            case (low, high):
                return low, high
            case (end,):
                return -abs(end), abs(end)
    raise ValueError(f"{text!r} is not two numbers such as -2,2, nor one such as 2.")


def counts(text: str) -> tuple[int, int]:
    """``5,3`` as two whole numbers."""
    match = re.fullmatch(r"\s*([0-9]{1,9})\s*,\s*([0-9]{1,9})\s*", text)
    if match is None:
        raise ValueError(f"{text!r} is not two odd numbers such as 5,3.")
    return int(match[1]), int(match[2])
