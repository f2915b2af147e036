"""Counterfactuals of drawn people before backgrounds: one mask, one verdict, and what the gate drops is not asked."""

import numpy as np
import pytest
from PIL import Image

from gslopes.contexts.stimuli.composing import Sweeper
from gslopes.core import tables
from gslopes.core.geometry import warp
from gslopes.core.reasons import Reason
from gslopes.core.records import Detections
from gslopes.faces.components import Components
from gslopes.faces.compose.paste import compose
from gslopes.faces.find import choose
from gslopes.photos.folder import open_photo
from tests.contexts.drawn import Finder, Lighter, Measurer, masker


@pytest.mark.slow
def test_within_person_and_background_only_the_face_differs(swept):
    rows = swept.tables["composites"]
    rows = rows[rows["attribute"] == "garage.1~gender"]
    files = rows[rows["photo"] == rows["photo"].iloc[0]].sort_values("step")["file"]
    pictures = [np.asarray(Image.open(swept.folder / file)).astype(int) for file in files]
    assert len(pictures) == 3
    changed = np.abs(pictures[0] - pictures[2]).max(axis=2) > 0
    down, across = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
    assert len(down)
    assert down[-1] - down[0] < 60
    assert across[-1] - across[0] < 60
    assert np.array_equal(pictures[0][~changed], pictures[1][~changed])


@pytest.mark.slow
def test_the_verdict_on_a_person_holds_before_every_background(swept):
    verdicts = tables.read(tables.VERDICTS, swept.folder / "verdicts.parquet")
    assert set(verdicts["attribute"]) == {"canvas~gender", "bridal.1~gender", "garage.1~gender"}
    assert len(verdicts) == 3 * 8
    lost = verdicts[~verdicts["kept"]]
    assert lost["photo"].nunique() == 1
    assert set(lost["reason"]) == {Reason.FACE_LOST.value}
    assert any("The gate kept the sweeps of 7 of 8 people" in note for note in swept.notes)


@pytest.mark.slow
def test_nobody_is_asked_about_a_dropped_sweep_and_the_plain_pictures_stay(swept):
    verdicts = tables.read(tables.VERDICTS, swept.folder / "verdicts.parquet")
    lost = verdicts.loc[~verdicts["kept"], "photo"].iloc[0]
    pictures = tables.read(tables.ASKED, swept.folder / "asked.parquet")
    rows = pictures[pictures["photo"] == lost]
    assert not rows["attribute"].str.contains("~").any()
    assert {"canvas", "bridal.1", "garage.1"} <= set(rows["attribute"])


@pytest.mark.slow
def test_context_and_face_are_on_the_page(swept):
    rows = swept.tables["interaction"]
    row = rows[(rows["label"] == "inferred woman") & (rows["tags"] == "gross")]
    assert set(row["background"]) == {"bridal.1", "garage.1"}
    assert "Context and face" in swept.page.read_text("utf-8")


class Tinted(Lighter):
    """As an editor of skin tone: its edits are factors, and it keeps half of the photo's own colour."""

    blend, border = "ratio", None
    region = "face"


@pytest.mark.parametrize("editor", [Lighter(), Tinted()])
def test_an_edit_goes_into_the_photo_as_the_editor_says(editor, folder):
    photo = open_photo(folder / "people/05.png")
    components = Components(Finder(), masker, {"gender": editor}, {})
    composed = Sweeper(components, "gender", (-2.0, 0.0, 2.0), 20, Measurer())(photo)
    assert composed is not None
    points = Finder()([photo])[0]
    face = choose(points, 160, 180, 20, 128)
    chip = warp(photo.pixels, face.matrix, 128)[None]
    edited = editor.sweep(chip, (-2.0, 0.0, 2.0)).of(0)
    mask = masker([photo], [face], chip)[0]
    want = compose(photo.pixels, photo.gray, edited, mask, face.matrix, editor.blend)
    assert np.array_equal(composed[0].patches, want.patches)
    pasted = compose(photo.pixels, photo.gray, edited, mask, face.matrix, "paste")
    assert not np.array_equal(composed[0].patches, pasted.patches)


def test_a_person_whose_face_cannot_be_edited_stays_in_the_plain_part(folder):
    def faceless(photos):
        return [
            Detections(*(np.zeros((0, *shape), np.float32) for shape in ((4,), (5, 2), ())))
            for _ in photos
        ]

    components = Components(faceless, masker, {"gender": Lighter()}, {})
    sweeper = Sweeper(components, "gender", (-2.0, 0.0, 2.0), 20, Measurer())
    assert sweeper(open_photo(folder / "people/02.png")) is None
