"""``gslopes captions``: what captions do to the people depicted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gslopes.core.commands import PATH, examples, json_option, print_json, rows


class NamedFile(click.ParamType):  # type: ignore[type-arg]
    """``NAME=FILE``."""

    name = "name=file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Path]:
        """Cut at the first equals sign."""
        if isinstance(value, tuple):
            return value
        name, equals, file = str(value).partition("=")
        if not name or not equals or not file:
            self.fail(f"{value!r} is not NAME=FILE.", param, ctx)
        return name, Path(file)


@click.command(
    short_help="What captions do to the people depicted.",
    epilog=examples(
        "gslopes captions stages --groups groups.csv --out run",
        "gslopes captions stages --out run --technique D1 --technique D4 --list demeaning-synsets=mine.txt",
        "gslopes captions run --review run/review.csv",
        "gslopes captions stages --photos-csv people.csv --groups gender --cluster photographer --out run",
        "gslopes captions stages --groups groups.csv --dry-run",
        "gslopes captions --lists",
        "gslopes captions --planted --out planted",
    ),
)
@click.argument("stages", type=PATH, required=False)
@click.option("--out", "-o", type=PATH, metavar="RUN", help="The run folder, made if missing.")
@click.option("--groups", metavar="CSV", help="Groups of the depicted: image and one column for each.")
@click.option("--photos-csv", type=PATH, metavar="CSV", help="The file of the groups; --groups then names a column.")
@click.option("--column", "columns", multiple=True, metavar="NAME", help="Of the groups; a + b crosses two.")
@click.option("--pair", "pairs", multiple=True, metavar="COLUMN:A,B", help="Compare only these. [default: all pairs]")
@click.option("--groups-from", metavar="mentions", help="Take groups from the gender words of the truth captions.")
@click.option("--cluster", metavar="COLUMN", help="Of the groups: images with the same value are resampled together.")
@click.option("--truth", metavar="STAGE", help="The stage taken as truth. [default: human-labels, else human-captions]")
@click.option(
    "--target", "targets", multiple=True, metavar="STAGE", help="The stage to audit. [default: all above truth]"
)
@click.option(
    "--technique", "-t", "techniques", multiple=True, metavar="NAME", help="A technique, such as S1. [default: all]"
)
@click.option("--list", "lists", type=NamedFile(), multiple=True, metavar="NAME=FILE", help="A word list of your own.")
@click.option("--senses", type=click.Choice(["overrides", "paper"]), help="Sense rule. [default: overrides]")
@click.option("--relax", metavar="nvar", help="Other parts of speech to try, in order. [default: nvar]")
@click.option("--parser", metavar="NAME", help="chunks, spacy:DIR, factual:DIR or tuples:FILE. [default: chunks]")
@click.option("--wordnet", metavar="wndb:DIR", help="Another WordNet. [default: 3.0, embedded]")
@click.option("--images", type=PATH, metavar="DIR", help="Photos that the review links to, blurred.")
@click.option("--captions-per-image", type=click.Choice(["union", "each", "one"]), help="[default: union]")
@click.option("--bootstrap", type=int, metavar="B", help="Bootstrap resamples. [default: 2000]")
@click.option("--permutations", type=int, metavar="M", help="[default: 10000]")
@click.option("--correction", type=click.Choice(["bh", "by", "holm"]), help="Correction for q. [default: bh]")
@click.option("--min-active", type=int, metavar="N", help="Concepts in fewer images are not tested. [default: 10]")
@click.option("--types", type=int, metavar="N", help="Object types of S2; the paper has 500. [default: 100]")
@click.option("--splits", type=int, metavar="N", help="Random splits of S2. [default: 1000]")
@click.option("--ridge", type=float, metavar="λ", help="Penalty of S2. [default: 1]")
@click.option("--match", type=click.Choice(["exact", "kind"]), help="S2: the type itself, or what is below it, too.")
@click.option("--exact", is_flag=True, default=None, help="S2: standardise on every split. Slower.")
@click.option("--valid-share", type=float, metavar="SHARE", help="S2: splits that must count. [default: 0.9]")
@click.option("--split-interval", type=click.Choice(["percentile", "normal"]), help="S2. [default: percentile]")
@click.option("--absent-location", type=float, metavar="D", help="S2: distance of what is not there. [default: 1]")
@click.option("--association", type=click.Choice(["cov", "phi", "diff"]), help="S1's association. [default: cov]")
@click.option(
    "--associate-in", type=click.Choice(["target", "truth", "human-captions"]), help="S1: where. [default: target]"
)
@click.option("--threshold", type=float, metavar="A", help="S1: associations above it are kept. [default: 0.005]")
@click.option("--lch", type=float, metavar="S", help="S1: least similarity of the same object. [default: 2.25]")
@click.option("--min-truth-depth", type=int, metavar="N", help="S1: depth below the root. [default: 0]")
@click.option("--prepositions", type=click.Choice(["exempt", "listed"]), help="S1. [default: exempt]")
@click.option("--bound-senses", type=click.Choice(["role", "all"]), help="D1: parts of speech. [default: role]")
@click.option("--min-people-area", type=float, metavar="SHARE", help="D2: of the image. [default: 0.1]")
@click.option("--mentioned-as", type=click.Choice(["any", "group"]), help="D2: anybody, or their group. [default: any]")
@click.option("--age", metavar="RULE", help="D3: require-adult, assume-adult or a column. [default: require-adult]")
@click.option("--nouns", metavar="WORD,…", help="D4's words. [default: female]")
@click.option("--limit", type=int, metavar="N", help="Only the first N images.")
@click.option("--workers", type=int, metavar="N", help="Processes that parse. [default: 1]")
@click.option("--seed", type=int, metavar="S", help="Seed of all random draws. [default: 0]")
@click.option("--review", type=PATH, metavar="CSV", help="Answers saved by the review. [default: RUN/review.csv]")
@click.option("--review-sample", type=int, metavar="N", help="Cases of each technique in the review. [default: 200]")
@click.option("--show-words", is_flag=True, default=None, help="Show listed words instead of masking them.")
@click.option("--planted", is_flag=True, help="Plant harms in made-up scenes and show how they are recovered.")
@click.option("--sets", type=int, default=200, show_default=True, metavar="N", help="Planted sets.")
@click.option("--lists", "show_lists", is_flag=True, help="Print the available word lists.")
@click.option(
    "--unlisted", type=PATH, metavar="RUN", help="Print the most common words for people that are in no list."
)
@click.option("--config", "file", type=PATH, metavar="TOML", help="A file with these options.")
@click.option("--dry-run", is_flag=True, help="Print the plan and write nothing.")
@json_option
def captions(
    stages: Path | None,
    out: Path | None,
    planted: bool,
    sets: int,
    show_lists: bool,
    unlisted: Path | None,
    file: Path | None,
    dry_run: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Find and count the ways in which captions could harm the people depicted.

    STAGES is a folder whose files or sub-folders are called human-labels, system-labels, human-captions and
    system-captions (COCO, Visual Genome, CSV or Parquet, known by their content), a TOML file that names them, a
    run of this command, or a run of gslopes audit with a captioner (R2: its gender words along the sweep). Every
    number says how it is to be read and what was taken as truth; there is no total.
    """
    from gslopes.core.errors import UsageError

    if show_lists:
        return _print_lists(as_json)
    if unlisted is not None:
        return _print_unlisted(unlisted, as_json)
    if planted:
        return _planted(out, sets, as_json)
    from gslopes.captions.config import config_of
    from gslopes.captions.sweep import is_audit

    if stages is None:
        raise UsageError("No stages are given.", "Give a folder of stages, or a TOML file.")
    if is_audit(stages):
        return _print_sweep(stages, as_json)
    config = config_of(_written({name: value for name, value in given.items() if value not in (None, ())}), file)
    if dry_run:
        return _print_plan(stages, config, as_json)
    if out is None and not (stages / "run.json").exists():
        raise UsageError("No run folder is given.", "Write --out RUN.")
    from gslopes.captions.audit import audit_captions
    from gslopes.executors import OneProcess

    found = audit_captions(stages, out or stages, config, executor=OneProcess(progress=True))
    code = 3 if found.failed else 0
    if as_json:
        print_json({"run": str(found.run), "page": str(found.page), "measures": rows(found.measures)})
        return code
    _print_measures(found)
    return code


