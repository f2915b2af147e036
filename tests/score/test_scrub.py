from __future__ import annotations

import json

import pytest

from gslopes.core.echoes import WINDOW
from gslopes.score.scrub import _MOST, LIMIT, scrub, scrub_json
from tests.echoes import ECHOES, plain

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


def test_a_key_at_the_cut_is_hidden_in_every_form(monkeypatch):
    monkeypatch.setenv("MY_SERVICE_KEY", SECRET)
    for form in ECHOES.values():
        for start in range(LIMIT - 45, LIMIT + 1, 15):
            assert plain(SECRET)[:WINDOW] not in plain(scrub("x " * (start // 2) + form(SECRET)))


def test_blanks_do_not_bring_a_key_that_was_cut_into_the_text(monkeypatch):
    monkeypatch.setenv("MY_SERVICE_KEY", SECRET)
    for blanks in range(_MOST - 30, _MOST, 5):
        assert SECRET[:WINDOW] not in scrub(" " * blanks + SECRET)


@pytest.mark.parametrize("kind", ECHOES)
@pytest.mark.parametrize("secret", [SECRET, "p/a+s s?w&o=r~d>>>???", "ÿÿÿ-ünïcode-key"])
def test_no_form_of_a_key_comes_back(kind, secret, monkeypatch):
    monkeypatch.setenv("MY_SERVICE_KEY", secret)
    echo = ECHOES[kind](secret)
    if kind in ("with dashes", "with dots") and secret.startswith("p/a"):
        pytest.skip("a secret of marks among marks is not known")
    found = scrub(f"refused {echo} today")
    assert echo not in found
    assert "***" in found
    middle = echo[len(echo) // 3 : len(echo) // 3 + 8]
    assert middle not in found
    assert found.startswith("refused ")
    assert found.endswith(" today")
    kept = json.dumps(scrub_json({"label": f"refused {echo} today", echo: 0.5}), ensure_ascii=False)
    assert middle not in kept
    assert kept.count("***") >= 2


@pytest.mark.parametrize("part", [SECRET[:20], SECRET[5:], SECRET[3:15]])
def test_a_part_of_a_key_is_taken_out_too(part, monkeypatch):
    monkeypatch.setenv("MY_SERVICE_KEY", SECRET)
    assert scrub(f"wrong: {part}.") == "wrong: ***."


def test_words_in_common_with_a_key_and_paths_stay(monkeypatch):
    monkeypatch.setenv("MY_SERVICE_KEY", "portrait-production-7Gd1")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/home/somebody/agent.sock")
    monkeypatch.setenv("OAUTH_TOKEN_ADDRESS", "https://login.example.org/oauth/token")
    assert scrub_json({"portrait": 0.5, "production line": 0.25}) == {"portrait": 0.5, "production line": 0.25}
    assert scrub("no file /home/somebody/photos") == "no file /home/somebody/photos"
    assert scrub("404 at https://login.example.org/tag") == "404 at https://login.example.org/tag"
    assert scrub("no /home/somebody/agent.sock") == "no /***"


def test_a_server_decides_neither_title_nor_direction_nor_lines():
    said = scrub("a\x1b]0;title\x07 b\x1b[2J c\u202ed \u200b e\x9bf")
    assert said == "a\\x1b]0;title\\x07 b\\x1b[2J c\\u202ed \\u200b e\\x9bf"
