"""An editor learns from what people have: one of UTKFace, CelebA and FairFace, or a folder of photos with a CSV."""

import csv
import json
import shutil

import pytest
from click.testing import CliRunner

from gslopes.core.errors import DataMissing
from training.__main__ import main
from training.recipe import run_recipe
from training.sources import fold, held_out, read_table

HEADS = {
    "fairface": ("file", "age", "gender", "race", "service_test"),
    "table": ("Photo", "sex"),
}


def layout(kind, photos, folder):
    """A folder as ``kind`` publishes it; photos: (what to write a file by, its gender, its number), many."""
    folder.mkdir()
    if kind == "utkface":
        (folder / "UTKFace/UTKFace").mkdir(parents=True)  # as some programs unpack it
        for write, gender, number in photos:
            write(folder / f"UTKFace/UTKFace/30_{int(gender == 'Female')}_0_{number}.jpg.chip.jpg")
        return folder
    if kind == "celeba":
        (folder / "img_align_celeba").mkdir()
        names = [
            "Eyeglasses",
            "Male",
            "No_Beard",
            "Smiling",
            "Young",
            *(f"A{i}" for i in range(35)),
        ]
        lines = [str(len(photos)), " ".join(names)]
        for write, gender, number in photos:
            write(folder / f"img_align_celeba/{number:06}.jpg")
            lines.append(
                f"{number:06}.jpg -1 {1 if gender == 'Male' else -1} " + " ".join(["1"] * 38)
            )
        (folder / "list_attr_celeba.txt").write_text("\n".join(lines) + "\n")
        return folder
    (folder / "train").mkdir()
    rows = []
    for write, gender, number in photos:
        write(folder / f"train/{number}.jpg")
        row = (f"train/{number}.jpg", "30-39", gender, "Latino_Hispanic", "True")
        rows.append(row if kind == "fairface" else (str(number), gender.lower()))
    name = "fairface_label_train.csv" if kind == "fairface" else "who.csv"
    with (folder / name).open("w", newline="") as file:
        csv.writer(file).writerows([HEADS[kind], *rows])
    return folder


def empty(path):
    path.touch()


KINDS = ("utkface", "celeba", "fairface", "table")
TITLES = {
    "utkface": "UTKFace",
    "celeba": "CelebA",
    "fairface": "FairFace",
    "table": "the folder with a CSV",
}


@pytest.mark.row("slopes-4.2-celeba")
@pytest.mark.parametrize("kind", KINDS)
def test_a_dry_run_counts_what_there_is_to_learn_from_and_says_it(kind, tmp_path):
    photos = [(empty, "Male" if number % 3 else "Female", number) for number in range(1200)]
    data = layout(kind, photos, tmp_path / "data")
    out = tmp_path / "out"
    done = CliRunner().invoke(
        main,
        ["gender-fader", "--data", str(data), "--dry-run", "--device", "cpu", "--out", str(out)],
    )
    assert done.exit_code == 0, done.output
    (facts,) = json.loads(done.stdout)["data"]
    names = {"utkface": "30_{}_0_{}.jpg.chip.jpg", "celeba": "{1:06}.jpg"}
    files = [
        (names.get(kind, "{1}.jpg").format(int(gender == "Female"), number), gender)
        for _, gender, number in photos
    ]
    learnt = [
        gender
        for name, gender in files
        if (fold(name) == "editors" if kind == "utkface" else not held_out(name))
    ]
    assert facts["photos"] == 1200
    assert facts["held_out"] == sum(held_out(name) for name, _ in files)
    assert (facts["feminine"], facts["masculine"]) == (learnt.count("Female"), learnt.count("Male"))
    title = TITLES.get(kind, "the folder with a CSV")
    ends = f"({learnt.count('Female')} feminine and {learnt.count('Male')} masculine)"
    sentence = f"Found 1,200 photos in {title}: {len(learnt):,} to learn from {ends}, {facts['held_out']} held out."
    assert sentence in done.stderr
    assert not out.exists()


def nothing(data):
    data.mkdir()


def one_end(data):
    layout("table", [(empty, "Female", number) for number in range(60)], data)


def other_photos(data):
    layout("table", [(empty, "Female", number) for number in range(60)], data)
    shutil.rmtree(data / "train")
    (data / "a.jpg").touch()


def no_column_of_photos(data):
    data.mkdir()
    (data / "who.csv").write_text("gender\nmale\n")


