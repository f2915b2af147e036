import random
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

from gslopes.core import tables
from gslopes.core.errors import StorageError
from gslopes.core.reasons import Reason, explained
from gslopes.core.records import ByteArray, Detections, EditedChips, Face, FloatArray, Photo
from gslopes.faces.components import Components, default_components
from gslopes.photos.folder import list_files, same_bytes
from gslopes.slopes import stimuli as synthesis
from gslopes.slopes.config import configure
from gslopes.slopes.plan import look_at
from tests.fuzz import mutated, pictures

SIZE = 32


class Finder:
    """A face in the middle of every photo, half as wide as it is; none in photos with a black corner."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def __call__(self, photos: list[Photo]) -> list[Detections]:
        self.batches.append(len(photos))
        return [self._find(photo.pixels) for photo in photos]

    def _find(self, pixels: ByteArray) -> Detections:
        height, width = pixels.shape[:2]
        points = np.float32([[(0.4, 0.4), (0.6, 0.4), (0.5, 0.5), (0.42, 0.6), (0.58, 0.6)]]) * (
            width,
            height,
        )
        box = np.float32([[0.25, 0.25, 0.75, 0.75]]) * np.float32([width, height, width, height])
        n = 0 if pixels[0, 0].max() < 10 else 1
        return Detections(box[:n], np.float32(points)[:n], np.ones(n, np.float32))


class Masker:
    """The chip but for a border, 8 pixels unless told; nothing where the photo's second pixel is black."""

    def __call__(
        self, photos: list[Photo], faces: list[Face], chips: ByteArray, border: float | None = None
    ) -> FloatArray:
        masks = np.zeros((len(photos), SIZE, SIZE), np.float32)
        inside = slice(8, 24) if border is None else slice(int(border), SIZE - int(border))
        for mask, photo in zip(masks, photos, strict=True):
            mask[inside, inside] = photo.pixels[0, 1].max() > 10
        return masks


class Editor:
    """Adds ten times the value to every pixel."""

    size, sha256 = SIZE, "0" * 64
    blend, border = "difference", None
    region = "face"

    def sweep(self, chips: ByteArray, values: FloatArray) -> EditedChips:
        neutral = chips.astype(np.float32)
        return EditedChips(neutral[:, None] + 10 * values[None, :, None, None, None], neutral)


@pytest.fixture
def components() -> Components:
    return Components(
        Finder(),
        Masker(),
        {"gender": Editor()},
        {"gender": {"sha256": Editor.sha256, "licence": ""}},
    )


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    for i, name in enumerate(("a.png", "b.png", "c.png")):
        Image.fromarray(np.full((80, 80, 3), 100 + i, np.uint8)).save(folder / name)
    return folder


@pytest.fixture
def walk(
    home: Path, components: Components, photos: Path, tmp_path: Path
) -> Callable[..., tuple[pd.DataFrame, pd.DataFrame]]:
    def walked(**options: object) -> tuple[pd.DataFrame, pd.DataFrame]:
        plan = look_at(configure(photos, {"steps": 3, "min_face": 30, "placebo": False, **options}))
        run = tmp_path / "run"
        for sweep in plan.values:
            (run / "edits" / sweep).mkdir(parents=True, exist_ok=True)
        work = synthesis.Synthesis(run, plan, components, plan.same)
        size = plan.config.part
        parts = [
            work(plan.files[start : start + size], lambda count: None)
            for start in range(0, len(plan.files), size)
        ]
        photos_rows, edits = (
            tables.check(
                table, tables.frame_of(table, [row for part in parts for row in part[table.name]])
            ).to_pandas()
            for table in (tables.PHOTOS, tables.EDITS)
        )
        return photos_rows, edits

    return walked


def save(path: Path, pixels: np.ndarray, **options: object) -> None:
    Image.fromarray(pixels.astype(np.uint8)).save(path, **options)


def load(path: Path) -> np.ndarray:
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB")).astype(int)


