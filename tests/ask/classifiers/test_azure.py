"""What is particular to Azure."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest
from azure.core.credentials import AccessToken

from gslopes.ask.classifiers import load_classifier
from gslopes.core.errors import ClassifierError, CredentialsError, Refused
from tests.fake_provider import FakeProvider, paint


def test_language_and_model_version_are_asked_for(provider: FakeProvider):
    load_classifier("azure:language=de,model_version=2023-10-01").ask([paint(0, 0.2)])
    load_classifier("azure").ask([paint(0, 0.2)])
    given, usual = (call.parameters for call in provider.log.of("azure"))
    assert given == {"language": "de", "model-version": "2023-10-01"}
    assert usual == {"language": "en"}


def test_a_wrong_parameter_is_the_requests_fault_and_not_the_pictures(provider: FakeProvider):
    with pytest.raises(ClassifierError, match="language") as raised:
        load_classifier("azure:language=xx").ask([paint(0, 0.2)])
    assert not isinstance(raised.value, Refused)


def test_an_endpoint_of_azure_itself_is_no_version_of_its_own(monkeypatch):
    monkeypatch.setenv("VISION_ENDPOINT", "https://my-resource.cognitiveservices.azure.com/")
    assert load_classifier("azure", prepare=False).version == ""


def test_a_picture_that_is_too_small_is_refused(provider: FakeProvider):
    with pytest.raises(Refused):
        load_classifier("azure").ask([paint(0, 0.2, (40, 40))])


@pytest.mark.parametrize("name", ["azure:auth=entra", "azure:moderation,auth=entra"])
def test_entra_id_is_as_good_as_a_key(provider: FakeProvider, monkeypatch, name):
    class Identity:
        def get_token(self, *scopes: str, **_: object) -> AccessToken:
            assert scopes == ("https://cognitiveservices.azure.com/.default",)
            return AccessToken(provider.accounts.azure_token, int(time.time()) + 3600)

    monkeypatch.setattr("azure.identity.DefaultAzureCredential", Identity)
    monkeypatch.delenv("VISION_KEY")
    monkeypatch.delenv("CONTENT_SAFETY_KEY")
    classifier = load_classifier(name)
    assert classifier.parse(classifier.ask([paint(0, 0.2)])[0]).labels


class Identity(BaseHTTPRequestHandler):
    """The endpoint of an App Service's managed identity, as ``azure.identity`` asks it: a token for a header."""

    token: ClassVar[str] = ""
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        known = self.headers.get("X-IDENTITY-HEADER") == "planted-header"
        body = {
            "access_token": self.token,
            "expires_on": int(time.time()) + 86400,
            "resource": "r",
            "token_type": "Bearer",
        }
        self.send_response(200 if known else 401)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body if known else {"error": {"code": "unauthorized"}}).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def identity(provider: FakeProvider, monkeypatch) -> Iterator[None]:
    """A machine with a managed identity and nothing else that azure-identity could find."""
    for name in [name for name in os.environ if name.startswith("AZURE_")]:
        monkeypatch.delenv(name)
    Identity.token, Identity.asked = provider.accounts.azure_token, []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Identity)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("IDENTITY_ENDPOINT", f"http://127.0.0.1:{server.server_port}/msi/token")
    monkeypatch.setenv("IDENTITY_HEADER", "planted-header")
    yield
    server.shutdown()
    server.server_close()


def test_an_identity_that_is_not_let_in_is_said_without_its_token(provider: FakeProvider, identity, monkeypatch):
    Identity.token = "planted-token-of-nobody"
    with pytest.raises(CredentialsError) as raised:
        load_classifier("azure:auth=entra").ask([paint(0, 0.2)])
    assert "planted-token" not in str(raised.value)
    assert "AZURE_CLIENT_ID" in str(raised.value)  # no key is what is missing
    assert "VISION_KEY" not in str(raised.value)
