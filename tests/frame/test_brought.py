"""Photos in memory, in tables and in several folders become the folder of a run, which resumes from it alone."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

import gslopes
from gslopes.captions.audit import CAPTIONS
from gslopes.contexts.audit import CONTEXTS
from gslopes.core.errors import RunFolderMismatch, StorageError, UsageError
from gslopes.crops.asking import Given
from gslopes.crops.audit import CROPS
from gslopes.frame.brought import planned
from gslopes.photos.folder import open_photo
from gslopes.slopes.audit import SLOPES, Ready

RANDOM = np.random.default_rng(0)
PIXELS = [RANDOM.integers(0, 256, (8, 20, 3), np.uint8) for _ in range(3)]
CHANNELS = [np.moveaxis(pixels, 2, 0) for pixels in PIXELS]
IMAGES = [Image.fromarray(pixels) for pixels in PIXELS]


class Labelled(torch.utils.data.Dataset):
    """A dataset without an end of its own: (tensor, label) at any index."""

    def __len__(self):
        return len(PIXELS)

    def __getitem__(self, index):
        return torch.from_numpy(CHANNELS[index % len(PIXELS)].copy()) / 255, index


IN_MEMORY = {
    "arrays": lambda: PIXELS,
    "a batch": lambda: np.stack(PIXELS),
    "floats": lambda: [pixels / 255 for pixels in PIXELS],
    "64-bit integers": lambda: [pixels.astype(int) for pixels in PIXELS],
    "channels first": lambda: CHANNELS,
    "a batch of tensors": lambda: torch.from_numpy(np.stack(CHANNELS)) / 255,
    "images": lambda: tuple(IMAGES),
    "a generator": lambda: (image for image in IMAGES),
    "a Series": lambda: pd.Series(IMAGES, index=["a", "b", "c"]),
    "a dataset": Labelled,
    "a loader": lambda: torch.utils.data.DataLoader(Labelled(), batch_size=2),
    "mappings": lambda: [{"image": image, "label": 1} for image in IMAGES],
}


def plan_of(photos, out, audit=SLOPES, **options):
    return planned(
        audit, photos, out, options, given=Given((), None) if audit is CROPS else Ready()
    )


def write_photos(folder: Path, *names: str) -> list[Path]:
    paths = [folder / name for name in names]
    for path, image in zip(paths, IMAGES * 2, strict=False):
        path.parent.mkdir(parents=True, exist_ok=True)
        image.save(path)
    return paths


@pytest.mark.parametrize("form", IN_MEMORY)
def test_what_is_in_memory_keeps_every_pixel_and_its_order(tmp_path, form):
    files = plan_of(IN_MEMORY[form](), tmp_path / "run").inputs.content.files
    assert [open_photo(file.path).pixels.tolist() for file in files] == [
        pixels.tolist() for pixels in PIXELS
    ]
    assert {file.path.parent for file in files} == {tmp_path / "run" / "given"}


def test_images_that_differ_in_their_palette_alone_are_others(tmp_path):
    one = IMAGES[0].quantize(8)
    other = one.copy()
    other.putpalette(bytes(range(24)))
    names = [
        plan_of(given, tmp_path / str(place)).inputs.content.files
        for place, given in enumerate((one, other))
    ]
    assert names[0][0].relative != names[1][0].relative


def test_gray_arrays_transparent_and_turned_images_and_cmyk_are_photos(tmp_path):
    turned = IMAGES[0].copy()
    turned.getexif()[0x0112] = 6
    given = [
        PIXELS[0][..., 0],
        PIXELS[0][..., :1],
        IMAGES[0].convert("RGBA"),
        turned,
        IMAGES[0].convert("CMYK"),
    ]
    files = plan_of(given, tmp_path / "run").inputs.content.files
    shapes = [open_photo(file.path).pixels.shape for file in files]
    assert shapes == [(8, 20, 3)] * 3 + [(20, 8, 3), (8, 20, 3)]
    assert (open_photo(files[0].path).pixels == PIXELS[0][..., :1]).all()


def test_paths_keep_their_names_below_the_folder_that_they_share(tmp_path):
    one, two, other = write_photos(tmp_path, "a/.x/1.png", "b/1.png", "c/2.png")
    link = two.with_name("link.png")
    link.symlink_to(one)
    made = plan_of([one, other, other], tmp_path / "run").inputs.content.files
    assert [file.relative for file in made] == ["a/_.x/1.png", "c/2.png"]
    assert made[0].path.samefile(one)
    made = plan_of(pd.Series([str(one), two, link]), tmp_path / "other").inputs.content.files
    assert [file.relative for file in made] == ["a/_.x/1.png", "b/1.png", "b/link.png"]
    assert not made[2].path.is_symlink()
    assert [
        file.relative for file in plan_of(str(one), tmp_path / "single").inputs.content.files
    ] == ["1.png"]


def test_a_run_of_other_photos_is_refused_and_keeps_its_own(tmp_path, home):
    paths = write_photos(tmp_path / "photos", "1.png", "2.png", "3.png")
    for given, others in (
        (IMAGES[:2], IMAGES[1:]),
        (paths[:2], paths[1:]),
        (paths[:2], paths),
        (paths[1:], IMAGES),
    ):
        run = tmp_path / "run"
        made = gslopes.synthesise(given, run, placebo=False, landmarks=None)
        before = sorted(path.name for path in (run / "given").iterdir())
        with pytest.raises(RunFolderMismatch, match="has other photos"):
            gslopes.synthesise(others, run, placebo=False)
        assert sorted(path.name for path in (run / "given").iterdir()) == before
        assert made.photos == 2
        shutil.rmtree(run)


@pytest.mark.parametrize("audit", [CONTEXTS, CROPS], ids=lambda audit: audit.name)
def test_the_other_columns_are_the_people_of_each_audit(tmp_path, audit):
    paths = write_photos(tmp_path, "a.png", "b.png", "c.png", "d.png")
    IMAGES[0].resize((50, 40)).save(paths[3])  # no two people have one picture
    frame = pd.DataFrame({"picture": paths, "gender": list("fmfm"), "image": 0})
    options = (
        {"backgrounds": "rendered"} if audit is CONTEXTS else {"groups": "gender", "min_group": 2}
    )
    made = plan_of(
        frame.assign(picture=frame["picture"].map(str)), tmp_path / "run", audit, **options
    )
    who = made.inputs.content.who if audit is CONTEXTS else made.inputs.content.portraits
    assert len(who) == 4
    table = (tmp_path / "run" / "given.csv").read_text().split()
    assert table == ["image,gender", "a.png,f", "b.png,m", "c.png,f", "d.png,m"]


REFUSED = {
    "nothing": (lambda folder: [], "it is empty.*iterator is empty once"),
    "used up": (lambda folder: iter(()), "it is empty"),
    "missing": (
        lambda folder: [*(f"{name}.jpg" for name in "pqrst"), *write_photos(folder, "a.png")],
        r"5 of 6 photos are no files: p\.jpg, q\.jpg, r\.jpg and 2 more.*Paths start in",
    ),
    "folders": (lambda folder: [folder], "1 of 1 photos are no files"),
    "a text": (lambda folder: str(shutil.copy(__file__, folder / "a.py")), "is given: a.py is a file of another kind"),
    "an address": (lambda folder: "https://a.org/b.jpg", r"no files: https://a\.org/b\.jpg\. Download what"),
    "addresses": (lambda folder: ["http://a.org/b.jpg"], r"no files: http://a\.org/b\.jpg\. Download what"),
    "no column": (
        lambda folder: pd.DataFrame({"x": ["p.jpg"], "age": [3]}),
        "No column holds paths of photos: x, age.*such column; paths start in",
    ),
    "a column of missing files": (lambda folder: pd.DataFrame({"Path": ["p.jpg"], "age": [3]}), "no files: p.jpg"),
    "two columns": (
        lambda folder: pd.DataFrame(dict.fromkeys(("x", "y"), write_photos(folder, "a.png"))),
        "Several columns hold paths of photos: x, y",
    ),
    "normalised": (lambda folder: [(PIXELS[0] / 255 - 0.5) / 0.25], "Photo 1 holds floats from -2 to 2, not from 0"),
    "floats to 255": (lambda folder: [PIXELS[0], PIXELS[0] / 1.0], "Photo 2 holds floats from 0 to 255.*Undo what"),
    "16 bits": (lambda folder: [PIXELS[0] * np.uint16(257)], "integers from 0 to 65535"),
    "not a number": (lambda folder: [PIXELS[0] * np.nan], "floats from nan"),
    "seven channels": (lambda folder: np.zeros((9, 9, 7)), r"array \(9, 9, 7\) of float64, no photo"),
    "a gap": (lambda folder: [*write_photos(folder, "a.png"), None], "Photo 2 is None, no photo.*Give a folder, paths"),
    "a number": (lambda folder: 3, "no photos in an object of the type int"),
}  # fmt: skip


@pytest.mark.parametrize("form", REFUSED)
def test_what_is_no_photo_is_named_and_leaves_no_folder(tmp_path, form):
    make, sentence = REFUSED[form]
    with pytest.raises(UsageError) as refused:
        plan_of(make(tmp_path), tmp_path / "run")
    assert pd.Series([str(refused.value).replace("\n", " ")]).str.contains(sentence).all(), str(
        refused.value
    )
    assert not (tmp_path / "run").exists()


def test_without_out_a_run_is_named_by_day_and_attribute_and_found_again(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    folder = write_photos(tmp_path / "photos", "a.png")[0].parent
    options = {"placebo": False, "attribute": ["gender", "race"], "landmarks": None}
    first = gslopes.synthesise(folder, **options)
    assert first.folder.name.endswith("-gender+race")
    assert f"run        {first.folder} (out= names another)" in capsys.readouterr().err
    assert gslopes.synthesise(str(folder), **options).folder == first.folder
    assert gslopes.synthesise(IMAGES, **options).folder == Path(f"{first.folder}-2")
    assert gslopes.synthesise(iter(IMAGES), **options).folder == Path(f"{first.folder}-2")
    assert plan_of(folder, None).folder.name.endswith("-gender")
    assert gslopes.synthesise(first.folder).folder == first.folder
    with pytest.raises(UsageError, match="stage"):
        plan_of(folder, None, CAPTIONS)


@pytest.mark.slow
def test_a_table_of_faces_is_audited_by_its_groups_and_nothing_is_asked_twice(
    draw, home, tmp_path, capsys
):
    faces = draw(12)
    paths = sorted(path for path in faces.photos.rglob("*.*") if path.is_file())
    frame = pd.DataFrame({"file": paths, "team": ["ab"[place % 2] for place in range(len(paths))]})
    asked = []

    def bright(pictures):
        asked.extend(pictures)
        return [{"bright": float(picture.mean() / 255)} for picture in pictures]

    options = {"classifier": bright, "groups": "team", "steps": 3, "placebo": False, **faces.known}
    audit = gslopes.audit(frame, tmp_path / "run", **options)
    assert len(asked) > 12
    asked.clear()  # what a function holds is part of its version
    assert set(audit.tables["groups"]["column"]) == {"team"}
    again = gslopes.audit(frame, tmp_path / "run", **options)
    assert asked == []
    assert again.summary == audit.summary
    (tmp_path / "run").rename(tmp_path / "moved")
    shutil.rmtree(faces.photos)
    assert gslopes.load(tmp_path / "moved").summary == audit.summary


@pytest.mark.parametrize("target", ["away", "nowhere", "secret.png"])
def test_photos_go_through_no_link_out_of_the_run(tmp_path, target):
    (tmp_path / "away").mkdir()
    (tmp_path / "secret.png").write_bytes(b"kept")
    (tmp_path / "run").mkdir()
    (tmp_path / "run/given").symlink_to(tmp_path / target)
    with pytest.raises(StorageError, match="is a link that leads out"):
        plan_of(PIXELS, tmp_path / "run")
    assert not any((tmp_path / "away").iterdir())
    assert (tmp_path / "secret.png").read_bytes() == b"kept"
    assert not (tmp_path / "nowhere").exists()
