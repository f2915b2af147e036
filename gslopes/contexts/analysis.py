"""From the answers of a run to all of its tables; no tagger is asked again."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.congruence import changes_table, congruence_table, consistent
from gslopes.contexts.measures.describe import EMPTY, Key, answered_tags, describe_all, make_grid
from gslopes.contexts.measures.distances import compare_groups, distances_table
from gslopes.contexts.measures.inference import accuracy_table, inferred_table, recognised_table
from gslopes.contexts.measures.interaction import interaction_table
from gslopes.contexts.people import gender_of
from gslopes.contexts.tables import TABLES, filled, sides
from gslopes.contexts.typology import Typology, read_typology
from gslopes.core.csv_table import read_csv
from gslopes.core.errors import UsageError
from gslopes.core.reasons import counted
from gslopes.core.runfolder import show
from gslopes.core.tables import lookup
from gslopes.core.text import many
from gslopes.frame.spec import Made, Run
from gslopes.stats.intervals import percentile
from gslopes.stats.multiplicity import benjamini_hochberg

TESTED = ("inferred", "recognised", "accuracy", "anova", "changes", "congruence", "interaction")
OTHER_TESTS = {
    "congruence": {"q": "p_perm"},
    "interaction": {"q": "p", "effect_q": "effect_p"},
}  # q of which p
KNOWN = 0.05  # share of a classifier's tags under which the typology is not for it


def analyse_run(run: Run) -> Made:
    """Every table that the answers allow.  Raises: UsageError, ConfigError, TableError."""
    options = run.config.analysis
    sweep = run.config.pictures.sweep
    values = np.array(
        next(iter(run.plan.facts["values"].values())) if run.plan is not None and sweep else (),
        float,
    )
    scores, asked, people, backgrounds = map(
        run.table, ("scores", "asked", "people", "backgrounds")
    )
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
            parts["interaction"] += [
                interaction_table(rows, values, people, sweep) for _, rows in kinds
            ]
    made |= {name: pd.concat(frames, ignore_index=True) for name, frames in parts.items() if frames}
    made |= analyse(made["described"], people, used, tagged, options, made.pop("interaction", None))
    _note_gate(run)
    return {
        name: frame[TABLES[name].columns] if len(frame) else TABLES[name].empty()
        for name, frame in made.items()
    }


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
    labels = sides(backgrounds)
    ratings = lookup(backgrounds.astype({"rating": float}), "context", "rating")
    parts: dict[str, list[pd.DataFrame]] = (
        {} if interaction is None else {"interaction": [interaction]}
    )
    for (classifier, _), rows in described.groupby(
        ["classifier", "tags"], sort=True, observed=True
    ):
        grid = make_grid(rows, people, backgrounds, tagged.get(str(classifier), frozenset()))
        if not len(grid.photos):
            continue
        anova, tukey = compare_groups(grid)
        for name, frame in (
            ("inferred", inferred_table(grid, labels, options)),
            ("recognised", recognised_table(grid)),
            ("accuracy", accuracy_table(grid, options, labels)),
            ("distances", distances_table(grid)),
            ("anova", anova),
            ("tukey", tukey),
            ("changes", changes_table(grid, ratings, options)),
            ("congruence", congruence_table(grid, ratings, options)),
        ):
            parts.setdefault(name, []).append(frame)
    filled_in = {name: [frame for frame in frames if len(frame)] for name, frames in parts.items()}
    made = adjusted(
        {name: pd.concat(frames, ignore_index=True) for name, frames in filled_in.items() if frames}
    )
    if "changes" in made:
        made["changes"]["consistent"] = consistent(made["changes"], ratings)
    return made


def adjusted(tested: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Each table with q over its own tests of one kind of tags.

    Benjamini & Hochberg 1995: the false discovery rate.  Slopes on congruence are judged by their permutations.
    """
    made = dict(tested)
    for name in tested.keys() & set(TESTED):
        for q, p in OTHER_TESTS.get(name, {"q": "p"}).items():
            by_kind = tested[name].groupby("tags")[p]
            found = by_kind.transform(lambda p: benjamini_hochberg(p.to_numpy(float)))
            made[name] = made[name].assign(**{q: found})
    return made


def typology_of(classifier: str, options: ContextOptions, backgrounds: pd.DataFrame) -> Typology:
    """The typology of one classifier: the given one, else ``celeba`` for celeba-tagger and ``starter``.

    Tags of the contexts.toml of the run's own folders are added.
    """
    usual = "celeba" if classifier.partition(":")[0] == "celeba-tagger" else "starter"
    rows = backgrounds[backgrounds["words"] != ""]
    tags = {
        context: words.split("|")
        for context, words in zip(rows["context"], rows["words"], strict=True)
    }
    return read_typology(options.typology or (usual,)).with_contexts(tags)


def _notes_of_classifier(
    name: str, answers: Mapping[Key, frozenset[str]], typology: Typology, questions: pd.DataFrame
) -> list[str]:
    """Its typology, and what is doubtful.  answers: picture to tags.  questions: its rows of the ``asked`` table."""
    share = typology.known_share(answers.values())
    about = ", ".join(
        filter(
            None, (typology.version and f"version {typology.version}", "partial" * typology.partial)
        )
    )
    notes = []
    if not math.isnan(share):
        more = f" ({about})" * bool(about) + "; give another" * (share < KNOWN)
        notes.append(f"{name}: the typology {typology.name} knows {share:.1%} of its tags{more}.")
    # pictures without a person do not count: many taggers have no answer to them
    lost = (questions["status"] != "answered") & (questions["attribute"] != EMPTY)
    if lost.any():
        why = counted(
            zip(questions.loc[lost, "reason"], questions.loc[lost, "detail"], strict=True)
        )
        pictures = f"{many(lost.sum(), 'picture')} of people ({why})"
        notes.append(f"{name}: refused or failed, and left out pairwise: {pictures}.")
    return notes


