"""The sections of the page of a crop audit, and its finding."""

from collections.abc import Sequence
from itertools import combinations

import pandas as pd
from markupsafe import Markup
from pandas import DataFrame

from gslopes.ask.boxes import RECTANGLE
from gslopes.core import Record, Texts, files, reasons, runfolder
from gslopes.core.tables import lookup, records
from gslopes.crops.config import ABOVE, CONSTANT, SENTENCES
from gslopes.crops.measures.parity import comparable
from gslopes.crops.measures.rows import WHAT
from gslopes.crops.page import charts
from gslopes.frame.findings import surest
from gslopes.frame.page import Content, Page, chart, sure
from gslopes.frame.shown import grid_of
from gslopes.frame.spec import Headline, Section, Tables
from gslopes.photos.people import CROSS
from gslopes.report import numbers
from gslopes.report.charts import FRAMES, Mark, panel
from gslopes.report.headline import Nothing, Sentences, points
from gslopes.report.words import printable, readable
from gslopes.stats import multiplicity, rounding
from gslopes.stats.shares import fisher

LEVEL = 0.01  # of the test whether a cropper refuses one group more often


def own_tables(page: Page) -> dict[str, Tables]:
    """Cropper to its rows by table, and as ``head`` those that head the page, in the order of the groupings."""
    groups = page.run.config.groups
    order = [*groups, CROSS.join(groups)]
    by_cropper: dict[str, Tables] = {}
    for cropper in runfolder.read_manifest(page.run.folder)["asked"]:
        tables = {
            name: table[table["cropper"] == cropper]
            for name, table in page.tables.items()
            if "cropper" in table
        }
        head = main_rows(tables["parity"]).sort_values(
            "column", key=lambda column: column.map(order.index), kind="stable"
        )
        by_cropper[cropper] = {**tables, "head": head}
    return by_cropper


def typical(page: Page) -> Content | None:
    """The first pair that was drawn, of the cropper that leads the findings, and how to read it."""
    content = show(page)
    return content and {**content, "lead": page.findings["model"].iloc[0]}


def differently(page: Page) -> Content | None:
    """The chart, and each cropper's answer."""
    drawn = chart(page)
    models = [
        (printable(name), headline(tables["head"])) for name, tables in own_tables(page).items()
    ]
    return drawn and {**drawn, "models": models}


def certain(page: Page) -> Content:
    """How groups are known, and whether it matters on which side a person is."""
    traits = page.tables["traits"]
    config = page.run.config
    turned = page.tables["attached"]
    groups = {
        column: traits.query("column == @column")["value"].value_counts().sort_index()
        for column in config.groups
    }
    return {
        **sure(page),
        "source": config.source,
        "groups": groups,
        "sides": records(_main(page, "positions")),
        "turned": records(turned[turned["variant"] == config.variant + ABOVE]),
        "ends": ends,
    }


def figures(page: Page) -> Content:
    """Each cropper's distributions and tables."""
    versions = runfolder.read_manifest(page.run.folder)["asked"]
    croppers = [
        (
            name,
            versions[name],
            _distributions(page, tables["saliency"]),
            _panels(tables),
            _graphs(page, tables["parity"]),
            grids(tables),
        )
        for name, tables in own_tables(page).items()
    ]
    return {"croppers": croppers}


def show(page: Page) -> Content | None:
    """The pairs that were drawn, with what the frames and the maps are."""
    drawn = files.read_json(page.run.folder / "pairs.json")
    croppers = {name: entry for name, entry in drawn.items() if entry["titles"]}
    if croppers:
        return {
            "croppers": croppers,
            "ratios": sorted(page.run.config.ratios),
            "frames": FRAMES,
        }
    return None


def left_out(page: Page) -> Content:
    """What was left out, and why."""
    people = page.tables["people"]
    traits = page.tables["traits"]
    used = people["status"] == "used"
    out = people[~used]
    person = lookup(people, "photo", "person")
    group = lookup(traits[traits["column"] == page.run.config.groups[0]], "person", "value")
    pairs = _main(page, "pairs")
    return {
        "skipped": reasons.listed(out["reason"], out["detail"]).most_common(),
        "faceless": (used & people["box"].isna()).sum(),
        "notes": page.notes,
        "persons": files.read_json(page.run.folder / "groups.json")["left_out"],
        "croppers": [
            (row, selected(pairs[pairs["cropper"] == row["cropper"]], person, group))
            for row in records(_main(page, "positions"))
        ],
    }


SECTIONS = (
    Section("lede", "", lambda page: {}),
    Section("typical", "", typical),
    Section("differently", "", differently),
    Section("sure", "", certain),
    Section("show", "More pairs", show),
    Section("figures", "Distributions and tables", figures),
    Section("left_out", "What was left out", left_out),
    Section("made", "How this was made", lambda page: {}),
)


