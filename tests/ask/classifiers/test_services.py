"""What is true of every commercial service, asked through its official client; the fake provider answers."""

from __future__ import annotations

import json
import logging
import traceback

import pytest

from gslopes.ask.classifiers import load_classifier
from gslopes.ask.classifiers.catalogue import SERVICES
from gslopes.core.errors import ConfigError, CredentialsError, Refused, ServiceError, Throttled, Unavailable
from tests.fake_provider import FURNITURE, FakeProvider, paint

NAMES = ("azure", "clarifai", "google", "imagga", "rekognition")
each = pytest.mark.parametrize("name", NAMES)

# Variables without which a service cannot be asked; Google may be asked anonymously at another address.
NEEDED = [
    ("azure", "VISION_KEY"),
    ("azure", "VISION_ENDPOINT"),
    ("clarifai", "CLARIFAI_PAT"),
    ("imagga", "IMAGGA_API_KEY"),
    ("imagga", "IMAGGA_API_SECRET"),
    ("rekognition", "AWS_ACCESS_KEY_ID"),
    ("rekognition", "AWS_SECRET_ACCESS_KEY"),
]
TROUBLE = {
    "throttle": (Throttled, None),
    "fail": (Unavailable, False),
    "unavailable": (Unavailable, False),
    "close": (Unavailable, True),  # nobody can know whether the picture was judged before
    "lost": (Unavailable, True),
    "truncate": (Unavailable, True),
    "reject": (CredentialsError, None),
}


def ready(name: str):
    return load_classifier(name)  # which prepares it


def test_the_services_of_the_tests_are_those_that_can_be_asked():
    assert {*NAMES, "captioner-chat", "llm"} == set(SERVICES)  # the last two have tests of their own


@each
def test_every_label_that_is_there_comes_back_with_its_score(provider: FakeProvider, name):
    classifier = ready(name)
    (raw,) = classifier.ask([paint(2.0, 0.45)])
    json.dumps(raw)
    answer = classifier.parse(raw)
    expected = FURNITURE | {
        label: 0.5 + 0.2 * (0.5 * (1 + 2 * slope) - 0.45)
        for label, slope in provider.slopes[name].items()
        if 0.5 * (1 + 2 * slope) > 0.45
    }
    assert answer.status == "answered"
    assert dict(answer.labels) == pytest.approx(expected, abs=1e-3)


@each
def test_a_full_batch_is_one_request_and_answers_keep_its_order(provider: FakeProvider, name):
    classifier = ready(name)
    pictures = [paint(0, (place + 0.5) / classifier.batch) for place in range(classifier.batch)]
    answers = [classifier.parse(raw) for raw in classifier.ask(pictures)]
    there = ["Tourist" in dict(answer.labels) for answer in answers]
    assert there == [(place + 0.5) / classifier.batch < 0.5 for place in range(classifier.batch)]
    (call,) = provider.log.of(name)
    assert len(call.images) == classifier.batch


@each
@pytest.mark.parametrize("trouble", TROUBLE)
def test_trouble_is_named_for_what_it_is_and_the_vendor_does_not_ask_again(provider: FakeProvider, name, trouble):
    classifier = ready(name)
    provider.trouble(1.0, [trouble])
    kind, billed = TROUBLE[trouble]
    with pytest.raises(kind) as raised:
        classifier.ask([paint(0, 0.2), paint(0, 0.8)][: classifier.batch])
    if billed is not None:
        assert raised.value.billed is billed
    assert raised.value.__cause__ is None
    asked = len(provider.log.of(name))
    assert asked == 1 or (name, trouble) == ("google", "reject")  # its client asks for a fresh token first


@pytest.mark.parametrize("name", ["azure", "google", "imagga"])
def test_what_retry_after_says_is_passed_on(provider: FakeProvider, name):
    classifier = ready(name)
    provider.trouble(1.0, ["throttle"])
    provider.retry_after = 7
    with pytest.raises(Throttled) as raised:
        classifier.ask([paint(0, 0.2)])
    assert raised.value.retry_after == 7


@each
def test_no_server_is_told_apart_from_an_answer_that_got_lost(provider: FakeProvider, monkeypatch, name):
    for variable in provider.endpoints:
        monkeypatch.setenv(variable, "http://127.0.0.1:9")  # nobody listens there
    with pytest.raises(Unavailable) as raised:
        ready(name).ask([paint(0, 0.2)])
    assert not raised.value.billed


@each
@pytest.mark.parametrize("data", [b"no picture", paint(0, 0)[:200]], ids=["text", "cut"])
def test_what_is_no_picture_is_refused_and_the_others_are_answered(provider: FakeProvider, name, data):
    classifier = ready(name)
    if classifier.batch == 1:
        with pytest.raises(Refused):
            classifier.ask([data])
    else:
        first, bad, last = classifier.ask([paint(0, 0.2), data, paint(0, 0.8)])
        assert isinstance(bad, Refused)
        assert [classifier.parse(raw).status for raw in (first, last)] == ["answered", "answered"]
    assert len(provider.log.of(name)) == 1


