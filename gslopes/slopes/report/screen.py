"""The first screen: for each classifier and attribute the finding, one face, the labels; and what it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from gslopes.report import numbers, units, words
from gslopes.report.quote import LIMITS, SOURCE, About
from gslopes.slopes.fit.answers import Answers
from gslopes.slopes.report import answers as matrix
from gslopes.slopes.report import decisions
from gslopes.slopes.report.decisions import Decision, Headline, headline
from gslopes.slopes.report.loading import STEPS, Finding, Funnel
from gslopes.slopes.report.page_data import Album

MOST_LABELS = 40


@dataclass(frozen=True, slots=True)
class Strip:
    """One photo's sweep with the scores of one label.

    photo: its id.  files: K pictures, or one with K squares.  cells: (value, score) as texts.
    credit: of a collected photo.
    """

    photo: str
    name: str
    label: str
    files: tuple[str, ...]
    cells: tuple[tuple[str, str], ...]
    credit: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Screen:
    """What the page says first about one classifier and attribute.

    labels: how many there are.  decided: (decision in words, labels with it), those that occur.
    forest, unit: rows for the page's scripts and their unit, see ``forest``.  steps: of the funnel, (what, how many).
    placebo: whether there were placebo sweeps.  open: whether a label moves, and what would settle it is missing.
    drawn: whether faces are drawn.  apart: see ``decisions.apart``.
    """

    key: str
    classifier: str
    attribute: str
    perceived: str
    ends: tuple[str, str]
    headline: Headline
    labels: int
    decided: tuple[tuple[str, int], ...]
    forest: Sequence[Sequence[Any]]
    unit: str
    strip: Strip | None
    steps: tuple[tuple[str, int], ...]
    placebo: bool
    open: bool
    drawn: bool = False
    apart: Sequence[str] = ()


def screen(
    finding: Finding,
    decided: Mapping[str, Decision],
    answers: Answers,
    album: Album,
    funnel: Funnel | None,
    known: Mapping[str, Mapping[str, str]],
) -> Screen:
    """The first screen of one finding.

    decided: label to decision.  answers: its own.  known: photo to credit.
    """
    rows = finding.read
    head = headline(rows, decided, finding.attribute, finding.drawn)
    drawn, unit = forest(finding, decided)
    return Screen(
        key=finding.key,
        classifier=words.printable(finding.classifier),
        attribute=finding.attribute,
        perceived=words.perceived(finding.attribute),
        ends=words.ends(finding.attribute),
        headline=head,
        labels=len(decided),
        decided=tuple((decisions.SHOWN[code], many) for code, many in decisions.counts(decided).items() if many),
        forest=drawn,
        unit=unit,
        strip=strip(finding, head.strongest, answers, album, known),
        steps=() if funnel is None else tuple((STEPS[step], number) for step, number in funnel.counts.items()),
        placebo=len(finding.placebo) > 0,
        open=any(one.code == decisions.OPEN for one in decided.values()),
        drawn=bool(finding.drawn),
        apart=decisions.apart(rows, decided, finding.placebo),
    )


def forest(finding: Finding, decided: Mapping[str, Decision]) -> tuple[list[list[Any]], str]:
    """(rows, their unit), at most ``MOST_LABELS``.

    Of each: place of the label, label, slope, interval, decision, why, ends of the placebos, whether it is expected.

    Labels that move first, then those like a placebo, then the steepest others, and expected ones below them; those
    without a slope are left out, and so are those whose unit is not the first's: one axis has one unit.
    """
    rows = finding.read
    rows = rows[rows["slope"].notna() & rows["ci_low"].notna()]
    codes = [decided[str(label)] for label in rows["label"]]
    rank = [0 if code.moves else 1 + decisions.CODES.index(code.code) for code in codes]
    rows = rows.assign(_rank=rank, _flat=-rows["slope"].abs(), _code=[code.code for code in codes])
    rows = rows.assign(_named=[code.expected for code in codes])
    rows = rows[rows["_code"] != decisions.UNJUDGED].sort_values(["_named", "_rank", "_flat", "label"])
    names = [units.unit_of(row) for row in rows.to_dict("records")]
    unit = names[0] if names else units.UNITS["presence"]
    rows = rows[[name == unit for name in names]][:MOST_LABELS]
    index = {label: row for row, label in enumerate(sorted(set(finding.rows["label"])))}
    ends = finding.placebo.groupby("label").agg({"low": "min", "high": "max"}).reindex(list(index))
    drawn = [
        [
            index[row["label"]],
            words.label(row["label"]),
            *numbers.rounded([row["slope"], row["ci_low"], row["ci_high"]], 8),
            decided[str(row["label"])].code,
            decided[str(row["label"])].why,
            *numbers.rounded(ends.loc[row["label"]], 8),
            decided[str(row["label"])].expected,
        ]
        for _, row in rows.iterrows()
    ]
    return drawn, unit


def strip(
    finding: Finding, label: str, answers: Answers, album: Album, known: Mapping[str, Mapping[str, str]]
) -> Strip | None:
    """One photo with the scores of a label; None without a label or a picture."""
    row = matrix.typical(answers, label) if label else None
    if row is None:
        return None
    photo = answers.photos[answers.photo[row]]
    files = album.files.get((photo, finding.attribute), [])
    if not files:
        return None
    values = [numbers.value(value, sign=True) for value in finding.values]
    scores = numbers.apart(matrix.scores(answers)[row].tolist())
    cells = tuple(zip(values, scores, strict=True))
    return Strip(photo, album.names[album.index[photo]], words.label(label), tuple(files), cells, known.get(photo))


# -- what others may quote ---------------------------------------------------------------------------------------------


def about(manifest: Mapping[str, Any], attributes: Sequence[str]) -> About:
    """What the walk says of itself where it is quoted.  manifest: the content of run.json.  attributes: of the run."""
    models, config = (manifest.get(name) for name in ("models", "config"))
    edit = config.get("edit") if isinstance(config, Mapping) else None
    own = str(edit.get("model") or "") if isinstance(edit, Mapping) else ""
    editors = []
    for name, facts in models.items() if isinstance(models, Mapping) else ():
        if str(name).startswith(tuple(f"{attribute}-" for attribute in attributes)) or (
            own and PurePath(own).name == PurePath(name).name
        ):
            digest = str(facts.get("sha256", ""))[:8] if isinstance(facts, Mapping) else ""
            editors.append(words.printable(f"{name} {digest}".strip()))
    who = f"by {', '.join(editors)}" if editors else "by an editor that run.json does not name"
    looks = " and ".join(f"from {' to '.join(words.ends(attribute))}-looking" for attribute in attributes)
    title = f"Answers and {' and '.join(map(words.perceived, attributes))} of the face"
    return About(title, ("photo", "photos"), f"faces edited {looks} {who}", LIMITS, SOURCE)
