"""From the answers of a run to all of its tables; no tagger is asked again."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.congruence import changes_table, congruence_table, consistent
from gslopes.contexts.measures.describe import ALONE, Key, answered_tags, describe_all
from gslopes.contexts.measures.distances import compare_groups, distances_table
from gslopes.contexts.measures.grid import make_grid
from gslopes.contexts.measures.inference import accuracy_table, inferred_table, recognised_table
from gslopes.contexts.measures.interaction import interaction_table
from gslopes.contexts.ratings import read_ratings, summarise_ratings
from gslopes.contexts.tables import TABLES
from gslopes.contexts.typology import Typology, read_typology
from gslopes.core.reasons import counted
from gslopes.core.runfolder import show
from gslopes.core.text import many
from gslopes.frame.run import Run
from gslopes.frame.spec import Made
from gslopes.stats.multiplicity import benjamini_hochberg

TESTED = ("inferred", "recognised", "accuracy", "anova", "changes", "congruence", "interaction")
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
    parts: dict[str, list[pd.DataFrame]] = {"described": [], "interaction": []}
    tagged = {}
    for name, questions in asked.groupby("classifier", sort=True):
        scored = scores[scores["classifier"] == name]
        typology = typology_of(str(name), options, used)
        answers = answered_tags(scored, questions)
        tagged[str(name)] = frozenset(key for key, tags in typology.contexts.items() if tags)
        for note in _notes_of_classifier(str(name), answers, typology, questions):
            run.note(note)
        described = describe_all(str(name), answers, used, typology, options)
        parts["described"].append(described)
        if sweep:
            kinds = described.groupby("tags", sort=True)
            parts["interaction"] += [interaction_table(rows, values, people, options, sweep) for _, rows in kinds]
    made |= {name: pd.concat(frames, ignore_index=True) for name, frames in parts.items() if frames}
    made |= analyse(made["described"], people, used, tagged, options, made.pop("interaction", None))
    _note_gate(run)
    return {name: frame[TABLES[name].columns] if len(frame) else TABLES[name].empty() for name, frame in made.items()}


def analyse(
    described: pd.DataFrame,
    people: pd.DataFrame,
    backgrounds: pd.DataFrame,
    tagged: Mapping[str, frozenset[str]],
    options: ContextOptions,
    interaction: pd.DataFrame | None = None,
) -> dict[str, pd.DataFrame]:
    """The tables ``inferred`` to ``congruence`` of every classifier, gross and net, without schema checks.

    described: the table of that name.  tagged: classifier to the contexts that have tags for it.
    interaction: rows of that table, if there is a sweep.
    """
    labels = dict(zip(backgrounds["context"], backgrounds["label"], strict=True))
    ratings = dict(zip(backgrounds["context"], backgrounds["rating"].astype(float), strict=True))
    parts: dict[str, list[pd.DataFrame]] = {} if interaction is None else {"interaction": [interaction]}
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
    known = {name: [frame for frame in frames if len(frame)] for name, frames in parts.items()}
    made = adjusted({name: pd.concat(frames, ignore_index=True) for name, frames in known.items() if frames})
    if "changes" in made:
        made["changes"]["consistent"] = consistent(made["changes"], ratings)
    return made


def adjusted(tested: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Each table with q over its own tests of one kind of tags, and q_run over all tests of the run of that kind.

    Benjamini & Hochberg 1995: the false discovery rate.  Slopes on congruence are judged by their permutations.
    """
    made = {name: frame.copy() for name, frame in tested.items()}
    families = {
        name: made[name][["tags"]].assign(p=made[name]["p_perm" if name == "congruence" else "p"].astype(float))
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
    """Its typology, and what is doubtful.  answers: picture to tags.  questions: its rows of the ``asked`` table."""
    share = typology.known_share(answers.values())
    about = ", ".join(filter(None, (typology.version and f"version {typology.version}", "partial" * typology.partial)))
    known = f"the typology {typology.name} knows {share:.1%} of its tags" + f" ({about})" * bool(about)
    notes = [f"{name}: {known}{'; give another' * (share < KNOWN)}."] if share == share else []
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
    made = summarise_ratings(answers, seed=options.seed)
    for warning in warnings:
        note(warning)
    for name in sorted(set(made["context"]) - set(backgrounds["context"])):
        note(f"{show(options.ratings)} rates {name}, which is no context of this run.")
    return made


def rated(backgrounds: pd.DataFrame, ratings: pd.DataFrame) -> pd.DataFrame:
    """The backgrounds with the medians of the user's own raters in place of their ratings, where they rated."""
    medians = ratings.set_index("context")["median"]
    there = backgrounds["context"].isin(medians.index)
    known = backgrounds["context"].map(medians).where(there, backgrounds["rating"])
    return backgrounds.assign(rating=known.astype(float))
