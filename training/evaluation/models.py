"""Measure a model on held-out people and write the numbers next to its weights and into its card."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from gslopes.core.files import read_json
from gslopes.core.runfolder import write_bytes
from gslopes.faces.zoo import load, load_folder
from gslopes.faces.zoo.spec import DIGEST, find_asset, read_spec
from training.data import made
from training.evaluation.composites import AGES, contact_sheets
from training.evaluation.editor import TAGGED, evaluate_editor
from training.evaluation.groups import evaluate_groups
from training.measure import THIRDS, measure
from training.recipe import plan_of


def measure_model(
    model: str,
    *,
    data: Path,
    photos: int | None = None,
    device: str = "cpu",
    write: bool = True,
    sheets: Path | None = None,
) -> dict[str, Any]:
    """The numbers of a model as ``{"note": …, "tables": {title: {row: {column: number}}}}``.

    model: its name, or a folder of weights.
    data: the folder that holds the data sets.  photos: the most held-out photos, all by default.
    write: also into metrics.json next to the weights and into the card.
    sheets: of an editor, a folder for a contact sheet of each set of faces: photos of people, not to be published.

    Raises: UnknownName, ModelError, DataMissing.
    """
    folder = (
        Path(model)
        if (Path(model) / "model.safetensors").is_file()
        else find_asset("weights", model)
    )
    loaded = (
        load(model, device) if folder is None else load_folder(folder, device)
    )  # load says what is not there
    spec = loaded.spec
    if spec.network in ("fader", "edit-ends"):
        note, tables = evaluate_editor(loaded, data, photos, device)
        new: dict[str, Any] = {"evaluation": {"note": note, "tables": tables}}
        if sheets is not None:
            contact_sheets(loaded, data, device, sheets)
    elif spec.network == "edit-groups":
        note, tables = evaluate_groups(loaded, data, photos, device)
        new = {"evaluation": {"note": note, "tables": tables}}
    else:
        everything = made(plan_of(spec).set, spec, data, device)
        rows = np.random.default_rng(0).permutation(np.flatnonzero(everything.held_out))[:photos]
        assert folder is not None
        new = measure(spec, folder, everything.part(rows), device)
        note = f"Measured on {new['held_out']} held-out photos, never trained on by any model."
        parts = {kind: numbers for kind, numbers in new.items() if isinstance(numbers, dict)}
        tables = {
            kind: {row: {"number": number} for row, number in rows.items()}
            for kind, rows in parts.items()
        }
    if write and folder is not None:
        file = folder / "metrics.json"
        previous = read_json(file) if file.is_file() else {}
        write_bytes(file, (json.dumps({**previous, **new}, indent=2) + "\n").encode())
        card = folder.parents[1] / "models" / spec.name / "card.md"
        if card.is_file():
            write_bytes(card, fill(folder.parents[1], spec.name).encode())
    return {"note": note, "tables": tables}


# -- model cards: facts and numbers between the marks come from spec and metrics ---------------------------------------


HEAD = ("---\n", "\n---\n")
NUMBERS = ("<!-- numbers -->\n", "\n<!-- /numbers -->")

METRICS = {
    "step": "mean step of the scale at which the skin of people is in London's light, by the ethnicity that they gave",
    "off": "mean distance of the skin's colour from the table's at its lightness",
    "auc": "area under the ROC curve, a label against the rest",
    "iou": "intersection over union of a region, pixels of all photos together",
    "l1": "mean absolute error of the reconstruction, share of the range",
    "edit_size": "mean absolute change between -2 and +2 before any part moves, share of the range",
    "farthest_moved": "the most that a part of the face moves for a unit, pixels of a chip of 128, mean over photos",
}


# The rows of an editor's card, as patterns: two each, on UTKFace and in London.
EDITOR_ROWS = (
    "shift of P.* from -2 to 2",
    "two-sample AUC at -2",
    r"two-sample AUC at \+2",
    "young, share",
    "nearer to its own photo",
    "read as .*, before",
    "read as .*, after",
)
# Those of a Fader Network, used in both ways.
FADER_ROWS = (
    "shift of P.* from -2 to 2",
    "as published: shift",
    "two-sample AUC at -2",
    r"two-sample AUC at \+2",
)
# Kinds of groups whose reach is on the card, and how each set of faces is framed.
FRAMING = {"UTKFace": "tight crops (UTKFace)", "London": "portraits (London)"}
KINDS = {"skin tone": THIRDS, "age": AGES, **dict(TAGGED)}
MOST = 10


def fill(home: Path, name: str) -> str:
    """The card of a model with its facts and numbers brought up to date.

    home: the folder that holds models/ and weights/.

    Raises: OSError if the card, the spec or the weights' files are not there; ValueError if the card lacks the marks.
    """
    spec = read_spec(home / "models" / name / "spec.toml")
    folder = home / "weights" / name
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    digest = (folder / DIGEST).read_text(encoding="ascii").split()[0]
    facts = {
        "name": spec.name,
        "licence": spec.licence,
        "sha256": digest,
        "recipe": f"training/{spec.recipe}.toml",
    }
    head = "\n".join(
        [*(f"{key}: {value}" for key, value in facts.items()), f"data: {'; '.join(spec.data)}"]
    )
    card = (home / "models" / name / "card.md").read_text(encoding="utf-8")
    return _between(_between(card, HEAD, head), NUMBERS, numbers(metrics))


def _measured_on(metrics: dict[str, Any]) -> str:
    """On which photos: ``evaluate``'s for an editor, for others all that were held out."""
    on, composited, _ = metrics.get("evaluation", {}).get("note", "").partition(", composited")
    if composited:
        return on
    return f"Measured on {metrics['held_out']} held-out photos, never trained on"


