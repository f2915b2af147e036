"""A limit takes from all ends and from held-out people; a forecast tells what a start has to make."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from gslopes.core.errors import ConfigError, DataMissing
from gslopes.core.files import read_json
from gslopes.faces.zoo.spec import find_spec
from training import forecast as forecasts, prepared
from training.__main__ import main
from training.data import chosen, even_handed, found, made
from training.forecast import forecast, hours
from training.recipe import run_recipe
from training.sets import TrainingSet, packed_file, write_packed
from training.sources import held_out, place


@pytest.fixture(scope="module")
def utkface(tmp_path_factory):
    """Empty files named as UTKFace: nine men to a woman."""
    data = tmp_path_factory.mktemp("people")
    (data / "UTKFace").mkdir()
    for number in range(1500):
        (data / f"UTKFace/30_{int(number % 10 == 0)}_0_{number}.jpg.chip.jpg").touch()
    return data


def names(photos):
    return {path.name for source in photos for path in source.paths}


def test_a_limit_takes_as_many_of_both_ends_and_its_share_of_held_out_people(utkface):
    spec = find_spec("gender-fader")
    every = chosen("fader-even", spec, utkface, None)[0]
    aside = every.held_out().sum() / (every.fold("editors") | every.held_out()).sum()
    (few,) = chosen("fader-even", spec, utkface, 60)
    assert len(few) == 60
    assert few.held_out().sum() / 60 == pytest.approx(aside, abs=0.02)
    for held in (True, False):
        men = few.column("masculine")[few.held_out() == held]
        assert (men == 1).sum() == pytest.approx((men == 0).sum(), abs=2)
    assert not few.fold("judges").any()


def test_a_smaller_limit_is_a_part_of_a_larger_one_and_the_same_every_time(utkface):
    spec = find_spec("gender-fader")
    choices = [names(chosen("fader-even", spec, utkface, limit)) for limit in (60, 60, 200, None)]
    assert choices[0] == choices[1] < choices[2] < choices[3]


def test_where_an_end_has_few_all_of_them_are_taken(utkface):
    spec = find_spec("gender-fader")
    (few,) = chosen("fader-even", spec, utkface, 600)
    women = few.column("masculine") == 0
    (every,) = chosen("fader-even", spec, utkface, None)
    of_use = every.fold("editors") | every.held_out()
    assert women.sum() == ((every.column("masculine") == 0) & of_use).sum()
    assert len(few) == 600


def test_several_sets_have_their_shares_of_a_limit():
    which = np.repeat([0, 1], [900, 100])
    taken = even_handed(
        [str(n) for n in range(1000)], which, np.zeros(1000, bool), np.zeros(1000), 100
    )
    assert np.bincount(which[taken]).tolist() == [90, 10]


@pytest.mark.parametrize("limit", [1, 12, 60])
@pytest.mark.parametrize("recipe", ["gender-fader", "labeller"])
def test_too_few_photos_are_refused_in_one_sentence(utkface, recipe, limit, tmp_path):
    """Before they are opened; or, since the files are no pictures, as soon as no face is found."""
    data = tmp_path / "data"
    (data / "celeba-wide").mkdir(parents=True)
    (data / "celeba-wide" / "000001.jpg").touch()
    (data / "UTKFace").symlink_to(utkface / "UTKFace")
    with pytest.raises(DataMissing, match=r"limit of|Among the|No face is found") as told:
        run_recipe(recipe, data=data, limit=limit, out=tmp_path / "out")
    assert str(told.value).count(". ") <= 1
    assert not (tmp_path / "out").exists()


def test_what_is_found_within_a_limit_is_counted_and_told(utkface):
    (facts,) = found("fader-even", find_spec("gender-fader"), utkface, 200)
    assert facts["photos"] == 200
    assert facts["feminine"] == pytest.approx(facts["masculine"], abs=1)


def test_a_limit_of_a_packed_file_takes_of_both_ends(tmp_path):
    spec = find_spec("gender-fader")
    count = 400
    labels = np.where(np.arange(count) % 8 == 0, 1, -1).astype(np.float32)
    labels = np.repeat(labels[:, None], len(spec.labels), 1)
    chips = np.zeros((count, 8, 8, 3), np.uint8)
    whole = TrainingSet(chips, labels, np.ones(count), np.arange(count) % 10 == 0)
    write_packed(whole, packed_file(spec, tmp_path))
    few = made("fader-even", spec, tmp_path, "cpu", 80)
    assert len(few.pixels) == 80
    assert few.held_out.sum() == 8
    assert (few.labels[:, 0] > 0).sum() == pytest.approx(40, abs=4)


def test_drawn_faces_within_a_limit_are_the_first_and_drawn_once(monkeypatch):
    spec = find_spec("drawn-fader")
    few = made("drawn", spec, prepared.home(), "cpu", 60)
    with prepared.watched() as calls:
        more = made("drawn", spec, prepared.home(), "cpu", 90)
    assert [call.made for call in calls] == [30]
    np.testing.assert_array_equal(more.pixels[:60], few.pixels)
    np.testing.assert_array_equal(more.labels[:60], few.labels)


def test_a_forecast_counts_what_is_not_kept_and_after_a_start_nothing_is_left(tmp_path):
    spec = find_spec("drawn-fader")
    ahead = forecast("drawn", spec, tmp_path, "cpu", 100)
    (task,) = ahead.tasks
    assert (task.work, task.photos) == ("drawn", 100 - forecasts.SAMPLE)
    assert task.seconds > 0
    assert "First step in under a minute. To make before: drawn, 36 photos" in ahead.sentence()
    made("drawn", spec, tmp_path, "cpu", 100)
    again = forecast("drawn", spec, tmp_path, "cpu", 100)
    assert again.tasks == ()
    assert again.sentence() == "All photos are prepared: the first step begins at once."
    assert forecast("drawn", spec, tmp_path, "cpu", 400).tasks[0].photos == 300


def test_a_forecast_of_photos_counts_each_work_by_its_share(utkface, monkeypatch):
    """The files are no pictures: each is read and looked at, none has a face."""
    spec = find_spec("gender-fader")
    (every,) = chosen("fader-even", spec, utkface, None)
    of_use = int((every.fold("editors") | every.held_out()).sum())
    ahead = forecast("fader-even", spec, utkface, "cpu")
    assert ahead.sample is None
    digests, faces, _ = ahead.tasks
    assert (digests.work, digests.of, digests.photos) == ("digests", "utkface", of_use - 64)
    assert faces.work == "faces"


def test_a_dry_run_tells_when_the_first_step_and_the_last_are_to_be_expected(tmp_path):
    arguments = ["drawn-fader", "--data", str(tmp_path), "--limit", "80", "--dry-run"]
    done = CliRunner().invoke(main, [*arguments, "--device", "cpu", "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    times = json.loads(done.stdout)["expected"]
    assert times["to_prepare"][0]["photos"] == 16
    assert times["steps_s"] == pytest.approx(3000 * times["step_s"], rel=0.01)
    assert f"3,000 steps of {times['step_s']:.3g} s: " in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_checkpoint_of_another_limit_is_not_gone_on_with(tmp_path):
    folder = tmp_path / "out" / "training"
    arguments = {"data": tmp_path, "steps": 1, "out": tmp_path / "out"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("training.recipe.made", lambda *about: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run_recipe("drawn-fader", limit=70, **arguments)
    resolved = json.loads(json.dumps({"train": {}}))
    assert not (folder / "options.json").exists()
    done = CliRunner().invoke(
        main, ["drawn-fader", "--data", str(tmp_path), "--limit", "70", "--steps", "1", "--dry-run"]
    )
    resolved = json.loads(done.stdout)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "options.json").write_text(json.dumps(resolved))
    with pytest.raises(ConfigError, match="other options"):
        run_recipe("drawn-fader", limit=71, **arguments)
    with pytest.raises(ConfigError, match="other options"):
        run_recipe("drawn-fader", **arguments)
    assert read_json(folder / "options.json")["limit"] == 70


def test_long_times_are_told_in_words():
    assert [hours(seconds) for seconds in (20, 5000, 7200, 864000)] == [
        "under a minute",
        "about 83 minutes",
        "about 2.0 hours",
        "about 10.0 days",
    ]


def test_the_order_of_a_limit_is_not_that_of_the_folds():
    """A choice by the hash that divides people would take only held-out ones."""
    files = [f"{number:06}.jpg" for number in range(2000)]
    order = sorted(files, key=lambda name: place(f"limit {name}"))
    assert sum(map(held_out, order[:400])) == pytest.approx(40, abs=15)
