"""From the answers of a run to all of its tables; no classifier is asked again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gslopes.contexts.catalogue import read_contexts
from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.accuracy import accuracy_table
from gslopes.contexts.measures.congruence import changes_table, congruence_table, consistent
from gslopes.contexts.measures.describe import ALONE, GROSS, Key, answered_tags, describe_all
from gslopes.contexts.measures.distances import compare_groups, distances_table
from gslopes.contexts.measures.grid import make_grid
from gslopes.contexts.measures.inferred import inferred_table
from gslopes.contexts.measures.interaction import interaction_table, palettes_table
from gslopes.contexts.measures.recognised import recognised_table
from gslopes.contexts.ratings import read_ratings, summarise_ratings
from gslopes.contexts.tables import TABLES
from gslopes.contexts.typology import Typology, normalise, read_typology
from gslopes.core import runfolder, tables
from gslopes.core.reasons import counted
from gslopes.core.runfolder import show
from gslopes.core.text import many
from gslopes.stats.multiplicity import benjamini_hochberg

TESTED = ("inferred", "recognised", "accuracy", "anova", "changes", "congruence", "interaction", "palettes")
_FAMILY_P = {"congruence": "p_perm", "recognised": "p_perm"}
KNOWN = 0.05  # share of a classifier's tags under which the typology is not for it
_WITH_RUN = ("inferred", "recognised")


@dataclass(frozen=True, slots=True)
class AnalysisResult:
    """tables: by name, those that the page needs too.  notes: sentences for people."""

    tables: dict[str, pd.DataFrame]
    notes: list[str]


def analyse_run(run: Path, options: ContextOptions, content: Mapping[str, Any]) -> AnalysisResult:
    """Every table that the answers allow, written into the run folder.

    content: of run.json.

    Raises: UsageError, ConfigError, TableError, StorageError.
    """
    scores = tables.read(tables.SCORES, run / "scores.parquet")
    asked = tables.read(tables.ASKED, run / "asked.parquet")
    people, composites, backgrounds, cutouts = (
        tables.read(table, run / f"{table.name}.parquet")
        for table in (TABLES["people"], TABLES["composites"], TABLES["backgrounds"], TABLES["cutouts"])
    )
    notes: list[str] = []
    made: dict[str, pd.DataFrame] = {}
    if options.ratings is not None:
        made["ratings"], backgrounds = with_ratings(options, backgrounds, notes)
        runfolder.write_table(TABLES["backgrounds"], backgrounds, run / "backgrounds.parquet")
    used = backgrounds[backgrounds["status"] == "used"]
    parts: dict[str, list[pd.DataFrame]] = {}
    tagged = {}
    for name, questions in asked.groupby("classifier", sort=True):
        scored = scores[scores["classifier"] == name]
        typology = typology_of(str(name), options, content, used)
        answers = answered_tags(scored, questions, options)
        tagged[str(name)] = frozenset(key for key, tags in typology.contexts.items() if tags)
        notes += _notes_of_classifier(str(name), answers, typology, questions)
        described = describe_all(str(name), answers, used, typology, options)
        for table, frame in (
            ("described", described),
            ("interaction", _interactions(described, answers, people, content, options)),
            ("palettes", _palettes(described, answers, people, used, options)),
            *_about_tags(str(name), scored, answers, typology),
        ):
            parts.setdefault(table, []).append(frame)
    made |= {name: pd.concat(frames, ignore_index=True) for name, frames in parts.items()}
    more = {name: made.pop(name) for name in ("interaction", "palettes")}
    made |= analyse(made["described"], people, used, tagged, options, more)
    _write(run, made)
    made |= {"people": people, "composites": composites, "backgrounds": backgrounds, "cutouts": cutouts}
    notes += _notes_of_gate(run)
    made["sweep"] = sweep_shares(made["described"], content)
    return AnalysisResult(made, notes)


def analyse(
    described: pd.DataFrame,
    people: pd.DataFrame,
    backgrounds: pd.DataFrame,
    tagged: Mapping[str, frozenset[str]],
    options: ContextOptions,
    more: Mapping[str, pd.DataFrame] | None = None,
) -> dict[str, pd.DataFrame]:
    """The tables ``inferred`` to ``congruence`` of every classifier, gross and net, without schema checks.

    described: the table of that name.  tagged: classifier to the contexts that have tags for it.
    more: rows of the tables ``interaction``, if there is a sweep, and ``palettes``, if rooms stand in several.
    """
    labels = dict(zip(backgrounds["context"], backgrounds["label"], strict=True))
    ratings = dict(zip(backgrounds["context"], backgrounds["rating"].astype(float), strict=True))
    parts: dict[str, list[pd.DataFrame]] = {}
    for (classifier, _), rows in described.groupby(["classifier", "tags"], sort=True, observed=True):
        grid = make_grid(rows, people, backgrounds, tagged.get(str(classifier), frozenset()))
        if not len(grid.photos):
            continue
        anova, tukey = compare_groups(grid, options)
        for name, frame in (
            ("inferred", inferred_table(grid, labels, options)),
            ("recognised", recognised_table(grid, options)),
            ("accuracy", accuracy_table(grid, options, labels)),
            ("distances", distances_table(grid)),
            ("anova", anova),
            ("tukey", tukey),
            ("changes", changes_table(grid, ratings, options)),
            ("congruence", congruence_table(grid, ratings, options)),
        ):
            parts.setdefault(name, []).append(frame)
    parts |= {name: [frame] for name, frame in (more or {}).items()}
    made = {}
    for name, frames in parts.items():
        known = [frame for frame in frames if len(frame)]
        if known:
            made[name] = pd.concat(known, ignore_index=True)
    made = adjusted(made)
    if "changes" in made:
        made["changes"]["consistent"] = consistent(made["changes"], ratings, options.alpha)
    return made


def adjusted(tested: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Each table with q over its own tests of one kind of tags, and q_run over all tests of the run of that kind.

    Benjamini & Hochberg 1995: the false discovery rate.
    """
    made = {name: frame.copy() for name, frame in tested.items()}
    families = {
        name: made[name][["tags"]].assign(p=made[name][_FAMILY_P.get(name, "p")].astype(float))
        for name in TESTED
        if name in made
    }
    for name, family in families.items():
        made[name]["q"] = _within_kind(family)
    if families:
        q_run = _within_kind(pd.concat(families))
        for name in families.keys() & set(_WITH_RUN):
            made[name]["q_run"] = q_run.loc[name].to_numpy()
    return made