def numbers(metrics: dict[str, Any]) -> str:
    """At most ``MOST`` metrics as a Markdown table, with a line on what was measured; the rest is in metrics.json."""
    rows = _headline(metrics)
    lines = [
        f"{_measured_on(metrics)}; trained on {metrics['trained_on']}. "
        "In brackets the 95 % bootstrap interval over photos. All numbers: metrics.json.",
        "",
        "| what | number |",
        "| --- | --- |",
        *(f"| {row} | {_cell(number)} |" for row, number in rows.items()),
    ]
    used = [
        f"{kind}: {text}."
        for kind, text in METRICS.items()
        if any(row.split()[0] == kind for row in rows)
    ]
    return "\n".join([*lines, "", *used, *_by_group(metrics)]).rstrip()


def _headline(metrics: dict[str, Any]) -> dict[str, Any]:
    """The rows of a card: of an editor what was asked of it, of every other model its lowest values."""
    reached = metrics.get("evaluation", {}).get("tables", {}).get("reached", {})
    if reached:
        patterns = (
            FADER_ROWS if any(row.startswith("as published") for row in reached) else EDITOR_ROWS
        )
        chosen = [row for pattern in patterns for row in reached if re.match(pattern, row)]
        return {row: reached[row]["number"] for row in chosen[:MOST]}
    rows: dict[str, Any] = {}
    for kind, value in metrics.items():
        if isinstance(value, dict) and kind != "evaluation":
            rows |= (
                {kind: value}
                if "value" in value
                else {f"{kind} {name}": number for name, number in value.items()}
            )
    if len(rows) > MOST:
        return dict(sorted(rows.items(), key=lambda row: float(row[1]["value"]))[:MOST])
    return rows


def _by_group(metrics: dict[str, Any]) -> list[str]:
    """How far an editor reaches in each group, a line for each kind of groups and set of faces."""
    lines = []
    for title, groups in metrics.get("evaluation", {}).get("tables", {}).items():
        people = title.partition("for whom, ")[2]
        for kind, names in KINDS.items() if people in FRAMING else ():
            shifts = [f"{name} {_cell(groups[name]['shift'])}" for name in names if name in groups]
            if len(shifts) > 1:
                lines.append(
                    f"Shift from -2 to 2 by {kind}, {FRAMING[people]}: {'; '.join(shifts)}."
                )
    return lines


def tables_as_text(evaluation: dict[str, Any]) -> str:
    """What ``evaluate`` found, ``{"note": …, "tables": {title: {row: {column: cell}}}}``, as Markdown."""
    parts = [evaluation["note"]]
    for title, rows in evaluation["tables"].items():
        columns = list(dict.fromkeys(name for row in rows.values() for name in row))
        lines = [f"| {title} | {' | '.join(columns)} |", f"| --- |{' --- |' * len(columns)}"]
        lines += [
            f"| {name} | {' | '.join(_cell(row.get(column)) for column in columns)} |"
            for name, row in rows.items()
        ]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return f"{value['value']} [{value['low']}, {value['high']}]"
    if value is None:
        return ""
    return str(value)


def _between(text: str, marks: tuple[str, str], inside: str) -> str:
    start = text.index(marks[0]) + len(marks[0])
    return text[:start] + inside + text[text.index(marks[1], start) :]
