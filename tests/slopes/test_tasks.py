"""Tasks of a language model from pictures to one page: what was planted is found in each task's unit, and no more."""

import json
import threading
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from gslopes.ask.scoring.score import models_of
from gslopes.core import tables
from gslopes.core.errors import BudgetReached, ConfigError, UnknownName
from gslopes.slopes import audit as stages
from tests.again import redo
from tests.ask import local_models
from tests.fake_provider import FakeProvider
from tests.fake_provider.folder import write_run
from tests.fake_provider.pictures import decode
from tests.fixtures import assert_one_minute, assert_page_fits
from tests.loopback import QuietHandler, serving

MODEL = "llm:some-model"


class Listening:
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def score(run, cache, *tasks: str, name: str = MODEL, **others):
    listening = Listening()
    given = {"device": "cpu", "cache": cache, "yes": True, "executor": listening, **others}
    stages.score_photos(run, [name], tasks=tasks, **given)
    return "\n".join(listening.notes)


def slopes_of(run):
    found = tables.reading(redo(run, "fit").tables["slopes"])
    found["task"] = found["classifier"].str.extract("prompt=([^,]+)")
    return found.set_index(["task", "label"])


def page_of(run) -> str:
    redo(run, "report")
    return (run / "report/index.html").read_text("utf-8")


def asked_of(run) -> dict:
    entries = json.loads((run / "run.json").read_text())["classifiers"]
    return {facts["task"]: facts for facts in entries.values()}


# -- what was planted --------------------------------------------------------------------------------------------------


@pytest.mark.evidence
@pytest.mark.slow
@pytest.mark.browser
def test_planted_slopes_of_every_kind_of_task_are_found_and_compared_on_one_page(
    provider: FakeProvider, tmp_path, chromium
):
    provider.chat.slopes = {
        "assistant": -0.25,
        "bachelor's degree": 0.25,
        "capable": 0.25,
        "warm": 0.0,
        "invite": 0.0,
    }
    provider.chat.number, provider.chat.first = (60_000, -0.03), 0.2
    tasks = ("boss-or-assistant", "education", "hireability", "impression", "salary")
    run = write_run(tmp_path / "run", 24, part=6)
    said = score(run, tmp_path / "cache", *tasks, name=f"{MODEL},price_in=1,repeats=3")
    # both orders, three times
    before = f"{MODEL},prompt=boss-or-assistant,repeats=3: at most 168 pictures, 1,008 calls, "
    assert before in said
    assert f"{MODEL},prompt=salary,repeats=3: at most 168 pictures, 504 calls, " in said
    assert (
        "prompt=boss-or-assistant,repeats=3: 336 calls, " in said
    )  # after: the server gives probabilities
    found = slopes_of(run)
    near = {
        ("boss-or-assistant", "boss"): 12.5,
        ("education", "bachelor's degree"): 12.5,
        ("impression", "list:competent-adjectives"): 12.5,
    }
    for (task, label), slope in near.items():
        row = found.loc[(task, label)]
        assert row["ci_low"] < slope < row["ci_high"], label
    salary, log = (
        found.loc[("salary", f"salary ({unit})")] for unit in ("USD a year", "log points")
    )
    assert salary["slope"] == pytest.approx(-1800, rel=0.03)
    assert log["slope"] == pytest.approx(-3.0, rel=0.05)
    assert (salary["unit"], log["unit"]) == ("USD a year per unit", "log points per unit")
    assert found.loc[("education", "education (levels)"), "slope"] > 0
    assert (found.loc["hireability", "slope"] == 0).all()
    assert found.loc[("impression", "list:warm-adjectives"), "slope"] == 0
    orders = asked_of(run)["boss-or-assistant"][
        "orders"
    ]  # the place first in the question is preferred by 0.2
    assert orders == "points more where an option is asked earlier: assistant +20.0, boss +20.0"
    assert orders in said
    html = page_of(run)
    assert "4 of 5 tasks move and do not agree in sign: salary rises toward feminine; " in html
    assert (
        "boss-or-assistant, education, impression rise toward masculine; of hireability no move is shown"
        in html
    )
    assert orders in html
    assert "Pope and Sydnor" not in html
    assert asked_of(run)["salary"]["source"] in html
    for width, height in ((1280, 800), (390, 844)):
        assert_page_fits(chromium, run / "report/index.html", width, height)
    assert_one_minute(chromium, run / "report/index.html")


