"""Functions as editors: the forms that they take and return, what is wrong with others, and what is kept."""

import base64
import io
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from gslopes.ask.cache import AnswerCache
from gslopes.ask.client import Client
from gslopes.ask.editors import load_editor
from gslopes.ask.editors.python import FunctionEditor, as_editor, given_editor
from gslopes.ask.questions import PartProgress, Question
from gslopes.core.errors import AnswerError, ClassifierError, ConfigError, ModelError, UsageError
from gslopes.core.records import Answer
from gslopes.faces.edit.protocol import Wish

LIGHTER = Wish("gender", 40.0)


def encoded(seed: int = 0, kind: str = "PNG") -> bytes:
    """A picture of 20 x 16 pixels; what is lossless can be told apart by one level."""
    pixels = np.random.default_rng(seed).integers(0, 200, (16, 20, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind, quality=95)
    return file.getvalue()


def pixels_of(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def asked(function: Any, wish: Wish = LIGHTER, pictures: int = 2, **options: Any) -> list[Answer]:
    """The answers of an editor of the function; an error about one picture is raised."""
    one = as_editor(function, **options).at(wish)
    raws = one.ask([encoded(seed) for seed in range(pictures)])
    for raw in raws:
        if isinstance(raw, Exception):
            raise raw
    return [one.parse(raw) for raw in raws]


# -- natural forms --------------------------------------------------------------------------------------------------
# Each adds the value, 40, to every level.


def array(image, value):
    return image + np.uint8(value)


def annotated_pil(photo: Image.Image, amount: float) -> Image.Image:
    return photo.point(lambda level: min(255, level + int(amount)))


def many_arrays(images: list[np.ndarray], value: float) -> list[np.ndarray]:
    return [image + np.uint8(value) for image in images]


def path_to_path(image_path, value):
    out = Path(image_path).with_suffix(".edited.png")
    Image.fromarray(np.asarray(Image.open(image_path)) + np.uint8(value)).save(out)
    return str(out)


def file_bytes(img: Image.Image, strength: float) -> bytes:
    file = io.BytesIO()
    img.point(lambda level: level + int(strength)).save(file, "PNG")
    return file.getvalue()


def shares(face: np.ndarray, level):
    return face / 255 + level / 255


def float_levels(x, a):
    return np.asarray(x, np.float32) + a


def bgr_back_and_forth(frame_bgr, value):
    assert (
        frame_bgr[0, 0, 0] == pixels_of(encoded())[0, 0, 2]
        or frame_bgr[0, 0, 0] == pixels_of(encoded(1))[0, 0, 2]
    )
    return frame_bgr + np.uint8(value)


def tensors_in_and_out(images: torch.Tensor, value):
    assert images.shape == (len(images), 3, 16, 20)
    return images + value / 255


def bytes_in_and_out(data: bytes, value) -> bytes:
    return file_bytes(Image.open(io.BytesIO(data)), value)


def channels_first(pic, value):
    return torch.from_numpy(np.array(pic)).permute(2, 0, 1).float()[None] / 255 + value / 255


def half_precision_batch(pictures, value):
    stacked = torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2)
    return (stacked + int(value)).to(torch.bfloat16)


def value_first(value, image: np.ndarray):
    return image + np.uint8(value)


def keyword_only(image, *, value):
    return image.astype(int) + int(value)


def with_more(image, value, attribute, seed=3, draw=0, steps=50):
    assert (attribute, seed, draw, steps) == ("gender", 0, 0, 50)
    return Image.fromarray(image + np.uint8(value)).convert("RGBA")


def pipeline(image: Image.Image, value):
    return SimpleNamespace(images=[image.point(lambda level: level + int(value))])


async def awaited(image, value):
    return image + np.uint8(value)


class Model:
    def __call__(self, image, value):
        return (image + np.uint8(value))[None]


def one_by_one(photos, value):
    for photo in photos:
        yield photo + np.uint8(value)


def wrapped(*args, **kwargs):
    return array(*args, **kwargs)


FORMS = [
    array, annotated_pil, many_arrays, path_to_path, file_bytes, shares, float_levels, channels_first,
    half_precision_batch, value_first, keyword_only, with_more, pipeline, awaited, Model, Model(), one_by_one, wrapped,
    lambda image, value: image + np.uint8(value),
]  # fmt: skip


@pytest.mark.parametrize("function", FORMS, ids=lambda one: getattr(one, "__name__", "object"))
def test_a_natural_function_edits_every_picture_by_the_value(function):
    answers = asked(function)
    for seed, answer in enumerate(answers):
        assert answer.status == "answered"
        difference = pixels_of(answer.picture).astype(int) - pixels_of(encoded(seed))
        off = 1 if function is half_precision_batch else 0  # has 8 bits of precision
        assert np.abs(difference - 40).max() <= off, function


def test_a_gray_picture_has_three_equal_channels():
    (answer, _) = asked(lambda image, value: Image.fromarray(image).convert("L"))
    assert len(np.unique(pixels_of(answer.picture), axis=2)[0, 0]) in (1, 3)
    assert (np.ptp(pixels_of(answer.picture), axis=2) == 0).all()
    (same, _) = asked(lambda image, value: np.asarray(Image.fromarray(image).convert("L")))
    assert same.picture == answer.picture


def test_a_file_comes_back_as_it_is():
    jpeg = encoded(kind="JPEG")
    assert asked(lambda image, value: jpeg)[0].picture == jpeg


def test_none_refuses_that_picture_alone():
    first = pixels_of(encoded())
    answers = asked(lambda image, value: None if (image == first).all() else image)
    assert [answer.status for answer in answers] == ["refused", "answered"]
    assert answers[0].reason == "the function returned None"


# -- what it is told ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("told", [-2.0, None, "Black"])
def test_a_value_an_end_and_no_change_are_told_as_they_are(told):
    seen = []
    asked(lambda image, value: seen.append(value) or image, Wish("race", told), 1)
    assert {*seen} == {told}


def test_a_parameter_for_words_or_the_option_makes_an_editor_of_words():
    seen = []

    def edit(image, prompt):
        seen.append(prompt)
        return image

    def follow(image, wanted):
        seen.append(wanted)
        return image

    wish = Wish("gender", -2.0, "Make it so.")
    for function, options in ((edit, {}), (follow, {"prompt": "gender"})):
        editor = as_editor(function, **options)
        assert editor.words
        editor.at(wish).ask([encoded()])
        assert seen.pop() == "Make it so."
    assert not as_editor(follow).words
    assert (as_editor(edit).prompt, as_editor(follow, prompt="gender").prompt) == ("", "gender")


def test_the_form_is_found_once_for_all_wishes():
    calls = []

    def edit(x, value):
        calls.append(type(x).__name__)
        return np.asarray(Image.open(x))

    editor = as_editor(edit)
    for value in (-2.0, 2.0):
        editor.at(Wish("gender", value)).ask([encoded()])
    assert calls[-1] == "str"
    assert len([kind for kind in calls if kind == "str"]) == 2
    assert editor.notes == ["edit does not take a list of arrays: it is given one path at a time."]


def test_a_chip_has_its_size_and_a_photo_none():
    assert (as_editor(array).takes, as_editor(array).size) == ("photo", 0)
    assert as_editor(array, takes="chip").size == 512
    assert as_editor(array, takes="chip", size=256).size == 256
    for options in ({"size": 256}, {"takes": "chip", "size": 8}):
        with pytest.raises(ConfigError):
            as_editor(array, **options)


# -- wrong ones -----------------------------------------------------------------------------------------------------


def half_transparent(image: np.ndarray, value):
    return np.dstack([image, np.full(image.shape[:2], 128, np.uint8)])


WRONG = [
    (lambda image, value: {"smile": 0.5}, AnswerError, "returned \"{'smile': 0.5}\", which is no array"),
    (lambda image, value: 0.5, AnswerError, "returned '0.5', which is no array, no image"),
    (lambda image, value: "gone.png", AnswerError, "returned 'gone.png', which is no array"),
    (lambda image, value: b"<html>", AnswerError, "no PNG, JPEG or WebP file"),
    (lambda image, value: [image, image], AnswerError, "returned a list of 2, which is no array"),
    (lambda image, value: image[..., :2], AnswerError, r"array of uint8 of the shape \(16, 20, 2\)"),
    (lambda image, value: image / 127.5 - 1, AnswerError, r"numbers from -1 to 0.56\d*: clip them"),
    (lambda image, value: image / 255 * 1.5, AnswerError, r"numbers from 0 to 1.17\d*: clip them"),
    (lambda image, value: image + 100, AnswerError, None),
    (lambda image, value: image * np.nan, AnswerError, "numbers from nan to nan"),
    (lambda image, value: image > 100, AnswerError, "array of bool"),
    (half_transparent, AnswerError, "transparent parts"),
    (lambda images, value: images[:1], ModelError, "returned a list of 1 for 2 pictures"),
    (lambda images, value: None, ModelError, "returned nothing, it may lack its return, for 2"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "kind", "words"), WRONG)
def test_what_is_no_picture_is_told_in_a_sentence(function, kind, words):
    if words is None:  # whole numbers are levels, and 8 bits go round
        assert asked(function)[0].status == "answered"
        return
    with pytest.raises(kind, match=words) as raised:
        asked(function)
    assert raised.value.message.endswith(".")


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda image: image, "A function of image is not told which value is wished for"),
        (lambda image, steps=30: image, "A function of image, steps is not told which value"),
        (lambda image, value, size: image, "missing a required argument: 'size'"),
        (lambda: None, "is not told which value"),
    ],
)
def test_a_function_that_cannot_be_told_is_found_before_any_work(function, words):
    with pytest.raises(UsageError, match=re.escape(words)) as raised:
        as_editor(function)
    assert raised.value.hint


