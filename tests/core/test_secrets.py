from __future__ import annotations

import pytest

from gslopes.core.secrets import secret_in_address, secrets_within

SECRET = "s3cr3t-Value_0123456789"


@pytest.mark.parametrize(
    "address",
    [
        f"https://host/x?api_key={SECRET}",
        f"https://host/x?size=2&subscription-key={SECRET}",
        f"https://host/x?Code={SECRET}",
        f"https://host/x?q={SECRET}",
        f"https://host/x#access_token={SECRET}",
        f"https://user:{SECRET}@host/x",
        f"https://{SECRET}@host/x",
        f"//host/x?token={SECRET}",
        f"https://host/hooks/{SECRET}/tag",
        "https://host/AIza" + "b" * 35,
        "https://host/v1/sk-" + "a" * 40,
        "https://host/x?a=%41KIAIOSFODNN7EXAMPLE",
    ],
)
def test_a_key_in_an_address_is_found_and_not_repeated(address, monkeypatch):
    monkeypatch.setenv("MY_SERVICE_KEY", SECRET)
    found = secret_in_address(address)
    assert found
    assert SECRET not in found


@pytest.mark.parametrize(
    "address",
    [
        *("https://host/x", "https://host:8443/v1/models/abc-123/predict?size=2&top_k=5", "//host/x", "", "model.onnx"),
        *("http://[", "https://host/3f2b9c1e-0000-4000-8000-1234567890ab/tag", "https://host/keyboard?keyword=cat"),
    ],
)
def test_an_address_without_a_key_is_one(address):
    assert secret_in_address(address) == ""


def test_of_an_address_that_is_a_secret_the_host_and_plain_words_are_none():
    found = secrets_within(f"https://me:{SECRET}@gateway.example:8443/predictions/h00k-9f/tag?code=abc&size=2#t=xyz")
    assert found == ["me", SECRET, "h00k-9f", "abc", "2", "xyz"]
    assert secrets_within("http://[") == []
