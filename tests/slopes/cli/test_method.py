"""``gslopes audit --method`` and ``--as-published``."""

import json
import pickle

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from PIL import Image

import gslopes
from gslopes.core import runfolder, tables
from gslopes.core.errors import ConfigError, RunFolderMismatch, UsageError
from gslopes.core.executor import pack
from gslopes.faces import zoo
from gslopes.faces.networks.fader import FoldedFader
from gslopes.frame.executors import OneProcess
from gslopes.slopes.cli.audit import audit
from gslopes.slopes.config import configure
from gslopes.slopes.demo import astronaut
from training.weights import save_weights

STEPS = (-1.0, -0.9, -0.5, 0.2, 0.4, 0.6, 1.0)


def test_it_prints_the_defaults_and_json():
    printed = CliRunner().invoke(audit, ["--method", "--out", "nowhere"])
    assert "K - 2 degrees of freedom" in printed.output
    rows = json.loads(CliRunner().invoke(audit, ["--method", "--out", "nowhere", "--json"]).output)
    assert {"what", "paper", "here", "reason", "option", "section", "same"} == set(rows[0])


@pytest.mark.parametrize(
    "options", [{"region": "face"}, {"gate": True}, {"steps": 5}, {"calibrated": True}]
)
def test_as_published_contradicts_nothing_silently(options):
    with pytest.raises(ConfigError, match="As published"):
        configure("photos", {"as_published": True, **options})


@pytest.mark.row("slopes-3.3-network")
def test_as_published_gender_has_its_fader_network_and_the_run_names_all_that_reads_for_it():
    from gslopes.faces.components import model_records

    config = configure("photos", {"as_published": True})
    names = set(model_records(config))
    assert {"gender-fader", "labeller", "celeba-tagger"} <= names
    own = configure(
        "photos", {"as_published": True, "editor": "drawn-fader"}
    )  # a Fader Network of the user's own
    assert own.edit.model == "drawn-fader"


@pytest.mark.parametrize(
    "options", [["--as-published"], ["--editor", "fader"], ["--editor", "race-fader"]]
)
def test_there_is_no_fader_network_of_race_and_a_run_says_so_before_it_begins(options, tmp_path):
    (tmp_path / "photos").mkdir()
    Image.fromarray(astronaut()).save(tmp_path / "photos" / "0.png")
    command = [str(tmp_path / "photos"), "--attribute", "race", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(audit, [*command, *options])
    assert isinstance(done.exception, UsageError)
    assert str(done.exception).startswith("No Fader Network of race ships")
    assert not (tmp_path / "run").exists()


# --- What the decoder is given ----------------------------------------------------------------------------------------


class Elsewhere(OneProcess):
    """Does each work as another process does: from what can be pickled."""

    def __call__(self, work, parts, **about):
        make = pickle.loads(pickle.dumps(pack(work).make))
        super().__call__(make("cpu"), parts, **about)


@pytest.fixture
def given(monkeypatch):
    """What decoders are given, (b, n, A) each call, the edited attribute first."""
    found, sweep = [], FoldedFader.sweep

    def recorded(self, latents, conditions):
        found.append(conditions.numpy().copy())
        return sweep(self, latents, conditions)

    monkeypatch.setattr(FoldedFader, "sweep", recorded)
    return found


@pytest.fixture
def portrait(tmp_path):
    (tmp_path / "photos").mkdir()
    Image.fromarray(astronaut()).resize((200, 200)).save(tmp_path / "photos" / "0.png")
    return tmp_path / "photos"


@pytest.mark.slow
@pytest.mark.row(
    "slopes-3.3-network",
    "slopes-4.3-range",
    "slopes-4.3-neutral",
    "slopes-4.3-beyond",
    "slopes-4.3-values",
)
@pytest.mark.parametrize(("attribute", "count"), [("gender", 7)])
def test_as_published_the_decoder_is_given_the_values_of_the_paper_and_the_slope_is_fitted_to_them(
    attribute, count, portrait, given, tmp_path
):
    run = tmp_path / "run"
    command = [
        portrait,
        "--as-published",
        "--attribute",
        attribute,
        "--out",
        run,
        "--device",
        "cpu",
        "--engine",
        "one",
    ]
    done = CliRunner().invoke(audit, list(map(str, command)))
    assert done.exit_code == 0, done.output
    values = np.linspace(-2, 2, count)
    (conditions,) = given
    np.testing.assert_allclose(conditions[0, :-1, 0], values, atol=1e-6)
    others = np.broadcast_to(conditions[0, -1, 1:], (count, conditions.shape[2] - 1))
    np.testing.assert_array_equal(conditions[0, :-1, 1:], others)  # at the photo's own values
    edits = tables.read(tables.EDITS, run / "edits.parquet")
    assert set(edits["attribute"]) == {attribute}  # no placebos
    np.testing.assert_allclose(edits.sort_values("step")["value"], values, atol=1e-6)
    assert runfolder.read_manifest(run)["values"] == {attribute: pytest.approx(values)}
    assert not (run / "verdicts.parquet").exists()  # no gate
    gslopes.synthesise(
        portrait, tmp_path / "again", attribute=attribute, as_published=True, executor=Elsewhere()
    )
    np.testing.assert_array_equal(given[1], conditions)


@pytest.fixture
def own(tiny_models, draw, monkeypatch, tmp_path):
    """A Fader Network of the user's own with a table, and the arguments of an audit of drawn faces."""
    config = {"widths": [4, 8]}
    spec = zoo.ModelSpec(
        "mine",
        "For tests.",
        "fader",
        32,
        ("gender",),
        "CC0-1.0",
        (),
        "",
        "",
        config,
        ends=("f", "m"),
        steps=STEPS,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        save_weights(tmp_path / "weights" / "mine", spec, zoo.build(spec).state_dict())
    monkeypatch.setenv("GSLOPES_HOME", str(tmp_path))
    faces = draw(1)
    known = {name: faces.known[name] for name in ("landmarks", "masks")}
    return {
        "photos": faces.photos,
        "out": tmp_path / "run",
        "editor": "mine",
        "device": "cpu",
        **known,
    }


def edited(given):
    """(K,) what the decoder was given; the fit of a photo's own value asks for one at a time."""
    return next(conditions[0, :-1, 0] for conditions in given if conditions.shape[1] > 1)


def test_as_published_an_editor_of_the_users_own_has_no_table(own, given):
    gslopes.synthesise(**own, as_published=True)
    np.testing.assert_allclose(edited(given), np.linspace(-2, 2, 7), atol=1e-6)


def test_elsewhere_the_table_says_where_an_editor_stands(own, given):
    gslopes.synthesise(**own, blend="paste", placebo=False)
    np.testing.assert_allclose(edited(given), STEPS, atol=1e-6)


def test_a_published_run_that_was_begun_by_the_table_is_another_run(own):
    gslopes.synthesise(**own, as_published=True)
    run = own["out"]
    manifest = runfolder.read_manifest(run)
    for part in ("identity", "config"):
        del manifest[part]["edit"]["calibrated"]
    runfolder.write_json(run / runfolder.MANIFEST, manifest)
    with pytest.raises(
        RunFolderMismatch, match=r"edit\.calibrated is not set there and false here"
    ):
        gslopes.synthesise(**own, as_published=True)
    told = json.loads(CliRunner().invoke(audit, ["--method", "--out", str(run), "--json"]).output)
    assert "a table says where it stands" in next(
        one["here"] for one in told if one["what"] == "edit of mine"
    )
