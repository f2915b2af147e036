"""Pages of benchmarks and numbers in prose, from the JSON files that the benches and the evaluations wrote."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from from_code import table

from gslopes.contexts.measures.paired import ALIKE

ROOT = Path(__file__).resolve().parents[2]
BENCHES = ROOT / "tests/benches"
RESULTS = BENCHES / "results"
# Files whose bench is not bench_<name>.py, and tables too long for a page, whose bench writes a page of its own.
SOURCES = {
    "gpu": "gpu.py",
    "fuzz": "python -m tests.fuzz",
    "soak": "soak.py",
    "walk-peer": "walk_peer.py",
}
SOURCES["retrain"] = "python notebooks/retrain/retrain.py UTKFace OUT"
LONG = ("coverage", "coverage-cases")
WORDS = {
    "peak_mb": "peak memory, MB",
    "peak_mib": "peak memory, MiB",
    "peak_gib": "peak memory, GiB",
    "iqr": "interquartile range",
}


def titles() -> dict[str, str]:
    """Page to its title in the navigation."""
    made = {
        f"benchmarks/{path.stem}.md": path.stem.replace("-", " ")
        for path in sorted(RESULTS.glob("*.json"))
    }
    written = {
        f"benchmarks/{path.stem}.md": path.stem.replace("-", " ")
        for path in sorted(RESULTS.glob("*.md"))
    }
    return made | written


def pages() -> dict[str, str]:
    """Page to its Markdown: the bench's own where there is one, else made from its JSON."""
    made = {
        f"benchmarks/{path.stem}.md": page(path)
        for path in RESULTS.glob("*.json")
        if path.stem not in LONG
    }
    return made | {
        f"benchmarks/{path.stem}.md": path.read_text("utf-8") for path in RESULTS.glob("*.md")
    }


def page(path: Path) -> str:
    """One bench: what it measures, on which machine, and every number of its file."""
    content = load(str(path.relative_to(ROOT)))
    about, how = described(path.stem)
    parts = [f"# {path.stem.replace('-', ' ').capitalize()}", about]
    parts.append(f"Made from `{path.relative_to(ROOT)}`, which `{how}` wrote.")
    parts += ["## Numbers", *shown(content)]
    return "\n\n".join(parts)


def described(name: str) -> tuple[str, str]:
    """What a bench measures, from the docstring of its file, and the command."""
    script = SOURCES.get(name, f"bench_{name.replace('-', '_')}.py")
    if not script.endswith(".py"):
        return "", script
    text = ast.get_docstring(ast.parse((BENCHES / script).read_text("utf-8"))) or ""
    return text.replace("``", "`"), f"tests/benches/{script}"


def shown(content: Any, name: str = "") -> list[str]:
    """A JSON value as tables: plain values together, then a table for each list of records."""
    if isinstance(content, list):
        content = {f"{name} {number + 1}".strip(): one for number, one in enumerate(content)}
    rows, lists = [], []
    for key, value in flat(content):
        if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            lists.append((key, value))
        elif value not in ([], {}, None):
            rows.append((key, plain(value)))
    parts = [table(("what", "value"), rows)] if rows else []
    for key, records in lists:
        columns = list(dict.fromkeys(name for record in records for name, _ in flat(record)))
        lines = [dict(flat(record)) for record in records]
        found = [[plain(line.get(column, "")) for column in columns] for line in lines]
        parts += [f"### {spoken(key)}", table(map(spoken, columns), found)]
    return parts


def flat(content: Mapping[str, Any], above: str = "") -> Iterable[tuple[str, Any]]:
    """Every plain value and list, with the names that lead to it."""
    for key, value in content.items():
        name = f"{above}, {spoken(key)}" if above else spoken(key)
        if isinstance(value, Mapping):
            yield from flat(value, name)
        else:
            yield name, value


def spoken(key: str) -> str:
    """A key of a JSON file in words."""
    return WORDS.get(key, key.replace("_", " "))


