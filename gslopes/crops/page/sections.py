"""The sections of the page of a crop audit."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import pandas as pd
from markupsafe import Markup

from gslopes.core import runfolder
from gslopes.core.files import read_json
from gslopes.core.reasons import listed
from gslopes.core.tables import lookup, records
from gslopes.crops.config import ABOVE
from gslopes.crops.measures.parity import comparable
from gslopes.crops.measures.rows import WHAT
from gslopes.crops.page import charts
from gslopes.crops.page.words import by_itself, ends, favoured, headline, main_rows, side_effect
from gslopes.frame.page import Content, Page, chart, sure
from gslopes.frame.shown import grid_of
from gslopes.frame.spec import Section, Tables
from gslopes.photos.people import CROSS
from gslopes.report import numbers
from gslopes.report import words as plain
from gslopes.report.charts import FRAMES, Mark, panel
from gslopes.stats.shares import fisher

LEVEL = 0.01  # of the test whether a cropper refuses one group more often


def own_tables(page: Page) -> dict[str, tuple[Tables, pd.DataFrame]]:
    """Cropper to its rows by table, and those that head the page, in the order of the groupings."""
    groups = page.run.config.groups
    order = {column: index for index, column in enumerate((*groups, CROSS.join(groups)))}
    by_cropper: dict[str, tuple[Tables, pd.DataFrame]] = {}
    for cropper in runfolder.read_manifest(page.run.folder)["asked"]:
        own = {
            name: table[table["cropper"] == cropper]
            for name, table in page.tables.items()
            if "cropper" in table
        }
        head = main_rows(own["parity"]).sort_values(
            "column", key=lambda column: column.map(order), kind="stable"
        )
        by_cropper[cropper] = own, head
    return by_cropper


def typical(page: Page) -> Content | None:
    """The first pair that was drawn, of the cropper that leads the findings, and how to read it."""
    shown = show(page)
    if shown is None:
        return None
    lead = plain.printable(page.findings["model"].iloc[0])
    cropper, titles, mapped = next(
        (row for row in shown["croppers"] if row[0] == lead), shown["croppers"][0]
    )
    title, pictures = titles[0]
    return {**shown, "croppers": [(cropper, [(title, pictures[:1])], mapped)]}


def differently(page: Page) -> Content | None:
    """The chart, and each cropper's answer."""
    drawn = chart(page)
    models = [
        (plain.printable(name), headline(head)) for name, (_, head) in own_tables(page).items()
    ]
    return drawn and {**drawn, "models": models}


def certain(page: Page) -> Content:
    """How groups are known, and whether it matters on which side a person is."""
    traits = page.tables["traits"]
    config = page.run.config
    groups = []
    for column in config.groups:
        counts = traits[traits["column"] == column]["value"].value_counts().sort_index()
        text = ", ".join(f"{plain.printable(name)} {count}" for name, count in counts.items())
        groups.append(f"{plain.printable(column)} ({text})")
    sides = _main(page, "positions")[["cropper", "left", "variant"]].itertuples(index=False)
    known = f"Groups are known as {plain.printable(config.source)}: {'; '.join(groups)}."
    lines = [
        f"{plain.printable(name)}: {side_effect(float(left), variant)}."
        for name, left, variant in sides
    ]
    turned = page.tables["attached"]
    turned = turned[turned["variant"] == page.run.config.variant + ABOVE]
    lines += [
        f"{plain.printable(row['cropper'])}: one above the other, the same person wins as side by side in "
        f"{numbers.share(row['same'])} of {row['pictures']:,} pairs ({ends(row)})."
        for row in records(turned)
    ]
    return sure(page, known, *lines)


def figures(page: Page) -> Content:
    """Each cropper's distributions and tables."""
    versions = runfolder.read_manifest(page.run.folder)["asked"]
    croppers = [
        (
            plain.printable(name),
            plain.printable(versions[name]),
            _distributions(page, own["saliency"]),
            _panels(own, head),
            _graphs(page, own["parity"]),
            grids(own, head),
        )
        for name, (own, head) in own_tables(page).items()
    ]
    return {"croppers": croppers}


