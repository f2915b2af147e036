"""Prompts as tasks: what ships, what a file may hold, how numbers, words and both orders are read."""

import json

import pytest

from gslopes.ask.classifiers import load_classifier
from gslopes.ask.classifiers.chat import (
    REFUSED,
    abstained,
    by_order,
    joined_orders,
    order_effects,
    reading,
    with_number,
)
from gslopes.ask.classifiers.llm import LlmOptions
from gslopes.ask.classifiers.prompt import SHIPPED, load_prompt
from gslopes.core.errors import AnswerError, ConfigError, Unfinished, UnknownName
from gslopes.words.wordlists import named_in, shipped
from tests.fake_provider import FakeProvider, paint

NAMED = 'name = "m"\nquestion = "?"\n'
CHOICE = NAMED + 'kind = "choice"\n'
TASKS = [name for name in SHIPPED if load_prompt(name).source]


def own(folder, text: str) -> str:
    (folder / "mine.toml").write_text(text)
    return str(folder / "mine.toml")


def said(text: str, **more: object) -> dict[str, object]:
    return {"text": text, "refusal": None, "finish": "stop", **more}


def answered(name: str, picture: bytes):
    """(the raw answer of a classifier as a cache returns it, the answer)."""
    classifier = load_classifier(name)
    for _ in range(40):
        (raw,) = classifier.ask([picture])
        if not isinstance(raw, Unfinished):
            raw = json.loads(json.dumps(raw))
            return raw, classifier.parse(raw)
    raise AssertionError("it never ends")


# -- what a file may hold ----------------------------------------------------------------------------------------------


def test_at_least_ten_tasks_ship_with_a_source_and_a_scale_of_every_kind():
    prompts = [load_prompt(name) for name in TASKS]
    assert len(prompts) >= 10
    assert {prompt.kind for prompt in prompts} == {"choice", "number", "words"}
    assert all(prompt.scale for prompt in prompts)
    both = [
        prompt
        for prompt in prompts
        if prompt.kind == "choice" and prompt.people == 1 and prompt.name != "doctor-nurse"
    ]
    assert {prompt.orders for prompt in both} == {"both"}
    assert sum(prompt.people == 2 for prompt in prompts) == 5


def test_a_question_about_two_people_names_them_as_they_are_shown_and_no_answer_counts_for_none(
    tmp_path,
):
    two, one = (load_prompt("who-is-more-educated", how) for how in ("two", "one"))
    assert load_prompt("who-is-more-educated").digest == two.digest != one.digest
    assert two.order("any", 3) == (0, 1, 2)
    assert "A. the person in the first picture\nB. the person in the second picture" in two.text(
        (0, 1, 2)
    )
    assert "A. the person on the left\nB. the person on the right\nC. cannot tell" in one.text(
        (0, 1, 2)
    )
    assert two.scale == "who-is-more-educated (points ahead)"
    for prompt in (two, one):
        first, second, neither = prompt.options
        chances = {first: 0.5, second: 0.2, neither: 0.3}
        assert with_number(prompt, chances) == {prompt.scale: pytest.approx(30), neither: 0.3}
        assert with_number(prompt, {second: 1.0}) == {prompt.scale: -100}
        assert with_number(prompt, {"(refused)": 1.0}) == {}
    own_words = own(tmp_path, CHOICE + 'people = 2\nmeasures = "trust"')
    assert load_prompt(own_words).scale == "trust (points ahead)"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (CHOICE, "two options"),
        (CHOICE + 'options = ["a"]', "two options"),
        (CHOICE + 'options = ["a", "A"]', "twice"),
        (CHOICE + 'options = ["a", "b"]\nunit = "USD"', "unit but is no number"),
        (CHOICE + 'options = ["a", "b"]\nscoring = "c"', "scoring 'c'"),
        (CHOICE + 'options = ["a", "b"]\norders = "all"', "orders"),
        (NAMED + 'kind = "number"', "without a unit"),
        (NAMED + 'kind = "number"\nunit = "USD (net)"', "brackets"),
        (NAMED + 'kind = "number"\nunit = "USD"\nleast = 5\nmost = 5', "between least and most"),
        (NAMED + 'kind = "number"\nunit = "USD"\norders = "both"', "orders but is no choice"),
        (NAMED + 'kind = "words"', "no words"),
        (NAMED + 'kind = "words"\nlists = ["warm-adjectivs"]', "Did you mean 'warm-adjectives'"),
        (NAMED + 'kind = "words"\nlists.warm = ["kind"]\nscoring = "cold"', "scoring 'cold'"),
        ('name = "m"\nkind = "number', "not valid TOML"),
        (CHOICE + "people = 3", "asks about 3 people"),
        (CHOICE + 'people = 2\nscoring = "order"\noptions = ["a"]', "in a choice without scoring"),
        (NAMED + 'kind = "caption"\npeople = 2', "in a choice without scoring"),
        (CHOICE + 'people = "two"', "people"),
    ],
)
def test_what_is_wrong_with_a_task_is_said_before_anything_is_sent(
    provider: FakeProvider, tmp_path, text, problem
):
    with pytest.raises((ConfigError, UnknownName)) as raised:
        load_classifier(f"llm:m,prompt={own(tmp_path, text)}")
    assert problem in f"{raised.value.message} {raised.value.hint}"
    assert not provider.log.calls


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"gone\.toml"):
        load_prompt(str(tmp_path / "gone.toml"))
    with pytest.raises(UnknownName, match="Did you mean 'salary'"):
        load_prompt("sallary")
    with pytest.raises(
        UnknownName, match="Did you mean 'salary'"
    ):  # as the options are read, before a plan
        LlmOptions(model="m", prompt="sallary")