def test_faces_are_found_on_the_cpu_whatever_the_networks_run_on(photos):
    components = default_components(configure(photos, {"device": "cpu"}), "cpu")
    assert next(components.finder.detector.parameters()).device.type == "cpu"  # type: ignore[attr-defined]


@pytest.mark.row("slopes-1-sweep", "slopes-1-pictures")
def test_every_used_photo_has_k_pictures_in_the_table_and_on_the_disk(walk, tmp_path):
    found, edits = walk()
    assert found["status"].tolist() == ["used"] * 3
    assert edits.groupby("photo")["step"].apply(list).tolist() == [[0, 1, 2]] * 3
    assert edits["value"].tolist() == [-2.0, 0.0, 2.0] * 3
    assert all((tmp_path / "run" / file).is_file() for file in edits["file"])
    assert edits["mask_area"].between(0.01, 0.2).all()


def test_each_editor_gets_masks_with_the_border_that_it_wants(walk, components):
    narrow = Editor()
    narrow.border = 4.0
    components.editors["race"] = narrow
    _, edits = walk(attribute=("gender", "race"), limit=1)
    area = edits.groupby("attribute")["mask_area"].max()
    assert area["race"] / area["gender"] == pytest.approx((24 / 16) ** 2, rel=0.25)


@pytest.mark.row("slopes-3.3-outside")
def test_pictures_differ_inside_the_mask_alone_and_pass_through_the_photo(walk, photos, tmp_path):
    _, edits = walk(format="png", limit=1)
    original, *pictures = (
        load(path) for path in (photos / "a.png", *(tmp_path / "run" / f for f in edits["file"]))
    )
    assert (pictures[1] == original).all()
    assert pictures[0][40, 40].tolist() == [80, 80, 80]
    assert pictures[2][40, 40].tolist() == [120, 120, 120]
    assert (pictures[0][:10] == original[:10]).all()


def test_a_photo_that_cannot_be_used_says_why(walk, photos):
    black = np.full((80, 80, 3), 90)
    black[0, 0] = 0
    save(photos / "no-face.png", black)
    save(photos / "small.png", np.full((50, 50, 3), 90))
    masked = np.full((80, 80, 3), 90)
    masked[0, 1] = 0
    save(photos / "no-mask.png", masked)
    (photos / "broken.jpg").write_bytes(b"\xff\xd8\xff no picture")
    found, edits = walk()
    reasons = dict(
        zip(found["path"], map(explained, found["reason"], found["detail"]), strict=True)
    )
    assert reasons["no-face.png"] == "no face found"
    assert reasons["small.png"].startswith("face too small (25 px")
    assert reasons["no-mask.png"].startswith("face region not found")
    assert reasons["broken.jpg"].startswith(Reason.UNREADABLE)
    assert edits["photo"].nunique() == 3
    kept = found.set_index("path")
    assert kept.loc["no-mask.png", "faces"] == 1
    assert kept.loc["broken.jpg", "width"] == 0
    assert len(kept.loc["no-mask.png", "box"]) == 4


def test_hostile_files_cost_themselves_alone(walk, photos):
    corpus, lot = pictures(), random.Random(20)
    good = {path.name for path in photos.iterdir()}
    for number in range(60):
        data = mutated(lot.choice(corpus), lot.choice(corpus), lot)
        (
            photos / f"{number:03d}{lot.choice(('.jpg', '.png', '.webp', '.tiff', '.bmp'))}"
        ).write_bytes(data)
    found, edits = walk()
    assert set(found.loc[found["status"] == "used", "path"]) == good
    assert len(found) == 63
    assert (found.loc[found["status"] == "skipped", "reason"] != "").all()
    assert len(edits) == 3 * 3


def test_the_second_of_two_equal_files_is_skipped_and_names_the_first(walk, photos):
    (photos / "sub").mkdir()
    shutil.copy(photos / "a.png", photos / "sub" / "copy.png")
    found, edits = walk(limit=10)
    row = found.set_index("path").loc["sub/copy.png"]
    assert (row["status"], row["reason"], row["detail"]) == ("skipped", Reason.DUPLICATE, "a.png")
    assert row["photo"] == found.set_index("path").loc["a.png", "photo"]
    assert len(edits) == 9


