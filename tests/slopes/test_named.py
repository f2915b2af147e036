"""Named ends of our own editors, from words on the command line to contrasts in tables and on pages."""

import json
import re

import numpy as np
import pytest
from PIL import Image

import gslopes
from gslopes.core import placebo, runfolder, tables
from gslopes.core.errors import ConfigError, UnknownName, UsageError
from gslopes.faces.config import EditConfig
from gslopes.report import words
from gslopes.slopes.asked_for import sweeps_of
from gslopes.slopes.config import configure
from gslopes.slopes.demo import astronaut
from gslopes.slopes.method import choices
from gslopes.slopes.plan import look_at
from tests.groups import write_groups
from tests.slopes.test_asked_for import Words

ENDS = ("black", "east-asian", "south-asian", "white")
BOTH = ["gender", "race"]


@pytest.fixture(scope="module")
def groups(tmp_path_factory):
    return write_groups(tmp_path_factory.mktemp("home"), *ENDS)


@pytest.fixture(autouse=True)
def home(groups, monkeypatch):
    monkeypatch.setenv("GSLOPES_HOME", str(groups))


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    pixels = astronaut()
    for name, picture in {"one": pixels, "two": pixels[:, ::-1], "dim": pixels // 2}.items():
        Image.fromarray(picture).save(folder / f"{name}.png")
    return folder


def walk(photos, **options):
    return look_at(configure(photos, {"attribute": ["race"], **options}))


@pytest.mark.parametrize(
    ("options", "contrasts"),
    [
        ({"ends": ["black,east-asian"]}, ["Black − unedited", "East Asian − unedited"]),
        ({"ends": ["East Asian", "BLACK"]}, ["Black − unedited", "East Asian − unedited"]),
        ({"ends": ["black,white"], "baseline": "white"}, ["Black − White"]),
        ({"ends": ["black"], "baseline": "East-Asian"}, ["Black − East Asian"]),
        (
            {"editor": "race-groups", "baseline": "white"},
            ["Black − White", "East Asian − White", "South Asian − White"],
        ),
        (
            {"editor": "groups"},
            [f"{end} − unedited" for end in ("Black", "East Asian", "South Asian", "White")],
        ),
    ],
)
def test_each_end_that_is_named_is_a_contrast_with_the_photo_or_the_baseline(
    photos, options, contrasts
):
    planned = walk(photos, **options)
    expected = [f"race: {contrast}" for contrast in contrasts]
    assert [name for name in planned.values if not placebo.is_placebo(name)] == expected
    assert all(values == [0.0, 1.0] for values in planned.values.values())
    assert {*planned.values} == {*expected, *(n for s in expected for n in placebo.names(s))}


@pytest.mark.parametrize(
    ("options", "kind", "sentence"),
    [
        ({"ends": ["blak"]}, UnknownName, "no end named 'blak'.*Did you mean 'Black'"),
        ({"ends": ["black"], "baseline": "wite"}, UnknownName, "no baseline named 'wite'"),
        (
            {"ends": ["white"], "baseline": "white"},
            ConfigError,
            "white is the baseline, and the on",
        ),
        ({"attribute": ["gender"], "ends": ["black"]}, ConfigError, "has named ends"),
        ({"editor": "race-field", "ends": ["black"]}, ConfigError, "has named ends"),
        ({"editor": "race-field", "baseline": "white"}, UnknownName, "no baseline named"),
        ({"baseline": "white"}, ConfigError, "values of a set of pairs"),
        ({"ends": ["black"], "as_published": True}, ConfigError, "--ends does not go with --as-p"),
        ({"attribute": ["hair"], "ends": ["black"]}, UnknownName, "no editable attribute"),
    ],
)
def test_what_cannot_be_compared_is_said_in_a_sentence(photos, options, kind, sentence):
    with pytest.raises(kind) as raised:
        walk(photos, **options)
    assert re.search(sentence, f"{raised.value} {raised.value.hint}")


def test_without_names_an_attribute_has_the_values_that_it_had(photos):
    planned = walk(photos)
    assert planned.values["race"] == [-2, -1, 0, 1, 2]
    assert "ends" not in planned.config.identity()["edit"]
    assert planned.facts["models"].keys() == {"race-field", "labeller", "parser"}
    assert walk(photos, ends=["white"]).facts["models"].keys() == {
        "race-groups",
        "labeller",
        "parser",
    }


def test_editors_of_others_take_the_same_words():
    sweeps = sweeps_of(EditConfig(("race",), ends=("east-asian,black",)), Words(), "white")
    assert [sweep.name for sweep in sweeps] == ["race: Black − White", "race: East Asian − White"]
    with pytest.raises(UnknownName, match="no end named 'martian'"):
        sweeps_of(EditConfig(("race",), ends=("martian",)), Words(), None)


def test_the_list_of_choices_names_the_ends():
    told = {
        choice.what: choice.here
        for choice in choices({"edit": {"attributes": ["race"], "ends": ["black,white"]}})
    }
    assert told["values of race"].startswith("its named ends: Black, East Asian, South Asian, Whi")
    assert "each of its named ends" in told["edit of race-groups"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"attribute": ["race"]}, "--cross takes two attributes, not 1"),
        ({"ends": ["black"]}, "--cross takes two named ends at least"),
        ({"attribute": ["gender", "smiling"]}, "no editable attribute"),
        ({"grid": (5, 3)}, ""),
        ({"grid": (7, 3)}, "--cross does not go with --grid of named ends"),
        ({"steps": 5}, "--cross does not go with --steps"),
    ],
)
def test_what_cannot_be_crossed_with_names_is_said(options, sentence):
    given = {"attribute": BOTH, "ends": ["black,white"], "cross": True, **options}
    if not sentence:
        configure("photos", given)
        return
    with pytest.raises(UsageError, match=sentence):
        configure("photos", given)


