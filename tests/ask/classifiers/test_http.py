"""``http:URL`` against an endpoint on this machine that speaks the documented protocol, or does not."""

import base64
import json
import re
import threading
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from gslopes.ask.classifiers import load_classifier
from gslopes.ask.secrets import scrub
from gslopes.core.errors import (
    AnswerError,
    ClassifierError,
    ConfigError,
    CredentialsError,
    Refused,
    ServiceError,
    Throttled,
    Unavailable,
)
from tests.echoes import ECHOES
from tests.loopback import QuietHandler, serving

TOKEN = "planted-token-0123456789"


@dataclass
class Endpoint:
    """Answers a label with each picture's size; ``reply`` may be (status, headers, body) instead."""

    port: int = 0
    requests: list[tuple[dict[str, str], dict[str, list[str]]]] = field(default_factory=list)
    reply: tuple[int, dict[str, str], str] | None = None

    @property
    def name(self) -> str:
        return f"http:http://127.0.0.1:{self.port}/judge"


class Handler(QuietHandler):
    service: Endpoint

    def do_POST(self) -> None:  # noqa: N802
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.service.requests.append((dict(self.headers), body))
        sizes = [len(base64.b64decode(text, validate=True)) for text in body["pictures"]]
        answers = [
            {"refused": "empty"} if size == 1 else {"labels": {"a": 0.1, "b": size / 100}}
            for size in sizes
        ]
        judged = json.dumps({"version": "2026-05-01", "answers": answers})
        status, headers, text = self.service.reply or (200, {}, judged)
        self.send(status, text.encode(), "application/json", headers)


@pytest.fixture
def endpoint():
    with serving(Endpoint(), Handler) as server:
        yield server


def test_answers_come_back_in_order_with_the_version_highest_label_first(endpoint):
    classifier = load_classifier(endpoint.name)
    raws = classifier.ask([b"x" * 50, b"x", b"x" * 70])
    answers = [classifier.parse(json.loads(json.dumps(raw))) for raw in raws]
    assert answers[0].labels == (("b", 0.5), ("a", 0.1))
    assert (answers[1].status, answers[1].reason) == ("refused", "empty")
    assert answers[2].labels[0] == ("b", 0.7)
    assert {answer.version for answer in answers} == {"2026-05-01"}
    assert "Authorization" not in endpoint.requests[0][0]


def test_the_token_travels_in_the_header_and_is_no_part_of_the_name(endpoint, monkeypatch):
    monkeypatch.setenv("TEAM_TOKEN", TOKEN)
    classifier = load_classifier(f"{endpoint.name},token=TEAM_TOKEN")
    classifier.ask([b"xy"])
    assert endpoint.requests[0][0]["Authorization"] == f"Bearer {TOKEN}"
    assert TOKEN not in classifier.name + classifier.version


def test_a_variable_that_is_not_set_is_named_before_anything_is_sent(endpoint, monkeypatch):
    for name in (f"{endpoint.name},token=TEAM_VARIABLE", "http:env:TEAM_VARIABLE"):
        with pytest.raises(CredentialsError, match="TEAM_VARIABLE"):
            load_classifier(name)
    assert endpoint.requests == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [("no json", Unavailable), ('{"answers": [{"labels": {"a": 0.9, "a": 0.1}}]}', AnswerError)],
)
def test_a_reply_that_is_no_json_is_asked_again_one_that_says_two_things_is_not_and_both_are_paid(
    endpoint, text, kind
):
    endpoint.reply = (200, {}, text)
    with pytest.raises(kind) as raised:
        load_classifier(endpoint.name).ask([b"xy"])
    assert raised.value.billed