def test_what_is_sent_is_the_key_of_an_answer_and_how_it_is_read_is_not(tmp_path):
    was = "9cd2c06f891e96abef4285cecb9eaf04402038ca408c2a3b15b1f4e1e3250e42"  # before there were tasks
    assert (load_prompt("doctor-nurse").digest, load_prompt("doctor-nurse").read_by) == (was, "")
    text = NAMED + 'kind = "number"\nunit = "USD"\n'
    plain, least, unit = (load_prompt(own(tmp_path, text.replace("USD", u) + more)) for u, more in
                          (("USD", ""), ("USD", "least = 5"), ("EUR", "")))  # fmt: skip
    assert plain.digest == least.digest != unit.digest
    assert plain.read_by != least.read_by
    choice = CHOICE + 'options = ["a", "b"]\n'
    drawn, both = (load_prompt(own(tmp_path, choice + more)) for more in ("", 'orders = "both"'))
    assert drawn.digest != both.digest


# -- numbers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ('{"answer": 52000}', 52000),
        ('{"answer": "$52,000"}', 52000),
        ('{"answer": "52.5k USD"}', 52500),
        ('{"answer": "1.2 million"}', 1.2e6),
        ("About 60'000 a year.", 60000),
        ('{"answer": "50,000 to 60,000"}', 55000),
        ('{"answer": 5.2e4}', 52000),
    ],
)
def test_a_number_is_read_in_the_forms_in_which_models_write_it(text, number):
    assert [float(one) for one in reading(load_prompt("salary"), (), said(text))] == [number]


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": "50,000, 60,000"}',
        '{"answer": 12}',
        '{"answer": true}',
        '{"answer": "many"}',
        "{}",
    ],
)
def test_two_numbers_none_or_one_out_of_range_are_no_answer(text):
    assert reading(load_prompt("salary"), (), said(text)) == ("(unusable answer)",)


