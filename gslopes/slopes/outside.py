"""The pictures of an editor that others made, in place of our own edits: asked for, fitted onto the photo, composed."""

from __future__ import annotations

import math
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd

from gslopes.ask.editors.remote import RemoteEditor
from gslopes.ask.pictures import png
from gslopes.core import frozen, placebo, runfolder
from gslopes.core.arrays import floats
from gslopes.core.errors import PhotoError
from gslopes.core.progress import Tick
from gslopes.core.reasons import Reason, SkipReason
from gslopes.core.records import Answer, EditedChip, Face, Photo
from gslopes.core.tables import EDITING, Row
from gslopes.core.text import many, printable
from gslopes.faces.compose.composite import Composite
from gslopes.faces.compose.encode import ENDINGS, QUALITY, SUFFIX, Variants, encode, ending
from gslopes.faces.compose.paste import compose
from gslopes.faces.compose.pictures import composite_of
from gslopes.faces.compose.placebo import lightened, qualities, randomised
from gslopes.faces.edit.outside import Fitted, fitted
from gslopes.faces.edit.protocol import Wish
from gslopes.frame.ask import money
from gslopes.frame.spec import Run
from gslopes.photos.decode import is_upright
from gslopes.photos.folder import PhotoFile, photo_bytes, photo_of
from gslopes.slopes.asked_for import Sweep, Wishes
from gslopes.slopes.plan import Walk
from gslopes.slopes.stimuli import Faces, Synthesis, synthesis

TRIED = 2  # photos that the editor is asked about before all others


def drawing(run: Run) -> Drawing:
    """What draws the pictures of a run, with its money.  Raises: as ``stimuli.synthesis``."""
    base = synthesis(run)
    plan = base.plan
    assert plan.editor is not None
    cache = run.config.score.cache
    editor = RemoteEditor(
        plan.editor, cache, journal_of(run.folder), run.once(money), plan.config.seed
    )
    return Drawing(run.folder, plan, base.components, base.same, editor)


def journal_of(folder: Path) -> Path:
    """Where a run keeps the pictures of an editor whose version does not identify them, until it is done."""
    return folder / "parts" / "synthesise" / "journal"


# -- what the run tells of it -----------------------------------------------------------------------------------------


def about(walk: Walk) -> dict[str, dict[str, Any]]:
    """What run.json tells of the editor, by attribute: name, version, and the sentences by value or end, one a wording.

    ``conclude`` adds the models that it named, with their pictures.
    """
    assert walk.editor is not None
    editor = walk.editor
    told: dict[str, dict[str, Any]] = {}
    for sweep in walk.sweeps:
        prompts = sweep.prompts
        named = {"prompt": prompts.name, "digest": prompts.digest} if prompts else {}
        facts = {
            "name": editor.name,
            "version": editor.version,
            "prompt": "",
            "digest": "",
            **named,
        }
        entry = told.setdefault(sweep.attribute, {**facts, "sentences": {}, "models": {}})
        entry["sentences"] |= sweep.sentences()
    return told


def conclude(run: Run) -> None:
    """Tell what came of all pictures, and forget the journal unless some are to be asked for again."""
    rows = run.table(EDITING.name)
    content = runfolder.read_manifest(run.folder)
    for attribute, entry in content["editor"].items():
        own = [sweep.name for sweep in run.inputs.sweeps if sweep.attribute == attribute]
        names = {name for sweep in own for name in (sweep, *placebo.names(sweep))}
        models = rows.loc[rows["attribute"].isin(names) & (rows["model"] != ""), "model"]
        entry["models"] = {
            str(name): int(count) for name, count in models.value_counts(sort=False).items()
        }
        if len(entry["models"]) > 1:
            changed = " and then ".join(map(printable, [*entry["models"]][:2]))
            run.note(f"The editor changed its model in the middle: {changed}.")
    runfolder.write_json(run.folder / runfolder.MANIFEST, content)
    refused = int((rows["status"] == "refused").sum())
    failed = int(_can_be_retried(rows).sum())
    if refused:
        run.note(f"The editor refused {refused:,} of {many(len(rows), 'picture')}.")
    if failed:
        again = "the same command with --retry-failed asks again"
        run.note(f"The editor failed on {failed:,} of {many(len(rows), 'picture')}: {again}.")
    else:
        shutil.rmtree(journal_of(run.folder), ignore_errors=True)