def test_an_event_stream_is_told_by_name(endpoint):
    endpoint.reply = (200, {}, 'data: {"answers": []}\n\ndata: [DONE]\n\n')
    with pytest.raises(ServiceError, match="its reply is an event stream, not one JSON value"):
        load_classifier(endpoint.name).ask([b"xy"])


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (429, Throttled),
        *((status, Unavailable) for status in (500, 502, 503)),
        *((status, Refused) for status in (413, 415, 422)),
        *((status, CredentialsError) for status in (401, 403)),
        *((status, ServiceError) for status in (400, 404)),
    ],
)
def test_every_status_means_what_the_protocol_says(endpoint, status, kind, monkeypatch):
    monkeypatch.setenv("TEAM_TOKEN", TOKEN)
    endpoint.reply = (status, {"Retry-After": "7"}, f'{{"why": "key={TOKEN}"}}')
    with pytest.raises(kind) as raised:
        load_classifier(endpoint.name).ask([b"xy"])
    assert TOKEN not in str(raised.value)
    if status in (429, 503):
        assert raised.value.retry_after == 7


@pytest.mark.parametrize("kind", ECHOES)
def test_an_endpoint_that_echoes_the_token_shows_none_of_it_and_no_control_character(
    endpoint, kind, monkeypatch
):
    monkeypatch.setenv("TEAM_TOKEN", TOKEN)
    echo = ECHOES[kind](TOKEN)
    endpoint.reply = (400, {}, "x " * 130 + "\x1b]0;owned\x07\x1b[2J" + echo)
    with pytest.raises(ServiceError) as raised:
        load_classifier(f"{endpoint.name},token=TEAM_TOKEN").ask([b"xy"])
    said = str(raised.value)
    assert said.isprintable()
    assert len(said) < 400
    assert TOKEN[2:12] not in said
    assert echo[4:12] not in said


def test_an_address_with_a_key_is_taken_from_the_environment_and_stored_nowhere(
    endpoint, monkeypatch
):
    monkeypatch.setattr(
        "gslopes.ask.secrets._REMEMBERED", set()
    )  # what other tests asked with is not secret here
    monkeypatch.setenv(
        "TEAM_ENDPOINT", f"{endpoint.name.removeprefix('http:')}?api_key=s3cr3t-0123456789"
    )
    classifier = load_classifier("http:env:TEAM_ENDPOINT")
    assert classifier.name == "http:env:TEAM_ENDPOINT"
    assert classifier.ask([b"picture"])
    assert "s3cr3t-0123456789" not in scrub("refused s3cr3t-0123456789")
    assert scrub("at http://127.0.0.1:80") == "at http://127.0.0.1:80"  # the host is not secret


