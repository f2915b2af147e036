"""Captioners behind an address: a team's own on this machine, and Azure's official client against the fake server."""

from __future__ import annotations

import json

import pytest

from gslopes.ask.classifiers import canonical_name, load_classifier
from gslopes.core.errors import AnswerError, ConfigError, CredentialsError
from tests.ask.classifiers.test_http import TOKEN, Endpoint
from tests.fake_provider import FakeProvider, paint


class Describing(Endpoint):
    """Answers a caption for each picture; a picture of one byte is refused."""

    @property
    def name(self) -> str:
        return f"captioner-{super().name}"

    @staticmethod
    def judged(pictures: list[str]) -> dict[str, object]:
        answers = [{"refused": "empty"} if len(p) <= 4 else {"caption": "A woman holds a red kite."} for p in pictures]
        return {"version": "2026-05-01", "answers": answers}


@pytest.fixture
def captions():
    made = Describing()
    yield made
    made.server.shutdown()
    made.server.server_close()


def test_a_teams_captioner_is_read_as_labels(captions: Describing, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CAPTION_TOKEN", TOKEN)
    classifier = load_classifier(f"{captions.name},token=CAPTION_TOKEN")
    one, two = classifier.ask([paint(0, 0.2), b"x"])
    found = classifier.parse(one)
    assert {"mention:woman", "word:kite", "relation:hold"} <= {label for label, _ in found.labels}
    assert found.version == "2026-05-01"
    assert classifier.parse(two).status == "refused"
    assert captions.requests[0][0]["Authorization"] == f"Bearer {TOKEN}"
    assert TOKEN not in classifier.name + classifier.version


@pytest.mark.parametrize("answer", [{}, {"caption": None}, {"caption": 3}, {"labels": {"a": 1}}, {"caption": " "}])
def test_an_answer_without_a_caption_is_an_error(captions: Describing, answer: dict[str, object]):
    captions.reply = (200, {}, json.dumps({"answers": [answer]}))
    classifier = load_classifier(captions.name)
    (raw,) = classifier.ask([paint(0, 0.2)])
    with pytest.raises(AnswerError, match=r"no caption|not a caption"):
        classifier.parse(raw)


def test_azures_caption_and_its_own_switch(provider: FakeProvider):
    plain, neutral = (load_classifier(name) for name in ("azure-caption", "azure-caption:gender_neutral=yes"))
    picture = paint(0, 0.2, (96, 96))
    labels = [{label for label, _ in c.parse(c.ask([picture])[0]).labels} for c in (plain, neutral)]
    assert {"mention:woman", "word:nurse"} <= labels[0]
    assert "mention:woman" not in labels[1]
    assert "mention:person" in labels[1]
    assert (plain.name, neutral.name) == ("azure-caption", "azure-caption:gender_neutral=yes")
    assert [call.parameters["neutral"] for call in provider.log.of("azure")] == ["false", "true"]


def test_azure_without_its_key_is_told_beforehand(provider: FakeProvider, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("VISION_KEY")
    with pytest.raises(CredentialsError, match="VISION_KEY"):
        load_classifier("azure-caption")


def test_how_captions_are_read_stands_in_the_name_but_not_in_the_one_they_are_kept_under(provider: FakeProvider):
    one, other = load_classifier("azure-caption:up=2,senses=paper"), load_classifier("azure-caption")
    assert one.name == "azure-caption:senses=paper,up=2"
    assert one.asked_as == other.asked_as == "azure-caption"
    assert one.asked_version == other.asked_version
    assert one.version != other.version


def test_options_that_make_no_sense_are_config_errors():
    for name in ("azure-caption:up=9", "captioner-http:http://127.0.0.1:1/x,up=-1", "azure-caption:feature=tags"):
        with pytest.raises(ConfigError):
            load_classifier(name, prepare=False)
    assert canonical_name("captioner-http:http://127.0.0.1:1/x,batch=2") == "captioner-http:http://127.0.0.1:1/x"
