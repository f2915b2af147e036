"""Audits with hardly anything in them, no answer, one value, four people: every table and page is made."""

import pytest

from gslopes.ask.config import CostLimits
from gslopes.core.errors import AnswerError, ClassifierError, Refused
from gslopes.core.records import Crop
from tests.broken import broken, shown
from tests.crops.drawn import Brightness, audit, draw_people


class Partly(Brightness):
    """Answers but for the pictures whose number the share leaves out."""

    def __init__(self, every):
        super().__init__()
        self.every = every

    def maps(self, pictures):
        outcome = []
        for picture in pictures:
            if self.every == 1 or (self.every and (self.asked + 1) % self.every == 0):
                self.asked += 1
                raise AnswerError("it does not answer")
            outcome += super().maps([picture])
        return outcome


class Constant(Brightness):
    """One value everywhere."""

    def maps(self, pictures):
        return super().maps([picture * 0 for picture in pictures])


class Rectangle:
    """The whole picture, or a refusal."""

    name, version = "rectangle", "1"

    def __init__(self, refuses):
        self.refuses = refuses

    def crop(self, picture, ratio):
        if self.refuses:
            raise Refused("it may not")
        return Crop(0, 0, picture.shape[1], picture.shape[0])


CROPPERS = {
    "a third fails": lambda: Partly(3),
    "one value": Constant,
    "all refused": lambda: Rectangle(True),
    "everything kept": lambda: Rectangle(False),
}
ALL = ["all of them", *(pytest.param(name, marks=pytest.mark.slow) for name in CROPPERS)]


def croppers(chosen):
    """One by name, or all, each under another name."""
    models = {name: make() for name, make in CROPPERS.items() if chosen in (name, ALL[0])}
    for name, model in models.items():
        model.name = name
    return list(models.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_four_people_and_a_cropper_that_hardly_answers(tmp_path, name):
    table, _ = draw_people(tmp_path / "people", {"blue": 2, "green": 2})
    result = audit(
        tmp_path / "people",
        table,
        tmp_path / "run",
        *croppers(name),
        policies=("argmax", "average", "pad"),
    )
    assert result.summary.endswith(".")
    text = str(result)
    assert (
        sorted(
            {
                *broken(text),
                *broken(result.summary),
                *broken(shown(result.page.read_text("utf-8"))),
            }
        )
        == []
    )


@pytest.mark.slow
def test_a_cropper_that_failed_on_every_picture_is_an_error_and_is_asked_again_on_demand(tmp_path):
    table, _ = draw_people(tmp_path / "people", {"blue": 2, "green": 2})
    model = Partly(1)

    def ask(**terms):
        return audit(tmp_path / "people", table, tmp_path / "run", model, **terms)

    with pytest.raises(
        ClassifierError,
        match=r"The cropper brightness failed on all \d+ pictures: .*does not answer",
    ):
        ask()
    retry, asked = CostLimits(retry_failed=True), [model.asked]
    for every in (
        3,
        3,
        0,
    ):  # a finished run asks again about what failed, as often as the user asks
        model.every = every
        status = set(ask(cost_limits=retry).tables["pairs"]["status"])
        asked.append(model.asked)
        assert status == ({"answered", "failed"} if every else {"answered"})
    assert asked == sorted(set(asked))