@pytest.mark.slow
def test_answers_that_follow_the_order_of_the_options_are_the_headline_everywhere(
    provider: FakeProvider, gslopes, tmp_path
):
    provider.chat.slopes, provider.chat.first = {"assistant": -0.25}, 0.999
    run = write_run(tmp_path / "run", 12, part=6)
    score(run, tmp_path / "cache", "boss-or-assistant", name=f"{MODEL},repeats=2")
    result = redo(run, "fit")
    told = "The answers follow the order of the options, so nothing is said of the face."
    why = "The place of an option moves its score by 99.9 points."
    assert f"{told} {why}" in result.summary
    assert f"{told} {why}" in " ".join(str(result).split())
    assert set(result.findings["decision"]) == {"unjudged"}
    html = page_of(run)
    assert told in html
    assert why in html
    assert "Take more photos" not in page_of(run)
    summary = json.loads((run / "summary.json").read_text())
    assert told in summary["headline"]
    assert (summary["rows"], summary["decisions"]) == ([], {"unjudged": 2})
    for condition, code in (("finding", 0), ("reason == 'order'", 4)):
        assert gslopes("audit", run, "--only", "report", "--fail-if", condition).code == code


@pytest.mark.slow
def test_one_task_alone_shows_a_move_and_a_second_run_asks_nothing(
    provider: FakeProvider, tmp_path
):
    provider.chat.slopes, provider.chat.number = {"nurse": -0.25}, (60_000, 0.0)
    provider.chat.otherwise = "do not lend"
    run = write_run(tmp_path / "run", 24, part=6)
    score(run, tmp_path / "cache", "doctor-or-nurse", "salary", "loan")
    rows = slopes_of(run).loc[["salary"]]
    assert not set(rows["decision"]) & {"finding", "open"}
    html = page_of(run)
    assert (
        "One of 3 tasks alone shows a move: doctor-or-nurse rises toward masculine; of salary, loan no move"
        in html
    )
    assert "“lend” is never the answer" in html
    before = len(provider.log.calls)
    score(
        write_run(tmp_path / "again", 24, part=6), tmp_path / "cache", "doctor-or-nurse", "salary"
    )
    assert len(provider.log.calls) == before


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.evidence
@pytest.mark.slow
def test_refusals_that_depend_on_the_value_are_tested_of_a_number_and_of_a_choice(
    provider: FakeProvider, tmp_path
):
    provider.chat.slopes, provider.chat.refusals = {"nurse": 0.0}, (0.5, 0.3)
    run = write_run(tmp_path / "run", 24, part=8)
    score(run, tmp_path / "cache", "doctor-or-nurse", "salary", name=f"{MODEL},repeats=2")
    found = slopes_of(run)
    assert found.loc[("doctor-or-nurse", "(refused)"), "slope"] == pytest.approx(15, abs=4)
    balance = (
        tables.read(tables.BALANCE, run / "balance.parquet")
        .set_index("classifier")
        .loc[f"{MODEL},prompt=salary,repeats=2"]
    )
    assert balance["refusal_slope"] == pytest.approx(15, abs=4)
    assert balance["refusal_p"] < 0.05
    assert "refusals" in balance["warning"]
    assert "what is left is selected" in page_of(run)


# -- one command -------------------------------------------------------------------------------------------------------


def test_each_task_and_order_is_asked_by_itself_and_the_users_own_file_is_one(
    provider: FakeProvider, tmp_path
):
    mine = tmp_path / "mine.toml"
    mine.write_text(
        'name = "mine"\nkind = "choice"\nquestion = "?"\noptions = ["a", "b"]\norders = "both"\nscoring = "a"\n'
    )
    run = write_run(tmp_path / "run", 2)
    score(run, tmp_path / "cache", "loan", str(mine))
    asked = Counter((call.images, call.parameters["text"]) for call in provider.log.of("chat"))
    assert (len(asked), set(asked.values())) == (2 * 7 * 2 * 2, {1})
    assert {facts["scale"] for facts in asked_of(run).values()} == {"lend", "a"}


def test_a_budget_that_ends_within_a_picture_goes_on_with_the_order_that_is_due(
    provider: FakeProvider, tmp_path
):
    run, name = (
        write_run(tmp_path / "run", 1),
        f"{MODEL},scores=repeats,repeats=2,price=4,concurrency=1",
    )
    for times in range(1, 4):
        with pytest.raises(BudgetReached):
            score(run, tmp_path / "cache", "loan", name=name, budget=0.003)
        assert len(provider.log.calls) == 3 * times  # of four a picture
    score(run, tmp_path / "cache", "loan", name=name)
    asked = Counter((call.images, call.parameters["text"]) for call in provider.log.of("chat"))
    assert (len(asked), set(asked.values())) == (7 * 2, {2})


@pytest.mark.parametrize(
    ("tasks", "name", "error", "problem"),
    [
        (["sallary"], MODEL, UnknownName, "Did you mean 'salary'"),
        (["salary"], "celeba-tagger", ConfigError, "none is named"),
        (["gone.toml"], MODEL, ConfigError, "gone"),
    ],
)
def test_a_wrong_task_is_said_before_any_question(
    provider: FakeProvider, tmp_path, tasks, name, error, problem
):
    run = write_run(tmp_path / "run", 1)
    with pytest.raises(error, match=problem):
        score(run, tmp_path / "cache", *tasks, name=name)
    assert not provider.log.calls


