"""The sections of the page of a crop audit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup
from scipy import stats

from gslopes.core import runfolder
from gslopes.core.files import read_json
from gslopes.core.reasons import listed
from gslopes.crops import charts
from gslopes.crops.regions import WHAT
from gslopes.crops.tables import FEW, RECTANGLE
from gslopes.crops.words import favours, lost, main_rows, none_favoured, ratio, side_effect, uneven
from gslopes.frame.page import Page
from gslopes.frame.spec import Section, Tables
from gslopes.photos.people import CROSS
from gslopes.report import numbers
from gslopes.report import words as plain
from gslopes.report.charts import FRAMES

MOST_BARS = 8
RULE = "q < 0.05, interval without 50 %"
LEVEL = 0.01  # of the test whether a cropper refuses one group more often
Text = Callable[[Mapping[Any, Any]], str]
Grid = dict[str, Any]  # a table of texts: caption, head, rows


def columns_of(page: Page) -> list[str]:
    """The groupings as they were asked for, and all of them crossed."""
    groups = page.run.config.groups
    return [*groups, *([CROSS.join(groups)] if len(groups) > 1 else [])]


def own_tables(page: Page) -> dict[str, tuple[str, Tables, pd.DataFrame]]:
    """Cropper to its version, its rows by table, and those that head the page, in the order of the groupings."""
    asked: dict[str, str] = runfolder.read_manifest(page.run.folder)["asked"]
    order = {column: index for index, column in enumerate(columns_of(page))}
    found: dict[str, tuple[str, Tables, pd.DataFrame]] = {}
    for cropper, version in asked.items():
        own = {name: page.tables[name] for name in page.audit.tables if "cropper" in page.tables[name]}
        own = {name: frame[frame["cropper"] == cropper] for name, frame in own.items()}
        head = main_rows(own["parity"]).sort_values("column", key=lambda column: column.map(order), kind="stable")
        found[cropper] = version, own, head
    return found


def lede(page: Page) -> dict[str, Any]:
    """What is asked, and how groups are known."""
    groups = [line for line in groups_of(page) if CROSS not in line[0]]
    return {"source": plain.printable(page.run.config.source), "groups": groups}


def differently(page: Page) -> dict[str, Any]:
    """Each cropper's answer, with its charts."""
    sections = []
    for cropper, (version, own, head) in own_tables(page).items():
        drawn: list[tuple[str, Markup]] = []
        for column, rows in head.groupby("column", sort=False):
            judged = rows[rows["note"] == ""]
            left = len(rows) > MOST_BARS and 0 < len(judged) < len(rows)
            title = f"Who is favoured, by {plain.printable(column)}"
            title += f"; not judged: {plain.many(len(rows) - len(judged), 'more pair')} of groups" * left
            drawn.append((title, Markup(charts.bars(judged if left else rows))))
        drawn += _distributions(page, own["saliency"])
        names = {"cropper": plain.printable(cropper), "version": plain.printable(version)}
        sections.append({**names, "answer": _answer(head, own["positions"]), "charts": drawn})
    return {"sections": sections}


def sure(page: Page) -> dict[str, Any]:
    """Each cropper's tables."""
    return {
        "croppers": [(plain.printable(name), grids(own, head)) for name, (_, own, head) in own_tables(page).items()]
    }


def show(page: Page) -> dict[str, Any] | None:
    """The pairs that were drawn, with what the frames and the maps are."""
    drawn = read_json(page.run.folder / "pairs.json")
    legend = [(f"{value:g}", FRAMES[i % len(FRAMES)]) for i, value in enumerate(sorted(page.run.config.ratios))]
    rows = [(plain.printable(name), one["titles"], one["mapped"]) for name, one in drawn.items() if one["titles"]]
    return {"croppers": rows, "legend": legend} if rows else None


