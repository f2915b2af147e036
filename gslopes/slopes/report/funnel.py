"""What became of the photos on their way into a slope: one count a step, the same in terminal, page and JSON."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc

from gslopes.core import placebo, runfolder, tables
from gslopes.report import words
from gslopes.slopes.report import tally

# Step to what it counts, in the order of an audit.
STEPS = {
    "found": "photos found in the folder",
    "edited": "with a usable face, edited",
    "kept": "kept: the edit did what it should",
    "asked": "shown to the classifier",
    "answered": "answered at every value",
    "judged": "in the slopes",
}


@dataclass(frozen=True, slots=True)
class Funnel:
    """Photos of one classifier and attribute.

    counts: step of ``STEPS`` to number of photos; a step that the run does not have (no gate, no answers) is left out.
    """

    classifier: str
    attribute: str
    counts: dict[str, int]

    def text(self) -> str:
        """In one line.

        >>> Funnel("c", "gender", {"found": 40, "edited": 38, "answered": 36}).text()
        '40 found → 38 edited → 36 answered'
        """
        return " → ".join(f"{number:,} {step}" for step, number in self.counts.items())


def funnels(run: Path) -> list[Funnel]:
    """A funnel for each classifier and attribute of a run folder, placebo sweeps aside.

    Raises: TableError if a table is damaged.
    """
    photos = tally.read(tables.PHOTOS, run, ["photo", "status"])
    edits = tally.read(tables.EDITS, run, ["photo", "attribute", "step"], pc.field("step") == 0)
    verdicts = tally.read(tables.VERDICTS, run, ["photo", "attribute", "kept"])
    asked = tally.read(tables.ASKED, run, ["photo", "attribute", "classifier", "step", "status"])
    slopes = tally.read(tables.SLOPES, run, ["classifier", "attribute", "n"])
    groups = slopes.groupby(["classifier", "attribute"])
    judged = {(str(classifier), str(attribute)): int(rows["n"].max()) for (classifier, attribute), rows in groups}
    gate = runfolder.read_manifest(run).get("gate")
    gated = isinstance(gate, dict) and bool(gate.get("applied"))
    edited = edits.groupby("attribute")["photo"].nunique().to_dict()
    kept = verdicts[verdicts["kept"].astype(bool)].groupby("attribute")["photo"].nunique().to_dict() if gated else {}
    pairs: list[tuple[str, str]] = sorted({*judged, *zip(asked["classifier"], asked["attribute"], strict=True)})
    found = []
    for classifier, attribute in pairs:
        if placebo.is_placebo(str(attribute)):
            continue
        rows = asked[(asked["classifier"] == classifier) & (asked["attribute"] == attribute)]
        answered = rows[rows["status"] == "answered"].groupby("photo")["step"].nunique()
        steps = rows["step"].nunique()
        counts: dict[str, int | None] = {
            "found": len(photos) or None,
            "edited": edited.get(attribute),
            "kept": kept.get(attribute),
            "asked": rows["photo"].nunique() or None,
            "answered": int((answered == steps).sum()) if len(rows) else None,
            "judged": judged.get((classifier, attribute)),
        }
        known = {step: int(number) for step, number in counts.items() if number is not None}
        found.append(Funnel(words.printable(classifier), str(attribute), known))
    return found