def plain(value: Any) -> str:
    """A number or a short list for people."""
    if isinstance(value, list):
        return ", ".join(map(plain, value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return (
        f"{value:,}"
        if isinstance(value, int)
        else f"{value:,.4g}"
        if abs(value) < 1000
        else f"{value:,.0f}"
    )


# -- numbers in prose --------------------------------------------------------------------------------------------------


@cache
def load(path: str) -> Any:
    """A JSON file of the checkout; a bare name is one of the benches'."""
    file = ROOT / path if "/" in path else RESULTS / path
    return json.loads(file.read_text("utf-8"))


def number(file: str, *keys: str) -> str:
    """One number: the file, the keys that lead to it, and the format of Python, such as ``+.1f``."""
    *inner, form = keys
    return formatted(_reach(load(file), inner), form)


def interval(file: str, *keys: str) -> str:
    """A number with its interval, from a record with value (or slope), low and high."""
    *inner, form = keys
    return _ended(_reach(load(file), inner), form)


def formatted(value: float, form: str) -> str:
    """As Python formats it, with the minus sign of print, and zero without a sign."""
    text = format(value, form)
    zero = not text.strip("+-0.")
    return text.lstrip("+-") if zero else text.replace("-", "−")


def _reach(content: Any, keys: Iterable[str]) -> Any:
    for key in keys:
        content = content[int(key)] if isinstance(content, list) else content[key]
    return content


def benches() -> str:
    """Every bench, with a link to its page."""
    rows = []
    for path, title in titles().items():
        name = Path(path).stem
        script = SOURCES.get(name, f"bench_{name.replace('-', '_')}.py")
        about = described(name)[0] if (BENCHES / script).is_file() else ""
        rows.append((f"[{title}]({name}.md)", about.split("\n\n")[0]))
    return table(("bench", "what it measures"), rows)


def faces(attribute: str, *labels: str) -> str:
    """The London portraits along an attribute: slopes of some labels, and what the placebo sweeps give."""
    found = load("london.json")[attribute]
    names = {"light": "light alone (placebo)", "random": "a random change as large (placebo)"}
    names["same"] = "the same picture (placebo)"
    sweeps = {attribute: {"photos": found["counts"]["judged"], **found["labels"]}}
    sweeps |= {
        names.get(kind, f"{kind} (placebo)"): rows for kind, rows in found["placebos"].items()
    }
    rows = [
        (name, sweep["photos"], *(_ended(sweep[label], "+.1f") for label in labels))
        for name, sweep in sweeps.items()
    ]
    return table(("sweep", "photos in the fit", *labels), rows)


def two_editors() -> str:
    """A row a label that is judged along either editor's pictures: slopes, and what goes with other readings."""
    rows: dict[str, dict[str, dict[str, Any]]] = {}
    for row in load("two-editors.json")["rows"]:
        rows.setdefault(row["label"], {})[row["editor"]] = row
    found = []
    for label, each in rows.items():
        cells = [
            _by_editor(each.get(editor), "slope", ("ci_low", "ci_high"), "+.1f")
            for editor in ("fader", "field")
        ]
        shares = [
            _by_editor(each.get(editor), "share", ("share_low", "share_high"), ".0%")
            for editor in ("fader", "field")
        ]
        both = [each[editor]["decision"] == "finding" for editor in each]
        found.append(
            (
                label.replace("_", " "),
                cells[0],
                cells[1],
                "both" if sum(both) == 2 else "one" if any(both) else "neither",
                *shares,
            )
        )
    return table(
        (
            "label",
            "Fader Network",
            "field editor",
            "finding of",
            "with other readings: Fader",
            "field",
        ),
        found,
    )


def three_editors() -> str:
    """A row a label that is judged along any editor's pictures: slopes, and whose finding it is."""
    names = {"field": "field editor", "fader": "Fader Network", "prototypes": "prototypes"}
    found = load("three-editors.json")
    rows: dict[str, dict[str, dict[str, Any]]] = {}
    for row in found["rows"]:
        rows.setdefault(row["label"], {})[row["editor"]] = row
    cells = []
    for label, each in rows.items():
        slopes = [
            _by_editor(each.get(name), "slope", ("ci_low", "ci_high"), "+.1f") for name in names
        ]
        whose = [names[name] for name in names if each.get(name, {}).get("decision") == "finding"]
        if label in found["shared"]:
            whose = ["all three"]
        cells.append((label.replace("_", " "), *slopes, ", ".join(whose) or "none"))
    cells.sort(key=lambda row: (row[-1] != "all three", row[-1] == "none", row[0]))
    return table(("label", *names.values(), "finding of"), cells)


def _by_editor(row: Mapping[str, Any] | None, name: str, ends: tuple[str, str], form: str) -> str:
    if row is None or row[name] is None:
        return "–"
    return _ended({"value": row[name], "low": row[ends[0]], "high": row[ends[1]]}, form)


def croppers() -> str:
    """The London portraits: how often croppers favour the woman of a pair."""
    found = load("london.json")["crops"]["women over men, %"]
    return table(
        ("cropper", "women over men, %"),
        ((name, _ended(one, ".1f")) for name, one in found.items()),
    )


def retrained(editor: str, network: str = "linear") -> str:
    """The classifiers of the page about retraining: slope, placebos, the gap between real people, who is right."""
    rows = [row for row in _retrained(editor, network) if row["seed"] == "mean"]
    cells = ("old man", "old woman", "young man", "young woman")
    found = []
    for row in rows:
        slope = _ended(
            {"value": row["slope"], "low": row["ci_low"], "high": row["ci_high"]}, "+.2f"
        )
        placebos = ", ".join(formatted(row[kind], "+.2f") for kind in ("light", "random", "same"))
        gap = _ended({"value": row["gap"], "low": row["gap_low"], "high": row["gap_high"]}, "+.1f")
        found.append(
            (row["training"], slope, placebos, gap, *(f"{row[cell]:.2f}" for cell in cells))
        )
    return table(("training", "slope", "placebos", "men minus women", *cells), found)


def _retrained(editor: str, network: str) -> list[dict[str, Any]]:
    """Rows of one judging editor and one network, by the first word of its name."""
    rows = load("retrain.json")["rows"]
    return [row for row in rows if row["editor"] == editor and row["network"].startswith(network)]


def retrained_seeds(editor: str, network: str = "linear") -> str:
    """The same slopes and gaps, seed by seed."""
    rows = [row for row in _retrained(editor, network) if row["seed"] != "mean"]
    names = list(dict.fromkeys(row["training"] for row in rows))
    found = []
    for name in names:
        mine = [row for row in rows if row["training"] == name]
        found.append(
            (
                name,
                *(
                    ", ".join(formatted(row[key], "+.2f") for row in mine)
                    for key in ("slope", "gap")
                ),
            )
        )
    return table(("training", "slope of each seed", "men minus women of each seed"), found)


def planted_contexts() -> str:
    """Slopes planted in fake services, and what the context audit found."""
    content = load("contexts.json")["slopes"]
    rows = [dict(zip(content["columns"], row, strict=True)) for row in content["rows"]]
    shown_rows = []
    for row in rows:
        found = _ended({**row, "value": row["found"]}, "+.1f")
        if row["low"] in (
            None,
            row["high"],
        ):  # also of results measured when such an interval was given
            found = f"{formatted(row['found'], '+.1f')} ({ALIKE})"
        shown_rows.append((row["service"], formatted(row["planted"], "+.1f"), found))
    return table(("service", "planted, points per unit", "found"), shown_rows)


def planted_captions() -> str:
    """Planted harms whose interval can be checked: how often it held the truth."""
    found = []
    for row in load("captions-planted.json")["table"]:
        if row["set"] == "planted" and row["low"] is not None:
            truth, mean = (formatted(row[name], ".4g") for name in ("truth", "mean"))
            found.append(
                (row["planted"], truth, mean, f"{100 * row['covered']:.0f} %", row["sets"])
            )
    return table(
        ("planted", "truth", "mean of the estimates", "intervals that hold it", "sets"), found
    )


EDITORS = ("gender-field", "gender-fader", "race-field")


def editors() -> str:
    """A column an editor of photos, of what its card's first table has; race may lack a row that gender has."""
    found = []
    for name in EDITORS:
        rows = load(f"weights/{name}/metrics.json")["evaluation"]["tables"]["reached"]
        found.append(
            {
                key.replace("P(masculine)", "P").replace("P(White)", "P"): row["number"]
                for key, row in rows.items()
            }
        )
    keys = [
        key
        for key in dict.fromkeys(key for one in found for key in one)
        if "UTKFace" in key or "London" in key
    ]
    shown = [
        (key, *("–" if key not in one else _ended(one[key], ".2f") for one in found))
        for key in keys
    ]
    return table(("measured", *EDITORS), shown)


def _ended(found: Mapping[str, float], form: str) -> str:
    if found["low"] is None:
        return formatted(found["value"], form)
    ends = ", ".join(formatted(found[name], form) for name in ("low", "high"))
    return f"{formatted(found['value'], form)} [{ends}]"


MACROS: dict[str, Callable[..., str]] = {
    "benches": benches,
    "croppers": croppers,
    "editors": editors,
    "faces": faces,
    "interval": interval,
    "number": number,
    "planted_captions": planted_captions,
    "three_editors": three_editors,
    "two_editors": two_editors,
    "planted_contexts": planted_contexts,
    "retrained": retrained,
    "retrained_seeds": retrained_seeds,
}
