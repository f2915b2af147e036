"""From the answers of a run to all of its tables; no tagger is asked again."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

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
from gslopes.core.reasons import counted
from gslopes.core.runfolder import show
from gslopes.core.text import many
from gslopes.frame.run import Run
from gslopes.frame.spec import Made
from gslopes.stats.multiplicity import benjamini_hochberg

TESTED = ("inferred", "recognised", "accuracy", "anova", "changes", "congruence", "interaction", "palettes")
_FAMILY_P = {"congruence": "p_perm", "recognised": "p_perm"}
KNOWN = 0.05  # share of a classifier's tags under which the typology is not for it
_WITH_RUN = ("inferred", "recognised")


def analyse_run(run: Run) -> Made:
    """Every table that the answers allow.  Raises: UsageError, ConfigError, TableError."""
    options, sweep = run.config.analysis, run.config.pictures.sweep
    values = np.array(next(iter(run.plan.facts["values"].values())) if run.plan is not None and sweep else (), float)
    scores, asked, people, backgrounds = map(run.table, ("scores", "asked", "people", "backgrounds"))
    made: dict[str, pd.DataFrame] = {}
    if options.ratings is not None:
        made["ratings"] = ratings_of(options, backgrounds, run.note)
        backgrounds = rated(backgrounds, made["ratings"])
    used = backgrounds[backgrounds["status"] == "used"]
    parts: dict[str, list[pd.DataFrame]] = {}
    tagged = {}
    for name, questions in asked.groupby("classifier", sort=True):
        scored = scores[scores["classifier"] == name]
        typology = typology_of(str(name), options, used)
        answers = answered_tags(scored, questions, options)
        tagged[str(name)] = frozenset(key for key, tags in typology.contexts.items() if tags)
        for note in _notes_of_classifier(str(name), answers, typology, questions):
            run.note(note)
        described = describe_all(str(name), answers, used, typology, options)
        for table, frame in (
            ("described", described),
            ("interaction", _interactions(described, answers, people, sweep, values, options)),
            ("palettes", _palettes(described, answers, people, used, options)),
            *_about_tags(str(name), scored, answers, typology),
        ):
            parts.setdefault(table, []).append(frame)
    made |= {name: pd.concat(frames, ignore_index=True) for name, frames in parts.items()}
    made["sweep"] = sweep_shares(made["described"], sweep, values)
    more = {name: made.pop(name) for name in ("interaction", "palettes")}
    made |= analyse(made["described"], people, used, tagged, options, more)
    _note_gate(run)
    return {name: frame[TABLES[name].columns] if len(frame) else TABLES[name].empty() for name, frame in made.items()}


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
        anova, tukey = compare_groups(grid)
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
        made["changes"]["consistent"] = consistent(made["changes"], ratings)
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
    sweep: str,
    values: np.ndarray,
    options: ContextOptions,
) -> pd.DataFrame:
    """Rows of the ``interaction`` table of one classifier, single tags gross alone; none without a sweep."""
    if not sweep:
        return pd.DataFrame()
    presence = _presence(answers, lambda attribute: attribute.endswith(f"~{sweep}"))
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


def sweep_shares(described: pd.DataFrame, sweep: str, values: np.ndarray) -> pd.DataFrame:
    """The ``sweep`` table: the share inferred woman at each value, gross; empty without a sweep."""
    if not sweep:
        return pd.DataFrame()
    rows = described[described["attribute"].str.endswith(f"~{sweep}") & (described["tags"] == GROSS)]
    rows = rows.assign(
        background=rows["attribute"].str.partition("~")[0],
        value=values[rows["step"].to_numpy(int)],
        woman=(rows["inferred"] == "woman").astype(float),
    )
    grouped = rows.groupby(["classifier", "background", "value"])["woman"]
    return grouped.agg(share="mean", n="size").reset_index()


def typology_of(classifier: str, options: ContextOptions, backgrounds: pd.DataFrame) -> Typology:
    """The typology of one classifier: the given one, else ``celeba`` for celeba-tagger and ``starter``.

    Tags of the contexts.toml of the run's own folders are added.
    """
    usual = "celeba" if classifier.partition(":")[0] == "celeba-tagger" else "starter"
    rows = backgrounds[backgrounds["words"] != ""]
    tags = {context: words.split("|") for context, words in zip(rows["context"], rows["words"], strict=True)}
    return read_typology(options.typology or (usual,)).with_contexts(tags)


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


def _note_gate(run: Run) -> None:
    """How many sweeps the gate dropped, and why."""
    verdicts = run.table("verdicts").drop_duplicates("photo")
    if verdicts.empty:
        return  # nothing was judged
    lost = verdicts.loc[~verdicts["kept"], "reason"].value_counts()
    why = "; ".join(f"{count} dropped: {reason}" for reason, count in lost.items())
    kept = f"The gate kept the sweeps of {int(verdicts['kept'].sum()):,} of {many(len(verdicts), 'person', 'people')}"
    run.note(kept + (f"; {why}." if why else "."))


def ratings_of(options: ContextOptions, backgrounds: pd.DataFrame, note: Callable[[str], None]) -> pd.DataFrame:
    """The ``ratings`` table of the user's own raters; problems in their answers are noted.  Raises: UsageError."""
    assert options.ratings is not None
    answers, warnings = read_ratings(options.ratings)
    made = summarise_ratings(answers, draws=options.bootstrap, seed=options.seed)
    for warning in warnings:
        note(warning)
    for name in sorted(set(made["context"]) - set(backgrounds["context"])):
        note(f"{show(options.ratings)} rates {name}, which is no context of this run.")
    return made


def rated(backgrounds: pd.DataFrame, ratings: pd.DataFrame) -> pd.DataFrame:
    """The backgrounds with the medians of the user's own raters in place of their ratings, where they rated."""
    medians = ratings.set_index("context")["median"]
    there = backgrounds["context"].isin(medians.index)
    return backgrounds.assign(
        rating=backgrounds["context"].map(medians).where(there, backgrounds["rating"]).astype(float)
    )
