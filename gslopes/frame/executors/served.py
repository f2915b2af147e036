"""Parts in processes of this machine, for whose networks this process answers: it alone has the device.

The workers decode, align, compose, encode and write. What they ask of a network waits here until a thread is free; then
all that is asked of it goes through it as one batch. A worker asks one thing at a time, and each core has two of them:
one works while the other waits, and no more waits here than there are workers.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import cache, partial
from importlib import import_module
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from gslopes.core import Tick, Work, frozen, limit_threads, pick_device, progress_line, serving
from gslopes.core.errors import WorkerLost
from gslopes.core.executor import RemoteTask, pack
from gslopes.core.serving import receive, send
from gslopes.frame.executors.one_process import OneProcess, cores, one_thread_each, side_by_side
from gslopes.frame.executors.ray import AGAIN, portable

EACH = 2  # workers for each core
MOST = 8  # questions that are answered together: of 32 photos each, unless a part has fewer
SOON = 0.5  # seconds after which a stop is noticed
PROGRAM = (
    "import sys; from gslopes.frame.executors.served import work_for; work_for(int(sys.argv[1]))"
)


@frozen
class Served:
    """Parts in processes that this one serves with networks; those that need none, or cannot be sent, in this one.

    one: this process; its threads are the number of workers, by default two for each core.
    device: of the networks; ``auto`` serves nobody on a machine without one.
    """

    one: OneProcess = OneProcess()
    device: str = "auto"

    def note(self, text: str) -> None:
        """As of the one process."""
        self.one.note(text)

    def __call__(self, work: Work, parts: Mapping[int, int], **line: Any) -> None:
        """As ``Executor``.  Raises: UsageError for a device that is not there; WorkerLost."""
        device = ""
        if len(parts) > 1 and getattr(work, "networks", False):
            device = pick_device(self.device)
        if not device or (self.device, device) == ("auto", "cpu"):
            return self.one(work, parts, **line)
        workers = min(self.one.threads or EACH * cores(), len(parts))
        self.note(f"{line['label']:<10} {workers} workers, {device} for all of them")
        exact = import_module("torch").backends.cudnn.flags(enabled=True, allow_tf32=False)
        with exact, one_thread_each(), ExitStack() as stack:
            tick = stack.enter_context(progress_line(self.one.progress, parts, **line))
            owner = Owner(pack(work), device, parts, stack, workers)
            side_by_side(owner, parts, workers, tick)
        return None


class Owner:
    """For each of several threads of this process a worker, which does what the thread is to do.

    stack: with whose end they end.
    idle: lines to workers that have nothing in hand, None for those that are still to be started; one for each thread.
    """

    def __init__(
        self, task: RemoteTask, device: str, parts: Any, stack: ExitStack, workers: int
    ) -> None:
        self.task = task
        self.parts = parts
        self.stack = stack
        self.idle: list[Any] = [None] * workers
        # one thread: what is asked meanwhile is answered together
        self.server = stack.enter_context(ThreadPoolExecutor(1))
        # recipe, and what is the same for all items, to what is asked: items, and the answers to come
        self.waiting: dict[Any, list[Any]] = {}
        self.made = cache(lambda recipe: recipe[0](device, *recipe[1:]))

    def __call__(self, part: int, tick: Tick) -> None:
        """Have a part done, again if a worker is lost.  Raises: what the part raised; WorkerLost."""
        for _ in range(AGAIN + 1):
            line = self.idle.pop()
            try:
                line = line or self._start()
                error = self._done(line, part, tick)
            except (EOFError, OSError):
                self.idle.append(None)
                continue
            self.idle.append(line)
            if error is not None:
                raise error
            return tick(self.parts[part])
        raise WorkerLost(
            f"Workers were lost {AGAIN + 1} times, the last at {self.task.name(part)}.",
            "If memory ran out, use fewer: --set workers=N. The same command goes on from what is done.",
        )

    def _start(self) -> Any:
        line, end = Pipe()
        path = os.pathsep.join(sys.path)
        worker = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(end.fileno())],
            env=os.environ
            | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
            pass_fds=[end.fileno()],
            process_group=0,  # Ctrl-C is for this process
        )
        end.close()
        self.stack.enter_context(worker)
        self.stack.callback(worker.kill)  # what it writes it writes as a whole or not at all
        send(line, pickle.dumps(self.task.make))
        return line

    def _done(self, line: Any, part: int, tick: Tick) -> BaseException | None:
        """Have it done by a worker; the error, if there is one."""
        send(line, part)
        while True:
            tick(0)  # raises if another thread failed
            if line.poll(SOON):
                error, *question = receive(line)
                if not question:
                    return error
                send(line, self._answer(*question))

    # -- networks -----------------------------------------------------------------------------------------------------

    def _answer(self, items: list[Any], *key: Any) -> Any:
        """An answer for each item; or the error, which can be sent.  key: recipe, and what is the same for all."""
        answer: Future[Any] = Future()
        self.waiting.setdefault(key, []).append((items, answer))
        self.server.submit(self._serve)
        return answer.result()

    def _serve(self) -> None:
        """Answer together what most ask alike; nothing if all was answered before its turn."""
        (recipe, *same), asked = max([*self.waiting.items()], key=lambda pair: len(pair[1]))
        batch = asked[:MOST]
        del asked[:MOST]
        if not batch:
            return
        try:
            answers = iter(self.made(recipe)([item for items, _ in batch for item in items], *same))
            for items, answer in batch:
                answer.set_result([next(answers) for _ in items])
        except BaseException as error:
            # of too little memory: each worker then asks about half as many
            for _, answer in batch:
                answer.set_result(portable(error))


def work_for(descriptor: int) -> None:
    """In a worker: do parts, until the owner at the other end of the line is gone."""
    serving.line = Connection(descriptor)
    with suppress(EOFError, OSError):
        (make,) = receive(serving.line)
        work = cache(partial(_work, make))
        while True:
            send(serving.line, _error_at(work, *receive(serving.line)))


def _work(make: bytes) -> Work:
    work: Work = pickle.loads(make)("cpu")
    limit_threads(1)
    return work


def _error_at(work: Callable[[], Work], part: int) -> BaseException | None:
    try:
        work()(part, lambda count: None)
    except BaseException as error:
        return portable(error)
    return None
