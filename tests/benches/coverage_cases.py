"""Cells of the coverage bench in which a decision could mislead: what bench_coverage.py runs with --case.

Every cell draws data sets whose truth is known and counts how often a statement about them holds. Data sets of one cell
go through ``fit`` as the labels of one table, since labels are fitted independently. Answers of a photo: present if
u + e_k + slope * value passes a threshold, u the photo's own (variance 0.6), e_k new in every picture (0.4), values
from -2 to 2 in 7 steps, unless a cell states otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from scipy import special, stats

from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.measures.differences import membership_test
from gslopes.slopes.measures.estimators import linear
from gslopes.slopes.measures.options import FitOptions
from gslopes.slopes.measures.reach import ratios
from gslopes.slopes.measures.selection import Asked, bounds, gating_rows
from gslopes.stats.clusters import effective_units
from gslopes.stats.contrast import Units, contrast
from gslopes.stats.multiplicity import benjamini_hochberg
from gslopes.stats.ols import line_weights
from gslopes.stats.outcomes import Outcomes, moments, varying
from gslopes.stats.permutation import below_floor, permute
from tests.stats.dense import dense

VALUES = np.linspace(-2, 2, 7)
WEIGHTS = 100 * line_weights(VALUES)
PERMUTATIONS = 499
Count = tuple[str, str, int, int]  # what, by which method, how often it held, of how many
Cell = Callable[[np.random.Generator, int], Iterator[Count]]


def answers(
    rng: np.random.Generator, sets: int, photos: int, rate: float, slope: object = 0.0
) -> np.ndarray:
    """(sets, photos, 7) presence.  slope: of the latent score, broadcast against (sets, photos, 1)."""
    person_effect = np.sqrt(0.6) * rng.standard_normal((sets, photos, 1), dtype=np.float32)
    item = np.sqrt(0.4) * rng.standard_normal((sets, photos, 7), dtype=np.float32)
    return person_effect + item + slope * VALUES.astype(np.float32) > special.ndtri(1 - rate)


def judge(present: np.ndarray, least: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(judged, p of t, p of permutation), (sets,) each."""
    profile = dense(present.astype(np.float32), VALUES)
    judged = varying(profile) >= least
    sums = moments(profile)
    p = linear("rate", sums, VALUES).p
    return judged, p, permute(profile, judged, PERMUTATIONS, 1).p


def counted(name: str, method: str, hits: np.ndarray, judged: np.ndarray | None = None) -> Count:
    judged = np.ones(len(hits), bool) if judged is None else judged
    return name, method, int(hits[judged].sum()), int(judged.sum())


def sparse_units(slopes: np.ndarray) -> Units:
    """(sets, photos) slopes as units of one photo each."""
    from scipy import sparse

    return Units(sparse.csr_array(slopes), np.ones(slopes.shape[1]))


# -- one slope --------------------------------------------------------------------------------------------------------


