"""The configuration of a captions audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from gslopes.captions.techniques import STAGES, TECHNIQUES
from gslopes.core.config import from_dict, read_toml
from gslopes.core.errors import ConfigError, UnknownName, UsageError
from gslopes.language.senses import RELAX, Rule

PerImage = Literal["union", "each", "one"]


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """Options of the techniques: every choice that the paper leaves open.

    captions_per_image: the union of an image's captions, each of them as a share, or the first one.
    bootstrap, permutations: resamples and rearrangements.  min_active: concepts in fewer images are not tested.
    association, associate_in, threshold: of S1's heuristic.  lch: least similarity at which objects are the same.
    min_truth_depth: how far below the root a concept of truth must lie to make a concept of the target too specific.
    prepositions: whether others than *in* must be listed to be imageable.
    types, splits, ridge, valid_share, match, exact: of S2.  split_interval: percentiles of the coefficients over
    splits, or their mean ± 1.96 standard deviations.  absent_location: of a type that is not in the image.
    min_people_area: of D2, a share of the image.  mentioned_as: whether a mention of anybody counts, or of the group.
    age: ``require-adult`` (truth must say an adult word), ``assume-adult``, or a column of the groups, where 18 and
    more, or ``adult``, is an adult.
    bound_senses: which senses D1's bounds run over.  nouns: D4's words.  seed: of everything drawn by lot.
    """

    captions_per_image: PerImage = "union"
    bootstrap: int = 2000
    permutations: int = 10_000
    correction: Literal["bh", "by", "holm"] = "bh"
    min_active: int = 10
    association: Literal["cov", "phi", "diff"] = "cov"
    associate_in: Literal["target", "truth", "human-captions"] = "target"
    threshold: float = 0.005
    lch: float = 2.25
    min_truth_depth: int = 0
    prepositions: Literal["exempt", "listed"] = "exempt"
    types: int = 100
    splits: int = 1000
    ridge: float = 1.0
    valid_share: float = 0.9
    match: Literal["exact", "kind"] = "exact"
    exact: bool = False
    split_interval: Literal["percentile", "normal"] = "percentile"
    absent_location: float = 1.0
    salience_bootstrap: int = 1000
    min_people_area: float = 0.1
    mentioned_as: Literal["any", "group"] = "any"
    age: str = "require-adult"
    bound_senses: Literal["role", "all"] = "role"
    nouns: tuple[str, ...] = ("female",)
    seed: int = 0


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
