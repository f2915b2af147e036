"""Where the truth about photos is known: how often is the classifier wrong, at each value of the edit?

What is asked of a photo is true whatever its face looks like, so every edit of it has the same right answer.

    error        the label with the highest score is not the true one, or of a yes-or-no label: either of the next two
    miss         among photos with the true label: it is not given (false negatives)
    false alarm  among photos without it: it is given (false positives; only of yes-or-no labels)

A *rate* is the share of photos that are wrong at one value; interval: Wilson's, over clusters by their design effect.
A *slope* is the mean over photos of the least squares line through each photo's K zeros and ones, in percentage points
per unit; interval and p: t over photos (clusters), null hypothesis: errors do not depend on the value.  p_perm permutes
the errors within photos (clusters) and so decides if all of them change alike and t cannot, see
``stats.permutation``.  q is p_test, p_perm or t's below its floor, over the slopes of one classifier along one
attribute; a finding also goes further than the placebos that count, as in ``slopes.measures.decision``.

Source: Liang & Zeger 1986, doi 10.1093/biomet/73.1.13; ``stats.shares``, ``stats.clusters``.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress

import numpy as np
from pandas import DataFrame, Series

from gslopes.core import ConfigError, Row, frozen_identity, many
from gslopes.core.records import Array, Flags, Integers, Objects, doubles, floats
from gslopes.core.tables import READING
from gslopes.slopes.measures import decision, kinds
from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.measures.options import NEVER, FitOptions
from gslopes.stats import clusters, multiplicity, ols, permutation, rounding, shares
from gslopes.stats.outcomes import varying

ERROR = "error"
MISS = "miss"
ALL = "all labels"
YES = frozenset({"1", "1.0", "true", "yes", "y"})
NO = frozenset({"0", "0.0", "-1", "-1.0", "false", "no", "n"})
ALIKE = (
    "all photos have this slope, which takes permutations to test (--set fit.permutations=10000)"
)
EVERYWHERE = "given for every picture: say from which score it counts (--set fit.presence=0.5)"


@frozen_identity
class Truth:
    """What is true of photos.

    column: of the table about photos.  label: which its cells affirm or deny; empty if they name the true label.
    cells: photo to text; empty if it is not known.
    """

    column: str
    label: str
    cells: Series


def split_truth(text: str) -> tuple[str, str]:
    """(column, label) of ``COLUMN`` or ``LABEL=COLUMN``.

    >>> split_truth("job"), split_truth("Smiling=smiles")
    (('job', ''), ('smiles', 'Smiling'))
    """
    label, _, column = text.rpartition("=")
    return column.strip(), label.strip()


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
    some = ", ".join(sorted(by_plain.values())[:8])
    for truth in truths:
        cells = [text for text in dict.fromkeys(truth.cells) if text]
        odd = [text for text in cells if str(text).strip().casefold() not in YES | NO]
        if not cells:
            raise ConfigError(
                f"The column {truth.column} is empty for all photos.",
                "Name another one with --truth.",
            )
        if truth.label and plain(truth.label) not in by_plain:
            raise ConfigError(
                f"No classifier returned the label {truth.label!r}.", f"It may be one of {some}."
            )
        if truth.label and odd:
            raise ConfigError(
                f"{odd[0]!r} in the column {truth.column} is neither yes nor no.",
                "Write yes or no, true or false, 1 or 0, 1 or -1; leave it empty if it is not known.",
            )
        if not truth.label and by_plain.keys().isdisjoint(map(plain, cells)):
            raise ConfigError(
                f"{cells[0]!r} in the column {truth.column} is not a label that was returned.",
                f"Its cells name the right label, such as {some}; for one label write --truth LABEL={truth.column}.",
            )


@frozen_identity
class _Row:
    """One measure of one label.

    names: its column, label and measure.  keep: (n,) photos that it is about.  wrong: (n, K).  note: why there is no
    test.  never: whether the classifier never returns the label.
    """

    names: tuple[str, str, str]
    keep: Flags
    wrong: Flags
    note: str = ""
    never: bool = False


def error_tables(
    answers: Answers,
    truths: Sequence[Truth],
    options: FitOptions,
    placebos: Mapping[str, Answers] | None = None,
    returned: Collection[str] | None = None,
) -> tuple[DataFrame, DataFrame]:
    """Error rates at every value, and their slopes; the columns of core.tables.ERROR_RATES and ERROR_SLOPES.

    Photos of which the truth is not known are left out.  Labels with equal scores count as the highest together.  A
    label that is given for every picture has rates, and no slope.  One that the classifier never returns has neither,
    and the photos of which it is true count for no other row.

    answers: of one classifier and attribute.
    placebos: kind of placebo to the answers along it, whose photos may be a sample; None for a placebo itself, whose
        slopes have no decision.
    returned: all labels that the classifier returned, along other sweeps as well; the answers' own if None.
    """
    names = {plain(str(label)) for label in (answers.labels if returned is None else returned)}
    rows = [row for truth in truths for row in _judged(answers, truth, names)]
    judged = [bool(row.keep.any()) for row in rows]
    rows = list(compress(rows, judged))
    if not rows:
        return DataFrame(), DataFrame()
    units = answers.codes
    rates = []
    slopes = []
    for row in rows:
        head: Row = dict(zip(("column", "label", "measure"), row.names, strict=True))
        head |= {"classifier": answers.classifier, "attribute": answers.attribute}
        codes = np.unique(units[row.keep], return_inverse=True)[1]
        sizes = doubles(np.bincount(codes))
        head |= {"n": int(row.keep.sum())}
        if not row.never:
            rates += [head | rate for rate in _rates(row, answers.values, codes, sizes)]
        slope = _slope(row, answers.values, codes) | {"units": len(sizes), "note": row.note}
        slopes.append(head | slope | {"trusted": clusters.enough(sizes)})
    errors = _as_answers(answers, rows)
    frame = _tested(DataFrame(slopes), errors, options)
    if placebos is not None:
        fakes = {}
        for kind, fake in placebos.items():
            others = (row for truth in truths for row in _judged(fake, truth, names))
            fakes[kind] = _as_answers(fake, list(compress(others, judged)))
        frame = _decided(frame, errors, fakes, options)
    return DataFrame(rates), frame.drop(columns=["units", "trusted"])


def _rates(row: _Row, values: Array, codes: Integers, sizes: Array) -> Iterator[Row]:
    """The columns of the error rate at each value.  codes: of the units of its photos.  sizes: (U,) of these."""
    wrong = row.wrong[row.keep]
    for step, value in enumerate(values.tolist()):
        low, high = shares.share_interval(doubles(np.bincount(codes, wrong[:, step])), sizes)
        yield {
            "step": step,
            "value": value,
            "wrong": int(wrong[:, step].sum()),
            "rate": float(wrong[:, step].mean()),
            "ci_low": low,
            "ci_high": high,
        }


def _slope(row: _Row, values: Array, codes: Integers) -> Row:
    """The columns of the slope, in points per unit, and of the rate at the middle value."""
    columns = ("slope", "se", "ci_low", "ci_high", "p")
    if row.never:
        return dict.fromkeys((*columns, "centre"), np.nan)
    lines = 100 * ols.line_slopes(row.wrong, values)[row.keep]
    most = kinds.steepest("rate", values)
    mean = clusters.clustered_mean(lines, codes, (-most, most))
    centre = row.wrong[row.keep][:, len(values) // 2].mean()
    return dict(zip(columns, mean, strict=True)) | {"centre": centre}


def _as_answers(answers: Answers, rows: Sequence[_Row]) -> Answers:
    """The errors as answers: the place of each row is a label, which a photo has if it is wrong.

    A photo that a row is not about never has it.
    """
    wrongs = [row.wrong & row.keep[:, None] & (not row.never) for row in rows]
    photos = [np.flatnonzero(wrong.any(1)) for wrong in wrongs]
    present = np.concatenate([wrong[photo] for wrong, photo in zip(wrongs, photos, strict=True)])
    return replace(
        answers,
        labels=np.array([f"{place:09}" for place in range(len(wrongs))], object),
        photo=np.concatenate(photos).astype(np.int32),
        label=np.repeat(np.arange(len(wrongs)), list(map(len, photos))).astype(np.int32),
        present=present,
        score=floats(present),
        measures={},
    )


def _tested(frame: DataFrame, errors: Answers, options: FitOptions) -> DataFrame:
    """With varying, p_perm, p_test and q, and the notes of the slopes that are not tested."""
    rows = kinds.outcomes(errors)
    varies = varying(rows)
    least = options.min_varying
    m = options.permutations
    notes = []
    for number, row in zip(varies.tolist(), frame.to_dict("records"), strict=True):
        units = many(row["units"], "photo" if row["units"] == row["n"] else "unit")
        few = f"its errors change on {number} of {units}; {least} are needed"
        notes.append(row["note"] or few * (number < least))
    note = Series(notes)
    judged = (note == "").to_numpy(bool)
    p = frame["p"].where(judged).to_numpy(float)
    p_perm = permutation.permute(rows, judged, m, options.seed).p if m else np.full(len(p), np.nan)
    p_test, _ = permutation.below_floor(p_perm, p, m, trusted=frame["trusted"].to_numpy(bool))
    return frame.assign(
        ci_low=frame["ci_low"].where(judged),
        ci_high=frame["ci_high"].where(judged),
        varying=varies,
        p=p,
        p_perm=p_perm,
        p_test=p_test,
        q=multiplicity.benjamini_hochberg(p_test),
        note=note.mask(judged & np.isnan(p_test), ALIKE),
    )


def _decided(
    frame: DataFrame, errors: Answers, fakes: Mapping[str, Answers], options: FitOptions
) -> DataFrame:
    """With q_placebo, decision and reason; see ``slopes.measures.decision``."""
    differences = decision.placebo_differences(
        errors, fakes, replace(options, estimators=(READING,))
    )
    parts = {kind: differences.query("placebo == @kind") for kind in fakes}
    steps = decision.placebo_step(frame, parts, options, frame["trusted"].to_numpy(bool))
    frame = frame.assign(q_placebo=steps["q_placebo"])
    decided = [
        decision.rule(
            bool(row["note"]), row["q"], row["q_placebo"], fakes, (row["ci_low"], row["ci_high"])
        )
        for row in frame.to_dict("records")
    ]
    return frame.join(DataFrame(decided, columns=["decision", "reason"]))


def _judged(answers: Answers, truth: Truth, returned: Collection[str]) -> Iterator[_Row]:
    """The rows of one truth, the same ones in the same order along every sweep.

    returned: labels ever returned, plain.
    """
    cells = truth.cells.reindex(answers.photos).fillna("").to_numpy(dtype=object)
    labelled = cells != ""

    def never(what: str) -> str:
        return f"{answers.classifier}{NEVER}{what}"

    if truth.label:
        present = _present(answers, truth.label)
        true = np.array([str(text).strip().casefold() in YES for text in cells], bool)
        wrong = present != true[:, None]
        if plain(truth.label) not in returned:
            note = never(f"“{truth.label}”")
            yield _Row((truth.column, truth.label, ERROR), labelled, wrong, note, True)
            return
        note = EVERYWHERE if present.all() else ""
        yield _Row((truth.column, truth.label, ERROR), labelled, wrong, note)
        yield _Row((truth.column, truth.label, MISS), labelled & true, ~present, note)
        yield _Row((truth.column, truth.label, "false alarm"), labelled & ~true, present, note)
        return
    texts = np.array([plain(text) for text in cells], object)
    wrong = ~_right(answers, texts)
    able = labelled & np.isin(texts.astype(str), list(returned))
    if able.any():
        yield _Row((truth.column, ALL, ERROR), able, wrong)
    else:
        note = never("any of the true labels")
        yield _Row((truth.column, ALL, ERROR), labelled, wrong, note, True)
    # of all photos: a placebo's sample may lack a class, which is spelled alike along every sweep
    spelling = {plain(text): text for text in sorted({*map(str, truth.cells)} - {""}, reverse=True)}
    for name, label in sorted(spelling.items()):
        note = "" if name in returned else never(f"“{label}”")
        yield _Row((truth.column, label, MISS), texts == name, wrong, note, bool(note))


def _present(answers: Answers, label: str) -> Flags:
    """(n, K) whether a label was returned."""
    present = np.zeros((len(answers.photos), len(answers.values)), bool)
    same = np.array([plain(name) == plain(label) for name in answers.labels], bool)
    pairs = same[answers.label]
    np.logical_or.at(present, answers.photo[pairs], answers.present[pairs])
    return present


def _right(answers: Answers, texts: Objects) -> Flags:
    """(n, K) whether the true label has the highest score."""
    best = np.full((len(answers.photos), len(answers.values)), -np.inf)
    score = np.where(answers.present, answers.score, -np.inf)
    np.maximum.at(best, answers.photo, score)
    names = np.array([plain(name) for name in answers.labels], object)
    pairs = names[answers.label] == texts[answers.photo]
    right = np.zeros(best.shape, bool)
    top = answers.present[pairs] & ~rounding.exceeds(best[answers.photo[pairs]], score[pairs])
    np.logical_or.at(right, answers.photo[pairs], top)
    return right
