"""Colours within one context: does a label's presence change with the palette of the same drawn room?

The paper leaves it open: whether a context acts by its things or by its colours.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from gslopes.contexts.config import PALETTES as ORDER
from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.describe import Key
from gslopes.contexts.measures.grid import ALL, room_of
from gslopes.contexts.measures.interaction import indicators, person_codes
from gslopes.contexts.measures.paired import share_change
from gslopes.contexts.tables import PALETTES, filled

OWN = ("inferred woman", "inferred man", "recognised")  # labels that have a row for each context, too


def palettes_table(
    described: pd.DataFrame,
    presence: Mapping[str, Collection[Key]],
    backgrounds: pd.DataFrame,
    people: pd.DataFrame,
    options: ContextOptions,
) -> pd.DataFrame:
    """Rows of the ``palettes`` table without q: a row for each pair of palettes, label and context, and all contexts.

    Estimator: the share of pictures with the label before rooms in one palette, minus that before the same rooms in
    the other, over people answered before both.  Intervals, p and null hypothesis (a person's answers before a room in
    two palettes are exchangeable): see ``paired.share_change``; a room is one layout of one context.

    described: rows of one classifier and kind of tags.  presence: tag to the (photo, attribute, step) that have it.
    backgrounds, people: the tables of those names.
    """
    drawn = backgrounds[backgrounds["palette"] != ""].set_index("key")
    rows = described[described["attribute"].isin(drawn.index) & described["photo"].isin(people["photo"])]
    if rows.empty:
        return pd.DataFrame()
    keys, photos = drawn.index.tolist(), sorted(set(rows["photo"]))
    column = {(room_of(str(key), palette), palette): at for at, (key, palette) in enumerate(drawn["palette"].items())}
    answered, labels = indicators(rows, presence, photos, keys, 1)
    person = person_codes(people, photos)
    context_of = {room_of(str(key), row["palette"]): row["context"] for key, row in drawn.iterrows()}
    head = {name: str(rows[name].iloc[0]) for name in ("classifier", "tags")}
    made: list[dict[str, Any]] = []
    for label, present in labels:
        for context in (ALL, *dict.fromkeys(context_of.values())) if label in OWN else (ALL,):
            rooms = [room for room, name in context_of.items() if context in (ALL, name)]
            for one, other in combinations([name for name in ORDER if name in set(drawn["palette"])], 2):
                here, there = ([column[room, palette] for room in rooms] for palette in (one, other))
                keep = answered[:, here, 0] & answered[:, there, 0]
                pair = present[:, there, 0], present[:, here, 0]
                shares = [float(part[keep].mean()) if keep.any() else np.nan for part in pair]
                row = {"context": context, "label": label, "palette": one, "other": other, "n": int(keep.sum())}
                row |= {"share": shares[1], "share_other": shares[0]}
                made.append({**head, **row, **share_change(*pair, keep, person, options)})
    return filled(PALETTES, made)
