"""Croppers over a network, asked by the one careful client: paced, paid for, kept by content, nothing asked twice."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gslopes.ask.boxes import Cropper, Saliency
from gslopes.ask.cache import AnswerCache, cache_folder
from gslopes.ask.classifiers import prepare_classifier
from gslopes.ask.classifiers.http import HttpCropper
from gslopes.ask.client import Client
from gslopes.ask.config import CostLimits
from gslopes.ask.cost import Budget
from gslopes.ask.croppers import Setting, load_cropper
from gslopes.ask.croppers.given import as_cropper
from gslopes.ask.questions import PartProgress, Question
from gslopes.ask.scoring.cost import Price, estimate
from gslopes.core import Tick
from gslopes.core.arrays import batches
from gslopes.core.records import Answer, Function
from gslopes.faces.find import MtcnnFinder

PART = 16  # pictures that are made and asked about together


@dataclass(eq=False)
class RemoteCropper:
    """A cropper behind an address, which is asked about many pictures at once.

    service: who is asked.  cost_limits: cache and budget.  budget: of all services of one command.
    ratios: height/width.  seed: of the order of the questions.
    """

    service: HttpCropper
    cost_limits: CostLimits
    budget: Budget
    ratios: Sequence[float]
    seed: int

    def __post_init__(self) -> None:
        self.name = self.service.name
        self.version = self.service.version
        self._at = {ratio: self.service.at(ratio) for ratio in self.ratios}
        for classifier in self._at.values():
            prepare_classifier(classifier)

    def requests(self, pictures: int) -> list[Price]:
        """The most that asking about ``pictures`` pictures takes, for each ratio."""
        return [estimate(service, [pictures], stage="pairs") for service in self._at.values()]

    def boxes(
        self, pictures: Sequence[Callable[[], bytes]], tick: Tick
    ) -> list[dict[float, Answer]]:
        """Of each picture the answers by ratio; asked by lot, so that a service that drifts cannot pose as an effect.

        pictures: give their files.  tick: called with how many have all their answers.

        Raises: as ``ask.client.Client.ask_parts``.
        """
        answers: list[dict[float, Answer]] = [{} for _ in pictures]
        lot = np.random.default_rng(self.seed).permutation(len(pictures)).tolist()
        questions = [Question(f"{number}", pictures[number]) for number in lot]
        parts = [list(part) for part in batches(questions, PART)]

        def done(ratio: float, progress: PartProgress) -> None:
            for question, answer in progress.answered():
                answers[int(question.photo)][ratio] = answer
            tick(
                sum(
                    len(answers[int(question.photo)]) == len(self._at)
                    for question in progress.questions
                )
            )

        with AnswerCache(cache_folder(self.cost_limits.cache)) as cache:
            for ratio, service in self._at.items():
                client = Client(service, cache=cache, budget=self.budget)
                client.ask_parts(enumerate(parts), partial(done, ratio))
        return answers


def ready_croppers(
    names: Sequence[str],
    given: Sequence[Saliency | Cropper | Function],
    cost_limits: CostLimits,
    ratios: Sequence[float],
    setting: Setting,
) -> list[Saliency | Cropper | RemoteCropper]:
    """Croppers by name and those given, functions among them; those over a network with credentials checked.

    setting: its finder of faces is MTCNN if a cropper needs one and it has none.

    Raises: as ``ask.croppers.load_cropper``; CredentialsError, UsageError.
    """
    if setting.finder is None and any(name.startswith("faces") for name in names):
        setting = replace(setting, finder=MtcnnFinder())
    named = [load_cropper(name, setting) for name in names]
    budget = Budget.of(cost_limits)
    return [
        RemoteCropper(model, cost_limits, budget, ratios, setting.seed)
        if isinstance(model, HttpCropper)
        else model
        for model in map(as_cropper, [*named, *given])
    ]
