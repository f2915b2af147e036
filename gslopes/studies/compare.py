"""Two run folders of the same photos, side by side: a model's next version, a mitigation, another editor."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from gslopes.core import placebo, runfolder, tables
from gslopes.core.errors import UsageError
from gslopes.core.runfolder import show
from gslopes.fit.answers import Answers, gather
from gslopes.fit.compare import COLUMNS, paired_differences
from gslopes.fit.sweeps import values_by_attribute
from gslopes.run.fitting import read_about


def compare_runs(
    one: Path | str,
    other: Path | str,
    pairs: Sequence[tuple[str, str]] = (),
    *,
    min_varying: int = 10,
    correction: str = "bh",
    photos_csv: Path | None = None,
    cluster: str = "",
) -> pd.DataFrame:
    """What changed from the first run to the second, label by label; see ``fit.compare.paired_differences``.

    pairs: classifiers of the first and the second run that are compared; those of the same name if none is given, and
        if each run has one alone, those two.
    photos_csv, cluster: a row a photo, and its column that says which photos are one unit, such as a person.

    Raises: UsageError if there is nothing to compare, or no photo in common; TableError if a table is damaged.
    """
    one, other = Path(one), Path(other)
    if bool(cluster) != (photos_csv is not None):
        raise UsageError("A cluster is a column of a table of photos.", "Give --photos-csv and --cluster together.")
    units = None if photos_csv is None else _units(photos_csv, other, cluster)
    first, second = _answers(one), _answers(other)
    chosen = list(pairs) or _same(first, second)
    frames = []
    for old, new in chosen:
        for attribute in sorted(name for classifier, name in first if classifier == old):
            if (new, attribute) in second:
                frame = paired_differences(
                    *(first[old, attribute], second[new, attribute]),
                    min_varying=min_varying,
                    correction=correction,
                    cluster=units,
                )
                frames.append(frame)
    known = f"{show(one)} has {_names(first)}; {show(other)} has {_names(second)}."
    if not frames:
        raise UsageError(
            f"The runs have no classifier and attribute in common: {known}", "Name two with --pair OLD=NEW."
        )
    found = pd.concat(frames, ignore_index=True)
    if not found["n"].any():
        raise UsageError(
            f"{show(one)} and {show(other)} have no photo in common that was answered at all values.",
            "Compare two runs over the same photos.",
        )
    return found[list(COLUMNS)]


def _units(photos_csv: Path, run: Path, cluster: str) -> dict[str, str]:
    about = read_about(photos_csv, run)
    if cluster not in about:
        raise UsageError(f"{show(photos_csv)} has no column {cluster!r}.", f"It has {', '.join(map(str, about))}.")
    return {str(photo): str(text) for photo, text in about[cluster].items()}


def _answers(run: Path) -> dict[tuple[str, str], Answers]:
    manifest = runfolder.read_manifest(run)
    scores, asked = (tables.read_arrow(table, run / f"{table.name}.parquet") for table in (tables.SCORES, tables.ASKED))
    values = values_by_attribute(scores, asked, manifest.get("values"))
    found = {(own.classifier, own.attribute): own for own in gather(scores, asked, values)}
    return {pair: own for pair, own in found.items() if not placebo.split(pair[1])[1]}


def _same(first: dict[tuple[str, str], Answers], second: dict[tuple[str, str], Answers]) -> list[tuple[str, str]]:
    old, new = ({classifier for classifier, _ in answers} for answers in (first, second))
    if not old & new and len(old) == len(new) == 1:
        return [(old.pop(), new.pop())]
    return [(name, name) for name in sorted(old & new)]


def _names(answers: dict[tuple[str, str], Answers]) -> str:
    return ", ".join(sorted({f"{classifier} along {attribute}" for classifier, attribute in answers})) or "no answers"
