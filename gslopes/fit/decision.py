"""Is a slope a finding? It must differ from 0, and from what pictures that change nothing of the attribute do.

An edit also moves light, texture and compression, and so it moves any classifier that sees them.  The placebo sweeps
(``core.placebo``) move those alone, by as much.  A label is a finding where all of these hold:

    own test   q of its own slope is below the level
    placebos   its slope goes further than that of every placebo sweep over the same photos, paired photo by photo: the
               largest p of the own test and of all differences (an intersection-union test), adjusted over the labels,
               is below the level too, and each difference has the sign of the slope
    refusals   where refusals depend on the value, the slope keeps its sign when they are trimmed (``fit.refusals``)

The light placebo brightens as the edit does, so its sign counts; the sign of the other two means nothing, and the
difference must hold against either sign.

=========  ==========================================================================================================
decision   meaning
=========  ==========================================================================================================
finding    all of the above
placebo    the own test holds; a placebo moves the label about as far, or nobody can tell that it does not
open       the own test holds, and what would settle it is missing: no placebo sweep, or refusals may have made it
none       the own test does not hold
unjudged   too rare to judge, or never there at the centre
=========  ==========================================================================================================

Source: intersection-union tests, Berger & Hsu 1996, doi 10.1214/ss/1032280304.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.core import placebo
from gslopes.fit.answers import Answers
from gslopes.fit.groups import same_photos
from gslopes.fit.options import FitOptions
from gslopes.fit.paired import FEW, Paired, below_floor, effective_units, paired_test, unit_slopes
from gslopes.fit.photo import KINDS
from gslopes.stats.multiplicity import adjust

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

DECISIONS = ("finding", "placebo", "open", "none", "unjudged")
TESTED = ("photo-rate", "photo-score", "photo-censored")  # means over photos, which a placebo is subtracted from
_SIGNED = {"light"}


def placebo_differences(
    edit: Answers, fakes: Mapping[str, Answers], options: FitOptions, cluster: Mapping[str, int] | None = None
) -> pd.DataFrame:
    """Rows of core.tables.PLACEBOS of one classifier and attribute.

    edit: answers along the attribute.  fakes: kind of placebo to the answers along it; the photos may be a sample.
    cluster: photo to the code of its cluster, or None.
    """
    kinds = dict.fromkeys(KINDS[name] for name in options.estimators)
    names = {"rate": "photo-rate", "score": "photo-score", "censored": "photo-censored"}
    frames = []
    for what, fake in fakes.items():
        pair = same_photos(edit, fake)
        units = None if cluster is None else np.array([cluster[photo] for photo in pair[0].photos], dtype=np.int64)
        labels = np.array(sorted({*edit.labels.tolist(), *fake.labels.tolist()}), dtype=object)
        for kind in kinds:
            first, second = (unit_slopes(answers, kind, units, labels) for answers in pair)
            found = _tested(first, second, options, signed=what in _SIGNED)
            frames.append(
                pd.DataFrame(
                    {
                        "classifier": edit.classifier,
                        "attribute": edit.attribute,
                        "estimator": names[kind],
                        "placebo": what,
                        "label": labels,
                        "n": len(pair[0].photos),
                        "varying": found.varying,
                        "slope": first.means,
                        "placebo_slope": second.means,
                        "difference": found.difference,
                        "se": found.se,
                        "ci_low": found.low,
                        "ci_high": found.high,
                        "p": found.p,
                        "p_perm": found.p_perm,
                        "note": np.where(found.varying > 0, "", "both sweeps say the same of every photo"),
                    }
                )
            )
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _tested(first: object, second: object, options: FitOptions, *, signed: bool) -> Paired:
    """The difference as it is; where the placebo's sign means nothing, the larger p of both signs."""
    how = {"permutations": options.permutations, "seed": options.seed, "confidence": options.confidence}
    plain = paired_test(first, second, **how)  # type: ignore[arg-type]
    if signed:
        return plain
    turned = paired_test(first, second, sign=-1, **how)  # type: ignore[arg-type]
    return Paired(
        plain.difference,
        plain.se,
        plain.low,
        plain.high,
        np.maximum(plain.p, turned.p),
        np.maximum(plain.p_perm, turned.p_perm),
        plain.varying,
    )


