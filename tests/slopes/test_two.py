"""Questions about two people, from pictures to the page: what one end is preferred by, and what the order does."""

import json
import math
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gslopes.ask.classifiers import load_classifier
from gslopes.ask.classifiers.compatible import DIALECTS
from gslopes.core import runfolder, tables
from gslopes.core.errors import BudgetReached, UsageError
from gslopes.slopes import audit as stages
from gslopes.slopes.drift import check_drift
from tests.again import redo
from tests.fake_provider import FakeProvider, two
from tests.fake_provider.folder import write_run
from tests.fake_provider.pictures import paint, place

TASK = "whom-to-hire"
SHARE = "share-of-two"


class Listening:
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def score(run, cache, model: two.Chooser, options: str = "", tasks=(TASK,), **others) -> str:
    listening = Listening()
    given = {"device": "cpu", "cache": cache, "yes": True, "executor": listening, **others}
    stages.score_photos(run, [f"{model.name}{options}"], tasks=list(tasks), **given)
    return "\n".join(listening.notes)


def planted(left: np.ndarray, right: np.ndarray) -> float:
    """Three of four photos prefer more of the attribute, by a little; the others less; the first one has 10 points."""
    (a, u), (b, _) = place(left), place(right)
    return 0.55 + 0.05 * (a - b) * (1 if u < 0.75 else -1)


def steepest(run) -> tuple[pd.Series, pd.Series]:
    """The slope and the share of the task."""
    found = redo(run, "fit").tables["slopes"].set_index("estimator")
    return found.loc["photo-measure"], found.loc[SHARE]


@pytest.mark.parametrize("how", ["two", "one"])
def test_a_pair_is_two_pictures_or_one_with_both_and_both_orders_are_asked_once(tmp_path, how):
    run = write_run(tmp_path / "run", 2)
    with two.choosing(planted, logprobs=True) as model:
        said = score(run, tmp_path / "cache", model, f",pictures={how}")
        (billed,) = re.findall(r"at most 14 pictures, 70 calls, an estimated ([\d,]+) \+", said)
        shown = 1 + (how == "two")
        assert 0 < int(billed.replace(",", "")) - 70 * 1105 * shown < 70 * 80  # beside the words
        assert len(model.asked) == 14
        assert set(model.asked.values()) == {1}
        assert model.sizes == {(96, 96, 3) if how == "two" else (96, 192, 3)}
        score(write_run(tmp_path / "again", 2), tmp_path / "cache", model, f",pictures={how}")
        assert sum(model.asked.values()) == 14
    scores = tables.read(tables.SCORES, run / "scores.parquet")
    assert set(scores["label"]) == {f"{TASK} (points ahead)"}
    wide = scores.pivot(index="photo", columns="step", values="score").to_numpy()
    assert np.allclose(wide + wide[:, ::-1], 20, atol=0.6)  # what the first one has, and no more
    assert np.abs(wide[:, 6] - wide[:, 0]) == pytest.approx(80, abs=2)


@pytest.mark.slow
@pytest.mark.evidence
def test_the_share_that_each_end_wins_is_told_with_its_interval_and_the_order_apart(tmp_path):
    run = write_run(tmp_path / "run", 24, part=12)
    with two.choosing(planted, logprobs=True) as model:
        said = score(run, tmp_path / "cache", model)
    assert "the first picture is chosen in 55.0 % of the questions, whatever it shows" in said
    slope, share = steepest(run)
    # a photo's three pairs are 4, 8/3 and 4/3 units apart: the brighter one has 70, 63.3 and 56.7 %; of 18 of 24 photos
    assert share["slope"] == pytest.approx(50 + 40 / 3 * (18 - 6) / 24, abs=0.2)
    spread = 40 / 3 * np.sqrt(4 * 0.75 * 0.25 * 24 / 23)
    half = stats.t.ppf(0.975, 23) * spread / np.sqrt(24)
    assert share["ci_high"] - share["ci_low"] == pytest.approx(
        2 * half, rel=0.15
    )  # corrected for skewness
    assert slope["slope"] == pytest.approx(20 * (18 - 6) / 24, abs=0.2)  # points ahead per unit
    result = redo(run, "fit")
    told = f"“{TASK}”: toward masculine in {share['slope']:.1f} ["
    assert told in result.summary
    assert "The first picture is chosen in 55.0 %, whatever it shows." in result.summary
    redo(run, "report")
    html = (run / "report/index.html").read_text("utf-8")
    assert told in html
    assert "whatever it shows" in html
    assert told in json.loads((run / "summary.json").read_text())["headline"]


@pytest.mark.slow
@pytest.mark.evidence
@pytest.mark.parametrize("choose", [two.first, two.second])
def test_a_model_that_follows_the_order_alone_is_no_finding_and_says_nothing_of_the_face(
    tmp_path, choose
):
    run = write_run(tmp_path / "run", 12, part=12)
    with two.choosing(choose) as model:
        score(run, tmp_path / "cache", model, ",repeats=1")
    slope, share = steepest(run)
    assert (slope["slope"], share["slope"]) == (0, 50)
    assert math.isnan(share["ci_low"])
    result = redo(run, "fit")
    assert set(result.findings["decision"]) == {"unjudged"}
    assert (
        "The answers follow the order of the options, so nothing is said of the face."
        in result.summary
    )
    first = {"first": "100.0", "second": "0"}[choose.__name__]
    assert f"The first picture is chosen in {first} %, whatever it shows" in result.summary


