from __future__ import annotations

import base64
from urllib.parse import quote, quote_plus

import pytest

from gslopes.score.scrub import LIMIT, scrub

SECRET = "s3cr3t-Value_0123456789"


@pytest.mark.parametrize(
    "text",
    [
        f"401 for https://api.example.com/v1?key={SECRET}&size=2",
        f"Authorization: Bearer {SECRET}",
        f"Authorization: AWS4-HMAC-SHA256 Credential={SECRET}/eu, SignedHeaders=host, Signature={SECRET}",
        f"headers {{'Authorization': 'Basic {SECRET}', 'Host': 'x'}}",
        f"bearer {SECRET}",
        f"Ocp-Apim-Subscription-Key: {SECRET}",
        f"X-Amz-Security-Token={SECRET}&X-Amz-Signature={SECRET}",
        f"X-Amz-Credential: {SECRET}",
        f'{{"api_key": "{SECRET}", "image": 3}}',
        f"api-key={SECRET}; apikey={SECRET}; API_KEY : '{SECRET} and more'",
        f"aws_secret_access_key = {SECRET}",
        f"password={SECRET} passwd={SECRET} pwd={SECRET}",
        f"client_secret={SECRET}&refresh_token={SECRET}",
        f"https://user:{SECRET}@host/path",
        f"https://{SECRET}@host/path",
        f"Cookie: session={SECRET}; other={SECRET}",
        f"Clarifai PAT={SECRET} refused",
        f"-----BEGIN PRIVATE KEY-----\n{SECRET}\n-----END PRIVATE KEY-----",
        f"Azure?sig={SECRET}",
    ],
)
def test_no_credential_survives(text: str):
    assert SECRET not in scrub(text)
    assert "***" in scrub(text)


@pytest.mark.parametrize(
    "text", ["AKIAIOSFODNN7EXAMPLE", "AIza" + "b" * 35, "ya29.abcDEF-123", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"]
)
def test_keys_of_a_known_shape_are_known_without_a_name(text: str):
    assert text not in scrub(f"refused {text} today")


@pytest.mark.parametrize("name", ["VISION_KEY", "AWS_SECRET_ACCESS_KEY", "CLARIFAI_PAT", "IMAGGA_TOKEN", "MY_APIKEY"])
def test_the_value_of_a_secret_variable_is_taken_out_wherever_it_stands(name, monkeypatch):
    monkeypatch.setenv(name, SECRET)
    assert scrub(f"unexpected character in {SECRET!r} at 3") == "unexpected character in '***' at 3"


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: expected 3 channels, not 4",
        "the edited photo cannot be read: No such file or directory",
        "404 for https://api.example.com/v1/tags?size=2",
        "the keyboard=1 and monkey=2 are not keys",
    ],
)
def test_an_ordinary_sentence_is_left_as_it_is(text: str):
    assert scrub(text) == text


def test_the_result_is_one_short_line_of_unicode():
    result = scrub("a\nb\r\n\tc \ud800 " + "x" * 1000)
    assert result.startswith("a b c ? xxx")
    assert len(result) == LIMIT
    assert result.endswith("…")


def test_a_secret_at_the_cut_is_hidden_before_the_cut():
    assert SECRET[:4] not in scrub("x" * (LIMIT - 10) + f" key={SECRET}")


def forms(secret: str) -> dict[str, str]:
    """What a server may echo of a key."""
    data = secret.encode()
    return {
        "url": quote(secret, safe=""),
        "plus": quote_plus(secret),
        "hex": data.hex(),
        "HEX": data.hex().upper(),
        "base64": base64.b64encode(data).decode(),
        "url-safe base64": base64.urlsafe_b64encode(data).decode(),
        "base64 of user:password": base64.b64encode(b"me:" + data).decode(),
        "base64 of another user": base64.b64encode(b"user:" + data + b"!").decode(),
        "base64 in a sentence": base64.b64encode(b"a key: " + data + b" and more").decode(),
    }


@pytest.mark.parametrize("kind", forms(""))
@pytest.mark.parametrize("secret", [SECRET, "p/a+s s?w&o=r~d>>>???", "ÿÿÿ-ünïcode-key"])
def test_no_form_of_a_key_comes_back(kind, secret, monkeypatch):
    monkeypatch.setenv("MY_SERVICE_KEY", secret)
    echo = forms(secret)[kind]
    found = scrub(f"refused {echo} today")
    assert echo not in found
    assert "***" in found
    middle = echo[len(echo) // 3 : len(echo) // 3 + 8]
    assert middle not in found
