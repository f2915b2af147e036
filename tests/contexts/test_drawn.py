"""From end to end on drawn faces before drawn rooms: a function as tagger, a sweep by the editor of drawn faces."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import gslopes
from gslopes.contexts.config import ContextOptions

FACES = 60
BRIGHT = {"nursery", "wedding-shop"}  # rooms whose sides are brighter than 190 levels


def room_and_face(pictures):
    """Says man where the jaw is darker than the cheek beside it; in a bright room it wants a darker jaw for that."""
    answers = []
    for picture in pictures:
        height, width = picture.shape[:2]
        side = slice(round(0.389 * width), round(0.444 * width))
        cheek, jaw = (
            picture[round(top * height / 192) :][: round(10 * height / 192), side].mean() for top in (120, 132)
        )
        bright = np.concatenate([picture[:, : width // 6], picture[:, -width // 6 :]], axis=1).mean() > 190
        word = "man" if np.log(cheek / jaw) > (0.13 if bright else 0.09) else "woman"
        answers.append({word: 0.9, "crib": 0.5} if bright else {word: 0.9})
    return answers


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    work = tmp_path_factory.mktemp("drawn")
    drawn = gslopes.drawn_faces(work / "drawn", faces=FACES)
    known = pd.read_csv(work / "drawn/attributes.csv")
    people = pd.DataFrame({"id": known["path"], "gender": np.where(known["gender"] < 0, "woman", "man")})
    people.to_csv(work / "people.csv", index=False)

    return gslopes.audit_contexts(
        drawn["photos"], work / "run", people=work / "people.csv", backgrounds="rendered", classifier=room_and_face,
        sweep="gender", steps=3, canvas=(288, 192), person_share=0.5, keep_flagged=True,
        kinds=("canvas", "context"), analysis=ContextOptions(bootstrap=500, permutations=499),
        **{name: drawn[name] for name in ("landmarks", "masks", "editor", "gate")},
    )  # fmt: skip


@pytest.mark.slow
def test_what_the_rooms_change_is_what_can_be_counted(found):
    rows = found.tables["described"].query("tags == 'gross'")
    rows = rows[~rows["attribute"].str.contains("~")]
    said = rows.assign(woman=rows["inferred"] == "woman").pivot(index="photo", columns="attribute", values="woman")
    said = said.dropna().astype(float)
    table = found.tables["inferred"].query("tags == 'gross' and gender == 'all'")
    table = table[table["inferred"] == "woman"].set_index("context")
    for context in sorted({key.partition(".")[0] for key in said.columns} - {"canvas"}):
        keys = [key for key in said.columns if key.startswith(f"{context}.")]
        counted = float((said[keys].mean(axis=1) - said["canvas"]).mean())
        assert table.loc[context, "change"] == pytest.approx(counted)
        ends = table.loc[context, ["change_low", "change_high"]].astype(float)
        assert ends.isna().all() or ends.iloc[0] <= counted <= ends.iloc[1]
        assert (counted > 0) == (context in BRIGHT), context
    named = found.tables["recognised"].query("tags == 'gross' and given == 'all'")
    assert named.set_index("context")["share"].dropna()["nursery"] == 1


@pytest.mark.slow
def test_the_face_and_the_room_both_move_the_answer(found):
    rows = found.tables["interaction"].query("tags == 'gross' and label == 'inferred woman'")
    rows = rows.set_index("background")
    # The more masculine the face is drawn, the fewer are called women; by as much for everybody, so no interval.
    assert (rows["face"] < 0).all()
    assert rows["face"].nunique() == 1
    assert rows["face_high"].isna().all()
    bright = rows.index.str.partition(".").get_level_values(0).isin(BRIGHT)
    assert (rows.loc[bright, "effect"] > 0).all()
    assert (rows.loc[~bright, "effect"].abs() < 1e-9).all()
