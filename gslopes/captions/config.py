"""The configuration of a captions audit."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from gslopes.captions.techniques import STAGES, TECHNIQUES
from gslopes.core.errors import UnknownName, UsageError
from gslopes.core.options import check, option, section
from gslopes.words.graph import Rule


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """What techniques take.

    min_active: concepts in fewer images are not tested.  splits, seed: of S2 as published; the paper has 1,000 splits.
    """

    types: int = option(100, help="Object types of S2; the paper has 500.", advanced=True)
    as_published: bool = option(
        False, help="S2 by the paper's ridge over splits, whose estimate is biased; no p.", advanced=True
    )
    min_active: int = 10
    splits: int = 1000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class CaptionsConfig:
    """One audit.

    truth: ``auto`` is stage 1, else 3; what lies above it is audited.  cluster: a column of the groups, never compared.
    """

    groups: Path | None = option(
        None, help="Groups of the people depicted: image and one column for each.", metavar="CSV"
    )
    columns: tuple[str, ...] = option(
        (), help="Column of the groups; may be repeated; a + b crosses two.", name="column", shown="all", advanced=True
    )
    cluster: str = option(
        "", help="Column of the groups: images with the same value are one unit.", metavar="COLUMN", advanced=True
    )
    truth: str = option(
        "auto", help="The stage taken as truth.", metavar="STAGE", shown="human-labels, else human-captions"
    )
    techniques: tuple[str, ...] = option(
        (), help="A technique, such as S1; may be repeated.", name="technique", short="t", shown="all"
    )
    lists: dict[str, Path] = option(dict, help="A word list of your own.", name="list", metavar="NAME=FILE")
    senses: Rule = option("overrides", help="Sense rule.", advanced=True)
    parser: str = option("chunks", help="chunks, spacy:DIR or tuples:FILE.")
    limit: int | None = option(None, help="Only the first N images.", least=1)
    images: Path | None = option(None, help="Photos that the review links to, blurred.", metavar="DIR", advanced=True)
    review: Path | None = option(None, help="Answers saved by the review.", metavar="CSV", shown="RUN/review.csv")
    options: AuditOptions = section(AuditOptions, group="measures")

    @property
    def files(self) -> list[Path]:
        """The files that it names."""
        values = [getattr(self, field.name) for field in dataclasses.fields(self)]
        return [value for value in (*values, *self.lists.values()) if isinstance(value, Path)]

    def __post_init__(self) -> None:
        check(self)
        for name in self.techniques:
            if name not in TECHNIQUES:
                raise UnknownName("technique", name, TECHNIQUES)
        if self.truth not in ("auto", *STAGES):
            raise UnknownName("stage", self.truth, STAGES)
        if self.cluster and self.groups is None:
            raise UsageError(f"There are no groups that hold the column {self.cluster}.", "Give --groups CSV.")
