"""What is particular to Clarifai."""

from __future__ import annotations

import pytest

from gslopes.core.errors import ClassifierError, ConfigError, Refused
from gslopes.score.classifiers import load_classifier
from tests.fake_provider import FURNITURE, FakeProvider, paint


def labels(name: str, data: bytes) -> dict[str, float]:
    classifier = load_classifier(name)
    return dict(classifier.parse(classifier.ask([data])[0]).labels)


def test_all_concepts_are_asked_for_since_twenty_would_lose_some(provider: FakeProvider):
    assert len(labels("clarifai", paint(0, 0.2))) == len(FURNITURE) + 3
    assert len(labels("clarifai:max_concepts=20", paint(0, 0.2))) == 20
    assert "Tourist" not in labels("clarifai:min_value=0.6", paint(0, 0.2))
    assert provider.log.of("clarifai")[0].parameters == {"max_concepts": 200, "min_value": 0}


def test_the_service_takes_128_pictures_and_no_more(provider: FakeProvider):
    classifier = load_classifier("clarifai")
    assert classifier.batch == 128
    with pytest.raises(ClassifierError, match="at most 128"):
        classifier.ask([paint(0, 0.2, (8, 8))] * 129)


def test_a_server_that_is_away_for_a_moment_is_not_asked_five_times_by_the_client_itself(provider: FakeProvider):
    classifier = load_classifier("clarifai")
    provider.trouble(1.0, ["unavailable"])
    with pytest.raises(ClassifierError):
        classifier.ask([paint(0, 0.2)])
    assert len(provider.log.of("clarifai")) == 1


@pytest.mark.parametrize("wrong", ["max_concepts=201", "min_value=2"])
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(ConfigError):
        load_classifier(f"clarifai:{wrong}")


@pytest.mark.parametrize("code", [10001, 10002])
def test_an_answer_of_a_model_that_will_end_is_an_answer_and_that_is_told_once(provider: FakeProvider, code):
    provider.clarifai_success = code
    classifier = load_classifier("clarifai")
    for _ in range(2):
        raws = classifier.ask([paint(0, 0.2), b"no picture", paint(0, 0.3)])
        assert [isinstance(raw, Refused) for raw in raws] == [False, True, False]
        assert "Tourist" in dict(classifier.parse(raws[0]).labels)
    assert len(classifier.notes) == 1
    assert "deprecated" in classifier.notes[0]


def test_another_model_is_asked_where_it_is(provider: FakeProvider):
    assert labels("clarifai:model=a-model,user=a-team,app=an-app", paint(0, 0.2))
    with pytest.raises(ClassifierError, match="does not exist"):
        labels("clarifai:model=general-image-detection", paint(0, 0.2))
