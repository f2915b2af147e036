"""The configuration of a captions audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from gslopes.audits.captions.material import STAGES, Pair
from gslopes.audits.captions.options import AuditOptions
from gslopes.audits.captions.techniques import TECHNIQUES
from gslopes.core.errors import ConfigError, UnknownName, UsageError
from gslopes.language.senses import Rule


@dataclass(frozen=True, slots=True)
class CaptionsConfig:
    """One audit.

    groups: a CSV; columns: of it, all by default.  pairs: ``column:value,value``; all pairs of values by default.
    groups_from: ``mentions`` takes groups from gender words of the truth captions where there are no annotations.
    truth: a stage, or ``auto`` (stage 1, else 3).  targets: stages, all above the truth by default.
    techniques: all that can run by default.  lists: name of a word list to the user's file.
    senses: ``overrides`` or ``paper``.  parser: ``chunks``, ``tuples:FILE``, ``spacy:FOLDER`` or ``factual:FOLDER``.
    wordnet: empty for the embedded 3.0, or ``wndb:FOLDER``.  images: a folder of photos that the review links to.
    coverage: stage to open, closed or none.  limit: first images only.  workers: processes that parse.
    """

    groups: Path | None = None
    columns: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    groups_from: str = ""
    truth: str = "auto"
    targets: tuple[str, ...] = ()
    techniques: tuple[str, ...] = ()
    lists: dict[str, Path] = field(default_factory=dict)
    senses: Rule = "overrides"
    parser: str = "chunks"
    wordnet: str = ""
    images: Path | None = None
    coverage: dict[str, str] = field(default_factory=dict)
    limit: int | None = None
    review: Path | None = None
    review_sample: int = 200
    show_words: bool = False
    workers: int | None = None
    options: AuditOptions = field(default_factory=AuditOptions)

    def __post_init__(self) -> None:
        for name in self.techniques:
            if name not in TECHNIQUES:
                raise UnknownName("technique", name, TECHNIQUES)
        for stage in (*self.targets, *([] if self.truth == "auto" else [self.truth])):
            if stage not in STAGES:
                raise UnknownName("stage", stage, STAGES)
        if self.groups_from not in ("", "mentions"):
            raise ConfigError(f"groups_from is {self.groups_from!r}.", "It can only be mentions.")
        if self.limit is not None and self.limit < 1:
            raise ConfigError(f"limit is {self.limit}; it must be at least 1.")

    def chosen_pairs(self, known: list[Pair]) -> list[Pair]:
        """The pairs that are compared.  Raises: UsageError if one is unknown."""
        if not self.pairs:
            return known
        found = []
        for text in self.pairs:
            column, _, values = text.partition(":")
            group, _, other = values.partition(",")
            pair, turned = Pair(column, group, other), Pair(column, other, group)
            if pair not in known and turned not in known:
                names = ", ".join(f"{p.column}:{p.group},{p.other}" for p in known) or "none"
                raise UsageError(f"There is no pair {text!r} in the groups.", f"Known: {names}.")
            found.append(pair)
        return found
