"""The sections of the page of a crop audit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from gslopes.core import runfolder
from gslopes.core.files import read_json
from gslopes.core.reasons import listed
from gslopes.crops import charts
from gslopes.crops.grids import Grid, other_grids, parity_grid, selected
from gslopes.crops.tables import FEW, TABLES
from gslopes.crops.words import favours, in_order, lost, main_rows, none_favoured, side_effect, uneven
from gslopes.frame.page import Page
from gslopes.frame.spec import Section
from gslopes.photos.people import CROSS
from gslopes.report import numbers
from gslopes.report import words as plain
from gslopes.report.charts import FRAMES

MOST_ARROWS = 6
MOST_BARS = 8
RULE = "q < 0.05, interval without 50 %"
Found = Mapping[str, pd.DataFrame]


def found_of(page: Page) -> Found:
    """Every table, empty where the run has none."""
    return {name: page.tables[name] if name in page.tables else table.empty() for name, table in TABLES.items()}


def columns_of(page: Page) -> list[str]:
    """The groupings as they were asked for, and all of them crossed."""
    groups = page.run.config.groups
    return [*groups, *([CROSS.join(groups)] if len(groups) > 1 else [])]


def croppers_of(page: Page) -> dict[str, str]:
    """Cropper to version."""
    asked: dict[str, str] = runfolder.read_manifest(page.run.folder)["asked"]
    return asked


def lede(page: Page) -> dict[str, Any]:
    """What is asked, and how groups are known."""
    groups = [line for line in groups_of(page) if CROSS not in line[0]]
    return {"source": plain.printable(page.run.config.source), "groups": groups}


def differently(page: Page) -> dict[str, Any]:
    """Each cropper's answer, with its charts."""
    found = found_of(page)
    return {"sections": [_cropper(page, found, *one) for one in croppers_of(page).items()]}


def sure(page: Page) -> dict[str, Any]:
    """Each cropper's tables."""
    found = found_of(page)
    grids = [(plain.printable(cropper), _grids(page, found, cropper)) for cropper in croppers_of(page)]
    return {"croppers": grids}


def show(page: Page) -> dict[str, Any] | None:
    """The pairs that were drawn, with what the frames and the maps are."""
    file = page.run.folder / "pairs.json"
    drawn = read_json(file) if file.is_file() else {}
    mapped = set(found_of(page)["drawn_maps"]["cropper"])
    ratios = sorted(page.run.config.ratios)
    legend = [(f"{value:g}", FRAMES[index % len(FRAMES)]) for index, value in enumerate(ratios)]
    rows = [(plain.printable(name), drawn[name], name in mapped) for name in croppers_of(page) if drawn.get(name)]
    return {"croppers": rows, "legend": legend} if rows else None


def left_out(page: Page) -> dict[str, Any]:
    """What was left out, and why."""
    return {"lines": _left_out(page, found_of(page))}


def made(page: Page) -> dict[str, Any]:
    """How the numbers were made, and the options."""
    manifest = runfolder.read_manifest(page.run.folder)
    config = {name: value for name, value in manifest["config"].items() if name not in ("cost_limits", "people")}
    shown = [(name, plain.printable(value)) for name, value in config.items() if value not in (None, "")]
    return {"groups": groups_of(page), "config": shown, "version": manifest.get("gslopes", "")}


SECTIONS = (
    Section("lede", "", lede),
    Section("differently", "", differently),
    Section("sure", "", sure),
    Section("show", "", show),
    Section("left_out", "What was left out", left_out),
    Section("made", "How this was made", made),
)


# -- one cropper ------------------------------------------------------------------------------------------------------


def _grids(page: Page, found: Found, cropper: str) -> list[Grid]:
    tables, head = _own(page, found, cropper)
    return [parity_grid(head), *other_grids(tables, tables["parity"])]


def _own(page: Page, found: Found, cropper: str) -> tuple[Found, pd.DataFrame]:
    """The rows of a cropper by table, and those that head the page."""
    tables = {name: frame[frame["cropper"] == cropper] for name, frame in found.items() if "cropper" in frame}
    return tables, in_order(main_rows(tables["parity"]), columns_of(page))


def _cropper(page: Page, found: Found, cropper: str, version: str) -> dict[str, Any]:
    tables, head = _own(page, found, cropper)
    drawn: list[tuple[str, Markup]] = []
    for column, rows in head.groupby("column", sort=False):
        name = plain.printable(column)
        judged = rows[rows["note"] == ""]
        left = len(rows) > MOST_BARS and 0 < len(judged) < len(rows)
        title = f"Who is favoured, by {name}"
        title += f"; not judged: {plain.many(len(rows) - len(judged), 'more pair')} of groups" * left
        drawn.append((title, Markup(charts.bars(judged if left else rows))))
        names = {*rows["group"], *rows["other"]}
        if 2 < len(names) <= MOST_ARROWS:
            drawn.append((f"The same by {name}: arrows to the less favoured", Markup(charts.arrows(rows))))
    policies = tables["policies"]
    if len(policies):
        pair = _pair_of(policies, head)
        title = f"Policies: {pair['group'].iloc[0]} over {pair['other'].iloc[0]}, deviation from even in points"
        drawn.append((title, Markup(charts.scatter(pair))))
    drawn += _distributions(tables["saliency"], found, page.run.config.groups)
    answer = _answer(head, tables["positions"])
    return {"cropper": plain.printable(cropper), "version": plain.printable(version), "answer": answer, "charts": drawn}


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


def _distributions(saliency: pd.DataFrame, found: Found, names: Sequence[str]) -> list[tuple[str, Markup]]:
    """Curves of the photos' own scores, by group, a panel for each of the second grouping."""
    rows = saliency[saliency["scale"] == "own"]
    curves: list[tuple[str, Markup]] = []
    if rows.empty:
        return curves
    person = dict(zip(found["people"]["photo"], found["people"]["person"], strict=True))
    traits = found["traits"]
    group: dict[str, Any] = {
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
                curves.append((f"{named}, by {plain.printable(names[0])}", Markup(drawn)))
    return curves


# -- the whole --------------------------------------------------------------------------------------------------------


def groups_of(page: Page) -> list[tuple[str, str]]:
    """Each grouping with its groups, counted, and how they are known where that is another way."""
    traits = page.tables["traits"]
    lines = []
    for column in columns_of(page):
        of_column = traits[traits["column"] == column]
        counts = of_column["value"].value_counts().sort_index()
        text = ", ".join(f"{plain.printable(n)} {count}" for n, count in counts.items())
        others = set(of_column["source"]) - {page.run.config.source}
        lines.append((plain.printable(column), "; ".join([text, *map(plain.printable, sorted(others))])))
    return lines


def _left_out(page: Page, found: Found) -> list[str]:
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
    lines += page.notes
    for column, why in read_json(page.run.folder / "groups.json")["left_out"].items():
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
        lines += _selection(row["cropper"], found, page.run.config.groups[0])
    return lines


def _selection(cropper: str, found: Found, column: str) -> list[str]:
    pairs, people, traits = found["pairs"], found["people"], found["traits"]
    person = dict(zip(people["photo"], people["person"], strict=True))
    column_traits = traits[traits["column"] == column]
    group: dict[str, Any] = dict(column_traits[["person", "value"]].itertuples(index=False))
    sentences = selected(pairs[pairs["cropper"] == cropper], person, group)
    return [f"Warning, {plain.printable(cropper)}: {plain.printable(sentence)}" for sentence in sentences]
