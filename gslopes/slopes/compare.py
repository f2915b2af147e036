"""Two run folders of the same photos, side by side: a model's next version, a mitigation, another editor."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from gslopes.core import UsageError, placebo, runfolder, show, summary, tables
from gslopes.photos.people import read_about
from gslopes.slopes import presence
from gslopes.slopes.config import FitConfig
from gslopes.slopes.measures import crossed, differences
from gslopes.slopes.measures.answers import Answers, present
from gslopes.slopes.method import PRESENCE
from gslopes.slopes.page import answers as matrix

Sweep = tuple[str, str]  # classifier and attribute


def compare_runs(
    one: Path | str,
    other: Path | str,
    pairs: Sequence[Sweep | str] = (),
    *,
    photos_csv: Path | None = None,
    cluster: str = "",
) -> pd.DataFrame:
    """What changed from the first run to the second, label by label; see ``differences.paired_differences``.

    pairs: classifiers of the first and the second run that are compared, or ``OLD=NEW``; by default those with the same
        name, and if each run has only one, those two.
    photos_csv, cluster: a row a photo, and its column that names the unit of each photo, such as a person.

    Raises: UsageError if there is nothing to compare, or no photo in common; TableError if a table is damaged.
    """
    one = Path(one)
    other = Path(other)
    if bool(cluster) != (photos_csv is not None):
        raise UsageError(
            "A cluster is a column of a table of photos.",
            "Give --photos-csv and --cluster together.",
        )
    units = None
    if photos_csv is not None:
        about = read_about(photos_csv, other, [cluster])[cluster]
        units = {str(photo): str(text) for photo, text in about.items()}
    first = _answers(one)
    second = _answers(other)
    chosen = [split_pair(pair, first, second) if isinstance(pair, str) else pair for pair in pairs]
    chosen = chosen or _same(first, second)
    frames = []
    for old, new in chosen:
        for attribute in sorted(name for classifier, name in first if classifier == old):
            if (new, attribute) in second:
                sides = first[old, attribute], second[new, attribute]
                frames.append(differences.paired_differences(*sides, cluster=units))
    named = f"{show(one)} has {_names(first)}; {show(other)} has {_names(second)}."
    if not frames:
        raise UsageError(
            f"The runs have no classifier and attribute in common: {named}",
            "Name two with --pair OLD=NEW.",
        )
    changes = pd.concat(frames, ignore_index=True)
    if not changes["n"].any():
        raise UsageError(
            f"{show(one)} and {show(other)} have no photo in common that was answered at all values.",
            "Compare two runs over the same photos.",
        )
    return changes


def split_pair(text: str, first: Iterable[Sweep], second: Iterable[Sweep]) -> Sweep:
    """``OLD=NEW`` as two classifiers; either may hold equals signs among its parameters.

    first, second: (classifier, attribute) pairs of the two runs.

    Raises: UsageError if no equals sign has a classifier of the first run before it and one of the second after it.

    >>> split_pair("a=b:threshold=0.7", [("a", "gender")], [("b:threshold=0.7", "gender")])
    ('a', 'b:threshold=0.7')
    """
    old, new = ({classifier for classifier, _ in run} for run in (first, second))
    for index in (index for index, char in enumerate(text) if char == "="):
        if text[:index] in old and text[index + 1 :] in new:
            return text[:index], text[index + 1 :]
    raise UsageError(
        f"{text!r} is not OLD=NEW with a classifier of each run.",
        f"The first run has {', '.join(sorted(old)) or 'none'}; the second {', '.join(sorted(new)) or 'none'}.",
    )


def write_page(
    one: Path | str, other: Path | str, changes: pd.DataFrame, out: Path | None = None
) -> Path:
    """The page of a comparison, see ``slopes.page.changes.write_changes``; its path.

    changes: of ``compare_runs``.  out: its folder, made if missing; ``compare`` in the second run by default.

    Raises: StorageError.
    """
    from gslopes.slopes.page.changes import findings_table, headline, write_changes

    one = Path(one)
    other = Path(other)
    if out is None:
        runfolder.check_links(other)
    folder = out or other / "compare"
    both = int(changes["n"].max())
    page = write_changes(folder, changes, (one.name, other.name), edits_differ(one, other))
    rows = findings_table(changes)
    sentence = headline(changes)
    summary.write(folder, "compare", rows, (both, both), headline=sentence, page=page, began=other)
    return page


def edits_differ(one: Path, other: Path) -> str:
    """A sentence if the two runs' pictures were made in different ways; else empty."""
    first, second = (runfolder.read_manifest(run)["identity"] for run in (one, other))
    lines = []
    for part in ("edit", "compose"):
        lines += runfolder.differences(first.get(part), second.get(part), part)
    text = f"The pictures of the first run (there) and of the second (here) were made differently: {'; '.join(lines)}."
    if lines:
        return f"{text} Slopes differ by that as well."
    return ""


def _answers(run: Path) -> dict[Sweep, Answers]:
    manifest = runfolder.read_manifest(run)
    scores, asked = (
        tables.read_arrow(table, run / f"{table.name}.parquet")
        for table in (tables.SCORES, tables.ASKED)
    )
    names = asked.column("classifier").unique().to_pylist()
    cuts = presence.cuts(names, FitConfig().presence)  # which labels would count if it were fitted
    if (run / PRESENCE).is_file():
        cuts = {name: matrix.cut_of(run, name) for name in names}
    sweeps = crossed.along(present(scores, cuts), asked, manifest["values"]).sweeps()
    answers = (one for one in sweeps if not placebo.is_placebo(one.attribute))
    return {(one.classifier, one.attribute): one for one in answers}


def _same(first: dict[Sweep, Answers], second: dict[Sweep, Answers]) -> list[Sweep]:
    old, new = ({classifier for classifier, _ in answers} for answers in (first, second))
    if not old & new and len(old) == len(new) == 1:
        return [(old.pop(), new.pop())]
    return [(name, name) for name in sorted(old & new)]


def _names(answers: dict[Sweep, Answers]) -> str:
    return (
        ", ".join(sorted({f"{classifier} along {attribute}" for classifier, attribute in answers}))
        or "no answers"
    )
