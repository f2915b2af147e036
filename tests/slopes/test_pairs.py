"""Counterfactuals that others made: what is read, what is refused, and the walk that follows."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import gslopes
from gslopes.core import placebo, tables
from gslopes.core.errors import ConfigError, UnknownName, UsageError
from gslopes.slopes.compare import compare_runs
from gslopes.slopes.pairs import read_pairs
from tests.again import redo
from tests.slopes.test_stages import Counting

HEAD = ("picture", "unit", "attribute", "value")
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a CSV with a picture for every row that is named in it."""

    def written(
        rows: Sequence[Sequence[object]], head: Sequence[str] = HEAD, size: int = 24
    ) -> Path:
        lot = np.random.default_rng(0)
        for name in {str(row[0]) for row in rows}:
            if name.endswith(".png"):
                pixels = lot.integers(0, 255, (size, size, 3), np.uint8)
                Image.fromarray(pixels).save(tmp_path / name)
        with (tmp_path / "set.csv").open("w", newline="") as file:
            csv.writer(file).writerows([head, *rows])
        return tmp_path / "set.csv"

    return written


def units(
    values: Sequence[object], count: int = 3, attribute: str = "race"
) -> list[tuple[str, str, str, str]]:
    return [(f"{u}-{v}.png", f"u{u}", attribute, str(v)) for u in range(count) for v in values]


# --- what is read ---


def test_names_become_contrasts_against_the_commonest_or_the_one_that_is_named(
    write: Write,
) -> None:
    path = write(
        [
            *units(["White", "Black"]),
            ("x.png", "u0", "race", "Asian"),
            ("y.png", "u9", "race", "Asian"),
        ]
    )
    pairs = read_pairs(path, placebos=False)
    assert pairs.values == {"race: Asian − Black": [0, 1], "race: White − Black": [0, 1]}
    assert pairs.edits.groupby("unit")["attribute"].nunique().to_dict() == {
        "u0": 2,
        "u1": 1,
        "u2": 1,
    }
    assert pairs.units["lacks"].tolist() == ["", *["1 of 2 values of race: Asian − Black"] * 3]
    assert list(read_pairs(path, "White", placebos=False).values) == [
        "race: Asian − White",
        "race: Black − White",
    ]
    with pytest.raises(UnknownName, match="baseline"):
        read_pairs(path, "Whit")


def test_numbers_become_one_sweep_and_units_that_lack_values_are_left_out(write: Write) -> None:
    path = write([*units([2, 0, 1.0], attribute="age"), ("a.png", "u9", "age", "2")])
    pairs = read_pairs(path, limit=3)
    assert pairs.values["age"] == [0.0, 1.0, 2.0]
    assert [picture.path.name for picture in pairs.edits.loc["u0", "picture"]] == [
        "0-0.png",
        "0-1.0.png",
        "0-2.png",
    ]
    assert pairs.units.loc["u0", "picture"].path.name == "0-0.png"
    assert pairs.facts["photos"] == 3
    assert read_pairs(path).units.loc["u9", "lacks"] == "1 of 3 values of age"


def test_values_written_with_four_digits_are_those_that_an_editor_has(write: Write) -> None:
    values = [-2, -1.3333, -0.6667, 0, 0.6667, 1.3333, 2]
    found = read_pairs(write(units(values, attribute="gender"))).values["gender"]
    assert found == [float(str(value)) for value in np.linspace(-2, 2, 7, dtype=np.float32)]
    assert read_pairs(write(units([0, 1, 5], attribute="dose"))).values["dose"] == [0, 1, 5]


def test_a_name_of_a_value_is_never_that_of_a_placebo_nor_of_another_folder(write: Write) -> None:
    rows = [
        (f"{u}-{k}.png", f"u{u}", "race", v)
        for u in range(2)
        for k, v in enumerate(["medium-light", "a/b: c"])
    ]
    (name,) = read_pairs(write(rows), placebos=False).values
    assert not placebo.is_placebo(name)
    assert "/" not in name
    assert len(placebo.ends_of(name) or ()) == 3


