"""Editors that others made, through a whole audit: what is asked, what becomes of it, and what is refused."""

import json
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes.ask.editors.python import as_editor
from gslopes.core import placebo
from gslopes.core.errors import ClassifierError, ConfigError, RunFolderMismatch
from gslopes.core.tables import EDITING, EDITS, PHOTOS
from gslopes.faces.gate import sweep_measurer
from gslopes.frame.plan import plan
from gslopes.photos.decode import in_srgb
from gslopes.slopes.audit import SLOPES, audit, synthesise
from tests.fixtures import Faces
from tests.profiles import rgb_profile

P3 = rgb_profile("display-p3")

VALUES = 3


def bright(picture: Any) -> dict[str, float]:
    return {"bright": float(np.mean(picture) / 255)}


class Editor:
    """Makes photos lighter, and counts what it is asked for; ``odd`` gives what is done in place of that."""

    def __init__(self, odd: Callable[[int, Any], Any] = lambda call, value: None) -> None:
        self.calls: list[Any] = []
        self.odd = odd

    def __call__(self, image: Any, value: float | None) -> Any:
        self.calls.append(value)
        odd = self.odd(len(self.calls), value)
        if isinstance(odd, Exception):
            raise odd
        if odd is not None:
            return odd(image)
        return np.clip(np.asarray(image, np.float32) + 12 * (value or 0), 0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def faces(draw: Callable[..., Faces]) -> Faces:
    return draw(4)


@pytest.fixture
def run(tmp_path: Path, faces: Faces, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.setenv("GSLOPES_CACHE", str(tmp_path / "cache"))

    def walk(editor: Any, name: str = "run", **options: Any) -> Any:
        given = {**faces.known, "gate": False, "steps": VALUES, "placebo": True, **options}
        if callable(editor):
            editor = as_editor(editor, name="mine", version="1", batch=1)
        return synthesise(faces.photos, tmp_path / name, editor=editor, **given)

    return walk


def table(walked: Any, schema: Any) -> pd.DataFrame:
    return pd.read_parquet(walked.folder / f"{schema.name}.parquet")


def picture(walked: Any, row: Any) -> np.ndarray:
    return np.asarray(Image.open(walked.folder / row["file"]).convert("RGB"), np.int16)


def test_each_wish_is_asked_once_and_only_the_face_changes(run: Any, faces: Faces) -> None:
    editor = Editor()
    walked = run(editor, format="png")
    assert Counter(editor.calls) == dict.fromkeys((-2.0, 0.0, 2.0, None), 4)
    edits = table(walked, EDITS)
    assert Counter(edits["attribute"]) == dict.fromkeys(("gender", *placebo.names("gender")), 12)
    editing = table(walked, EDITING)
    assert Counter(editing["attribute"]) == {"gender": 12, "gender-same": 12}
    assert {*editing["status"]} == {"answered"}
    assert {*editing["wording"]} == {-1}
    assert editing["moved"].max() == 0
    beyond = editing.query("attribute == 'gender' and value == 2")["background"].dropna()
    assert len(beyond)
    assert (beyond > 20).all()
    for _, rows in edits.query("attribute == 'gender'").groupby("photo"):
        low, centre, high = (picture(walked, row) for _, row in rows.sort_values("step").iterrows())
        changed = (high != low).any(axis=-1)
        assert 0.02 < changed.mean() < 0.6
        assert (high - centre)[changed].max() == 24
        path = table(walked, PHOTOS).set_index("photo")["path"][rows["photo"].iloc[0]]
        original = np.asarray(Image.open(faces.photos / path).convert("RGB"))
        assert np.array_equal(high[~changed], original[~changed])


def test_the_same_command_again_asks_nothing_and_another_editor_is_refused(run: Any) -> None:
    editor = Editor()
    run(editor)
    again = run(editor)
    assert len(editor.calls) == 16
    content = json.loads((again.folder / "run.json").read_text())
    assert content["models"]["mine"] == {"version": "1"}
    assert content["editor"]["gender"]["name"] == "mine"
    with pytest.raises(RunFolderMismatch, match=r"edit\.model"):
        run(as_editor(editor, name="another", version="1"))
    with pytest.raises(RunFolderMismatch, match=r"models\.mine\.version"):
        run(as_editor(editor, name="mine", version="2"))
    with pytest.raises(RunFolderMismatch, match="blend"):
        run(editor, blend="whole")
    assert len(editor.calls) == 16


@pytest.mark.slow
def test_another_run_takes_what_the_cache_has(run: Any) -> None:
    editor = Editor()
    run(editor)
    run(editor, "another", blend="whole")
    assert len(editor.calls) == 16


@pytest.mark.slow
def test_what_it_was_told_is_in_the_run(run: Any) -> None:
    def words(image: Any, prompt: str) -> Any:
        return np.asarray(image) // 2 + len(prompt) % 100

    walked = run(as_editor(words, name="m", version="1"), attribute=["gender", "race"], steps=None)
    told = json.loads((walked.folder / "run.json").read_text())
    assert {*told["editor"]} == {"gender", "race"}
    randoms = {f"random {pair}{side}" for pair in (1, 2, 3) for side in "ab"}
    gender = {"-2", "0", "2", "same", "random 4a", "random 4b"} | randoms
    assert {*told["editor"]["gender"]["sentences"]} == gender
    race = {"White", "Black", "East Asian", "South Asian", "same"} | randoms
    assert {*told["editor"]["race"]["sentences"]} == race
    assert told["editor"]["race"]["digest"] == told["inputs"]["prompts"]["race"]
    editing = table(walked, EDITING)
    assert {*editing["wording"]} <= {0, 1}
    race = {name for name in editing["attribute"] if name.startswith("race: Black − White")}
    assert race == {f"race: Black − White{kind}" for kind in ("", "-same", "-random")}
    edits = table(walked, EDITS)
    assert Counter(edits["attribute"])["race: Black − White-light"] == 2 * 4


def tinted(image: Any, value: float | None) -> Any:
    """Drawing by itself makes everything redder."""
    shifted = np.asarray(image, np.float32) + np.float32([40, 0, 0])
    return np.clip(shifted + 5 * (value or 0), 0, 255).astype(np.uint8)


@pytest.mark.parametrize(("blend", "redder"), [("paste", 30), ("difference", 0), ("whole", 30)])
def test_blends(run: Any, faces: Faces, blend: str, redder: float) -> None:
    walked = run(tinted, blend=blend, format="png")
    names = table(walked, PHOTOS).set_index("photo")["path"]
    for _, row in table(walked, EDITS).query("attribute == 'gender' and value == 0").iterrows():
        photo = np.asarray(Image.open(faces.photos / names[row["photo"]]).convert("RGB"))
        moved = (picture(walked, row) - photo).astype(float)
        assert moved.max() == pytest.approx(40 if redder else 0)
        assert (row["mask_area"] == 1) == (blend == "whole")
        assert (moved[..., 0] > 0).mean() == pytest.approx(
            row["mask_area"] if redder else 0, abs=0.2
        )


@pytest.mark.slow
def test_whole_pictures_that_fit_stay_as_they_came(run: Any) -> None:
    files = {}

    def edit(image: Any, value: float | None) -> Any:
        data = cv2.imencode(".png", tinted(image, value)[..., ::-1])[1].tobytes()
        files[data] = value or 0.0
        return data

    walked = run(edit, blend="whole", format="png")
    for _, row in table(walked, EDITS).query("attribute == 'gender'").iterrows():
        assert files[(walked.folder / row["file"]).read_bytes()] == row["value"]


def test_an_editor_of_chips_gets_the_aligned_face(run: Any) -> None:
    shapes = Counter()

    def edit(image: Any, value: float | None) -> Any:
        shapes[np.asarray(image).shape] += 1
        return np.clip(np.asarray(image, np.float32) + 9 * (value or 0), 0, 255).astype(np.uint8)

    walked = run(as_editor(edit, name="chip", version="1", takes="chip", size=96, batch=1))
    assert shapes == {(96, 96, 3): 16}
    assert len(table(walked, EDITS)) == 48


# -- what does not come ------------------------------------------------------------------------------------------------


def test_a_refused_picture_costs_its_sweep_and_no_other(run: Any) -> None:
    editor = Editor(lambda call, value: None)

    def edit(image: Any, value: float | None, attribute: str) -> Any:
        given = editor(image, value)
        return None if (attribute, value) == ("race", 2.0) and len(editor.calls) % 2 else given

    walked = run(edit, attribute=["gender", "race"])
    editing = table(walked, EDITING)
    lost = editing[editing["status"] != "answered"]
    assert {*zip(lost["attribute"], lost["step"], lost["status"], strict=True)} == {
        ("race", 2, "refused")
    }
    assert {*lost["reason"]} == {"the editor refused"}
    assert 0 < len(lost) < 4
    edits = table(walked, EDITS)
    assert Counter(edits["attribute"])["gender"] == 12
    assert Counter(edits["attribute"])["race"] == 3 * (4 - len(lost))
    assert Counter(edits["attribute"])["race-light"] == 3 * (4 - len(lost))
    assert {*table(walked, PHOTOS)["status"]} == {"used"}


def test_a_photo_without_any_sweep_is_skipped_with_the_reason(run: Any) -> None:
    def edit(image: Any, value: float | None) -> Any:
        picture = np.asarray(image)
        if value == 2.0 and len(seen) < 2 and (seen.append(0) or True):
            return picture[:, ::-1] if len(seen) == 1 else picture[: len(picture) // 2]
        return picture

    seen: list[int] = []
    walked = run(edit)
    photos = table(walked, PHOTOS)
    skipped = photos[photos["status"] == "skipped"]
    assert Counter(skipped["reason"]) == {
        "the editor mirrored it": 1,
        "the editor gave another size": 1,
    }
    assert len(table(walked, EDITS).query("attribute == 'gender'")) == 6
    assert {*table(walked, EDITS)["photo"]} == {*photos.loc[photos["status"] == "used", "photo"]}


def test_a_placebo_that_fails_costs_only_itself(run: Any) -> None:
    editor = Editor(lambda call, value: (lambda image: None) if value is None else None)
    walked = run(editor)
    counts = Counter(table(walked, EDITS)["attribute"])
    assert counts == {"gender": 12, "gender-light": 12, "gender-random": 12}
    assert Counter(table(walked, EDITING)["status"]) == {"answered": 12, "refused": 12}


def test_a_broken_editor_costs_two_pictures(run: Any) -> None:
    calls: list[Any] = []

    def edit(image: Any, value: float | None) -> Any:
        calls.append(value)
        return "no file of mine"

    with pytest.raises(ClassifierError, match="editor mine failed on the first 2 pictures"):
        run(edit)
    assert len(calls) == 2


def test_what_failed_is_asked_again_and_nothing_else(run: Any) -> None:
    bad = True

    def odd(call: int, value: Any) -> Any:
        return (lambda image: "nothing") if bad and value == 2.0 and call % 3 == 0 else None

    editor = Editor(odd)
    walked = run(editor)
    lost = table(walked, EDITING).query("status == 'failed'")
    assert 0 < len(lost) < 4
    assert {*lost["reason"]} == {"the editor failed"}
    asked = len(editor.calls)
    assert run(editor).used == 4 - len(lost)
    assert len(editor.calls) == asked  # without --retry-failed
    bad = False
    assert run(editor, retry_failed=True).used == 4
    assert len(editor.calls) == asked + len(lost)
    assert "failed" not in {*table(walked, EDITING)["status"]}


def test_an_editor_without_a_digest_is_asked_once_too(run: Any) -> None:
    calls: list[Any] = []
    walked = run(as_editor(_undigested(calls), name="mine"))
    assert len(calls) == 16
    assert not list(walked.folder.rglob("journal"))
    run(as_editor(_undigested(calls), name="mine"))
    assert len(calls) == 16


def _undigested(calls: list[Any]) -> Any:
    generator = (one for one in [calls])  # no digest of this

    def edit(image: Any, value: float | None) -> Any:
        assert generator is not None
        calls.append(value)
        return np.asarray(image)

    return edit


# -- what does not go together, and the price --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "other"),
    [
        ({"cross": True, "attribute": ["gender", "race"]}, "--cross"),
        ({"as_published": True, "placebo": False}, "--as-published"),
        ({"blend": "ratio"}, "compose.blend=ratio"),
        ({"calibrated": False}, "edit.calibrated"),
        ({"engine": "ray"}, "--engine ray"),
    ],
)
def test_what_does_not_go_with_it_is_one_sentence(run: Any, options: Any, other: str) -> None:
    given = {"steps": None} if "cross" in options or "as_published" in options else {}
    with pytest.raises(ConfigError, match=f"does not go with .*{other}"):
        run(Editor(), **options, **given)


@pytest.mark.slow
def test_the_drawing_effect_is_that_of_no_change(
    tmp_path: Path, faces: Faces, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GSLOPES_CACHE", str(tmp_path / "cache"))
    given = {**faces.known, "gate": False, "steps": VALUES, "placebo": True, "fit.min_varying": 2}
    walked = audit(
        faces.photos, tmp_path / "run", editor=tinted, classifier=bright, blend="whole", **given
    )
    drawing = walked.tables["drawing"].iloc[0]
    before = walked.tables["scores"]
    same = before[before["attribute"] == "gender-same"].groupby("photo")["score"].mean()
    photos = pd.read_parquet(walked.folder / "unedited" / "scores.parquet").set_index("photo")

    def odds(score: Any) -> Any:
        return np.log(score / (1 - score))

    expected = (
        odds(before[before["attribute"] == "gender-same"].set_index("photo")["score"])
        .groupby(level=0)
        .mean()
        - odds(photos["score"])
    ).mean()
    assert same.mean() > photos["score"].mean()
    assert drawing["drawing"] == pytest.approx(expected, rel=1e-3)
    assert drawing["n"] == 4


# -- trust, colours, time and money ------------------------------------------------------------------------------------


@pytest.mark.parametrize("trust", [False, True])
def test_trust_reaches_the_editor(
    faces: Faces, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trust: bool
) -> None:
    settings: list[Any] = []

    def load(name: str, setting: Any) -> Any:
        settings.append(setting)
        return as_editor(Editor(), name="mine", version="1")

    monkeypatch.setattr("gslopes.slopes.plan.load_editor", load)
    given = {**faces.known, "editor": "python:mine.py:edit", "device": "cpu"}
    planned = plan(SLOPES, faces.photos, tmp_path / "run", given, trust=trust)
    assert planned.inputs.content.editor.name == "mine"
    assert [setting.trust for setting in settings] == [trust]


@pytest.fixture
def in_p3(faces: Faces, tmp_path: Path) -> Path:
    """The same photos as a phone writes them, of colours that sRGB has, too."""
    folder = tmp_path / "p3"
    folder.mkdir()
    for path in faces.photos.iterdir():
        muted = np.asarray(Image.open(path).convert("RGB"), np.float32) * 0.5 + 64
        Image.fromarray(muted.astype(np.uint8)).save(folder / path.name, icc_profile=P3)
    return folder


@pytest.mark.parametrize("takes", ["photo", "chip"])
def test_a_photo_of_a_phone_is_edited_in_srgb_and_comes_back_as_it_was(
    faces: Faces, in_p3: Path, tmp_path: Path, takes: str
) -> None:
    seen: list[Any] = []

    def edit(image: np.ndarray, value: float | None) -> np.ndarray:
        seen.append(image)
        return image

    editor = as_editor(edit, name="mine", version="1", takes=takes)
    given = {**faces.known, "gate": False, "steps": 3, "blend": "whole", "format": "png"}
    walked = synthesise(in_p3, tmp_path / "run", editor=editor, cache=tmp_path / "cache", **given)
    names = table(walked, PHOTOS).set_index("photo")["path"]
    edits = table(walked, EDITS)
    assert len(edits) == 12
    for _, row in edits.iterrows():
        with Image.open(in_p3 / names[row["photo"]]) as photo:
            own = np.asarray(photo.convert("RGB"), np.int16)
        with Image.open(walked.folder / row["file"]) as made:
            assert made.info["icc_profile"] == P3
        off = np.abs(picture(walked, row) - own)
        # a chip is resampled twice
        assert off.max() <= 2 if takes == "photo" else off.mean() < 1
    photos = [np.asarray(Image.open(path).convert("RGB")) for path in in_p3.iterdir()]
    sent = seen if takes == "photo" else []
    assert all(any(np.array_equal(one, in_srgb(photo, P3)) for photo in photos) for one in sent)
    assert not any(np.array_equal(one, photo) for photo in photos for one in sent)


def test_a_line_tells_how_long_all_pictures_take(
    run: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = count(0, 300)  # seconds, which the first two pictures take
    monkeypatch.setattr(
        "gslopes.ask.editors.remote.time", SimpleNamespace(monotonic=lambda: next(clock))
    )
    run(Editor(), progress=True)
    told = "editor     about 40 minutes for 16 pictures, one at a time, as the first 2 took\n"
    assert told in capsys.readouterr().err
    run(Editor(), "again", progress=True)
    assert " minutes for " not in capsys.readouterr().err  # all were given before


def test_a_dry_run_tells_price_and_minutes(gslopes: Callable[..., Any], faces: Faces) -> None:
    editor = "http:http://127.0.0.1:9/edit,rate=0.2,price=40"
    done = gslopes("audit", faces.photos, "--editor", editor, "--steps", 3, "--dry-run", "--json")
    assert done.code == 0, done.err
    price, *_ = json.loads(done.out)["prices"]
    # three values and no change, of four photos
    told = "16 pictures, 16 calls, 0.64 USD, 1.3 minutes at the quota"
    assert price["stage"] == "editor"
    assert price["text"] == f"http:http://127.0.0.1:9/edit: at most {told}"


@pytest.mark.slow
@pytest.mark.parametrize("installed", [True, False])
def test_that_identity_was_not_judged_is_told(
    faces: Faces, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    if installed and not sweep_measurer.recognises():
        pytest.skip("the extra identity is not installed: pip install 'gslopes[identity]'")
    monkeypatch.setattr(sweep_measurer, "recognises", lambda: installed)
    options = {**faces.known, "gate": True, "steps": VALUES, "editor": Editor()}
    walked = audit(faces.photos, tmp_path / "run", classifier=bright, **options)
    page = (walked.folder / "report" / "index.html").read_text()
    for text in (" ".join(walked.notes), page):
        assert ("same person was not judged" in text) is not installed
