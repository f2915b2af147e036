"""Five commercial services: what is true of each, and what is particular to one; the fake provider answers."""

import json
import logging
import socketserver
import threading
import traceback
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from gslopes.ask.classifiers import load_classifier
from gslopes.ask.classifiers.services import Imagga, Rekognition
from gslopes.ask.secrets import scrub
from gslopes.core.errors import (
    ClassifierError,
    ConfigError,
    CredentialsError,
    Refused,
    ServiceError,
    Throttled,
    Unavailable,
)
from tests import loopback
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


@pytest.mark.row(
    "slopes-4.1-google", "slopes-4.1-amazon", "slopes-4.1-clarifai", "slopes-4.2-confidence"
)
@each
def test_every_label_that_is_there_comes_back_with_its_score(provider: FakeProvider, name):
    classifier = ready(name)
    shares = [
        (place + 0.5) / classifier.batch for place in range(classifier.batch)
    ]  # a full batch is one request
    answers = [
        classifier.parse(raw) for raw in classifier.ask([paint(0, share) for share in shares])
    ]
    assert ["Tourist" in dict(answer.labels) for answer in answers] == [
        share < 0.5 for share in shares
    ]
    assert [len(call.images) for call in provider.log.of(name)] == [classifier.batch]
    answer = classifier.parse(json.loads(json.dumps(classifier.ask([paint(2.0, 0.45)])[0])))
    expected = FURNITURE | {
        label: 0.5 + 0.2 * (0.5 * (1 + 2 * slope) - 0.45)
        for label, slope in provider.slopes[name].items()
        if 0.5 * (1 + 2 * slope) > 0.45
    }
    assert answer.status == "answered"
    assert dict(answer.labels) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("name", [*NAMES, "llm:some-model,prompt=doctor-nurse"])
@pytest.mark.parametrize("trouble", TROUBLE)
def test_trouble_is_named_for_what_it_is_and_nothing_is_asked_again(
    provider: FakeProvider, name, trouble
):
    classifier = ready(name)
    provider.trouble(1.0, [trouble])
    provider.retry_after = 7
    kind, billed = TROUBLE[trouble]
    with pytest.raises(kind) as raised:
        classifier.ask([paint(0, 0.2), paint(0, 0.8)][: classifier.batch])
    if billed is not None:
        assert raised.value.billed is billed
    if trouble == "throttle" and name != "clarifai":  # which gives no time
        assert raised.value.retry_after == 7
    assert raised.value.__cause__ is None
    asked = len(provider.log.calls)
    assert asked == 1 or (name, trouble) == (
        "google",
        "reject",
    )  # its client asks for a fresh token first
    assert not [secret for secret in provider.secrets if secret in str(raised.value)]


@each
def test_no_server_is_told_apart_from_an_answer_that_got_lost(
    provider: FakeProvider, monkeypatch, name
):
    for variable in provider.endpoints:
        monkeypatch.setenv(variable, "http://127.0.0.1:9")  # nobody listens there
    with pytest.raises(Unavailable) as raised:
        ready(name).ask([paint(0, 0.2)])
    assert not raised.value.billed


@each
def test_what_is_no_picture_is_refused_and_the_others_are_answered(provider: FakeProvider, name):
    classifier, data = ready(name), paint(0, 0)[:200]
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
def test_missing_credentials_are_named_before_anything_is_sent(
    provider: FakeProvider, monkeypatch, name, variable
):
    monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", "/nonexistent")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(CredentialsError, match=variable):
        ready(name)
    assert not provider.log.calls


@pytest.mark.parametrize(
    ("name", "variable"), [one for one in NEEDED if not one[1].endswith("ENDPOINT")]
)
def test_wrong_credentials_stop_at_once_and_are_not_shown(
    provider: FakeProvider, monkeypatch, name, variable
):
    monkeypatch.setenv(variable, "wrong-but-still-secret")
    classifier = ready(name)
    with pytest.raises(CredentialsError, match=variable) as raised:
        classifier.ask([paint(0, 0.2)])
    assert "wrong-but-still-secret" not in str(raised.value)
    assert not provider.log.billed(name)


