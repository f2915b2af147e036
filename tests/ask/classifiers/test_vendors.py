"""What is particular to each of the five services."""

from __future__ import annotations

import json
import socketserver
import threading

import httpx
import pytest

from gslopes.ask.classifiers import load_classifier
from gslopes.ask.classifiers.services import Imagga, Rekognition
from gslopes.ask.pictures import fit_pictures
from gslopes.core.errors import ClassifierError, CredentialsError, Refused, ServiceError, Unavailable
from tests.fake_provider import FURNITURE, FakeProvider, paint


def labels(name: str, data: bytes) -> dict[str, float]:
    classifier = load_classifier(name)
    return dict(classifier.parse(classifier.ask([data])[0]).labels)


# -- azure -----------------------------------------------------------------------------------------------------------


def test_an_endpoint_of_azure_itself_is_no_version_of_its_own(monkeypatch):
    monkeypatch.setenv("VISION_ENDPOINT", "https://my-resource.cognitiveservices.azure.com/")
    assert load_classifier("azure", prepare=False).version == ""


def test_a_picture_that_is_too_small_is_refused(provider: FakeProvider):
    with pytest.raises(Refused):
        load_classifier("azure").ask([paint(0, 0.2, (40, 40))])


# -- clarifai --------------------------------------------------------------------------------------------------------


def test_all_concepts_are_asked_for_since_twenty_would_lose_some(provider: FakeProvider):
    assert len(labels("clarifai", paint(0, 0.2))) == len(FURNITURE) + 3
    assert provider.log.of("clarifai")[0].parameters == {"max_concepts": 200, "min_value": 0}


def test_the_service_takes_128_pictures_and_no_more(provider: FakeProvider):
    classifier = load_classifier("clarifai")
    assert classifier.batch == 128
    with pytest.raises(ClassifierError, match="at most 128"):
        classifier.ask([paint(0, 0.2, (8, 8))] * 129)


def test_a_server_that_is_away_for_a_moment_is_not_asked_five_times_by_the_client_itself(provider: FakeProvider):
    classifier = load_classifier("clarifai")
    provider.trouble(1.0, ["unavailable"])
    with pytest.raises(ClassifierError):
        classifier.ask([paint(0, 0.2)])
    assert len(provider.log.of("clarifai")) == 1


@pytest.mark.parametrize("code", [10001, 10002])
def test_an_answer_of_a_model_that_will_end_is_an_answer_and_that_is_told_once(provider: FakeProvider, code):
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
        with pytest.raises(ServiceError, match="to another address, and no picture follows a redirect"):
            classifier.ask([paint(0, 0.2)])
        assert (server.came, server.called) == (1, int(frames))
        server.shutdown()


# -- google ----------------------------------------------------------------------------------------------------------


def test_fifty_labels_are_asked_for_since_ten_would_lose_some(provider: FakeProvider):
    assert len(labels("google", paint(0, 0.2))) == len(FURNITURE) + 3
    assert len(labels("google:max_results=10", paint(0, 0.2))) == 10
    assert [call.parameters["max_results"] for call in provider.log.of("google")] == [[50], [10]]


def test_another_address_may_be_asked_without_credentials(provider: FakeProvider, monkeypatch):
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS")
    monkeypatch.delenv("GOOGLE_CLOUD_UNIVERSE_DOMAIN")
    assert labels("google", paint(0, 0.2))


def test_the_service_takes_sixteen_pictures_and_no_more(provider: FakeProvider):
    classifier = load_classifier("google")
    assert classifier.batch == 16
    with pytest.raises(ClassifierError, match="Too many images"):
        classifier.ask([paint(0, 0.2)] * 17)


def test_the_quota_of_pictures_is_the_users(provider: FakeProvider):
    assert load_classifier("google").limits.pictures_per_second == 30
    assert load_classifier("google:images_per_minute=600").limits.pictures_per_second == 10


def test_a_key_is_as_good_as_a_service_account(provider: FakeProvider, monkeypatch):
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS")
    monkeypatch.setenv("GOOGLE_API_KEY", provider.accounts.google_key)
    assert labels("google", paint(0, 0.2))
    monkeypatch.setenv("GOOGLE_API_KEY", "another-key-that-is-wrong")
    with pytest.raises(CredentialsError) as raised:
        labels("google", paint(0, 0.2))
    assert "another-key" not in str(raised.value)


# -- imagga ----------------------------------------------------------------------------------------------------------


def test_every_tag_is_asked_for_in_one_language(provider: FakeProvider):
    assert len(labels("imagga", paint(0, 0.2))) == len(FURNITURE) + 3
    assert provider.log.of("imagga")[0].parameters == {"limit": -1, "threshold": 0, "language": "en"}


def test_a_plan_that_is_used_up_stops_the_walk():
    request = httpx.Request("POST", "https://api.imagga.com/v2/tags")
    body = {"status": {"type": "error", "text": "You have reached your monthly limit."}}
    response = httpx.Response(403, json=body, request=request)
    error = httpx.HTTPStatusError("403", request=request, response=response)
    found = Imagga.gslopes_error(error)
    assert type(found) is ServiceError
    assert "monthly limit" in found.message


# -- rekognition -----------------------------------------------------------------------------------------------------


def test_every_label_is_asked_for_whatever_its_confidence(provider: FakeProvider):
    everything = labels("rekognition", paint(0, 0.45))
    usual = labels("rekognition:min_confidence=55", paint(0, 0.45))  # what Amazon does unless asked
    assert set(everything) - set(usual) == {"Nurse", "Engineer", "Tourist"}
    assert len(labels("rekognition:max_labels=7", paint(0, 0.45))) == 7
    (first, *_) = provider.log.of("rekognition")
    assert first.parameters == {"max_labels": 1000, "min_confidence": 0}


def test_a_picture_above_five_mebibytes_is_encoded_anew_and_that_is_said(provider: FakeProvider):
    heavy = paint(0, 0.2, (1600, 1700), seed=0)
    classifier = load_classifier("rekognition")
    assert len(heavy) > classifier.limits.picture_bytes == 5_242_880
    with pytest.raises(Refused):
        classifier.ask([heavy])
    (smaller,), how = fit_pictures([heavy], classifier.limits)
    assert len(smaller) <= 5_242_880
    assert how
    (raw,) = classifier.ask([smaller])
    assert "Tourist" in dict(classifier.parse(raw).labels)


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


def test_a_refusal_that_is_cut_short_is_asked_about_again_and_not_taken_for_a_failure():
    from botocore.exceptions import ClientError
    from botocore.parsers import JSONParser

    whole = json.dumps(
        {"__type": "InvalidImageFormatException", "Message": "Request has invalid image format"}
    ).encode()
    for body, kind in ((whole, Refused), (whole[: len(whole) // 2], Unavailable), (b"", Unavailable)):
        parsed = JSONParser().parse({"body": body, "headers": {}, "status_code": 400}, None)
        assert isinstance(Rekognition.gslopes_error(ClientError(parsed, "DetectLabels")), kind)
