"""Everything that an audit asks each cropper: the pairs, all groups at once, and small edits of some pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.core import runfolder, tables
from gslopes.core.errors import UsageError
from gslopes.core.files import read_json
from gslopes.core.runfolder import show
from gslopes.core.tables import Table
from gslopes.crops.asking import together
from gslopes.crops.asking.asker import Asker
from gslopes.crops.asking.design import as_joined, by_person, cropper_of, pairs_of, sets_of, temperature
from gslopes.crops.asking.drawn_maps import keep_drawn_maps
from gslopes.crops.asking.pairing import ordered
from gslopes.crops.asking.pairs import PART, PairsWork
from gslopes.crops.asking.portraits import ScaledPhotos
from gslopes.crops.asking.remote import confirm
from gslopes.crops.asking.stability import EDITS, StabilityWork
from gslopes.crops.asking.together import TogetherWork
from gslopes.crops.config import CropsConfig
from gslopes.crops.people import People
from gslopes.crops.pictures.geometry import Box
from gslopes.crops.policies import Settings
from gslopes.crops.records import Cropper, Saliency
from gslopes.crops.tables import CROPS, OUTCOMES, PAIRS, STABILITY, TOGETHER
from gslopes.executors import Executor
from gslopes.run.config import ScoreConfig

Model = Saliency | Cropper


@dataclass(slots=True, eq=False)
class Questions:
    """The questions of one audit.

    out: the run folder.  used: rows of the people table, one a photo.  pairs: (P, 2), sets: (S, k), places in ``used``,
    as they are asked.  terms: of services.
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
    terms: ScoreConfig
    executor: Executor
    _settings: dict[str, Settings] = field(default_factory=dict)

    @classmethod
    def of(
        cls, out: Path, seen: pd.DataFrame, table: People, config: CropsConfig, terms: ScoreConfig, executor: Executor
    ) -> Questions:
        """From the people table.  Raises: UsageError if groups are too few or too small for ``together``."""
        used = seen[seen["status"] == "used"].drop_duplicates("photo").reset_index(drop=True)
        path = {portrait.relative: portrait.path for portrait in table.portraits}
        scaled_photos = ScaledPhotos([path[name] for name in used["path"]], config.height, config.max_side)
        numbers = by_person(used["person"].tolist())
        pairs = ordered(pairs_of(table, numbers, config), config.orders)
        sizes, heads = as_joined(used, config)
        group = {person: name for name, persons in table.cells.items() for person in persons}
        groups = [group.get(person, "") for person in used["person"]]
        sets = sets_of(table, numbers, config)
        return cls(out, used, scaled_photos, pairs, sets, sizes, heads, groups, config, terms, executor)

    def confirm(self, models: Sequence[Model]) -> None:
        """Have the cost of what is still to be asked confirmed.  Raises: as ``crops.asking.remote.confirm``."""
        confirm(models, [sum(self._todo(model).values()) for model in models], self.terms, self.executor)

    def ask(self, model: Model) -> None:
        """Ask one cropper what it has not been asked yet."""
        self._ask_pairs(model)
        self._ask_together(model)
        self._ask_stability(model)

    def merge(self, models: Sequence[Model]) -> None:
        """The parts of all croppers as one table each; they have the same pictures, hence the same parts."""
        for kind, length in ((PAIRS, PART), (OUTCOMES, PART), (CROPS, PART)):
            stages = [self._stage("pairs", model) for model in models]
            runfolder.merge(self.out, kind, stages, _parts(len(self.pairs), length))
        if len(self.sets):
            stages = [self._stage("together", model) for model in models]
            runfolder.merge(self.out, TOGETHER, stages, _parts(len(self.sets), together.PART))
        if self.config.stability:
            runfolder.merge(self.out, STABILITY, [self._stage("stability", model) for model in models], 1)

    def keep_drawn_maps(self, models: Sequence[Model]) -> None:
        """The maps of the pairs that the page draws."""
        keep_drawn_maps(self.out, models, [self._asker(model) for model in models], self.used["photo"].tolist())

    def temperatures(self) -> dict[str, float]:
        """Cropper to the temperature of its softmax, of those that were asked."""
        path = self.out / "temperatures.json"
        try:
            return {str(name): float(value) for name, value in read_json(path).items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise UsageError(
                f"{show(path)} cannot be read: {error}.", "Restore it, or make the audit again."
            ) from error

    # -- stages --------------------------------------------------------------------------------------------------------

    def _stage(self, kind: str, model: Model) -> str:
        return f"{kind}-{runfolder.slug(f'{model.name} {self.config.variant}')}"

    def _missing(self, kind: str, model: Model, marker: Table, pictures: int, length: int) -> dict[int, int]:
        """Part to its pictures, of those that are not done; with ``retry_failed`` those with failures as well."""
        stage, count = self._stage(kind, model), _parts(pictures, length)
        missing = set(runfolder.missing_parts(self.out, stage, marker, count))
        if self.terms.retry_failed and "status" in marker.columns:
            for part in set(range(count)) - missing:
                path = runfolder.part_path(self.out, stage, marker, part)
                if "failed" in set(tables.read(marker, path)["status"]):
                    path.unlink()
                    missing.add(part)
        return {part: min(length, pictures - part * length) for part in sorted(missing)}

    def _todo(self, model: Model) -> dict[str, int]:
        wanted = {
            "pairs": self._missing("pairs", model, PAIRS, len(self.pairs), PART),
            "together": self._missing("together", model, TOGETHER, len(self.sets), together.PART),
        }
        edits = self._missing("stability", model, STABILITY, min(self.config.stability, len(self.pairs)), PART)
        counts = {kind: sum(by_cropper.values()) for kind, by_cropper in wanted.items()}
        return counts | {"stability": sum(edits.values()) * (1 + len(EDITS))}

    def _asker(self, model: Model) -> Asker:
        return Asker(
            cast("Saliency", model), self.scaled_photos.__getitem__, self.sizes, self.config, note=self.executor.note
        )

    def _settings_of(self, model: Model) -> Settings:
        if model.name not in self._settings:
            fitted = temperature(model, self._asker(model), len(self.used), self.config)
            self._settings[model.name] = replace(self.config.settings, temperature=fitted)
            runfolder.write_json(self.out / "temperatures.json", self.temperatures() | {model.name: fitted})
        return self._settings[model.name]

    def _ask_pairs(self, model: Model) -> None:
        todo = self._missing("pairs", model, PAIRS, len(self.pairs), PART)
        if not todo:
            return
        work = PairsWork(
            self.out, self._stage("pairs", model), model.name, self.pairs, self.used["photo"].tolist(), self.heads,
            self._asker(model), cropper_of(model), self.config, self._settings_of(model),
        )  # fmt: skip
        self._carry_out(work, todo, model.name, len(self.pairs))

    def _ask_together(self, model: Model) -> None:
        todo = self._missing("together", model, TOGETHER, len(self.sets), together.PART)
        if not len(self.sets) or not todo:
            return
        work = TogetherWork(
            self.out, self._stage("together", model), model.name, self.sets, self.used["photo"].tolist(), self.groups,
            self.heads, self._asker(model), cropper_of(model), self.config,
        )  # fmt: skip
        self._carry_out(work, todo, "together", len(self.sets))

    def _ask_stability(self, model: Model) -> None:
        count = min(self.config.stability, len(self.pairs))
        todo = self._missing("stability", model, STABILITY, count, PART) if count else {}
        if not todo:
            return
        drawn = np.random.default_rng([self.config.seed, 11]).permutation(len(self.pairs))[:count]
        work = StabilityWork(
            self.out, self._stage("stability", model), model.name, self.pairs[np.sort(drawn)], self._asker(model),
            cropper_of(model), self.config, self._settings_of(model),
        )  # fmt: skip
        edited = {part: number * (1 + len(EDITS)) for part, number in todo.items()}
        self._carry_out(work, edited, "stability", count * (1 + len(EDITS)))

    def _carry_out(self, work: Any, todo: dict[int, int], name: str, whole: int) -> None:
        self.executor(work, todo, label=name[:10], unit="pictures", done=whole - sum(todo.values()))


def remote_pictures(pairs: int, sets: int, config: CropsConfig) -> int:
    """Pictures that a cropper is asked about in all, at each ratio."""
    return pairs + sets + (1 + len(EDITS)) * min(config.stability, pairs)


def _parts(pictures: int, length: int) -> int:
    return max(1, -(-pictures // length))