def test_a_number_is_no_editor():
    with pytest.raises(UsageError, match="An editor cannot be made of int"):
        given_editor(3)
    assert given_editor("gender-field") is given_editor(None) is None
    editor = as_editor(array)
    assert given_editor(editor) is editor
    assert isinstance(given_editor(array), FunctionEditor)


def test_an_error_names_the_line_the_form_and_the_value():
    def edit(image, value):
        return image.no_such_thing

    with pytest.raises(ModelError, match="AttributeError") as raised:
        asked(edit)
    line = edit.__code__.co_firstlineno + 1
    assert f"(test_python.py:{line}: return image.no_such_thing)" in raised.value.message
    assert "It was given one array at a time and 40.0, 20 x 16 pixels" in raised.value.message
    assert "it fails in every other form, too" in raised.value.message


def test_one_odd_picture_costs_only_itself():
    bright = pixels_of(encoded(1))

    def edit(image, value):
        if (image == bright).all():
            raise ValueError("too bright")
        return image

    editor = as_editor(edit)
    editor.at(LIGHTER).ask([encoded()])
    with pytest.raises(ClassifierError, match="too bright"):
        editor.at(LIGHTER).ask([encoded(1)])


def test_a_full_memory_is_not_about_the_form():
    calls = []

    def edit(images, value):
        calls.append(len(images))
        if len(images) > 1:
            raise RuntimeError("CUDA out of memory")
        return images

    one = as_editor(edit, batch=4).at(LIGHTER)
    (part,) = answered(one, [encoded(seed) for seed in range(4)])
    assert {answer.status for _, answer in part.answered()} == {"answered"}
    assert calls == [4, 2, 1, 1, 2, 1, 1]


