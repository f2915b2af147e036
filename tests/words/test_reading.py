"""The one door for words of others: tokens, markup, encodings, emoji of people, look-alikes."""

import time

import pytest
from hypothesis import given, strategies as st

from gslopes.words.labels import caption_labels
from gslopes.words.reading import READING, label_of, read_words
from tests.words.conftest import parse

CLEAN = "A woman in a red dress, on Tom's bench (well-worn): 3 dogs & a cat."
# What a caption looks like after tokenizers, pages and encodings had it; it must still give the same facts.
SAME = {
    "tokens of a transformer": "<s> A man on a bench </s><pad><pad>",
    "of GPT": "A man on a bench<|endoftext|>",
    "of a chat": "<|im_start|>assistant\nA man on a bench<|im_end|>",
    "of DeepSeek": "<｜begin▁of▁sentence｜>A man on a bench<｜end▁of▁sentence｜>",
    "of Gemma": "<start_of_turn>A man on a bench<end_of_turn>",
    "of Llama": "[INST] [/INST] A man on a bench",
    "of Florence": "A man<loc_120><loc_7> on a bench",
    "of BERT": "[CLS] a man on a bench [SEP] [PAD] [PAD]",
    "of an LSTM": "startseq a man on a bench endseq",
    "unknown": "a man on a <unk> bench UNK",
    "bytes": "A man on a bench<0x0A>",
    "cut in the middle": "A man on a bench <end",
    "SentencePiece": "▁A ▁man ▁on ▁a ▁ben ch",
    "SentencePiece, joined": "▁A▁man▁on▁a▁bench",
    "GPT-2's pieces": "A Ġman Ġon Ġa Ġbench Ċ",
    "CLIP's pieces": "a</w> man</w> on</w> a</w> ben ch</w>",
    "WordPiece": "a man on a ben ##ch",
    "fastBPE": "a man on a ben@@ ch",
    "HTML": "<p class='x'>A man on a bench</p><br/>",
    "entities": "A man on a bench &lt;end&gt; &amp;nbsp;",
    "line ends, escaped": "A man on a bench\\n\\n",
    "JSON": '{"id": 7, "caption": "A man on a bench", "score": 0.5}',
    "JSON in a fence": '```json\n{"caption": "A man on a bench"}\n```',
    "Python": "{'generated_text': 'A man on a bench'}",
    "a list": '["A man on a bench"]',
    "a prompt's echo": "**Caption:** A man on a bench",
    "a loop": "A man on a bench A man on a bench A man on a bench A man on a bench",
    "fullwidth": "Ａ ｍａｎ ｏｎ ａ ｂｅｎｃｈ",
    "capitals": "A MAN ON A BENCH",
    "unseen": "\ufeffA m\u200ban o\u00adn \u202ea bench\u200f",
    "look-alikes": "\u0410 m\u0430n \u043en a b\u0435nch",
    "an address": "A man on a bench https://host.example/woman/dog.jpg",
}


@pytest.mark.parametrize("name", SAME)
def test_a_caption_gives_the_same_facts_however_it_was_written(name: str) -> None:
    assert parse(read_words(SAME[name])[0]) == parse("a man on a bench"), read_words(SAME[name])


@pytest.mark.parametrize(
    "text", [CLEAN, "a photo of a man", "Nike (tm): café, naïve", "I <3 my dog", "a < b > c"]
)
def test_clean_text_stays_as_it_is_and_nothing_is_told(text: str) -> None:
    assert read_words(text) == (text, frozenset())


@pytest.mark.parametrize("step", READING["step"], ids=lambda step: step["example"][0])
def test_every_step_does_what_its_example_says(step: dict) -> None:
    before, after = step["example"]
    assert read_words(before)[0].split() == read_words(after)[0].split()
    assert not step["note"] or step["note"] in read_words(before)[1]


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("👩 on a bench", {"woman"}),
        ("A 👨🏿 on a bench", {"man"}),
        ("Lunch! 👩🏽‍⚕️", {"worker"}),
        ("👨‍👩‍👧‍👦", {"man", "woman", "girl", "boy"}),
        ("👩🏻‍🤝‍👨🏿 at the sea", {"woman", "man"}),
        ("a 🤵🏾 and a 👰", {"person"}),
        ("🕴", {"person"}),
        ("🧑‍🚒 at work", {"firefighter"}),
        ("👵👴", {"woman", "man"}),
        ("a dog 🐕 on a bench 🪑 ❤️ ♀ ♂", set()),
        ("👟👒👚 for sale", set()),
    ],
)
def test_emoji_of_people_are_people_and_those_of_things_are_no_words(
    text: str, people: set[str]
) -> None:
    labels = caption_labels().labels(text)
    assert ("mention:person" in labels) == bool(people)
    assert people <= {label.removeprefix("word:") for label in labels}


def test_an_emoji_s_name_says_the_gender_that_is_perceived() -> None:
    named = {"👮‍♀️": "woman", "👮🏽‍♂️": "man", "👩‍🚀": "woman", "🧔": "neutral person", "👸": "woman"}
    for sign, gender in named.items():
        assert f"mention:{gender}" in caption_labels().labels(f"A dog. {sign}"), sign


def test_every_emoji_of_a_person_is_read_as_a_person_but_for_creatures_of_tales() -> None:
    creatures = {"fairy", "vampire", "mermaid", "merman", "elf", "genie", "troll"}
    labels = {sign: caption_labels().labels(sign) for sign in READING["emoji"]}
    none = {sign for sign in labels if "mention:person" not in labels[sign]}
    assert {READING["emoji"][sign].rpartition(" ")[2] for sign in none} <= creatures


def test_a_person_behind_a_mark_stays_a_person() -> None:
    assert "mention:person" in caption_labels().labels("<PERSON> on a stage")
    assert "mention:person" in caption_labels().labels("[NAME] and a dog")


def test_labels_of_two_forms_are_one() -> None:
    assert label_of("  Ｗoman\u200b  Driver ") == label_of("woman driver") == "woman driver"
    assert label_of("<pad>") == ""
    assert label_of(3) == "3"


@given(st.text(alphabet="a <>[]{}\"':\\|/#@▁ĠС👩\u200d\ufe0f\n,.", max_size=60))
def test_any_text_is_read_and_reading_it_again_changes_no_word(text: str) -> None:
    read_words(text)


@pytest.mark.parametrize(
    "text",
    [
        "a " * 60_000,
        "<" * 100_000,
        "<a " * 40_000,
        '{"' * 50_000,
        "ab " * 40_000,
        "&" * 100_000,
        "👩" * 50_000,
        '{"text": "' * 9_000,
    ],
)
def test_a_long_text_is_read_in_seconds(text: str) -> None:
    begun = time.process_time()
    read_words(text[:131_072])
    assert time.process_time() - begun < 20
