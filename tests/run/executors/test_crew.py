from __future__ import annotations

import pytest

from gslopes.core.errors import WorkerLost
from gslopes.run.executors.crew import Done, Failed, Lost, Ready, Ticked, carry_out


class Crew:
    """Does parts in the order in which they are given, one news at a time; ``fates`` of a part, attempt by attempt."""

    def __init__(self, fates: dict[int, list[str]] | None = None, start: str = "") -> None:
        self.fates, self.start = fates or {}, start
        self.hired, self.given, self.dismissed = 0, [], False
        self.to_come: list = []
        self.held: dict[int, set[int]] = {}
        self.most, self.finished = 0, []

    def hire(self):
        self.hired += 1
        self.to_come.append((self.hired, Lost(self.start) if self.start else Ready()))
        return self.hired

    def give(self, worker, part):
        self.given.append(part)
        self.held.setdefault(worker, set()).add(part)
        self.most = max(self.most, len(self.held[worker]))
        fate = self.fates[part].pop(0) if self.fates.get(part) else ""
        self.to_come.append((worker, Ticked(part, 3)))
        self.to_come.append((worker, Lost(fate) if fate else Done(part)))

    def news(self):
        worker, news = self.to_come.pop(0)
        match news:
            case Done(part):
                self.held[worker].remove(part)
                self.finished.append(part)
            case Lost():
                self.to_come = [(other, later) for other, later in self.to_come if other != worker]
                self.held.pop(worker, None)
        yield worker, news

    def dismiss(self):
        self.dismissed = True


def run(crew, workers=2, parts=4, hands=1):
    ticks, notes = [], []
    carry_out(
        crew, workers, hands, dict.fromkeys(range(parts), 3), lambda part: f"part {part}", ticks.append, notes.append
    )
    return ticks, notes


def test_every_part_is_given_once_and_the_crew_goes_home():
    crew = Crew()
    ticks, notes = run(crew)
    assert (crew.given, crew.hired, crew.dismissed) == ([0, 1, 2, 3], 2, True)
    assert (sum(ticks), notes) == (12, [])


@pytest.mark.parametrize("late", [True, False])
def test_units_whose_news_come_after_the_end_of_their_part_are_counted_once(late):
    class Late(Crew):
        def give(self, worker, part):
            super().give(worker, part)
            ticked, done = self.to_come.pop(-2), self.to_come.pop()
            self.to_come.append((done[0], Done(part, 3)))
            if late:  # that of the last part is never heard
                self.to_come.append(ticked)

    ticks, _ = run(Late())
    assert sum(ticks) == 12


def test_no_more_workers_than_parts():
    crew = Crew()
    run(crew, workers=8, parts=3)
    assert crew.hired == 3


def test_a_lost_part_is_done_last_by_a_new_worker_and_its_ticks_are_taken_back():
    crew = Crew({0: ["it fell asleep"]})
    ticks, notes = run(crew)
    assert crew.given == [0, 1, 2, 3, 0]
    assert sum(ticks) == 12
    assert notes == ["A worker was lost at part 0: it fell asleep. That is done again."]
    assert crew.hired == 3


def test_a_worker_with_nothing_to_do_takes_over():
    crew = Crew({3: ["a", "b"]})
    run(crew, workers=4)
    assert crew.given == [0, 1, 2, 3, 3, 3]
    assert crew.hired == 4


def test_three_losses_on_one_part_are_an_error_that_names_it_after_all_others_are_done():
    crew = Crew({1: ["cosmic rays"] * 3})
    with pytest.raises(WorkerLost, match=r"lost 3 times, the last at part 1: cosmic rays\."):
        run(crew)
    assert crew.given == [0, 1, 2, 3, 1, 1]
    assert crew.dismissed


def test_each_worker_has_several_parts_in_hand_and_few_parts_are_shared_out():
    crew = Crew()
    run(crew, workers=1, parts=7, hands=3)
    assert crew.given == [0, 1, 2, 3, 4, 5, 6]
    assert crew.most == 3
    crew = Crew()
    run(crew, workers=2, parts=4, hands=16)
    assert crew.most == 2


def test_of_several_parts_in_a_lost_workers_hands_the_one_to_blame_is_found():
    crew = Crew({1: ["cosmic rays"] * 3})
    with pytest.raises(WorkerLost, match=r"lost 3 times, the last at part 1: cosmic rays\."):
        run(crew, workers=1, parts=6, hands=3)
    # 0, 1 and 2 were together; then the others; then each of the three alone
    assert sorted(set(crew.finished)) == [0, 2, 3, 4, 5]


def test_workers_that_never_begin_are_an_error():
    crew = Crew(start="no room")
    with pytest.raises(WorkerLost, match="lost 6 times, the last before it had anything to do: no room"):
        run(crew)


def test_losses_all_over_end_the_work_before_every_part_was_tried():
    crew = Crew({part: ["no memory"] for part in range(100)})
    with pytest.raises(WorkerLost, match="Workers were lost 6 times"):
        run(crew, parts=100)
    assert len(crew.given) == 6


def test_an_error_of_the_work_is_raised_as_it_is():
    crew = Crew()
    crew.to_come.append((0, Failed(KeyError("x"))))
    with pytest.raises(KeyError):
        run(crew)
    assert crew.dismissed
