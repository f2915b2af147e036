"""Prompt files, and the requests that they make."""

from __future__ import annotations

import math

import pytest

from gslopes.ask.classifiers.chat import (
    LETTERS,
    REFUSED,
    SHIPPED,
    UNUSABLE,
    Prompt,
    letters,
    load_prompt,
    probabilities,
    reading,
    shares,
)
from gslopes.core.errors import ConfigError


@pytest.mark.parametrize("name", SHIPPED)
def test_every_prompt_that_ships_is_one(name):
    prompt = load_prompt(name)
    order = prompt.order("a photo", 0)
    assert prompt.name == name
    assert all(option in prompt.text(order) for option in prompt.options)
    assert prompt.messages(order, "data:,")[-1]["content"][0]["image_url"]["url"] == "data:,"


def write(folder, text: str) -> str:
    (folder / "prompt.toml").write_text(text)
    return str(folder / "prompt.toml")


def test_a_users_file_and_its_list_beside_it(tmp_path):
    (tmp_path / "list.txt").write_text("nurse\nsurgeon\n")
    name = write(tmp_path, 'name = "mine"\nkind = "choice"\nquestion = "Who?"\noptions_list = "list.txt"\n')
    assert load_prompt(name).options == ("nurse", "surgeon")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('name = "m"\nkind = "choice"\nquestion = "Who?"\noptions = ["one"]', "two options"),
        ('name = "m"\nkind = "choice"\nquestion = "Who?"\noptions = ["one", "One "]', "twice"),
        ('name = "m"\nkind = "caption"\nquestion = "Who?"\noptions = ["one", "two"]', "not a choice"),
        ('name = "m"\nkind = "choice"\nquestion = " "\noptions = ["one", "two"]', "no question"),
        ('name = "m"\nkind = "guess"\nquestion = "Who?"', "kind"),
        ('name = "m"\nkind = "choice"\nqestion = "Who?"', "unknown key 'qestion'"),
        ('name = "m"\nkind = "choice"\nquestion = "?"\noptions = ["a", "b"]\noptions_list = "traits"', "both options"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path, text, said):
    with pytest.raises(ConfigError, match=said):
        load_prompt(write(tmp_path, text))


def test_the_order_depends_on_the_photo_and_the_seed_alone():
    prompt = load_prompt("occupation")
    assert prompt.order("one", 0) == load_prompt("occupation").order("one", 0)
    assert len({prompt.order("one", 0), prompt.order("other", 0), prompt.order("one", 1)}) == 3
    assert sorted(prompt.order("one", 0)) == list(range(len(prompt.options)))


def test_each_option_stands_first_about_equally_often():
    prompt = load_prompt("doctor-nurse")
    first = [prompt.order(f"photo {number}", 0)[0] for number in range(600)]
    assert all(160 < first.count(place) < 240 for place in range(3))


def test_the_digest_is_of_what_is_sent(tmp_path):
    listed = load_prompt("trait")
    plain = Prompt(listed.name, "choice", listed.question, listed.system, listed.options)
    assert plain.digest == listed.digest
    assert Prompt(listed.name, "choice", "Other?", listed.system, listed.options).digest != listed.digest


def test_long_lists_are_answered_by_text():
    few = Prompt("few", "choice", "Who?", options=tuple(map(str, range(LETTERS))))
    many = Prompt("many", "choice", "Who?", options=tuple(map(str, range(LETTERS + 1))))
    assert list(few.answers(range(LETTERS)))[:2] == ["A", "B"]
    assert list(many.answers(range(LETTERS + 1)))[:2] == ["0", "1"]
    assert (few.lettered, many.lettered) == (True, False)


# -- llm reply ---------------------------------------------------------------------------------------------------------


PROMPT, ORDER = load_prompt("doctor-nurse"), (1, 0, 2)  # A. nurse, B. doctor, C. cannot tell


def said(text: str, **others: object) -> dict[str, object]:
    return {"text": text, "refusal": None, "finish": "stop", **others}


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": "A"}',
        '```json\n{"answer": "a"}\n```',
        '{"answer": "nurse"}',
        "A",
        "a.",
        "Nurse",
        "A. nurse",
        "A) nurse",
    ],
)
def test_what_means_the_option_is_the_option(text):
    assert reading(PROMPT, ORDER, said(text)) == ("nurse",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"answer": "D"}',
        '{"answer": 3}',
        "[]",
        '{"label": "A"}',
        "A or B",
        "It is a nurse",
        '{"answer": "A"} ok',
    ],
)
def test_what_is_not_the_form_that_was_asked_for_is_unusable(text):
    assert reading(PROMPT, ORDER, said(text)) == (UNUSABLE,)


@pytest.mark.parametrize(
    "reply",
    [
        said("I'm sorry, I can't help with that."),
        said("I cannot determine a person's occupation."),
        said("", refusal="I can't help."),
        said('{"answer": "A"}', finish="content_filter"),
        {"refusal": "content policy"},
    ],
)
def test_refusals_are_told_apart(reply):
    assert reading(PROMPT, ORDER, reply) == (REFUSED,)


def test_what_was_cut_off_is_unusable():
    assert reading(PROMPT, ORDER, said('{"answer": "A"}', finish="length")) == (UNUSABLE,)


def test_shares_count_every_reply():
    replies = [said("A"), said("B"), said("A"), said("hm")]
    assert shares(PROMPT, ORDER, replies) == {"nurse": 0.5, "doctor": 0.25, UNUSABLE: 0.25}


def test_labels_and_captions():
    labels, caption = load_prompt("labels"), load_prompt("caption")
    assert reading(labels, (), said('{"labels": ["Man", " office  desk", "man"]}')) == ("man", "office desk")
    assert reading(labels, (), said('{"labels": "man"}')) == (UNUSABLE,)
    found = reading(caption, (), said('{"caption": "She is a well-known nurse in an office."}'))
    assert found == ("she", "well-known", "nurse", "office")


def tokens(*parts: str, **top: float) -> list[dict[str, object]]:
    alternatives = [{"token": token.replace("_", " "), "logprob": math.log(p)} for token, p in top.items()]
    return [{"token": part, "top_logprobs": alternatives if part.strip(' "}') in "ABC" else []} for part in parts]


@pytest.mark.parametrize(
    "parts",
    [
        ('{"', "answer", '":', ' "', "A", '"}'),
        ('{"answer":', ' "A"', "}"),
        ('{"answer": "', "A", '"}'),
        ("A",),
        (" A", "."),
    ],
)
def test_the_letters_are_found_at_the_answers_token(parts):
    found = letters(tokens(*parts, A=0.5, _A=0.1, B=0.3, hm=0.05), PROMPT.answers(ORDER))
    assert found == pytest.approx({"A": math.log(0.6), "B": math.log(0.3)})


def test_probabilities_are_among_the_options():
    reply = said('{"answer": "A"}', letters={"A": math.log(0.6), "B": math.log(0.3)})
    assert probabilities(PROMPT, ORDER, reply) == pytest.approx({"nurse": 2 / 3, "doctor": 1 / 3})


def test_no_letters_in_a_text_that_has_none():
    assert letters(tokens("I'm", " sorry", A=1.0), PROMPT.answers(ORDER)) == {}
