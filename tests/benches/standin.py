"""A stand-in for a GPU: what it would compute is recorded from the CPU once, then given again after the time it takes.

One thing at a time, as on a device; the cores are free meanwhile.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gslopes.core.records import EditedChips, Motion
from gslopes.faces.components import Components
from gslopes.slopes import plan
from tests.benches.bench_machine import ON_DEVICE

NAME = "cuda:0"


@dataclass
class StandIn:
    """Recorded results by what they were computed from.

    seconds: of each step of ``ON_DEVICE`` for a photo; None records.
    """

    seconds: Mapping[str, float] | None = None
    known: dict[tuple[str, str], Any] = field(default_factory=dict)
    busy: threading.Lock = field(default_factory=threading.Lock)

    def of(self, step: str, who: object, inputs: Any, compute: Any) -> Any:
        """What a step of ``who`` gives for one photo."""
        assert step in ON_DEVICE
        key = (
            f"{step} {who}",
            hashlib.blake2b(np.ascontiguousarray(inputs).tobytes(), digest_size=12).hexdigest(),
        )
        if self.seconds is None:
            self.known[key] = compute()
        return self.known[key]

    def wait(self, step: str, photos: int) -> None:
        """For as long as the device takes."""
        if self.seconds is not None:
            with self.busy:
                time.sleep(photos * self.seconds[step])

    def components(self, real: Components) -> Components:
        """Components whose networks run on the stand-in; faces are found by the real finder, on the CPU."""
        editors = {name: _Editor(self, editor) for name, editor in real.editors.items()}
        return replace(real, masker=_Masker(self, real.masker), editors=editors, models=real.models)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """While it is the device of every plan."""
        pick = plan.pick_device
        plan.pick_device = lambda device: NAME
        try:
            yield
        finally:
            plan.pick_device = pick


class _Masker:
    def __init__(self, device: StandIn, real: Any) -> None:
        self.device, self.real = device, real

    def __call__(self, photos: Any, faces: Any, chips: Any, border: Any) -> Any:
        self.device.wait("parse", len(photos))
        masks = [
            self.device.of(
                "parse", border, chip, lambda given=(photo, face, chip): self._one(*given, border)
            )
            for photo, face, chip in zip(photos, faces, chips, strict=True)
        ]
        return np.stack(masks)

    def heads(self, *given: Any) -> Any:
        self.device.wait("parse", 2 * len(given[0]))
        return self.real.heads(*given)

    def _one(self, photo: Any, face: Any, chip: Any, border: Any) -> Any:
        return self.real([photo], [face], chip[None], border)[0]


class _Editor:
    def __init__(self, device: StandIn, real: Any) -> None:
        self.device, self.real = device, real

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def sweep_ends(self, chips: Any, values: Any) -> EditedChips:
        return self.sweep(chips, values)

    def sweep(self, chips: Any, values: Any) -> EditedChips:
        self.device.wait("edit", len(chips))
        who = self.real.sha256
        swept = [
            self.device.of("edit", who, chip, lambda chip=chip: self.real.sweep(chip[None], values))
            for chip in chips
        ]
        motions = [item.motion for item in swept]
        motion = None
        if motions[0] is not None:
            motion = Motion(*(_joined(motions, name) for name in ("field", "distances")))
        return EditedChips(_joined(swept, "edited"), _joined(swept, "neutral"), motion)


def _joined(parts: list[Any], name: str) -> Any:
    return np.concatenate([getattr(part, name) for part in parts])