BAD = {
    "no column attribute, but picture, unit, value": (
        [("a.png", "u", "1")],
        ("picture", "unit", "value"),
    ),
    "lacks picture, unit or attribute": ([("a.png", "", "age", "1")], HEAD),
    "two pictures of age '1.0'; the other is in": (
        [("a.png", "u", "age", "1"), ("b.png", "u", "age", "1.0")],
        HEAD,
    ),
    "are numbers (1.0) and names ('high')": (
        [("a.png", "u", "age", "1"), ("b.png", "u", "age", "high")],
        HEAD,
    ),
    "every unit has one value of race": (
        [("a.png", "u", "race", "x"), ("b.png", "v", "race", "y")],
        HEAD,
    ),
    "every unit has one value of light": (
        [("a.png", "u", "light", "x"), ("b.png", "v", "light", "x")],
        HEAD,
    ),
    "no unit has all 3 values of age; the fullest has 2": (
        [*units([1, 2], 1, "age"), ("b.png", "u1", "age", "2"), ("c.png", "u1", "age", "3")],
        HEAD,
    ),
    "1 of 4 pictures of": ([*units([1, 2], 2, "age")[:3], ("gone", "u1", "age", "2")], HEAD),
    "no row with a value": ([("a.png", "u", "age", "")], HEAD),
    "placebo is 'sun'": ([("a.png", "u", "age", "1", "sun")], (*HEAD, "placebo")),
    "has two groups": (
        [("a.png", "u", "age", "1", "x"), ("b.png", "u", "age", "2", "y")],
        (*HEAD, "group"),
    ),
}


@pytest.mark.parametrize("said", BAD)
def test_what_is_no_set_is_refused_in_one_sentence_with_the_next_step(
    write: Write, said: str
) -> None:
    with pytest.raises(UsageError) as refused:
        read_pairs(write(*BAD[said]))
    assert said in refused.value.message
    assert refused.value.hint
    assert refused.value.message.count(". ") == 0


def test_no_unit_with_the_baseline_is_said_with_the_values_there_are(write: Write) -> None:
    rows = [("a.png", "u0", "race", "White"), *units(["Black", "Asian"], 2)[2:]]
    with pytest.raises(
        UsageError, match=r"no unit has 'White', the baseline of race.*Asian, Black, White"
    ):
        read_pairs(write(rows), "White")


def test_a_folder_without_tables_or_a_damaged_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="neither metadata"):
        read_pairs(tmp_path)
    (tmp_path / "metadata.jsonl").write_text("[1]\n")
    with pytest.raises(UsageError, match="not a readable table"):
        read_pairs(tmp_path)
    (tmp_path / "x.parquet").write_text("no")
    with pytest.raises(UsageError, match="not a readable table"):
        read_pairs(tmp_path / "x.parquet")


def test_pictures_of_a_set_are_not_edited_and_take_the_place_of_photos(
    write: Write, gslopes: Callable
) -> None:
    path = write(units(["x", "y"]))
    for more, said in ((["photos"], "PHOTOS"), (["--steps", "3"], "edit steps")):
        done = gslopes("audit", *more, "--pairs", path, "--out", path.parent / "run")
        assert done.code == 2
        assert f"Leave out {said}" in done.err
    assert gslopes("audit", path.parent, "--baseline", "x", "--out", path.parent / "run").code == 2


# --- the walk ---


def test_the_plan_says_what_it_costs_and_writes_nothing(
    write: Write, gslopes: Callable, tmp_path: Path
) -> None:
    path = write([*units(["x", "y"]), ("z.png", "u9", "race", "x")])
    done = gslopes(
        "audit",
        "--pairs",
        path,
        "--classifier",
        "celeba-tagger",
        "--out",
        tmp_path / "run",
        "--dry-run",
    )
    assert done.code == 0, done.err
    assert "4 units in" in done.out
    assert "32 at most" in done.out, "four units, two values, three placebos"
    assert "1 unit, left out where values lack" in done.out
    assert not (tmp_path / "run").exists()


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "few.toml").write_text("part = 2\n[fit]\npermutations = 20\nmin_varying = 1\n")
    return tmp_path / "few.toml"


