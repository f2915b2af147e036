"""What is particular to Clarifai."""

from __future__ import annotations

import socketserver
import threading

import pytest

from gslopes.ask.classifiers import load_classifier
from gslopes.core.errors import ClassifierError, Refused, ServiceError
from tests.fake_provider import FURNITURE, FakeProvider, paint


def labels(name: str, data: bytes) -> dict[str, float]:
    classifier = load_classifier(name)
    return dict(classifier.parse(classifier.ask([data])[0]).labels)


def test_all_concepts_are_asked_for_since_twenty_would_lose_some(provider: FakeProvider):
    assert len(labels("clarifai", paint(0, 0.2))) == len(FURNITURE) + 3
    assert len(labels("clarifai:max_concepts=20", paint(0, 0.2))) == 20
    assert "Tourist" not in labels("clarifai:min_value=0.6", paint(0, 0.2))
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
        classifier = load_classifier(f"clarifai:endpoint=http://127.0.0.1:{server.server_address[1]}")
        with pytest.raises(ServiceError, match="to another address, and no picture follows a redirect"):
            classifier.ask([paint(0, 0.2)])
        assert (server.came, server.called) == (1, int(frames))
        server.shutdown()
