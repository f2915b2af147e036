import time
from threading import Barrier

import pytest
import torch

from gslopes.frame.executors import OneProcess


@pytest.mark.parametrize("progress", [False, True])
def test_every_part_is_done_once(progress, capsys):
    done: list[int] = []

    def work(part, tick):
        tick(3)
        done.append(part)

    OneProcess(progress)(work, {2: 3, 5: 3}, label="synthesise", unit="photos", done=4)
    assert done == [2, 5]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert ("10 of 10 photos" in captured.err) is progress


def test_nothing_to_do_prints_nothing(capsys):
    OneProcess(True)(lambda part, tick: None, {}, label="score", unit="pictures", done=9)
    assert capsys.readouterr().err == ""


def test_the_first_error_ends_the_work():
    def work(part, tick):
        raise ValueError(part)

    with pytest.raises(ValueError, match="1"):
        OneProcess()(work, {1: 1, 2: 1}, label="score", unit="pictures")


def test_notes_are_for_people_who_watch(capsys):
    OneProcess(False).note("quiet")
    OneProcess(True).note("loud")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "loud\n")


class Together:
    """A work that only ends when two of its parts are in hand at once."""

    in_threads = True

    def __init__(self, fails: int | None = None) -> None:
        self.both, self.fails, self.done = Barrier(2, timeout=60), fails, []

    def __call__(self, part, tick):
        self.both.wait()
        if part == self.fails:
            raise ValueError(part)
        for _ in range(600):
            tick(0)
            if self.fails is not None:
                time.sleep(0.05)
        self.done.append((part, torch.get_num_threads()))


def test_parts_that_allow_it_are_in_hand_together_with_one_thread_for_each_network():
    work, before = Together(), torch.get_num_threads()
    OneProcess(threads=2)(work, {1: 1, 2: 1, 3: 1, 4: 1}, label="synthesise", unit="photos")
    assert sorted(work.done) == [(part, 1) for part in (1, 2, 3, 4)]
    assert torch.get_num_threads() == before


def test_an_error_in_a_thread_ends_the_other_at_its_next_tick():
    work = Together(fails=2)
    with pytest.raises(ValueError, match="2"):
        OneProcess(threads=2)(work, {1: 1, 2: 1, 3: 1}, label="synthesise", unit="photos")
    assert work.done == []


def test_one_thread_takes_one_part_after_another():
    seen: list[int] = []

    class Work:
        in_threads = True

        def __call__(self, part, tick):
            seen.append(part)

    OneProcess(threads=1)(Work(), {3: 1, 1: 1, 2: 1}, label="synthesise", unit="photos")
    assert seen == [3, 1, 2]


def test_a_log_file_gets_whole_lines_and_no_carriage_returns(capsys):
    def work(part, tick):
        tick(3)

    OneProcess(progress=True, threads=1)(work, {0: 3, 1: 3}, label="gate", unit="photos", done=4)
    err = capsys.readouterr().err
    assert "\r" not in err
    assert err.splitlines()[0] == "gate       4 of 10 photos"
    assert err.splitlines()[-1].startswith("gate       10 of 10 photos, ")
