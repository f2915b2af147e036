"""Names, answers and errors of a cropper behind an address; it is asked in tests/ask/croppers/test_remote.py."""

import io

import pytest
from PIL import Image

from gslopes.ask.croppers import has_map, load_cropper
from gslopes.core.errors import AnswerError, ConfigError
from gslopes.core.records import Crop

HOME = "https://crop.example/v1"


def at(options="", ratio=1.0, url=HOME):
    return load_cropper(f"http:{url}{options}").at(ratio)


def rectangle(answer, options="", size=(1200, 800)):
    box = at(options).parse({"answer": answer, "size": list(size)}).box
    return box.left, box.top, box.width, box.height


@pytest.mark.parametrize(
    ("answer", "options"),
    [
        ({"x": 100, "y": 0, "width": 800, "height": 800}, ""),
        ({"crop": {"left": 100, "top": 0, "w": 800, "h": 800}}, ",at=$.crop"),
        ({"bbox": [100, 0, 800, 800]}, ",at=$.bbox"),
        ({"crops": [{"x": 100, "y": 0, "width": 800, "height": 800}]}, ",at=$.crops[0]"),
        ({"left": None, "x": 100, "top": 0, "y": None, "width": 800, "h": 800, "height": None}, ""),
        ({"left": 1 / 12, "top": 0, "width": 2 / 3, "height": 1}, ",units=shares"),
    ],
)
def test_rectangles_in_the_forms_that_services_use(answer, options):
    assert rectangle(answer, options) == (100, 0, 800, 800)


def test_a_pixel_outside_is_moved_inside_and_more_makes_no_sense():
    assert rectangle({"x": -1, "y": 0, "width": 801, "height": 801}) == (0, 0, 800, 800)
    for answer in (
        {"x": -20, "y": 0, "width": 800, "height": 800},
        {"x": 5, "y": 5, "width": 0, "height": 10},
        {"x": 5, "y": 5},
        {"x": "5", "y": 5, "width": 10, "height": 10},
        {"x": True, "y": 5, "width": 10, "height": 10},
        {"x": float("nan"), "y": 5, "width": 10, "height": 10},
        [1, 2, 3],
        "a page",
        None,
    ):
        with pytest.raises(AnswerError):
            rectangle(answer)
    box = at(",answer=point").parse({"answer": {"x": 300, "y": 200}, "size": [1200, 800]}).box
    assert box == Crop(0, 0, 800, 800, (300, 200))  # by our own geometry
    with pytest.raises(AnswerError, match="outside of the picture"):
        rectangle({"x": 1300, "y": 5}, ",answer=point")


def test_names_hold_what_moves_answers_and_nothing_else():
    one, other = (
        load_cropper(name)
        for name in (f"{HOME},rate=3,answer=point,token=T", f"http:{HOME},answer=point")
    )
    assert one.name == other.name == f"http:{HOME},answer=point"
    assert one.traits.limits.requests_per_second == 3
    assert at(ratio=0.56).name == f"http:{HOME}@0.56"
    assert not has_map(one)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("http", "needs its url"),
        ("http:ftp://x", "needs an address"),
        ("http:localhost", "needs an address"),
        (f"{HOME}?key=abcdefgh", "would be stored"),
        ("http:http://crop.example/v1,token=T", "without encryption"),
        (f"{HOME},answr=image", "Did you mean 'answer'"),
        (f"{HOME},answer=text", "one of json, point"),
        (f"{HOME},rate=-1", "not be negative"),
    ],
)
def test_what_is_wrong_with_a_name_is_said_at_once(name, words):
    with pytest.raises(ConfigError, match=words):
        load_cropper(name)


def test_an_address_may_hold_the_size_that_is_wanted():
    sent = []
    buffer = io.BytesIO()
    Image.new("RGB", (400, 300)).save(buffer, "PNG")
    encoded = buffer.getvalue()

    class Client:
        def post(self, url, **more):
            sent.append((url, [*more.get("files", {})]))
            raise ValueError("enough")

    for url, options in (
        (HOME, ""),
        (f"{HOME}?mode=fast", ",public=yes"),
        ("https://crop.example/{width}x{height}/smart", ",field=photo"),
    ):
        cropper = at(options, ratio=0.5, url=url)
        cropper._client = Client()
        with pytest.raises(ValueError, match="enough"):
            cropper._answer(encoded)
    assert sent == [
        (f"{HOME}?ratio=0.5", []),
        (f"{HOME}?mode=fast&ratio=0.5", []),
        ("https://crop.example/400x200/smart", ["photo"]),
    ]


@pytest.mark.parametrize("width", [0.4, -5])
def test_a_crop_of_less_than_a_pixel_is_no_crop(width):
    crop = {"left": 3, "top": 2, "width": width, "height": 10}
    with pytest.raises(AnswerError, match="of a picture of 40 x 30"):
        at().parse({"answer": crop, "size": [40, 30]})
