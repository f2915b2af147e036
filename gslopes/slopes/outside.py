"""The pictures of an editor that others made, in place of our own edits: asked for, fitted onto the photo, composed."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any, cast

import numpy as np

from gslopes.ask.cost import said
from gslopes.ask.editors.remote import RemoteEditor
from gslopes.ask.pictures import png
from gslopes.ask.scoring.cost import Price, estimate
from gslopes.core import (
    JsonObject,
    PhotoError,
    Reason,
    Row,
    SkipReason,
    Tick,
    frozen,
    placebo,
    runfolder,
    tables,
    text,
)
from gslopes.core.records import Answer, EditedChip, Face, Photo, floats
from gslopes.core.tables import EDITING
from gslopes.faces.compose.encode import ENDINGS, QUALITY, encode
from gslopes.faces.compose.paste import compose, composite_of
from gslopes.faces.compose.placebo import qualities
from gslopes.faces.edit.outside import Fitted, fitted
from gslopes.faces.edit.protocol import Wish
from gslopes.frame.ask import money
from gslopes.frame.parts import missing_parts
from gslopes.frame.spec import Run, Stage
from gslopes.photos.decode import HEAD, in_srgb, is_srgb, is_upright, kind_of
from gslopes.photos.folder import PhotoFile, photo_bytes
from gslopes.slopes.plan import Walk
from gslopes.slopes.stimuli import Faces, Synthesis, synthesis

WHY = {
    "answered": Reason.NONE,
    "refused": Reason.EDITOR_REFUSED,
    "failed": Reason.EDITOR_FAILED,
}
JOURNAL = "parts/synthesise/journal"  # the pictures of an editor whose version does not identify them, until all came


def drawing(run: Run) -> Drawing:
    """What draws the pictures of a run, with its money.  Raises: as ``stimuli.synthesis``."""
    base = synthesis(run)
    editor = RemoteEditor(
        cast("Any", base.plan.editor),
        run.config.score.cache,
        run.folder / JOURNAL,
        run.once(money),
        run.config.seed,
        sum(price.pictures for price in prices(run)),
        run.executor.note,
    )
    return Drawing(run.folder, base.plan, base.components, base.same, editor)


def prices(run: Run, stage: Stage | None = None) -> list[Price]:
    """What the photos that are still to be edited cost at most; nothing with our own editors."""
    walk: Walk = run.inputs
    if walk.editor is None:
        return []
    missing, parts = missing_parts(run.folder, run.audit, tables.PHOTOS.name)
    photos = len(walk.files)
    if parts:
        photos = min(photos, len(missing) * walk.config.part)
    due = estimate(walk.asked_of_editor(), [photos] * walk.asked_of_each, stage="editor")
    return [replace(due, name=walk.editor.name)]


# -- what the run tells of it -----------------------------------------------------------------------------------------


def about(walk: Walk) -> dict[str, JsonObject]:
    """What run.json tells of the editor, by attribute: name, version, and the sentences by value or end, one a wording.

    ``conclude`` adds the models that it named, with their pictures.
    """
    told: dict[str, JsonObject] = {}
    for sweep in walk.sweeps:
        facts = {
            "name": getattr(walk.editor, "name", ""),
            "version": getattr(walk.editor, "version", ""),
            "prompt": getattr(sweep.prompts, "name", ""),
            "digest": getattr(sweep.prompts, "digest", ""),
        }
        entry = told.setdefault(sweep.attribute, {**facts, "sentences": {}, "models": {}})
        entry["sentences"] |= sweep.sentences()
    return told


def conclude(run: Run) -> None:
    """Tell what came of all pictures, and forget the journal unless some are to be asked for again."""
    if not run.config.outside:
        return
    rows = run.table(EDITING.name)
    content = runfolder.read_manifest(run.folder)
    of = {
        name: sweep.attribute
        for sweep in run.inputs.sweeps
        for name in (sweep.name, *placebo.names(sweep.name))
    }
    for attribute, models in rows["model"].groupby(rows["attribute"].map(of)):
        named = models[models != ""].value_counts(sort=False).to_dict()
        content["editor"][attribute]["models"] = named
        if len(named) > 1:
            counts = text.printable(said("models.txt.j2", models=named))
            run.note(f"The editor answered with more than one model: {counts}.")
    runfolder.write_json(run.folder / runfolder.MANIFEST, content)
    refused = int((rows["status"] == "refused").sum())
    failed = int((rows["reason"] == Reason.EDITOR_FAILED).sum())
    of_all = f"of {text.many(len(rows), 'picture')}"
    if refused:
        run.note(f"The editor refused {refused:,} {of_all}.")
    if failed:
        again = "the same command with --retry-failed asks again"
        run.note(f"The editor failed on {failed:,} {of_all}: {again}.")
    else:
        shutil.rmtree(run.folder / JOURNAL, ignore_errors=True)


# -- pictures ---------------------------------------------------------------------------------------------------------


@frozen
class Drawing(Synthesis):
    """In place of editing: pictures that an editor of others is asked for.

    Photos without a usable face are never sent. A photo that lacks a picture of a sweep is not edited along it.

    editor: who is asked.  rows: photo to its rows of the table editing, of the part in hand.
    """

    editor: RemoteEditor
    rows: dict[str, list[Row]] = field(default_factory=dict)

    def __call__(self, files: Sequence[PhotoFile], tick: Tick) -> dict[str, list[Row]]:
        """Ask for the pictures of some photos; rows of three tables.

        Raises: StorageError; as ``RemoteEditor.ask``.
        """
        self.rows.clear()
        begun = self.editor.usage.pictures
        told = 0

        def watch() -> None:  # a photo is done when as many pictures came as it has
            nonlocal told
            came = self.editor.usage.pictures - begun
            new = min(len(files), came // self.plan.asked_of_each) - told
            told += new
            tick(new)

        self.editor.watch = watch
        made = Synthesis.__call__(self, files, lambda count: None)
        tick(len(files) - told)
        edited = {row["photo"] for row in made["edits"]}
        for photo in made["photos"]:
            if photo["status"] == "used" and photo["photo"] not in edited:
                rows = self.rows[photo["photo"]]
                lost = next(row for row in rows if row["status"] != "answered")
                photo |= {"status": "skipped", "reason": lost["reason"], "detail": lost["detail"]}
        return {**made, "editing": [row for rows in self.rows.values() for row in rows]}

    def _compose(self, faces: Faces) -> list[Row]:
        """Ask for all pictures of some photos, then compose them photo by photo; rows of edits."""
        wanted: dict[Wish, dict[str, Callable[[], bytes]]] = defaultdict(dict)
        for photo, chip in zip(faces.photos, faces.chips, strict=True):
            for asked in self.plan.asked(photo.id):
                wanted[asked.wish][photo.id] = partial(self._sent, photo, chip)
        answers = self.editor.ask(wanted)
        edits = []
        for row, photo in enumerate(faces.photos):
            came = {
                wish: self._came(photo, faces.faces[row], answers[photo.id, wish])
                for wish, photos in wanted.items()
                if photo.id in photos
            }
            drawn: dict[str, list[Fitted]] = defaultdict(list)
            self.rows[photo.id] = []
            for name, step, wording, wish in self.plan.asked(photo.id):
                told, fit = came[wish]
                drawn[name] += filter(None, [fit])
                key = {"photo": photo.id, "attribute": name, "step": step, "wording": wording}
                value = self.plan.values[placebo.split(name)[0]][step]
                self.rows[photo.id].append({**key, "value": value, **told})
            for sweep in self.plan.sweeps:
                edits += self._along(sweep.name, faces, row, drawn)
        return edits

    def _sent(self, photo: Photo, chip: Any) -> bytes:
        """The file that is sent, in sRGB: the chip, or the photo's own if everybody sees the same in it."""
        if self.editor.editor.takes == "chip":
            return png(in_srgb(chip, photo.icc))
        data = photo_bytes(photo.path)
        if data.startswith(tuple(ENDINGS)) and is_upright(data) and is_srgb(photo.icc):
            return data
        return encode(in_srgb(photo.pixels, photo.icc), photo.gray, None, "png")

    def _came(self, photo: Photo, face: Face, answer: Answer) -> tuple[Row, Fitted | None]:
        """What the table editing tells of a picture; and the picture on its photo, if it can be used."""
        fit = None
        size = self.editor.editor.size
        composing = self.plan.config.compose
        status = answer.status
        why = SkipReason(WHY[status], answer.reason)
        try:
            if status == "answered":
                fit = fitted(answer.picture, photo, face, size)
                kind = kind_of(fit.file[:HEAD]).lower()
                if composing.blend != "whole" or kind != composing.format:
                    fit = replace(fit, file=b"")
        except PhotoError as error:
            status = "failed"
            why = cast("SkipReason", error.reason)
        if fit is not None and size:
            chip = floats(fit.pixels)
            everywhere = np.ones((size, size), np.float32)
            whole = photo.pixels, photo.gray, EditedChip(chip[None], chip), everywhere
            fit = replace(fit, pixels=compose(*whole, face.matrix, "paste").picture(0))
        measures = {name: getattr(fit, name, None) for name in ("moved", "background", "clothes")}
        return {"status": status, "model": answer.version, **why.columns, **measures}, fit

    def _along(
        self,
        sweep: str,
        faces: Faces,
        row: int,
        drawn: dict[str, list[Fitted]],
    ) -> list[Row]:
        """Write the pictures of a sweep and its placebos, as far as the photo has all of one; rows of edits."""
        photo = faces.photos[row]
        count = len(self.plan.values[sweep])
        half = count // 2
        same, _, random = placebo.names(sweep)
        blend: Any = self.plan.config.compose.blend
        neutral = next((one.pixels for one in drawn.get(same, ())), None)
        if len(drawn[sweep]) < count or (blend == "difference" and neutral is None):
            return []
        if random in drawn:  # its centre is the sweep's own
            drawn[random][half:half] = drawn[sweep][half : count - half]
        head = None
        if faces.heads and self.editor.editor.takes == "photo":
            head = faces.heads[None][row]
        about = photo, faces.faces[row], faces.masks[None][row]
        draw = partial(composite_of, *about, blend=blend, neutral=neutral, head=head)
        files = self._files(photo)
        packed = {same: qualities(photo.id, count, self.plan.config.seed)}
        rows = []
        for name in (sweep, same, random):
            pictures = drawn.get(name, [])
            if len(pictures) < count:
                continue
            composite = draw([one.pixels for one in pictures])
            columns = pictures, composite.patches, packed.get(name, [QUALITY] * count)
            encoded = (
                one.file or files.encode(patch, composite.box, quality)
                for one, patch, quality in zip(*columns, strict=True)
            )
            rows += self._write(name, photo.id, composite, encoded)
            if name == sweep:
                rows += self._placebos(sweep, photo.id, composite, files, drawn)
        return rows