def two_words(data):
    layout("table", [(empty, "Female", number) for number in range(3)], data)
    with (data / "who.csv").open("a") as file:
        file.write("1,male\n")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda data: None, "The folder of photos is not at"),
        (nothing, "holds no photos that an editor can learn from"),
        (
            one_end,
            r"Among the 60 photos of .*, 5\d feminine and 0 masculine are left to learn from",
        ),
        (other_photos, "has 1 photo, and who.csv names none"),
        (no_column_of_photos, "no column that says which photo"),
        (two_words, "with different gender: 'female' and 'male'"),
    ],
)
@pytest.mark.parametrize("dry_run", [True, False])
def test_a_refusal_says_what_was_found_and_leaves_nothing_behind(
    make, message, dry_run, tmp_path, monkeypatch
):
    monkeypatch.setenv("GSLOPES_CACHE", str(tmp_path / "cache"))
    make(tmp_path / "data")
    with pytest.raises(DataMissing, match=message):
        run_recipe(
            "gender-fader",
            data=tmp_path / "data",
            dry_run=dry_run,
            steps=1,
            out=tmp_path / "deep" / "out",
        )
    assert {path.name for path in tmp_path.iterdir()} <= {"data"}


def test_a_table_is_read_by_the_words_that_people_use(tmp_path):
    for name in ("a", "b", "c", "d"):
        (tmp_path / f"{name}.jpg").touch()
    rows = (
        "file,gender,race,age",
        "a.jpg,Woman, black ,20-29",
        "b.jpg,male,East Asian,more than 70",
        "c.jpg,,White,30-39",
    )
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n")
    table = read_table(tmp_path)
    assert [path.name for path in table.paths] == ["a.jpg", "b.jpg", "c.jpg"]
    columns = {
        name: [None if value != value else value for value in table.column(name).tolist()]
        for name in table.names
    }
    assert columns == {
        "masculine": [0, 1, None],
        "white": [0, 0, 1],
        "black": [1, 0, 0],
        "young": [1, 0, None],
    }


SMALL = """
name = "my-fader"
summary = "Edits the perceived gender of photos."
network = "fader"
size = 128
labels = ["gender", "young", "smiling", "race", "eyeglasses", "beard"]
ends = ["feminine", "masculine"]
licence = "research only"
data = ["mine"]
paper = "Lample et al. 2017, arXiv 1706.00409"
recipe = "my-fader"
config = { widths = [8, 8, 8, 8], latent = 8 }
"""
RECIPE = """
model = "my-fader"
set = "fader-even"
[train.optimisation]
steps = 2
batch = 8
ema = 0.0
"""


@pytest.mark.row("slopes-4.2-celeba")
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_an_editor_learns_from_one_set_alone(kind, unpacked, shared_data, tmp_path, monkeypatch):
    """Real photos, real readers of what the set leaves open, and few steps of a small network."""
    monkeypatch.setenv("GSLOPES_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GSLOPES_HOME", str(tmp_path / "home"))
    for folder, text in (("models/my-fader/spec.toml", SMALL), ("training/my-fader.toml", RECIPE)):
        (tmp_path / "home" / folder).parent.mkdir(parents=True)
        (tmp_path / "home" / folder).write_text(text)
    data = tmp_path / "data"
    if kind == "celeba":
        (data / "img_align_celeba").mkdir(parents=True)
        for path in sorted(unpacked("img_align_celeba").rglob("*.jpg"))[:80]:
            shutil.copy(path, data / "img_align_celeba")
        shutil.copy(shared_data / "list_attr_celeba.txt", data)
    else:
        sources = [
            (path, gender)
            for code, gender in (("0", "Male"), ("1", "Female"))
            for path in sorted(unpacked("UTKFace").rglob(f"2?_{code}_[0-4]_*.jpg"))[:40]
        ]
        writes = [
            (lambda file, path=path: shutil.copy(path, file), gender) for path, gender in sources
        ]
        layout(kind, [(*write, number) for number, write in enumerate(writes)], data)
    if kind == "table":
        (data / "train" / "notes.jpg").write_bytes(b"no picture")
        with (data / "who.csv").open("a") as file:
            file.write("notes,male\n")
    weights = run_recipe("my-fader", data=data, device="cpu")
    numbers = json.loads((weights / "metrics.json").read_text("utf-8"))
    assert numbers["trained_on"] > 20
    assert numbers["held_out"] > 0
    assert (weights / "model.safetensors").is_file()