@pytest.mark.slow
def test_a_set_is_walked_and_asked_about_once(
    write: Write, home: Path, config: Path, tmp_path: Path
) -> None:
    rows = [(*row, "", "ab"[int(row[1][1]) % 2]) for row in units(["x", "y"], 4)]
    rows += [("w.png", "u0", "race", "", "", "a"), ("1.jpg.png", "u0", "race", "y", "light", "a")]
    rows += [("2.png", "u0", "race", "x", "light", "a"), ("n.png", "u9", "race", "x", "", "a")]
    path, counting = write(rows, (*HEAD, "placebo", "group")), Counting()
    given = {"pairs": path, "classifier": counting, "config": config, "gate": False}
    audit = gslopes.audit(None, tmp_path / "run", **given)
    edits, photos = (
        tables.read(one, audit.folder / f"{one.name}.parquet")
        for one in (tables.EDITS, tables.PHOTOS)
    )
    name = "race: y − x"
    assert edits.groupby("attribute").size().to_dict() == dict.fromkeys(
        (name, *placebo.names(name)), 8
    )
    assert photos.set_index("path").loc["u9", ["status", "reason", "detail"]].tolist() == [
        *("skipped", "lacks values", f"1 of 2 values of {name}")
    ]
    assert set(photos["path"]) == {"u0.png", "u1.png", "u2.png", "u3.png", "u9"}
    own = edits[(edits["attribute"] == name) & (edits["step"] == 0)].iloc[0]
    taken = {(path.parent / f"{u}-x.png").read_bytes() for u in range(4)}
    assert (audit.folder / own["file"]).read_bytes() in taken
    light = edits[edits["attribute"] == placebo.name(name, "light")]
    assert {(audit.folder / file).suffix for file in light["file"]} == {".png", ".jpg"}, (
        "the set's own, and ours"
    )
    assert set(audit.tables["groups"]["group"]) == {"a", "b"}
    asked = len(counting.seen)
    assert (
        gslopes.audit(None, tmp_path / "run", **given)
        .tables["slopes"]
        .equals(audit.tables["slopes"])
    )
    assert len(counting.seen) == asked
    html = audit.page.read_text("utf-8")
    assert "pictures that others made" in html
    assert "pictures of 4 units that others made, each from x to y" in " ".join(html.split())


def test_placebos_that_a_set_lacks_are_ours_and_light_changes_by_as_much_as_the_pair_does(
    write: Write, home: Path, config: Path, tmp_path: Path
) -> None:
    path = write(units(["x", "y"], 3))
    dim = np.full((24, 24, 3), 90, np.uint8)
    for unit, step in enumerate((4, 12, 30)):  # each pair differs by another amount
        for name, pixels in (("x", dim), ("y", dim + np.uint8(step))):
            Image.fromarray(pixels).save(path.parent / f"{unit}-{name}.png")
    made = gslopes.synthesise(None, tmp_path / "run", pairs=path, config=config)
    edits = tables.read(tables.EDITS, made.folder / "edits.parquet")
    assert edits["attribute"].nunique() == 4
    sweep = "race: y − x"

    def mean(unit: int, kind: str, step: int) -> float:
        photo = photos.loc[f"u{unit}.png", "photo"]
        name = placebo.name(sweep, kind) if kind else sweep
        row = edits[
            (edits["photo"] == photo) & (edits["attribute"] == name) & (edits["step"] == step)
        ].iloc[0]
        with Image.open(made.folder / row["file"]) as picture:
            return float(np.asarray(picture.convert("RGB")).mean())

    photos = tables.read(tables.PHOTOS, made.folder / "photos.parquet").set_index("path")
    for unit in range(3):
        own, light, same = (
            mean(unit, kind, 1) - mean(unit, kind, 0) for kind in ("", "light", "same")
        )
        assert light == pytest.approx(own, abs=1), "brighter as the pair is, and by as much"
        assert same == pytest.approx(0, abs=0.5)


