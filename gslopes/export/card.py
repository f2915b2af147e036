"""The card of an export and its Croissant file: what was edited, by what, with which faults, whose photos."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pandas import DataFrame, Series

from gslopes.core import read_beside, read_json, runfolder, runtime, sha256_of
from gslopes.report.inline import plain
from gslopes.report.layouts import escaped, markdown

TEXTS = read_beside(__file__, "card.toml")
UNSTATED = "not stated: that gives no permission"


Facts = dict[str, Any]


def facts_of(run: Path, form: str, rows: DataFrame) -> Facts:
    """The content of an export's card and Croissant file.

    form: of the export.  rows: as ``pictures`` made them, all sweeps of the run: a set is a sweep.

    Returns editors: (attribute, model, sha256, licence), one each; measured: of the run's ``validity.json``; made: when
    the run was made, ISO 8601; the others count rows, or name what is in them.
    """
    from gslopes.faces.gate.verdict import VALIDITY  # it needs torch

    manifest = runfolder.read_manifest(run)
    judged = run / VALIDITY
    readings = read_json(judged).get("attributes", []) if judged.is_file() else []
    edited = rows.query("kind == 'edit'")
    sweeps = rows.drop_duplicates("set")
    photos = rows.drop_duplicates("photo")
    licences = photos.get("licence", Series("", photos.index))
    attributes = sorted(set(edited["attribute"]))
    models = edited.drop_duplicates("attribute")[["attribute", "editor", "editor_sha256"]]
    editors = []
    for attribute, name, digest in models.itertuples(index=False, name=None):
        licence = manifest["models"].get(name, {}).get("licence")
        editors.append((attribute, name, digest, licence or "not stated"))
    return {
        "form": form,
        "made": manifest["created"],
        "columns": [str(name) for name in rows if name != "file"],
        "attributes": attributes,
        "title": f"Counterfactual photos along {' and '.join(attributes)}",
        "splits": _counts(rows["split"], sort=False),
        "pictures": len(rows),
        "sets": len(sweeps),
        "photos": len(photos),
        "kept": int(sweeps["kept"].sum()),
        "dropped": _counts(sweeps.loc[~sweeps["kept"], "reason"]),
        "licences": _counts(licences.fillna("").replace("", UNSTATED)),
        "editors": editors,
        "measured": [row for row in readings if row.get("attribute") in attributes],
    }


def _counts(texts: Series, sort: bool = True) -> dict[str, int]:
    return {str(name): count for name, count in texts.value_counts(sort=sort).items()}


def readme(about: Facts) -> str:
    """The card, Markdown with the front matter that hubs read."""

    def table(head: tuple[str, ...], rows: Any) -> str:
        cells = [[f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in rows]
        return markdown(head, [[*map(escaped, row)] for row in cells])

    return _rendered("card.md.j2", about, table=table, faults=list(_faults(about)))


def _faults(about: Facts) -> Iterator[tuple[str, str]]:
    """The measured faults on the cards of the editors: model and text."""
    from gslopes.faces.zoo.spec import find_asset

    for model, digest in dict.fromkeys((name, digest) for _, name, digest, _ in about["editors"]):
        folder = find_asset("models", model)
        if folder is None or not (folder / "card.md").is_file():
            continue
        text = (folder / "card.md").read_text("utf-8")
        faults = text.partition("## Known failures\n")[2].partition("\n## ")[0].strip()
        if faults and f"sha256: {digest}" in text:  # a card is only about its weights
            yield model, faults


def metadata(about: Facts, out: Path) -> Facts:
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


def _rendered(template: str, about: Facts, **more: Any) -> str:
    more |= {"tool": f"gslopes {runtime.gslopes_version()}", "unstated": UNSTATED}
    return plain(template, __file__, **TEXTS, about=about, **more) + "\n"