def left_out(page: Page) -> dict[str, Any]:
    """What was left out, and why."""
    people, traits = page.tables["people"], page.tables["traits"]
    out = people[people["status"] != "used"]
    lines = [
        f"{plain.many(count, 'photo')} skipped: {plain.printable(reason)}"
        for reason, count in Counter(map(listed, out["reason"], out["detail"])).most_common()
    ]
    faceless = int(((people["status"] == "used") & (people["faces"] == 0)).sum())
    if faceless:
        lines.append(f"{plain.many(faceless, 'photo')} without a face: out of what is kept, still in who is favoured")
    lines += page.notes
    for column, why in read_json(page.run.folder / "groups.json")["left_out"].items():
        lines += [
            f"{plain.many(count, 'person', 'people')} left out of {plain.printable(column)}: {plain.printable(reason)}"
            for reason, count in why.items()
        ]
    person = dict(zip(people["photo"], people["person"], strict=True))
    first = traits[traits["column"] == page.run.config.groups[0]]
    group = dict(zip(first["person"], first["value"], strict=True))
    for row in page.tables["positions"].to_dict("records"):
        pairs = page.tables["pairs"][page.tables["pairs"]["cropper"] == row["cropper"]]
        name, many_ties = plain.printable(row["cropper"]), row["ties"] > 0.2 * max(row["pictures"], 1)
        lines.append(
            f"{name}: {plain.many(row['ties'], 'tie')}, {numbers.share(row['on_padding'])} of focal points on padding, "
            f"{lost(pairs)} of {plain.many(len(pairs), 'picture')}."
            + " More than a fifth: the audit says little about this cropper."
            * many_ties
        )
        lines += [f"Warning, {name}: {plain.printable(sentence)}" for sentence in selected(pairs, person, group)]
    return {"lines": lines}


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


def groups_of(page: Page) -> list[tuple[str, str]]:
    """Each grouping with its groups, counted."""
    traits = page.tables["traits"]
    lines = []
    for column in columns_of(page):
        counts = traits[traits["column"] == column]["value"].value_counts().sort_index()
        text = ", ".join(f"{plain.printable(name)} {count}" for name, count in counts.items())
        lines.append((plain.printable(column), text))
    return lines


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
    side = f" {side_effect(float(positions['left'].iloc[0]))}." if len(positions) else ""
    return plain.printable(first + second + side)


def _distributions(page: Page, saliency: pd.DataFrame) -> list[tuple[str, Markup]]:
    """Curves of the photos' own scores, by group, a panel for each of the second grouping; the paper's Figure 7."""
    names, people, traits = page.run.config.groups, page.tables["people"], page.tables["traits"]
    rows = saliency[saliency["scale"] == "own"]
    person = rows["photo"].map(dict(zip(people["photo"], people["person"], strict=True)))
    group = {
        column: person.map(dict(zip(of["person"], of["value"], strict=True)))
        for column in names
        for of in [traits[traits["column"] == column]]
    }
    curves: list[tuple[str, Markup]] = []
    for statistic, title in (("max", "Largest score of a photo alone"), ("median", "Median score of a photo alone")):
        known = rows[statistic].dropna()
        if not len(known) or np.ptp(known) <= 1e-6:  # a model that scales each map to 1 has one maximum for all
            continue
        extent = float(known.min()), float(known.max())
        for panel in (None, *(sorted(group[names[1]].dropna().unique()) if len(names) > 1 else ())):
            inside = rows if panel is None else rows[group[names[1]] == panel]
            by_group = inside[statistic].groupby(group[names[0]], sort=True)
            if values := {str(name): of_group.to_numpy(np.float64) for name, of_group in by_group}:
                named = title if panel is None else f"{title}: {plain.printable(panel)}"
                drawn = charts.distributions(values, named, extent)
                curves.append((f"{named}, by {plain.printable(names[0])}", Markup(drawn)))
    return curves


# -- tables -----------------------------------------------------------------------------------------------------------


def grid_of(rows: pd.DataFrame, caption: str, columns: Mapping[str, str | Text]) -> Grid:
    """A table of texts.  columns: head to what makes the text of a row; a name stands for that column."""
    body = [
        [plain.printable(row[make] if isinstance(make, str) else make(row)) for make in columns.values()]
        for row in rows.to_dict("records")
    ]
    return {"caption": caption, "head": list(columns), "rows": body}


