from __future__ import annotations

import hashlib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.core.errors import ClassifierError, ConfigError, ModelError, TableError
from gslopes.core.reasons import explained
from gslopes.core.records import Answer
from tests.ask.asking import ask_part

STEPS = 5


def photo(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


class Box:
    """A classifier whose pictures are texts: it remembers what it was asked and answers as a test wants."""

    name, version = "box", "1"

    def __init__(self, answer: Callable[[str], object] | None = None, batch: int = 4) -> None:
        self.batch = batch
        self.calls: list[list[str]] = []
        self._answer = answer or (lambda text: [("tag", len(text) / 100)])

    @property
    def seen(self) -> list[str]:
        return [text for call in self.calls for text in call]

    def ask(self, pictures: list[bytes]) -> list[object]:
        self.calls.append([data.decode() for data in pictures])
        return [self._answer(text) for text in self.calls[-1]]

    def parse(self, raw: object) -> Answer:
        return raw if isinstance(raw, Answer) else Answer("answered", tuple(raw))


@pytest.fixture
def make_edits(tmp_path: Path):
    """Writes edited "photos" and gives their table; ``text(photo number, step)`` is a picture's content."""

    def make(photos: int, text: Callable[[int, int], str] = "{}:{}".format, attribute: str = "gender") -> pd.DataFrame:
        rows = []
        (tmp_path / "edits").mkdir(exist_ok=True)
        for number in range(photos):
            for step in range(STEPS):
                file = f"edits/{attribute}-{number}-{step}.jpg"
                (tmp_path / file).write_text(text(number, step))
                rows.append((photo(number), attribute, step, step - 2.0, file, 0.1))
        return pd.DataFrame(rows, columns=tables.EDITS.columns)

    return make


# --- what is asked ---


def test_every_picture_is_asked_once_in_batches_of_the_classifiers_size(make_edits, tmp_path):
    box = Box()
    ask_part(make_edits(3), tmp_path, box)
    assert [len(call) for call in box.calls] == [4, 4, 4, 3]
    assert sorted(box.seen) == sorted(f"{number}:{step}" for number in range(3) for step in range(STEPS))


def test_the_pictures_of_one_photo_are_asked_together(make_edits, tmp_path):
    box = Box()
    both = pd.concat([make_edits(6), make_edits(6, "{}:r{}".format, "race")])
    ask_part(both.sample(frac=1, random_state=0), tmp_path, box)
    order = [text.split(":")[0] for text in box.seen]
    assert sum(left != right for left, right in pairwise(order)) == 5


def test_the_order_is_shuffled_within_each_photo_and_differs_between_photos(make_edits, tmp_path):
    box = Box()
    ask_part(make_edits(12), tmp_path, box)
    orders = {number: [t.split(":")[1] for t in box.seen if t.startswith(f"{number}:")] for number in range(12)}
    assert len({tuple(order) for order in orders.values()}) > 6
    assert sum(order == sorted(order) for order in orders.values()) <= 1


def test_the_seed_decides_the_order_and_nothing_else(make_edits, tmp_path):
    edits, boxes = make_edits(4), [Box(), Box(), Box()]
    results = [ask_part(edits, tmp_path, box, seed=seed) for box, seed in zip(boxes, (1, 1, 2), strict=True)]
    assert boxes[0].calls == boxes[1].calls
    assert boxes[0].calls != boxes[2].calls
    for other in results[1:]:
        pd.testing.assert_frame_equal(results[0][0], other[0])
        pd.testing.assert_frame_equal(results[0][1], other[1])


def test_identical_pictures_are_asked_once_and_all_get_the_answer(make_edits, tmp_path):
    box = Box()
    asked, scores = ask_part(make_edits(4, lambda number, step: f"same at {step}"), tmp_path, box)
    assert sorted(box.seen) == [f"same at {step}" for step in range(STEPS)]
    assert (asked["status"] == "answered").all()
    assert len(scores) == len(asked) == 4 * STEPS


# --- what is written down ---


def test_the_frames_are_the_tables_of_the_design(make_edits, tmp_path):
    asked, scores = ask_part(make_edits(2), tmp_path, Box(lambda text: [("b", 0.25), ("a", 1)]))
    for table, frame in ((tables.ASKED, asked), (tables.SCORES, scores)):
        tables.write(table, frame, tmp_path / "table.parquet")
        pd.testing.assert_frame_equal(tables.read(table, tmp_path / "table.parquet"), frame)
    assert scores["label"].tolist() == ["a", "b"] * 2 * STEPS
    assert scores["value"].tolist() == [step - 2.0 for _ in range(2) for step in range(STEPS) for _ in "ab"]
    assert set(scores["classifier"]) == {"box"}


def test_refusals_are_recorded_with_their_reason(make_edits, tmp_path):
    asked, scores = ask_part(make_edits(1), tmp_path, Box(lambda text: Answer("refused", (), "policy")))
    assert set(asked["status"]) == {"refused"}
    assert set(zip(asked["reason"], asked["detail"], strict=True)) == {("refused", "policy")}
    assert scores.empty


# --- one failure costs one picture ---


def test_a_picture_that_makes_a_batch_fail_costs_only_itself(make_edits, tmp_path):
    def answer(text: str) -> object:
        if text == "1:2":
            raise RuntimeError("cannot judge this")
        return [("tag", 0.5)]

    asked, scores = ask_part(make_edits(3), tmp_path, Box(answer))
    failed = asked[asked["status"] == "failed"]
    assert list(zip(failed["photo"], failed["step"], strict=True)) == [(photo(1), 2)]
    assert failed["reason"].item() == "failed"
    assert failed["detail"].item() == "RuntimeError: cannot judge this"
    assert len(scores) == 3 * STEPS - 1


@pytest.mark.parametrize("harm", ["unlink", "empty", "folder"])
def test_a_picture_that_cannot_be_read_is_failed_and_not_asked(make_edits, tmp_path, harm):
    edits, box = make_edits(2), Box()
    path = tmp_path / "edits/gender-0-1.jpg"
    path.unlink()
    if harm == "empty":
        path.touch()
    elif harm == "folder":
        path.mkdir()
    asked, _ = ask_part(edits, tmp_path, box)
    failed = asked[asked["status"] == "failed"]
    assert failed["step"].tolist() == [1]
    assert failed["reason"].item() == "the edited photo cannot be read"
    assert str(tmp_path) not in failed["detail"].item()
    assert len(box.seen) == 2 * STEPS - 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ([("tag", 1.01)], "the classifier's score of 'tag' is 1.01, not a number in [0, 1]"),
        ([("tag", -0.1)], "not a number in [0, 1]"),
        ([("tag", float("nan"))], "not a number in [0, 1]"),
        ([("tag", "0.5")], "not a number in [0, 1]"),
        ([("tag", True)], "not a number in [0, 1]"),
        ([("tag", None)], "not a number in [0, 1]"),
        ([("", 0.5)], "returned '' as a label"),
        ([(None, 0.5)], "returned None as a label"),
        ([("\ud800", 0.5)], "not valid Unicode"),
        ([("tag", 0.5), ("tag", 0.6)], "the label 'tag' twice"),
        (Answer("maybe"), "known status"),
        (Answer("failed", (("tag", 0.5),)), "labels with the status failed"),
        ([("tag",)], "ValueError"),
        (7, "TypeError"),
    ],
)
def test_an_answer_that_makes_no_sense_is_failed_with_what_is_wrong(make_edits, tmp_path, answer, reason):
    box = Box(lambda text: answer if text == "0:3" else [("tag", 0.5)])
    asked, scores = ask_part(make_edits(1), tmp_path, box)
    failed = asked[asked["status"] == "failed"]
    assert failed["step"].tolist() == [3]
    assert reason.lower() in failed["detail"].item().lower()
    assert 3 not in scores["step"].tolist()


