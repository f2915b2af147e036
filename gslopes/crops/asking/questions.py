"""Everything that an audit asks each cropper: the pairs, all groups at once, and small edits of some pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.ask.config import CostLimits
from gslopes.ask.croppers.geometry import Box
from gslopes.ask.croppers.records import Cropper, Saliency
from gslopes.ask.croppers.remote import confirm
from gslopes.core import runfolder
from gslopes.core.errors import UsageError
from gslopes.core.executor import Executor, Work
from gslopes.core.files import read_json
from gslopes.core.runfolder import show
from gslopes.crops.asking import pairs, together
from gslopes.crops.asking.asker import Asker
from gslopes.crops.asking.pairing import by_person, ordered, pairs_of, sets_of
from gslopes.crops.asking.pairs import PairsWork
from gslopes.crops.asking.portraits import ScaledPhotos, as_joined, keep_drawn_maps
from gslopes.crops.asking.stability import EDITS, StabilityWork
from gslopes.crops.asking.together import TogetherWork
from gslopes.crops.config import CropsConfig
from gslopes.crops.people import People
from gslopes.crops.policies import Settings
from gslopes.crops.tables import CROPS, OUTCOMES, PAIRS, STABILITY, TOGETHER
from gslopes.frame.parts import Stage, merge

Model = Saliency | Cropper
MARKERS = {"pairs": PAIRS, "together": TOGETHER, "stability": STABILITY}


@dataclass(slots=True, eq=False)
class Questions:
    """The questions of one audit.

    out: the run folder.  used: rows of the people table, one a photo.  pairs: (P, 2), sets: (S, k), places in ``used``,
    as they are asked.  cost_limits: of services.
    """

    out: Path
    used: pd.DataFrame
    scaled_photos: ScaledPhotos
    pairs: NDArray[np.int64]
    sets: NDArray[np.int64]
    sizes: Sequence[tuple[int, int]]
    heads: Mapping[int, Box]
    groups: Sequence[str]
    config: CropsConfig
    cost_limits: CostLimits
    executor: Executor
    _settings: dict[str, Settings] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        out: Path,
        seen: pd.DataFrame,
        table: People,
        config: CropsConfig,
        cost_limits: CostLimits,
        executor: Executor,
    ) -> Questions:
        """From the people table.  Raises: UsageError if groups are too few or too small for ``together``."""
        used = seen[seen["status"] == "used"].drop_duplicates("photo").reset_index(drop=True)
        path = {portrait.relative: portrait.path for portrait in table.portraits}
        used = used[used["path"].isin(list(path))].reset_index(drop=True)
        scaled_photos = ScaledPhotos([path[name] for name in used["path"]], config, used["photo"].tolist())
        numbers = by_person(used["person"].tolist())
        asked = ordered(pairs_of(table, numbers, config), config.orders)
        sizes, heads = as_joined(used, config)
        groups = [table.group_of.get(person, "") for person in used["person"]]
        sets = sets_of(table, numbers, config)
        return cls(out, used, scaled_photos, asked, sets, sizes, heads, groups, config, cost_limits, executor)

    def confirm(self, models: Sequence[Model]) -> None:
        """Have the cost of what is still to be asked confirmed.  Raises: as ``ask.croppers.remote.confirm``."""
        counts = [sum(sum(todo.values()) for todo in map(self._todo, self._stages(model).values())) for model in models]
        confirm(models, counts, self.cost_limits, self.executor)

    def ask(self, model: Model) -> None:
        """Ask one cropper what it has not been asked yet."""
        asker, stages, ids = self._asker(model), self._stages(model), self.used["photo"].tolist()

        def pairs_work() -> Work:
            return PairsWork(stages["pairs"], self.pairs, ids, asker, self._settings_of(asker))

        def together_work() -> Work:
            return TogetherWork(stages["together"], self.sets, ids, self.groups, asker)

        def stability_work() -> Work:
            drawn = np.random.default_rng([self.config.seed, 11]).permutation(len(self.pairs))
            pictures = self.pairs[np.sort(drawn[: stages["stability"].items])]
            return StabilityWork(stages["stability"], pictures, asker, self._settings_of(asker))

        works: dict[str, Callable[[], Work]] = {
            "pairs": pairs_work,
            "together": together_work,
            "stability": stability_work,
        }
        for kind, make in works.items():
            if kind == "pairs" or stages[kind].items:
                label = model.name if kind == "pairs" else kind
                stages[kind].carry_out(make, self.executor, label, todo=self._todo(stages[kind]))

    def merge(self, models: Sequence[Model]) -> None:
        """The parts of all croppers as one table each; they have the same pictures, hence the same parts."""
        stages = [self._stages(model) for model in models]
        merge([found["pairs"] for found in stages], PAIRS, OUTCOMES, CROPS)
        if len(self.sets):
            merge([found["together"] for found in stages], TOGETHER)
        if self.config.stability:
            merge([found["stability"] for found in stages], STABILITY)

    def keep_drawn_maps(self, models: Sequence[Model]) -> None:
        """The maps of the pairs that the page draws."""
        keep_drawn_maps(self.out, [self._asker(model) for model in models], self.used["photo"].tolist())

    # -- stages --------------------------------------------------------------------------------------------------------

    def _stages(self, model: Model) -> dict[str, Stage]:
        name = runfolder.slug(f"{model.name} {self.config.variant}")
        edited = min(self.config.stability, len(self.pairs))
        sizes = {"pairs": (len(self.pairs), pairs.PART), "together": (len(self.sets), together.PART)}
        sizes["stability"] = (edited, max(edited, 1))
        return {
            kind: Stage(
                self.out, f"{kind}-{name}", MARKERS[kind], *size, cost=1 + len(EDITS) if kind == "stability" else 1
            )
            for kind, size in sizes.items()
        }

    def _todo(self, stage: Stage) -> dict[int, int]:
        return stage.missing(retry_failed=self.cost_limits.retry_failed)

    def _asker(self, model: Model) -> Asker:
        photo = self.scaled_photos.__getitem__
        return Asker(model, photo, self.sizes, self.config, self.heads, note=self.executor.note)

    def _settings_of(self, asker: Asker) -> Settings:
        """The config's, with the cropper's own temperature, which is kept in the run folder."""
        name = asker.model.name
        if name not in self._settings:
            fitted = asker.temperature()
            self._settings[name] = replace(self.config.settings, temperature=fitted)
            runfolder.write_json(self.out / "temperatures.json", self._temperatures() | {name: fitted})
        return self._settings[name]

    def _temperatures(self) -> dict[str, float]:
        path = self.out / "temperatures.json"
        try:
            return {str(name): float(value) for name, value in read_json(path).items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, AttributeError) as error:
            hint = "Restore it, or make the audit again."
            raise UsageError(f"{show(path)} cannot be read: {error}.", hint) from error


def remote_pictures(count: int, sets: int, config: CropsConfig) -> int:
    """Pictures that a cropper is asked about in all, at each ratio.  count: of pairs."""
    return count + sets + (1 + len(EDITS)) * min(config.stability, count)
