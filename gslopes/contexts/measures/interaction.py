"""The controlled version, by counterfactuals of each person in each context: does context or face move answers more?

Here too, colours within one context: does a label's presence change with the palette of the same drawn room? The paper
leaves open whether a context acts by its things or by its colours.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.contexts.config import PALETTES as ORDER
from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.congruence import mean_of, settled
from gslopes.contexts.measures.describe import Key
from gslopes.contexts.measures.grid import ALL, room_of
from gslopes.contexts.measures.paired import ALIKE, FEW, RARE, noted, share_change, sign_flips
from gslopes.contexts.tables import filled
from gslopes.stats.intervals import mean_t
from gslopes.stats.ols import line_weights

Array = NDArray[np.float64]
CANVAS = "canvas"


def interaction_table(
    described: pd.DataFrame,
    presence: Mapping[str, Collection[Key]],
    values: Array,
    people: pd.DataFrame,
    options: ContextOptions,
    attribute: str = "gender",
) -> pd.DataFrame:
    """Rows of the ``interaction`` table without q: slopes on the plain canvas and in front of each background.

    Estimator: mean over people of the slope of presence on the value, in points per unit (``photo-rate``), over
    people answered at all K values under both conditions.  difference: of the two slopes, paired by person; interval
    and p of its t; ``p_perm`` by flipping signs.  context: what the background itself does at the middle value, in
    points, with its paired interval.  Null hypotheses: the context does not move the slope; it does not move the
    answer.

    described: rows of one classifier and kind of tags.  presence: tag to the (photo, attribute, step) that have it.
    values: (K,).  people: the table of that name.
    """
    rows = described[described["attribute"].str.endswith(f"~{attribute}") & described["photo"].isin(people["photo"])]
    if rows.empty:
        return pd.DataFrame()
    photos = sorted(set(rows["photo"]))
    backgrounds = sorted({name.partition("~")[0] for name in set(rows["attribute"])} - {CANVAS})
    attributes = [f"{name}~{attribute}" for name in (CANVAS, *backgrounds)]
    answered, labels = indicators(rows, presence, photos, attributes, len(values))
    person = person_codes(people, photos)
    head = {name: str(rows[name].iloc[0]) for name in ("classifier", "tags")}
    made = []
    for label, present in labels:
        for index, background in enumerate(backgrounds, start=1):
            use = answered[:, [0, index]].all(axis=(1, 2))
            row = compare(present[use, 0], present[use, index], values, person[use], options)
            made.append({**head, "background": background, "label": label, **row})
    return filled("interaction", made)


def compare(
    canvas: Array, condition: Array, values: Array, person: NDArray[np.int64], options: ContextOptions
) -> dict[str, Any]:
    """One label on the canvas and in front of a background.

    canvas, condition: (P, K) of 0 and 1.  person: (P,) codes.
    """
    weights = 100 * line_weights(values)
    middle = len(values) // 2
    codes = np.unique(person, return_inverse=True)[1]
    base, slope = (settled(_by_person(answers @ weights, codes)) for answers in (canvas, condition))
    effect = settled(_by_person(100 * (condition[:, middle] - canvas[:, middle]), codes))
    rare = int(((canvas > 0).any(axis=1) | (condition > 0).any(axis=1)).sum()) < FEW
    row: dict[str, Any] = {"n": len(base), "slope": mean_of(slope), "baseline": mean_of(base)}
    row["difference"], se, row["ci_low"], row["ci_high"], row["p"] = mean_t(slope - base)
    row["effect"], _, row["effect_low"], row["effect_high"], row["effect_p"] = mean_t(effect)
    face, _, face_low, face_high, _ = mean_t(base)  # from value -1 to 1: two units
    row |= {"face": 2 * face, "face_low": 2 * face_low, "face_high": 2 * face_high}
    row["note"] = noted(RARE * rare, ALIKE * (se == 0))
    if rare:
        return {**row, **dict.fromkeys(("p", "p_perm", "effect_p"), math.nan)}
    p_perm = sign_flips(slope - base, options.permutations, options.seed) if len(base) else math.nan
    return {**row, "p_perm": p_perm}


def person_codes(people: pd.DataFrame, photos: Sequence[str]) -> NDArray[np.int64]:
    """(n,) the person on each photo, from 0.  people: columns photo and person."""
    person_of = dict(zip(people["photo"], people["person"], strict=True))
    return np.unique([person_of[photo] for photo in photos], return_inverse=True)[1].astype(np.int64)


def indicators(
    rows: pd.DataFrame, presence: Mapping[str, Collection[Key]], photos: list[str], attributes: list[str], width: int
) -> tuple[NDArray[np.bool_], list[tuple[str, Array]]]:
    """(answered, label to presence) as (photos, attributes, K) arrays; tags of fewer than ten photos are left out."""
    row_of, column_of = pd.Index(photos), pd.Index(attributes)
    at = (
        row_of.get_indexer(pd.Index(rows["photo"])),
        column_of.get_indexer(pd.Index(rows["attribute"])),
        rows["step"].to_numpy(int),
    )
    shape = (len(photos), len(attributes), width)
    answered, woman, man, recognised = (np.zeros(shape, kind) for kind in (bool, float, float, float))
    answered[at] = True
    woman[at], man[at], recognised[at] = rows["inferred"] == "woman", rows["inferred"] == "man", rows["recognised"]
    made = [("inferred woman", woman), ("inferred man", man), ("recognised", recognised)]
    for tag, keys in sorted(presence.items()):
        known = [key for key in keys if key[0] in row_of and key[1] in column_of]
        photo, condition, step = zip(*known, strict=True) if known else ((), (), ())
        indicator = np.zeros(shape)
        indicator[
            row_of.get_indexer(pd.Index(photo)), column_of.get_indexer(pd.Index(condition)), np.array(step, int)
        ] = 1
        if indicator.any(axis=(1, 2)).sum() >= FEW:
            made.append((tag, indicator))
    return answered, made


def _by_person(values: Array, person: NDArray[np.int64]) -> Array:
    counts = np.bincount(person)
    return np.asarray(np.bincount(person, values) / np.maximum(counts, 1))


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
    return filled("palettes", made)
