import json

import pytest

from gslopes.core import runfolder
from gslopes.core.config import load_toml, to_dict
from gslopes.core.errors import ConfigError, GslopesError, StorageError, UnknownName
from gslopes.core.files import read_json
from gslopes.faces.zoo.spec import HOME_VARIABLE, PACKAGE, find_spec
from training.data import SETS
from training.recipe import (
    LOOPS,
    Recipe,
    find_recipe,
    loop_options,
    run_recipe,
)

RECIPES = sorted((PACKAGE.parent / "training").glob("*.toml"))
# homes of models that are not good enough to ship
AGE = PACKAGE.parent / "training/age"
RACE = PACKAGE.parent / "training/race"


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_every_shipped_recipe_is_complete(path):
    plan = load_toml(Recipe, path)
    assert plan.set in SETS
    options = to_dict(loop_options(plan, LOOPS[find_spec(plan.model).network], path))
    assert options.get("optimisation", options)["steps"] > 0
    header = path.read_text(encoding="utf-8").split("model =")[0]
    assert header.startswith("# python -m training ")
    for word in ("minutes", "cores", "held-out"):
        assert word in header, f"{path.name}'s header does not say {word}"


def test_the_recipe_of_the_fader_network_of_race_is_complete_in_its_home(monkeypatch):
    monkeypatch.setenv(HOME_VARIABLE, str(RACE))
    path = find_recipe("race-fader")
    assert path.is_relative_to(RACE)
    test_every_shipped_recipe_is_complete(path)


def test_a_dry_run_resolves_everything_and_writes_nothing(tmp_path, capsys):
    run_recipe(
        "drawn-fader", data=tmp_path / "nothing", dry_run=True, steps=7, out=tmp_path / "out"
    )
    printed = json.loads(capsys.readouterr().out)
    assert printed["train"]["optimisation"]["steps"] == 7
    assert printed["data"] == []
    assert not (tmp_path / "out").exists()


def test_an_unknown_recipe_names_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'judge'"):
        find_recipe("jugde")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('model = "judge"\nset = "judge"\n[train]\nstep = 3\n', "unknown option 'step'"),
        ('modle = "judge"\nset = "judge"\n', "Did you mean 'model'"),
        ('model = "judge"\nset = "juge"\n', "Did you mean 'judge'"),
        ('model = "reader\n', "not valid TOML"),
        (
            'model = "judge"\nset = "judge"\ntemplate = 200\n',
            "judge has no template, and template is 200",
        ),
        (
            'model = "drawn-confounded"\nset = "drawn-confounded"\n',
            "has a template, .* template is 0",
        ),
        (
            'model = "drawn-confounded"\nset = "drawn-confounded"\ntemplate = 2\ntint = 1.5\n',
            "a share, 0 to 1",
        ),
    ],
)
def test_a_recipe_with_a_slip_is_refused_before_any_work(tmp_path, text, message):
    path = tmp_path / "slip.toml"
    path.write_text(text)
    with pytest.raises((ConfigError, UnknownName), match=message):
        run_recipe(path, data=tmp_path, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_checkpoint_of_other_options_is_not_gone_on_with(tmp_path):
    folder = tmp_path / "out" / "training"
    folder.mkdir(parents=True)
    (folder / "options.json").write_text(json.dumps({"train": {"steps": 1}}))
    with pytest.raises(ConfigError, match="other options"):
        run_recipe("drawn-fader", data=tmp_path, steps=3, out=tmp_path / "out")
    assert read_json(folder / "options.json") == {"train": {"steps": 1}}


def test_a_second_training_in_one_folder_waits_for_nothing_and_touches_nothing(tmp_path):
    with (
        runfolder.locked(tmp_path / "out/training"),
        pytest.raises(StorageError, match="Another process is working"),
    ):
        run_recipe("drawn-fader", data=tmp_path, steps=3, out=tmp_path / "out")
    assert [file.name for file in (tmp_path / "out").rglob("*")] == ["training", ".lock"]


@pytest.mark.parametrize(
    ("begin", "message"), [("judge", "their networks differ"), ("face-parsr", "face-parser")]
)
def test_weights_that_training_cannot_begin_with_are_said_before_any_photo_is_read(
    tmp_path, begin, message
):
    path = tmp_path / "again.toml"
    path.write_text(
        f'model = "face-parser"\nset = "face-parser"\n[train]\nbegin_with = "{begin}"\n'
    )
    with pytest.raises(GslopesError, match=message):
        run_recipe(path, data=tmp_path / "nothing", dry_run=True, out=tmp_path / "out")


@pytest.mark.parametrize(
    ("trunk", "message"),
    [("gender-field", "their networks differ"), ("gender-techer", "gender-teacher")],
)
def test_a_trunk_that_training_cannot_begin_with_is_said_before_any_photo_is_read(
    tmp_path, trunk, message
):
    path = tmp_path / "trunk.toml"
    path.write_text(f'model = "race-teacher"\nset = "fader"\n[train]\ntrunk = "{trunk}"\n')
    with pytest.raises(GslopesError, match=message):
        run_recipe(path, data=tmp_path / "nothing", dry_run=True, out=tmp_path / "out")
