"""The audit of captions: what is read, parsed, measured, reviewed and shown."""

from pathlib import Path
from typing import Any

from gslopes.captions.config import HOME, TABLES, TECHNIQUES, CaptionsConfig
from gslopes.captions.measures.techniques import chosen_stages, description_of, measure
from gslopes.captions.page import sections as page
from gslopes.captions.page.review import review
from gslopes.captions.stimuli.corpus import Corpus, mentions_of, pairs_of
from gslopes.captions.stimuli.groups import groups_of, notes_on_groups
from gslopes.captions.stimuli.readers import StageRows
from gslopes.captions.stimuli.stages import (
    Stages,
    find_stages,
    parse,
    parsed_images,
    parser_name,
    read,
    read_stages,
    with_labels,
)
from gslopes.core import Executor, JsonObject, with_options
from gslopes.frame.brought import planned
from gslopes.frame.result import Result
from gslopes.frame.run import carry_out
from gslopes.frame.spec import Audit, Inputs, Plan, Stage, Tables, declared_stages
from gslopes.report import inline


@with_options(CaptionsConfig)
def audit_captions(
    stages: str | Path,
    out: str | Path | None = None,
    *,
    progress: bool = False,
    executor: Executor | None = None,
    **options: Any,
) -> Result:
    """Find and count the ways in which captions could harm the people depicted.

    stages: a folder whose files or sub-folders are called after the stages, or a run of this audit: then what depends
        on the options given, such as the answers of its review, is done again.
    out: as of ``gslopes.audit``.
    options: as of ``gslopes captions --help-all``, with underscores: groups, column, technique, list, ...

    Raises: UsageError, ConfigError, DataMissing, ModelError, RunFolderMismatch, StorageError.

        audit = gslopes.audit_captions("STAGES", "RUN", groups="groups.csv", technique=("S1", "D2"))
        audit.tables["measures"], audit.tables["cases"], audit.page
    """
    return carry_out(planned(CAPTIONS, stages, out, options), executor, progress)


# -- before any work --------------------------------------------------------------------------------------------------


def look(stages: Path, config: CaptionsConfig) -> Inputs:
    """The stages as rows, checked against one another and the groups.

    Raises: as ``find_stages``, ``read_stages`` and ``notes_on_groups``.
    """
    mentions = mentions_of(config)
    wordnet = mentions.wordnet
    rows_of = read_stages(find_stages(stages, config.files), wordnet)
    facts = {
        "inputs": {stage: rows.digest for stage, rows in rows_of.items()},
        "parser": parser_name(config),
        "wordnet": {"name": wordnet.name, "sha256": wordnet.digest},
        "senses": config.senses,
        "limit": config.limit,
    }
    lists = {
        listed.name: {"version": listed.version, "sha256": listed.digest}
        for listed in mentions.lists.values()
    }
    images = set[str]().union(*(rows.ids for rows in rows_of.values()))
    return Inputs(rows_of, facts, {"lists": lists}, tuple(notes_on_groups(images, config)))


def outline(planned: Plan) -> tuple[list[str], JsonObject]:
    """What an audit would do: what is there, and which techniques can run."""
    config = planned.config
    stages: Stages = planned.inputs.content
    images = {stage: rows.ids for stage, rows in stages.items() if rows.ids}
    truth, targets = chosen_stages(config, list(images))
    groups = groups_of(config)[0]
    named = {stage: dict.fromkeys(ids, ()) for stage, ids in images.items()}
    labels = stages.get("human-labels", StageRows()).labels
    boxes = {}
    if any(label.corners for label in labels):
        boxes = named["human-labels"]
    corpus = Corpus(named, mentions_of(config), groups, pairs_of(groups), boxes=boxes)
    facts = {
        "images": {stage: len(ids) for stage, ids in images.items()},
        "captions": {stage: len(rows.captions) for stage, rows in stages.items()},
        "shared": len(set.intersection(*images.values() or [set()])),
        "truth": truth,
        "targets": targets,
        "techniques": [
            description_of(name, corpus, target, truth)
            for name in config.techniques or TECHNIQUES
            for target in targets
        ],
        "dropped": {
            f"{stage}: {why}": n
            for stage, rows in stages.items()
            for why, n in rows.dropped.items()
        },
    }
    return inline.plain("plan.txt.j2", HOME, **facts).split("\n"), facts


def counts(tables: Tables) -> tuple[int, int, int]:
    """Images read, images used, captions that were no text."""
    images = len(tables["images"])
    return images, images, tables["sentences"]["status"].tolist().count("failed")


STAGES = declared_stages(HOME)
CAPTIONS = Audit(
    name="captions",
    home=HOME,
    config=CaptionsConfig,
    tables=TABLES,
    inputs=lambda plan: look(plan.source, plan.config),
    photos=lambda config: False,  # a folder of stages holds tables
    outline=outline,
    stages=(
        Stage(**STAGES["read"], work=read),
        Stage(**STAGES["parse"], work=parse, items=parsed_images, join=with_labels),
        Stage(**STAGES["measure"], work=measure),
        Stage(**STAGES["review"], work=review),
    ),
    judged=page.judged,
    headline=page.headline_of,
    counts=counts,
    shown=("measures",),
    page=page.SECTIONS,
)
