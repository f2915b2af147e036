"""Words to synsets: goldens 1 to 9."""

from __future__ import annotations

from gslopes.language.mentions import Mentions
from gslopes.language.senses import Senses, overrides
from gslopes.language.wordlists import shipped
from gslopes.language.wordnet import WordNet
from tests.language.conftest import parse


def test_golden_01_a_controller_is_an_accountant_under_the_papers_rule(paper: Senses):
    assert paper.of("controller", "object").synset == "accountant.n.01"
    assert Mentions(paper, shipped()).is_person("controller")


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


def test_golden_04_a_crane_is_no_writer_under_the_overrides(words: WordNet, paper: Senses, senses: Senses):
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


def test_golden_09_leather_as_an_attribute(senses: Senses):
    sense = senses.of("leather", "attribute")
    assert (sense.synset, sense.relaxed) == ("leather.n.01", True)


def test_every_override_is_a_synset(words: WordNet):
    assert all(words.known(synset) for synset in overrides().values())


def test_a_word_without_synsets_stays_a_word(senses: Senses):
    assert senses.of("blorb", "object").synset is None
