"""A language model behind the chat endpoint; the fake server speaks the protocol strictly."""

import json
import time
from functools import partial
from types import SimpleNamespace

import pytest

from gslopes.ask.classifiers import load_classifier
from gslopes.ask.client import Client
from gslopes.ask.cost import Budget
from gslopes.ask.questions import Question
from gslopes.core.errors import (
    AnswerError,
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


# -- models that think before they answer ------------------------------------------------------------------------------

PRICES = "price_in=1,price_out=10"
PICTURES = [paint(0, place / 12) for place in range(12)]


def audited(provider: FakeProvider, name: str, budget: Budget, pictures=PICTURES, **options):
    """The client that asked about these pictures, and the sum that the server would bill."""
    classifier = load_classifier(name)
    client = Client(classifier, budget=budget, **options)
    questions = [Question(f"{place}", partial(bytes, data)) for place, data in enumerate(pictures)]
    try:
        client.ask_parts([(0, questions)], print)
    except (BudgetReached, ServiceError) as error:
        return client, error
    return client, None


def billed(provider: FakeProvider, classifier, thought: int) -> float:
    """USD that a vendor would ask for: each answered request has its question, and all that it wrote."""
    tokens_out = 0
    for call in provider.log.of("chat"):
        if call.outcome == "answered":
            most = call.parameters.get("max_completion_tokens") or call.parameters["max_tokens"]
            tokens_out += min(most, thought + len('{"answer": "A"}') // 4)
    requests = sum(call.outcome == "answered" for call in provider.log.of("chat"))
    return (requests * classifier._question + 10 * tokens_out) / 1e6


def limits_asked(provider: FakeProvider) -> list[int]:
    """The longest reply that each answered request allowed, in their order."""
    calls = [call.parameters for call in provider.log.of("chat") if call.outcome == "answered"]
    return [call.get("max_completion_tokens") or call["max_tokens"] for call in calls]


@pytest.mark.parametrize("threads", [1, 4])
def test_a_model_that_thinks_costs_one_empty_reply_then_each_request_fits(
    provider: FakeProvider, threads
):
    provider.chat.reasons = 900
    budget = Budget(agreed=1.0)
    name = f"{NAME},repeats=2,{PRICES}"
    client, error = audited(provider, name, budget, threads=threads)
    assert error is None
    assert client.usage.pictures == 12
    asked_for = limits_asked(provider)
    assert (asked_for[0], set(asked_for[1:])) == (200, {4000})
    assert len(asked_for) == 1 + 12 * 2
    # each parameter that it does not take was refused once, although others were waiting
    assert sum(call.outcome == "invalid" for call in provider.log.of("chat")) == 3
    classifier = client.classifier
    assert budget.spent == pytest.approx(billed(provider, classifier, 900), abs=1e-12)
    told = [note for note in classifier.notes if "think before they answer" in note]
    assert len(told) == 1
    assert "4,000" in told[0]


def test_what_was_learned_is_remembered_by_the_next_command(provider: FakeProvider):
    provider.chat.reasons = 900
    first, _ = audited(provider, f"{NAME},repeats=2,{PRICES}", Budget(), PICTURES[:1])
    provider.log.clear()
    other = "llm:some-model,prompt=salary,repeats=1,price_in=1,price_out=10"
    promised = load_classifier(other).traits.limits
    second, error = audited(provider, other, Budget(), PICTURES[:2])
    assert error is None
    assert [call.outcome for call in provider.log.of("chat")] == ["answered"] * 2
    assert promised.tokens[1] == 4000
    assert second.usage.spent <= promised.cost(2)
    assert any("does not take temperature" in note for note in second.classifier.notes)
    # answers of before are found again: what was learned is no part of their key
    again = load_classifier(f"{NAME},repeats=2,{PRICES}")
    assert again.traits.kept_under == first.classifier.traits.kept_under


def test_memory_ends_with_a_month_and_holds_no_key(provider: FakeProvider, monkeypatch, tmp_path):
    monkeypatch.setenv("GSLOPES_CACHE", str(tmp_path))
    provider.chat.reasons = 900
    audited(provider, f"{NAME},repeats=2", Budget(), PICTURES[:1])
    (file,) = tmp_path.glob("llm-*.json")
    assert json.loads(file.read_text()) == {
        "left_out": ["logprobs", "max_tokens", "temperature"],
        "max_tokens": 4000,
    }
    now = time.strftime
    with monkeypatch.context() as later:
        month = time.gmtime(time.time() + 32 * 86_400)
        later.setattr(time, "strftime", lambda form: now(form, month))
        assert load_classifier(NAME)._learned == {"left_out": [], "max_tokens": 0}
    for damaged in ("[]", "{", "7", '{"left_out": ["seed"]}'):
        file.write_text(damaged)
        assert load_classifier(NAME)._learned["max_tokens"] == 0
    elsewhere = load_classifier(f"{NAME},url=http://localhost:1/v1")
    assert elsewhere._learned["left_out"] == []


def test_longer_replies_that_are_not_paid_for_stop_the_command_in_one_sentence(
    provider: FakeProvider,
):
    provider.chat.reasons = 900
    name = f"{NAME},repeats=2,{PRICES}"
    agreed = load_classifier(name).traits.limits.cost(12)
    budget = Budget()
    budget.agree(agreed)
    client, error = audited(provider, name, budget, threads=4)
    assert isinstance(error, BudgetReached)
    assert "What was agreed to" in error.message
    assert "larger --budget" in error.hint
    assert billed(provider, client.classifier, 900) <= budget.spent + 1e-12 <= agreed
    small = Budget(usd=agreed / 12)
    provider.log.clear()
    _, error = audited(provider, f"{name},seed=9", small, threads=4)
    assert isinstance(error, BudgetReached)
    assert not limits_asked(provider)  # 4,000 tokens are known to be needed, and are not paid for


def test_a_length_that_the_user_set_is_kept_and_one_reply_is_enough_to_say_so(
    provider: FakeProvider,
):
    provider.chat.reasons = 900
    name = f"{NAME},repeats=2,max_tokens=300,{PRICES}"
    client, error = audited(provider, name, Budget(), threads=4)
    assert isinstance(error, ServiceError)
    assert "max_tokens=300 was reached first" in error.message
    assert "max_tokens=4000" in error.hint
    assert limits_asked(provider) == [300]
    assert client.usage.spent == pytest.approx(client.classifier.traits.limits.cost(1) / 2)


def test_a_plain_model_is_asked_as_ever(provider: FakeProvider):
    client, _ = audited(provider, f"{NAME},{PRICES}", Budget(), threads=4)
    digest = client.classifier.prompt.digest[:16]
    at = client.classifier.version.partition(" at ")[2]
    assert client.classifier.version == f"prompt {digest} at {at}"
    assert set(limits_asked(provider)) == {200}
    assert all("image_tokens" in note for note in client.classifier.notes)


class TooFew(QuietHandler):
    """Refuses a reply of too few tokens, as OpenAI does if a model thinks for longer."""

    def do_POST(self) -> None:  # noqa: N802
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.service.asked.append(body["max_tokens"])
        if body["max_tokens"] < self.service.least:
            words = (
                "Could not finish the message because max_tokens or model output limit was reached. "
                "Please try again with higher max_tokens."
            )
            error = {"message": words, "type": "invalid_request_error", "param": None, "code": None}
            self.send(400, json.dumps({"error": error}).encode(), "application/json")
            return
        message = {"role": "assistant", "content": '{"answer": "A"}'}
        reply = {"model": "m", "choices": [{"message": message, "finish_reason": "stop"}]}
        self.send(200, json.dumps(reply).encode(), "application/json")


def test_a_reply_that_is_refused_for_its_length_is_asked_for_again():
    with serving(SimpleNamespace(asked=[], least=1000), TooFew) as server:
        url = f"http://127.0.0.1:{server.port}/v1"
        raw = asked(load_classifier(f"llm:m,prompt=doctor-nurse,repeats=1,url={url}"), NURSE)
        assert server.asked == [200, 4000]
        assert raw["replies"][0]["text"] == '{"answer": "A"}'
        # later on it is one picture that it thinks too long about
        classifier = load_classifier(
            f"llm:m,prompt=doctor-nurse,repeats=1,url={url},max_tokens=1000"
        )
        asked(classifier, NURSE)
        server.least = 2000
        with pytest.raises(AnswerError, match="cut off before it said anything"):
            asked(classifier, DOCTOR)


@pytest.mark.parametrize("model", ["o3", "some-model"])
def test_log_probabilities_of_a_model_that_thinks_are_refused_before_anything_is_paid(
    provider: FakeProvider, model
):
    provider.chat.reasons = 900
    for _ in range(2):
        with pytest.raises(ServiceError, match="gives no log-probabilities") as raised:
            load_classifier(f"llm:{model},prompt=doctor-nurse,scores=logprobs").ask([NURSE])
        assert "scores=repeats" in raised.value.hint
    assert {call.outcome for call in provider.log.of("chat")} == {"invalid"}


def test_effort_and_detail_are_sent_and_are_part_of_the_name(provider: FakeProvider):
    provider.chat.reasons = 900
    name = f"{NAME},reasoning_effort=none,detail=low"
    classifier = load_classifier(name)
    assert classifier.name == "llm:some-model,detail=low,prompt=doctor-nurse,reasoning_effort=none"
    asked(classifier, NURSE)
    (call,) = provider.log.of("chat")
    assert call.parameters["reasoning_effort"] == "none"
    assert call.parameters["logprobs"] is True
    # another effort has a memory of its own: it thinks, and takes neither of these
    asked(load_classifier(f"{NAME},reasoning_effort=high,repeats=1"), NURSE)
    assert load_classifier(name)._learned["left_out"] == []


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["responses", "messages", "gemini", "converse"])
def test_a_first_reply_that_is_cut_off_is_the_only_one_in_every_dialect(
    provider: FakeProvider, dialect
):
    provider.chat.thinking = 900
    name = f"{NAME},dialect={dialect},scores=repeats,repeats=2,{PRICES}"
    client, error = audited(provider, name, Budget(), threads=4)
    assert error is None
    asked_for = [call.parameters["most"] for call in provider.log.of(dialect)]
    assert asked_for == [200] + [4000] * 24
    most = client.classifier._question + 10 * (900 + len('{"answer": "A"}') // 4)
    first = client.classifier._question + 10 * 200
    assert client.usage.spent == pytest.approx((24 * most + first) / 1e6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dialect", "option", "place", "value"),
    [
        ("responses", "extra.store=true", "store", True),
        ("responses", "extra.reasoning.effort=high", "reasoning.effort", "high"),
        (
            "gemini",
            "extra.generationConfig.thinkingConfig.thinkingLevel=high",
            "generationConfig.thinkingConfig.thinkingLevel",
            "high",
        ),
        ("messages", "extra.output_config.effort=high", "output_config.effort", "high"),
        ("converse", "extra.outputConfig.effort=high", "outputConfig.effort", "high"),
    ],
)
def test_further_fields_lead_into_the_objects_of_every_dialect(
    provider: FakeProvider, dialect, option, place, value
):
    name = f"{NAME},dialect={dialect},reasoning_effort=low,repeats=1,{option}"
    asked(load_classifier(name), NURSE)
    body = provider.log.of(dialect)[-1].parameters["sent"]
    for part in place.split("."):
        body = body[part]
    assert body == value
