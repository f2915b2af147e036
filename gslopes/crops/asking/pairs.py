"""The second stage: every joined picture's focal points, crops, and whom they show and keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gslopes.core.progress import Tick
from gslopes.core.reasons import Reason, SkipReason
from gslopes.crops.asking.asker import Answer, Asker
from gslopes.crops.policies import Settings
from gslopes.crops.tables import CROPS, OUTCOMES, PAIRS
from gslopes.frame.parts import Stage

PART = 1024
Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True, eq=False)
class PairsWork:
    """Asks about the pictures of a part; the pairs table is the commit marker.

    pictures: (n, 2) numbers of photos, left and right.  ids: number to photo.
    """

    stage: Stage
    pictures: NDArray[np.int64]
    ids: Sequence[str]
    asker: Asker
    settings: Settings

    def __call__(self, part: int, tick: Tick) -> None:
        """As ``executors.Work``."""
        config, length = self.asker.config, self.stage.length
        pictures = self.pictures[part * length : (part + 1) * length]
        draw = np.random.default_rng([config.seed, 7, part]).random(len(pictures))
        policies = tuple(dict.fromkeys((*config.policies, "sample")))  # whose shares are the masses
        pairs: Rows = []
        outcomes: Rows = []
        crops: Rows = []
        for answer in self.asker.answers(pictures, self.stage.out, tick, config.ratios, policies, self.settings, draw):
            left, right = (self.ids[photo] for photo in answer.photos)
            key = {"cropper": self.asker.model.name, "variant": config.variant, "left": left, "right": right}
            pairs.append(key | _pair_row(answer))
            for policy, choice in answer.choices.items():
                if policy == "sample" and policy not in config.policies:
                    continue
                low = None if np.isnan(choice.low) else np.float32(choice.low)
                shares = dict(zip(("share_left", "share_right"), np.asarray(choice.shares, np.float32), strict=True))
                outcomes.append({**key, "policy": policy, **shares, "low": low})
                if not answer.flat:
                    crops += [{**key, "policy": policy, **row} for row in self._crop_rows(answer, policy)]
        self.stage.write(part, (CROPS, crops), (OUTCOMES, outcomes), (PAIRS, pairs))

    def _crop_rows(self, answer: Answer, policy: str) -> Rows:
        assert answer.plan is not None
        rows = []
        for ratio, (crop, other) in answer.choices[policy].crops.items():
            kept = [
                None if share is None else np.float32(share)
                for share in self.asker.kept(answer.photos, answer.plan, crop)
            ]
            sides = {"left_px": crop.left, "top": crop.top, "crop_width": crop.width, "crop_height": crop.height}
            rows.append({"ratio": ratio, **sides, "other_ratio": other, "kept_left": kept[0], "kept_right": kept[1]})
        return rows


def _pair_row(answer: Answer) -> dict[str, Any]:
    row = {"width": 0, "height": 0, "x": -1, "y": -1, "on_padding": False, "status": answer.status}
    row |= dict.fromkeys(("max_left", "max_right", "mass_left", "won"))
    plan, main = answer.plan, answer.main
    if plan is None or main is None:
        return row | SkipReason.of(answer.reason, answer.status).columns
    x, y = (-1, -1) if answer.flat else main.point or (-1, -1)
    row |= {"width": plan.width, "height": plan.height, "x": x, "y": y, "won": np.float32(main.shares[0])}
    row |= {"on_padding": x >= 0 and plan.on_padding(x, y)}
    row |= {"reason": Reason.NOTHING_SALIENT.value if answer.flat else "", "detail": ""}
    if answer.highest is not None:
        row |= dict(zip(("max_left", "max_right"), np.asarray(answer.highest, np.float32), strict=True))
        row["mass_left"] = np.float32(answer.choices["sample"].shares[0])
    return row