# -- what is kept ---------------------------------------------------------------------------------------------------


def answered(one: Any, pictures: list[bytes], cache: Path | None = None) -> list[PartProgress]:
    """Ask as a walk does.  cache: the folder of all runs, if it is one of those that are kept."""
    parts: list[PartProgress] = []
    questions = [Question(str(n), lambda data=data: data) for n, data in enumerate(pictures)]
    opened = AnswerCache(cache) if cache else None
    Client(one, cache=opened).ask_parts([(0, questions)], parts.append)
    if opened:
        opened.close()
    return parts


@pytest.fixture
def mine(tmp_path, monkeypatch) -> str:
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    Path("editing_of_mine.py").write_text(
        "from pathlib import Path\n"
        "def edit(image, value):\n"
        "    with Path('calls').open('a') as calls: calls.write('.')\n"
        "    return image + int(value or 0)\n"
    )
    return "editing_of_mine.py:edit"


def test_nothing_is_drawn_twice_until_the_code_changes(mine, tmp_path):
    pictures = [encoded(seed) for seed in range(3)]
    editor = load_editor(mine)
    assert editor.name == "python:editing_of_mine.py:edit"
    for again in range(2):
        for value in (1.0, None):
            wish = Wish("gender", value, seed=again)
            (part,) = answered(editor.at(wish), pictures, tmp_path)
            for question, answer in part.answered():
                difference = pixels_of(answer.picture) - pixels_of(question.read())
                assert (difference == (value or 0)).all()
        assert Path("calls").read_text() == "." * 6
    answered(editor.at(Wish("gender", 1.0, draw=1)), pictures, tmp_path)
    assert len(Path("calls").read_text()) == 9
    del sys.modules["editing_of_mine"]
    with Path("editing_of_mine.py").open("a") as more:
        more.write("\nSTEPS = 3\n")
    answered(load_editor(mine).at(Wish("gender", 1.0)), pictures, tmp_path)
    assert len(Path("calls").read_text()) == 12


def test_what_has_no_digest_keeps_nothing_unless_a_version_is_named(tmp_path):
    lock = open(tmp_path / "lock", "w")  # noqa: SIM115 (has no digest)

    def edit(image, value):
        assert not lock.closed
        return image

    editor = as_editor(edit)
    assert not editor.traits.kept
    assert 'gslopes.as_editor(edit, version="1")' in editor.traits.unknown
    named = as_editor(edit, version="1")
    assert named.traits.kept
    assert named.at(LIGHTER).version == "1"
    lock.close()


def test_a_seed_is_part_of_the_name_only_if_the_function_takes_one():
    names = {as_editor(array).at(Wish("gender", 1.0, seed=seed)).name for seed in range(3)}
    assert names == {"array@gender=1"}
    assert as_editor(with_more).at(Wish("a", "end", seed=2)).name == "with_more@a=end,seed=2"


def test_raw_answers_are_json_with_the_picture_in_base64():
    one = as_editor(array).at(LIGHTER)
    (raw,) = one.ask([encoded()])
    assert base64.b64decode(raw["picture"]) == one.parse(raw).picture