def _note_gate(run: Run) -> None:
    """How many sweeps the gate dropped, and why."""
    verdicts = run.table("verdicts").drop_duplicates("photo")
    if verdicts.empty:
        return  # nothing was judged
    judged = many(len(verdicts), "person", "people")
    sentence = f"The gate kept the sweeps of {int(verdicts['kept'].sum()):,} of {judged}"
    dropped = verdicts.loc[~verdicts["kept"], "reason"].value_counts()
    run.note(
        "; ".join([sentence, *(f"{count} dropped: {reason}" for reason, count in dropped.items())])
        + "."
    )


def ratings_of(
    options: ContextOptions, backgrounds: pd.DataFrame, note: Callable[[str], None]
) -> pd.DataFrame:
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
    medians = backgrounds["context"].map(ratings.set_index("context")["median"])
    of_others = ~backgrounds["context"].isin(ratings["context"])
    return backgrounds.assign(rating=medians.mask(of_others, backgrounds["rating"]).astype(float))


CODINGS = ("correct", "partial", "incorrect")
NEUTRAL = 5.0
DRAWS = 2000  # of the bootstrap
_COLUMNS = ("context", "rater", "gender", "rating", "coding")


def read_ratings(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """Answers of raters, (rows, warnings): columns context, rater, gender, rating, coding.

    path: a CSV with context, rater, rating and, where known, gender and coding (correct, partial, incorrect).  Of two
    answers of a rater about one context the last counts.

    Raises: UsageError as ``read_csv``; for a table without a row; with the line of a rating that is no number from 0 to
        10, or of an unknown coding.
    """
    table = read_csv(
        path, ("context", "rater", "rating"), strip=True, hint="It needs context, rater and rating."
    )
    if not table.lines:
        raise UsageError(
            f"{show(path)} has no rows.", "Add a row for each answer, or leave out --ratings."
        )
    answers = pd.DataFrame({name: table.columns.get(name, "") for name in _COLUMNS})
    answers = answers.assign(
        gender=answers["gender"].map(gender_of),
        rating=pd.to_numeric(answers["rating"], errors="coerce"),
        coding=answers["coding"].str.casefold().replace("", "correct"),
    )
    in_range = answers["rating"].between(0, 10)
    for line, given, usable, coding in zip(
        table.lines, table.columns["rating"], in_range, answers["coding"], strict=True
    ):
        where = f"{show(path)}, line {line}"
        if not usable:
            raise UsageError(
                f"{where}: the rating is {given[:40]!r}; it must be a number from 0 to 10."
            )
        if coding not in CODINGS:
            raise UsageError(
                f"{where}: the coding is {coding[:40]!r}.", f"Known: {', '.join(CODINGS)}."
            )
    warnings = [] if "coding" in table.columns else ["None of the ratings was coded: all count."]
    twice = answers.duplicated(["context", "rater"], keep="last")
    if twice.any():
        first = answers[twice].iloc[0]
        warnings.append(
            f"{int(twice.sum()):,} of the ratings do not count, as their rater answered again about that context, "
            f"such as {first['rater'][:40]} about {first['context'][:40]}."
        )
    return answers[~twice].reset_index(drop=True), warnings


def summarise_ratings(answers: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Rows of the ``ratings`` table.

    Estimator: the median of the answers that are not coded incorrect.  Interval: percentile bootstrap over a context's
    raters; none where all answers are equal.  Category: feminine or masculine if the interval, or what several raters
    all say, lies on one side of 5, else neutral.  alpha: Krippendorff's, of all contexts, interval level.
    """
    rows = []
    alpha = krippendorff_alpha(answers[answers["coding"] != "incorrect"])
    for context, every in answers.groupby("context"):
        counted = every[every["coding"] != "incorrect"]
        ratings = counted["rating"].to_numpy(float)
        row = {
            "context": context,
            "n": len(ratings),
            "dropped": len(every) - len(ratings),
            "alpha": alpha,
        }
        for name, gender in (("women", "woman"), ("men", "man")):
            row[name] = counted.loc[counted["gender"] == gender, "rating"].median()
        q1, median, q3 = map(float, counted["rating"].quantile([0.25, 0.5, 0.75]))
        low = high = math.nan
        if len(ratings) and np.ptp(ratings):
            drawn = np.random.default_rng([seed, 3]).choice(ratings, (DRAWS, len(ratings)))
            low, high = percentile(np.median(drawn, axis=1))
        least, most = (median, median) if math.isnan(low) and len(ratings) > 1 else (low, high)
        category = "feminine" if most < NEUTRAL else "masculine" if least > NEUTRAL else "neutral"
        row |= {
            "q1": q1,
            "median": median,
            "q3": q3,
            "category": category,
            "ci_low": low,
            "ci_high": high,
        }
        rows.append(row)
    return filled("ratings", rows)


def krippendorff_alpha(answers: pd.DataFrame) -> float:
    """Agreement of raters over contexts, interval level; NaN where raters cannot disagree.

    Source: Krippendorff 2011, Computing Krippendorff's alpha-reliability; by the library krippendorff.
    """
    import krippendorff

    table = answers.pivot_table(
        index="rater", columns="context", values="rating", aggfunc="last"
    ).to_numpy(float)
    if table.shape[0] < 2 or np.unique(table[np.isfinite(table)]).size < 2:
        return math.nan
    return float(krippendorff.alpha(reliability_data=table, level_of_measurement="interval"))