def test_files_of_equal_size_and_other_bytes_are_not_the_same(tmp_path):
    for name, content in (
        ("a.jpg", b"12"),
        ("b.jpg", b"21"),
        ("c.jpg", b"12"),
        ("d.jpg", b""),
        ("e.jpg", b""),
    ):
        (tmp_path / name).write_bytes(content)
    (tmp_path / "f.jpg").symlink_to("nowhere")
    (tmp_path / "g.jpg").symlink_to("nowhere")
    assert same_bytes(list_files(tmp_path)) == {"c.jpg": "a.jpg"}


def test_photos_are_held_up_to_a_number_of_pixels_and_one_at_least(
    walk, photos, components, monkeypatch
):
    save(photos / "d.png", np.full((200, 200, 3), 90))
    save(photos / "e.png", np.full((80, 80, 3), 91))
    monkeypatch.setattr(synthesis, "BATCH_PIXELS", 2 * 80 * 80)
    _, edits = walk()
    assert components.finder.batches == [2, 1, 1, 1]
    assert len(edits) == 15


def test_results_do_not_depend_on_how_photos_are_batched(walk, photos, monkeypatch, tmp_path):
    first = walk()
    shutil.rmtree(tmp_path / "run")
    monkeypatch.setattr(synthesis, "BATCH_PIXELS", 1)
    for before, after in zip(first, walk(), strict=True):
        pd.testing.assert_frame_equal(before, after)


class Narrow(Editor):
    """Has memory for so many chips at once."""

    def __init__(self, most: int) -> None:
        self.most = most

    def sweep(self, chips: ByteArray, values: FloatArray) -> EditedChips:
        if len(chips) > self.most:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return super().sweep(chips, values)


@pytest.mark.slow
def test_a_batch_that_does_not_fit_the_memory_is_halved_and_nothing_is_lost_or_doubled(
    walk, components, photos
):
    save(photos / "no-face.png", np.concatenate([np.zeros((1, 80, 3)), np.full((79, 80, 3), 90)]))
    plenty = (
        walk(),
        [path.read_bytes() for path in sorted((photos.parent / "run" / "edits").rglob("*.jpg"))],
    )
    shutil.rmtree(photos.parent / "run")
    components.editors["gender"] = Narrow(1)
    scarce = (
        walk(),
        [path.read_bytes() for path in sorted((photos.parent / "run" / "edits").rglob("*.jpg"))],
    )
    for one, other in zip(plenty[0], scarce[0], strict=True):
        keys = ["photo", "step"] if "step" in one else ["photo"]
        pd.testing.assert_frame_equal(
            one.sort_values(keys, ignore_index=True), other.sort_values(keys, ignore_index=True)
        )
    assert plenty[1] == scarce[1]


def test_one_photo_that_does_not_fit_the_memory_ends_the_part_with_the_error_itself(
    walk, components
):
    components.editors["gender"] = Narrow(0)
    with pytest.raises(torch.OutOfMemoryError):
        walk()


def test_a_gray_photo_gives_gray_pictures_and_a_profile_is_kept(walk, photos, tmp_path):
    for old in photos.iterdir():
        old.unlink()
    save(photos / "gray.jpg", np.full((80, 80), 120))
    _, edits = walk()
    for file in edits["file"]:
        with Image.open(tmp_path / "run" / file) as picture:
            assert picture.mode == "L"


def test_a_full_disk_ends_the_part_before_its_marker(walk, tmp_path, monkeypatch):
    written: list[Path] = []
    real = Path.write_bytes

    def full(self: Path, data: bytes) -> int:
        written.append(self)
        if len(written) > 4:
            raise OSError(28, "No space left on device", str(self))
        return real(self, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(StorageError, match="no space left"):
        walk()
    assert not list((tmp_path / "run").glob("parts/**/*.parquet"))
    assert not list((tmp_path / "run").glob("edits/**/.*"))