def test_a_grid_of_names_has_both_ends_of_the_other_attribute_and_the_baseline_first(photos):
    ends = {"ends": [",".join(ENDS)], "cross": True}
    planned = walk(photos, attribute=["race", "gender"], baseline="white", **ends)
    grid = planned.grid
    assert list(grid.names) == BOTH  # the one with values is first, however they are given
    assert grid.levels == ("White", "Black", "East Asian", "South Asian")
    assert grid.values == ((-2.0, 2.0), (0.0, 1.0, 2.0, 3.0))
    assert planned.images == 3 * 8 * 4
    assert planned.values["gender-x-race"] == [*range(8)]
    assert walk(photos, attribute=BOTH, **ends).grid.levels[0] == "Black"


@pytest.mark.parametrize(
    ("view", "text"),
    [
        ("race: Black − unedited", "perceived race (Black against unedited)"),
        (
            "race: Black − White-x-gender=-2",
            "perceived race (Black against White) on feminine faces",
        ),
        ("gender-x-race: Black − White=1", "perceived gender on Black-looking faces"),
        (
            "gender-x-race: Black − White",
            "the interaction of perceived gender and perceived race (Black against White)",
        ),
    ],
)
def test_views_of_names_are_told_as_what_people_see(view, text):
    assert words.perceived(view) == text
    assert words.ends("race: Black − White-x-gender=-2") == ("White", "Black")


def light(pictures):
    return [{"light": float(np.mean(picture) / 255)} for picture in pictures]


@pytest.mark.slow
def test_a_whole_audit_of_named_ends(photos, tmp_path):
    options = {"attribute": ["race"], "ends": ["black,white"], "fit": {"min_varying": 2}}
    walked = gslopes.audit(photos, tmp_path / "run", classifier=light, **options)
    slopes = walked.tables["slopes"].query("estimator == 'photo-measure'").set_index("attribute")
    black = slopes.loc["race: Black − unedited"]
    assert black["y_last"] < black["y_first"] - 0.001
    assert black["n"] == 3
    edits = tables.read_rows(tables.EDITS, walked.folder)
    first = edits.query("attribute == 'race: Black − unedited' and step == 0")["file"].iloc[0]
    other = edits.query("attribute == 'race: White − unedited' and step == 0")["file"].iloc[0]
    assert (walked.folder / first).read_bytes() == (walked.folder / other).read_bytes()
    verdicts = tables.read_rows(tables.VERDICTS, walked.folder)
    assert verdicts.query("attribute == 'race: Black − unedited'")["kept"].all()
    # she is read as White already
    white = verdicts.query("attribute == 'race: White − unedited'")
    assert {*white["reason"]} == {"the reading does not follow the edit"}
    assert "race: White − unedited" not in slopes.index
    readings = tables.read_rows(tables.READINGS, walked.folder)
    assert "race: Black − unedited" in {*readings["reading"]}  # under the name of the contrast
    page = walked.page.read_text()
    assert "perceived race (Black against unedited)" in page
    assert gslopes.audit(photos, tmp_path / "run", classifier=light, **options).page  # resumes


@pytest.mark.slow
def test_two_genders_by_named_groups(tmp_path):
    photos = [(astronaut() * (share / 8)).astype(np.uint8) for share in range(1, 9)]
    options = {"attribute": BOTH, "ends": ["black,white"], "cross": True, "gate": False}
    fit = {"fit": {"min_varying": 2}, "placebo": False}
    walked = gslopes.audit(photos, tmp_path / "run", classifier=light, **options, **fit)
    edits = tables.read_rows(tables.EDITS, walked.folder)
    grid = edits.query("attribute == 'gender-x-race'")
    assert len(grid) == 8 * 4
    means = []
    for _, rows in grid.groupby("photo"):
        pictures = [np.array(Image.open(walked.folder / file)) for file in rows["file"]]
        assert len({picture.tobytes() for picture in pictures}) == 4
        means.append([picture.mean() / 255 for picture in pictures])
    cells = np.array(means).mean(0).reshape(2, 2)  # name, gender
    slopes = walked.tables["slopes"].query("estimator == 'photo-measure'").set_index("attribute")
    change = cells[1] - cells[0]
    row = slopes.loc["race: White − Black"]
    assert row["y_last"] - row["y_first"] == pytest.approx(change.mean(), abs=1e-4)
    for value, end in ((-2, 0), (2, 1)):
        row = slopes.loc[f"race: White − Black-x-gender={value}"]
        assert row["y_last"] - row["y_first"] == pytest.approx(change[end], abs=1e-4)
    page = walked.page.read_text()
    assert "bottom to top: perceived race, Black, White" in page
    assert "so each is compared with Black, in the table below" in page
    manifest = json.loads((walked.folder / runfolder.MANIFEST).read_text())
    assert [*manifest["values"]][:2] == ["gender", "race: White − Black"]