def _main(page: Page, name: str) -> DataFrame:
    """A table's rows of photos joined as the page is headed."""
    table = page.tables[name]
    return table.query("variant == @page.run.config.variant")


def _panels(tables: Tables) -> list[Content]:
    """Charts of the shares of crossed groups, if they are few, and of their averages; the paper's Figure 2, left."""
    head = tables["head"]
    averages = by_itself(tables["averages"])
    averages = averages.query("variant in @head.variant")
    last = head[head["column"] == head["column"].iloc[-1]] if len(head) else head
    titled = {"Averages of pairs of groups": averages}
    if _few(last):
        titled = {"Pairs of groups": last, **titled}
    panels = []
    for title, rows in titled.items():
        marks = []
        for row in records(rows):
            name = f"{readable(row['group'])} over {readable(row['other'])}"
            text = f"{numbers.share(row['p'])} ({ends(row)})"
            number = (100 * row["p"], 100 * row["ci_low"], 100 * row["ci_high"])
            marks.append(Mark(name, text, number))
        if marks:
            panels.append(panel(marks, "% of pairs in which the first is favoured", title, 50))
    return panels


def _few(rows: DataFrame) -> bool:
    """Whether rows of PARITY are of so few groups that arrows between them can be read."""
    return len({*rows["group"], *rows["other"]}) <= charts.MOST_GROUPS


def _graphs(page: Page, parity: DataFrame) -> list[tuple[str, Markup]]:
    """The same shares of crossed groups as arrows, for each way to join photos; the paper's Figures 2, 3 and 4."""
    rows = favoured(parity)
    rows = rows[rows["column"] == CROSS.join(page.run.config.groups)]
    joined = [config.variant for config in page.run.config.variants]
    others = sorted({*rows["variant"]} - {*joined})
    drawn = []
    for variant in (*joined, *others):
        of_variant = rows.query("variant == @variant")
        if len(of_variant) and _few(of_variant):
            title = f"Who is favoured, {printable(variant)}"
            drawn.append((title, charts.graph(records(of_variant), title)))
    return drawn


def _distributions(page: Page, saliency: DataFrame) -> list[tuple[str, Markup]]:
    """Curves of the photos' own scores, by group, a panel for each of the second grouping; the paper's Figure 7."""
    first, *others = page.run.config.groups
    person = lookup(page.tables["people"], "photo", "person")
    traits = page.tables["traits"].pivot(index="person", columns="column", values="value")
    rows = saliency.query("scale == 'own'")
    groups = traits.reindex(rows["photo"].map(person)).set_axis(rows.index)
    panels = {"": rows}
    if others:
        by_other = rows.groupby(groups[others[0]])
        panels |= {f": {printable(str(only))}": inside for only, inside in by_other}
    curves = []
    for statistic, title in (
        ("max", "Largest score of a photo alone"),
        ("median", "Median score of a photo alone"),
    ):
        scores = rows[statistic].dropna()
        if not len(scores) or not comparable(scores.to_numpy(float)):
            continue
        extent = (scores.min(), scores.max())
        for only, inside in panels.items():
            by_group = inside[statistic].groupby(groups[first])
            values = {f"{name}": group.to_numpy(float) for name, group in by_group}
            if values:
                drawn = charts.distributions(values, f"{title}{only}", extent)
                curves.append((f"{title}{only}, by {printable(first)}", drawn))
    return curves


# -- tables -----------------------------------------------------------------------------------------------------------


def grids(tables: Tables) -> list[Content]:
    """All tables of a cropper that have rows, as sentences.toml has them.  tables: as ``own_tables`` gives them."""
    listed = []
    for grid in SENTENCES["grid"]:
        rows = tables[grid["table"]].query(grid["query"]).replace({"what": WHAT})
        rows = rows.sort_values(grid["by"], kind="stable")
        if len(rows) and all(rows[name].nunique() > 1 for name in grid["varied"]):
            listed.append(grid_of(grid["caption"], rows, ("se", "df", "epsilon")))
    return listed


def selected(pairs: DataFrame, person: Texts, group: Texts) -> Sequence[str]:
    """A sentence for each two groups of which so different a share has no answer at all (Fisher's exact, p < 0.01).

    Then who is left cannot be compared fairly.  pairs: rows of PAIRS, one cropper's.  person: photo to person.
    group: person to group.
    """
    out = pairs["status"] != "answered"
    people = pd.concat([pairs[side].map(person) for side in ("left", "right")])
    never = pd.concat([out, out]).groupby(people.to_numpy()).all()
    counts = never.groupby(never.index.map(group)).agg(["sum", "count"])
    sentences = []
    for (first, a, m), (second, b, n) in combinations(counts.itertuples(), 2):
        p = fisher(a, m, b, n)
        if p < LEVEL:
            shares = f"{a} of {m} {first} and {b} of {n} {second}"
            sentences.append(
                f"no picture of {shares} has an answer (Fisher p {p:.2g}): those who are left may not be comparable."
            )
    return sentences


