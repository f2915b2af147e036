"""Prompts answered by a model of one's own: options by its probabilities, the rest written, as ``llm:`` is asked."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from gslopes.ask.classifiers import load_classifier
from gslopes.ask.classifiers.prompt import load_prompt
from gslopes.ask.client import Client
from gslopes.ask.names import with_tasks
from gslopes.ask.questions import Question
from gslopes.core.errors import ConfigError, ModelError, UnknownName
from gslopes.photos.decode import decode
from tests.ask import local_models, trained_model

pytest.importorskip(
    "transformers", reason="transformers is not installed: pip install 'gslopes[transformers]'"
)
ARCHITECTURES = (
    "llava",
    pytest.param("qwen2_vl", marks=pytest.mark.slow),
    pytest.param("idefics3", marks=pytest.mark.slow),
    pytest.param("gemma3", marks=pytest.mark.slow),
)
SIZES = ((64, 64), (64, 40), (48, 64), (90, 30))  # some models see the more tokens, the larger
COLOURS = ((200, 30, 90), (3, 220, 9), (250, 250, 250), (0, 0, 60))


@pytest.fixture(scope="module", params=ARCHITECTURES)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return getattr(local_models, request.param)(tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def llava(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return local_models.llava(tmp_path_factory.mktemp("llava"))


@pytest.fixture
def pictures(picture) -> list[bytes]:
    return [picture(colour, size) for colour, size in zip(COLOURS, SIZES, strict=True)]


def conversation(folder: Path, text: str, begun: str) -> str:
    """What the architecture's own template makes of a question, and how the answer begins."""
    marks = {
        "qwen2_vl": "<|vision_start|><|image_pad|><|vision_end|>",
        "gemma3": "<start_of_image>",
    }
    mark = next((mark for name, mark in marks.items() if folder.name.startswith(name)), "<image>")
    start = "<s>" if folder.name.startswith("idefics3") else ""
    return f"{start}user: {mark}{text} assistant: {begun}"


def chance(folder: Path, data: bytes, text: str, begun: str, written: str) -> float:
    """Log-probability that the whole model, asked about one picture, goes on in these words: one forward pass."""
    import torch
    from transformers import AutoModelForImageTextToText, AutoProcessor

    model = AutoModelForImageTextToText.from_pretrained(folder).eval()
    processor = AutoProcessor.from_pretrained(folder)
    inputs = processor(
        images=[decode(data, "picture")[0]],
        text=[conversation(folder, text, begun + written)],
        return_tensors="pt",
        add_special_tokens=False,
    )
    count = len(written.encode())  # every byte is a token of these models
    with torch.inference_mode():
        logits = model(**inputs).logits[0].double().log_softmax(-1)
    ids = inputs["input_ids"][0, -count:]
    return float(logits[-count - 1 : -1].gather(-1, ids[:, None]).sum())


def test_a_letter_has_the_probability_that_the_model_gives_it_after_the_question(folder, pictures):
    classifier = load_classifier(f"transformers:{folder},prompt=entry")
    prompt = load_prompt("entry")
    raws = json.loads(json.dumps(classifier.ask(pictures)))  # as the cache keeps them
    for data, raw in zip(pictures, raws, strict=True):
        assert [reply["order"] for reply in raw["replies"]] == [raw["order"], raw["order"][::-1]]
        scores = []
        for reply in raw["replies"]:
            text = f"{prompt.system}\n{prompt.text(reply['order'])}"
            found = {key: chance(folder, data, text, '{"answer": "', key) for key in "AB"}
            assert reply["letters"] == pytest.approx(found, abs=2e-5)
            answers = prompt.answers(reply["order"])
            total = sum(map(math.exp, found.values()))
            scores.append({answers[key]: math.exp(found[key]) / total for key in found})
        expected = {option: np.mean([one[option] for one in scores]) for option in prompt.options}
        answer = classifier.parse(raw)
        assert dict(answer.labels) == pytest.approx(expected, abs=1e-4)
        assert [option for option, *_ in answer.orders] == sorted(prompt.options)


def test_a_picture_among_others_is_answered_as_alone(folder, pictures):
    classifier = load_classifier(f"transformers:{folder},prompt=doctor-nurse")
    alone = [classifier.ask([data])[0] for data in pictures]
    for one, other in zip(alone, classifier.ask(pictures), strict=True):
        (mine,), (theirs,) = one["replies"], other["replies"]
        assert mine["letters"] == pytest.approx(theirs["letters"], abs=1e-5)


@pytest.mark.parametrize("task", ["salary", "impression", "labels", "occupation"])
def test_what_has_no_letters_is_written_once_and_read_as_a_reply(llava, pictures, task):
    classifier = load_classifier(f"transformers:{llava},prompt={task},max_tokens=4")
    (raw,) = classifier.ask(pictures[:1])
    (reply,) = raw["replies"]
    assert (raw["scored"], reply["finish"]) == ("repeats", "length")  # random weights never end
    assert reply["text"]