def failed_photos(run: Run) -> set[str]:
    """Photos with pictures that the editor failed to give, if they are to be asked for again."""
    if not (run.config.score.retry_failed and run.has(EDITING.name)):
        return set()
    rows = run.table(EDITING.name)
    return {*rows.loc[_can_be_retried(rows), "photo"]}


def _can_be_retried(rows: pd.DataFrame) -> pd.Series:
    return rows["reason"] == Reason.EDITOR_FAILED


# -- pictures ---------------------------------------------------------------------------------------------------------


class Came(NamedTuple):
    """What came of one wish: the file, and how it lies on the photo; or why there is none that can be used."""

    status: str
    why: SkipReason
    model: str = ""
    file: bytes = b""
    fitted: Fitted | None = None


@frozen
class Drawing(Synthesis):
    """In place of editing: pictures that an editor of others is asked for.

    Photos without a usable face are never sent. A photo that lacks a picture of a sweep is not edited along it.

    editor: who is asked.  ahead, lacks, rows: of the part in hand: its progress, why photos lack a sweep, and rows of
        the table editing.  tried: whether the first photos came through.
    """

    editor: RemoteEditor
    ahead: _Ahead = field(default_factory=lambda: _Ahead())
    lacks: dict[str, SkipReason] = field(default_factory=dict)
    rows: dict[tuple[str, str, int], Row] = field(default_factory=dict)
    tried: set[Wish] = field(default_factory=set)

    def __call__(self, files: Sequence[PhotoFile], tick: Tick) -> dict[str, list[Row]]:
        """Ask for the pictures of some photos; rows of three tables.

        Raises: StorageError; as ``RemoteEditor.ask``.
        """
        self.ahead.begin(tick)
        self.lacks.clear()
        self.rows.clear()
        with self.editor:
            made = Synthesis.__call__(self, files, self.ahead)
        return {**made, "editing": list(self.rows.values())}

    def _edit(
        self, usable: list[tuple[str, Photo, Face]], size: int, photos: list[Row], edits: list[Row]
    ) -> None:
        """As of ours; a photo that no sweep has is skipped."""
        before = len(photos)
        Synthesis._edit(self, usable, size, photos, edits)
        edited = {row["photo"] for row in edits}
        for row in photos[before:]:
            if row["status"] == "used" and row["photo"] not in edited:
                row |= {"status": "skipped", **self.lacks[row["photo"]].columns}

    def _compose(self, faces: Faces) -> list[Row]:
        """Ask for all pictures of some photos, then compose them photo by photo; rows of edits."""
        wishes = {photo.id: self.plan.wishes(photo.id) for photo in faces.photos}
        sent = {
            photo.id: partial(self._sent, photo, faces.chips[row])
            for row, photo in enumerate(faces.photos)
        }
        wanted: dict[Wish, dict[str, Callable[[], bytes]]] = defaultdict(dict)
        for name, own in wishes.items():
            for wish in own.values():
                wanted[wish][name] = sent[name]
        if not self.tried:
            first, asked = next(iter(wanted.items()))
            self.editor.try_first(first, dict([*asked.items()][:TRIED]))
            self.tried.add(first)
        total = sum(map(len, wanted.values()))
        lacking = self.editor.ask(wanted, self.ahead.share(total, len(wishes)))
        edits = list[Row]()
        for row, photo in enumerate(faces.photos):
            own = wishes[photo.id]
            file = sent[photo.id]()
            came = {
                wish: self._came(wish, photo, faces.faces[row], file, lacking)
                for wish in {*own.values()}
            }
            for sweep in self.plan.sweeps:
                edits += self._along(sweep, faces, row, own, came)
        return edits

    def _sent(self, photo: Photo, chip: Any) -> bytes:
        """The file that is sent: the chip, or the photo's own if everybody opens it and sees it upright."""
        if self.editor.editor.takes == "chip":
            return png(chip)
        data = photo_bytes(photo.path)
        if data.startswith(tuple(ENDINGS)) and is_upright(data):
            return data
        return encode(photo.pixels, photo.gray, photo.icc, "png")

    def _came(
        self,
        wish: Wish,
        photo: Photo,
        face: Face,
        sent: bytes,
        lacking: Mapping[tuple[str, Wish], Answer],
    ) -> Came:
        answer = lacking.get((photo.id, wish)) or self.editor.picture(wish, sent)
        if answer is None:  # another command has emptied the cache meanwhile
            return Came("failed", SkipReason(Reason.EDITOR_FAILED, "its answer is gone"))
        if answer.status != "answered":
            reasons = {"refused": Reason.EDITOR_REFUSED, "failed": Reason.EDITOR_FAILED}
            return Came(
                answer.status, SkipReason(reasons[answer.status], answer.reason), answer.version
            )
        try:
            if self.editor.editor.takes == "chip":
                fit = _chip(answer.picture, self.editor.editor.size)
            else:
                fit = fitted(answer.picture, photo, face)
        except PhotoError as error:
            return Came("failed", cast("SkipReason", error.reason), answer.version)
        return Came("answered", SkipReason(), answer.version, answer.picture, fit)

    # -- one sweep of one photo ----------------------------------------------------------------------------------------

    def _along(
        self, sweep: Sweep, faces: Faces, row: int, wishes: Wishes, came: Mapping[Wish, Came]
    ) -> list[Row]:
        """Write the pictures of a sweep and its placebos, if the photo has them all; rows of edits."""
        photo = faces.photos[row]
        self._note(sweep, photo.id, wishes, came)
        steps = range(len(sweep.wanted))
        neutral = came.get(sweep.no_change(photo.id, self.plan.config.seed))
        needed = [came[wishes[sweep.name, step]] for step in steps]
        if self.plan.blend == "difference" and neutral is not None:
            needed.append(neutral)
        if whys := [one.why for one in needed if one.fitted is None]:
            self.lacks.setdefault(photo.id, whys[0])
            return []
        make = partial(self._composite, faces, row, neutral)
        composite = make(needed[: len(steps)])
        files = self._files(photo)
        rows = self._write(sweep.name, photo.id, composite, self._encoded(needed, composite, files))
        if not self.plan.config.compose.placebo:
            return rows
        same, light, random = placebo.names(sweep.name)
        fake = lightened(composite, sweep.values)
        rows += self._write(light, photo.id, fake, self._encoded([], fake, files))
        again = [came[wishes[same, step]] for step in steps]
        if all(one.fitted is not None for one in again):
            unchanged = make(again)
            packed = qualities(photo.id, len(steps), self.plan.config.seed)
            rows += self._write(
                same, photo.id, unchanged, self._encoded(again, unchanged, files, packed)
            )
        others = {step: came[wishes[random, step]] for step in steps if (random, step) in wishes}
        if all(one.fitted is not None for one in others.values()):
            fake = self._randomised(sweep, photo.id, composite, others, make)
            rows += self._write(random, photo.id, fake, self._encoded([], fake, files))
        return rows

    def _composite(
        self, faces: Faces, row: int, neutral: Came | None, pictures: Sequence[Came]
    ) -> Composite:
        """The photo with each picture in it.  neutral: the picture of no change."""
        photo = faces.photos[row]
        face = faces.faces[row]
        mask = faces.masks[None][row]
        head = faces.heads[None][row] if faces.heads else None
        way: Any = self.plan.blend
        drawn = [one.fitted.pixels for one in pictures if one.fitted is not None]
        base = None
        if neutral is not None and neutral.fitted is not None:
            base = neutral.fitted.pixels
        if self.editor.editor.takes == "chip":
            chip = EditedChip(
                floats(np.stack(drawn)), floats(faces.chips[row] if base is None else base)
            )
            return compose(photo.pixels, photo.gray, chip, mask, face.matrix, way, head)
        return composite_of(photo, face, mask, np.stack(drawn), way, base, head)

    def _randomised(
        self,
        sweep: Sweep,
        photo: str,
        composite: Composite,
        others: Mapping[int, Came],
        make: Callable[[Sequence[Came]], Composite],
    ) -> Composite:
        """The random placebo: pictures of another change, with the centre picture between them; ours without words."""
        if not others:
            return randomised(composite, sweep.values, photo, self.plan.config.seed)
        patches = composite.patches.copy()
        patches[:] = patches[len(patches) // 2]
        patches[[*others]] = make([*others.values()]).patches
        return replace(composite, patches=patches)

    def _encoded(
        self,
        came: Sequence[Came],
        composite: Composite,
        files: Variants,
        packed: Sequence[int] = (),
    ) -> Iterator[bytes]:
        """The files of a sweep; whole pictures that needed no fitting stay as they came, if they are of the format."""
        kept = SUFFIX[self.plan.config.compose.format]
        for step, patch in enumerate(composite.patches):
            one = came[step] if step < len(came) else None
            if one is not None and one.fitted is not None:
                as_it_came = self.plan.blend == "whole" and one.fitted.exact
                if as_it_came and ending("", one.file) == kept:
                    yield one.file
                    continue
            yield files.encode(patch, composite.box, packed[step] if packed else QUALITY)

    def _note(self, sweep: Sweep, photo: str, wishes: Wishes, came: Mapping[Wish, Came]) -> None:
        """Rows of the table editing: each picture of a sweep and its placebos."""
        own = {sweep.name, *placebo.names(sweep.name)}
        wording = sweep.wording(photo, self.plan.config.seed)
        for (name, step), wish in wishes.items():
            if name not in own:
                continue
            one = came[wish]
            key = {"photo": photo, "attribute": name, "step": step, "value": sweep.values[step]}
            nothing = dict.fromkeys(("moved", "background", "clothes"))
            measured = (
                nothing
                if one.fitted is None
                else {name: getattr(one.fitted, name) for name in nothing}
            )
            about = {"wording": wording, "status": one.status, "model": one.model}
            self.rows[photo, name, step] = key | about | one.why.columns | measured


def _chip(data: bytes, size: int) -> Fitted:
    """A chip as an editor gave it.  Raises: PhotoError of another size."""
    photo = photo_of(data, Path("chip"))
    if photo.pixels.shape[:2] != (size, size):
        height, width = photo.pixels.shape[:2]
        raise PhotoError(
            "chip", SkipReason(Reason.WRONG_SIZE, f"{width} x {height}, not {size} x {size}")
        )
    return Fitted(photo.pixels, math.nan, math.nan, math.nan, exact=True)


class _Ahead:
    """A tick of photos that also moves while their pictures come, which may take minutes."""

    def __init__(self) -> None:
        self.begin(lambda count: None)

    def begin(self, tick: Tick) -> None:
        """Of a part."""
        self._tick = tick
        self._early = 0

    def __call__(self, count: int) -> None:
        known = min(count, self._early)
        self._early -= known
        self._tick(count - known)

    def share(self, pictures: int, photos: int) -> Tick:
        """A tick of pictures, so many of which are so many photos."""
        done = 0

        def came(count: int) -> None:
            nonlocal done
            before = done * photos // pictures
            done += count
            now = done * photos // pictures
            self._early += now - before
            self._tick(now - before)

        return came