def decide(
    slopes: pd.DataFrame, placebos: pd.DataFrame, options: FitOptions, *, refusals_flat: bool = True, units: Array
) -> pd.DataFrame:
    """The rows of one classifier and attribute with the columns q_placebo, decision, reason and detail.

    slopes: of all estimators, columns of core.tables.SLOPES as far as they are known.
    placebos: as ``placebo_differences`` gives them; empty if there was no placebo sweep.
    refusals_flat: whether refusals do not depend on the value.  units: (U,) photos in each unit.

    The rows of photo-z and photo-logodds test the null hypothesis of photo-rate, and take over its decision; those of
    the paper have none.
    """
    trusted = effective_units(units) >= FEW
    slopes = slopes.assign(**{name: np.nan for name in ("p_test", "q") if name not in slopes})
    by_name = {str(name): rows for name, rows in slopes.groupby("estimator", sort=False)}
    found = {}
    for name in by_name.keys() & set(TESTED):
        beside = placebos[placebos["estimator"] == name] if len(placebos) else placebos
        found[name] = _decide(by_name[name], beside, options, refusals_flat, trusted)
    parts = []
    for name, rows in by_name.items():
        if name in found:
            parts.append(rows.join(found[name]))
        elif name != "paper":
            parts.append(_taken_over(rows, slopes, found.get("photo-rate"), options))
        else:
            parts.append(rows)
    return pd.concat([part.dropna(axis=1, how="all") for part in parts]).sort_index()


def _decide(
    rows: pd.DataFrame, beside: pd.DataFrame, options: FitOptions, refusals_flat: bool, trusted: bool
) -> pd.DataFrame:
    kinds = [kind for kind in placebo.KINDS if len(beside) and (beside["placebo"] == kind).any()]
    largest = rows["p_test"].to_numpy(float)
    by_kind = {}
    for kind in kinds:
        part = beside[beside["placebo"] == kind].set_index("label").reindex(rows["label"])
        p, _ = below_floor(
            part["p_perm"].to_numpy(float), part["p"].to_numpy(float), options.permutations, trusted=trusted
        )
        same_sign = np.sign(part["difference"].to_numpy(float)) == np.sign(rows["slope"].to_numpy(float))
        p = np.where(np.isnan(p) | ~same_sign, 1.0, p)
        by_kind[kind] = part.assign(p_used=p)
        largest = np.where(np.isnan(largest), np.nan, np.maximum(largest, p))
    how = "holm" if options.correction == "max-t" else options.correction
    q_placebo = adjust(largest, how) if kinds else np.full(len(rows), np.nan)
    lacking = [kind for kind in placebo.KINDS if kind not in kinds]
    records: list[dict[str, object]] = [{str(key): row[key] for key in row} for row in rows.to_dict("records")]
    decided = [
        _one(row, place, q_placebo, by_kind, lacking, options, refusals_flat) for place, row in enumerate(records)
    ]
    frame = pd.DataFrame(decided, columns=["decision", "reason", "detail"], index=rows.index)
    return frame.assign(q_placebo=q_placebo)


def _one(
    row: Mapping[str, object],
    place: int,
    q_placebo: Array,
    by_kind: Mapping[str, pd.DataFrame],
    lacking: list[str],
    options: FitOptions,
    refusals_flat: bool,
) -> tuple[str, str, str]:
    """(decision, code of the reason, the reason with its numbers) of one label."""
    if row["note"]:
        return "unjudged", "rare", str(row["note"])
    q = float(row["q"])  # type: ignore[arg-type]
    if not q < options.level:
        return "none", "own-test", f"q {q:.2g} is not below {options.level:g}"
    if not q_placebo[place] < options.level and by_kind:
        kind = max(by_kind, key=lambda name: by_kind[name]["p_used"].iloc[place])
        return "placebo", kind, _difference(kind, by_kind[kind].iloc[place])
    if lacking:
        return "open", "no-placebo", f"no {' and no '.join(lacking)} placebo was run"
    low, high = (float(row.get(name, np.nan)) for name in ("trimmed_low", "trimmed_high"))  # type: ignore[arg-type]
    if not refusals_flat and low <= 0 <= high:
        return "open", "refusals", f"refusals depend on the value; trimmed, the slope lies in [{low:+.2g}, {high:+.2g}]"
    return "finding", "", ""


def _difference(kind: str, row: pd.Series) -> str:
    name = {"same": "the same picture", "light": "light alone", "random": "a random change"}[kind]
    interval = f"[{row['ci_low']:+.2g}, {row['ci_high']:+.2g}]"
    difference = f"{row['difference']:+.2g} {interval}, p {row['p_used']:.2g}"
    return f"{name}: {row['placebo_slope']:+.2g}; paired difference {difference}"


def _taken_over(
    rows: pd.DataFrame, slopes: pd.DataFrame, found: pd.DataFrame | None, options: FitOptions
) -> pd.DataFrame:
    """Decisions of photo-rate for an estimator that shares its test; its own note and its own lack of a slope count."""
    if found is None:
        return rows
    known = found.assign(label=slopes.loc[found.index, "label"]).set_index("label").reindex(rows["label"])
    known.index = rows.index
    noted = rows["note"].fillna("") != ""
    known.loc[noted, ["decision", "reason"]] = ["unjudged", "rare"]
    known.loc[noted, "detail"] = rows.loc[noted, "note"]
    return rows.join(known)