def _within_kind(family: pd.DataFrame) -> pd.Series:
    """Q over the tests of each kind of tags.  family: columns tags and p."""
    return family.groupby("tags")["p"].transform(lambda p: benjamini_hochberg(p.to_numpy(float)))


def _interactions(
    described: pd.DataFrame,
    answers: Mapping[Key, frozenset[str]],
    people: pd.DataFrame,
    content: Mapping[str, Any],
    options: ContextOptions,
) -> pd.DataFrame:
    """Rows of the ``interaction`` table of one classifier, single tags gross alone; none without a sweep."""
    sweep = content["config"].get("sweep", "")
    if not sweep:
        return pd.DataFrame()
    presence = _presence(answers, lambda attribute: attribute.endswith(f"~{sweep}"))
    values = sweep_values(content)
    frames = [
        interaction_table(rows, presence if kind == GROSS else {}, values, people, options, sweep)
        for kind, rows in described.groupby("tags", sort=True)
    ]
    return pd.concat(frames, ignore_index=True)


def _palettes(
    described: pd.DataFrame,
    answers: Mapping[Key, frozenset[str]],
    people: pd.DataFrame,
    backgrounds: pd.DataFrame,
    options: ContextOptions,
) -> pd.DataFrame:
    """Rows of the ``palettes`` table of one classifier, single tags gross alone; none without palettes."""
    drawn = set(backgrounds.loc[backgrounds["palette"] != "", "key"])
    if not drawn:
        return pd.DataFrame()
    presence = _presence(answers, drawn.__contains__)
    frames = [
        palettes_table(rows, presence if kind == GROSS else {}, backgrounds, people, options)
        for kind, rows in described.groupby("tags", sort=True)
    ]
    return pd.concat(frames, ignore_index=True)


def _presence(answers: Mapping[Key, frozenset[str]], wanted: Callable[[str], bool]) -> dict[str, set[Key]]:
    """Tag to the pictures that have it, of the attributes that are wanted."""
    presence: dict[str, set[Key]] = {}
    for key, tags in answers.items():
        if wanted(key[1]):
            for tag in tags:
                presence.setdefault(tag, set()).add(key)
    return presence


def _about_tags(
    name: str, scored: pd.DataFrame, answers: Mapping[Key, frozenset[str]], typology: Typology
) -> list[tuple[str, pd.DataFrame]]:
    """A classifier's typology and kinds of tags for the page; not written into the run folder."""
    row = {"classifier": name, "name": typology.name, "version": typology.version, "partial": typology.partial}
    kinds = [(name, label, kind_of(str(label), typology)) for label in scored["label"].unique()]
    return [
        ("typologies", pd.DataFrame([{**row, "unassigned": 1 - typology.known_share(answers.values())}])),
        ("tag_kinds", pd.DataFrame(kinds, columns=["classifier", "label", "kind"])),
    ]


def kind_of(label: str, typology: Typology) -> str:
    """A tag's kind on the page: feminine, masculine, context, abstract, concrete, or empty."""
    tag = normalise(label)
    kinds = {name: typology.clusters[name] for name in ("feminine", "masculine")}
    kinds["context"] = frozenset().union(*typology.contexts.values())
    kinds |= {name: typology.super_tags(name) for name in ("abstract", "concrete")}
    return next((kind for kind, tags in kinds.items() if tag in tags), "")