@pytest.mark.slow
@pytest.mark.evidence
def test_answers_by_lot_are_no_finding(tmp_path):
    run = write_run(tmp_path / "run", 24, part=12)
    with two.choosing(two.chance) as model:
        score(run, tmp_path / "cache", model, ",repeats=1")
    slope, share = steepest(run)
    assert share["ci_low"] < 50 < share["ci_high"]
    assert slope["decision"] == "none"


@pytest.mark.slow
@pytest.mark.parametrize("how", ["two", "one"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_takes_both_pictures(provider: FakeProvider, tmp_path, dialect, how):
    provider.chat.prefers = 0.1
    run = write_run(tmp_path / "run", 1)
    name = f"llm:m,prompt={TASK},dialect={dialect},pictures={how},repeats=1,temperature=0,scores=repeats"
    stages.score_photos(run, [name], device="cpu", cache=tmp_path / "cache", yes=True)
    assert [len(call.images) for call in provider.log.of(dialect)] == [1 + (how == "two")] * 7
    scores = tables.read(tables.SCORES, run / "scores.parquet").set_index("step")["score"]
    assert scores.drop(index=3).tolist() == [-100] * 3 + [100] * 3


def test_a_budget_counts_both_pictures_and_the_same_command_goes_on(tmp_path):
    run = write_run(tmp_path / "run", 1)
    with two.choosing(two.first) as model:
        options = ",repeats=1,price_in=1000,price_out=0,concurrency=1"
        with pytest.raises(BudgetReached):
            score(
                run, tmp_path / "cache", model, options, budget=7
            )  # 2.3 USD a question of two pictures
        assert sum(model.asked.values()) == 3
        score(run, tmp_path / "cache", model, options)
        assert sum(model.asked.values()) == 7


def test_try_shows_two_photos_beside_one_another(tmp_path, gslopes):
    photos = [tmp_path / f"{name}.png" for name in "ab"]
    for index, photo in enumerate(photos):
        photo.write_bytes(paint(index, 0.3))
    with two.choosing(planted, logprobs=True) as model:
        sent = ("--out", tmp_path / "sent.png")
        done = gslopes("try", f"{model.name},prompt={TASK}", *photos, *sent, "--json")
    assert done.code == 0, done.err
    trial = json.loads(done.out)
    ahead = [picture["labels"][f"{TASK} (points ahead)"] for picture in trial["pictures"]]
    assert ahead[0] == pytest.approx(0, abs=0.5)  # behind by 10, first by 10
    assert "192 x 96" in trial["sent"]


def test_a_sample_is_not_asked_again_and_a_grid_of_names_is_not_asked_of_two(tmp_path):
    run = write_run(tmp_path / "run", 2)
    with two.choosing(two.first) as model:
        score(run, tmp_path / "cache", model, ",repeats=1")
        asked = sum(model.asked.values())
        name = next(iter(json.loads((run / "run.json").read_text())["classifiers"]))
        with pytest.raises(UsageError, match="opposite values"):
            check_drift(run, load_classifier(name), Listening(), sample=5)
        assert sum(model.asked.values()) == asked


# -- a grid ------------------------------------------------------------------------------------------------------------


def grid_run(run, photos: int):
    """As ``write_run``, its pictures those of a grid of three by three: brighter by both attributes."""
    source = write_run(run, photos, values=(-2.0, 0.0, 2.0), part=photos)
    edits = tables.read(tables.EDITS, source / "edits.parquet")
    rows = []
    shutil.rmtree(source / "edits")
    (source / "edits/gender-x-race").mkdir(parents=True)
    for number, photo in enumerate(sorted(set(edits["photo"]))):
        for step in range(9):
            gender, race = 2 * (step % 3 - 1), step // 3 - 1
            file = f"edits/gender-x-race/{photo[:16]}-{step}.png"
            (source / file).write_bytes(paint((gender + 0.5 * race) / 2, (number + 0.5) / photos))
            rows.append((photo, "gender-x-race", step, float(step), file, 0.5))
    frame = pd.DataFrame(rows, columns=pd.Index(tables.EDITS.columns))
    runfolder.write_table(
        tables.EDITS, frame, runfolder.part_path(source, "synthesise", tables.EDITS, 0)
    )
    runfolder.merge(source, tables.EDITS, ["synthesise"], 1)
    content = json.loads((source / "run.json").read_text())
    content["values"] = {
        "gender": [-2.0, 0.0, 2.0],
        "race": [-1.0, 0.0, 1.0],
        "gender-x-race": [float(step) for step in range(9)],
    }
    runfolder.write_json(source / "run.json", content)
    return source


@pytest.mark.slow
@pytest.mark.evidence
def test_opposite_cells_of_a_grid_have_the_slopes_of_both_attributes_and_no_interaction(tmp_path):
    run = grid_run(tmp_path / "run", 24)
    with two.choosing(planted, logprobs=True) as model:
        score(run, tmp_path / "cache", model)
        assert len(model.asked) == 24 * 9
    found = redo(run, "fit").tables["slopes"]
    views = found.set_index(["attribute", "estimator"])
    # a cell and its opposite differ by 2 gender/2 + 2 race/4 in a: 0.05 of that, in points ahead, of half the photos
    assert views.loc[("gender", "photo-measure"), "slope"] == pytest.approx(10 * 0.5, abs=0.2)
    assert views.loc[("race", "photo-measure"), "slope"] == pytest.approx(5 * 0.5, abs=0.2)
    assert set(views.index.get_level_values(0)) == {"gender", "race"}
    redo(run, "report")
    assert "toward masculine in" in (run / "report/index.html").read_text("utf-8")
