"""From the descriptions of all pictures to the tables of the measures, and the notes on each classifier."""

from collections import defaultdict
from collections.abc import Mapping

from pandas import DataFrame

from gslopes.contexts import HOME
from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures import congruence, inference, interaction
from gslopes.contexts.measures.describe import (
    Key,
    make_grid,
    stacked,
)
from gslopes.contexts.measures.ratings import sides
from gslopes.contexts.measures.typology import Typology, read_typology
from gslopes.core import read_beside, reasons
from gslopes.core.records import Array
from gslopes.core.tables import lookup
from gslopes.report.inline import plain
from gslopes.stats.multiplicity import benjamini_hochberg

TESTED = read_beside(__file__, "tested.toml")


def analyse(
    described: DataFrame,
    people: DataFrame,
    backgrounds: DataFrame,
    tagged: Mapping[str, frozenset[str]],
    options: ContextOptions,
    sweep: tuple[str, Array] | None = None,
) -> dict[str, DataFrame]:
    """The tables ``inferred`` to ``interaction`` of every classifier, gross and net, without schema checks.

    described: the table of that name.  tagged: classifier to the contexts that have tags for it.
    sweep: its attribute and its values, (K,).
    """
    labels = sides(backgrounds)
    ratings = lookup(backgrounds.astype({"rating": float}), "context", "rating")
    parts: defaultdict[str, list[DataFrame]] = defaultdict(list)
    by_classifier = described.groupby(["classifier", "tags"], sort=True, observed=True)
    for (classifier, _), rows in by_classifier:
        if sweep:
            attribute, values = sweep
            parts["interaction"].append(
                interaction.interaction_table(rows, values, people, attribute)
            )
        grid = make_grid(rows, people, backgrounds, tagged.get(str(classifier), frozenset()))
        if not len(grid.photos):
            continue
        anova, tukey = inference.compare_groups(grid)
        made = {
            "inferred": inference.inferred_table(grid, labels, options),
            "recognised": inference.recognised_table(grid),
            "accuracy": inference.accuracy_table(grid, labels, options),
            "distances": inference.distances_table(grid),
            "anova": anova,
            "tukey": tukey,
            "changes": congruence.changes_table(grid, ratings, options),
            "congruence": congruence.congruence_table(grid, ratings, options),
        }
        for name, frame in made.items():
            parts[name].append(frame)
    stacks = {name: stacked(frames) for name, frames in parts.items()}
    tables = adjusted({name: frame for name, frame in stacks.items() if len(frame)})
    if "changes" in tables:
        tables["changes"]["consistent"] = congruence.consistent(tables["changes"], ratings)
    return tables


def adjusted(tested: Mapping[str, DataFrame]) -> dict[str, DataFrame]:
    """Each table with q over all of its tests of one kind of tags.

    Benjamini & Hochberg 1995: the false discovery rate.  Slopes on congruence are judged by their permutations.
    """
    tables = dict(tested)
    for name in tested.keys() & set(TESTED):
        for q, p in TESTED[name].items():
            by_kind = tested[name].groupby("tags")[p]
            rates = by_kind.transform(lambda p: benjamini_hochberg(p.to_numpy(float)))
            tables[name] = tables[name].assign(**{q: rates})
    return tables


def typology_of(classifier: str, options: ContextOptions, backgrounds: DataFrame) -> Typology:
    """The typology of one classifier: the user's, else ``celeba`` for celeba-tagger and ``starter``.

    Tags of the contexts.toml of the run's own folders are added.
    """
    usual = "celeba" if classifier.partition(":")[0] == "celeba-tagger" else "starter"
    rows = backgrounds.query("words != ''")
    tags = dict(zip(rows["context"], rows["words"].str.split("|"), strict=True))
    return read_typology(options.typology or (usual,)).with_contexts(tags)


def notes_of(
    name: str, answers: Mapping[Key, frozenset[str]], typology: Typology, questions: DataFrame
) -> list[str]:
    """Its typology, and what is doubtful.  answers: picture to tags.  questions: its rows of the ``asked`` table."""
    # pictures without a person do not count: many taggers have no answer to them
    lost = questions.query("status != 'answered' and attribute != 'empty'")
    return plain(
        "typology.txt.j2",
        HOME / "templates",
        name=name,
        typology=typology,
        share=typology.known_share(answers.values()),
        lost=len(lost),
        why=reasons.counted(lost["reason"], lost["detail"]),
    ).splitlines()