def test_a_wrong_number_of_answers_is_no_answer(make_edits, tmp_path):
    class Short(Box):
        def ask(self, pictures: list[bytes]) -> list[object]:
            return super().ask(pictures)[: -1 if len(pictures) > 1 else None]

    asked, _ = ask_part(make_edits(1), tmp_path, Short())
    assert (asked["status"] == "answered").all(), "asked alone, each picture has one answer"


# --- what stops the walk ---


@pytest.mark.parametrize("kind", [ModelError, ConfigError])
def test_an_error_that_concerns_every_picture_stops_at_once_and_is_scrubbed(make_edits, tmp_path, kind, monkeypatch):
    monkeypatch.setenv("MY_SERVICE_KEY", "planted-secret")

    def answer(text: str) -> object:
        raise kind("The key=planted-secret is wrong.") from OSError("Authorization: Bearer planted-secret")

    box = Box(answer)
    with pytest.raises(kind) as caught:
        ask_part(make_edits(3), tmp_path, box)
    assert len(box.calls) == 1
    assert "planted-secret" not in f"{caught.value}{caught.value.args}{caught.value.__cause__}"


def test_a_classifier_that_fails_on_a_whole_part_stops_the_walk(make_edits, tmp_path):
    box = Box(lambda text: [("tag", 87.5)])
    with pytest.raises(ClassifierError, match=r"box failed on all 40 pictures of a part, first with: .*87\.5"):
        ask_part(make_edits(8), tmp_path, box)


def test_a_classifier_that_refuses_everything_does_not_stop_the_walk(make_edits, tmp_path):
    asked, _ = ask_part(make_edits(8), tmp_path, Box(lambda text: Answer("refused", (), "policy")))
    assert set(asked["status"]) == {"refused"}


def test_interruption_is_not_swallowed(make_edits, tmp_path):
    def answer(text: str) -> object:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask_part(make_edits(1), tmp_path, Box(answer))


def test_a_row_given_twice_is_refused(make_edits, tmp_path):
    edits = make_edits(1)
    with pytest.raises(TableError, match="two rows for one photo"):
        ask_part(pd.concat([edits, edits]), tmp_path, Box())


# --- secrets ---


def test_no_secret_reaches_the_asked_table(make_edits, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_SERVICE_KEY", "planted-secret")

    def raising(_: str) -> object:
        raise RuntimeError("GET https://host/v1?q=planted-secret gave 401")

    for answer in (raising, lambda _: Answer("failed", (), "https://me:planted-secret@host/")):
        asked, _ = ask_part(make_edits(1), tmp_path, Box(answer))
        assert set(asked["status"]) == {"failed"}
        assert not asked["detail"].str.contains("planted-secret").any()


# --- a whole table ---


@pytest.mark.parametrize("file", ["/etc/hostname", "../secret.jpg", "edits/../../secret.jpg", "link.jpg"])
def test_no_picture_outside_the_run_folder_is_ever_sent(make_edits, tmp_path, file):
    run = tmp_path / "run"
    run.mkdir()
    (tmp_path / "secret.jpg").write_text("my own")
    (run / "link.jpg").symlink_to(tmp_path / "secret.jpg")
    edits = make_edits(1).assign(file=file)
    box = Box()
    asked, _ = ask_part(edits, run, box)
    assert box.seen == []
    assert set(asked["status"]) == {"failed"}
    assert set(map(explained, asked["reason"], asked["detail"])) == {
        "the edited photo cannot be read (lies outside the run folder)"
    }
