"""What is particular to Amazon Rekognition."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from gslopes.ask.classifiers import load_classifier
from gslopes.ask.classifiers.rekognition import Rekognition
from gslopes.ask.pictures import fit_pictures
from gslopes.core.errors import ConfigError, Refused, ServiceError, Unavailable
from tests.fake_provider import FakeProvider, paint


def labels(name: str, data: bytes) -> dict[str, float]:
    classifier = load_classifier(name)
    return dict(classifier.parse(classifier.ask([data])[0]).labels)


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


@pytest.mark.parametrize("wrong", ["max_labels=0", "min_confidence=101"])
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(ConfigError):
        load_classifier(f"rekognition:{wrong}")


SESSION = "company"
ASK = """
from gslopes.ask.classifiers import load_classifier
from tests.fake_provider import paint
classifier = load_classifier("rekognition:profile=audit,region=eu-west-1")
print(len(classifier.parse(classifier.ask([paint(0, 0.2)])[0]).labels))
"""


class Portal(BaseHTTPRequestHandler):
    """AWS's SSO portal, GET /federation/credentials: keys of a role for a token that ``aws sso login`` has left."""

    keys: ClassVar[dict[str, object]] = {}
    asked: ClassVar[list[tuple[str, str | None]]] = []

    def do_GET(self) -> None:
        token = self.headers.get("x-amz-sso_bearer_token")
        self.asked.append((self.path, token))
        status = 200 if token == "token-of-the-login" else 401
        body = json.dumps({"roleCredentials": self.keys} if status == 200 else {"message": "Session token is invalid"})
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        if status == 401:
            self.send_header("x-amzn-ErrorType", "UnauthorizedException")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def portal(provider: FakeProvider) -> Iterator[ThreadingHTTPServer]:
    keys = provider.accounts
    later = int((datetime.now(UTC) + timedelta(hours=1)).timestamp() * 1000)
    Portal.keys = {"accessKeyId": keys.aws_key, "secretAccessKey": keys.aws_secret, "expiration": later}
    Portal.keys["sessionToken"] = ""
    Portal.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Portal)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def signed_in(home: Path, portal: ThreadingHTTPServer, *, hours: float) -> dict[str, str]:
    """The files that ``aws configure sso`` and ``aws sso login`` leave; an environment in which they are found."""
    cache = home / ".aws" / "sso" / "cache"
    cache.mkdir(parents=True)
    (home / ".aws" / "config").write_text(
        f"[profile audit]\nsso_session = {SESSION}\nsso_account_id = 123456789012\nsso_role_name = Auditor\n"
        f"[sso-session {SESSION}]\nsso_region = eu-west-1\nsso_start_url = https://company.example/start\n"
        "sso_registration_scopes = sso:account:access\n"
    )
    until = (datetime.now(UTC) + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")
    token = {"accessToken": "token-of-the-login", "expiresAt": until, "region": "eu-west-1"}
    (cache / f"{sha1(SESSION.encode()).hexdigest()}.json").write_text(json.dumps(token))
    left_out = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE")
    environ = {name: value for name, value in os.environ.items() if name not in left_out}
    root = str(Path(__file__).resolve().parents[3])
    url = f"http://127.0.0.1:{portal.server_port}"
    return environ | {
        "HOME": str(home),
        "AWS_ENDPOINT_URL_SSO": url,
        "PYTHONPATH": root,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def ask(environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """In a process of its own: botocore finds the home folder when it is imported."""
    return subprocess.run([sys.executable, "-c", ASK], env=environ, capture_output=True, text=True, check=False)


def test_a_profile_that_is_signed_in_by_sso_is_as_good_as_keys(provider: FakeProvider, portal, tmp_path):
    done = ask(signed_in(tmp_path, portal, hours=8))
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 10
    ((path, token),) = set(Portal.asked)
    assert path.startswith("/federation/credentials?")
    assert "role_name=Auditor" in path
    assert token == "token-of-the-login"


def test_a_login_that_has_run_out_is_said_and_its_token_is_not(provider: FakeProvider, portal, tmp_path):
    done = ask(signed_in(tmp_path, portal, hours=-1))
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert "CredentialsError" in last
    assert "expired" in done.stderr
    assert "token-of-the-login" not in done.stderr
    assert not Portal.asked
