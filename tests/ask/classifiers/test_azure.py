"""What is particular to Azure."""

from __future__ import annotations

import pytest

from gslopes.ask.classifiers import load_classifier
from gslopes.core.errors import ClassifierError, Refused
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
