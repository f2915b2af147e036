"""Editors asked by the one careful client: paced, paid for, kept by content, no picture asked for twice."""

import time
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
from pandas import DataFrame

from gslopes.ask.answers import STOPPED, raise_if_all_failed
from gslopes.ask.cache import AnswerCache, writable_cache
from gslopes.ask.client import Client
from gslopes.ask.cost import Budget, UsageStats, said
from gslopes.ask.questions import PartProgress, Question
from gslopes.core import JsonObject, SkipReason, many, traits_of
from gslopes.core.records import Answer
from gslopes.faces.edit.protocol import PictureEditor, Wish

FIRST = 2  # photos that an editor is asked about before all others
Photos = Mapping[str, Callable[[], bytes]]  # id to what reads the file that is sent
Answers = dict[tuple[str, Wish], Answer]  # of a photo and a wish


@dataclass(eq=False)
class RemoteEditor:
    """An editor that is asked for wishes about many photos.

    cache: where answers are kept, see ``ask.cache``.  journal: the folder that keeps those of an editor whose version
    does not identify them.  budget: of the command.  seed: of the order of the wishes.
    pictures: of the whole run, at most.  note: tells how long they take.  watch: called every second meanwhile.
    usage: counts what happens.
    """

    editor: PictureEditor
    cache: Path | None
    journal: Path
    budget: Budget
    seed: int
    pictures: int
    note: Callable[[str], None]
    watch: Callable[[], None] = lambda: None
    usage: UsageStats = field(default_factory=UsageStats)
    _first: Client | None = None

    def __post_init__(self) -> None:
        self._at = cache(self.editor.at)
        self._traits = traits_of(self._at(Wish("")))
        self._most = max(1, self._traits.limits.concurrency)

    def ask(self, wanted: Mapping[Wish, Photos]) -> Answers:
        """Ask for all pictures that were not given before.

        wanted: the photos of each wish; by lot, so that an editor that drifts cannot pose as an effect.

        Raises: ClassifierError if the very first pictures all fail for one reason; as ``ask.client.Client.ask_parts``.
        """
        if self._first is None:
            self._try(*next(iter(wanted.items())))
        wishes = list(wanted)
        np.random.default_rng(self.seed).shuffle(wishes)
        at_once = min(self._most, len(wishes))
        folder = writable_cache(self.cache) if self._traits.kept else self.journal
        answers: Answers = {}
        with AnswerCache(folder) as kept, ThreadPoolExecutor(at_once, "editor") as pool:
            shared: JsonObject = {
                "cache": kept,
                "journal": kept,
                "beside": self._first,
                "budget": self.budget,
                "usage": self.usage,
                "threads": self._most // at_once,
            }
            clients = [Client(self._at(wish), **shared) for wish in wishes]
            running = {
                pool.submit(_asked, client, wish, wanted[wish])
                for client, wish in zip(clients, wishes, strict=True)
            }
            try:
                while running:  # interruptible
                    done, running = wait(running, timeout=1, return_when=FIRST_COMPLETED)
                    for job in done:
                        answers |= job.result()
                    self.watch()
            except BaseException:
                clients[0].halt()
                raise
        return answers

    def _try(self, wish: Wish, photos: Photos) -> None:
        """Ask about the first photos, and tell how long all will take."""
        self._first = Client(self._at(wish))
        begun = time.monotonic()
        answers = self.ask({wish: dict(islice(photos.items(), FIRST))}).values()
        seconds = time.monotonic() - begun
        rows = [
            SkipReason.of(answer.reason, answer.status).columns
            | {"status": answer.status, "editor": self.editor.name}
            for answer in answers
        ]
        raise_if_all_failed(DataFrame(rows), f"the first {many(len(rows), 'picture')}", STOPPED)
        if self.usage.asked:
            facts = {"due": self.pictures, "limits": self._traits.limits, "usage": self.usage}
            self.note(f"editor     {said('first.txt.j2', seconds=seconds, **facts)}")


def _asked(client: Client, wish: Wish, photos: Photos) -> Answers:
    """The answers to one wish; fewer if the client was halted."""
    parts: list[PartProgress] = []
    questions = [Question(photo, read) for photo, read in photos.items()]
    client.ask_parts([(0, questions)], parts.append)
    return {
        (question.photo, wish): answer for part in parts for question, answer in part.answered()
    }