def constant_photos(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """100 photos, 30 with the label at every value; 6 % respond, up or down, by 0 on average."""
    present = np.zeros((sets, 100, 7), bool)
    present[:, :30] = True
    moves = rng.random((sets, 70)) < 0.06
    up = rng.random((sets, 70)) < 0.5
    step = np.where(up[..., None], VALUES > 0, VALUES < 0) & moves[..., None]
    present[:, 30:] = step
    for least, method in ((0, "active >= 10, as it was"), (10, "varying >= 10")):
        judged, p, p_perm = judge(present, least)
        yield counted("judged", method, judged)
        yield counted(
            "p < 0.05", f"t, {method}", p < 0.05
        )  # of all data sets: the others are not judged
        yield counted("p < 0.001", f"t, {method}", (p < 0.001) & judged)
        yield counted("p_perm < 0.05", method, (p_perm < 0.05) & judged)


def heterogeneous(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """300 photos, rate 0.3, latent slopes of mean 0 or 0.1 and standard deviation 0.15; photo-rate's t interval."""
    for mean in (0.0, 0.1):
        slope = mean + 0.15 * rng.standard_normal((sets, 300, 1), dtype=np.float32)
        present = answers(rng, sets, 300, 0.3, slope)
        deviation = np.sqrt(1 + (0.15 * VALUES) ** 2)
        shares = special.ndtr((mean * VALUES - special.ndtri(0.7)) / deviation)
        truth = float(WEIGHTS @ shares)
        sums = moments(dense(present.astype(np.float32), VALUES))
        lines = linear("rate", sums, VALUES)
        yield counted(
            "covered", f"photo-rate t, mean {mean:g}", (lines.low <= truth) & (truth <= lines.high)
        )
        if mean == 0:
            yield counted("p < 0.05", "permutation, mean 0", judge(present, 10)[2] < 0.05)


def unequal_clusters(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """100 photos, one cluster of 40 alike and 60 of one: every cluster drifts by 0 on average."""
    slope = np.concatenate(
        [np.repeat(rng.standard_normal((sets, 1)), 40, 1), rng.standard_normal((sets, 60))], 1
    )
    present = answers(rng, sets, 100, 0.3, 0.3 * slope[..., None].astype(np.float32)).astype(
        np.float32
    )
    units = np.concatenate([present[:, :40].sum(axis=1, keepdims=True), present[:, 40:]], axis=1)
    base = dense(units, VALUES)
    sizes = np.concatenate([[40.0], np.ones(60)])
    profile = Outcomes(VALUES, sizes, base.unit, base.starts, base.numbers)
    sums = moments(profile)
    t = linear("rate", sums, VALUES).p
    yield counted("p < 0.05", "t over clusters", t < 0.05)
    yield counted(
        "p < 0.05", "permutation", permute(profile, np.ones(sets, bool), PERMUTATIONS, 1).p < 0.05
    )
    yield counted("warned", "effective units < 10", np.full(sets, effective_units(sizes) < 10))


# -- differences ------------------------------------------------------------------------------------------------------


def unequal_groups(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Groups of 180 and 20 photos, rate 0.1 drawn for every picture, the same slope of 0."""
    present = rng.random((sets, 200, 7)) < 0.1
    first = np.arange(200) < 180
    slopes = present @ WEIGHTS
    welch = stats.ttest_ind(slopes[:, first], slopes[:, ~first], axis=1, equal_var=False).pvalue
    yield counted("p < 0.05", "Welch's t", welch < 0.05)
    yield counted("p < 0.001", "Welch's t", welch < 0.001)
    table = as_answers(present)
    permuted = membership_test(
        table, "rate", first, None, FitOptions(permutations=PERMUTATIONS, seed=1)
    )
    yield counted("p < 0.05", "permutation of membership", permuted < 0.05)
    tested, _ = below_floor(permuted, welch, PERMUTATIONS)
    yield counted("p < 0.001", "the same, t below its floor", tested < 0.001)


def compared_clusters(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """20 persons of 5 photos in two runs between which each person's slope changes, by 0 on average."""
    persons = np.repeat(0.2 * rng.standard_normal((sets, 20, 1)), 5, axis=1)
    item, second = (
        answers(rng, sets, 100, 0.3, sign * persons.astype(np.float32)) for sign in (0, 1)
    )
    change = (second.astype(float) - item) @ WEIGHTS
    yield counted(
        "p < 0.05", "photos as units, as it was", stats.ttest_1samp(change, 0, axis=1).pvalue < 0.05
    )
    units = sparse_units(change.reshape(sets, 20, 5).sum(axis=2))
    result = contrast(Units(units.sums, np.full(20, 5.0)), permutations=PERMUTATIONS)
    yield counted("p < 0.05", "persons as units, t", result.p < 0.05)
    yield counted("p < 0.05", "persons as units, signs", result.p_perm < 0.05)


def placebo_decision(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """200 photos, rate 0.3. Only light moves the label as far as the edit; or the attribute does, and light half."""
    for title, edit, light in (
        ("only light", 0.12, 0.12),
        ("light half of it", 0.12, 0.06),
        ("nothing", 0.0, 0.0),
    ):
        slopes = [
            answers(rng, sets, 200, 0.3, np.float32(s)) @ WEIGHTS for s in (edit, 0.0, light, 0.0)
        ]
        units = [sparse_units(part) for part in slopes]
        test_of_edit = contrast(units[0], permutations=PERMUTATIONS)
        p = test_of_edit.p_perm.copy()
        for position, signed in ((1, False), (2, True), (3, False)):
            for sign in (1,) if signed else (1, -1):
                test = contrast(units[0].minus(units[position], sign), permutations=PERMUTATIONS)
                ahead = np.sign(test.difference) == np.sign(test_of_edit.difference)
                p = np.maximum(p, np.where(ahead, test.p_perm, 1.0))
        yield counted("starred", f"own test only, {title}", test_of_edit.p_perm < 0.05)
        yield counted("finding", f"own test and placebos, {title}", p < 0.05)


# -- what is missing --------------------------------------------------------------------------------------------------


def refusals(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """300 photos, rate 0.3, no slope: refused more often at the last two values, more so with the label there."""
    present = answers(rng, sets, 300, 0.3)
    chance = np.where(present, 0.25, 0.05) * np.where(VALUES > 1, 1.0, 0.1)
    lost = rng.random(present.shape) < chance
    flags = {name: np.zeros(sets, bool) for name in ("complete", "refused", "worst", "decided")}
    photos = np.arange(300).astype(object)
    for index in range(sets):
        full = ~lost[index].any(axis=1)
        test = contrast(sparse_units((present[index] @ WEIGHTS)[None, full]))
        refused = contrast(sparse_units((lost[index] @ WEIGHTS)[None]))
        questions = Asked(photos, VALUES, np.where(lost[index], 2, 1).astype(np.int8))
        observed = sparse_units(((present[index] & ~lost[index]) @ WEIGHTS)[None])
        low, high = (float(end[0]) for end in bounds(observed, questions, np.arange(300)))
        truth = float(present[index].mean(axis=0) @ WEIGHTS)
        flags["complete"][index] = test.p[0] < 0.05
        flags["refused"][index] = refused.p[0] < 0.05
        flags["worst"][index] = low <= truth <= high
        flags["decided"][index] = test.p[0] < 0.05 and not (
            refused.p[0] < 0.05 and low <= 0 <= high
        )
    yield counted("p < 0.05", "complete photos, t", flags["complete"])
    yield counted("finding", "complete photos, unless refusals may have made it", flags["decided"])
    yield counted("refusals found to depend on the value", "t", flags["refused"])
    yield counted("holds the slope of all photos", "worst case", flags["worst"])


def shared_error(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """400 photos, no slope; the gate's reader errs with the classifier in every picture, reach 0.35 per unit."""
    line = line_weights(VALUES)
    options = FitOptions(estimators=("photo-rate",), permutations=0)
    names = ("gated", "ungated")
    flags = {name: np.zeros(sets, bool) for name in names}
    for index in range(sets):
        error = rng.standard_normal((400, 7))
        present = rng.standard_normal((400, 7)) + 0.4 * error > 0.5
        reading = 0.35 * VALUES + error + 0.5 * rng.standard_normal((400, 7))
        retained = reading @ line > 0.25
        questions = retained | (rng.random(400) < 0.5)
        asked_first = np.argsort(~questions, kind="stable")
        verdicts = pd.Series(retained[asked_first], [f"{i:06d}" for i in range(400)])
        row = gating_rows(as_answers(present[questions][None]), verdicts, options).iloc[0]
        for name in names:
            flags[name][index] = not row[f"{name}_low"] <= 0 <= row[f"{name}_high"]
    for name in names:
        yield counted("0 outside of the interval", name, flags[name])


def weak_reach(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """30 photos whose reach has mean 1 and standard deviation 1.8: the ratio's interval, of the ratios given."""
    hits: dict[str, list[bool]] = {"Fieller": [], "delta method": []}
    options = 0
    for _ in range(sets):
        reach = 1.0 + 1.8 * rng.standard_normal(30)
        present = rng.random((30, 7)) < np.clip(0.5 + 0.05 * reach[:, None] * VALUES, 0, 1)
        truth = 5.0
        read = reach + 0.3 * rng.standard_normal(30)
        units = sparse_units((present @ WEIGHTS)[None])
        result = ratios(units, read)
        slopes = present @ WEIGHTS
        ratio = slopes.mean() / read.mean()
        se = np.std(slopes - ratio * read, ddof=1) / abs(read.mean()) / np.sqrt(30)
        half = stats.t.ppf(0.975, 29) * se
        hits["delta method"].append(bool(abs(ratio - truth) <= half))
        if np.isfinite(result["ratio"][0]):
            options += 1
            hits["Fieller"].append(bool(result["ratio_low"][0] <= truth <= result["ratio_high"][0]))
    yield "given", "Fieller", options, sets
    for name, part in hits.items():
        yield "covered", name, sum(part), len(part)


# -- many labels ------------------------------------------------------------------------------------------------------


def many_labels(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """2,000 labels of 200 photos, rate 0.1 drawn for every picture, no slope; q after Benjamini and Hochberg.

    A photo's slope is one of 13 numbers, so labels are drawn as counts of them. Only those with a t below 0.001 are
    drawn photo by photo and permuted, 10,000 times: among 2,000 no other can have a q below 0.05.
    """
    patterns = (np.arange(128)[:, None] >> np.arange(7)) & 1
    chance = np.prod(np.where(patterns, 0.1, 0.9), axis=1)
    codes = patterns @ np.arange(-3, 4)
    values = np.arange(-6, 7)
    share = np.bincount(codes + 6, chance, 13)
    counts = rng.multinomial(200, share, size=(sets, 2000))
    mean = counts @ values / 200
    spread = np.sqrt((counts @ values**2 - 200 * mean**2) / 199 / 200)
    p = 2 * special.stdtr(199, -np.abs(mean / spread))
    alone = p.copy()
    rows, columns = np.nonzero(p < 1e-3)
    present = np.zeros((len(rows), 200, 7), np.float32)
    for index, (row, column) in enumerate(zip(rows, columns, strict=True)):
        photo = 0
        for code, number in zip(values, counts[row, column], strict=True):
            expected = np.flatnonzero(codes == code)
            drawn = rng.choice(expected, size=number, p=chance[expected] / chance[expected].sum())
            present[index, photo : photo + number] = patterns[drawn]
            photo += number
    permuted = permute(dense(present, VALUES), np.ones(len(rows), bool), 10_000, 1).p
    p[rows, columns] = below_floor(permuted, p[rows, columns], 10_000)[0]
    for method, numbers in (("only t", alone), ("permutations, t below their floor", p)):
        yield counted(
            "any q < 0.05",
            method,
            np.array([(benjamini_hochberg(part) < 0.05).any() for part in numbers]),
        )
        for level in (1e-3, 1e-4, 1e-5):
            yield f"p < {level:g}", method, int((numbers < level).sum()), numbers.size
    real = answers(rng, sets, 200, 0.3, np.float32(0.35)).astype(np.float32)
    profile = dense(real, VALUES)
    sums = moments(profile)
    line = linear("rate", sums, VALUES).p
    item = permute(profile, np.ones(sets, bool), 10_000, 2).p
    for method, others, last_p in (
        ("only permutations, as it was", np.maximum(p, 1 / 10_001), item),
        ("permutations, t below their floor", p, below_floor(item, line, 10_000)[0]),
    ):
        result = [
            benjamini_hochberg(np.append(part, last))[-1] < 0.05
            for part, last in zip(others, last_p, strict=True)
        ]
        yield counted("one planted label found", method, np.array(result))


def correlated_labels(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """40 labels of 200 photos, rate 0.3, correlation 0.8 in every picture, no slope."""
    any_false = 0
    for index in range(sets):
        shared = rng.standard_normal((1, 200, 7), dtype=np.float32)
        noise = rng.standard_normal((40, 200, 7), dtype=np.float32)
        present = np.sqrt(0.8) * shared + np.sqrt(0.2) * noise > special.ndtri(0.7)
        profile = dense(present.astype(np.float32), VALUES)
        result = permute(profile, np.ones(40, bool), 999, index)
        any_false += int((benjamini_hochberg(result.p) < 0.05).any())
    yield "any q < 0.05", "bh", any_false, sets


def as_answers(present: np.ndarray) -> Answers:
    """(labels, photos, 7) presence as answers."""
    label, photo = np.nonzero(present.any(axis=2))
    rows = present[label, photo]
    names = np.array([f"{i:06d}" for i in range(len(present))], dtype=object)
    photos = np.array([f"{i:06d}" for i in range(present.shape[1])], dtype=object)
    codes = (photo.astype(np.int32), label.astype(np.int32))
    return Answers("c", "gender", VALUES, names, photos, *codes, rows, rows.astype(np.float32), 0.5)


CASES: dict[str, Cell] = {
    "constant-photos": constant_photos,
    "heterogeneous": heterogeneous,
    "unequal-clusters": unequal_clusters,
    "unequal-groups": unequal_groups,
    "compared-clusters": compared_clusters,
    "placebo-decision": placebo_decision,
    "refusals": refusals,
    "shared-error": shared_error,
    "weak-reach": weak_reach,
    "many-labels": many_labels,
    "correlated-labels": correlated_labels,
}
