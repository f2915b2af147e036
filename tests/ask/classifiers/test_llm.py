"""A language model behind the chat endpoint; the fake server speaks the protocol strictly."""

import json
from functools import partial
from types import SimpleNamespace

import pytest

from gslopes.ask.classifiers import load_classifier
from gslopes.ask.client import Client
from gslopes.ask.cost import Budget
from gslopes.ask.questions import Question
from gslopes.core.errors import (
    BudgetReached,
    ConfigError,
    CredentialsError,
    ServiceError,
    Throttled,
    Unfinished,
    UsageError,
)
from tests.fake_provider import FakeProvider, paint
from tests.loopback import QuietHandler, serving

NAME = "llm:some-model,prompt=doctor-nurse"
NURSE, DOCTOR = paint(0, 0.2), paint(0, 0.8)  # of u below and above the share of the planted label


@pytest.fixture(autouse=True)
def only_nurse(provider: FakeProvider) -> None:
    provider.chat.slopes = {"nurse": -0.25}


def asked(classifier, picture: bytes) -> dict:
    """The raw answer, after as many requests as it takes."""
    for _ in range(60):
        (raw,) = classifier.ask([picture])
        if not isinstance(raw, Unfinished):
            return json.loads(json.dumps(raw))
    raise AssertionError("it never ends")


def scores(name: str, picture: bytes) -> dict[str, float]:
    classifier = load_classifier(name)
    return dict(classifier.parse(asked(classifier, picture)).labels)


def test_the_probabilities_of_the_options_are_their_scores_in_one_request_each(
    provider: FakeProvider,
):
    assert scores(NAME, NURSE) == pytest.approx({"nurse": 0.9, "doctor": 0.05, "cannot tell": 0.05})
    (call,) = provider.log.of("chat")
    assert (call.parameters["stream"], call.parameters["top_logprobs"]) == (False, 20)
    schema = call.parameters["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"]["enum"] == ["A", "B", "C"]
    assert scores(NAME, DOCTOR) == pytest.approx(
        {"doctor": 0.9, "nurse": 0.05, "cannot tell": 0.05}
    )


@pytest.mark.parametrize("how", ["unsupported", "ignored"])
def test_without_probabilities_the_share_of_repeats_is_the_score(provider: FakeProvider, how):
    getattr(provider.chat, how).add("logprobs")
    classifier = load_classifier(f"{NAME},repeats=40")
    raw = asked(classifier, NURSE)
    answer = dict(classifier.parse(raw).labels)
    assert (raw["scored"], len(raw["replies"])) == ("repeats", 40)
    assert answer["nurse"] == pytest.approx(0.9, abs=0.12)
    assert sum(answer.values()) == pytest.approx(1)
    seeds = [
        call.parameters["seed"] for call in provider.log.of("chat") if call.outcome == "answered"
    ]
    assert len(set(seeds)) == len(seeds)


def test_a_parameter_that_is_not_taken_is_left_out_and_that_is_told_once(provider: FakeProvider):
    provider.chat.unsupported = {"response_format", "seed", "max_tokens"}
    classifier = load_classifier(NAME)
    for picture in (NURSE, DOCTOR):
        raw = asked(classifier, picture)
    assert raw["left_out"] == ["max_tokens", "response_format", "seed"]
    assert len(classifier.notes) == 3
    assert provider.log.of("chat")[-1].parameters["max_completion_tokens"] == 200


def test_probabilities_that_must_be_there_and_are_not_stop_the_audit(provider: FakeProvider):
    provider.chat.ignored = {"logprobs"}
    with pytest.raises(ServiceError, match="gives no log-probabilities"):
        load_classifier(f"{NAME},scores=logprobs").ask([NURSE])


def test_all_pictures_of_a_photo_get_one_order_and_photos_differ():
    classifier = load_classifier(NAME)
    orders = []
    for photo in range(12):
        pictures = [paint(a, (photo + 0.3) / 12) for a in (-2, 0, 2)]
        classifier.about(f"photo {photo}", pictures)
        found = {tuple(asked(classifier, picture)["order"]) for picture in pictures}
        assert len(found) == 1
        orders += found
    assert len(set(orders)) == 6


