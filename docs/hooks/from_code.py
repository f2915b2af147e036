"""The reference, read from the code: commands, options, tables, classifiers, errors, reasons, docstrings, terms."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from html import unescape
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import from_options

from gslopes.ask.classifiers import list_classifiers
from gslopes.cli.main import VERBS, main
from gslopes.core import reasons, summary, tables
from gslopes.core.errors import GslopesError
from gslopes.core.tables import Table
from gslopes.frame.commands import ALL
from gslopes.slopes.measures.estimators import ESTIMATORS

ROOT = Path(__file__).resolve().parents[2]
COLLECTION = [tables.MANIFEST, tables.SOURCES, tables.CENSUS, tables.COMPOSITION]
AUDITS = {
    "walk": (
        "The face: gslopes audit",
        [one for one in tables.TABLES.values() if one not in COLLECTION],
    ),
    "contexts": ("The background: gslopes contexts", "gslopes.contexts"),
    "crops": ("The crop: gslopes crops", "gslopes.crops"),
    "captions": ("The caption: gslopes captions", "gslopes.captions"),
    "collection": ("Photos: gslopes collect and census", COLLECTION),
}
# Of summary.json.
KINDS = {
    "rows": "list of rows",
    "observed": "list of rows",
    "decisions": "object",
    "models": "list of texts",
}


def titles() -> dict[str, str]:
    """Page to its title in the navigation."""
    verbs = {f"reference/commands/{verb}.md": verb for verb in sorted(VERBS)}
    return verbs | {f"reference/tables/{name}.md": title for name, (title, _) in AUDITS.items()}


def pages() -> dict[str, str]:
    """Page to its Markdown."""
    made = {f"reference/commands/{verb}.md": command_page(verb) for verb in VERBS}
    made |= {f"reference/tables/{name}.md": tables_page(*audit) for name, audit in AUDITS.items()}
    return made


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table."""
    lines = [
        list(head),
        ["---"] * len(list(head)),
        *([cell(entry) for entry in row] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def cell(value: object) -> str:
    """One cell of a Markdown table: no line break, no bar, no HTML."""
    text = re.sub(r"[^\S\N{NO-BREAK SPACE}]+", " ", str(value)).strip().replace("|", "\\|")
    return re.sub(r"``(.+?)``", r"`\1`", text.replace("<", "&lt;"))


# -- commands ----------------------------------------------------------------------------------------------------------


def commands_table() -> str:
    """Every verb and what it does."""
    return table(
        ("command", "what it does"),
        ((f"[`gslopes {verb}`]({verb}.md)", VERBS[verb][1]) for verb in VERBS),
    )


def command_page(verb: str) -> str:
    """A verb, and those below it."""
    command = main.get_command(click.Context(main, info_name="gslopes"), verb)
    assert command is not None
    return f"# gslopes {verb}\n\n" + command_text(command, f"gslopes {verb}", 2)


def command_text(command: click.Command, name: str, level: int) -> str:
    """Help, usage, examples and options, and the commands below."""
    context = click.Context(command, info_name=name)
    context.meta[ALL] = True
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    parts = [paragraphs(command.help or ""), f"```text\n{usage}\n```"]
    if command.epilog:
        shown = inspect.cleandoc(click.unstyle(command.epilog).replace("\b", ""))
        lines = [line.strip() for line in shown.splitlines() if line.strip().startswith("gslopes")]
        parts.append("```bash\n" + "\n".join(lines) + "\n```")
    groups: dict[str, list[tuple[str, str]]] = {}
    for one in command.get_params(context):
        record = one.get_help_record(context)
        if record and not isinstance(one, click.Argument):
            bounded = re.sub(r"\[x>=(\d+)\]", r"(at least \1)", record[1])
            bounded = re.sub(r"\[(\d+)<=x<=(\d+)\]", r"(from \1 to \2)", bounded)
            groups.setdefault(getattr(one, "group", ""), []).append((f"`{record[0]}`", bounded))
    for group, records in groups.items():
        parts += [
            f"{'#' * level} {group.capitalize() or 'Options'}",
            table(("option", "what it sets"), records),
        ]
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            if found is not None and not found.hidden:
                parts += [
                    f"{'#' * level} {name} {below}",
                    command_text(found, f"{name} {below}", level + 1),
                ]
    return "\n\n".join(parts)


def paragraphs(text: str) -> str:
    """The text of a help or docstring as Markdown."""
    return inspect.cleandoc(text.replace("\b", "").replace("\f", "")).replace("<", "&lt;")


# -- tables ------------------------------------------------------------------------------------------------------------


def summary_fields() -> str:
    """The fields of summary.json."""
    return fields_of(summary.SUMMARY)


def summary_rows() -> str:
    """The fields of its rows, which are the columns of the sibling audits' findings."""
    return fields_of(summary.FINDINGS)


def summary_observed() -> str:
    """The fields of its rows about real groups."""
    return fields_of(summary.OBSERVED)


def summary_drawing() -> str:
    """The fields of its rows about what drawing a face does."""
    return fields_of(summary.DRAWING)


def fields_of(one: Table, head: str = "field") -> str:
    """Every column: name, type, and what it holds."""
    rows = []
    for field in one.schema:
        unit = (field.metadata or {}).get(b"unit", b"").decode()
        kind = KINDS.get(field.name, field.type) if one is summary.SUMMARY else field.type
        rows.append((f"`{field.name}`", f"{kind}{', may be null' if field.nullable else ''}", unit))
    return table((head, "type", "what it holds"), rows)


def tables_page(title: str, source: Iterable[Table] | str) -> str:
    """Every table of an audit: its key and its columns."""
    if isinstance(source, str):
        module = import_module(source)
        found = {one.name: one for one in vars(module).values() if isinstance(one, Table)}
        for extra in vars(module).values():
            listed = (
                extra.values()
                if isinstance(extra, dict)
                else extra
                if isinstance(extra, tuple | list)
                else ()
            )
            found |= {one.name: one for one in listed if isinstance(one, Table)}
        source = found.values()
    parts = [f"# {title}"]
    for one in source:
        parts.append(f"## {one.name}\n\nSorted by {', '.join(f'`{name}`' for name in one.key)}.")
        parts.append(fields_of(one, "column"))
    return "\n\n".join(parts)


# -- values for prose --------------------------------------------------------------------------------------------------


def classifiers() -> str:
    """Every classifier that gslopes brings: parameters, extra, price; nothing of this machine's credentials."""
    parts = []
    for one in list_classifiers():
        if getattr(one, "package", ""):
            continue
        facts = [
            (
                "install",
                f"`pip install 'gslopes[{one.extra}]'`" if one.extra else "comes with gslopes",
            )
        ]
        if one.price is None:
            facts.append(("price", "depends on your plan"))
        elif one.price:
            facts.append(("price", f"{one.price:.2f} USD per 1,000 pictures"))
        words = one.name + (":" + ",".join(one.parameters) if one.parameters else "")
        parts.append(f"## {one.name}\n\n{cell(one.summary)}\n\n```text\n{words}\n```\n")
        parts.append(table(("", ""), facts))
    return "\n".join(parts)


def estimators() -> str:
    """Every estimator of a slope: what it is, its unit, its null hypothesis, and why it is computed."""
    return "\n".join(
        f"- **{each.name}**, {each.reason}: {each.slope}; in {each.unit or 'the unit of the number'}. "
        f"p: {each.null}."
        for each in ESTIMATORS.values()
    )


def errors() -> str:
    """The tree of errors as a table."""

    def rows(kind: type[GslopesError], depth: int) -> Iterable[tuple[str, int, str]]:
        yield (
            "&nbsp;" * 4 * depth + f"`{kind.__name__}`",
            kind.exit_code,
            paragraphs(kind.__doc__ or "").split("\n\n")[0],
        )
        for below in (
            one for one in kind.__subclasses__() if one.__module__ == GslopesError.__module__
        ):
            yield from rows(below, depth + 1)

    return table(("error", "exit code", "what it means"), rows(GslopesError, 0))


def reason_codes() -> str:
    """Every reason why a photo, a sweep or an answer is missing, under the comments of their list."""
    parts, rows = [], []
    for line in inspect.getsource(reasons.Reason).splitlines():
        comment, value = re.match(r"    # (.+)", line), re.match(r"    [A-Z_]+ = \"(.+)\"", line)
        if comment:
            parts, rows = [*parts, *_listed(rows)], []
            parts.append(f"### {comment[1].split(';')[0].capitalize()}\n")
        elif value:
            rows.append(f"- {value[1]}")
    return "\n".join([*parts, *_listed(rows)])


def _listed(rows: list[str]) -> list[str]:
    return [*rows, ""] if rows else []


def docstring(name: str, heading: str = "") -> str:
    """The docstring of a module, or of it what stands below a heading."""
    text = paragraphs(import_module(name).__doc__ or "")
    if heading:
        text = text.split(f"## {heading}\n", 1)[1]
    text = re.sub(
        r"(?:^=+ .*\n|^=+$\n?)(?:.+\n)*?^=+[= ]*$\n(?:.+\n)*?^=+[= ]*$",
        _grid,
        text,
        flags=re.MULTILINE,
    )
    return re.sub(r"``(.+?)``", r"`\1`", text)


def _grid(found: re.Match[str]) -> str:
    """A table of a docstring, drawn with =, as Markdown; a line without a first cell goes on from the one above."""
    lines = found[0].splitlines()
    starts = [place.start() for place in re.finditer(r"=+", lines[0])]
    rows: list[list[str]] = []
    for line in (line for line in lines if line.strip("= ")):
        cells = [
            line[low:high].strip() for low, high in zip(starts, [*starts[1:], None], strict=True)
        ]
        if rows and not cells[0]:
            rows[-1] = [f"{old} {new}".strip() for old, new in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
    return table(rows[0], rows[1:])


def glossary() -> str:
    """The terms of the report's page, which define each once."""
    from gslopes.slopes.page import decisions

    source = (ROOT / "gslopes/slopes/templates/glossary.html.j2").read_text("utf-8")
    found = re.findall(r"<dt>([^<{]+)</dt><dd>([^<]+)</dd>", source)
    found += [(one["word"], one["about"]) for one in decisions.MEANINGS.values()]
    return "\n".join(
        f"**{unescape(term)}**\n:   {unescape(str(meaning))}\n" for term, meaning in found
    )


def python() -> str:
    """The public functions, in the order of ``gslopes.__all__``, as their docstrings say, with their options."""
    parts = []
    first: dict[type, str] = {}
    for one in from_options.functions():
        # a function called as its module: the types of the package have it in the module's place
        is_module = one.module == f"gslopes.{one.name}"
        place = one.module if is_module else f"{one.module}.{one.name}"
        heading = f"      heading: gslopes.{one.name}\n      toc_label: {one.name}"
        parts.append(f"::: {place}\n    options:\n{heading}\n")
        if one.config in first:
            told = first[one.config]
            parts.append(
                f"Its options are those of [gslopes.{told.rpartition('.')[2]}](#{told}).\n"
            )
        elif one.config is not None and one.name not in from_options.PLAIN:
            first[one.config] = place
            rows = [
                (f"`{name}`", f"`{kind}`", about)
                for name, (kind, about) in from_options.keys_of(one.config, one.own).items()
            ]
            parts.append(table(("option", "type", "what it sets"), rows))
    return "\n".join(parts)


MACROS: dict[str, Callable[..., Any]] = {
    "classifiers": classifiers,
    "commands": commands_table,
    "docstring": docstring,
    "errors": errors,
    "estimators": estimators,
    "glossary": glossary,
    "python": python,
    "reasons": reason_codes,
    "summary-drawing": summary_drawing,
    "summary-fields": summary_fields,
    "summary-rows": summary_rows,
    "summary-observed": summary_observed,
}