def test_the_command_line_takes_tasks_and_leaves_classifiers_with_a_prompt_as_they_are(
    gslopes, provider, tmp_path
):
    run = write_run(tmp_path / "run", 2)
    args = (
        "--classifier",
        MODEL,
        "--classifier",
        f"{MODEL},prompt=trait",
        "--task",
        "loan",
        "--task",
        "entry",
        "--yes",
    )
    done = gslopes("audit", run, "--only", "score", *args)
    assert done.code == 0, done.err
    assert sorted(json.loads((run / "run.json").read_text())["classifiers"]) == [
        f"{MODEL},prompt=entry",
        f"{MODEL},prompt=loan",
        f"{MODEL},prompt=trait",
    ]


# -- a real model ------------------------------------------------------------------------------------------------------


class Llava(QuietHandler):
    """The chat endpoint over a model of transformers, whose answers are guided to the form that is asked for."""

    def do_POST(self) -> None:  # noqa: N802
        import base64

        import torch

        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        image, text = asked["messages"][-1]["content"]
        picture = decode(base64.b64decode(image["image_url"]["url"].partition(",")[2]))
        chosen = asked["response_format"]["json_schema"]["schema"]["properties"]["answer"].get(
            "enum"
        ) or list("123456789")
        words = [{"type": "image"}, {"type": "text", "text": text["text"]}]
        service = self.service
        with service.lock, torch.inference_mode():
            prompt = service.processor.apply_chat_template(
                [{"role": "user", "content": words}], add_generation_prompt=True
            )
            inputs = service.processor(images=picture, text=prompt, return_tensors="pt")
            logits = service.model(**inputs).logits[0, -1]
        tokens = [service.processor.tokenizer.convert_tokens_to_ids(letter) for letter in chosen]
        logs = (
            (logits[tokens].double() * 30).log_softmax(0).tolist()
        )  # a random model hardly tells pictures apart
        best = chosen[int(np.argmax(logs))]
        number = (
            "enum" not in asked["response_format"]["json_schema"]["schema"]["properties"]["answer"]
        )
        content = json.dumps({"answer": int(best) * 10_000 if number else best})
        top = [{"token": letter, "logprob": log} for letter, log in zip(chosen, logs, strict=True)]
        pieces = ['{"', "answer", '":', ' "', best, '"}']
        held = [{"token": piece, "logprob": -0.1, "top_logprobs": top} for piece in pieces]
        choice = {
            "message": {"role": "assistant", "content": content},
            "finish_reason": "stop",
            "index": 0,
        }
        choice["logprobs"] = {"content": held} if asked.get("logprobs") else None
        self.send(
            200, json.dumps({"model": "llava", "choices": [choice]}).encode(), "application/json"
        )


@pytest.mark.slow
def test_a_model_that_transformers_builds_from_a_config_goes_from_pictures_to_the_page(tmp_path):
    from transformers import AutoProcessor, LlavaForConditionalGeneration

    folder = local_models.llava(tmp_path / "llava")
    model, processor = (
        LlavaForConditionalGeneration.from_pretrained(folder).eval(),
        AutoProcessor.from_pretrained(folder),
    )
    run = write_run(tmp_path / "run", 6, part=6)
    with serving(
        SimpleNamespace(model=model, processor=processor, lock=threading.Lock()), Llava
    ) as server:
        name = f"llm:llava,url=http://127.0.0.1:{server.port}/v1,repeats=1"
        score(run, tmp_path / "cache", "boss-or-assistant", "education", "salary", name=name)
    found = slopes_of(run)
    assert set(found["n"]) == {6}
    levels = found.loc[("education", "education (levels)"), ["y_first", "y_last"]].to_numpy(float)
    assert ((levels >= 1) & (levels <= 5)).all()
    assert len(asked_of(run)) == 3
    assert "<b>Tasks</b>" in page_of(run)


def test_what_the_order_of_options_moves_has_an_interval_over_photos(tmp_path):
    for part, effects in enumerate(([0.1, 0.2], [0.3])):  # of three photos
        content = {
            "models": {"v1": 3},
            "order_effects": {"boss": effects, "assistant": [0.2] * len(effects)},
        }
        (tmp_path / f"models-{part:06d}.json").write_text(json.dumps(content))
    found = models_of(tmp_path)
    assert found["models"] == {"v1": 6}
    assert found["order_points"] == 20.0
    assert (
        found["orders"]
        == "points more where an option is asked earlier: assistant +20.0, boss +20.0 [−4.8, +44.8]"
    )
