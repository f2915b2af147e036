"""Parts in processes of this machine, for whose networks this process answers: it alone has the device.

The workers decode, align, compose, encode and write. What they ask of a network waits here until a thread is free; then
all that is asked of it goes through it as one batch. A worker asks one thing at a time, and there are two for each core,
so that one works while the other waits, and no more waits here than there are workers.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Lock
from typing import Any

from gslopes.core import Tick, Work, frozen, limit_threads, pick_device, progress_line
from gslopes.core.errors import WorkerLost
from gslopes.core.executor import pack
from gslopes.core.serving import Answering, Recipe, receive, send, serve
from gslopes.frame.executors.one_process import OneProcess, cores, one_thread_each, side_by_side
from gslopes.frame.executors.ray import AGAIN, portable

EACH = 2  # workers for each core
SERVERS = 2  # threads that answer: one prepares a batch, or takes it apart, while another waits
MOST = 8  # questions that are answered together: of 32 photos each, unless a part has fewer
SOON = 0.5  # seconds after which a stop is noticed
PROGRAM = "from gslopes.frame.executors.served import work_for; work_for(*map(int, sys.argv[1:]))"


@frozen
class Served(OneProcess):
    """Parts in processes that this one serves with networks; those that need none, or cannot be sent, in this one.

    threads: how many workers; by default two for each core.
    device: of the networks; ``auto`` serves nobody on a machine without one.
    """

    device: str = "auto"

    def __call__(self, work: Work, parts: Mapping[int, int], **line: Any) -> None:
        """As ``Executor``.  Raises: UsageError for a device that is not there; WorkerLost."""
        device = ""
        if len(parts) > 1 and getattr(work, "networks", False):
            device = pick_device(self.device)
        if not device or (self.device, device) == ("auto", "cpu"):
            return OneProcess.__call__(self, work, parts, **line)
        workers = min(self.threads or EACH * cores(), len(parts))
        self.note(f"{line['label']:<10} {workers} workers, {device} for all of them")
        task = pack(work)
        exact = import_module("torch").backends.cudnn.flags(enabled=True, allow_tf32=False)
        tick_on = progress_line(self.progress, parts, **line)
        servers = ThreadPoolExecutor(SERVERS)
        with tick_on as tick, one_thread_each(), exact, servers, ExitStack() as stack:
            networks = Networks(device, servers)
            crew = Crew(task.name, pickle.dumps(task.make), networks, stack)
            for _ in range(workers):
                crew.idle.put(None)
            side_by_side(crew, parts, workers, tick)
        return None


# -- networks ---------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Question:
    """What a worker asks about some items.

    key: the recipe, and what is the same for all items; what has the same key is answered together.
    """

    key: tuple[Recipe, tuple[Any, ...]]
    items: list[Any]
    answer: Future[Any] = field(default_factory=Future)


@dataclass(eq=False)
class Networks:
    """What is asked of the networks of a device, and the threads that answer."""

    device: str
    servers: ThreadPoolExecutor
    waiting: list[Question] = field(default_factory=list)
    made: dict[Recipe, Answering] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def ask(self, recipe: Recipe, items: list[Any], same: tuple[Any, ...]) -> Any:
        """The answers; or the error, which can be sent."""
        question = Question((recipe, same), items)
        with self.lock:
            self.waiting.append(question)
        self.servers.submit(self._serve)
        return question.answer.result()

    def _serve(self) -> None:
        """Answer what has waited longest, with all that is asked alike; nothing if another thread just did."""
        with self.lock:
            alike = [one for one in self.waiting if one.key == self.waiting[0].key]
            batch = alike[:MOST]
            self.waiting = [one for one in self.waiting if one not in batch]
        if batch:
            self._answer(batch)

    def _answer(self, batch: list[Question]) -> None:
        """What fails together is tried by halves: memory may do for these, and an error meets who asked for it.

        A worker that is told of too little memory asks again for less.
        """
        try:
            answers = self._answers(batch)
        except BaseException as error:
            if len(batch) == 1:
                return batch[0].answer.set_result(portable(error))
        else:
            for question in batch:
                question.answer.set_result([next(answers) for _ in question.items])
            return None
        middle = len(batch) // 2
        self._answer(batch[:middle])
        return self._answer(batch[middle:])

    def _answers(self, batch: list[Question]) -> Any:
        (recipe, same) = batch[0].key
        with self.lock:
            if recipe not in self.made:
                self.made[recipe] = recipe[0](*recipe[1:], self.device)
        items = [item for question in batch for item in question.items]
        return iter(self.made[recipe](items, *same))


# -- parts ------------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Crew:
    """The workers, each of which does for a thread of this process what that is to do.

    name: of a part.  make: what makes the work, pickled.  stack: with whose end they end.
    idle: lines to those that have nothing in hand; None for one that is still to be started.
    """

    name: Callable[[int], str]
    make: bytes
    networks: Networks
    stack: ExitStack
    idle: SimpleQueue[Any] = field(default_factory=SimpleQueue)

    def __call__(self, part: int, tick: Tick) -> None:
        """Have a part done, again if a worker is lost.  Raises: what the part raised; WorkerLost."""
        for _ in range(AGAIN + 1):
            ticked = 0
            line = self.idle.get() or self._start()
            try:
                send(line, part)
                while (message := _heard(line, tick))[0] != "done":
                    if message[0] == "ask":
                        send(line, self.networks.ask(*message[1:]))
                    else:
                        tick(message[1])
                        ticked += message[1]
            except (EOFError, OSError):
                tick(-ticked)
                self.idle.put(None)
                continue
            self.idle.put(line)
            if message[1] is not None:
                raise message[1]
            return
        raise WorkerLost(
            f"Workers were lost {AGAIN + 1} times, the last at {self.name(part)}.",
            "If memory ran out, use fewer: --set workers=N. The same command goes on from what is done.",
        )

    def _start(self) -> "Connection[Any, Any]":
        line, end = Pipe()
        setting = {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
        worker = subprocess.Popen(
            [sys.executable, "-P", "-c", f"import sys; {PROGRAM}", str(end.fileno())],
            stdin=subprocess.DEVNULL,
            env=os.environ | setting | {"CUDA_VISIBLE_DEVICES": ""},
            pass_fds=[end.fileno()],
            process_group=0,  # Ctrl-C is for this process
        )
        end.close()
        self.stack.enter_context(line)
        self.stack.enter_context(worker)
        self.stack.callback(worker.kill)  # what it writes it writes as a whole or not at all
        with suppress(OSError):  # as whoever gives it a part notices
            send(line, self.make)
        return line


def _heard(line: "Connection[Any, Any]", tick: Tick) -> Any:
    while not line.poll(SOON):
        tick(0)  # raises if another thread failed
    return receive(line)


# -- in a worker ------------------------------------------------------------------------------------------------------


def work_for(descriptor: int) -> None:
    """Do parts, until the owner at the other end of the line is gone."""
    line: Connection[Any, Any] = Connection(descriptor)
    serve(line)
    work = None
    with suppress(EOFError, OSError):
        (make,) = receive(line)
        while True:
            (part,) = receive(line)
            error = None
            try:
                if work is None:
                    work = pickle.loads(make)("cpu")
                    limit_threads(1)
                work(part, partial(send, line, "tick"))
            except BaseException as raised:
                error = portable(raised)
            send(line, "done", error)
