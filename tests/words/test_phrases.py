"""Whom a possessive names: nobody in *the women's restroom*, a woman in *a woman's hat*; by the rule of the module."""

import pytest

from gslopes.words.chunks import standard
from gslopes.words.graph import Mentions
from gslopes.words.pos_tagger import LIST, for_whom
from gslopes.words.wordlists import shipped
from tests.words.conftest import parse

NOBODY = """
A sign for the women's restroom.
The men's room.
ladies' toilet
a girls' school sign
A boys' locker room
men's and women's restrooms
men and women's bathrooms
the men's and the women's toilet
women's public restroom
a women's hat
this men's shirt
women's shoes in a store
a children's book
a woman's restroom
tennis players' locker room
a young women's clothing store
the ladies' room door
"""
SOMEBODY = """
a woman's hat
the man's dog
the women's hats
two girls' school bags
the two ladies' dog
these men's room
a women's tennis team
a man's room
the girl's school
boys' hands
the women's final
A woman in the men's room
the king's men
The woman's using the restroom
"""


@pytest.mark.parametrize("caption", NOBODY.strip().splitlines())
def test_who_a_thing_is_for_is_nobody_in_the_picture(mentions: Mentions, caption: str):
    facts = parse(caption)
    assert facts
    assert not mentions.people(facts)
    assert not mentions.identity(facts)
    assert {parse(caption.replace("'", apostrophe)) for apostrophe in "’＇`"} == {facts}


@pytest.mark.parametrize("caption", SOMEBODY.strip().splitlines())
def test_whose_a_thing_is_is_somebody(mentions: Mentions, caption: str):
    people = mentions.people(parse(caption))
    assert people
    assert people == mentions.people(parse(caption.replace("'", "’")))


def test_a_plural_with_an_apostrophe_owns_as_a_singular_does():
    assert {fact.text for fact in parse("The two ladies' dog")} == {
        "lady",
        "dog",
        "lady – have – dog",
    }
    assert "sign – say – dog" in {fact.text for fact in parse("a sign that says 'no dogs' on it")}


def test_a_place_keeps_its_relations_and_its_owners_as_attributes():
    assert {fact.text for fact in parse("A woman is in the men's room")} == {
        *("woman", "room", "room: man", "woman – in – room")
    }


def test_the_words_of_the_list_are_things():
    listed = shipped()[LIST]
    assert set(listed.groups) == {"conveniences", "places", "wares", "markers"}
    known = standard()
    assert not [word for word in sorted(listed.entries) if known.animate(word)]


@pytest.mark.parametrize(
    ("plural", "determiner", "thing", "expected"),
    [
        (True, "the", ["boarding", "school", "sign"], True),
        (True, "the", ["school", "bag"], False),
        (True, "the", ["locker_room"], True),
        (True, "the", ["bathroom", "sink"], True),
        (False, "the", ["bathroom", "sink"], False),
        (True, "the", ["shoe"], False),
        (True, "", ["shoe"], True),
        (True, "two", ["restroom"], False),
        (False, "the", ["restroom"], True),
        (False, "this", ["restroom"], False),
        (False, "the", ["school"], False),
        (True, "a", [], False),
        (True, "a", ["crowd"], False),
        (True, "the", ["sign"], False),
    ],
)
def test_the_rule(plural: bool, determiner: str, thing: list[str], expected: bool):
    assert for_whom(plural, determiner, thing, lambda word: word == "crowd") is expected
