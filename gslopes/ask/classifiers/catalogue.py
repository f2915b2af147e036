"""The classifiers of gslopes, from catalogue.toml: the class of each, its needs, limits and price; imports none."""

import inspect
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from gslopes.ask import names
from gslopes.core import (
    LOCAL,
    JsonObject,
    Limits,
    ModelError,
    Names,
    Stored,
    UsageError,
    from_dict,
    frozen,
    read_toml,
)
from gslopes.core.registry import Registry, Target


@frozen
class Credential:
    """One credential of a service.

    variable: the environment variable.  files: the vendor's own files that may hold it instead, ``~`` allowed.
    instead: other variables, one of which is enough.
    """

    variable: str
    files: Names = ()
    instead: Names = ()

    @property
    def present(self) -> bool:
        """Whether it is there; its value is not looked at."""
        variables = any(map(os.environ.get, (self.variable, *self.instead)))
        return variables or any(Path(file).expanduser().is_file() for file in self.files)


@frozen
class Listed:
    """A classifier of gslopes.

    place: ``package.module:Class``.  summary: one sentence.
    extra: what to give to ``pip install``.  needs: the modules that the extra brings, dotted names allowed.
    limits: see ``core.traits``.
    presence: what the vendor itself returns unless asked for more: the least score, and the number of labels a picture,
        0 for no limit.
    credentials: all that are needed; none for a local classifier.
    runs_code: whether it runs programs that a user names, and takes ``trust``.
    named: found in a name that says which code runs, or who is sent pictures and keys: a run folder alone cannot.
    late_device: whether it looks for its device when it is first asked, or needs none.
    """

    place: str
    summary: str
    extra: str = ""
    needs: Names = ()
    limits: Limits = LOCAL
    presence: tuple[float, int] = (0.0, 0)
    credentials: tuple[Credential, ...] = ()
    runs_code: bool = False
    named: str = "(?!)"
    late_device: bool = False

    @property
    def missing_modules(self) -> list[str]:
        """Modules that are not installed; at most the parent packages of dotted names are imported to find out."""
        missing = list(self.needs)
        for module in self.needs:
            with suppress(ModuleNotFoundError):
                if find_spec(module):
                    missing.remove(module)
        return missing

    @property
    def access(self) -> str:
        """``none needed``, ``present``, or ``missing`` with the variables that are not set, and their alternatives."""
        absent = [credential for credential in self.credentials if not credential.present]
        if absent:
            names = [" or ".join((one.variable, *one.instead)) for one in absent]
            return f"missing: {', '.join(names)}"
        return "present" if self.credentials else "none needed"


Catalogue = Mapping[str, Listed]
Resolved = tuple[str, Any, Any]  # canonical name, options, what is made with them


@frozen
class ClassifierEntry:
    """One line of ``gslopes list classifiers``, or of ``gslopes list editors``.

    name: the bare name.  summary: what it is, one sentence.
    extra: what to give to ``pip install``; empty if it comes with gslopes.
    installed: whether its libraries are installed (nothing is imported to find out).
    parameters: how each is written with its default, an argument or a required value in capitals; empty for other
        packages' classifiers, which are not imported.
    credentials: ``none needed``, ``present``, or ``missing`` with the variables; no value is looked at.
    limits: see ``core.traits``.  price: USD per 1,000 pictures; None if it depends on the plan.
    """

    name: str
    summary: str
    extra: str
    installed: bool
    parameters: Names
    credentials: str = "none needed"
    limits: Limits = LOCAL
    price: float | None = 0.0


def entry_of(target: Target, listed: Listed | None) -> ClassifierEntry:
    """The line of one that is registered.  listed: None for another package's."""
    if listed is None:
        return ClassifierEntry(target.name, target.summary, target.package, True, ())
    return ClassifierEntry(
        target.name,
        listed.summary,
        listed.extra,
        not listed.missing_modules,
        names.usage(cast(Any, target.load()).Options),
        listed.access,
        listed.limits,
        listed.limits.price,
    )


