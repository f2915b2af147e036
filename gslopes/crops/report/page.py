"""From a run folder's tables to the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from gslopes.core import runfolder
from gslopes.core.errors import UsageError
from gslopes.core.files import csv_bytes
from gslopes.core.reasons import listed
from gslopes.crops import tables as schemas
from gslopes.crops.findings import findings_table
from gslopes.crops.method import of_run
from gslopes.crops.people import CROSS
from gslopes.crops.report import charts, pictures
from gslopes.crops.report.grids import Grid, other_grids, parity_grid, selected, write_page
from gslopes.crops.report.words import (
    LIMITS,
    RECTANGLE,
    favours,
    headline,
    in_order,
    lost,
    main_rows,
    none_favoured,
    side_effect,
    uneven,
)
from gslopes.crops.tables import DRAWN_MAPS, FEW
from gslopes.frame.parts import read_table
from gslopes.report import numbers, quote
from gslopes.report import words as plain
from gslopes.report.charts import FRAMES
from gslopes.report.choices import rows_of
from gslopes.report.layouts import to_latex, to_markdown

MOST_ARROWS = 6
MOST_BARS = 8
RULE = "q < 0.05, interval without 50 %"
ABOUT = quote.About(
    "Whom an automatic crop keeps",
    ("pair of people", "pairs of people"),
    "compared: two people of different groups side by side in one picture, in both orders",
    LIMITS[:3],
    "Yee, Tantipongpipat and Mishra 2021, doi 10.1145/3479594",
)
NEXT = (
    ("Look at the pictures", " of the largest margins before you quote a share.", ""),
    (
        "Take more people",
        " if groups are too few to judge. How many show a share of 60 %:",
        "gslopes crops power --p 0.6",
    ),
    (
        "Move one face alone",
        ", everything else equal, to see whether the crop follows how it looks:",
        "gslopes synthesise PHOTOS --attribute gender --placebo --out SWEEP; gslopes crops sweep SWEEP --out RUN",
    ),
    ("Compare versions", " of a cropper over the same people:", "--cropper OLD --cropper NEW"),
    (
        "Do not conclude",
        " that an even share makes a crop harmless, nor that who is cropped in which context is fair.",
        "",
    ),
)


@dataclass(slots=True)
class Section:
    """All about one cropper."""

    cropper: str
    version: str
    answer: str
    charts: list[tuple[str, Markup]] = field(default_factory=list)
    grids: list[Grid] = field(default_factory=list)
    pictures: list[tuple[str, Sequence[pictures.Picture]]] = field(default_factory=list)
    legend: list[tuple[str, str]] = field(default_factory=list)
    mapped: bool = False


def write_crops_report(run: Path | str, *, photos: Mapping[str, Path] | None = None, embed: str = "thumbs") -> Path:
    """Write RUN/report/index.html and parity, aggregates and policies as CSV, Markdown and LaTeX; return the page.

    run: the run folder of ``gslopes crops``.  photos: path in people.csv to file, for pictures; none without it.
    embed: ``thumbs``: small pictures in the page; ``full``: larger ones; ``none``: no picture, no file name.

    Raises: UsageError if it is no such run folder, or for another ``embed``; TableError, StorageError.
    """
    run, photos = Path(run), photos or {}
    pictures.check_embed(embed)
    manifest = runfolder.read_manifest(run)
    if manifest.get("kind") not in ("crops", "crops sweep"):
        raise UsageError(f"{runfolder.show(run)} is no run of gslopes crops.", "Make one with: gslopes crops.")
    found = {table.name: read_table(table, run, optional=True) for table in schemas.ALL}
    report = run / "report"
    runfolder.make_folder(report)
    _write_tables(report, found)
    sentence = headline(main_rows(found["parity"]))
    quoted = quote.of_findings(run, findings_table(found["parity"]), sentence, ABOUT)
    quote.write_card(report, quoted)
    sections = [
        _section(cropper, version, found, manifest, photos, embed) for cropper, version in manifest["croppers"].items()
    ]
    return write_page(
        report,
        "crops.html.j2",
        sections=sections,
        headline=sentence,
        steps=NEXT,
        quote=quoted,
        groups=_groups(found, manifest),
        source=plain.printable(manifest.get("source", "given")),
        left_out=_left_out(found, manifest),
        version=manifest.get("gslopes", ""),
        config=[
            (name, plain.printable(value)) for name, value in manifest["config"].items() if value not in (None, "")
        ],
        temperatures=manifest.get("temperatures", {}),
        embed=embed,
        differs=rows_of(of_run(run)[1]),
    )


# -- one cropper ------------------------------------------------------------------------------------------------------


def _section(
    cropper: str,
    version: str,
    found: Mapping[str, pd.DataFrame],
    manifest: Mapping[str, Any],
    photos: Mapping[str, Path],
    embed: str,
) -> Section:
    tables = {name: frame[frame["cropper"] == cropper] for name, frame in found.items() if "cropper" in frame}
    parity = tables["parity"]
    head = in_order(main_rows(parity), manifest["columns"])
    section = Section(plain.printable(cropper), plain.printable(version), _answer(head, tables["positions"]))
    for column, rows in head.groupby("column", sort=False):
        name = plain.printable(column)
        judged = rows[rows["note"] == ""]
        left = len(rows) > MOST_BARS and 0 < len(judged) < len(rows)
        title = f"Who is favoured, by {name}"
        title += f"; not judged: {plain.many(len(rows) - len(judged), 'more pair')} of groups" * left
        section.charts.append((title, Markup(charts.bars(judged if left else rows))))
        names = {*rows["group"], *rows["other"]}
        if 2 < len(names) <= MOST_ARROWS:
            section.charts.append((f"The same by {name}: arrows to the less favoured", Markup(charts.arrows(rows))))
    section.grids.append(parity_grid(head))
    section.grids += other_grids(tables, parity)
    policies = tables["policies"]
    if len(policies):
        pair = _pair_of(policies, head)
        title = f"Policies: {pair['group'].iloc[0]} over {pair['other'].iloc[0]}, deviation from even in points"
        section.charts.append((title, Markup(charts.scatter(pair))))
    _distributions(section, tables["saliency"], found, manifest)
    if photos and embed != "none" and len(tables["pairs"]):
        _draw_pairs(section, tables, found, manifest, photos, embed)
    return section


def _pair_of(policies: pd.DataFrame, head: pd.DataFrame) -> pd.DataFrame:
    """The rows of one pair of groups: the first that can be judged, else the first of all."""
    names = ["column", "group", "other"]
    judged = head[head["note"] == ""].merge(policies[names].drop_duplicates(), on=names)
    first = (judged if len(judged) else policies).iloc[0]
    return policies[(policies[names] == first[names]).all(axis=1)]


def _answer(head: pd.DataFrame, positions: pd.DataFrame) -> str:
    judged = head[head["note"] == ""]
    shown = uneven(judged)
    lines = [favours(row) for row in shown.sort_values("q").head(4).to_dict("records")]
    number = f"{len(shown)} {'is' if len(shown) == 1 else 'are'} not even ({RULE}): {'; '.join(lines)}"
    first = f"Of {plain.many(len(judged), 'pair')} of groups that can be judged, {number}."
    if not lines:
        first = f"{none_favoured(judged)}." if len(judged) else "No pair of groups can be judged."
    few = int(head["note"].str.startswith(FEW).sum())
    same = len(head) - len(judged) - few
    more = " more" if len(judged) else ""
    second = f" {few}{more} {'has' if few == 1 else 'have'} too few people to judge." if few else ""
    second += f" In {plain.many(same, 'pair')} people do not differ." if same else ""
    side = ""
    if len(positions):
        side = f" {side_effect(float(positions['left'].iloc[0]))}."
    return plain.printable(first + second + side)


def _distributions(
    section: Section, saliency: pd.DataFrame, found: Mapping[str, pd.DataFrame], manifest: Mapping[str, Any]
) -> None:
    rows = saliency[saliency["scale"] == "own"]
    if rows.empty:
        return
    person = dict(zip(found["people"]["photo"], found["people"]["person"], strict=True))
    traits = found["traits"]
    names = [column for column in manifest["columns"] if CROSS not in column]
    group = {
        column: rows["photo"]
        .map(person)
        .map(dict(traits[traits["column"] == column][["person", "value"]].itertuples(index=False)))
        for column in names
    }
    for statistic, title in (("max", "Largest score of a photo alone"), ("median", "Median score of a photo alone")):
        known = rows[statistic].dropna()
        if not len(known) or np.ptp(known) <= 1e-6:  # a model that scales each map to 1 has one maximum for all
            continue
        extent = float(known.min()), float(known.max())
        for panel in (None, *(sorted(group[names[1]].dropna().unique()) if len(names) > 1 else ())):
            inside = rows if panel is None else rows[group[names[1]] == panel]
            values = {
                str(name): of_group.to_numpy(np.float64)
                for name, of_group in inside[statistic].groupby(group[names[0]], sort=True)
            }
            if any(len(one) for one in values.values()):
                named = title if panel is None else f"{title}: {plain.printable(panel)}"
                drawn = charts.distributions(values, named, extent)
                section.charts.append((f"{named}, by {plain.printable(names[0])}", Markup(drawn)))


def _draw_pairs(
    section: Section,
    tables: Mapping[str, pd.DataFrame],
    found: Mapping[str, pd.DataFrame],
    manifest: Mapping[str, Any],
    photos: Mapping[str, Path],
    embed: str,
) -> None:
    people, traits = found["people"], found["traits"]
    path, person = (dict(zip(people["photo"], people[name], strict=True)) for name in ("path", "person"))
    column = manifest["columns"][-1]
    group = dict(traits[traits["column"] == column][["person", "value"]].itertuples(index=False))
    far, near = pictures.chosen(tables["pairs"])
    crops = (
        tables["crops"][tables["crops"]["policy"].isin(["argmax", RECTANGLE])].set_index(["left", "right"]).sort_index()
    )
    vertical = manifest["config"]["attach"] == "vertical"
    maps = {(one["left"], one["right"]): one for one in tables[DRAWN_MAPS.name].to_dict("records")}
    mapless = far["margin"].isna().all()
    titles = ("Some pairs" if mapless else "Largest margin between both people's maxima", "Smallest margin")
    for title, chosen in zip(titles, (far, near), strict=True):
        drawn = []
        for row in chosen.to_dict("records"):
            pair = row["left"], row["right"]
            files = [photos[path[photo]] for photo in pair if path[photo] in photos]
            one, other = (plain.printable(group.get(person[photo], "?")) for photo in pair)
            if len(files) < 2:
                continue
            picture = pictures.draw(
                row,
                crops.loc[[pair]].reset_index(),
                files,
                (one, other),
                vertical=vertical,
                width=pictures.WIDTHS[embed],
                map_=maps.get(pair),
                padding=manifest["config"].get("padding", "black"),
            )
            if picture is not None:
                drawn.append(picture)
        if drawn:
            section.pictures.append((title, drawn))
    section.mapped = bool(maps)
    ratios = sorted(manifest["config"]["ratios"])
    section.legend = [(f"{value:g}", FRAMES[index % len(FRAMES)]) for index, value in enumerate(ratios)]


# -- the whole --------------------------------------------------------------------------------------------------------


def _groups(found: Mapping[str, pd.DataFrame], manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    traits = found["traits"]
    lines = []
    for column in manifest["columns"]:
        of_column = traits[traits["column"] == column]
        counts = of_column["value"].value_counts().sort_index()
        text = ", ".join(f"{plain.printable(n)} {count}" for n, count in counts.items())
        others = set(of_column["source"]) - {manifest.get("source")}
        lines.append((plain.printable(column), "; ".join([text, *map(plain.printable, sorted(others))])))
    return lines


def _left_out(found: Mapping[str, pd.DataFrame], manifest: Mapping[str, Any]) -> list[str]:
    people, positions = found["people"], found["positions"]
    out = people[people["status"] != "used"]
    lines = [
        f"{plain.many(count, 'photo')} skipped: {plain.printable(reason)}"
        for reason, count in Counter(map(listed, out["reason"], out["detail"])).most_common()
    ]
    faceless = int(((people["status"] == "used") & (people["faces"] == 0)).sum())
    lines += [f"{plain.many(faceless, 'photo')} without a face: out of what is kept, still in who is favoured"] * bool(
        faceless
    )
    lines += [plain.printable(manifest["absent"])] if manifest.get("absent") else []
    for column, why in manifest.get("left_out", {}).items():
        lines += [
            f"{plain.many(count, 'person', 'people')} left out of {plain.printable(column)}: {plain.printable(r)}"
            for r, count in why.items()
        ]
    for row in positions.to_dict("records"):
        share = row["ties"] / max(row["pictures"], 1)
        warning = " More than a fifth: the audit says little about this cropper." if share > 0.2 else ""
        lines.append(
            f"{plain.printable(row['cropper'])}: {plain.many(row['ties'], 'tie')}, "
            f"{numbers.share(row['on_padding'])} of focal points on padding, "
            f"{lost(found['pairs'], row['cropper'])} of "
            f"{plain.many(row['pictures'] + row['failed'] + row['refused'], 'picture')}.{warning}"
        )
        lines += _selection(row["cropper"], found, manifest)
    return lines


def _selection(cropper: str, found: Mapping[str, pd.DataFrame], manifest: Mapping[str, Any]) -> list[str]:
    pairs, people, traits = found["pairs"], found["people"], found["traits"]
    person = dict(zip(people["photo"], people["person"], strict=True))
    column_traits = traits[traits["column"] == manifest["columns"][0]]
    group = dict(column_traits[["person", "value"]].itertuples(index=False))
    sentences = selected(pairs[pairs["cropper"] == cropper], person, group)
    return [f"Warning, {plain.printable(cropper)}: {plain.printable(sentence)}" for sentence in sentences]


def _write_tables(report: Path, found: Mapping[str, pd.DataFrame]) -> None:
    folder = report / "tables"
    runfolder.make_folder(folder)
    captions = {
        "parity": "Pairs of groups: who is favoured and kept, with 95 % intervals over people.",
        "aggregates": "Groups over a coarser grouping.",
        "policies": "Policies: deviation from even, amplification and exposure.",
    }
    for name, caption in captions.items():
        frame = found[name]
        runfolder.write_bytes(folder / f"{name}.csv", csv_bytes(frame))
        short = frame[[column for column in frame if not frame[column].isna().all()]]
        shown = short.map(lambda value: f"{value:.4g}" if isinstance(value, float) else plain.printable(value))
        runfolder.write_bytes(folder / f"{name}.md", to_markdown(shown, caption).encode("utf-8", "replace"))
        runfolder.write_bytes(folder / f"{name}.tex", to_latex(shown, caption, name).encode("utf-8", "replace"))
