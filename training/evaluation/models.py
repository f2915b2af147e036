"""Measure a model on held-out people and write the numbers next to its weights and into its card."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gslopes.core.files import read_json
from gslopes.core.runfolder import write_bytes
from gslopes.edit.editors import NETWORKS
from gslopes.zoo import home, load, load_folder
from gslopes.zoo.loading import LoadedModel
from training.evaluation import cards
from training.evaluation.editor import contact_sheets, evaluate_editor
from training.evaluation.face_parser import evaluate_face_parser
from training.evaluation.tables import Table
from training.evaluation.taggers import evaluate_tagger

KINDS: dict[str, Callable[[LoadedModel, Path, int | None, str], tuple[str, dict[str, Table]]]] = {
    "fader": evaluate_editor,
    "edit-ends": evaluate_editor,
    "feature-pyramid": evaluate_face_parser,
    "tagger": evaluate_tagger,
}


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
    folder = Path(model) if (Path(model) / "model.safetensors").is_file() else home.find("weights", model)
    loaded = load(model, device) if folder is None else load_folder(folder, device)  # load says what is not there
    note, tables = KINDS[loaded.spec.network](loaded, data, photos, device)
    result = {"note": note, "tables": tables}
    if sheets is not None and loaded.spec.network in NETWORKS:
        contact_sheets(loaded, data, device, sheets)
    if write and folder is not None:
        file = folder / "metrics.json"
        known = read_json(file) if file.is_file() else {}
        text = json.dumps({**known, "evaluation": result}, indent=2)
        write_bytes(file, (text + "\n").encode())
        card = folder.parents[1] / "models" / loaded.spec.name / "card.md"
        if card.is_file():
            write_bytes(card, cards.fill(folder.parents[1], loaded.spec.name).encode())
    return result
