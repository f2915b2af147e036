"""Faces and moderation as labels; what the services return is asked of the fake through their own clients."""

from __future__ import annotations

import pytest

from gslopes.ask.classifiers import canonical_name, load_classifier
from gslopes.ask.classifiers.features import NO_FACE, google_face, google_safe_search, rekognition_face
from gslopes.core.errors import ConfigError
from tests.fake_provider import FakeProvider, paint

NURSE, OTHER = paint(0, 0.2), paint(0, 0.8)  # with and without the planted label


def labels(name: str, data: bytes) -> dict[str, float]:
    classifier = load_classifier(name)
    (raw,) = classifier.ask([data])
    return dict(classifier.parse(raw).labels)


@pytest.mark.usefixtures("provider")
@pytest.mark.parametrize(
    ("name", "with_it", "without"),
    [
        ("rekognition:faces", {"gender: Female": 0.97}, {"gender: Male": 0.97}),
        ("rekognition:moderation", {"Alcohol": 0.6}, {}),
        ("google:faces", {"face: headwear": 0.75}, {"face: headwear": 0.0}),
        ("google:safe-search", {"unsafe: racy": 0.5}, {"unsafe: racy": 0.25}),
        ("azure:moderation", {"unsafe: Sexual": 1 / 3}, {"unsafe: Sexual": 0.0}),
    ],
)
def test_what_a_service_says_is_a_label_with_a_score(name, with_it, without):
    found, other = labels(name, NURSE), labels(name, OTHER)
    assert all(found[label] == pytest.approx(score) for label, score in with_it.items())
    assert all(other[label] == pytest.approx(score) for label, score in without.items())


@pytest.mark.usefixtures("provider")
def test_everything_about_a_face_is_kept():
    assert labels("rekognition:faces", NURSE) == pytest.approx(
        {
            "gender: Female": 0.97,
            "age: low end": 0.25,
            "age: high end": 0.35,
            "emotion: CALM": 0.7,
            "emotion: HAPPY": 0.3,
            "face: Smile": 0.2,
        }
    )


def test_the_largest_face_counts_and_none_is_said():
    small = {"BoundingBox": {"Width": 0.1, "Height": 0.1}, "Gender": {"Value": "Male", "Confidence": 90}}
    large = {"BoundingBox": {"Width": 0.4, "Height": 0.5}, "Gender": {"Value": "Female", "Confidence": 80}}
    assert rekognition_face([small, large]) == [("gender: Female", 0.8)]
    assert rekognition_face([]) == google_face([]) == [(NO_FACE, 1.0)]


def test_an_unknown_likelihood_is_no_answer():
    assert google_safe_search({"adult": "UNKNOWN", "racy": "VERY_LIKELY"}) == [("unsafe: racy", 1.0)]


def test_the_usual_feature_is_no_part_of_the_name():
    assert canonical_name("rekognition:labels,max_labels=5") == "rekognition:max_labels=5"
    assert canonical_name("rekognition:faces") == "rekognition:faces"
    with pytest.raises(ConfigError, match="labels, faces, moderation"):
        canonical_name("rekognition:hands")


def test_features_are_as_careful_as_labels(provider: FakeProvider):
    provider.trouble(1.0, ["reject"])
    for name, variable in (("azure:moderation", "CONTENT_SAFETY_KEY"), ("rekognition:faces", "AWS_ACCESS_KEY_ID")):
        with pytest.raises(Exception, match=variable):
            load_classifier(name).ask([NURSE])
