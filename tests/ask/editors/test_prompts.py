"""Sentences of editors: what ships, what a file of one's own may hold, and what is wrong with it in one sentence."""

import inspect
import re
import textwrap

import numpy as np
import pytest

from gslopes.ask.editors import images, prompts
from gslopes.ask.editors.prompts import SHIPPED, load_prompts
from gslopes.core.errors import ConfigError, UnknownName
from gslopes.faces.config import values_for

OWN = """
keep = ["Keep the rest.", "All else stays."]
unchanged = ["Return it.", "Change nothing."]
[change]
-1 = ["Make it tired.", "Tired, please."]
0 = ["Make it usual.", "Usual, please."]
1 = ["Make it rested.", "Rested, please."]
[placebos]
gaze.up = ["Look up.", "Gaze up."]
gaze.down = ["Look down.", "Gaze down."]
"""
NAMED = OWN.replace("-1 =", "Tired =").replace("0 =", "Usual =").replace("\n1 =", "\nRested =")
KEPT = ("background", "expression", "clothes|clothing", "hair", "light", "pose", "individual|ident")


def own(folder, text: str = OWN) -> str:
    (folder / "mine.toml").write_text(text)
    return str(folder / "mine.toml")


def said(asked: prompts.Prompts) -> dict[str, list[str]]:
    """The kind of a sentence to all of that kind."""
    wordings = range(asked.wordings)
    ends = asked.values or asked.ends
    return {
        "change": [asked.sentence(end, wording) for end in ends for wording in wordings],
        "same": [asked.same(wording) for wording in wordings],
        "random": [
            asked.random(pair, side, wording)
            for pair in range(asked.pairs)
            for side in (0, 1)
            for wording in wordings
        ],
    }


# -- what ships --------------------------------------------------------------------------------------------------------


def test_those_that_ship_are_graded_for_three_and_five_steps_or_named():
    assert SHIPPED == ("age", "gender", "race", "tone")
    for name in ("age", "gender", "tone"):
        asked = load_prompts("", name)
        for steps in (3, 5):
            for value in values_for(name, steps):
                assert asked.sentence(value, 0) != asked.sentence(value, 1)
    race = load_prompts("", "race")
    assert (race.values, race.ends[0], len(race.ends)) == ((), "White", 4)


@pytest.mark.parametrize("name", SHIPPED)
def test_every_sentence_says_what_stays_and_none_says_what_a_person_is(name: str):
    asked = load_prompts("", name)
    assert asked.wordings >= 2
    assert asked.pairs >= 2
    assert asked.source
    for kind, sentences in said(asked).items():
        assert len(set(sentences)) == len(sentences)
        for sentence in sentences:
            for kept in KEPT:
                assert re.search(kept, sentence), (kept, sentence)
            assert len(sentence) <= 1000  # as the smallest model of the protocol takes
            # nobody is told to turn someone into a man
            assert not re.search(r"(?i)\b(he|she|wom[ae]n|m[ae]n|girl|boy|real)\b", sentence)
            if kind == "change":
                assert re.search("perceive|viewers", sentence)


@pytest.mark.parametrize("name", SHIPPED)
def test_random_changes_are_not_the_attribute_nor_another_one(name: str):
    kept = {*load_prompts("", name).keep}
    for sentence in said(load_prompts("", name))["random"]:
        (change,) = (sentence.removesuffix(text) for text in kept if sentence.endswith(text))
        assert not re.search(
            "(?i)femin|mascul|race|asian|black|white|dark|pale|old|young|wrinkle|beard|brow|lip|nose",
            change,
        )


# -- a file of one's own -----------------------------------------------------------------------------------------------


def test_the_file_that_the_manual_shows_has_ten_lines_and_works(tmp_path):
    paragraphs = str(inspect.getdoc(prompts)).split("\n\n")
    (shown,) = (text for text in paragraphs if "[change]" in text)
    assert shown in str(inspect.getdoc(images))
    lines = textwrap.dedent(shown).splitlines()
    assert len([line for line in lines if not line.startswith("[")]) <= 10
    asked = load_prompts(own(tmp_path, "\n".join(lines)), "tired")
    assert (asked.values, asked.wordings, asked.pairs) == ((-1, 0, 1), 2, 1)
    assert asked.sentence(1, 1).endswith("hair, ...")


def test_a_file_gives_values_in_order_or_ends_in_its_own(tmp_path):
    asked = load_prompts(own(tmp_path), "tired")
    assert (asked.name, asked.values, asked.ends) == ("mine", (-1, 0, 1), ())
    assert asked.sentence(np.float32(-1), 0) == "Make it tired. Keep the rest."
    assert asked.same(1) == "Change nothing. All else stays."
    assert asked.random(0, 1, 1) == "Gaze down. All else stays."
    named = load_prompts(own(tmp_path, NAMED), "tired")
    assert (named.values, named.ends) == ((), ("Tired", "Usual", "Rested"))
    assert named.sentence("Rested", 1) == "Rested, please. All else stays."
    tenth = OWN.replace("-1 =", '"-0.1" =').replace("\n1 =", '\n"0.1" =')
    values = load_prompts(own(tmp_path, tenth), "tired")
    assert values.sentence(np.float32(0.1), 0) == "Make it rested. Keep the rest."