@each
def test_a_picture_against_the_policy_is_refused_with_the_reason(provider: FakeProvider, name):
    provider.refuse(1.0)
    classifier = ready(name)
    try:
        (answer,) = classifier.ask([paint(0, 0.2)])
    except Refused as error:
        answer = error
    assert isinstance(answer, Refused)
    assert "content policy" in answer.reason


@pytest.mark.parametrize(("name", "variable"), NEEDED)
def test_missing_credentials_are_named_before_anything_is_sent(provider: FakeProvider, monkeypatch, name, variable):
    monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", "/nonexistent")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(CredentialsError, match=variable):
        ready(name)
    assert not provider.log.calls


@pytest.mark.parametrize(
    ("name", "variable"), [one for one in NEEDED if not one[1].endswith("ENDPOINT")], ids=lambda value: value
)
def test_wrong_credentials_stop_at_once_and_are_not_shown(provider: FakeProvider, monkeypatch, name, variable):
    monkeypatch.setenv(variable, "wrong-but-still-secret")
    classifier = ready(name)
    with pytest.raises(CredentialsError, match=variable) as raised:
        classifier.ask([paint(0, 0.2)])
    assert "wrong-but-still-secret" not in str(raised.value)
    assert not provider.log.billed(name)


@each
@pytest.mark.parametrize("trouble", [*TROUBLE, "none"])
def test_no_secret_reaches_an_error_a_log_or_an_answer(
    provider: FakeProvider, caplog, capfd, monkeypatch, name, trouble
):
    monkeypatch.setattr(logging, "_logRecordFactory", logging.getLogRecordFactory())  # put back at the end
    with caplog.at_level(logging.DEBUG):
        classifier = ready(name)
        said = [repr(vars(classifier))]
        provider.trouble(0.0 if trouble == "none" else 1.0, ["fail"] if trouble == "none" else [trouble])
        try:
            said.append(json.dumps(classifier.ask([paint(0, 0.2)])))
        except (ServiceError, Throttled, Unavailable) as error:
            said += [str(error), repr(vars(error)), *traceback.format_exception(error)]
    said += [caplog.text, *capfd.readouterr()]
    assert [secret for secret in provider.secrets if secret in "\n".join(said)] == []


@each
def test_recorded_answers_are_read_without_credentials_or_network(provider: FakeProvider, monkeypatch, name):
    (raw,) = ready(name).ask([paint(0, 0.2)])
    for variable in provider.environment:
        monkeypatch.delenv(variable)
    recorded = json.loads(json.dumps(raw))
    assert load_classifier(name, prepare=False).parse(recorded).labels


@pytest.mark.parametrize("name", ["azure", "clarifai", "rekognition"])
def test_the_model_version_that_answered_is_kept(provider: FakeProvider, name):
    classifier = ready(name)
    provider.change_version(name, "2.0", after=1)
    versions = [classifier.parse(classifier.ask([paint(0, 0.2)])[0]).version for _ in range(3)]
    assert versions == [f"{name}-1.0", "2.0", "2.0"]


@each
def test_answers_from_another_address_are_another_version(provider: FakeProvider, monkeypatch, name):
    elsewhere = load_classifier(name).version
    assert elsewhere.startswith("at http://127.0.0.1:")
    for variable in provider.endpoints:
        monkeypatch.delenv(variable)
    assert load_classifier(name, prepare=False).version == ""


@pytest.mark.parametrize(
    "name",
    [
        *("google:max_results=0", "google:images_per_minute=0", "imagga:limit=4", "azure:feature=faces"),
        *("clarifai:endpoint=x", "rekognition:max_labels=0", "rekognition:min_confidence=101"),
    ],
)
def test_impossible_parameters_are_refused(name):
    with pytest.raises(ConfigError):
        load_classifier(name)


@each
def test_pace_and_price_are_the_users_and_no_part_of_the_name(name):
    classifier = load_classifier(f"{name}:rate=3,concurrency=2,price=0.4", prepare=False)
    assert classifier.name == name
    assert (classifier.limits.requests_per_second, classifier.limits.concurrency, classifier.limits.price) == (
        3,
        2,
        0.4,
    )


@each
def test_credentials_are_not_sent_in_the_open_to_another_machine(provider: FakeProvider, monkeypatch, name):
    for variable in provider.endpoints:
        monkeypatch.setenv(variable, "http://gateway.example")
    with pytest.raises(ConfigError, match="without encryption"):
        load_classifier(name)
