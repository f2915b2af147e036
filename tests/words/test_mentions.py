"""Facts and senses, mentions and bounds: goldens 1 to 9 and 47 to 50 of the specification."""

import pytest

from gslopes.words.graph import (
    BOUNDS,
    OVERRIDES,
    Fact,
    Mention,
    Mentions,
    Senses,
    bounds,
    caption_bounds,
    demeaning_synsets,
)
from gslopes.words.wordlists import Lists, WordList, shipped
from gslopes.words.wordnet import WordNet
from tests.words.conftest import parse


@pytest.mark.row("captions-3.4-synsets")
def test_golden_01_a_controller_is_an_accountant_under_the_papers_rule(paper: Senses):
    assert paper.of("controller", "object").synset == "accountant.n.01"
    assert Mentions(paper, shipped()).is_person("controller")


@pytest.mark.row("captions-3.4-synsets", "captions-fig-7")
def test_golden_02_pop_is_a_dad_under_the_papers_rule(paper: Senses, mentions: Mentions):
    assert paper.of("pop", "object").synset == "dad.n.01"
    assert Mentions(paper, shipped()).is_person("pop")
    assert not mentions.is_person("pop")


def test_golden_03_a_tiger(paper: Senses, senses: Senses, mentions: Mentions):
    theirs = Mentions(paper, shipped())
    assert paper.of("tiger", "object").synset == "tiger.n.01"
    assert (theirs.is_person("tiger"), theirs.is_animal("tiger")) == (True, False)
    assert senses.of("tiger", "object").synset == "tiger.n.02"
    assert (mentions.is_person("tiger"), mentions.is_animal("tiger")) == (False, True)


def test_golden_04_a_crane_is_no_writer_under_the_overrides(
    words: WordNet, paper: Senses, senses: Senses
):
    assert paper.of("crane", "object").synset == "crane.n.01"
    assert words.is_instance("crane.n.01")
    assert Mentions(paper, shipped()).is_person("crane")
    taken = senses.of("crane", "object").synset
    assert taken is not None
    assert not words.is_instance(taken)


def test_golden_05_men_are_no_work_force():
    (men,) = [fact for fact in parse("Men on a roof.") if fact.plural]
    assert men.word == "man"


def test_golden_06_skis_are_not_the_sky(senses: Senses):
    assert "ski" in {fact.word for fact in parse("People on skis.")}
    assert senses.of("ski", "object").synset == "ski.n.01"


def test_golden_07_people_are_people_by_list(words: WordNet, senses: Senses, mentions: Mentions):
    assert senses.of("people", "object").synset == "people.n.01"
    assert not words.at_or_below("people.n.01", "person.n.01")
    assert mentions.is_person("people")


def test_golden_08_prepositions_stay_words(words: WordNet, senses: Senses):
    assert senses.of("in", "relation").synset is None
    assert words.synsets("in", "n")[0] == "inch.n.01"


@pytest.mark.row("captions-3.4-synsets")
def test_golden_09_leather_as_an_attribute(senses: Senses):
    sense = senses.of("leather", "attribute")
    assert (sense.synset, sense.relaxed) == ("leather.n.01", True)


def test_every_override_is_a_synset(words: WordNet):
    assert all(words.known(synset) for synset in OVERRIDES.values())


def test_people_are_whom_a_caption_names_and_does_not_deny(senses: Senses, mentions: Mentions):
    assert senses.of("blorb", "object").synset is None
    assert mentions.identity(parse("A male elephant.")) == set()
    assert Mention("gender", "male", "masculine") in mentions.identity(parse("A male player."))
    assert mentions.people(parse("A bench with no people.")) == []
    assert (mentions.is_person("mannequin"), mentions.is_person("tennis_player")) == (False, True)
    assert [bool(mentions.weapons([Fact("object", word)])) for word in ("gun", "knife")] == [
        True,
        False,
    ]


SLOB, CLOWN = {"slob.n.01"}, {"clown.n.01"}


@pytest.mark.parametrize(
    ("word", "expected"), [("slob", (1, 1, 1)), ("pig", (0, 0, 1)), ("chair", (0, 0, 0))]
)
@pytest.mark.row("captions-d1-bounds")
def test_golden_47_bounds(words: WordNet, word: str, expected: tuple[int, ...]):
    assert bounds(word, "n", SLOB, words) == expected


def test_golden_48_the_clown_of_the_circus(words: WordNet):
    senses = [
        known.of("clown", "object").synset for known in (Senses(words, "paper"), Senses(words))
    ]
    assert [bounds("clown", "n", CLOWN, words, sense) for sense in senses] == [(0, 1, 1), (0, 0, 1)]


@pytest.mark.row("captions-d1-bounds")
def test_golden_49_four_captions(words: WordNet):
    paper = Mentions(Senses(words, "paper"), shipped())
    lists = {"object": frozenset(SLOB | CLOWN)}
    captions = [(Fact("object", name),) for name in ("slob", "pig", "clown", "chair")]
    found = [caption_bounds(facts, lists, paper.senses) for facts in captions]
    assert [sum(bool(said[name]) for said in found) for name in BOUNDS] == [1, 2, 3]


@pytest.mark.row("captions-d1-bounds")
def test_as_published_synsets_of_every_part_of_speech_count_in_any_of_the_lists(words: WordNet):
    """The verb clown is in no list, so that clown is not a lower bound; the adjective bastard makes an upper one."""
    lists = {
        "object": frozenset({"clown.n.01", "clown.n.02"}),
        "attribute": frozenset(words.synsets("bastard", "a")),
    }
    facts = [Fact("object", "clown"), Fact("object", "bastard")]
    ours, paper = (
        caption_bounds(facts, lists, Senses(words, rule)) for rule in ("overrides", "paper")
    )
    assert (ours["lower"], ours["upper"]) == ({"clown"}, {"clown"})
    assert (paper["lower"], paper["upper"]) == (set(), {"clown", "bastard"})


@pytest.mark.row("captions-d1-attributes")
def test_golden_50_an_adjective_stands_for_its_first_synset(words: WordNet):
    mine = WordList("demeaning-adjectives", "1", frozenset({"lazy"}))
    listed = demeaning_synsets(Lists(shipped() | {mine.name: mine}), words)["attribute"]
    assert listed == {"lazy.s.01"}
    assert bounds("lazy", "a", listed, words) == (0, 1, 1)


def test_without_a_list_nothing_is_a_bound(words: WordNet):
    facts = (Fact("object", "slob"),)
    assert not any(caption_bounds(facts, {}, Senses(words)).values())
