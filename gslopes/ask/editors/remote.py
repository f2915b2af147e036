"""Editors asked by the one careful client: paced, paid for, kept by content, no picture asked for twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, Self

import numpy as np
import pandas as pd

from gslopes.ask.answers import STOPPED, ClassifierCache, raise_if_all_failed
from gslopes.ask.cache import AnswerCache, writable_cache
from gslopes.ask.client import Client
from gslopes.ask.cost import Budget, UsageStats
from gslopes.ask.questions import PartProgress, Question, digest
from gslopes.core.arrays import batches
from gslopes.core.progress import Tick
from gslopes.core.reasons import SkipReason
from gslopes.core.records import Answer, Classifier
from gslopes.core.text import many
from gslopes.core.traits import traits_of
from gslopes.faces.edit.protocol import PictureEditor, Wish

PART = 16  # photos that are asked about together
Photos = Mapping[str, Callable[[], bytes]]  # id to what reads the file that is sent


@dataclass(eq=False)
class _Watched(UsageStats):
    """Tells what comes as it comes."""

    tick: Tick = lambda count: None
    turn: Lock = field(default_factory=Lock)

    def add(self, **counts: Any) -> None:
        """Add to the counts, from any thread."""
        UsageStats.add(self, **counts)
        with self.turn:
            self.tick(counts.get("pictures", 0))


@dataclass(eq=False)
class RemoteEditor:
    """An editor that is asked for wishes about many photos; open within a ``with`` block.

    cache: where answers are kept, see ``ask.cache``.  journal: the folder that keeps those of an editor whose version
    does not identify them.  budget: of the command.  seed: of the order of the wishes.
    """

    editor: PictureEditor
    cache: Path | None
    journal: Path
    budget: Budget
    seed: int = 0
    usage: _Watched = field(default_factory=_Watched)
    _at: dict[Wish, Classifier] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)
    _first: Client | None = None

    def __enter__(self) -> Self:
        kept = traits_of(self.asked(Wish(""))).kept
        folder = writable_cache(self.cache) if kept else self.journal
        self._answers = self._stack.enter_context(AnswerCache(folder))
        self._kept: dict[Wish, ClassifierCache] = {}
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def asked(self, wish: Wish) -> Classifier:
        """Who is asked for a wish."""
        if wish not in self._at:
            self._at[wish] = self.editor.at(wish)
        return self._at[wish]

    def ask(self, wanted: Mapping[Wish, Photos], tick: Tick) -> dict[tuple[str, Wish], Answer]:
        """Ask for all pictures that were not given before.

        wanted: the photos of each wish; by lot, so that an editor that drifts cannot pose as an effect.
        tick: called with how many pictures came, as they come.
        Returns: of (photo, wish) the answers without a picture.
        Raises: as ``ask.client.Client.ask_parts``.
        """
        lacking: dict[tuple[str, Wish], Answer] = {}
        self.usage.tick = tick
        wishes = list(wanted)
        order = np.random.default_rng(self.seed).permutation(len(wishes)).tolist()
        most = max(1, traits_of(self.asked(wishes[0])).limits.concurrency)
        at_once = min(most, len(wishes))
        clients = [self._client(wishes[place], most // at_once) for place in order]
        work = [
            partial(_ask, client, wishes[place], wanted[wishes[place]], lacking)
            for client, place in zip(clients, order, strict=True)
        ]
        if at_once == 1:  # a function may have to stay in this thread
            for one in work:
                one()
            return lacking
        with ThreadPoolExecutor(at_once, "editor") as pool:
            running = {pool.submit(one) for one in work}
            try:
                while running:  # interruptible
                    done, running = wait(running, timeout=1, return_when=FIRST_COMPLETED)
                    for job in done:
                        job.result()
            except BaseException:
                clients[0].halt()
                raise
        return lacking

    def picture(self, wish: Wish, sent: bytes) -> Answer | None:
        """The answer that holds a picture; None if there is none.  sent: the file that was sent."""
        if wish not in self._kept:
            self._kept[wish] = ClassifierCache(self.asked(wish), self._answers, self._answers)
        key = digest(sent)
        return self._kept[wish].find([key]).get(key)

    def try_first(self, wish: Wish, photos: Photos) -> None:
        """Ask for one picture of each of the first photos.  Raises: ClassifierError if all fail for one reason."""
        lacking = self.ask({wish: photos}, lambda count: None)
        if len(lacking) < len(photos):
            return
        whys = [SkipReason.of(answer.reason, answer.status) for answer in lacking.values()]
        rows = pd.DataFrame([why.columns for why in whys]).assign(
            status=[answer.status for answer in lacking.values()], editor=self.editor.name
        )
        raise_if_all_failed(rows, f"the first {many(len(photos), 'picture')}", STOPPED)

    def _client(self, wish: Wish, threads: int) -> Client:
        client = Client(
            self.asked(wish),
            cache=self._answers,
            journal=self._answers,
            budget=self.budget,
            usage=self.usage,
            beside=self._first,
            threads=threads,
        )
        self._first = self._first or client
        return client


def _ask(
    client: Client, wish: Wish, photos: Photos, lacking: dict[tuple[str, Wish], Answer]
) -> None:
    """Ask for a wish; notes the answers without a picture."""
    questions = [Question(photo, read) for photo, read in photos.items()]

    def done(progress: PartProgress) -> None:
        lacking.update(
            ((question.photo, wish), answer)
            for question, answer in progress.answered()
            if answer.status != "answered"
        )

    client.ask_parts(enumerate(map(list, batches(questions, PART))), done)