def test_the_server_in_the_manual_works_as_it_stands(picture, monkeypatch):
    page = (Path(__file__).parents[3] / "docs/pages/reference/http.md").read_text("utf-8")
    source = page.partition("```python\n")[2].partition("```")[0]
    assert len([line for line in source.splitlines() if line.strip()]) <= 16
    made = []

    def ephemeral(_: tuple[str, int], handler: type) -> ThreadingHTTPServer:
        monkeypatch.setattr(handler, "log_message", lambda *_: None, raising=False)
        made.append(ThreadingHTTPServer(("127.0.0.1", 0), handler))
        threading.Thread(
            target=made[0].serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()
        made[0].serve_forever = lambda: None  # the example's own call, which would not end
        return made[0]

    monkeypatch.setattr("http.server.HTTPServer", ephemeral)
    exec(compile(source, "manual", "exec"), {})
    classifier = load_classifier(f"http:http://127.0.0.1:{made[0].server_address[1]}")
    raws = classifier.ask([picture((51, 51, 51)), picture((204, 204, 204))])
    assert [dict(classifier.parse(raw).labels)["bright"] for raw in raws] == [
        pytest.approx(0.2),
        pytest.approx(0.8),
    ]
    made[0].shutdown()
    made[0].server_close()


NO = [None, False, "", "false", "No", "none", [], {}, 0]


@pytest.mark.parametrize("no", NO)
def test_a_refusal_that_says_no_is_none(endpoint, no):
    entry = {"labels": {"nurse": 0.9}, "refused": no, "error": no, "errors": no, "version": None}
    endpoint.reply = (
        200,
        {},
        json.dumps({"answers": [entry], "error": no, "version": None, "status": "ok"}),
    )
    classifier = load_classifier(endpoint.name)
    answer = classifier.parse(classifier.ask([b"xy"])[0])
    assert (answer.status, answer.labels, answer.version) == ("answered", (("nurse", 0.9),), "")


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ({"error": {"code": 429, "message": "slow down"}}, Throttled),
        ({"labels": {}, "error": "rate limit exceeded"}, Throttled),
        ({"labels": None, "status": 503}, Unavailable),
        ({"success": False, "code": 413}, ClassifierError),
        ({"error": "no luck with this one"}, AnswerError),
    ],
)
def test_an_error_in_one_entry_is_about_its_picture_alone(endpoint, entry, kind):
    endpoint.reply = (200, {}, json.dumps({"answers": [{"labels": {"nurse": 0.9}}, entry]}))
    classifier = load_classifier(endpoint.name)
    sound, error = classifier.ask([b"xy", b"z"])
    assert classifier.parse(sound).labels == (("nurse", 0.9),)
    assert type(error) is kind
    assert "lacks" not in str(error)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (
            {"predictions": [{"nurse": 0.9}]},
            """lacks the key 'answers': it is {"predictions": [{"nurse": number}]}""",
        ),
        ([{"nurse": 0.9}], """lacks the key 'answers': it is [{"nurse": number}]"""),
        (
            {"answers": [{"nurse": 0.9}]},
            "lacks the key 'labels' (or 'refused'): it is {\"nurse\": number}",
        ),
        ({"answers": {"nurse": 0.9}}, """has {"nurse": number} under 'answers', not a list"""),
        ({"answers": [3]}, "has an entry that is number"),
        ({"answers": [None]}, "has an entry that is null"),
        (
            {"answers": [{"labels": ["nurse"]}]},
            "has [text] under 'labels', not a mapping of label to score",
        ),
    ],
)
def test_a_reply_of_another_form_says_which_keys_are_missing(endpoint, picture, reply, message):
    endpoint.reply = (200, {}, json.dumps(reply))
    classifier = load_classifier(endpoint.name)
    with pytest.raises(AnswerError, match=re.escape(message)) as error:
        classifier.parse(classifier.ask([picture((1, 2, 3))])[0])
    assert len(endpoint.requests) == 1
    assert error.value.billed
    assert 'It should be {"answers": [{"labels": {"nurse": 0.93}}' in str(error.value)


def test_numbers_in_a_unit_of_their_own_are_asked_for_by_kind(endpoint, picture):
    from gslopes.ask.answers import check_answer

    endpoint.reply = (200, {}, json.dumps({"answers": [{"labels": {"age": 34.2}}]}))
    classifier = load_classifier(f"{endpoint.name},kind=number,unit=years")
    answer = classifier.parse(classifier.ask([picture((1, 2, 3))])[0])
    assert check_answer(answer, numbers=classifier.traits.numbers).labels == (("age", 34.2),)
    assert classifier.name.endswith(",kind=number,unit=years")
    scored = load_classifier(endpoint.name)
    with pytest.raises(AnswerError, match=r"34\.2"):
        check_answer(
            scored.parse(scored.ask([picture((1, 2, 3))])[0]), numbers=scored.traits.numbers
        )
    with pytest.raises(ConfigError, match="Only a number has a unit"):
        load_classifier(f"{endpoint.name},unit=years")
    with pytest.raises(ConfigError, match="batch"):
        load_classifier(f"{endpoint.name},batch=0")


def test_a_401_says_which_variable_holds_the_token(endpoint, picture, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", TOKEN)
    endpoint.reply = (401, {}, "no")
    with pytest.raises(CredentialsError, match="rejects the credentials in MY_TOKEN"):
        load_classifier(f"{endpoint.name},token=MY_TOKEN").ask([picture((1, 2, 3))])
    with pytest.raises(CredentialsError, match="token=VARIABLE"):
        load_classifier(endpoint.name).ask([picture((1, 2, 3))])
