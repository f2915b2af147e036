"""Where the truth about photos is known: how often is the classifier wrong, at each value of the edit?

What is asked of a photo is true whatever its face looks like, so every edit of it has the same right answer.

    error        the label with the highest score is not the true one, or of a yes-or-no label: either of the next two
    miss         among photos with the true label: it is not given (false negatives)
    false alarm  among photos without it: it is given (false positives; of yes-or-no labels alone)

A *rate* is the share of photos that are wrong at one value; interval: Wilson's, over clusters by their design effect.
A *slope* is the mean over photos of the least squares line through each photo's K zeros and ones, in percentage points
per unit; interval and p: t over photos (clusters), null hypothesis: errors do not depend on the value.  q is over the
slopes of one classifier along one attribute; a finding also goes further than every placebo, as in
``slopes.fit.decision``.

Source: Liang & Zeger 1986, doi 10.1093/biomet/73.1.13; ``stats.shares``, ``stats.clusters``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.core.errors import ConfigError
from gslopes.slopes.fit.answers import Answers
from gslopes.slopes.fit.decision import placebo_q, rule
from gslopes.slopes.fit.options import FitOptions
from gslopes.stats.clusters import clustered_mean, codes_of
from gslopes.stats.multiplicity import benjamini_hochberg
from gslopes.stats.ols import line_weights
from gslopes.stats.shares import share_interval

ERROR, MISS, ALARM = "error", "miss", "false alarm"
ALL = "all labels"
YES, NO = frozenset({"1", "1.0", "true", "yes", "y"}), frozenset({"0", "0.0", "-1", "-1.0", "false", "no", "n"})
EVERYWHERE = "given for every picture: say from which score it counts (--set fit.presence=0.5)"
Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """What is true of photos.

    column: of the table about photos.  label: that its cells affirm or deny; empty if they name the true label.
    cells: photo to text; empty where it is not known.
    """

    column: str
    label: str
    cells: pd.Series


def split_truth(text: str) -> tuple[str, str]:
    """(column, label) of ``COLUMN`` or ``LABEL=COLUMN``.

    >>> split_truth("job"), split_truth("Smiling=smiles")
    (('job', ''), ('smiles', 'Smiling'))
    """
    label, equals, column = text.rpartition("=")
    return (column.strip(), label.strip()) if equals else (text.strip(), "")


def plain(text: str) -> str:
    """A label as compared: case, blanks, minus and underscore do not matter.

    >>> plain(" Fire_Fighter"), plain("fire-fighter")
    ('fire fighter', 'fire fighter')
    """
    return " ".join(str(text).replace("_", " ").replace("-", " ").split()).casefold()


def check_truths(truths: Sequence[Truth], labels: Collection[str]) -> None:
    """Raises: ConfigError for a truth that fits no label, or for a cell that is neither yes nor no.

    labels: all that any classifier returned.
    """
    by_plain = {plain(label): label for label in labels}
    for truth in truths:
        cells = [text for text in dict.fromkeys(truth.cells) if text]
        some = ", ".join(sorted(by_plain.values())[:8])
        if not cells:
            raise ConfigError(f"The column {truth.column} is empty for all photos.", "Name another one with --truth.")
        if truth.label:
            if plain(truth.label) not in by_plain:
                raise ConfigError(f"No classifier returned the label {truth.label!r}.", f"It may be one of {some}.")
            if odd := [text for text in cells if _answer(text) not in YES | NO]:
                hint = "Write yes or no, true or false, 1 or 0, 1 or -1; leave it empty where it is not known."
                raise ConfigError(f"{odd[0]!r} in the column {truth.column} is neither yes nor no.", hint)
        elif not any(plain(text) in by_plain for text in cells):
            hint = f"Its cells name the right label, such as {some}; for one label write --truth LABEL={truth.column}."
            raise ConfigError(f"{cells[0]!r} in the column {truth.column} is not a label that was returned.", hint)


def error_tables(
    answers: Answers,
    truths: Sequence[Truth],
    options: FitOptions,
    cluster: Codes | None = None,
    placebos: Mapping[str, Answers] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Error rates at every value, and their slopes; the columns of core.tables.ERROR_RATES and ERROR_SLOPES.

    Photos of which the truth is not known are left out.  Labels with equal scores count as the highest together.  A
    label that is given for every picture has rates, and no slope.

    answers: of one classifier and attribute.  cluster: (n,) codes of clusters of photos, or None.
    placebos: kind of placebo to the answers along it, whose photos may be a sample; None for a placebo itself, whose
        slopes have no decision.
    """
    units = codes_of(cluster, len(answers.photos))
    rates, slopes = [], []
    for truth in truths:
        given = bool(truth.label) and bool(_said(answers, truth.label).all())
        fakes = {kind: _moves(fake, truth) for kind, fake in (placebos or {}).items()}
        for label, measure, keep, wrong in _judged(answers, truth):
            if not keep.any():
                continue
            head: dict[str, object] = {"classifier": answers.classifier, "attribute": answers.attribute}
            head |= {"column": truth.column, "label": label, "measure": measure, "n": int(keep.sum())}
            codes = np.unique(units[keep], return_inverse=True)[1]
            sizes = np.bincount(codes).astype(np.float64)
            for step, value in enumerate(answers.values.tolist()):
                at = wrong[keep, step]
                low, high = share_interval(np.bincount(codes, at).astype(np.float64), sizes)
                facts = {"step": step, "value": value, "wrong": int(at.sum()), "rate": float(at.mean())}
                rates.append({**head, **facts, "ci_low": low, "ci_high": high})
            row = _slope(wrong[keep], answers.values, codes, options, EVERYWHERE if given else "")
            own = pd.Series(_lines(wrong[keep], answers.values), index=answers.photos[keep])
            clusters = pd.Series(codes, index=own.index)
            tested = [_against(own, fake[label, measure], kind, clusters) for kind, fake in fakes.items()]
            slopes.append({**head, **row, "p_placebos": max(tested, default=np.nan), "kinds": tuple(fakes)})
    frame = pd.DataFrame(slopes)
    return pd.DataFrame(rates), frame if frame.empty else _decided(frame, placebos is not None)