def sweep_values(content: Mapping[str, Any]) -> np.ndarray:
    """(K,) values of the sweep of a run."""
    return np.array(next(iter(content["values"].values())), float)


def sweep_shares(described: pd.DataFrame, content: Mapping[str, Any]) -> pd.DataFrame:
    """Share inferred woman at each value, gross: classifier, background, value, share, n; empty without a sweep."""
    sweep = content["config"].get("sweep", "")
    if not sweep:
        return pd.DataFrame()
    rows = described[described["attribute"].str.endswith(f"~{sweep}") & (described["tags"] == GROSS)]
    rows = rows.assign(
        background=rows["attribute"].str.partition("~")[0],
        value=sweep_values(content)[rows["step"].to_numpy(int)],
        woman=(rows["inferred"] == "woman").astype(float),
    )
    grouped = rows.groupby(["classifier", "background", "value"])["woman"]
    return grouped.agg(share="mean", n="size").reset_index()


def typology_of(
    classifier: str, options: ContextOptions, content: Mapping[str, Any], backgrounds: pd.DataFrame
) -> Typology:
    """The typology of one classifier: the given one, else ``celeba`` for celeba-tagger and ``starter``.

    Tags of the contexts.toml of the run's own folders are added.
    """
    usual = "celeba" if classifier.partition(":")[0] == "celeba-tagger" else "starter"
    tags: dict[str, tuple[str, ...]] = {}
    for name in content["config"]["backgrounds"]:
        path = Path(name) / "contexts.toml"
        if name not in ("rendered", "packaged") and path.is_file():
            tags |= {key: record.tags for key, record in read_contexts(path).items() if record.tags}
    shown = set(backgrounds["context"])
    typology = read_typology(options.typology or (usual,))
    return typology.with_contexts({key: words for key, words in tags.items() if key in shown})


def _notes_of_classifier(
    name: str, answers: Mapping[Key, frozenset[str]], typology: Typology, questions: pd.DataFrame
) -> list[str]:
    """What is doubtful about one classifier.  answers: picture to tags.  questions: its rows of the ``asked`` table."""
    notes = []
    share = typology.known_share(answers.values())
    if share < KNOWN:
        notes.append(f"{name}: the typology {typology.name} knows {share:.1%} of its tags; give another.")
    if typology.partial:
        notes.append(f"{name}: the typology {typology.name} is partial.")
    # pictures without a person do not count: many taggers have no answer to them
    lost = (questions["status"] != "answered") & ~questions["attribute"].isin(ALONE)
    if lost.any():
        why = counted(zip(questions.loc[lost, "reason"], questions.loc[lost, "detail"], strict=True))
        pictures = f"{many(lost.sum(), 'picture')} of people ({why})"
        notes.append(f"{name}: refused or failed, and left out pairwise: {pictures}.")
    return notes


def _notes_of_gate(run: Path) -> list[str]:
    """How many sweeps the gate dropped, and why."""
    if not (run / "verdicts.parquet").is_file():
        return []
    verdicts = tables.read(tables.VERDICTS, run / "verdicts.parquet").drop_duplicates("photo")
    if verdicts.empty:
        return []  # nothing was judged
    lost = verdicts.loc[~verdicts["kept"], "reason"].value_counts()
    why = "; ".join(f"{count} dropped: {reason}" for reason, count in lost.items())
    kept = int(verdicts["kept"].sum())
    return [
        f"The gate kept the sweeps of {kept:,} of {many(len(verdicts), 'person', 'people')}"
        + (f"; {why}." if why else ".")
    ]


def with_ratings(
    options: ContextOptions, backgrounds: pd.DataFrame, notes: list[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The ratings table, and the backgrounds with the medians of the user's own raters in place of their ratings.

    notes: problems in the raters' answers are added to them.  Raises: UsageError.
    """
    assert options.ratings is not None
    answers, warnings = read_ratings(options.ratings)
    rated = summarise_ratings(answers, draws=options.bootstrap, seed=options.seed)
    medians = rated.set_index("context")["median"]
    unknown = sorted(set(medians.index) - set(backgrounds["context"]))
    notes += [
        *warnings,
        *(f"{show(options.ratings)} rates {name}, which is no context of this run." for name in unknown),
    ]
    ratings = (
        backgrounds["context"].map(medians).where(backgrounds["context"].isin(medians.index), backgrounds["rating"])
    )
    return rated, backgrounds.assign(rating=ratings.astype(float))


def _write(run: Path, made: dict[str, pd.DataFrame]) -> None:
    for table in TABLES.values():
        if table.name in made:
            made[table.name] = made[table.name][table.columns]
            runfolder.write_table(table, made[table.name], run / f"{table.name}.parquet")
