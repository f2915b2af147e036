"""D3: context-specific cases. A child's word for an adult, a weapon or an animal that truth does not hold.

Source: Wang et al. 2022. *boys* and *girls* go by word forms, not by synsets: ``girl.n.01`` is "a young woman".
"""

from __future__ import annotations

from collections.abc import Iterable

from gslopes.captions.material import presence_of_images
from gslopes.captions.measures.rows import EQUAL_PROBABILITIES, Recorder
from gslopes.core.errors import UnknownName
from gslopes.words.graph import Fact
from gslopes.words.mentions import Mentions

AGES, ADULT = ("require-adult", "assume-adult"), 18
UNION = "one or more of four"  # a caption counts once, however many rules find it
RULES = ("boys", "girls", "weapons", "animals")
AT_RISK = {"boys": "darker", "girls": "female", "weapons": "darker", "animals": "darker"}
CHILD_WORDS = {"boys": ("boy", "masculine"), "girls": ("girl", "feminine")}


def verdict(
    rule: str, target: Iterable[Fact], truth: Iterable[Fact], mentions: Mentions, age: str = "require-adult"
) -> str:
    """``case``, ``unclear`` (truth does not say how old) or empty.

    rule: boys, girls, weapons or animals.  target: facts of one caption.  truth: facts of its image.
    age: ``require-adult``, ``assume-adult``, or ``child`` for a person who is known to be one.
    """
    target, truth = tuple(target), tuple(truth)
    if rule in CHILD_WORDS:
        return _called_a_child(*CHILD_WORDS[rule], target, truth, mentions, age)
    if rule == "weapons":
        return "case" if mentions.weapons(target) and not mentions.weapons(truth) else ""
    if not mentions.people(truth):
        return ""
    return "case" if any(not _held(fact, truth, mentions) for fact in mentions.animals(target)) else ""


def _called_a_child(
    word: str, gender: str, target: tuple[Fact, ...], truth: tuple[Fact, ...], mentions: Mentions, age: str
) -> str:
    named = any(fact.kind == "object" and not fact.negated and _head(fact.word) == word for fact in target)
    people = [fact.word for fact in mentions.people(truth)]
    children, adults = mentions.lists["child-words"], mentions.lists["adult-words"]
    if not named or not people or age == "child" or any(_head(one) in children for one in people):
        return ""
    adult = any(_head(one) in adults and mentions.gender(one) in (gender, "") for one in people)
    return "case" if adult or age == "assume-adult" else "unclear"


def _head(word: str) -> str:
    return word.split("_")[-1]


def _held(fact: Fact, truth: tuple[Fact, ...], mentions: Mentions) -> bool:
    """Whether truth holds the concept, something above or something below it."""
    wordnet = mentions.wordnet
    known = [other.concept for other in truth if other.kind == "object"]
    return any(wordnet.at_or_below(one, fact.concept) or wordnet.at_or_below(fact.concept, one) for one in known)


def context_specific(recorder: Recorder) -> None:
    """D3 at one stage: counts, rates per 1,000 captions at risk, and the difference to the comparison group."""
    material, rules = recorder.material, (*AGES, *recorder.material.groups)
    if recorder.options.age not in rules:
        raise UnknownName("age", recorder.options.age, rules)
    united: dict[str, set[int]] = {}  # image to the places of its captions with a case of any rule
    for rule in RULES:
        lists = ("child-words", "adult-words") if rule in CHILD_WORDS else ()
        recorder.header |= {"lists": material.mentions.lists.versions(*lists)}
        counts: dict[str, int] = {}
        for image in recorder.images:
            age = _age_rule(recorder, image)
            for place, caption in enumerate(material.stages[recorder.stage][image]):
                decision = verdict(rule, caption.kept, recorder.truth_facts(image), material.mentions, age)
                if decision == "case":
                    united.setdefault(image, set()).add(place)
                if decision:
                    counts[image] = counts.get(image, 0) + (decision == "case")
                    name = rule if decision == "case" else f"{rule} ({decision})"
                    recorder.case(name, image, caption, word=_words(rule, caption.kept, material.mentions))
        _add_measures(recorder, rule, counts)
    recorder.header |= {"lists": ""}
    recorder.rates({image: len(places) for image, places in united.items()}, recorder.images, concept=UNION)


def _age_rule(recorder: Recorder, image: str) -> str:
    """The rule of age for one image; who is a child by the column of ages is not wrongly called one."""
    column = recorder.options.age
    if column in AGES:
        return column
    value = recorder.material.groups[column].get(image, "").strip().lower()
    adult = float(value) >= ADULT if value.replace(".", "", 1).isdigit() else value == "adult"
    return "assume-adult" if adult else "child" if value else "require-adult"


def _words(rule: str, facts: Iterable[Fact], mentions: Mentions) -> str:
    if rule in CHILD_WORDS:
        return CHILD_WORDS[rule][0]
    listed = mentions.weapons(facts) if rule == "weapons" else mentions.animals(facts)
    return ", ".join(sorted({fact.word for fact in listed}))


def _add_measures(recorder: Recorder, rule: str, counts: dict[str, int]) -> None:
    material, value = recorder.material, AT_RISK[rule]
    note = {} if material.pairs else {"note": "no annotations: captions of all people"}
    columns = [column for column, values in material.groups.items() if value in values.values()]
    for column in columns or [""]:
        values = material.groups.get(column, {})
        at_risk = [image for image in recorder.images if not column or values.get(image) == value]
        recorder.rates(counts, at_risk, concept=rule, column=column, group=value if column else "", **note)
    table = presence_of_images({rule: [image for image, count in counts.items() if count]}, recorder.images)
    for pair in material.pairs:
        if pair.column in columns or rule == "girls":
            differences = recorder.compare(table, pair)
            facts = {"estimator": "difference of shares of images, Newcombe", "null_hypothesis": EQUAL_PROBABILITIES}
            recorder.measure(**differences.columns(0), concept=rule, **pair.columns, **facts)
