"""The audit of crops: who is looked at, joined, asked about, measured and shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gslopes.ask.boxes import Cropper, Saliency
from gslopes.ask.croppers.remote import RemoteCropper
from gslopes.core.executor import Executor
from gslopes.core.records import Finder
from gslopes.crops import asking, page, words
from gslopes.crops.asking import EDITED_A_PART, EDITS, PAIRS_A_PART, SETS_A_PART, Given
from gslopes.crops.config import CropsConfig
from gslopes.crops.drawing import draw_pairs
from gslopes.crops.pairing import by_person, ordered, pairs_of, sets_of
from gslopes.crops.people import People, people_of
from gslopes.crops.portraits import digest_of, look, portraits_of
from gslopes.crops.tables import MEASURES, TABLES
from gslopes.crops.tabulate import measure
from gslopes.frame.executors import OneProcess
from gslopes.frame.plan import Plan, plan
from gslopes.frame.result import Result
from gslopes.frame.run import carry_out
from gslopes.frame.spec import Audit, Headline, Inputs, Stage, Tables

Croppers = Sequence[Saliency | Cropper | Callable[..., Any]]


def audit_crops(
    photos: str | Path,
    out: str | Path,
    *,
    croppers: Croppers = (),
    progress: bool = False,
    trust: bool = False,
    executor: Executor | None = None,
    finder: Finder | None = None,
    **options: Any,
) -> Result:
    """Whom do croppers favour and keep, of two people side by side?  Called again, it resumes.

    photos: the folder of portraits, one person each.  out: the run folder, made if missing.
    croppers: in addition to those that ``cropper`` names: functions of pictures to maps, or of pictures and a ratio to
        (left, top, width, height); or ready objects.  finder: instead of MTCNN.
    progress, trust, executor: as of ``gslopes.audit``; croppers may be programs, too.
    options: as of ``gslopes crops --help-all``, with underscores; ``people``, a CSV of groups, is needed.

    Raises: UsageError, ConfigError, ModelError, AnswerError, RunFolderMismatch, StorageError; all that can be known
        beforehand before any work. Of services CredentialsError, ServiceError, ClassifierError, BudgetReached: what
        they answered is kept.
    """
    given = Given(croppers, finder)
    planned = plan(CROPS, Path(photos), Path(out), options, trust=trust, given=given)
    return carry_out(planned, executor or OneProcess(progress=progress))


def read(photos: Path, config: CropsConfig) -> Inputs:
    """Who is on the photos, and of which groups.  Raises: as ``people_of``."""
    found = people_of(photos, config, min_group=config.min_group, one_photo=config.as_published, tone=True)
    if config.limit is not None:
        found = replace(found, portraits=found.portraits[: config.limit])
    if found.columns == config.groups:
        sets_of(found, by_person([portrait.person for portrait in found.portraits]), config)
    facts = {"photos": {"count": len(found.portraits), "digest": digest_of(found)}}
    return Inputs(found, facts, notes=(found.absent,) if found.absent else ())


def outline(planned: Plan) -> tuple[list[str], dict[str, Any]]:
    """What an audit would do: people, pairs, pictures, and what services would be asked; no photo is opened."""
    config: CropsConfig = planned.config
    found: People = planned.inputs.content
    numbers = by_person([portrait.person for portrait in found.portraits])
    facts: dict[str, Any] = {"persons": len(numbers), "photos": len(found.portraits)}
    lines = [f"persons      {len(numbers):,} on {len(found.portraits):,} photos"]
    if found.columns == tuple(config.groups):
        pairs = pairs_of(found, numbers, config)
        asked = len(ordered(pairs, config.orders)) if config.attach != "none" else 0
        sets = len(sets_of(found, numbers, config)) if config.attach != "none" else 0
        lines += [f"pairs        {len(pairs):,} of photos of different groups"]
        lines += [f"pictures     {asked:,} for each of {', '.join(config.cropper)}"]
        lines += [f"together     {sets:,} pictures with one person of each group"] * bool(sets)
        everything = asked + sets + (1 + len(EDITS)) * min(config.stability, asked)
        services = [model for model in planned.models.values() if isinstance(model, RemoteCropper)]
        estimates = [str(one) for model in services for one in model.requests(everything)]
        lines += [f"requests     {estimate}" for estimate in estimates]
        facts |= {"pairs": len(pairs), "pictures": asked, "together": sets, "estimates": estimates}
    facts["groups"] = {column: {name: len(of) for name, of in some.items()} for column, some in found.groups.items()}
    facts["left_out"] = {column: dict(why) for column, why in found.left_out.items() if why}
    for column, sizes in facts["groups"].items():
        lines.append(f"{column:<12} {', '.join(f'{name} {count}' for name, count in sizes.items())}")
    for column, why in facts["left_out"].items():
        lines.append(f"left out     of {column}: {', '.join(f'{count} with {name}' for name, count in why.items())}")
    return lines, facts


def headline_of(tables: Tables) -> Headline:
    """Of the pairs of groups that can be judged, the one that is shown best to be uneven."""
    return Headline(words.headline(words.main_rows(tables["parity"])))


def terminal(tables: Tables) -> str:
    """Each pair of groups, the effect of the side, and what was not answered."""
    return words.print_parity(tables["parity"], tables["positions"], tables.get("pairs"))


JOINED = ("seed", "groups", "attach", "height", "as_published", "pairs", "draws", "min_group")
RETRIED = ("cost_limits.retry_failed",)  # what was answered stays
CROPS = Audit(
    name="crops",
    home=Path(__file__).parent,
    question="Whom does an automatic crop keep?",
    source="PEOPLE",
    about="""Two people side by side, one automatic crop: who is favoured, and who is kept?

    PEOPLE is a folder of portraits, one person each, or a run of this command. The table of people has a file (or an
    id) a row and its groups in columns. All pairs of people of different groups, both orders, intervals over people.

    Parity of counts does not show that a crop is harmless. The remedy that the authors of the method recommend is to
    let people choose, or not to crop.
    """,
    examples=(
        "gslopes crops PEOPLE --people people.csv --groups gender --out RUN",
        "gslopes crops PEOPLE --people people.csv --groups gender,ethnicity --cropper faces --cropper centre --out RUN",
        "gslopes crops PEOPLE --people people.csv --groups gender --cropper fastgaze:fastgaze.vxm --out RUN",
        "gslopes crops PEOPLE --people people.csv --groups gender --policy sample --policy average --out RUN",
        "gslopes crops PEOPLE --people people.csv --groups gender --as-published --seed 42 --out RUN",
        "gslopes crops PEOPLE --people people.csv --groups gender,ethnicity --together 5000 --out RUN",
        "gslopes crops PEOPLE --people people.csv --groups gender --dry-run",
        "gslopes crops PEOPLE --people people.csv --groups gender --fail-if finding --out RUN",
        "gslopes crops sweep RUN_OF_SYNTHESISE --cropper spectral-residual --out RUN",
        "gslopes crops power --groups 213,606 --p 0.6",
    ),
    config=CropsConfig,
    tables=TABLES,
    inputs=read,
    outline=outline,
    stages=(
        Stage(
            "look", ("inputs",), ("saliency", "covariates", "people"), look,
            items=portraits_of, here=True, options=("height",),
        ),
        Stage(
            "groups", ("inputs", "people", "covariates"), ("traits", "groups.json"), asking.write_and_confirm,
            options=("groups", "min_group", "source"),
        ),
        Stage(
            "pairs", ("inputs", "people", "groups.json"), ("crops", "outcomes", "pairs"), asking.ask_pairs,
            items=asking.pair_items, part=PAIRS_A_PART, unit="pictures", each=asking.asked_names, here=True,
            when=asking.joined, options=(*JOINED, *RETRIED, "ratios", "policies"), merging=RETRIED,
        ),
        Stage(
            "together", ("inputs", "people", "groups.json"), ("together",), asking.ask_together,
            items=asking.set_items, part=SETS_A_PART, unit="pictures", each=asking.asked_names, here=True,
            when=asking.sets_wanted, options=(*JOINED, *RETRIED, "ratios", "together"), merging=RETRIED,
        ),
        Stage(
            "stability", ("inputs", "people", "groups.json"), ("stability",), asking.ask_edited,
            items=asking.edited_items, part=EDITED_A_PART, unit="pictures", each=asking.asked_names, here=True,
            when=asking.edits_wanted, options=(*JOINED, "ratios", "policies", "stability"),
        ),
        Stage(
            "draw", ("inputs", "people", "traits", "pairs", "crops"), ("drawn_maps", "pairs.json"), draw_pairs,
            when=asking.joined, options=(*JOINED, "ratios", "embed"),
        ),
        Stage(
            "measure",
            ("people", "groups.json", "saliency", "pairs", "outcomes", "crops", "together", "stability"),
            (*MEASURES, "report/tables/"), measure,
            options=("seed", "groups", "attach", "height", "as_published", "draws", "min_group", "bootstrap"),
        ),
    ),
    judged=words.judged,
    headline=headline_of,
    counts=words.counts,
    terminal=terminal,
    shown=("parity", "aggregates", "positions", "policies"),
    page=page.SECTIONS,
    models=asking.resolve,
    before=asking.begin,
)  # fmt: skip
