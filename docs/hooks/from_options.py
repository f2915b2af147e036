"""What follows from the options as they are declared, and is kept in the package: stubs, and what a shell completes.

Running this file, or hooks.py, writes gslopes/__init__.pyi and cli/completion.json; a test says when one is old.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import json
import re
import subprocess
import sys
import textwrap
import types
import typing
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click

import gslopes
from gslopes.ask.classifiers import list_classifiers
from gslopes.ask.classifiers.catalogue import CATALOGUE, ClassifierEntry
from gslopes.ask.croppers import CATALOGUE as CROPPER_CATALOGUE, REGISTRY as CROPPERS
from gslopes.ask.croppers.policies import TABLE_1
from gslopes.ask.editors import CATALOGUE as EDITORS, is_outside, list_editors
from gslopes.ask.names import NoOptions, usage
from gslopes.captions.config import STAGES, TECHNIQUES
from gslopes.cli.main import VERBS, main
from gslopes.collect.config import VALUES as READINGS, CensusConfig, CollectConfig
from gslopes.collect.photos import NAMES as SOURCES
from gslopes.contexts.measures.typology import SHIPPED
from gslopes.core.options import Option, kind_words, options_of, sections_of
from gslopes.export.pictures import ExportConfig
from gslopes.faces.zoo.spec import asset_names, find_spec
from gslopes.frame.result import find_audit

ROOT = Path(__file__).resolve().parents[2]
STUBS = ROOT / "gslopes/__init__.pyi"
COMPLETION = ROOT / "gslopes/cli/completion.json"
# Functions whose keywords are fields of a dataclass, which are no options of a command: their docstrings tell of them.
PLAIN = {"as_classifier": "ModelOptions", "as_editor": "PythonOptions"}


def write() -> None:
    """Write both files."""
    STUBS.write_text(stubs(), "utf-8")
    COMPLETION.write_text(completion(), "utf-8")


# -- public functions -------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Function:
    """A public function.  config: of its options, None without some.  names: what its module knows, to import lines."""

    name: str
    module: str
    node: ast.FunctionDef
    config: type | None
    names: dict[str, tuple[str, str]]

    @property
    def own(self) -> set[str]:
        """Its parameters."""
        given = self.node.args
        return {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)}


def functions() -> list[Function]:
    """The public functions, in the order of ``gslopes.__all__``."""
    found = []
    for name, place in gslopes._MODULES.items():
        module = import_module(place)
        tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
        node = next(
            one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == name
        )
        config = None
        for mark in node.decorator_list:
            if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "with_options":
                config = getattr(module, ast.unparse(mark.args[0]))
        if name in PLAIN:
            config = getattr(module, PLAIN[name])
        found.append(Function(name, place, node, config, _imports(tree, place)))
    return found


def _imports(tree: ast.Module, place: str) -> dict[str, tuple[str, str]]:
    """Name to (module, name there) of what a module imports or defines."""
    found: dict[str, tuple[str, str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {one.asname or one.name: (str(node.module), one.name) for one in node.names}
    for top in tree.body:
        targets = getattr(top, "targets", [getattr(top, "target", None)])
        names = [ast.unparse(one) for one in targets if one is not None]
        found |= dict.fromkeys([*names, *filter(None, [getattr(top, "name", "")])], (place, ""))
    return {name: (module, there or name) for name, (module, there) in found.items()}


# -- stubs ------------------------------------------------------------------------------------------------------------


def stubs() -> str:
    """gslopes/__init__.pyi: every public function, and those with options with the type of each."""
    told = functions()
    imports: set[tuple[str, str]] = set()
    lines = [
        "# Written by docs/hooks/from_options.py from the functions and the options they take.",
        "",
    ]
    body: list[str] = []
    configs = list(dict.fromkeys(one.config for one in told if one.config))
    for config in configs:
        own = set[str]().union(*(one.own for one in told if one.config is config))
        body += _typed(config, own)
    for one in told:
        if one.config is None:
            lines.append(f"from {one.module} import {one.name} as {one.name}")
            continue
        used = {n.id for n in ast.walk(one.node.args) if isinstance(n, ast.Name)}
        used |= {n.id for n in ast.walk(one.node.returns or one.node) if isinstance(n, ast.Name)}
        imports |= {one.names[name] for name in used if not hasattr(builtins, name)}
        body.append(_stub(one))
    text = "\n".join(body)
    imports |= {
        (module, name)
        for module, names in (
            ("collections.abc", ("Mapping", "Sequence")),
            ("pathlib", ("Path",)),
            ("typing", ("Any", "Literal", "TypedDict", "Unpack")),
        )
        for name in names
        if re.search(rf"\b{name}\b", text)
    }
    lines += [f"from {module} import {name}" for module, name in sorted(imports)]
    return _formatted("\n".join([*lines, "", text, "__version__: str", ""]))


def _typed(config: type, own: set[str]) -> Iterator[str]:
    """A TypedDict of the options of a configuration, and of each of its sections."""
    name = _title(config)
    if config.__name__ in PLAIN.values():
        yield from _class(name, _fields(config, own))
        return
    sections = {part: _section(config, part) for part in sections_of(config)}
    for part, fields in sections.items():
        yield from _class(f"{name}{part.title().replace('_', '')}", fields)
    keys = keys_of(config, own)
    for part, fields in sections.items():
        if not fields or part in own:
            continue
        kind = f"{name}{part.title().replace('_', '')}"
        at_once = f"The options {', '.join(fields)} as one mapping."
        old, said = keys.get(part, ("None", ""))
        keys[part] = (
            f"{kind} | {old}",
            f"{said} Or {at_once[0].lower()}{at_once[1:]}" if said else at_once,
        )
    yield from _class(name, keys)


def _fields(config: type, own: set[str]) -> dict[str, tuple[str, str]]:
    """Key to type and default of the fields of a dataclass that have one."""
    hints = typing.get_type_hints(config)
    return {
        field.name: (" | ".join(_kinds(hints[field.name])), f"Default: {field.default!r}.")
        for field in dataclasses.fields(config)
        if field.name not in own and field.default is not dataclasses.MISSING
    }


def keys_of(config: type, own: set[str]) -> dict[str, tuple[str, str]]:
    """Key to type and text of the options of a configuration but for a function's own parameters."""
    keys = {
        option.name: (kind_of(option), about(option))
        for option in options_of(config).values()
        if option.name not in own and "." not in option.name and not option.positional
    }
    if config.__name__ != "Columns":
        keys["config"] = ("str | Path | None", "A TOML file with these options, and with sections.")
    return keys


