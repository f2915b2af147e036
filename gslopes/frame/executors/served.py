"""Parts in processes of this machine, one a core, for whose networks this process answers: it alone has the device.

The workers decode, align, compose, encode and write. What they ask of a network waits here until it is free; then all
that is asked of it goes through it as one batch. A thread of a worker asks one thing at a time, and each worker has two
of them, so that it works while it waits, and no more waits here than there are threads.
"""

import os
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from signal import SIG_BLOCK, SIG_SETMASK, SIGINT, pthread_sigmask
from threading import Condition, Lock, Thread
from typing import Any

from gslopes.core import (
    Notes,
    Tick,
    UsageError,
    Work,
    frozen,
    is_out_of_memory,
    limit_threads,
    pick_device,
    progress_line,
)
from gslopes.core.errors import WorkerLost
from gslopes.core.executor import RemoteTask, pack
from gslopes.core.runtime import release_memory
from gslopes.core.serving import Answering, Channel, Recipe, serve
from gslopes.frame.executors.one_process import OneProcess, cores, one_thread_each
from gslopes.frame.executors.ray import AGAIN, portable

HANDS = 2  # parts that a worker has in hand at once
SERVERS = 2  # threads that answer: one prepares or hands out a batch while another waits for the device
MOST = 256  # items of a batch
SOON = 1.0  # seconds after which it is looked whether the servers are well
PROGRAM = "from gslopes.frame.executors.served import work_for_owner; work_for_owner()"


