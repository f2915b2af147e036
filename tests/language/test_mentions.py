from __future__ import annotations

from gslopes.language.mentions import Mention, Mentions
from tests.language.conftest import parse


def test_adjectives_count_only_of_people(mentions: Mentions):
    assert mentions.identity(parse("A male elephant.")) == set()
    assert Mention("gender", "male", "masculine") in mentions.identity(parse("A male player."))


def test_what_is_denied_is_not_mentioned(mentions: Mentions):
    assert mentions.people(parse("A bench with no people.")) == []


def test_statues_and_mannequins_are_no_people(mentions: Mentions):
    assert not mentions.is_person("mannequin")
    assert mentions.is_person("tennis_player")


def test_weapons_are_those_of_wordnet(mentions: Mentions):
    assert mentions.is_weapon("gun")
    assert not mentions.is_weapon("knife")