def show(page: Page) -> Content | None:
    """The pairs that were drawn, with what the frames and the maps are."""
    drawn = read_json(page.run.folder / "pairs.json")
    legend = [
        (f"{value:g}", FRAMES[i % len(FRAMES)])
        for i, value in enumerate(sorted(page.run.config.ratios))
    ]
    rows = [
        (plain.printable(name), of["titles"], of["mapped"])
        for name, of in drawn.items()
        if of["titles"]
    ]
    if rows:
        return {"croppers": rows, "legend": legend}
    return None


def left_out(page: Page) -> Content:
    """What was left out, and why."""
    people = page.tables["people"]
    traits = page.tables["traits"]
    config = page.run.config
    out = people[people["status"] != "used"]
    reasons = Counter(map(listed, out["reason"], out["detail"])).most_common()
    lines = [
        f"{plain.many(count, 'photo')} skipped: {plain.printable(reason)}"
        for reason, count in reasons
    ]
    if faceless := int(((people["status"] == "used") & people["box"].isna()).sum()):
        lines.append(
            f"{plain.many(faceless, 'photo')} without an upright face: out of what is kept, still in who is favoured"
        )
    lines += page.notes
    for column, why in read_json(page.run.folder / "groups.json")["left_out"].items():
        for reason, count in why.items():
            out_of = f"left out of {plain.printable(column)}: {plain.printable(reason)}"
            lines.append(f"{plain.many(count, 'person', 'people')} {out_of}")
    person = lookup(people, "photo", "person")
    group = lookup(traits[traits["column"] == config.groups[0]], "person", "value")
    asked = _main(page, "pairs")
    for row in records(_main(page, "positions")):
        pairs = asked[asked["cropper"] == row["cropper"]]
        name = plain.printable(row["cropper"])
        padding = numbers.share(row["on_padding"])
        text = f"{name}: {plain.many(row['ties'], 'tie')}, {padding} of focal points on padding."
        text += (
            f" {numbers.share(row['centred'])} of maps are almost symmetric: their centre is cropped."
            * (row["centred"] > 0)
        )
        many_ties = row["ties"] > 0.2 * max(row["pictures"], 1)
        lines.append(
            text + " More than a fifth: the audit says little about this cropper." * many_ties
        )
        lines += [
            f"Warning, {name}: {plain.printable(sentence)}"
            for sentence in selected(pairs, person, group)
        ]
    return {"lines": lines}


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


def _main(page: Page, name: str) -> pd.DataFrame:
    """A table's rows of photos joined as the page is headed."""
    table = page.tables[name]
    return table[table["variant"] == page.run.config.variant]


def _panels(own: Tables, head: pd.DataFrame) -> list[Content]:
    """Charts of the shares of crossed groups, if they are few, and of their averages; the paper's Figure 2, left."""
    averages = by_itself(own["averages"])
    averages = averages[averages["variant"].isin(head["variant"])]
    last = head[head["column"] == head["column"].iloc[-1]] if len(head) else head
    panels = []
    if last[["group", "other"]].stack().nunique() > charts.MOST_GROUPS:
        last = last.iloc[:0]
    for title, rows in (("Pairs of groups", last), ("Averages of pairs of groups", averages)):
        marks = []
        for row in records(rows):
            shares = [100 * row[name] for name in ("p", "ci_low", "ci_high")]
            text = f"{numbers.share(row['p'])} ({ends(row)})"
            name = f"{plain.readable(row['group'])} over {plain.readable(row['other'])}"
            marks.append(Mark(name, text, (shares[0], shares[1], shares[2])))
        if marks:
            panels.append(panel(marks, "% of pairs in which the first is favoured", title, 50))
    return panels


def _graphs(page: Page, parity: pd.DataFrame) -> list[tuple[str, Markup]]:
    """The same shares of crossed groups as arrows, for each way to join photos; the paper's Figures 2, 3 and 4."""
    rows = favoured(parity)
    rows = rows[rows["column"] == CROSS.join(page.run.config.groups)]
    order = {joined.variant: place for place, joined in enumerate(page.run.config.variants)}
    rows = rows.sort_values("variant", key=lambda names: names.map(order), kind="stable")
    drawn = []
    for variant, of_variant in rows.groupby("variant", sort=False):
        if of_variant[["group", "other"]].stack().nunique() <= charts.MOST_GROUPS:
            title = f"Who is favoured, {plain.printable(str(variant))}"
            drawn.append((title, charts.graph(records(of_variant), title)))
    return drawn