def test_pictures_of_one_photo_are_asked_in_one_order(llava, pictures):
    for task in ("social-class", "doctor-nurse"):
        one = load_classifier(f"transformers:{llava},prompt={task},seed=3")
        one.about("a photo", pictures)
        orders = [tuple(raw["order"]) for raw in one.ask(pictures)]
        assert set(orders) == {one.prompt.order("a photo", 3)}


def test_two_people_are_asked_about_in_one_picture(llava, pictures):
    classifier = load_classifier(f"transformers:{llava},prompt=who-is-the-boss")
    assert classifier.traits.pairs
    (raw,) = classifier.ask(pictures[:1])
    assert set(raw["replies"][0]["letters"]) == {*"ABCDEFGH"[: len(classifier.prompt.options)]}
    assert classifier.parse(raw).status == "answered"


def test_it_says_what_it_is(llava):
    one, other = (
        load_classifier(f"transformers:{llava},prompt={task}") for task in ("salary", "loan")
    )
    assert one.traits.numbers
    assert one.traits.facts["scale"] == "salary (USD a year)"
    assert one.traits.groups
    assert one.traits.limits.free
    assert one.version != other.version
    assert load_classifier(f"transformers:{llava},task=answer,prompt=loan").version == other.version


def test_when_the_memory_is_full_fewer_pictures_are_asked_at_once(llava, pictures, monkeypatch):
    classifier = load_classifier(f"transformers:{llava},prompt=doctor-nurse")
    expected = [classifier.parse(raw).labels for raw in classifier.ask(pictures)]
    whole = classifier._model.forward
    sizes = []

    def forward(*args, input_ids, **more):
        sizes.append(len(input_ids))
        if len(input_ids) > 1:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB.")
        return whole(*args, input_ids=input_ids, **more)

    monkeypatch.setattr(classifier._model, "forward", forward)
    questions = [
        Question(str(place), lambda data=data: data) for place, data in enumerate(pictures)
    ]
    done = []
    assert Client(classifier).ask_parts([(0, questions)], done.append)
    assert max(sizes) > 1
    answers = [answer for progress in done for answer in progress.answers.values()]
    assert len(answers) == len(expected)
    assert all(answer.status == "answered" for answer in answers)


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("{git},prompt=salary", ModelError, "has no chat template: it answers no questions"),
        ("{git},prompt=salery", UnknownName, "salary"),
        ("{git},task=answer", UnknownName, "task"),
        ("{git},prompt=salary,max_tokens=0", ConfigError, "max_tokens must be 1 or more"),
        ("./nowhere,prompt=salary", ModelError, "cannot be loaded"),
    ],
)
def test_what_cannot_answer_is_said(tmp_path, name, error, said):
    folder = local_models.git(tmp_path / "git")
    with pytest.raises(error, match=said):
        load_classifier(f"transformers:{name.format(git=folder)}")


def test_a_task_is_for_whatever_answers_prompts():
    names = with_tasks(["transformers:m,task=answer", "transformers:v"], ["salary", "loan"])
    assert names == (
        "transformers:m,task=answer,prompt=salary",
        "transformers:m,task=answer,prompt=loan",
        "transformers:v",
    )
    with pytest.raises(ConfigError, match="none is named") as raised:
        with_tasks(["transformers:v"], ["salary"])
    assert "transformers:MODEL,task=answer" in raised.value.hint


@pytest.mark.slow
@pytest.mark.evidence
def test_a_model_that_learned_to_tell_bright_from_dark_answers_by_it_in_both_orders(
    tmp_path, picture
):
    folder = trained_model.by_light(tmp_path / "trained")
    tasks = trained_model.BY_LIGHT
    pictures = [picture((light,) * 3) for light in (40, 90, 170, 220)]
    chances, salaries = [], []
    for task, found in zip(tasks, (chances, salaries), strict=True):
        classifier = load_classifier(f"transformers:{folder},prompt={task}")
        answers = [classifier.parse(raw) for raw in classifier.ask(pictures)]
        found += [dict(answer.labels) for answer in answers]
        if task == "doctor-or-nurse":
            (early, late), *_ = [one[1:] for one in answers[0].orders]
            assert abs(early - late) < 0.1  # it reads the option, not its place
    assert [round(one["doctor"]) for one in chances] == [0, 0, 1, 1]
    assert chances[0]["doctor"] < 0.1 < 0.9 < chances[3]["doctor"]
    low, high = trained_model.numbers_of(load_prompt("salary")).values()
    assert [one["salary (USD a year)"] for one in salaries] == [low, low, high, high]