@frozen
class Served(Notes):
    """Parts in processes that this one serves with networks; in this one those that need no device, or cannot be sent.

    one: this process.
    workers: how many; by default one for each core, and no more than have something in hand.
    device: of the networks.
    progress: show a line with the expected end, and notes, on stderr.
    """

    one: OneProcess = OneProcess()
    workers: int | None = None
    device: str = "auto"
    progress: bool = False

    def note(self, text: str) -> None:
        """As of the one process."""
        self.one.note(text)

    def __call__(self, work: Work, parts: Mapping[int, int], **line: Any) -> None:
        """As ``Executor``.  Raises: UsageError for a device that is not there; WorkerLost."""
        task = _sent(work) if len(parts) > 1 else None
        device = pick_device(self.device) if task else ""
        if task is None or (device, self.device) == ("cpu", "auto"):
            return self.one(work, parts, **line)
        workers = min(self.workers or cores(), -(-len(parts) // HANDS))
        self.note(f"{line['label']:<10} {workers} processes, {device} for all of them")
        with progress_line(self.progress, parts, **line) as tick, serving(device) as questions:
            Owner(task, questions, list(parts)[::-1], tick).run(workers)


def _sent(work: Work) -> RemoteTask | None:
    """What makes a work of networks elsewhere, if it can be sent."""
    if getattr(work, "networks", False) and hasattr(os, "memfd_create"):
        with suppress(UsageError):
            return pack(work)
    return None


# -- answers ----------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Question:
    """What a thread of a worker asks: of which network, about what; ``same`` holds for all items."""

    channel: Channel
    recipe: Recipe
    items: Sequence[Any]
    same: tuple[Any, ...]

    @property
    def key(self) -> tuple[Any, ...]:
        """Questions of one key are answered together."""
        return self.recipe, self.same


@dataclass(eq=False)
class Questions:
    """Those that wait, answered by ``SERVERS`` threads.

    failed: why one of the threads ended, if it should not have.
    """

    device: str
    waiting: list[Question] = field(default_factory=list)
    closed: bool = False
    failed: BaseException | None = None
    _changed: Condition = field(default_factory=Condition)
    _making: Lock = field(default_factory=Lock)
    _made: dict[Recipe, Answering] = field(default_factory=dict)

    def put(self, question: Question) -> None:
        """One more."""
        with self._changed:
            self.waiting.append(question)
            self._changed.notify()

    def close(self) -> None:
        """Nothing else is answered."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()

    def answer_all(self) -> None:
        """Until it is closed."""
        try:
            while batch := self._next():
                self._answer(batch)
        except BaseException as error:
            self.failed = error

    def _next(self) -> list[Question]:
        """The one that has waited longest, with all that are asked alike; none when closed."""
        with self._changed:
            self._changed.wait_for(lambda: self.waiting or self.closed)
            batch: list[Question] = []
            for question in () if self.closed else tuple(self.waiting):
                count = sum(len(one.items) for one in batch) + len(question.items)
                if question.key == self.waiting[0].key and (count <= MOST or not batch):
                    batch.append(question)
            self.waiting = [one for one in self.waiting if one not in batch]
            return batch

    def _answer(self, batch: list[Question]) -> None:
        items = [item for question in batch for item in question.items]
        try:
            answers = within_memory(self._function(batch[0].recipe), items, batch[0].same, self.device)
        except Exception as error:
            if len(batch) == 1:
                return _tell(batch[0], portable(error))
        else:
            for question in batch:
                _tell(question, answers[: len(question.items)])
                del answers[: len(question.items)]
            return None
        for question in batch:  # the error meets those alone whose it is
            self._answer([question])
        return None

    def _function(self, recipe: Recipe) -> Answering:
        with self._making:
            if recipe not in self._made:
                make, *arguments = recipe
                self._made[recipe] = make(*arguments, self.device)
            return self._made[recipe]


def _tell(question: Question, answer: Any) -> None:
    with suppress(OSError):  # of a worker that is gone, as its other line says
        question.channel.send(answer)


def within_memory(
    function: Answering, items: list[Any], same: tuple[Any, ...], device: str
) -> list[Any]:
    """An answer for each item; items that do not fit the memory are halved until they do, down to one."""
    try:
        return function(items, *same)
    except Exception as error:
        if not is_out_of_memory(error) or len(items) == 1:
            raise
    release_memory(device)
    middle = len(items) // 2
    halves = items[:middle], items[middle:]
    return [answer for half in halves for answer in within_memory(function, half, same, device)]


@contextmanager
def serving(device: str) -> Iterator[Questions]:
    """Questions that threads answer meanwhile: networks have one thread each, and compute in 32 bits."""
    questions = Questions(device)
    threads = [Thread(target=questions.answer_all, daemon=True) for _ in range(SERVERS)]
    exact = import_module("torch").backends.cudnn.flags(enabled=True, allow_tf32=False)
    with one_thread_each(), exact:
        for thread in threads:
            thread.start()
        try:
            yield questions
        finally:
            questions.close()
            for thread in threads:
                thread.join()


# -- parts ------------------------------------------------------------------------------------------------------------


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Ctrl-C is for this process: one that is started meanwhile never sees it."""
    before = pthread_sigmask(SIG_BLOCK, {SIGINT})
    try:
        yield
    finally:
        pthread_sigmask(SIG_SETMASK, before)


@dataclass(eq=False)
class Hand:
    """A thread of a worker: its line, and the part that it has in hand, with what it has ticked for it."""

    process: subprocess.Popen[bytes]
    channel: Channel
    part: int | None = None
    ticked: int = 0


@dataclass(eq=False)
class Owner:
    """Hands out parts and takes questions.

    waiting: parts, the last one first.
    """

    task: RemoteTask
    questions: Questions
    waiting: list[int]
    tick: Tick
    hands: dict[Connection, Hand] = field(default_factory=dict)
    idle: list[Hand] = field(default_factory=list)
    lost: Counter[int | None] = field(default_factory=Counter)

    def run(self, workers: int) -> None:
        """All parts.  Raises: the first error of a part; WorkerLost."""
        try:
            for _ in range(workers):
                self._start()
            while self.waiting or any(hand.part is not None for hand in self.hands.values()):
                while self.waiting and self.idle:
                    self._give(self.idle.pop(), self.waiting.pop())
                for line in wait(self.hands, SOON):
                    if hand := self.hands.get(line):  # unless its process was lost meanwhile
                        self._listen(hand)
                if self.questions.failed is not None:
                    raise self.questions.failed
        finally:
            for process in {hand.process for hand in self.hands.values()}:
                process.kill()  # what it has in hand is not done, and is written as a whole or not at all
                process.wait()

    def _start(self) -> None:
        ends = [Pipe() for _ in range(HANDS)]
        memories = [os.memfd_create("gslopes") for _ in range(HANDS)]
        files = [file for (_, end), memory in zip(ends, memories, strict=True) for file in (end.fileno(), memory)]
        path = os.pathsep.join(filter(None, sys.path))
        # the workers' networks are here
        setting = {"PYTHONPATH": path, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
        with interrupts_held():
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", PROGRAM, *map(str, files)],
                stdin=subprocess.DEVNULL, pass_fds=files, env=os.environ | setting,
            )
        for (ours, theirs), memory in zip(ends, memories, strict=True):
            theirs.close()
            self.hands[ours] = Hand(process, Channel(ours, memory))
        with suppress(OSError):  # its line says so
            self.hands[ends[0][0]].channel.send(pickle.dumps(self.task.make))

    def _give(self, hand: Hand, part: int) -> None:
        hand.part = part
        hand.ticked = 0
        with suppress(OSError):
            hand.channel.send(part)

    def _listen(self, hand: Hand) -> None:
        try:
            kind, *content = hand.channel.receive(copied=False)
        except (EOFError, OSError):
            return self._replace(hand.process)
        if kind == "ask":
            self.questions.put(Question(hand.channel, *content))
        elif kind == "tick":
            hand.ticked += content[0]
            self.tick(content[0])
        else:
            if content[0] is not None:
                raise content[0]
            hand.part = None
            self.idle.append(hand)

    def _replace(self, process: subprocess.Popen[bytes]) -> None:
        """Another one for a process that is gone; its parts are done again.  Raises: WorkerLost."""
        process.kill()
        code = process.wait()
        gone = [line for line, hand in self.hands.items() if hand.process is process]
        hands = [self.hands.pop(line) for line in gone]
        self.idle = [hand for hand in self.idle if hand not in hands]
        in_hand = [hand.part for hand in hands if hand.part is not None]
        for hand in hands:
            hand.channel.connection.close()
            self.tick(-hand.ticked * (hand.part is not None))
        self.waiting += in_hand
        for part in in_hand or [None]:
            self.lost[part] += 1
            if self.lost[part] > AGAIN:
                where = "at their start" if part is None else f"the last at {self.task.name(part)}"
                why = f"signal {-code}" if code < 0 else f"code {code}"
                raise WorkerLost(
                    f"Workers were lost {AGAIN + 1} times, {where} ({why}).",
                    "If memory ran out, use fewer: --set workers=N. What was done is kept: the same command goes on from there.",
                )
        self._start()


# -- in a worker ------------------------------------------------------------------------------------------------------


def work_for_owner() -> None:
    """All that a worker does, until its owner is gone; its arguments are descriptors: of each line, and its memory."""
    numbers = [int(number) for number in sys.argv[1:]]
    channels = [
        Channel(Connection(line), memory)
        for line, memory in zip(numbers[::2], numbers[1::2], strict=True)
    ]
    with suppress(EOFError, OSError):
        (make,) = channels[0].receive()
        working = Working(make)
        threads = [Thread(target=working.hand, args=(channel,)) for channel in channels]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


@dataclass(eq=False)
class Working:
    """A work, made by the thread that needs it first.  make: pickled."""

    make: bytes
    _lock: Lock = field(default_factory=Lock)
    _work: Work | None = None

    def hand(self, channel: Channel) -> None:
        """Part by part, until the owner is gone."""
        serve(channel)
        error: BaseException | None = None
        with suppress(EOFError, OSError):
            while True:
                channel.send("free", error)
                (part,) = channel.receive()
                error = self._do(part, channel)

    def _do(self, part: int, channel: Channel) -> BaseException | None:
        try:
            self._made()(part, lambda count: channel.send("tick", count))
        except BaseException as error:
            return portable(error)
        return None

    def _made(self) -> Work:
        with self._lock:
            if self._work is None:
                self._work = pickle.loads(self.make)("cpu")
                limit_threads(1)
            return self._work