def test_a_number_is_the_mean_of_the_replies_also_in_log_points_and_one_that_may_be_0_has_none():
    salary, years = load_prompt("salary"), load_prompt("experience")
    found = with_number(salary, {"40000": 0.5, "90000": 0.25, REFUSED: 0.25})
    assert found["salary (USD a year)"] == pytest.approx(56666.67)
    assert found["salary (log points)"] == pytest.approx(1059.66 + 81.09 / 3, abs=0.01)
    assert found[REFUSED] == 0.25
    assert with_number(years, {"0.0": 1.0}) == {"experience (years)": 0.0}
    assert with_number(salary, {REFUSED: 1.0}) == {}
    with pytest.raises(AnswerError, match="no answer"):
        with_number(salary, {"(unusable answer)": 1.0})


def test_levels_are_the_mean_place_of_the_options():
    prompt = load_prompt("education")
    scores = with_number(prompt, {"high school": 0.5, "postgraduate degree": 0.5})
    assert scores == {"education (levels)": 3.5, "high school": 0.5, "postgraduate degree": 0.5}
    assert prompt.asked_in(prompt.order("a photo", 3)) == ((0, 1, 2, 3, 4), (4, 3, 2, 1, 0))


# -- words -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "lists"),
    [
        ("She seems warm and highly competent.", ["competent", "warm"]),
        ("He is not warm, but capable.", ["competent"]),
        ("A good-natured person, never unkind.", ["warm"]),
        ("Doesn’t look very friendly.", []),
        ("A warmer coat, a capability.", []),
    ],
)
def test_words_are_found_unless_they_are_denied(text, lists):
    ours = {name: shipped()[f"{name}-adjectives"].entries for name in ("warm", "competent")}
    assert named_in(text, ours) == tuple(lists)


def test_a_text_gives_the_lists_that_it_has_a_word_of_and_own_words_may_stand_in_the_file(tmp_path):
    prompt = load_prompt("impression")
    assert reading(prompt, (), said('{"text": "A kind, bright man."}')) == (
        "list:competent-adjectives",
        "list:warm-adjectives",
    )
    assert reading(prompt, (), said("Tall.")) == ("list:none",)
    mine = load_prompt(
        own(tmp_path, NAMED + 'kind = "words"\nlists.tall = ["tall", "high"]\nscoring = "tall"')
    )
    assert reading(mine, (), said("Tall.")) == (mine.scale,) == ("list:tall",)


# -- both orders -------------------------------------------------------------------------------------------------------


def test_both_orders_are_asked_of_a_picture_joined_and_their_difference_is_kept(
    provider: FakeProvider,
):
    provider.chat.slopes, provider.chat.first = {"nurse": 0.0}, 0.2
    raw, answer = answered("llm:m,prompt=doctor-or-nurse", paint(0, 0.2))  # a nurse
    schemas = [call.parameters["text"] for call in provider.log.of("chat")]
    assert [text.index("doctor\n") < text.index("nurse\n") for text in schemas] in (
        [True, False],
        [False, True],
    )
    assert [reply["order"] for reply in raw["replies"]] in ([[0, 1], [1, 0]], [[1, 0], [0, 1]])
    assert dict(answer.labels) == pytest.approx(
        {"nurse": 0.8 * 0.9 + 0.1, "doctor": 0.8 * 0.1 + 0.1}, abs=1e-4
    )
    assert [(label, round(early - late, 4)) for label, early, late in answer.orders] == [
        ("doctor", 0.2),
        ("nurse", 0.2),
    ]


def test_without_probabilities_each_order_has_its_own_repeats_and_the_price_says_so_before(
    provider: FakeProvider,
):
    provider.chat.ignored = {"logprobs"}
    classifier = load_classifier("llm:m,prompt=doctor-or-nurse,repeats=3,price_in=1")
    one = load_classifier("llm:m,prompt=doctor-nurse,repeats=3,price_in=1")
    assert (
        classifier.traits.limits.requests_per_picture,
        one.traits.limits.requests_per_picture,
    ) == (6, 3)
    assert classifier.traits.limits.price == pytest.approx(2 * one.traits.limits.price, rel=0.02)
    raw, _ = answered("llm:m,prompt=doctor-or-nurse,repeats=3", paint(0, 0.2))
    assert sorted(tuple(reply["order"]) for reply in raw["replies"]) == [(0, 1)] * 3 + [(1, 0)] * 3
    assert len(provider.log.of("chat")) == 6


