"""What is particular to Google Cloud Vision."""

from __future__ import annotations

import pytest

from gslopes.ask.classifiers import load_classifier
from gslopes.core.errors import ClassifierError, CredentialsError
from tests.fake_provider import FURNITURE, FakeProvider, paint


def labels(name: str, data: bytes) -> dict[str, float]:
    classifier = load_classifier(name)
    return dict(classifier.parse(classifier.ask([data])[0]).labels)


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


def test_the_model_is_asked_for(provider: FakeProvider):
    assert labels("google:model=builtin/latest", paint(0, 0.2))
    assert provider.log.of("google")[0].parameters["model"] == "builtin/latest"
    with pytest.raises(ClassifierError, match="not supported"):
        labels("google:model=builtin/oldest", paint(0, 0.2))
