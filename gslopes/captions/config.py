"""The configuration of a captions audit."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gslopes.captions.techniques import STAGES, TECHNIQUES
from gslopes.core.errors import ConfigError, UnknownName, UsageError
from gslopes.core.options import check, names, option, section
from gslopes.words.graph import RELAX, Rule

PerImage = Literal["union", "each", "one"]


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """Options of all techniques.

    age: ``require-adult`` (truth must say an adult word), ``assume-adult``, or a column of the groups, where 18 and
        more, or ``adult``, is an adult.
    """

    captions_per_image: PerImage = option(
        "union", help="The union of an image's captions, each as a share, or the first.", advanced=True
    )
    bootstrap: int = option(2000, help="Bootstrap resamples.", metavar="B", advanced=True)
    permutations: int = option(10_000, help="Permutations.", metavar="M", advanced=True)
    correction: Literal["bh", "by", "holm"] = option("bh", help="Correction for q.", advanced=True)
    min_active: int = option(10, help="Concepts in fewer images are not tested.", advanced=True)
    association: Literal["cov", "phi", "diff"] = option("cov", help="S1's association.", advanced=True)
    associate_in: Literal["target", "truth", "human-captions"] = option(
        "target", help="S1: captions in which associations are counted.", advanced=True
    )
    threshold: float = option(0.005, help="S1: associations above it are kept.", metavar="A", advanced=True)
    prepositions: Literal["exempt", "listed"] = option(
        "exempt", help="S1: whether a preposition other than 'in' must be listed to count as visible.", advanced=True
    )
    as_published: bool = option(
        False, help="S2 by the paper's ridge over splits, whose estimate is biased; no p.", advanced=True
    )
    types: int = option(100, help="Object types of S2; the paper has 500.", advanced=True)
    splits: int = option(1000, help="As published: splits of S2.", advanced=True)
    min_people_area: float = option(0.1, help="D2: share of the image.", metavar="SHARE", advanced=True)
    age: str = option(
        "require-adult", help="D3: require-adult, assume-adult or a column.", metavar="RULE", advanced=True
    )
    nouns: tuple[str, ...] = option(
        ("female",), help="Words that D4 looks for as nouns.", metavar="WORD,…", parse=names, advanced=True
    )
    seed: int = option(0, help="Seed of all random draws.", metavar="S", advanced=True)


@dataclass(frozen=True, slots=True)
class CaptionsConfig:
    """One audit.

    truth: ``auto`` is stage 1, else 3.  cluster: a column of the groups, which is never compared.
    relax: parts of speech, of n, v, a and r, that are tried in this order where a word has no synset in its role's own.
    coverage: stage to open, closed or none.
    """

    groups: Path | None = option(
        None, help="Groups of the people depicted: image and one column for each.", metavar="CSV"
    )
    columns: tuple[str, ...] = option(
        (), help="Column of the groups; may be repeated; a + b crosses two.", name="column", shown="all", advanced=True
    )
    pairs: tuple[str, ...] = option(
        (), help="Compare only these.", name="pair", metavar="COLUMN:A,B", shown="all pairs", advanced=True
    )
    groups_from: str = option(
        "", help="Take groups from the gender words of the truth captions.", metavar="mentions", advanced=True
    )
    truth: str = option(
        "auto", help="The stage taken as truth.", metavar="STAGE", shown="human-labels, else human-captions"
    )
    targets: tuple[str, ...] = option(
        (), help="The stage to audit.", name="target", metavar="STAGE", shown="all above truth"
    )
    techniques: tuple[str, ...] = option(
        (), help="A technique, such as S1; may be repeated.", name="technique", short="t", shown="all"
    )
    lists: dict[str, Path] = option(dict, help="A word list of your own.", name="list", metavar="NAME=FILE")
    cluster: str = option(
        "",
        help="Column of the groups: images with the same value are resampled together.",
        metavar="COLUMN",
        advanced=True,
    )
    senses: Rule = option("overrides", help="Sense rule.", advanced=True)
    relax: str = option(
        RELAX,
        help="Parts of speech to try where a word has none of its own, in this order.",
        metavar="nvar",
        advanced=True,
    )
    parser: str = option("chunks", help="chunks, spacy:DIR or tuples:FILE.")
    images: Path | None = option(None, help="Photos that the review links to, blurred.", metavar="DIR", advanced=True)
    coverage: dict[str, str] = option(
        dict, help="Whether a stage's labels are open, closed or none.", metavar="STAGE=WORD", advanced=True
    )
    limit: int | None = option(None, help="Only the first N images.", least=1)
    review: Path | None = option(None, help="Answers saved by the review.", metavar="CSV", shown="RUN/review.csv")
    review_sample: int = option(200, help="Cases of each technique in the review.", advanced=True)
    show_words: bool = option(False, help="Show listed words instead of masking them.", advanced=True)
    workers: int | None = option(None, help="Processes that parse.", shown="1", advanced=True)
    options: AuditOptions = section(AuditOptions, group="measures")

    @property
    def files(self) -> list[Path]:
        """The files that it names."""
        values = [getattr(self, field.name) for field in dataclasses.fields(self)]
        named = [*values, *self.lists.values()]
        return [value for value in named if isinstance(value, Path)]

    def __post_init__(self) -> None:
        check(self)
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