def _written(given: dict[str, Any]) -> dict[str, Any]:
    """The options as they were written, with columns and words in lists."""
    given = dict(given)
    if "nouns" in given:
        given["nouns"] = tuple(word.strip() for word in given["nouns"].split(",") if word.strip())
    if (file := given.pop("photos_csv", None)) is not None:
        named = (given["groups"],) if "groups" in given else ()
        given |= {"groups": file, "columns": (*named, *given.get("columns", ()))}
    return {name: str(value) if isinstance(value, Path) else value for name, value in given.items()}


def _print_measures(found: Any) -> None:
    from gslopes.captions.report.terminal import print_measures
    from gslopes.core.runfolder import show

    click.echo(print_measures(found.measures))
    lines = ["", *found.notes]
    left = found.techniques[found.techniques["ran"] == "no"].drop_duplicates("technique")
    lines += [f"{row['technique']} did not run: {row['why']}" for row in left.to_dict("records")]
    lines += [f"page       {show(found.page)}", f"review     {show(found.review)} ({len(found.cases):,} cases)"]
    lines += [f"tables     {show(found.run)}/*.parquet"]
    click.echo("\n".join(lines), err=True)


def _print_plan(stages: Path, config: Any, as_json: bool) -> int:
    from dataclasses import asdict

    from gslopes.captions.plan import plan

    found = plan(stages, config)
    if as_json:
        print_json(asdict(found))
        return 0
    lines = [
        f"{stage:<16} {count:,} images, {found.captions[stage]:,} captions" for stage, count in found.images.items()
    ]
    lines += [f"in all of them   {found.shared:,} images", f"truth            {found.truth or 'none'}"]
    lines += [f"targets          {', '.join(found.targets)}"]
    lines += [f"left out         {count:,} {why}" for why, count in found.dropped.items()]
    seen: dict[str, dict[str, str]] = {}
    for row in found.techniques:
        seen.setdefault(row["technique"], row)
    for name, row in seen.items():
        state = "can run" if row["ran"] == "yes" else f"cannot run: {row['why']}"
        lines.append(f"{name} {row['title']:<32} {state}")
    click.echo("\n".join([*lines, "Nothing was written."]))
    return 0