@each
@pytest.mark.parametrize("trouble", ["reject", "fail", "truncate", "none"])
def test_no_secret_reaches_an_error_a_log_or_an_answer(
    provider: FakeProvider, caplog, capfd, monkeypatch, name, trouble
):
    monkeypatch.setattr(
        logging, "_logRecordFactory", logging.getLogRecordFactory()
    )  # put back at the end
    with caplog.at_level(logging.DEBUG):
        classifier = ready(name)
        said = [repr(vars(classifier))]
        provider.trouble(1.0, [] if trouble == "none" else [trouble])
        try:
            said.append(json.dumps(classifier.ask([paint(0, 0.2)])))
        except (ServiceError, Throttled, Unavailable) as error:
            said += [str(error), repr(vars(error)), *traceback.format_exception(error)]
    said += [caplog.text, *capfd.readouterr()]
    assert [secret for secret in provider.secrets if secret in "\n".join(said)] == []


@pytest.mark.parametrize("name", ["azure", "clarifai", "rekognition"])
def test_the_model_version_that_answered_is_kept(provider: FakeProvider, name):
    classifier = ready(name)
    provider.change_version(name, "2.0", after=1)
    versions = [classifier.parse(classifier.ask([paint(0, 0.2)])[0]).version for _ in range(3)]
    assert versions == [f"{name}-1.0", "2.0", "2.0"]


@each
def test_answers_from_another_address_are_another_version(
    provider: FakeProvider, monkeypatch, name
):
    elsewhere = load_classifier(name).version
    assert elsewhere.startswith("at http://127.0.0.1:")
    for variable in provider.endpoints:
        monkeypatch.delenv(variable)
    monkeypatch.setenv(
        "VISION_ENDPOINT", "https://my-resource.cognitiveservices.azure.com/"
    )  # Azure's own
    assert load_classifier(name, prepare=False).version == ""


