"""``gslopes contexts``: does the background decide who is seen?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gslopes.core.commands import (
    PATH,
    classifier_option,
    examples,
    json_option,
    print_json,
    terms_options,
    trust_option,
)

_ANALYSIS = (
    *("typology", "ratings", "baseline", "vector", "denominator", "zero", "recognised_at", "min_score", "top", "f1_on"),
    *(
        "recognised_share",
        "ss",
        "tukey",
        "alpha",
        "family",
        "strong",
        "min_group",
        "bootstrap",
        "permutations",
        "mixed",
    ),
)
_STAGING = (
    *("backgrounds", "limit", "cutout", "tolerance", "keep_flagged", "canvas", "crop", "person_share", "share_of"),
    *("size_by", "face_height", "kinds", "sweep", "steps", "gate", "format"),
)
_COLUMNS = ("gender_column", "group_column", "person_column")
_TERMS = ("cache", "budget", "max_calls", "confirm_above", "yes", "retry_failed")


class Share(click.ParamType):  # type: ignore[type-arg]
    """A number, or ``max``."""

    name = "s"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """0.25 as a number."""
        if str(value) == "max":
            return "max"
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number such as 0.25 nor max.", param, ctx)


class Canvas(click.ParamType):  # type: ignore[type-arg]
    """``WIDTHxHEIGHT``."""

    name = "wxh"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """768x512 as a pair."""
        parts = str(value).lower().split("x")
        if len(parts) != 2 or not all(part.isdigit() for part in parts):
            self.fail(f"{value!r} is not a size such as 768x512.", param, ctx)
        return int(parts[0]), int(parts[1])


@click.command(
    short_help="Does the background decide who is seen?",
    epilog=examples(
        "gslopes contexts PEOPLE --people people.csv --backgrounds rendered --classifier celeba-tagger --out run",
        "gslopes contexts PEOPLE --people people.csv --backgrounds backgrounds -c rekognition --budget 10 --out run",
        "gslopes contexts PEOPLE --people people.csv --sweep gender --classifier celeba-tagger --out run",
        "gslopes contexts run --typology mine.toml --ratings ratings.csv",
        "gslopes contexts run --typology starter --typology todo.csv",
        "gslopes contexts PEOPLE --people people.csv --config words.toml --person-share max --out run",
    ),
)
@click.argument("people", type=PATH)
@click.option("--people", "table", metavar="CSV", help="Self-reported gender of each photo's person; or cfd.")
@click.option(
    "--backgrounds", "-b", multiple=True, metavar="DIR", help="rendered, packaged or a folder. [default: rendered]"
)
@classifier_option
@click.option("--out", "-o", type=PATH, metavar="RUN", help="The run folder, made if missing.")
@click.option("--sweep", metavar="gender|race", help="Also K counterfactuals of each person in each context.")
@click.option("--steps", type=int, metavar="K", help="Number of values in the sweep, odd.")
@click.option("--gate/--no-gate", default=None, help="Leave out sweeps that the gate drops. [default: gate]")
@click.option("--cutout", metavar="auto|alpha|eraser|studio|parser|DIR", help="How people are cut out. [default: auto]")
@click.option("--tolerance", type=int, metavar="LEVELS", help="Tolerance of the eraser. [default: 32]")
@click.option("--keep-flagged", is_flag=True, default=None, help="Also use cut-outs that fail a check.")
@click.option("--review", type=PATH, metavar="CSV", help="Decisions about cut-outs: photo, accept or exclude.")
@click.option("--canvas", type=Canvas(), metavar="WxH", help="Size of the pictures. [default: 768x512]")
@click.option("--crop", metavar="both|top|bottom", help="Which part of a background is cut away. [default: both]")
@click.option(
    "--person-share", type=Share(), metavar="S|max", help="Size of a person; max: all that fits. [default: 0.25]"
)
@click.option("--share-of", metavar="canvas|background", help="What that share refers to. [default: canvas]")
@click.option(
    "--size-by", metavar="share|face", help="Give all people one share, or all faces one height. [default: share]"
)
@click.option("--face-height", type=float, metavar="H", help="Of the canvas, with --size-by face. [default: 0.3]")
@click.option("--kinds", multiple=True, metavar="KIND", help="original, canvas, context, empty, silhouette.")
@click.option("--format", metavar="jpeg|png", help="File format of the pictures. [default: jpeg]")
@click.option("--gender-column", metavar="NAME", help="Of the people's CSV. [default: gender]")
@click.option("--group-column", metavar="NAME", help="Of the people's CSV; a + b crosses two. [default: ethnicity]")
@click.option("--person-column", metavar="NAME", help="Who is on several photos. [default: each photo is a person]")
@click.option("--typology", multiple=True, metavar="NAME|FILE", help="Dictionaries of tags, merged left to right.")
@click.option("--ratings", type=PATH, metavar="CSV", help="Crowd ratings of the contexts.")
@click.option("--baseline", metavar="canvas|original", help="What changes are measured from. [default: canvas]")
@click.option("--vector", metavar="super|sub|super+other|both", help="For distances. [default: super]")
@click.option("--denominator", metavar="all|assigned", help="Of the shares of tags. [default: all]")
@click.option("--zero", metavar="nan|one", help="Distance from a vector of length 0. [default: nan]")
@click.option("--recognised-at", type=int, metavar="N", help="Context tags needed. [default: 1]")
@click.option(
    "--recognised-share", type=float, metavar="S", help="A context recognised less often has no F1. [default: 0.1]"
)
@click.option("--min-score", type=float, metavar="S", help="Tags below it do not count. [default: 0]")
@click.option("--top", type=int, metavar="N", help="Only the best N tags.")
@click.option("--f1-on", metavar="recognised|all", help="Pictures of the F1. [default: recognised]")
@click.option("--ss", type=int, metavar="1|2|3", help="Type of the sums of squares. [default: 2]")
@click.option("--tukey", metavar="one-way|residual", help="Variance of Tukey's test. [default: one-way]")
@click.option("--alpha", type=float, metavar="A", help="Level of the paper's Bonferroni correction. [default: 0.05]")
@click.option("--family", metavar="contexts|tests", help="Family of that correction. [default: contexts]")
@click.option("--strong", type=float, metavar="D", help="Ratings this far from 5 are strongly gendered. [default: 3]")
@click.option("--min-group", type=int, metavar="N", help="Minimum people per cell. [default: 3]")
@click.option("--bootstrap", type=int, metavar="N", help="Bootstrap resamples. [default: 2000]")
@click.option("--permutations", type=int, metavar="N", help="Permutations. [default: 9999]")
@click.option("--mixed", is_flag=True, default=None, help="Also a mixed linear model of congruence.")
@click.option("--embed", metavar="thumbs|full|none", help="Pictures inside the page. [default: thumbs]")
@click.option("--limit", type=int, metavar="N", help="Only the first N photos.")
@click.option("--seed", type=int, default=0, metavar="N", help="Seed of all random draws. [default: 0]")
@click.option("--device", default="auto", metavar="auto|cpu|cuda[:N]", help="Where the networks run. [default: auto]")
@click.option("--config", "file", type=PATH, metavar="TOML", help="A file with these options, and [genders].")
@click.option("--dry-run", is_flag=True, help="Print the plan and write nothing.")
@terms_options
@trust_option
@json_option
def contexts(
    people: Path,
    table: str | None,
    out: Path | None,
    classifier: tuple[str, ...],
    review: Path | None,
    seed: int,
    device: str,
    file: Path | None,
    embed: str | None,
    dry_run: bool,
    trust: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Put people in front of stereotyped backgrounds and compare how taggers describe them.

    PEOPLE is a folder of portraits before a plain backdrop, or the run folder of an earlier context audit: then only
    analysis and page are redone, and no classifier is asked. To resume, run the same command again.
    """
    from gslopes.contexts import audit as study
    from gslopes.contexts.config import ContextOptions, PeopleColumns
    from gslopes.contexts.planning import estimates, kinds_for, make_plan, ready_classifiers
    from gslopes.core.config import from_dict
    from gslopes.core.runfolder import show
    from gslopes.core.trust import Trust
    from gslopes.executors import OneProcess
    from gslopes.run.config import ScoreConfig
    from gslopes.run.stages import DEFAULT_CLASSIFIER

    given = {name: value for name, value in options.items() if value is not None and value != ()}
    given = {**_from_file(file), **given}
    staging = {name: given[name] for name in _STAGING if name in given}
    columns = from_dict(PeopleColumns, {name: given[name] for name in (*_COLUMNS, "genders") if name in given})
    analysis = {name: given[name] for name in _ANALYSIS if name in given}
    settings = from_dict(ContextOptions, {**_plain(analysis), "seed": seed})
    if dry_run:
        asked = ready_classifiers(list(classifier or (DEFAULT_CLASSIFIER,)), device, Trust(trust, out or Path("run")))
        staging.setdefault("kinds", kinds_for(asked))
        plan = make_plan(people, out or Path("run"), table, columns, staging, seed=seed, device=device)
        return _print_plan(plan, estimates(plan, asked), as_json)
    found = study.audit_contexts(
        people,
        out,
        people=table,
        classifier=() if out is None else classifier or (DEFAULT_CLASSIFIER,),
        executor=OneProcess(progress=True),
        review=review,
        seed=seed,
        device=device,
        columns=columns,
        analysis=settings,
        trust=trust,
        embed=embed or "thumbs",
        terms=from_dict(ScoreConfig, _plain({name: given[name] for name in _TERMS if name in given})),
        **staging,
    )
    from gslopes.contexts.report.page import as_numbers, text_table

    if as_json:
        counts = {"people": found.people, "used": found.used, "flagged": found.flagged, "skipped": found.skipped}
        page = None if found.page is None else str(found.page)
        print_json({"run": str(found.run), "page": page, "photos": counts, "tables": as_numbers(found.tables)})
        return 0
    click.echo(text_table(found.tables))
    lines = ["", *found.notes, f"photos     {found.used:,} used of {found.people:,}, {found.flagged:,} flagged"]
    lines += [f"           {count:,} skipped: {reason}" for reason, count in found.skipped.items()]
    lines += [f"tables     {show(found.run)}/*.parquet", f"page       {show(found.page)}"]
    click.echo("\n".join(lines), err=True)
    return 3 if any(reason.startswith("unreadable") for reason in found.skipped) else 0


