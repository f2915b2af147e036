"""The configuration of a captions audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from gslopes.captions.material import STAGES, Pair
from gslopes.captions.options import AuditOptions
from gslopes.captions.techniques import TECHNIQUES
from gslopes.core.config import from_dict, read_toml
from gslopes.core.errors import ConfigError, UnknownName, UsageError
from gslopes.language.senses import RELAX, Rule


@dataclass(frozen=True, slots=True)
class CaptionsConfig:
    """One audit.

    groups: a CSV; columns: of it, all by default.  pairs: ``column:value,value``; all pairs of values by default.
    groups_from: ``mentions`` takes groups from gender words of the truth captions where there are no annotations.
    truth: a stage, or ``auto`` (stage 1, else 3).  targets: stages, all above the truth by default.
    techniques: all that can run by default.  lists: name of a word list to the user's file.
    senses: ``overrides`` or ``paper``.  parser: ``chunks``, ``tuples:FILE``, ``spacy:FOLDER`` or ``factual:FOLDER``.
    wordnet: empty for the embedded 3.0, or ``wndb:FOLDER``.  images: a folder of photos that the review links to.
    cluster: a column of the groups, such as the photographer, whose images are resampled together; never compared.
    relax: parts of speech, of n, v, a and r, that are tried in this order where a word has no synset in its role's own.
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
    cluster: str = ""
    senses: Rule = "overrides"
    relax: str = RELAX
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
        if not self.relax or set(self.relax) - set(RELAX) or len(set(self.relax)) < len(self.relax):
            raise ConfigError(f"relax is {self.relax!r}.", "Write some of n, v, a and r in an order, such as nvar.")
        if self.cluster and self.groups is None:
            raise UsageError(f"There are no groups that hold the column {self.cluster}.", "Give --groups CSV.")
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


def config_of(given: Mapping[str, Any], file: Path | None = None) -> CaptionsConfig:
    """A configuration of flat options, those of ``AuditOptions`` among them, over those of a TOML file.

    Raises: ConfigError, UnknownName, UsageError; DataMissing if the file cannot be read.
    """
    flat = dict(given)
    if "lists" in flat:
        flat["lists"] = {name: str(path) for name, path in dict(flat["lists"]).items()}
    inner = {one.name for one in fields(AuditOptions)}
    content = read_toml(file) if file else {}
    options = content.pop("options", {}) | {name: flat.pop(name) for name in list(flat) if name in inner}
    return from_dict(CaptionsConfig, {**content, **flat, **({"options": options} if options else {})})