def grids(own: Tables, head: pd.DataFrame) -> list[Grid]:
    """All tables of a cropper that have rows.  own: its rows by table.  head: those of PARITY that head the page."""
    parity = own["parity"]
    main = parity[parity["policy"].isin(["argmax", RECTANGLE])]
    favoured, kept = main[main["outcome"] == "favoured"], main[main["outcome"].str.startswith("kept@")]
    variants = favoured.sort_values(["column", "group", "other", "variant"])
    pair: dict[str, str | Text] = {"grouping": "column", "group": "group", "other": "other"}
    over_people: dict[str, str | Text] = {"95 % over people": lambda r: numbers.share_range(r["ci_low"], r["ci_high"])}
    verdict: dict[str, str | Text] = {"disparate impact": ratio, "lack of parity": lambda r: r["note"] or r["verdict"]}
    made = [
        grid_of(
            head,
            "Pairs of groups: who is favoured",
            {
                **pair,
                "people": lambda r: f"{r['persons']} and {r['other_persons']}",
                "P(group over other)": lambda r: numbers.share(r["p"]),
                **over_people,
                "of the draws only": lambda r: f"± {numbers.size(100 * r['draws_half'])}",
                "p": lambda r: numbers.probability(r["p_value"]),
                "q": lambda r: numbers.probability(r["q"]),
                **verdict,
            },
        ),
        grid_of(
            variants if favoured["variant"].nunique() > 1 else variants.iloc[:0],
            "Joined and alone. A photo alone at its own scale is larger in the model's eyes than when joined: only the "
            "matched scale may be compared with joined pictures",
            {"variant": "variant", **pair, "P": lambda r: numbers.share(r["p"]), **over_people},
        ),
        grid_of(
            kept,
            "Whose head is kept, by ratio (height/width) of the crop",
            {
                "ratio": lambda r: r["outcome"].removeprefix("kept@"),
                "grouping": "column",
                "group": lambda r: f"{r['group']}: {numbers.share(r['kept'])}",
                "other": lambda r: f"{r['other']}: {numbers.share(r['other_kept'])}",
                "both": lambda r: numbers.share(r["both"]),
                "neither": lambda r: numbers.share(r["neither"]),
                **verdict,
            },
        ),
        grid_of(
            own["policies"],
            "Policies, after Table 1 of the paper, with what was measured: deviation from even in points",
            {
                "policy": "policy",
                "group": "group",
                "other": "other",
                "deviation": lambda r: _points(r, "deviation"),
                "amplification": lambda r: numbers.decimal(r["amplification"]),
                "exposure": lambda r: numbers.decimal(r["exposure"], 3),
                "both heads kept": lambda r: numbers.share(r["whole"]),
                "user agency": "agency",
                "automation": "automation",
                "coverage": "coverage",
                "risk": "risk",
            },
        ),
        grid_of(
            own["gaze"],
            "Photos alone, with 95 % Wilson intervals",
            {
                "what": lambda r: WHAT[r["what"]],
                "grouping": "column",
                "group": "group",
                "photos": lambda r: f"{r['count']} of {r['photos']}",
                "share": lambda r: numbers.share_with_range(r["share"], r["ci_low"], r["ci_high"]),
            },
        ),
        grid_of(
            own["gaze_gaps"],
            "Photos alone: differences between groups in points, with 95 % Newcombe intervals",
            {
                "what": lambda r: WHAT[r["what"]],
                "grouping": "column",
                "group": "group",
                "less": "other",
                "difference": lambda r: numbers.points(100 * r["difference"]),
                "95 %": lambda r: numbers.interval(100 * r["ci_low"], 100 * r["ci_high"]),
            },
        ),
    ]
    return [grid for grid in made if grid["rows"]]


def _points(row: Mapping[Any, Any], name: str) -> str:
    value, low, high = (numbers.points(100 * row[f"{name}{end}"]) for end in ("", "_low", "_high"))
    return value if numbers.NONE in (low, high) else f"{value} ({low} to {high})"


def selected(pairs: pd.DataFrame, person: Mapping[str, str], group: Mapping[str, str]) -> Sequence[str]:
    """A sentence for each two groups of which so different a share has no answer at all (Fisher's exact, p < 0.01).

    Then who is left is no fair comparison.  pairs: rows of PAIRS, one cropper's.  person: photo to person.
    group: person to group.
    """
    out = pairs["status"] != "answered"
    people = pd.concat([pairs[side].map(person) for side in ("left", "right")])
    never = pd.concat([out, out]).groupby(people.to_numpy()).all()
    counts = {name: (int(rows.sum()), len(rows)) for name, rows in never.groupby(never.index.map(group), sort=True)}
    sentences = []
    for (one, (a, m)), (other, (b, n)) in combinations(counts.items(), 2):
        p = float(stats.fisher_exact([[a, m - a], [b, n - b]]).pvalue)
        if p < LEVEL:
            shares = f"{a} of {m} {one} and {b} of {n} {other}"
            sentences.append(f"no picture of {shares} has an answer (Fisher p {p:.2g}): the comparison is selected.")
    return sentences
