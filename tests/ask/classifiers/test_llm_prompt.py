"""Prompt files, and the requests that they make."""

from __future__ import annotations

import pytest

from gslopes.ask.classifiers.llm_prompt import LETTERS, SHIPPED, Prompt, load_prompt
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