@pytest.mark.parametrize(
    "values", [[20, 30, 40, 70], pytest.param([0, 1, 2, 3, 4, 5], marks=pytest.mark.slow)]
)
def test_an_even_number_of_values_has_slopes_over_all_of_them(
    write: Write, home: Path, config: Path, tmp_path: Path, values: list[int]
) -> None:
    path = write(units(values, 12, "age"))
    for unit in range(12):
        for value in values:
            Image.new("RGB", (24, 24), (2 * value + unit,) * 3).save(
                path.parent / f"{unit}-{value}.png"
            )

    def brightness(pictures: Sequence[np.ndarray]) -> list[dict[str, float]]:
        return [{"light": float(one.mean())} for one in pictures]

    audit = gslopes.audit(
        None, tmp_path / "run", pairs=path, classifier=brightness, config=config, gate=False
    )
    row = (
        audit.tables["slopes"].query("attribute == 'age' and estimator == 'photo-measure'").iloc[0]
    )
    assert row["slope"] == pytest.approx(2, abs=1e-3)
    assert row["n"] == 12
    assert audit.page.is_file()


def test_a_unit_whose_pictures_differ_in_size_or_cannot_be_read_is_skipped(
    write: Write, home: Path, config: Path, tmp_path: Path
) -> None:
    path = write(units(["x", "y"], 4))
    Image.new("RGB", (9, 9)).save(path.parent / "0-x.png")
    (path.parent / "1-x.png").write_bytes(b"no picture")
    audit = gslopes.audit(
        None, tmp_path / "run", pairs=path, classifier=Counting(), config=config, gate=False
    )
    assert set(audit.skipped) == {"its pictures differ in size", "unreadable: not a picture"}
    assert audit.used == 2


def test_a_unit_without_a_face_is_dropped_by_the_gate(
    write: Write, home: Path, config: Path, tmp_path: Path
) -> None:
    path = write(units(["x", "y"], 2), size=64)
    run = gslopes.synthesise(
        None, tmp_path / "run", pairs=path, config=config, placebo=False
    ).folder
    redo(run, "gate")
    verdicts = tables.read(tables.VERDICTS, run / "verdicts.parquet")
    assert verdicts["reason"].tolist() == ["face not found again"] * 2


@pytest.mark.slow
@pytest.mark.evidence
@pytest.mark.parametrize("form", ["imagefolder", "parquet"])
def test_an_export_read_back_gives_the_same_slopes_to_the_last_digit(
    draw: Callable, home: Path, toy: str, config: Path, tmp_path: Path, form: str
) -> None:
    faces = draw(12)
    options = {"config": config, "gate": False, "classifier": toy}
    one = gslopes.audit(faces.photos, tmp_path / "one", steps=7, **options, **faces.known)
    made = gslopes.export(one.folder, form, tmp_path / "set")
    other = gslopes.audit(None, tmp_path / "other", pairs=made.path, placebo=False, **options)
    numbers = [
        "label",
        "estimator",
        "n",
        "slope",
        "se",
        "p",
        "ci_low",
        "ci_high",
        "p_perm",
        "q",
        "y_first",
        "y_last",
    ]
    first, second = (run.tables["slopes"].reset_index(drop=True)[numbers] for run in (one, other))
    pd.testing.assert_frame_equal(first, second, check_exact=True)
    assert first["slope"].abs().max() > 0
    changes = compare_runs(one.folder, other.folder)
    assert (changes["differing"] == 0).all()


def test_a_baseline_without_a_set_is_refused(tmp_path: Path, home: Path) -> None:
    with pytest.raises(ConfigError, match="baseline"):
        gslopes.audit(tmp_path / "photos", tmp_path / "run", baseline="x")


def test_two_attributes_of_names_in_separate_rows_are_no_grid(write: Write) -> None:
    rows = [*units("AB", attribute="race"), *units("fm", attribute="{x} of {0}")]
    found = read_pairs(write(rows), placebos=False)
    assert set(found.values) == {"race: B − A", "{x} of {0}: m − f"}
    assert len(found.edits) == 3 * 2 * 2


def test_two_units_named_by_digests_that_begin_alike_keep_their_files(write: Write) -> None:
    names = ["ab" * 8 + end * 48 for end in "01"]
    rows = [(f"{name[-1]}{value}.png", name, "age", value) for name in names for value in (0, 1)]
    assert read_pairs(write(rows)).units["photo"].str[:16].nunique() == 2
    assert read_pairs(write(rows[:2])).units["photo"].tolist() == names[:1]