def _lines(wrong: Flags, values: Array) -> Array:
    """(m,) each photo's slope in points per unit; exactly 0 where its answers do not change."""
    numbers = wrong.astype(np.float64)
    return np.asarray(100 * (numbers - numbers[:, :1]) @ line_weights(values))


def _moves(fake: Answers, one: Truth) -> dict[tuple[str, str], pd.Series]:
    """Label and measure to the slopes of the photos along a placebo."""
    parts = _judged(fake, one)
    return {
        (label, measure): pd.Series(_lines(wrong[keep], fake.values), index=fake.photos[keep])
        for label, measure, keep, wrong in parts
    }


def _against(own: pd.Series, fake: pd.Series, kind: str, clusters: pd.Series) -> float:
    """P of the null hypothesis that the slope goes no further than a placebo's, paired photo by photo.

    The sign of the placebo counts for light alone, see ``slopes.fit.decision``; 1 where the slope is the smaller one.
    """
    both = own.index.intersection(fake.index)
    if not len(both):
        return 1.0
    codes = np.unique(clusters[both], return_inverse=True)[1]
    ps = []
    for sign in (1, -1)[: 1 if kind == "light" else 2]:
        difference = clustered_mean((own[both] - sign * fake[both]).to_numpy(), codes)
        further = np.sign(difference.value) == np.sign(own.mean())
        ps.append(difference.p if further and np.isfinite(difference.p) else 1.0)
    return max(ps)


def _decided(frame: pd.DataFrame, real: bool) -> pd.DataFrame:
    """With q, q_placebo, decision and reason; see ``slopes.fit.decision``."""
    p, largest = (frame[name].to_numpy(dtype=float) for name in ("p", "p_placebos"))
    q = benjamini_hochberg(p)
    q_placebo = placebo_q(q, largest)
    cells = zip(frame["note"], q, q_placebo, frame["kinds"], strict=True)
    pairs = [rule(bool(note), own, worst, kinds) if real else (None, None) for note, own, worst, kinds in cells]
    words = {
        name: pd.Series(column, frame.index, dtype=object)
        for name, column in zip(("decision", "reason"), zip(*pairs, strict=True), strict=True)
    }
    frame = frame.drop(columns=["p_placebos", "kinds"])
    return frame.assign(q=q, q_placebo=q_placebo if real else np.nan, **words)


def _judged(answers: Answers, one: Truth) -> Iterator[tuple[str, str, Flags, Flags]]:
    """(label, measure, (n,) photos that it is about, (n, K) whether the answer is wrong)."""
    cells = one.cells.reindex(answers.photos).fillna("").to_numpy(dtype=object)
    labelled = np.array([bool(text) for text in cells], dtype=bool)
    if one.label:
        named = _said(answers, one.label)
        true = np.array([_answer(text) in YES for text in cells], dtype=bool)
        yield one.label, ERROR, labelled, named != true[:, None]
        yield one.label, MISS, labelled & true, ~named
        yield one.label, ALARM, labelled & ~true, named
        return
    texts = np.array([plain(text) for text in cells], dtype=object)
    wrong = ~_right(answers, texts)
    yield ALL, ERROR, labelled, wrong
    # of all photos: a placebo's sample may lack a class, which is spelled alike along every sweep
    spelling = {plain(text): text for text in sorted({*map(str, one.cells)} - {""}, reverse=True)}
    for name, label in sorted(spelling.items()):
        yield label, MISS, texts == name, wrong


def _answer(text: object) -> str:
    return str(text).strip().casefold()


def _said(answers: Answers, label: str) -> Flags:
    """(n, K) whether a label was returned."""
    returned = np.zeros((len(answers.photos), len(answers.values)), dtype=bool)
    pairs = np.array([plain(name) == plain(label) for name in answers.labels], dtype=bool)[answers.label]
    np.logical_or.at(returned, answers.photo[pairs], answers.present[pairs])
    return returned


def _right(answers: Answers, texts: NDArray[np.object_]) -> Flags:
    """(n, K) whether the true label has the highest score."""
    best = np.full((len(answers.photos), len(answers.values)), -np.inf, dtype=np.float32)
    score = np.where(answers.present, answers.score, -np.inf).astype(np.float32)
    np.maximum.at(best, answers.photo, score)
    names = np.array([plain(name) for name in answers.labels], dtype=object)
    pairs = names[answers.label] == texts[answers.photo] if len(names) else np.zeros(0, dtype=bool)
    right = np.zeros(best.shape, dtype=bool)
    top = answers.present[pairs] & (score[pairs] >= best[answers.photo[pairs]])
    np.logical_or.at(right, answers.photo[pairs], top)
    return right


def _slope(wrong: Flags, values: Array, codes: Codes, options: FitOptions, note: str) -> dict[str, object]:
    centre = len(values) // 2
    varying = len(np.unique(codes[(wrong != wrong[:, :1]).any(axis=1)]))
    along = clustered_mean(_lines(wrong, values), codes)
    tested = not note and varying >= options.min_varying
    row = {"varying": varying, "centre": float(wrong[:, centre].mean()), "slope": along.value, "se": along.se}
    row |= {"ci_low": along.low, "ci_high": along.high, "p": along.p if tested else np.nan}
    few = f"its errors change on {varying} of {len(wrong)} photos; {options.min_varying} are needed"
    return row | {"note": note or ("" if tested else few)}
