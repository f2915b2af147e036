"""The stage that measures: a run's tables as a corpus, and every technique at every stage of it."""

from collections.abc import Sequence
from dataclasses import asdict
from pkgutil import resolve_name

from gslopes.captions.config import SENTENCES, STAGES, TECHNIQUES, AuditOptions, CaptionsConfig
from gslopes.captions.measures.rows import RESULTS, Recorder
from gslopes.captions.stimuli.corpus import Corpus, Coverage, mentions_of, pairs_of
from gslopes.captions.stimuli.groups import groups_of_table
from gslopes.captions.stimuli.stages import boxes_of, captions_of
from gslopes.core import Row, UsageError, read_json
from gslopes.core.tables import lookup
from gslopes.frame.spec import Made, Run
from gslopes.stats.multiplicity import adjust
from gslopes.words.graph import Mentions


def measure(run: Run) -> Made:
    """What the techniques find.  Raises: UsageError if one that was asked for cannot run."""
    config: CaptionsConfig = run.config
    mentions = mentions_of(config)
    corpus = corpus_of(run, mentions)
    truth, targets = chosen_stages(config, list(corpus.stages))
    names = list(config.techniques or TECHNIQUES)
    results, described = run_techniques(corpus, truth, targets, names, config.options)
    for name in config.techniques:
        rows = [row for row in described if row["technique"] == name]
        if rows and all(row["ran"] == "no" for row in rows):
            raise UsageError(
                f"{name} cannot run. {rows[0]['why']}", "Leave --technique out to run what can."
            )
    for name, why in dict.fromkeys(
        (row["technique"], row["why"]) for row in described if row["ran"] == "yes"
    ):
        if why:
            run.note(f"{name}, not judged: {why}")
    parameters = ", ".join(f"{name}={value}" for name, value in asdict(config.options).items())
    return {
        **results,
        "cases": list({row["case"]: row for row in results["cases"]}.values()),
        "techniques": [{**row, "parameters": parameters} for row in described],
    }


def chosen_stages(config: CaptionsConfig, stages: Sequence[str]) -> tuple[str, list[str]]:
    """The truth (human labels, else human captions; empty if there is neither) and the targets, all above it.

    Raises: UsageError if the truth that was chosen is not there.
    """
    automatic = next((stage for stage in ("human-labels", "human-captions") if stage in stages), "")
    truth = automatic if config.truth == "auto" else config.truth
    if truth and truth not in stages:
        raise UsageError(
            f"There is no stage {truth} in the input.", f"It holds {', '.join(stages)}."
        )
    present = [stage for stage in STAGES if stage in stages]
    targets = [
        stage for stage in present if not truth or STAGES.index(stage) > STAGES.index(truth)
    ] or present[-1:]
    return ("" if targets == [truth] else truth), targets


def corpus_of(run: Run, mentions: Mentions) -> Corpus:
    """A run's tables as the corpus of the techniques.  Raises: TableError if one is damaged."""
    images, sentences, tuples, people_rows = map(
        run.table, ("images", "sentences", "tuples", "people")
    )
    groups = groups_of_table(people_rows)
    stages = [stage for stage in STAGES if images["stages"].str.contains(stage, regex=False).any()]
    areas = images.dropna(subset=["person_area"])
    coverage = {
        name: Coverage(**fields | {"types": frozenset(fields["types"])})
        for name, fields in read_json(run.folder / "coverage.json").items()
    }
    return Corpus(
        captions_of(tuples, sentences, images["image"], stages),
        mentions,
        groups,
        pairs_of(groups),
        lookup(areas.astype({"person_area": float}), "image", "person_area"),
        boxes_of(tuples),
        coverage,
    )


def description_of(
    name: str,
    corpus: Corpus,
    target: str,
    truth: str,
) -> Row:
    """The row of a technique at one target, with the first of its needs that is not met, as a sentence."""
    technique = TECHNIQUES[name]
    genders = {value for values in corpus.groups.values() for value in values.values()}
    has = {
        "truth": truth and corpus.images(target, truth),
        "groups": corpus.pairs,
        "boxes": corpus.boxes,
        "gender": genders & {"female", "male"},
    }
    needs = SENTENCES["needs"]
    lacking = (needs[need] for need in needs if need in technique.needs and not has[need])
    return technique.describe(target, truth, next(lacking, ""), corpus.mentions.lists)


def run_technique(
    name: str,
    corpus: Corpus,
    target: str,
    truth: str,
    options: AuditOptions,
) -> Recorder:
    """What one technique finds at one target; q of its measures: over all of its tests there."""
    technique = TECHNIQUES[name]
    header = {
        "harm": technique.harm,
        "technique": name,
        "reading": technique.reading,
        "origin": technique.origin,
        "truth": truth if "truth" in technique.needs else "",
        "note": "",
        "lists": corpus.mentions.lists.versions(*technique.lists),
    }
    recorder = Recorder(corpus, options, target, truth, header)
    resolve_name(f"gslopes.captions.measures.{technique.measure}")(recorder)
    adjust(recorder.measures)
    return recorder


def run_techniques(
    corpus: Corpus,
    truth: str,
    targets: Sequence[str],
    names: Sequence[str],
    options: AuditOptions,
) -> tuple[dict[str, list[Row]], list[Row]]:
    """What the techniques find at all targets, by table, and the rows of the techniques table."""
    results: dict[str, list[Row]] = {table: [] for table in RESULTS}
    described = []
    for name in names:
        for target in targets:
            described.append(description_of(name, corpus, target, truth))
            if described[-1]["ran"] == "yes":
                recorder = run_technique(name, corpus, target, truth, options)
                for table, rows in results.items():
                    rows += getattr(recorder, table)
    return results, described
