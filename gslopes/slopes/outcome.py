"""What the result of a walk tells more than other audits': its photos, its funnel, and each stage taken alone."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pandas import DataFrame

from gslopes.core import JsonObject, Reason, UsageError, dropped, many, runfolder, show, tables
from gslopes.core.reasons import listed
from gslopes.core.tables import Tables
from gslopes.frame.ask import counted
from gslopes.frame.result import Result
from gslopes.frame.spec import Headline
from gslopes.report.inline import plain
from gslopes.report.terminal import wrap
from gslopes.slopes.page.decisions import findings_table
from gslopes.slopes.page.lead import print_evidence, summary
from gslopes.slopes.page.loading import (
    cautions,
    drawings,
    funnels,
    outcomes_of,
    placebos,
    unanswered,
    with_facts,
)

Counts = dict[str, int]


@dataclass(frozen=True, eq=False)
class Walked(Result):
    """What an audit found; ``tables["slopes"]`` as in core.tables.SLOPES.

    ``findings`` has one row a label and attribute: columns ``slopes.page.decisions.FINDINGS``. If the truth is
    known, see ``slopes.measures.truth``, the slopes of error rates come last.
    """

    @property
    def photos(self) -> int:
        """How many were looked at; ``used``: how many have counterfactuals."""
        return self.found

    @cached_property
    def skipped(self) -> Counts:
        """Reason to number of photos."""
        photos = tables.read_rows(tables.PHOTOS, self.folder, ["status", "reason", "detail"])
        lost = photos.query("status != 'used'")
        return dict(listed(lost["reason"], lost["detail"]).most_common())

    @property
    def errors(self) -> int:
        """How many photos could not be read."""
        return sum(
            count for why, count in self.skipped.items() if why.startswith(Reason.UNREADABLE)
        )

    @cached_property
    def dropped(self) -> Counts:
        """Reason to number of sweeps that the gate kept from the classifiers; a photo has one for each attribute."""
        return dropped(runfolder.verdicts(self.folder)["reason"])

    @property
    def facts(self) -> JsonObject:
        """Everything as JSON has it: run, page, photos, funnel and slopes."""
        from gslopes.frame.commands import rows

        photos = {
            "found": self.photos,
            "used": self.used,
            "skipped": self.skipped,
            "errors": self.errors,
        }
        photos |= {"dropped": self.dropped} if self.dropped else {}
        content = {
            "run": str(self.folder),
            "page": str(self.page) if self.page else None,
            "photos": photos,
        }
        if "slopes" not in self.tables:
            return {**content, "funnel": [], "slopes": None}
        return {
            **content,
            "funnel": [
                {"classifier": classifier, "attribute": attribute, "counts": counts}
                for (classifier, attribute), counts in funnels(self.folder).items()
            ],
            "findings": rows(self.findings),
            "slopes": rows(self.tables["slopes"]),
            "soundness": rows(tables.read_rows(tables.SOUNDNESS, self.folder)),
        }

    @property
    def places(self) -> list[str]:
        """What became of the photos and the answers, and the place of every file, a line each."""
        outcomes = outcomes_of(self.folder, ["classifier"])
        facts = {"result": self, "outcomes": outcomes, "show": show}
        told = plain("places.txt.j2", Path(__file__).parent / "templates", **facts)
        return [*told.split("\n"), *super().places]


def counts(found: Tables) -> tuple[int, int, int]:
    """Photos; of them those that were edited; those that could not be read, and pictures about which asking failed."""
    return counted(found["photos"], tables.read_rows(tables.ASKED, found.folder, ["status"]))


def judged(found: Tables) -> DataFrame:
    """The slope to read of every label, decided.  Raises: UsageError before the fit."""
    if "slopes" not in found:
        raise UsageError(
            f"{show(found.folder)} is not fitted yet.",
            f"Fit it: gslopes audit {show(found.folder)} --only fit.",
        )
    slopes = with_facts(found["slopes"], found.folder)
    return findings_table(slopes, found.get(tables.ERROR_SLOPES.name))


def headline(found: Tables) -> Headline:
    """The finding in a sentence; empty before the fit."""
    slopes = found.folder / "slopes.parquet"
    return Headline(
        summary(found.folder, tables.read(tables.SLOPES, slopes)) if slopes.is_file() else ""
    )


def terminal(found: Tables) -> str:
    """The evidence; before the fit, how many photos were edited."""
    from gslopes.slopes.page.observed import soundness

    if "slopes" not in found:
        photos, used, _ = counts(found)
        return f"{used:,} edited of {many(photos, 'photo')}"
    run = found.folder
    slopes = with_facts(found["slopes"], run)
    told = [*cautions(run), *soundness(run)["sentences"]]
    said = [*unanswered(run), *map(wrap, told)]
    drawn = drawings(run)
    fakes = placebos(run, slopes)
    return print_evidence(
        slopes, funnels=funnels(run), unanswered=said, drawn=drawn, placebos=fakes
    )


def _gated(result: Result) -> tuple[str, JsonObject]:
    from gslopes.slopes.validation import format_summary, summaries_of

    summaries = summaries_of(result.folder)
    text = "\n\n".join(map(format_summary, summaries)) or "There are no sweeps."
    return text, {"attributes": [summary.facts() for summary in summaries]}


def _answered(result: Result) -> tuple[str, JsonObject]:
    counts = {
        name: {status: n for status, (n, _) in statuses.items()}
        for (name,), statuses in outcomes_of(result.folder, ["classifier"]).items()
    }
    texts = [
        f"{name}: {', '.join(f'{count:,} {status}' for status, count in statuses.items())}"
        for name, statuses in counts.items()
    ]
    return "\n".join(texts), {"answers": counts}


ALONE = {
    "synthesise": lambda result: ("", {}),
    "gate": _gated,
    "score": _answered,
    "unedited": lambda result: ("", {}),
    "judge": lambda result: ("", {}),
    "fit": lambda result: (str(result), {}),
    "report": lambda result: (show(result.page) if result.page else "", {}),
}
