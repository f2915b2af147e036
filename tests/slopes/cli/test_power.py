import json

import pytest


def test_the_three_questions_have_an_answer_each(gslopes) -> None:
    slope = json.loads(gslopes("power", "--photos", 500, "--rate", 0.05, "--json").out)
    assert slope["slope"] == pytest.approx(0.790, abs=0.001)
    chance = json.loads(gslopes("power", "--photos", 500, "--rate", 0.05, "--slope", slope["slope"], "--json").out)
    assert chance["power"] == pytest.approx(0.8, abs=1e-6)
    photos = json.loads(gslopes("power", "--rate", 0.05, "--slope", slope["slope"], "--json").out)
    assert photos["photos"] in (499, 500, 501)


def test_the_answer_is_a_sentence_and_says_where_a_label_would_be_too_rare(gslopes) -> None:
    assert gslopes("power", "--photos", 500, "--rate", 0.05).out.startswith("500 photos show a slope of 0.8 ")
    assert "slope of less than 0.1 percentage" in gslopes("power", "--photos", 500000, "--rate", 0.05).out
    assert "too rare to move by as much" in gslopes("power", "--photos", 200, "--rate", 0.02).out
    assert "too common to move by as much" in gslopes("power", "--photos", 500, "--rate", 0.98).out
    for rate in (0.2, 0.8):
        assert "to move by as much" not in gslopes("power", "--photos", 2000, "--rate", rate).out
    assert "too rare to judge" in gslopes("power", "--photos", 50, "--rate", 0.05).out


@pytest.mark.parametrize("args", [["--rate", 0.1], ["--rate", 2, "--photos", 9]])
def test_a_question_without_an_answer_is_a_usage_error(gslopes, args) -> None:
    done = gslopes("power", *args)
    assert done.code == 2
    assert not done.out
