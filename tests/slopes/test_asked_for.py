"""What a photo's sweeps and placebos are asked for: the same for the same photo and seed, equal wishes once."""

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import pytest

from gslopes.core import placebo
from gslopes.core.errors import ConfigError, UnknownName
from gslopes.faces.config import EditConfig
from gslopes.faces.edit.protocol import Wish
from gslopes.slopes.asked_for import Sweep, sweeps_of, values_of

PHOTOS = [sha256(bytes([index])).hexdigest() for index in range(200)]


def wishes_of(
    sweeps: Sequence[Sweep], photo: str, seed: int, placebos: bool, neutral: bool
) -> dict[tuple[str, int], Wish]:
    every = [one for sweep in sweeps for one in sweep.asked(photo, seed, placebos, neutral)]
    wishes = {(one.sweep, one.step): one.wish for one in every}
    assert len(wishes) == len(every)
    return wishes


def wording_of(sweep: Sweep, photo: str) -> int:
    """The one in which all of a photo is asked for."""
    (wording,) = {one.wording for one in sweep.asked(photo, 0, placebos=True, neutral=False)}
    return wording


class Words:
    name, version, takes, size, words, prompt = "m", "1", "photo", 0, True, ""

    def at(self, wish: Any) -> Any:
        raise AssertionError("nothing is asked")


class Values(Words):
    words = False


def test_a_value_editor_takes_our_values_and_is_asked_once_for_no_change() -> None:
    sweeps = sweeps_of(EditConfig(("race", "hair"), range=(-1.0, 1.0)), Values(), None)
    assert {sweep.name: len(sweep.wanted) for sweep in sweeps} == {"race": 5, "hair": 7}
    wishes = wishes_of(sweeps, PHOTOS[0], 0, placebos=True, neutral=True)
    assert len({*wishes.values()}) == 5 + 7 + 2
    assert {wishes[key].value for key in wishes if key[0] == "race-same"} == {None}
    assert not any(placebo.split(name)[1] in ("random", "light") for name, _ in wishes)
    assert {wish.text for wish in wishes.values()} == {""}


@pytest.mark.parametrize(
    ("edit", "values"),
    [
        (EditConfig(("gender",)), [-2, 0, 2]),
        (EditConfig(("gender",), steps=5), [-2, -1, 0, 1, 2]),
        (EditConfig(("gender",), range=(-1.0, 1.0)), [-1, 0, 1]),
    ],
)
def test_words_are_asked_for_at_values_that_have_sentences(edit: Any, values: list[float]) -> None:
    (sweep,) = sweeps_of(edit, Words(), None)
    assert sweep.values == values
    assert values_of([sweep], True) == dict.fromkeys(("gender", *placebo.names("gender")), values)


@pytest.mark.parametrize(
    "edit", [EditConfig(("gender",), steps=7), EditConfig(("gender",), range=(-1.0, 0.0))]
)
def test_values_without_sentences_are_told(edit: EditConfig) -> None:
    with pytest.raises(ConfigError, match=r"no sentences for . evenly spaced values: gender has -"):
        sweeps_of(edit, Words(), None)


def test_an_attribute_without_sentences_is_told_with_those_that_have_some() -> None:
    with pytest.raises(ConfigError, match="'smile': they do for age, gender, race, tone"):
        sweeps_of(EditConfig(("smile",)), Words(), None)
    with pytest.raises(ConfigError, match="no name of a sweep"):
        sweeps_of(EditConfig(("../up",)), Values(), None)


def test_named_ends_are_contrasts_with_the_baseline_whose_picture_is_asked_for_once() -> None:
    sweeps = sweeps_of(EditConfig(("race",)), Words(), "Black")
    assert [sweep.name for sweep in sweeps] == [
        f"race: {level} − Black" for level in ("White", "East Asian", "South Asian")
    ]
    assert {tuple(sweep.values) for sweep in sweeps} == {(0.0, 1.0)}
    wishes = wishes_of(sweeps, PHOTOS[0], 0, placebos=True, neutral=False)
    assert len({wishes[sweep.name, 0] for sweep in sweeps}) == 1
    assert len({*wishes.values()}) == 4 + 2 + 2
    with pytest.raises(UnknownName, match="'Blak'"):
        sweeps_of(EditConfig(("race",)), Words(), "Blak")
    with pytest.raises(UnknownName, match="'White'"):
        sweeps_of(EditConfig(("gender",)), Words(), "White")


def test_lots_are_the_photo_s_and_the_seed_s_and_fall_evenly() -> None:
    (sweep,) = sweeps_of(EditConfig(("gender",)), Words(), None)
    assert sweep.prompts is not None
    first = [wishes_of([sweep], photo, 0, True, False) for photo in PHOTOS]
    assert first == [wishes_of([sweep], photo, 0, True, False) for photo in PHOTOS]
    assert first != [wishes_of([sweep], photo, 1, True, False) for photo in PHOTOS]
    wordings = Counter(wording_of(sweep, photo) for photo in PHOTOS)
    assert len(wordings) == sweep.prompts.wordings
    assert min(wordings.values()) > 0.35 * len(PHOTOS) / (len(wordings) / 2)
    below = Counter(wishes["gender-random", 0].text for wishes in first)
    above = Counter(wishes["gender-random", 2].text for wishes in first)
    assert below.keys() == above.keys()  # each direction lies below, and above
    assert len(below) == 2 * sweep.prompts.pairs * sweep.prompts.wordings
    draws = Counter(
        tuple(wishes["gender-same", step].draw for step in range(3)) for wishes in first
    )
    assert {draw for one in draws for draw in one} == {0, 1}
    assert len(draws) == 3  # which step has the other draw


def test_one_wording_a_photo_in_everything_that_it_is_asked_for() -> None:
    sweeps = sweeps_of(EditConfig(("gender",)), Words(), None)
    prompts = sweeps[0].prompts
    assert prompts is not None
    for photo in PHOTOS[:20]:
        wording = wording_of(sweeps[0], photo)
        wishes = wishes_of(sweeps, photo, 0, placebos=True, neutral=False)
        assert wishes["gender", 0].text == prompts.sentence(-2.0, wording)
        assert wishes["gender-same", 0].text == prompts.same(wording)
        assert wishes["gender-random", 0].text in {
            prompts.random(pair, side, wording) for pair in range(prompts.pairs) for side in (0, 1)
        }
        assert ("gender-random", 1) not in wishes  # the centre picture itself
