"""What is particular to Imagga."""

from __future__ import annotations

import httpx
import pytest

from gslopes.ask.classifiers import load_classifier
from gslopes.ask.classifiers.imagga import Imagga
from gslopes.core.errors import ServiceError
from tests.fake_provider import FURNITURE, FakeProvider, paint


def labels(name: str, data: bytes) -> dict[str, float]:
    classifier = load_classifier(name)
    return dict(classifier.parse(classifier.ask([data])[0]).labels)


def test_every_tag_is_asked_for_in_one_language(provider: FakeProvider):
    assert len(labels("imagga", paint(0, 0.2))) == len(FURNITURE) + 3
    assert len(labels("imagga:limit=4", paint(0, 0.2))) == 4
    assert "Tourist" not in labels("imagga:threshold=60", paint(0, 0.2))
    assert "Tourist" in labels("imagga:language=de", paint(0, 0.2))
    assert provider.log.of("imagga")[0].parameters == {"limit": -1, "threshold": 0, "language": "en"}


def test_a_plan_that_is_used_up_stops_the_walk():
    request = httpx.Request("POST", "https://api.imagga.com/v2/tags")
    body = {"status": {"type": "error", "text": "You have reached your monthly limit."}}
    response = httpx.Response(403, json=body, request=request)
    error = httpx.HTTPStatusError("403", request=request, response=response)
    found = Imagga.gslopes_error(error)
    assert type(found) is ServiceError
    assert "monthly limit" in found.message


def test_an_answer_in_another_language_is_said_and_stops(provider: FakeProvider):
    with pytest.raises(ServiceError, match=r"answers in en, not in xx.* Write imagga:language=en"):
        labels("imagga:language=xx", paint(0, 0.2))
