"""The audit of crops: who is looked at, joined, asked about, measured and shown."""

from itertools import combinations
from pathlib import Path
from typing import Any

from gslopes.core import ConfigError, Executor, JsonObject, with_options
from gslopes.core.records import Finder
from gslopes.crops import asking
from gslopes.crops.asking import Croppers, Given, digest_of, look, with_groups
from gslopes.crops.config import HOME, MEASURES, TABLES, CropsConfig
from gslopes.crops.measures.parity import half_width
from gslopes.crops.measures.rows import measure
from gslopes.crops.page import drawing, sections
from gslopes.crops.stimuli.people import People, check_sizes, read_people
from gslopes.frame.ask import counted, raise_if_no_use
from gslopes.frame.brought import planned
from gslopes.frame.result import Result
from gslopes.frame.run import carry_out
from gslopes.frame.spec import Audit, Inputs, Plan, Stage, Tables, declared_stages
from gslopes.report import inline


@with_options(CropsConfig)
def audit_crops(
    photos: Any,
    out: str | Path | None = None,
    *,
    croppers: Croppers = (),
    progress: bool = False,
    trust: bool = False,
    executor: Executor | None = None,
    finder: Finder | None = None,
    **options: Any,
) -> Result:
    """Whom do croppers favour and keep, of two people side by side?  Called again, it resumes.

    photos: portraits, one person each.  photos, out: as ``gslopes.audit`` takes them.
    croppers: in addition to those that ``cropper`` names: functions of pictures to maps, or of pictures and a ratio to
        (left, top, width, height); or ready objects.  finder: instead of MTCNN.
    progress, trust, executor: as of ``gslopes.audit``; croppers may be programs, too.
    options: as of ``gslopes crops --help-all``, with underscores; ``people``, a CSV of groups, is needed.

    Raises: UsageError, ConfigError, ModelError, AnswerError, RunFolderMismatch, StorageError; all that can be known
        beforehand before any work. Of services CredentialsError, ServiceError, ClassifierError, BudgetReached: what
        they answered is kept.
    """
    plan = planned(CROPS, photos, out, options, trust=trust, given=Given(croppers, finder))
    return carry_out(plan, executor, progress)


def read(photos: Path, config: CropsConfig) -> Inputs:
    """Who is on the photos, and of which groups.  Raises: as ``read_people``; ConfigError if no table is named."""
    if config.people is None:
        raise ConfigError(
            "Nothing says who is on the photos.", "Name a table of people with --people CSV."
        )
    people = read_people(
        photos, config.people, config.groups, one_photo=config.as_published, seed=config.seed
    )
    check_sizes(people.groups)
    facts = {"photos": {"count": len(people.portraits), "digest": digest_of(people)}}
    return Inputs(people, facts, notes=(people.absent,) if people.absent else ())


def outline(planned: Plan) -> tuple[list[str], JsonObject]:
    """What an audit would do: people, pictures, what services would be asked, and the intervals to expect."""
    people: People = planned.inputs.content
    facts = {
        "persons": len({portrait.person for portrait in people.portraits}),
        "photos": len(people.portraits),
        "pictures": len(asking.pictures_asked(people, planned.config)),
        "half_widths": {
            f"{a} over {b}": min(half_width(0.5, len(first), len(second)), 0.5)
            for (a, first), (b, second) in combinations(people.cells.items(), 2)
        },
        "groups": {
            column: {name: len(persons) for name, persons in members.items()}
            for column, members in people.groups.items()
        },
        "left_out": {column: dict(counts) for column, counts in people.left_out.items() if counts},
    }
    croppers = planned.config.cropper
    return inline.plain("plan.txt.j2", HOME, **facts, croppers=croppers).split("\n"), facts


def counts(tables: Tables) -> tuple[int, int, int]:
    """Photos that were looked at, those that are used; those that cannot be read, and questions that failed."""
    return counted(tables["people"], tables["pairs"])


STAGES = declared_stages(HOME)
CROPS = Audit(
    name="crops",
    home=HOME,
    config=CropsConfig,
    tables=TABLES,
    inputs=lambda plan: read(plan.source, plan.config),
    looked_at=("people",),
    outline=outline,
    stages=(
        Stage(
            **STAGES["look"],
            work=look,
            items=lambda run: run.inputs.portraits,
            join=with_groups,
        ),
        Stage(
            **STAGES["pairs"],
            work=asking.ask_pairs,
            items=lambda run: run.once(asking.joined_pictures).pictures,
            part=asking.PART,
            each=asking.asked_names,
            due=lambda run: run.config.cost_limits.retry_failed,
            prices=asking.prices,
            begin=asking.agree,
            check=lambda run: raise_if_no_use(run.table("pairs"), "cropper"),
        ),
        Stage(**STAGES["draw"], work=drawing.draw_pairs),
        Stage(**STAGES["measure"], makes=MEASURES, work=measure),
    ),
    judged=sections.judged,
    headline=sections.headline_of,
    counts=counts,
    shown=MEASURES,
    page=sections.SECTIONS,
    models=asking.resolve,
    before=asking.agree_first,
)
