from pathlib import Path

import pytest

from gslopes.core.errors import ConfigError, GslopesError, UnknownName, UsageError
from gslopes.frame.ask import outline_of_prices
from gslopes.frame.plan import plan
from gslopes.slopes.asked_for import sweeps_of, values_of
from gslopes.slopes.audit import SLOPES
from gslopes.slopes.config import configure
from gslopes.slopes.plan import Walk


def planned(photos: object, options: dict[str, object], run: Path) -> Walk:
    return plan(SLOPES, photos, run, options, only=["synthesise"]).inputs.content


def test_flat_options_land_in_the_sections_of_their_rooms():
    options = {
        "attribute": "race",
        "min_face": 20,
        "region": "skin",
        "classifier": ("a", "b"),
        "range": (-1, 1),
    }
    config = configure("photos", options)
    assert config.edit.attributes == ("race",)
    assert config.edit.range == (-1.0, 1.0)
    assert config.find.min_face == 20
    assert config.compose.region == "skin"
    assert config.score.classifiers == ("a", "b")
    assert config.photos == Path.cwd() / "photos"


def test_options_win_over_the_file_and_its_paths_are_relative_to_it(tmp_path):
    file = tmp_path / "audit.toml"
    file.write_text(
        'photos = "faces"\nlimit = 5\n[find]\nmin_face = 20\nlandmarks = "l.csv"\n[compose]\nblend = "paste"\n'
    )
    config = configure(None, {"config": file, "min_face": 40})
    assert config.photos == tmp_path / "faces"
    assert config.find.landmarks == tmp_path / "l.csv"
    assert (config.find.min_face, config.limit, config.compose.blend) == (40, 5, "paste")


def test_the_folder_that_is_given_wins_over_that_of_the_file_and_set_over_both(tmp_path):
    file = tmp_path / "audit.toml"
    file.write_text('photos = "faces"\n')
    assert configure("a/../p", {"config": file}).photos == Path.cwd() / "p"
    assert configure("p", {"config": file, "photos": "q"}).photos == Path.cwd() / "q"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"steps": 6}, "odd"),
        ({"steps": 1}, "at least 3"),
        ({"range": (2, -2)}, "two numbers that grow"),
        ({"range": (0, float("inf"))}, "a finite number"),
        ({"min_face": 0}, "at least 1"),
        ({"limit": 0}, "at least 1"),
        ({"seed": -1}, "at least 0"),
        ({"region": "fac"}, "'face'"),
        ({"blend": "differnce"}, "'difference'"),
        ({"format": "gif"}, "'jpeg', 'png'"),
        ({"attribute": ("gender", "gender")}, "twice"),
        ({"atribute": "gender"}, "atribute"),
    ],
)
def test_a_wrong_option_is_a_usage_error_with_a_sentence(options, sentence):
    with pytest.raises(ConfigError) as caught:
        configure("p", options)
    assert sentence in str(caught.value)
    assert caught.value.exit_code == 2


def test_neither_device_nor_classifiers_nor_seed_are_part_of_the_configuration_that_must_match():
    first = configure("p", {"device": "cpu", "classifier": "a"})
    second = configure("p", {"device": "cuda:1", "classifier": "b"})
    assert first.identity() == second.identity()
    assert configure("p", {"min_face": 20}).identity() != first.identity()


def test_the_plan_counts_photos_pictures_and_calls(home, draw, tmp_path):
    faces = draw(5)
    options = {
        "attribute": ("gender", "race"),
        "classifier": ("celeba-tagger", "celeba-tagger:threshold=0.2"),
    }
    for placebos, images in ((0, 60), (3, 240)):  # by default with three placebo sweeps
        asked = {**options, "placebo": bool(placebos)}
        walk = planned(faces.photos, asked, tmp_path / "run")
        assert (len(walk.files), walk.images) == (5, images)
        due = plan(SLOPES, faces.photos, tmp_path / "run", asked)
        prices = outline_of_prices(due)[1]["prices"]
        # each of the two is asked about two photos before any is edited
        assert [price["pictures"] for price in prices] == [images + 2, images + 2]
        assert [price["placebos"] for price in prices] == [60 * placebos, 60 * placebos]
    assert walk.parts == 1
    assert not (tmp_path / "run").exists()


def test_one_classifier_under_two_spellings_is_asked_once(home, draw, tmp_path):
    faces = draw(1)
    names = ("celeba-tagger", "celeba-tagger:threshold=0.50")
    assert planned(faces.photos, {"classifier": names}, tmp_path).classifiers == ("celeba-tagger",)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"attribute": "gendr"}, "'gender'"),
        ({"classifier": "celeba-tager"}, "'celeba-tagger'"),
        ({"classifier": "celeba-tagger:treshold=0.3"}, "'threshold'"),
        ({"device": "gpu"}, "cuda"),
        ({"device": "cuda:77"}, "cuda:77"),
        ({"landmarks": "none.csv"}, "none.csv"),
        ({"masks": "no-masks"}, "no-masks"),
        ({"parser": "none.pth"}, "none.pth"),
        ({"parser": "none.pth", "masks": "no-masks"}, "need no face parser"),
    ],
)
def test_names_and_devices_are_checked_before_anything_is_done(
    home, draw, tmp_path, options, sentence
):
    with pytest.raises(GslopesError) as caught:
        planned(draw(1).photos, options, tmp_path / "run")
    assert caught.value.exit_code == 2
    assert sentence in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_an_unknown_attribute_names_the_nearest(home):
    with pytest.raises(UnknownName, match="Did you mean 'race'"):
        sweeps_of(configure("p", {"attribute": "rase"}).edit, None, None)


def test_values_are_the_shortest_decimals_of_what_the_tables_hold(home):
    edit = configure("p", {"attribute": ("gender", "race")}).edit
    values = values_of(sweeps_of(edit, None, None), placebos=False)
    assert values["race"] == [-2.0, -1.0, 0.0, 1.0, 2.0]
    assert str(values["gender"][1]) == "-1.3333334"


def test_a_folder_without_photos_says_what_would_be_one(home, tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "notes.txt").touch()
    with pytest.raises(UsageError, match=r"no photos in .*JPEG"):
        planned(tmp_path / "photos", {}, tmp_path / "run")
    with pytest.raises(UsageError, match="no folder"):
        planned(tmp_path / "none", {}, tmp_path / "run")


def test_a_run_folder_inside_the_photos_would_be_taken_for_photos_and_is_refused(home, draw):
    faces = draw(1)
    for run in (faces.photos, faces.photos / "run"):
        with pytest.raises(UsageError, match="lies inside"):
            planned(faces.photos, {}, run)


def test_the_digest_of_the_inputs_sees_a_new_a_lost_and_a_changed_photo(home, draw, tmp_path):
    faces = draw(2)

    def digest() -> str:
        return str(planned(faces.photos, {}, tmp_path / "run").inputs["digest"])

    seen = {digest()}
    extra = faces.photos / "x.png"
    for content in (b"1", b"22"):
        extra.write_bytes(content)
        seen.add(digest())
    assert len(seen) == 3
    extra.unlink()
    assert digest() in seen
