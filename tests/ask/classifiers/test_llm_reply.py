"""Replies of a language model, read strictly."""

from __future__ import annotations

import math

import pytest

from gslopes.ask.classifiers.llm_prompt import REFUSED, UNUSABLE, letters, load_prompt, probabilities, reading, shares

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