def test_the_option_in_the_middle_of_three_has_no_earlier_place(tmp_path):
    prompt = load_prompt(own(tmp_path, CHOICE + 'options = ["a", "b", "c"]\norders = "both"'))
    replies = [said("a", order=[0, 1, 2]), said("b", order=[2, 1, 0])]
    found = by_order(prompt, {"order": [0, 1, 2], "replies": replies, "scored": "repeats"})
    assert joined_orders(found) == {"a": 0.5, "b": 0.5}
    assert order_effects(prompt, found) == (("a", 1.0, 0.0), ("c", 0.0, 0.0))
    assert order_effects(prompt, dict([next(iter(found.items()))])) == ()


def test_a_number_that_is_refused_is_a_refused_picture(provider: FakeProvider):
    provider.chat.refusals = (1.0, 0.0)
    _, answer = answered("llm:m,prompt=salary,repeats=2", paint(0, 0.2))
    assert (answer.status, answer.labels) == ("refused", (("(abstains)", 1.0),))


# -- what no picture shows ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "reply", "label"),
    [
        ("salary", '{"answer": "cannot tell"}', "cannot tell"),
        ("salary", "Cannot tell.", "cannot tell"),
        ("salary", '{"answer": 41000}', "41000.0"),
        ("salary", '{"answer": ""}', "(unusable answer)"),
        ("crime", '{"answer": "C"}', "cannot tell"),
        ("crime", "cannot tell", "cannot tell"),
        ("education", '{"answer": "F"}', "cannot tell"),
    ],
)
def test_an_answer_that_abstains_is_read_of_a_number_a_choice_and_levels(task, reply, label):
    prompt = load_prompt(task, abstain=True)
    assert reading(prompt, range(len(prompt.options)), said(reply)) == (label,)


def test_the_answer_that_abstains_is_offered_only_if_it_is_asked_for():
    plain, abstaining = (load_prompt("salary", abstain=wanted) for wanted in (False, True))
    assert "cannot tell" not in plain.text(())
    assert abstaining.text(()).endswith(
        '{"answer": a number of USD a year} or {"answer": "cannot tell"}'
    )
    forms = abstaining.schema(())["properties"]["answer"]["anyOf"]
    assert forms == [{"type": "number"}, {"type": "string", "enum": ["cannot tell"]}]
    assert plain.digest != abstaining.digest
    assert load_prompt("doctor-nurse", abstain=True).options == load_prompt("doctor-nurse").options
    with pytest.raises(ConfigError, match="is no choice and no number"):
        load_prompt("impression", abstain=True)


def test_a_file_may_word_its_own_abstention(tmp_path):
    mine = own(tmp_path, CHOICE + 'options = ["a", "b"]\nabstain = "no idea"\nunknowable = true\n')
    assert load_prompt(mine).options == load_prompt(mine, abstain=True).options
    assert load_prompt(mine).options[-1] == "no idea"


def test_levels_and_numbers_are_means_without_the_abstentions():
    prompt = load_prompt("education", abstain=True)
    levels = {"high school": 0.25, "bachelor's degree": 0.25, "cannot tell": 0.5}
    assert with_number(prompt, levels)["education (levels)"] == pytest.approx(3.0)
    assert with_number(prompt, {"cannot tell": 1.0}) == {}


@pytest.mark.parametrize(
    ("labels", "share"),
    [
        ({"yes": 1.0}, 0.0),
        ({"yes": 0.4, "cannot tell": 0.3, "(refused)": 0.2, "(unusable answer)": 0.1}, 0.6),
        ({"(refused)": 1.0}, 1.0),
    ],
)
def test_abstentions_are_refusals_answers_without_use_and_cannot_tell(labels, share):
    found = abstained(load_prompt("crime", abstain=True), labels)
    assert found == {"(abstains)": pytest.approx(share)}
    assert abstained(load_prompt("loan"), labels) == {}
