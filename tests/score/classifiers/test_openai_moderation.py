"""OpenAI's moderation endpoint."""

from __future__ import annotations

import pytest

from gslopes.core.errors import CredentialsError, Throttled
from gslopes.score.classifiers import load_classifier
from tests.fake_provider import FakeProvider, paint


def test_categories_are_labels_and_the_model_is_kept(provider: FakeProvider):
    classifier = load_classifier("openai:moderation")
    (raw,) = classifier.ask([paint(0, 0.2)])
    answer = classifier.parse(raw)
    assert classifier.name == "openai"
    assert dict(answer.labels) == {"unsafe: sexual": 0.6, "unsafe: violence": 0.001}
    assert answer.version == "chat-1.0"


def test_it_is_as_careful_as_the_others(provider: FakeProvider, monkeypatch):
    classifier = load_classifier("openai")
    provider.trouble(1.0, ["throttle"])
    with pytest.raises(Throttled):
        classifier.ask([paint(0, 0.2)])
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(CredentialsError, match="OPENAI_API_KEY"):
        load_classifier("openai")
