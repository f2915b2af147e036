"""The card of an export and its Croissant file: what was edited, by what, with which faults, whose photos."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pandas import DataFrame

from gslopes.core import JsonObject, read_beside, read_json, runfolder, runtime, sha256_of
from gslopes.export.pictures import maker
from gslopes.export.writers import VALUES
from gslopes.report.inline import plain
from gslopes.report.layouts import escaped

TEXTS = read_beside(__file__, "card.toml")


def facts_of(run: Path, form: str, rows: DataFrame) -> JsonObject:
    """The content of an export's card and Croissant file; ``facts.j2`` counts what is in it.

    form: of the export.  rows: as ``pictures`` made them.

    Returns editors: (attribute, model, sha256, licence), one each; readings: of the run's ``validity.json``; edited:
        rows without originals.
    """
    from gslopes.faces.gate.verdict import VALIDITY  # it needs torch

    manifest = runfolder.read_manifest(run)
    judged = run / VALIDITY
    edited = rows[rows["kind"] != "original"]
    attributes = sorted({*edited.filter([*VALUES]).to_numpy().flat})
    return {
        "form": form,
        "manifest": manifest,
        "rows": rows,
        "edited": edited,
        "attributes": attributes,
        "editors": [(attribute, *maker(manifest, attribute)) for attribute in attributes],
        "readings": read_json(judged).get("attributes", []) if judged.is_file() else [],
    }


def readme(about: JsonObject) -> str:
    """The card, Markdown with the front matter that hubs read."""
    return _rendered("card.md.j2", about, faults=list(_faults(about)), escaped=escaped)


def _faults(about: JsonObject) -> Iterator[tuple[str, str]]:
    """The measured faults on the cards of the editors: model and text; of one that edits twice, twice."""
    from gslopes.faces.zoo.spec import find_asset

    for _, model, digest, _ in about["editors"]:
        folder = find_asset("models", model)
        if folder is None or not (folder / "card.md").is_file():
            continue
        text = (folder / "card.md").read_text("utf-8")
        faults = text.partition("## Known failures\n")[2].partition("\n## ")[0].strip()
        if faults and f"sha256: {digest}" in text:  # a card is only about its weights
            yield model, faults


def metadata(about: JsonObject, out: Path) -> JsonObject:
    """``croissant.json`` of an export.

    out: its folder, with its pictures and their index in place.

    Raises: OSError if they cannot be read.
    """
    form = TEXTS["forms"][about["form"]]
    files = [
        (path.relative_to(out).as_posix(), path.stat().st_size, sha256_of(path))
        for path in sorted(out.glob(form["pattern"]))
    ]
    return dict(json.loads(_rendered("croissant.json.j2", about, form=form, files=files)))


def _rendered(template: str, about: JsonObject, **more: Any) -> str:
    tool = f"gslopes {runtime.gslopes_version()}"
    return plain(template, __file__, **TEXTS, about=about, tool=tool, **more) + "\n"