def _title(config: type) -> str:
    return f"_{config.__name__.removesuffix('Config').removesuffix('Options')}Options"


def _section(config: type, part: str) -> dict[str, tuple[str, str]]:
    """Key to type and text of a section."""
    found = [option for option in options_of(config).values() if option.path[0] == part]
    return {
        option.path[-1]: (kind_of(option), about(option))
        for option in found
        if len(option.path) == 2
    }


def _class(name: str, keys: dict[str, tuple[str, str]]) -> Iterator[str]:
    if not keys:
        return
    yield f"class {name}(TypedDict, total=False):"
    for key, (kind, text) in keys.items():
        yield f"    {key}: {kind}"
        yield _doc(text, "    ")


def _doc(text: str, indent: str) -> str:
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    lines = textwrap.fill(text, 110, break_on_hyphens=False, break_long_words=False)
    if "\n" in lines:
        lines += "\n"
    return textwrap.indent(f'"""{lines}"""', indent)


def _stub(one: Function) -> str:
    """A function as a stub has it, with the docstring of its source."""
    node = one.node
    arguments = ast.unparse(node.args)
    extra = node.args.kwarg
    assert extra is not None
    assert one.config is not None
    given = f"**{ast.unparse(extra)}"
    arguments = arguments.replace(given, f"**{extra.arg}: Unpack[{_title(one.config)}]")
    doc = textwrap.indent(f'"""{ast.get_docstring(node)}\n"""', "    ").replace("\\", "\\\\")
    return f"def {one.name}({arguments}) -> {ast.unparse(node.returns or node)}:\n{doc}"


def kind_of(option: Option) -> str:
    """What may be given for an option in Python, as an annotation; None is "not given"."""
    texts = [text for text in _kinds(option.kind) if text != "None"]
    if option.parse is not None:
        texts.append("str")
    return " | ".join(dict.fromkeys([*texts, "None"]))


def _kinds(kind: Any) -> list[str]:
    """The annotations of a type and of its alternatives."""
    texts = [text for one in _alternatives(kind) for text in _texts(one)]
    return list(dict.fromkeys(texts))