def resolved(text: str, registry: Registry, entries: Catalogue, asks: bool = True) -> Resolved:
    """(canonical name, options, what is made with them) of a name with parameters.  entries: of gslopes, as ``listed``.

    asks: whether it will be made, and not only named.

    Raises: UnknownName, ConfigError, UsageError (its extra is not installed; of a ``core.config.Stored`` name another
        package's code would run, or ``Listed.named`` options decide).
    """
    base, items = names.split(full_name(text))
    target = registry.find(base)
    entry = entries.get(base)
    decides = entry is None or (asks and re.search(entry.named, text))
    if isinstance(text, Stored) and decides:
        raise UsageError(
            f"Only the run folder names the {registry.kind} {text:.200}, which may run code, or be sent photos "
            "and keys.",
            f"If you trust it, name the {registry.kind} again in this command, or add --trust (trust=True in Python).",
        )
    if entry and (missing := entry.missing_modules):
        raise UsageError(
            f"The {registry.kind} {base!r} needs {' and '.join(missing)}, which is not installed.",
            f"Run: pip install '{entry.extra}'.",
        )
    factory = target.load()
    kind = getattr(factory, "Options", names.NoOptions)
    if not callable(factory) or not is_dataclass(kind):
        raise UsageError(
            f"{target.path} of {target.package} makes no {registry.kind} of a dataclass Options.",
            f"See Add a {registry.kind} in the documentation.",
        )
    options = names.read(cast(Any, kind), base, items, registry.kind)
    return names.canonical(base, options), options, factory


def manual(target: Target) -> str:
    """How what is registered is used, in its module's own words; empty if it has none.  Raises: UsageError."""
    module = sys.modules[getattr(target.load(), "__module__", "builtins")]
    return inspect.cleandoc(module.__doc__ or "")


@cache
def _read(package: str = "classifiers") -> JsonObject:
    return read_toml(Path(__file__).parents[1] / package / "catalogue.toml")


def listed(kind: str, package: str = "classifiers") -> dict[str, Listed]:
    """What ``catalogue.toml`` of a package of this room lists under a heading, by name."""
    entries = _read(package)[kind]
    for entry in entries.values():
        if entry.get("limits", {}).get("price") == "plan":
            entry["limits"]["price"] = None
    return {name: from_dict(Listed, entry, where=name) for name, entry in entries.items()}


def registry_of(kind: str, entries: Catalogue) -> Registry:
    """Of gslopes' own ones, as ``listed``, and of those of other packages."""
    places = {name: entry.place for name, entry in entries.items()}
    return Registry(kind, places, f"gslopes.{kind}s")


SERVICES = listed("service")
CATALOGUE = listed("local") | SERVICES


def full_name(text: str) -> str:
    """The full name that a bare address or file is short for; any other text unchanged.

    Raises: ModelError for a model of another library, with the command that makes an ONNX file of it.

    >>> full_name("model.onnx,labels=l.txt"), full_name("mine.py:hire"), full_name("https://host/predict")
    ('onnx:model.onnx,labels=l.txt', 'python:mine.py:hire', 'http:https://host/predict')
    """
    first = text.partition(",")[0]
    if first.startswith(("http://", "https://")):
        return f"http:{text}"
    if first.partition(":")[0].endswith(".py"):
        return f"python:{text}"
    if ":" in first:
        return text
    if how := conversion(Path(first)):
        raise ModelError(f"{first} is no file that gslopes runs.", how)
    if first.endswith(".onnx"):
        return f"onnx:{text}"
    return text


def conversion(file: Path) -> str:
    """What makes a model that gslopes runs of one that it does not, by the file's ending; empty for any other file."""
    file = file / "saved_model.pb" if os.path.isfile(file / "saved_model.pb") else file
    for how in _read()["convert"]:
        if any(file.match(pattern) for pattern in how["files"]):
            onnx = (file.parent if file.name == "saved_model.pb" else file).with_suffix(".onnx")
            return str(how["hint"]).format(file=file, folder=file.parent, onnx=onnx)
    return ""


def perhaps(name: str) -> str:
    """What may be meant by a name that no classifier has: an address, or a model of a library; empty if nothing is.

    Imports torchvision, and timm if it is installed, to find out.
    """
    if re.fullmatch(r"[\w.-]+:\d+(/.*)?|localhost(/.*)?|[\w-]+(\.[\w-]+)+/.*", name):
        return f"An address is written http:{names.as_address(name)}."
    if "/" in name or os.path.isfile(f"{name}/config.json"):
        return f"A model of the hub, or its folder, is written transformers:{name}."
    for library in ("torchvision.models", "timm"):
        if find_spec(library) and name.partition(".")[0] in import_module(library).list_models():
            return f"Write {library.partition('.')[0]}:{name}."
    return ""