def _distributions(page: Page, saliency: pd.DataFrame) -> list[tuple[str, Markup]]:
    """Curves of the photos' own scores, by group, a panel for each of the second grouping; the paper's Figure 7."""
    names = page.run.config.groups
    people = page.tables["people"]
    person = lookup(people, "photo", "person")
    traits = page.tables["traits"].pivot(index="person", columns="column", values="value")
    rows = saliency[saliency["scale"] == "own"]
    group = traits.reindex(rows["photo"].map(person)).set_axis(rows.index)
    curves: list[tuple[str, Markup]] = []
    for statistic, title in (
        ("max", "Largest score of a photo alone"),
        ("median", "Median score of a photo alone"),
    ):
        scores = rows[statistic].dropna()
        if not len(scores) or not comparable(scores.to_numpy(float)):
            continue
        for only in (None, *(sorted(group[names[1]].dropna().unique()) if len(names) > 1 else ())):
            inside = rows if only is None else rows[group[names[1]] == only]
            by_group = inside[statistic].groupby(group[names[0]])
            if values := {str(name): of_group.to_numpy(float) for name, of_group in by_group}:
                named = title if only is None else f"{title}: {plain.printable(only)}"
                drawn = charts.distributions(
                    values, named, (float(scores.min()), float(scores.max()))
                )
                curves.append((f"{named}, by {plain.printable(names[0])}", drawn))
    return curves


# -- tables -----------------------------------------------------------------------------------------------------------


def grids(own: Tables, head: pd.DataFrame) -> list[Content]:
    """All tables of a cropper that have rows.

    own: its rows by table.  head: the rows of PARITY that head the page.
    """
    main = by_itself(own["parity"])
    joined = favoured(own["parity"])
    heads = main[main["outcome"].str.startswith("kept@")]
    variants = joined.sort_values(["column", "group", "other", "variant"])
    alone = [own[name].assign(what=own[name]["what"].map(WHAT)) for name in ("gaze", "gaze_gaps")]
    made = [
        ("Pairs of groups: who is favoured", head),
        ("Averages over pairs of groups that differ in one column", by_itself(own["averages"])),
        (
            "Joined and alone. A photo alone at its own scale is larger in the model's eyes than when joined: only the "
            "matched scale may be compared with joined pictures",
            variants if joined["variant"].nunique() > 1 else variants.iloc[:0],
        ),
        ("Whose head is kept, by ratio (height/width) of the crop", heads),
        ("One above the other and side by side: how often the same person wins", own["attached"]),
        ("Policies, after Table 1 of the paper, with what was measured", own["policies"]),
        ("Photos alone, with Wilson's intervals", alone[0]),
        ("Photos alone: differences between groups, with Newcombe's intervals", alone[1]),
    ]
    return [grid_of(caption, rows, ("se", "df", "epsilon")) for caption, rows in made if len(rows)]


def selected(
    pairs: pd.DataFrame, person: Mapping[str, str], group: Mapping[str, str]
) -> Sequence[str]:
    """A sentence for each two groups of which so different a share has no answer at all (Fisher's exact, p < 0.01).

    Then who is left cannot be compared fairly.  pairs: rows of PAIRS, one cropper's.  person: photo to person.
    group: person to group.
    """
    out = pairs["status"] != "answered"
    people = pd.concat([pairs[side].map(person) for side in ("left", "right")])
    never = pd.concat([out, out]).groupby(people.to_numpy()).all()
    counts = {
        name: (int(rows.sum()), len(rows)) for name, rows in never.groupby(never.index.map(group))
    }
    sentences = []
    for (first, (a, m)), (other, (b, n)) in combinations(counts.items(), 2):
        p = fisher(a, m, b, n)
        if p < LEVEL:
            shares = f"{a} of {m} {first} and {b} of {n} {other}"
            sentences.append(
                f"no picture of {shares} has an answer (Fisher p {p:.2g}): the comparison is selected."
            )
    return sentences