def test_the_digest_covers_every_word_and_nothing_else(tmp_path):
    whole = load_prompts(own(tmp_path), "tired").digest
    digests = {whole}
    words = sorted(set(re.findall(r'"([^"]+)"', OWN)))
    for word in words:
        changed = OWN.replace(f'"{word}"', f'"{word} Now."')
        digests.add(load_prompts(own(tmp_path, changed), "tired").digest)
    assert len(digests) == len(words) + 1
    digests.add(load_prompts(own(tmp_path, NAMED), "tired").digest)
    swapped = (
        NAMED.replace("Tired =", "X =").replace("Usual =", "Tired =").replace("X =", "Usual =")
    )
    digests.add(load_prompts(own(tmp_path, swapped), "tired").digest)
    assert len(digests) == len(words) + 3
    about = f'name = "other"\nsource = "me"\n{OWN}'
    assert load_prompts(own(tmp_path, about), "tired").digest == whole
    commented = OWN.replace("[change]", "# about what\n[change]")
    assert load_prompts(own(tmp_path, commented), "tired").digest == whole


ONE = re.sub(r', "[^"]+"\]', "]", OWN)
WRONG = {
    "unknown key 'sane'": OWN.replace("unchanged =", "sane ="),
    "lacks the key 'keep'": OWN.replace('keep = ["Keep the rest.", "All else stays."]', ""),
    "lacks the key 'placebos'": OWN.split("[placebos]")[0],
    "must be a list": OWN.replace('["Make it tired.", "Tired, please."]', '"Make it tired."'),
    "must be a text": OWN.replace('"Tired, please."', "3"),
    "1 wording of keep": ONE,
    "1 wording of 0.": OWN.replace(', "Usual, please."', ""),
    "2 wordings of keep": OWN.replace('"Return it."', '"Return it.", "Again."'),
    "empty or comes twice: ''": OWN.replace("Tired, please.", " "),
    "comes twice: 'make it usual.'": OWN.replace("Make it rested.", "make it  usual."),
    "comes twice: 'make it rested.'": OWN.replace("Look up.", "Make it rested."),
    "Usual next to numbers": OWN.replace("0 =", "Usual ="),
    "without a centre: -1, 0, 2": OWN.replace("\n1 =", "\n2 ="),
    "without a centre: -1, 0.": re.sub("\n1 =.*", "", OWN),
    "no two ends, or no pair, to compare": re.sub("\n-?1 =.*", "", OWN),
    "without a centre: -1, 1.0, 1": OWN.replace("0 =", '"1.0" ='),
    "have no two ends, or no pair, to compare": re.sub("(?s)-1 =.*(?=.placebos)", "", OWN),
    "no two ends, or no pair, to compare.": re.sub("(?s)Usual =.*(?=.placebos)", "", NAMED),
    "no name of a sweep: 'gender-light'": NAMED.replace("Usual =", "gender-light ="),
    "no name of a sweep: 'a/b'": NAMED.replace("Usual =", '"a/b" ='),
    "no name of a sweep: ''": NAMED.replace("Usual =", '"" ='),
    "1 side of gaze": re.sub("gaze.down.*", "", OWN),
    "3 sides of gaze": OWN + 'gaze.left = ["Left.", "To the left."]',
    "The prompts 'mine' have no two ends, or no pair": re.sub("gaze.*", "", OWN),
    "is not valid TOML": OWN.replace("0 =", "-1 ="),
    "must be a table": OWN.split("[change]")[0]
    + "change = 1\n[placebos]"
    + OWN.split("[placebos]")[1],
}


@pytest.mark.parametrize("fault", WRONG)
def test_what_is_wrong_in_a_file_is_one_sentence_with_the_next_step(fault: str, tmp_path):
    with pytest.raises(ConfigError) as caught:
        load_prompts(own(tmp_path, WRONG[fault]), "tired")
    if fault == "must be a table":
        fault = "change is 1"
    assert fault in caught.value.message
    assert caught.value.message.count("\n") == 0
    if "valid TOML" not in fault and "must be" not in fault and "change is" not in fault:
        assert caught.value.hint


def test_a_value_without_a_sentence_says_which_there_are():
    gender = load_prompts("", "gender")
    with pytest.raises(
        ConfigError, match=r"no sentence for 0\.666667: they have -2, -1, 0, 1, 2"
    ) as caught:
        gender.sentence(2 / 3, 0)
    assert "--steps" in str(caught.value.hint)
    with pytest.raises(ConfigError, match="for Martian: they have White, Black, East Asian"):
        load_prompts("", "race").sentence("Martian", 0)


def test_a_missing_file_and_an_attribute_without_one_say_what_there_is(tmp_path):
    with pytest.raises(
        ConfigError, match="No sentences ship for 'smiling': they do for age, gender"
    ):
        load_prompts("", "smiling")
    with pytest.raises(UnknownName, match="gendr") as caught:
        load_prompts("gendr", "gender")
    assert "gender" in str(caught.value.hint)
    with pytest.raises(ConfigError):
        load_prompts(str(tmp_path / "none.toml"), "gender")
    assert load_prompts("tone", "race").name == "tone"