@pytest.mark.parametrize(
    "name",
    [
        *(
            "google:max_results=0",
            "google:images_per_minute=0",
            "imagga:limit=4",
            "azure:feature=faces",
        ),
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
    limits = classifier.traits.limits
    assert (limits.requests_per_second, limits.concurrency, limits.price) == (3, 2, 0.4)
    assert (
        load_classifier(
            "google:images_per_minute=600", prepare=False
        ).traits.limits.pictures_per_second
        == 10
    )


@each
def test_credentials_are_not_sent_in_the_open_to_another_machine(
    provider: FakeProvider, monkeypatch, name
):
    for variable in provider.endpoints:
        monkeypatch.setenv(variable, "http://gateway.example")
    with pytest.raises(ConfigError, match="without encryption"):
        load_classifier(name)


# -- one by one ------------------------------------------------------------------------------------------------------


def labels(name: str, data: bytes) -> dict[str, float]:
    classifier = load_classifier(name)
    return dict(classifier.parse(classifier.ask([data])[0]).labels)


# -- azure -----------------------------------------------------------------------------------------------------------


class Entra(loopback.QuietHandler):
    """The identity endpoint of Azure App Service (2019-08-01), and the analysis, which takes tokens alone.

    Source: https://learn.microsoft.com/azure/app-service/overview-managed-identity#rest-endpoint-reference
    """

    def do_GET(self) -> None:  # noqa: N802
        asked = parse_qs(urlsplit(self.path).query)
        assert asked == {
            "api-version": ["2019-08-01"],
            "resource": ["https://cognitiveservices.azure.com"],
        }
        assert self.headers["X-IDENTITY-HEADER"] == "identity-header-of-this-app"
        if not self.service.known:
            return self.reply(400, {"statusCode": 400, "message": "No managed identity."})
        self.service.issued += 1
        token = {"access_token": "token-0123456789abcdefghij", "token_type": "Bearer"}
        times = {"expires_on": "4102444800", "resource": asked["resource"][0]}
        return self.reply(200, token | times)

    def do_POST(self) -> None:  # noqa: N802
        self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.service.asked.append((self.path, headers))
        values = [{"name": "Nurse", "confidence": 0.5}]
        tags = {"modelVersion": "2023-10-01", "tagsResult": {"values": values}}
        self.reply(200, tags | {"metadata": {"width": 90, "height": 90}})

    def reply(self, status: int, body: object) -> None:
        self.send(status, json.dumps(body).encode(), "application/json")


@pytest.fixture
def entra(tmp_path, monkeypatch):
    certificate = loopback.write_certificate(tmp_path / "own.pem")
    service = SimpleNamespace(port=0, asked=[], issued=0, known=True)
    with loopback.serving(service, Entra, certificate):
        home = f"https://127.0.0.1:{service.port}"
        variables = {
            "SSL_CERT_FILE": str(certificate),
            "REQUESTS_CA_BUNDLE": str(certificate),
            "VISION_ENDPOINT": home,
            "IDENTITY_ENDPOINT": f"{home}/msi/token",
            "IDENTITY_HEADER": "identity-header-of-this-app",
            "AZURE_TOKEN_CREDENTIALS": "ManagedIdentityCredential",
        }
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("VISION_KEY", raising=False)
        yield service


def test_azure_takes_a_token_of_entra_id_in_place_of_a_key_and_the_version_of_its_tagger(entra):
    pytest.importorskip("azure.identity")
    name = "azure:auth=entra,model_version=2023-10-01"
    classifier = load_classifier(name)
    assert classifier.name == name
    assert entra.issued == 1  # known before anything is paid
    (raw,) = classifier.ask([paint(0, 0.2)])
    assert classifier.parse(raw).labels == (("Nurse", 0.5),)
    assert classifier.parse(raw).version == "2023-10-01"
    ((path, headers),) = entra.asked
    assert parse_qs(urlsplit(path).query)["model-version"] == ["2023-10-01"]
    assert headers["authorization"] == "Bearer token-0123456789abcdefghij"
    assert "ocp-apim-subscription-key" not in headers
    assert "0123456789abcdefghij" not in scrub("x token-0123456789abcdefghij")


def test_whom_entra_id_does_not_know_is_told_before_a_picture_is_sent(entra, caplog):
    pytest.importorskip("azure.identity")
    entra.known = False
    with pytest.raises(CredentialsError) as raised:
        load_classifier("azure:auth=entra")
    assert "azure needs credentials in AZURE_TENANT_ID and AZURE_CLIENT_ID and " in str(
        raised.value
    )
    assert caplog.records == []
    assert not entra.asked


def test_the_newest_tagger_is_asked_unless_a_version_is_named(provider):
    assert labels("azure", paint(0, 0.2))
    assert "model-version" not in provider.log.calls[0].parameters


@pytest.mark.parametrize(
    ("name", "labels_there", "asked"),
    [
        ("clarifai", 21, {"max_concepts": 200, "min_value": 0}),
        ("google", 21, {"max_results": [50]}),
        ("google:max_results=10", 10, {"max_results": [10]}),
        ("imagga", 21, {"limit": -1, "threshold": 0, "language": "en"}),
        ("rekognition", 21, {"max_labels": 1000, "min_confidence": 0}),
        (
            "rekognition:min_confidence=55",
            18,
            {"max_labels": 1000, "min_confidence": 55},
        ),  # as Amazon does by itself
        ("rekognition:max_labels=7", 7, {"max_labels": 7, "min_confidence": 0}),
    ],
)
def test_every_label_is_asked_for_since_the_services_own_limits_would_lose_some(
    provider, name, labels_there, asked
):
    assert len(labels(name, paint(0, 0.45))) == labels_there
    assert provider.log.calls[0].parameters == asked


# -- clarifai --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [10001, 10002])
def test_an_answer_of_a_model_that_will_end_is_an_answer_and_that_is_told_once(
    provider: FakeProvider, code
):
    provider.clarifai_success = code
    classifier = load_classifier("clarifai")
    for _ in range(2):
        raws = classifier.ask([paint(0, 0.2), b"no picture", paint(0, 0.3)])
        assert [isinstance(raw, Refused) for raw in raws] == [False, True, False]
        assert "Tourist" in dict(classifier.parse(raws[0]).labels)
    assert len(classifier.notes) == 1
    assert "deprecated" in classifier.notes[0]


def test_another_model_is_asked_where_it_is(provider: FakeProvider):
    assert labels("clarifai:model=a-model,user=a-team,app=an-app", paint(0, 0.2))
    with pytest.raises(ClassifierError, match="does not exist"):
        labels("clarifai:model=general-image-detection", paint(0, 0.2))


# -- google ----------------------------------------------------------------------------------------------------------


def test_another_address_may_be_asked_without_credentials(provider: FakeProvider, monkeypatch):
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS")
    monkeypatch.delenv("GOOGLE_CLOUD_UNIVERSE_DOMAIN")
    assert labels("google", paint(0, 0.2))


def test_a_key_is_as_good_as_a_service_account(provider: FakeProvider, monkeypatch):
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS")
    monkeypatch.setenv("GOOGLE_API_KEY", provider.accounts.google_key)
    assert labels("google", paint(0, 0.2))
    monkeypatch.setenv("GOOGLE_API_KEY", "another-key-that-is-wrong")
    with pytest.raises(CredentialsError) as raised:
        labels("google", paint(0, 0.2))
    assert "another-key" not in str(raised.value)


# -- imagga ----------------------------------------------------------------------------------------------------------


# -- rekognition -----------------------------------------------------------------------------------------------------


def test_a_missing_region_is_named(provider: FakeProvider, monkeypatch):
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    with pytest.raises(ServiceError, match="AWS_DEFAULT_REGION"):
        load_classifier("rekognition")
    assert labels("rekognition:region=eu-west-1", paint(0, 0.2))


def test_a_profile_is_as_good_as_variables(provider: FakeProvider, monkeypatch, tmp_path):
    keys = provider.accounts
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name)
    file = tmp_path / "credentials"
    text = f"[audit]\naws_access_key_id={keys.aws_key}\naws_secret_access_key={keys.aws_secret}\nregion=eu-west-1\n"
    file.write_text(text)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    monkeypatch.setenv("AWS_PROFILE", "audit")
    assert labels("rekognition", paint(0, 0.2))


class Redirecting(socketserver.BaseRequestHandler):
    """Sends every call on to the server's own address, in HTTP/1.1 or in frames of HTTP/2."""

    def handle(self):
        self.server.came += 1
        where = f"http://127.0.0.1:{self.server.server_address[1]}/x".encode()
        if not self.server.frames:
            self.request.recv(100)
            head = b"HTTP/1.1 307 Temporary Redirect\r\nContent-Length: 0\r\nLocation: "
            self.request.sendall(head + where + b"\r\n\r\n")
            return
        location = b"\x0f\x1f" + bytes([len(where)]) + where
        self.request.sendall(frame(4, 0, 0) + frame(4, 1, 0))
        coming = b""
        while data := self.request.recv(65536):
            coming = (coming + data).removeprefix(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            while len(coming) >= 9 + (size := int.from_bytes(coming[:3], "big")):
                if coming[3] == 1:
                    self.server.called += 1
                    stream = int.from_bytes(coming[5:9], "big")
                    self.request.sendall(frame(1, 5, stream, b"\x08\x03307" + location))
                coming = coming[9 + size :]


def frame(kind: int, flags: int, stream: int, data: bytes = b"") -> bytes:
    """RFC 9113, section 4.1."""
    return len(data).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + data


@pytest.mark.parametrize("frames", [False, True])
def test_a_redirect_is_not_followed_and_said(frames, monkeypatch):
    monkeypatch.setenv("CLARIFAI_PAT", "key-0123456789abcdef")
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Redirecting) as server:
        server.daemon_threads, server.frames, server.came, server.called = True, frames, 0, 0
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("CLARIFAI_GRPC_BASE", f"http://127.0.0.1:{server.server_address[1]}")
        classifier = load_classifier("clarifai")
        with pytest.raises(
            ServiceError, match="to another address, and no picture follows a redirect"
        ):
            classifier.ask([paint(0, 0.2)])
        assert (server.came, server.called) == (1, int(frames))
        server.shutdown()


def test_a_plan_that_is_used_up_stops_the_walk():
    request = httpx.Request("POST", "https://api.imagga.com/v2/tags")
    body = {"status": {"type": "error", "text": "You have reached your monthly limit."}}
    response = httpx.Response(403, json=body, request=request)
    error = httpx.HTTPStatusError("403", request=request, response=response)
    ours = Imagga.gslopes_error(error)
    assert type(ours) is ServiceError
    assert "monthly limit" in ours.message


def test_a_refusal_that_is_cut_short_is_asked_about_again_and_not_taken_for_a_failure():
    from botocore.exceptions import ClientError
    from botocore.parsers import JSONParser

    whole = json.dumps(
        {"__type": "InvalidImageFormatException", "Message": "Request has invalid image format"}
    ).encode()
    for body, kind in (
        (whole, Refused),
        (whole[: len(whole) // 2], Unavailable),
        (b"", Unavailable),
    ):
        parsed = JSONParser().parse({"body": body, "headers": {}, "status_code": 400}, None)
        assert isinstance(Rekognition.gslopes_error(ClientError(parsed, "DetectLabels")), kind)