# -- headline ----------------------------------------------------------------------------------------------------------

HEADLINES = Sentences(SENTENCES["headline"])


def by_itself(rows: DataFrame) -> DataFrame:
    """Rows of the crop that a cropper gives by itself: its rectangle, or that around the highest score."""
    return rows[rows["policy"].isin(["argmax", RECTANGLE])]


def favoured(parity: DataFrame) -> DataFrame:
    """Of these the rows on who is favoured."""
    return by_itself(parity).query("outcome == 'favoured'")


def main_rows(parity: DataFrame) -> DataFrame:
    """The rows that head the page: who is favoured by each cropper's own joined pictures."""
    rows = favoured(parity)
    first = (rows[rows["variant"].str.startswith(start)] for start in ("native", "height"))
    chosen = next((chosen for chosen in first if len(chosen)), rows)
    return chosen[
        chosen["variant"] == min(chosen["variant"], key=len, default="")
    ]  # side by side before stacked


def ends(row: Record) -> str:
    """A share's interval; without one, words."""
    return numbers.share_range(row["ci_low"], row["ci_high"]) or "no interval"


def headline_of(tables: Tables) -> Headline:
    """Of the pairs of groups that can be judged, the one that is shown best to be uneven."""
    head = main_rows(tables["parity"])
    asked = tables["pairs"]
    silent = set(asked["cropper"]) - set(asked.query("status == 'answered'")["cropper"])
    head = head.query("cropper not in @silent")
    text = headline(head)
    if silent and len(head):
        text += HEADLINES.say("silent", names=printable(", ".join(sorted(silent))))
    return Headline(text)


def headline(head: DataFrame) -> str:
    """The finding in one sentence: of all croppers, the pair of groups that is shown most clearly not to be even.

    It is so by ``stats.multiplicity.is_finding`` against 1/2.

    head: rows of PARITY, as ``main_rows`` gives them.
    """
    if head.empty:
        return HEADLINES.say("no_answer")
    named = head[["cropper", "group", "other"]].map(printable)
    head = head.assign(**named)
    judged = head.query("note == ''")
    out = head.query("note != ''")["note"]
    if (head["note"] == CONSTANT).all():
        return HEADLINES.say("constant")
    if judged.empty:
        return HEADLINES.say("too_few", why=printable(out[out != CONSTANT].iloc[0]))
    uneven = judged[
        multiplicity.is_finding(judged["q"], judged["ci_low"], judged["ci_high"], null=0.5)
    ]
    if uneven.empty:
        text = HEADLINES.nothing(list(map(_nothing, records(judged))), "person", "people")
    else:
        text = _found(uneven)
    if len(out):
        text += HEADLINES.say("unjudged", len(out), why=out.mode()[0])
    return text


def _found(uneven: DataFrame) -> str:
    """Of rows that are findings the clearest."""
    order = rounding.ranked(uneven, surest(uneven), -(uneven["p"] - 0.5).abs())
    best = charts.larger_first(records(order)[0])
    return HEADLINES.say(
        "found",
        row=best,
        share=numbers.share(best["p"], 0),
        exact=numbers.share(best["p"]),
        interval=ends(best),
        people=f"{best['persons'] + best['other_persons']:,}",
    )


def _nothing(row: Record) -> Nothing:
    """A pair of groups that is not shown to be uneven."""
    row = charts.larger_first(row)
    low = 100 * row["ci_low"] - 50
    high = 100 * row["ci_high"] - 50
    name = f"{row['group']} over {row['other']} {numbers.share(row['p'])} ({ends(row)})"
    name += f", q {numbers.probability(row['q'])}" * (low > 0 or high < 0)
    people = int(row["persons"] + row["other_persons"])
    return Nothing(name, low, high, people, points(0.5), "")


def judged(tables: Tables) -> DataFrame:
    """Who is favoured, of each pair of groups and cropper: the rows that head the page.

    value is 100 (P - 1/2), P the chance that one of the first group is favoured over one of the other; n are pairs of
    people.
    """
    rows = main_rows(tables["parity"])
    return rows.assign(
        model=rows["cropper"],
        contrast=[f"{row['column']}: {row['group']} over {row['other']}" for row in records(rows)],
        label="favoured, " + rows["variant"],
        said="favoured",
        n=rows["pairs"],
        unit="percentage points over an even 50 %",
        reason=rows["note"],
        value=100 * (rows["p"] - 0.5),
        ci_low=100 * (rows["ci_low"] - 0.5),
        ci_high=100 * (rows["ci_high"] - 0.5),
    )