def test_tokens_are_counted_and_priced():
    classifier = load_classifier(f"{NAME},price_in=2,price_out=10")
    usage = classifier.usage(asked(classifier, NURSE))
    text = classifier.prompt.system + classifier.prompt.text(range(3))
    assert usage.tokens_in == 1105 + -(-len(text.encode()) // 3)
    assert 3 <= usage.tokens_out < 200
    assert usage.usd == pytest.approx((2 * usage.tokens_in + 10 * usage.tokens_out) / 1e6)
    assert classifier.traits.limits.cost(1) > usage.usd
    for price, estimated in {",price_in=2": True, ",price=2": False, "": False}.items():
        assert load_classifier(NAME + price).traits.limits.estimated is estimated


class Bill(QuietHandler):
    """Answers with the first option, and reports what it likes."""

    def do_POST(self) -> None:  # noqa: N802
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": '{"answer": "A"}'}
        usage = dict(zip(("prompt_tokens", "completion_tokens"), self.service.usage, strict=False))
        body = {
            "model": "m",
            "choices": [{"message": message, "finish_reason": "stop"}],
            "usage": usage,
        }
        self.service.answered += 1
        self.send(200, json.dumps(body).encode(), "application/json")


@pytest.mark.parametrize("prices", ["price_in=2.5,price_out=10", "price_in=4"])
@pytest.mark.parametrize(
    "usage",
    [
        (0, 0),
        (1, 1),
        (0, 200),
        (10**7, 10**7),
        (10**7, 1),
        (1, 10**9),
        (-5, -5),
        (),
        ("9", None),
        (1e9, 1e9),
    ],
)
def test_no_report_of_tokens_moves_a_bill_beyond_what_was_sent(usage, prices):
    with serving(SimpleNamespace(usage=usage, answered=0), Bill) as server:
        url = f"http://127.0.0.1:{server.port}/v1"
        classifier = load_classifier(
            f"llm:m,prompt=doctor-nurse,scores=repeats,repeats=1,url={url},{prices}"
        )
        most = classifier.traits.limits.cost(1)
        pictures = [paint(0, place / 30) for place in range(30)]
        asked = [Question(f"{place}", partial(bytes, data)) for place, data in enumerate(pictures)]
        budget = Budget(usd=4.5 * most)
        client = Client(classifier, budget=budget)
        with pytest.raises(BudgetReached, match=r"the rest, 0\.\d+ USD"):
            client.ask_parts([(0, asked)], print)
    least = most - 198 * (10 if "price_out" in prices else 0) / 1e6
    assert 4 <= server.answered <= budget.usd / least
    assert server.answered * least * 0.999 <= client.usage.spent <= budget.usd
    assert len([note for note in classifier.notes if "image_tokens" in note]) == (
        "price_in" in prices and usage[:1] not in ((), ("9",), (1e9,))
    )


def test_answers_before_a_failure_are_not_asked_again(provider: FakeProvider):
    classifier = load_classifier(f"{NAME},scores=repeats,repeats=3")
    assert isinstance(classifier.ask([NURSE])[0], Unfinished)
    provider.trouble(1.0, ["throttle"])
    with pytest.raises(Throttled):
        classifier.ask([NURSE])
    provider.heal()
    assert len(asked(classifier, NURSE)["replies"]) == 3
    assert sum(call.outcome == "answered" for call in provider.log.of("chat")) == 3


def test_a_server_elsewhere_needs_a_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL")
    with pytest.raises(CredentialsError, match="OPENAI_API_KEY"):
        load_classifier(NAME)
    with pytest.raises(CredentialsError, match="MODELS_TOKEN"):
        load_classifier(f"{NAME},url=https://models.example/v1,key=MODELS_TOKEN")
    with pytest.raises(ConfigError, match="without encryption"):
        load_classifier(f"{NAME},url=http://models.example/v1")


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ("temperature=0,scores=repeats", "the same answer"),
        ("repeats=0", "1 or more"),
        ("prompt=occupation,scores=logprobs", "up to 20 options"),
        ("prompt=hirability", "no task named 'hirability'. Did you mean 'hireability'"),
    ],
)
def test_parameters_out_of_range_are_said_before_anything_is_sent(
    provider: FakeProvider, parameters, said
):
    with pytest.raises(UsageError, match=said):
        load_classifier(f"llm:m,{parameters}")
    assert not provider.log.calls