def _print_lists(as_json: bool) -> int:
    from gslopes.language.wordlists import shipped

    table = [
        {"name": one.name, "version": one.version, "kind": one.kind, "entries": len(one.entries), "source": one.source}
        for one in shipped()
    ]
    if as_json:
        print_json(table)
        return 0
    click.echo("\n".join(f"{r['name']:<26} {r['kind']:<8} {r['entries']:>4}  {r['source']}" for r in table))
    return 0


def _print_unlisted(run: Path, as_json: bool) -> int:
    from gslopes.captions.lists import unlisted

    table = unlisted(run)
    print_json(table) if as_json else click.echo(
        "\n".join(f"{r['images']:>6}  {r['kind']:<10} {r['word']}" for r in table)
    )
    return 0


def _print_sweep(run: Path, as_json: bool) -> int:
    """R2 of an audit's captioners."""
    from gslopes.captions.report.terminal import print_rows
    from gslopes.captions.sweep import TABLE, measure_sweep

    found = measure_sweep(run)
    if as_json:
        print_json(rows(found))
        return 0
    click.echo(print_rows(found))
    click.echo(f"table      {run / TABLE}", err=True)
    return 0


def _planted(out: Path | None, sets: int, as_json: bool) -> int:
    from gslopes.captions.planted.study import recover
    from gslopes.core.errors import UsageError

    if out is None:
        raise UsageError("No folder is given.", "Write --out DIR.")
    table = recover(out, sets, progress=True)
    print_json(table) if as_json else click.echo("\n".join(_planted_line(row) for row in table))
    return 0


def _planted_line(row: dict[str, Any]) -> str:
    names = {"truth": "truth", "mean": "mean", "covered": "covered", "p_flagged": "p < 0.05", "flagged": "q < 0.05"}
    shown = [(text, row.get(name)) for name, text in (names | {"lost": "lost"}).items()]
    cells = [f"{text} {value:.3f}" for text, value in shown if value is not None]
    return "  ".join([f"{row['set']:<8} {row['planted']:<44}", *cells, f"sets {row['sets']}"])
