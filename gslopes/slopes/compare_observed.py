"""Two versions of a classifier and real people: did the observed difference follow the slope?

A version can be tuned until its slope is 0 while the difference between real groups stays; see ``slopes.fit.observed``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from gslopes.core import placebo, runfolder
from gslopes.core.errors import UnknownName, UsageError
from gslopes.core.runfolder import show
from gslopes.faces import zoo
from gslopes.photos.people import read_about
from gslopes.slopes.compare import cuts_of, units_of
from gslopes.slopes.fit.analysis import about_columns
from gslopes.slopes.fit.observed import observed_changes
from gslopes.slopes.fitting import unedited_answers
from gslopes.stats.clusters import normal_texts
from gslopes.stats.multiplicity import LEVEL

KEEPS = "the slope shrank, the observed difference is not shown to"


def compare_observed(
    one: Path | str,
    other: Path | str,
    changes: pd.DataFrame,
    photos_csv: Path,
    groups: Sequence[str],
    *,
    min_varying: int = 10,
    cluster: str = "",
) -> pd.DataFrame:
    """How the observed differences between groups changed, next to the changes of the slopes.

    changes: of ``slopes.compare.compare_runs``.  photos_csv, groups: a row a photo, and its columns that make groups.

    Columns: those of ``changes`` that name a row; column, group, other; first, second, change (second minus first) with
    ci_low, ci_high, p, q; slope, other_slope, slope_q, measure; agreement: ``KEEPS`` where the slope moved towards 0
    (q < 0.05) and the observed difference is not shown to have done so, else empty.

    Raises: UsageError if a run has no answers about unedited photos, or the table no such column.
    """
    one, other = Path(one), Path(other)
    named = (one, "first_classifier"), (other, "classifier")
    sides = [unedited_answers(run, cuts_of(run, sorted(set(changes[name])))) for run, name in named]
    for run, found in zip((one, other), sides, strict=True):
        if not found:
            raise UsageError(
                f"No classifier of {show(run)} was asked about the photos as they were.",
                f"gslopes audit {show(run)} --unedited asks them; answers that are known are not asked for again.",
            )
    columns = about_columns(read_about(photos_csv, other), groups, normal_texts)
    units = None if not cluster else units_of(photos_csv, other, cluster)
    frames = []
    for (old, new, attribute), part in changes.groupby(["first_classifier", "classifier", "attribute"], sort=True):
        if old not in sides[0] or new not in sides[1]:
            continue
        measures = {row["label"]: row["measure"] for row in part.to_dict("records") if row["measure"] != "presence"}
        pair = sides[0][str(old)], sides[1][str(new)]
        for name, who in columns.items():
            codes = None if units is None else _codes(pair[0].photos.tolist(), units)
            frame = observed_changes(*pair, who, measures, min_varying=min_varying, cluster=codes)
            head = {"first_classifier": str(old), "classifier": str(new), "attribute": str(attribute), "column": name}
            frames.append(frame.assign(**head))
    whole = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    if whole.empty:
        problem = f"The photos of {show(one)} and {show(other)} are in fewer than two groups of {', '.join(groups)}."
        raise UsageError(problem, "Name another column with --groups.")
    keys = ["first_classifier", "classifier", "attribute", "label"]
    slopes = changes[[*keys, "slope", "other_slope", "q", "measure"]].rename(columns={"q": "slope_q"})
    whole = whole.merge(slopes, on=keys, how="inner")
    shrank = (whole["slope_q"] < LEVEL) & (whole["other_slope"].abs() < whole["slope"].abs())
    followed = (whole["q"] < LEVEL) & (whole["second"].abs() < whole["first"].abs())
    stood = whole[["first", "second"]].abs().max(axis=1) > 0
    return whole.assign(agreement=(shrank & ~followed & stood).map({True: KEEPS, False: ""}))


def tuned_on(run: Path, editor: str) -> str:
    """A warning where the pictures of a run come from the editor that a model was trained on; else empty.

    editor: the name of an editor of the zoo, or a family such as field or fader.

    Raises: UnknownName.
    """
    manifest = runfolder.read_manifest(run)
    used, known = list(manifest.get("models", {})), [entry.name for entry in zoo.list_models()]
    families = sorted({name.rpartition("-")[2] for name in known if "-" in name})
    if editor not in (*used, *known, *families):
        raise UnknownName("editor", editor, sorted({*used, *known, *families}))
    attributes = {placebo.split(name)[0] for name in manifest.get("values", {})}
    same = [name for name in used if name in {editor, *(f"{attribute}-{editor}" for attribute in attributes)}]
    if not same:
        return ""
    return (
        f"Warning: the pictures of {show(run)} come from {same[0]}, on which the model was trained: it has learnt what "
        "that editor draws, and a slope near 0 says little. Judge it by another editor (--editor) and by real photos."
    )


def _codes(photos: list[str], units: dict[str, str]) -> dict[str, int]:
    known: dict[str, int] = {}
    return {photo: known.setdefault(units.get(photo) or photo, len(known)) for photo in photos}
