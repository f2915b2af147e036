"""What is particular to Amazon Rekognition."""

from __future__ import annotations

import json

import pytest

from gslopes.ask.classifiers import load_classifier
from gslopes.ask.classifiers.rekognition import Rekognition
from gslopes.ask.pictures import fit_pictures
from gslopes.core.errors import Refused, ServiceError, Unavailable
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
