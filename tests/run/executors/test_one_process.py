from __future__ import annotations

import pytest

from gslopes.run.executors import OneProcess


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
    assert ("10/10" in captured.err) is progress


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