def _alternatives(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (typing.Union, types.UnionType) else (kind,)


def _texts(kind: Any) -> Iterator[str]:
    """The annotations of a type: a text may be a path, one value a list of one."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        yield f"Literal[{', '.join(map(repr, inner))}]"
    elif origin is tuple:
        one = list(_texts(inner[0]))
        if ... in inner:
            yield from one
        yield f"Sequence[{' | '.join(one)}]"
    elif origin is dict:
        yield f"Mapping[str, {' | '.join(_texts(inner[1]))}]"
    elif kind is Path:
        yield from ("str", "Path")
    else:
        yield {Any: "Any", type(None): "None"}.get(kind) or kind.__name__


def about(option: Option) -> str:
    """What an option does, its unit or form, and its default."""
    words = kind_words(option)
    is_plain = get_origin(option.item) is Literal or words in ("NAME", "PATH") or len(words) < 2
    shown = option.default_words
    facts = [text for text in ("" if is_plain else words, shown and f"default: {shown}") if text]
    return option.help + f" [{'; '.join(facts)}]" * bool(facts)


def _formatted(text: str) -> str:
    """Python as ruff sets it."""
    for how in (["check", "--select", "I", "--fix", "--quiet"], ["format"]):
        command = [sys.executable, "-m", "ruff", *how, "--stdin-filename", str(STUBS), "-"]
        text = subprocess.run(
            command, input=text, capture_output=True, text=True, check=True
        ).stdout
    return text


# -- what a shell completes -------------------------------------------------------------------------------------------

# Parameter, or its metavar, to the kind of its values; see gslopes/cli/completion.py.
KINDS = {
    "classifier": "classifiers",
    "drift": "classifiers",
    "names": "classifiers",  # of gslopes try; photos come after it
    "editor": "editors",
    "cropper": "croppers",
    "attribute": "attributes",
    "ends": "ends",
    "task": "tasks",
    "technique": "techniques",
    "typology": "typologies",
    "policy": "policies",
    "truth": "stages",
    "list": "lists",
    "backgrounds": "backgrounds",
    "unsure": "readings",
    "source": "sources",
    "label": "labels",
    "group_column": "columns",
    "column": "columns",
    "COLUMN": "columns",
    "COLUMN,COLUMN": "columns",
    "RUN": "folders",
    "DIR": "folders",
    "PHOTOS": "folders",
    "[PHOTOS]": "paths",
    "PEOPLE": "folders",
    "STAGES": "folders",
    "CENSUS": "folders",
    "CONDITION": "conditions",
}
PATHS = ["*.*", "*/"]
FILES = {
    "paths": PATHS,
    "folders": ["*/"],
    "classifiers": ["*.py", "*.onnx"],
    "editors": ["*.py"],
    "croppers": ["*.py"],
    "tasks": ["*.toml"],
    "typologies": ["*.toml", "*.csv"],
    "backgrounds": ["*/"],
    "python:": ["*.py", "*/"],
    "onnx:": ["*.onnx", "*/"],
    "torchscript:": ["*.pt", "*.pth", "*.ts", "*/"],
    "fastgaze:": PATHS,
    "replay:": PATHS,
    "diffusers:": ["*/"],
    "transformers:": ["*/"],
}
LABEL = ["/summary.json", r'"label": "([^"\\]*)"', ".+"]
READ = {
    "columns": [".csv", r"\A\ufeff?(.*)", r'[^,"\r\n]+', "{}"],
    "labels": [*LABEL, "{}"],
    "conditions": [*LABEL, "label == {!r}"],
    "changes": [*LABEL, "label == {!r}"],
    "functions": [".py", r"(?m)^(?:async )?def ([a-z]\w*)", ".+", "{}"],
}


def completion() -> str:
    """gslopes/cli/completion.json."""
    options: dict[str, dict[str, str]] = {}
    values: dict[str, dict[str, Any]] = {}
    _walk(main, "gslopes", options, values)
    told = {"options": options, "values": values, "names": names(), "files": FILES, "read": READ}
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def _walk(
    command: click.Command,
    name: str,
    options: dict[str, dict[str, str]],
    values: dict[str, dict[str, Any]],
) -> None:
    """Add a command and those below it."""
    context = click.Context(command, info_name=name)
    options[name] = {}
    values[name] = {"": {}}
    for param in command.get_params(context):
        if isinstance(param, click.Argument):
            values[name][""] = values[name][""] or _kind(param, name)
            continue
        flags = [*param.opts, *param.secondary_opts]
        if "--help" in flags:  # its short name depends on who asks first
            flags = ["--help"]
        said = getattr(param, "help", None) or "The options of the long help."
        options[name] |= dict.fromkeys(flags, _short(said))
        if not getattr(param, "is_flag", False):
            values[name] |= dict.fromkeys(flags, _kind(param, name))
    if name == "gslopes":
        values[name][""] = {verb: VERBS[verb][1] for verb in VERBS}
    elif isinstance(command, click.Group):
        below = {one: command.get_command(context, one) for one in command.list_commands(context)}
        values[name][""] = {one: _short(it.help or "") for one, it in below.items() if it}
    if isinstance(command, click.Group):
        for one in command.list_commands(context):
            it = command.get_command(context, one)
            assert it is not None
            _walk(it, f"{name} {one}", options, values)


def _short(text: str) -> str:
    """The first sentence, or what fits beside a value."""
    first = re.split(r"(?<=[.;:]) |\n", text.replace("\b", "").strip())[0]
    return textwrap.shorten(first.rstrip(";:"), 80, placeholder=" …")


def _kind(param: click.Parameter, name: str) -> str | dict[str, str]:
    """The values of a parameter, or their kind; empty if it is a number or a word of the user's own."""
    metavar = param.metavar or ""
    if name.startswith("gslopes list "):
        return name.rpartition(" ")[2]
    if param.name == "settings":
        return _settings(name)
    if param.name == "truth" and metavar != "STAGE":
        return "columns"
    if param.name == "source" and metavar != "NAME":
        return {}
    if metavar == "CONDITION" and name == "gslopes compare":
        return "changes"
    if isinstance(param.type, click.Choice):
        return dict.fromkeys(param.type.choices, "")
    for key in (param.name, metavar):
        if key in KINDS:
            return KINDS[str(key)]
    if choices := _choices(metavar):
        return choices
    if isinstance(param.type, click.Path):
        return "folders" if param.name in ("run_a", "run_b", "run", "photos") else "paths"
    return {}


def _choices(metavar: str) -> dict[str, str]:
    """Of ``auto|cpu|cuda[:N]`` the words, if there are some."""
    words = [re.sub(r"\[.*?\]", "", part) for part in metavar.split("|")] if "|" in metavar else []
    return {word: "" for word in words if word.islower()}


def _settings(name: str) -> dict[str, str]:
    """What --set takes: NAME=, or each choice."""
    configs = {
        "gslopes synthesise": "audit",
        "gslopes collect": CollectConfig,
        "gslopes census": CensusConfig,
        "gslopes export": ExportConfig,
    }
    found = configs.get(name, name.removeprefix("gslopes "))
    config = find_audit(found).config if isinstance(found, str) else found
    settings = {}
    for option in options_of(config).values():
        if option.positional:
            continue
        choices = get_args(option.item) if get_origin(option.item) is Literal else ("",)
        if option.item is bool:
            choices = ("true", "false")
        settings |= {f"{option.name}={choice}": _short(option.help) for choice in choices}
    return settings


def names() -> dict[str, dict[str, str]]:
    """Names by kind, with what they are; of one with parameters, what may follow it."""
    prompts = sorted(path.stem for path in (ROOT / "gslopes/ask/prompts").glob("*.toml"))
    kinds = {
        "classifiers": [one for one in list_classifiers() if one.name in CATALOGUE],
        "editors": [
            one for one in list_editors() if one.name in EDITORS or not is_outside(one.name)
        ],
        "croppers": [_cropper(name) for name in CROPPER_CATALOGUE],
    }
    specs = [find_spec(name) for name in asset_names("models", "spec.toml")]
    found = {
        kind: {_begun(one): _short(one.summary) for one in each} for kind, each in kinds.items()
    }
    found |= {
        "attributes": {one.edits: _short(one.summary) for one in specs if one.edits},
        "ends": {name: "" for one in specs for name in one.names},
        "tasks": dict.fromkeys(prompts, ""),
        "techniques": {name: one.title for name, one in TECHNIQUES.items()},
        "typologies": dict.fromkeys(SHIPPED, ""),
        "policies": dict.fromkeys(TABLE_1, ""),
        "stages": dict.fromkeys(("auto", *STAGES), ""),
        "lists": dict.fromkeys(
            (f"{path.stem}=" for path in sorted((ROOT / "gslopes/words/lists").glob("*.toml"))), ""
        ),
        "backgrounds": {"rendered": "Drawn rooms that ship with gslopes."},
        "readings": dict.fromkeys(READINGS, ""),
        "sources": dict.fromkeys(SOURCES, ""),
        "conditions": {"finding": "Any finding.", "finding and q < 0.001": "A surer one."},
        "changes": {"changed": "Any change.", "changed and abs(difference) > 3": "A larger one."},
    }
    for each in kinds.values():
        for one in each:
            keys = [key.partition("=")[0] + "=" for key in one.parameters if "=" in key]
            keys = [key.replace(".NAME=", ".") for key in keys]
            for end in "," if _begun(one).endswith(":") else ":,":
                found[one.name + end] = found.get(one.name + end, {}) | dict.fromkeys(keys, "")
    found["llm,"] |= dict.fromkeys((f"prompt={name}" for name in prompts), "")
    return {kind: each for kind, each in found.items() if each}


def _cropper(name: str) -> ClassifierEntry:
    options = getattr(CROPPERS.find(name).load(), "Options", NoOptions)
    listed = CROPPER_CATALOGUE[name]
    return ClassifierEntry(name, listed.summary, listed.extra, True, usage(options))


def _begun(entry: ClassifierEntry) -> str:
    """A name, with a colon if an argument comes after it."""
    first = entry.parameters[0] if entry.parameters else "="
    return entry.name if "=" in first else f"{entry.name}:"


if __name__ == "__main__":
    write()
