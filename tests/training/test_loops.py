"""What holds for every training loop: it learns, and a stopped run goes on as if it had never stopped."""

import json
from contextlib import contextmanager

import numpy as np
import pytest
import torch

from gslopes.faces import zoo
from training import drawn as rendered, loop
from training.face_parser import train_face_parser
from training.fader import Adversary, Optimisation, train_fader
from training.sets import drawn_chips
from training.tagger import train_tagger

FACTS = {"summary": "", "licence": "", "data": (), "paper": "", "recipe": ""}
CASES = {
    "fader": (train_fader, {"labels": ("gender",), "size": 32, "config": {"widths": [8, 16, 16]}}),
    "tagger": (
        train_tagger,
        {"labels": ("masculine", "light"), "size": 32, "config": {"widths": [8, 8, 16]}},
    ),
    "feature-pyramid": (
        train_face_parser,
        {"labels": ("background", "face", "skin"), "size": 32, "config": {"widths": [8, 8, 8, 8]}},
    ),
}


@pytest.fixture(scope="module")
def faces():
    parameters = rendered.sample(64, seed=5)
    return parameters.replace(gender=parameters.gender / 2)


@pytest.fixture(
    params=[
        "fader",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("feature-pyramid", "tagger")),
    ]
)
def case(request, faces):
    """(loop, spec, pixels, labels) of each network, small."""
    train, shape = CASES[request.param]
    spec = zoo.ModelSpec(name="small", network=request.param, **FACTS, **shape)
    if request.param == "feature-pyramid":
        drawn = rendered.render(faces, 48)
        labels = np.where(drawn.face_mask > 0.5, 1 + (drawn.pixels[..., 0] > 128), 0).astype(
            np.uint8
        )
        return train, spec, drawn.pixels, labels
    columns = [faces.gender] if request.param == "fader" else [faces.gender > 0, faces.tone > 0]
    return train, spec, drawn_chips(faces, 32), np.stack(columns, 1).astype(np.float32)


def run(case, folder, steps, **options):
    train, spec, pixels, labels = case
    folder.mkdir(exist_ok=True)
    if train is train_fader:
        length = {
            "optimisation": Optimisation(steps, batch=8),
            "adversary": Adversary(ramp=4, memory=2, widths=(16,)),
        }
    else:
        length = {"steps": steps, "batch": 8}
    return train(
        spec, pixels, labels, np.ones(len(pixels)), folder, **length, report_every=1, **options
    )


def losses(folder):
    rows = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [row.get("loss", row.get("reconstruction")) for row in rows]


@contextmanager
def stopped_at_a_save(monkeypatch):
    """A training within it ends right after its first checkpoint."""
    keep = loop.save_state

    def save_and_stop(*args):
        keep(*args)
        raise EOFError

    with monkeypatch.context() as patch:
        patch.setattr(loop, "save_state", save_and_stop)
        with pytest.raises(EOFError):
            yield


@pytest.mark.row("slopes-3.3-reconstruction")
def test_it_learns(case, tmp_path):
    run(case, tmp_path / "a", 50)
    curve = losses(tmp_path / "a")
    assert np.mean(curve[-10:]) < 0.9 * np.mean(curve[:5])


def test_a_run_stopped_half_way_ends_in_the_same_weights(case, tmp_path, monkeypatch):
    undisturbed = run(case, tmp_path / "whole", 6, save_every=3)

    with stopped_at_a_save(monkeypatch):
        run(case, tmp_path / "halved", 6, save_every=3)
    halved = run(case, tmp_path / "halved", 6, save_every=3)
    assert losses(tmp_path / "halved") == losses(tmp_path / "whole")
    assert all(torch.equal(undisturbed[key], halved[key]) for key in undisturbed)


@pytest.mark.slow
def test_training_goes_on_from_the_weights_that_a_recipe_names(tmp_path):
    spec = zoo.load("face-parser").spec
    drawn = rendered.render(rendered.sample(4, seed=5), 192)
    labels = (drawn.face_mask > 0.5).astype(np.uint8)
    options = {"steps": 1, "batch": 4, "begin_with": "face-parser", "lr": 0.0, "decay": 0.0}
    trained = train_face_parser(
        spec, drawn.pixels, labels, np.ones(len(labels)), tmp_path, **options
    )
    shipped = zoo.load("face-parser").module.state_dict()
    torch.testing.assert_close(trained["head.weight"], shipped["head.weight"])
    torch.testing.assert_close(trained["encoder.stem.weight"], shipped["encoder.stem.weight"])


def test_the_rate_rises_within_the_first_tenth_falls_to_nothing_and_is_that_of_the_optimiser() -> (
    None
):
    optimiser = torch.optim.AdamW([torch.zeros(1, requires_grad=True)], lr=1.0)
    rates = [loop.one_cycle(optimiser, 2e-3, step, 100) for step in range(100)]
    assert optimiser.param_groups[0]["lr"] == rates[-1]
    assert rates.index(max(rates)) == 9
    assert rates[9:] == sorted(rates[9:], reverse=True)
    assert rates[0] == pytest.approx(2e-4)
    assert 0.97 * 2e-3 < max(rates) <= 2e-3
    assert rates[-1] < 1e-5
