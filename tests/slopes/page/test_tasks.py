"""What the page says of several tasks: which scales move, whether they agree, which one alone shows a move."""

from dataclasses import replace

import pytest

from gslopes.slopes.page.decisions import BY_ORDER, FINDING, NONE, UNJUDGED, Decision
from gslopes.slopes.page.tasks import Scale, sentences


def scale(task: str, rises: bool | None, model: str = "m", attribute: str = "gender") -> Scale:
    """A scale that rises, falls, or is not shown to move (None)."""
    decision = Decision(NONE if rises is None else FINDING, "")
    return Scale(task, model, attribute, "", "", decision, bool(rises), "")


@pytest.mark.parametrize(
    ("moves", "said"),
    [
        (
            {"a": True, "b": True},
            "2 of 2 tasks move and agree in sign: a, b rise toward masculine.",
        ),
        (
            {"a": True, "b": False},
            "2 of 2 tasks move and do not agree in sign: b rises toward feminine; a rises toward masculine.",
        ),
        (
            {"a": False, "b": None},
            "One of 2 tasks alone shows a move: a rises toward feminine; of b no move is shown.",
        ),
        ({"a": None, "b": None}, "No scale of 2 tasks is shown to move with perceived gender."),
    ],
)
def test_one_sentence_says_which_tasks_agree(moves, said):
    assert sentences([scale(task, rises) for task, rises in moves.items()]) == [said]


def test_tasks_whose_answers_follow_the_order_of_the_options_are_named_apart():
    follows = [
        replace(scale(task, None), decision=Decision(UNJUDGED, "", reason=BY_ORDER))
        for task in "bc"
    ]
    told = "the answers to b, c follow the order of the options"
    assert sentences([scale("a", True), *follows, scale("d", None)]) == [
        f"One of 4 tasks alone shows a move: a rises toward masculine; {told}; of d no move is shown."
    ]
    assert sentences(follows) == [
        f"No scale of 2 tasks is shown to move with perceived gender; {told}."
    ]


def test_one_task_is_compared_with_none_and_classifiers_without_a_scale_are_left_out():
    assert sentences([scale("a", True), None]) == []


def test_each_model_and_attribute_has_its_own_sentence():
    each = [(model, attribute) for model in ("m", "n") for attribute in ("gender", "race")]
    found = sentences([scale(task, True, *one) for one in each for task in "ab"])
    assert [text.partition(":")[0] for text in found] == ["m", "m", "n", "n"]
    assert [text.rpartition(" ")[2] for text in found] == [
        "masculine.",
        "White.",
        "masculine.",
        "White.",
    ]