def _from_file(file: Path | None) -> dict[str, Any]:
    """The options of a TOML file: those that are not given on the command line.  Raises: ConfigError."""
    from gslopes.core.config import read_toml
    from gslopes.core.errors import ConfigError, UnknownName

    if file is None:
        return {}
    known = (*_STAGING, *_COLUMNS, *_ANALYSIS, *_TERMS, "genders")
    content = {name.replace("-", "_"): value for name, value in read_toml(file).items()}
    for name in content:
        if name not in known:
            raise UnknownName("option", name, known)
    if not isinstance(content.get("genders", {}), dict):
        raise ConfigError(f"{file}: genders must be a table.", 'Write [genders] with lines such as "frau" = "woman".')
    return content


def _plain(given: dict[str, Any]) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, Path) else value for name, value in given.items()}


def _print_plan(plan: Any, estimates: list[Any], as_json: bool) -> int:
    from gslopes.core.runfolder import show

    facts = {
        "photos": len(plan.files),
        "people known": len(plan.who),
        "backgrounds": len(plan.used_backgrounds),
        "pictures": plan.pictures,
        "questions": plan.pictures * len(estimates),
    }
    if as_json:
        prices = {one.name: one.usd for one in estimates}
        print_json({"run": str(plan.run), **facts, "usd": prices})
        return 0
    lines = [f"{name:<13}{count:,}" for name, count in facts.items()]
    lines += [f"ask          {one}" for one in estimates]
    click.echo("\n".join([*lines, f"run folder   {show(plan.run)}", "Nothing was written."]))
    return 0
