"""The tables of a context audit in their three forms."""

import csv
import doctest
import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from gslopes.contexts import filled
from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.congruence import changes_table, congruence_table
from gslopes.contexts.measures.inference import (
    accuracy_table,
    distances_table,
    inferred_table,
    recognised_table,
)
from gslopes.contexts.measures.ratings import sides
from gslopes.contexts.page import tables as context_tables
from gslopes.contexts.page.tables import QUESTIONS, STARRED
from gslopes.contexts.stimuli.backgrounds import ROOMS, read_contexts
from tests.contexts.conftest import CONTEXTS, TAGGERS, answers, golden, grid_of, paper_grid, table7
from training.rooms import SCENES

__all__ = ["answers", "paper_grid", "table7"]  # fixtures


def test_the_examples_of_the_docstrings_hold() -> None:
    assert doctest.testmod(context_tables).failed == 0


def test_signed_numbers_stay_readable_and_no_name_runs_in_a_spreadsheet() -> None:
    frame = pd.DataFrame(
        {
            "context": ["=HYPERLINK(1)", "@kitchen"],
            "women": ["-0.0120", "0.5000"],
            "slope": ["+1.20 points", "-0.40 tags"],
            "n": [3, 4],
        }
    )
    rows = list(csv.reader(io.StringIO(context_tables.forms(frame)["csv"])))
    assert rows[1:] == [
        ["'=HYPERLINK(1)", "-0.012", "1.20 points", "3"],
        ["'@kitchen", "0.5000", "\N{MINUS SIGN}0.40 tags", "4"],
    ]


# --- the paper's tables in its layout, from its numbers ----------------------------------------------------------

LABELS = {name: "feminine" if name[0] == "F" else "masculine" for name in CONTEXTS}
QUICK = ContextOptions(permutations=19)
AS_STORED = {"F2": "nursery", "F4": "kindergarten", "M1": "garage"}
MARKS_7 = {"A": "M1 M2 M4", "C": "F1 F2 F3 F4 M1", "M": "F1 F2 F3 F4 M1"}
MARKS_9 = {
    "man": "A-M1 A-M2 A-M4 C-M2 C-M3 C-M4 I-M4",
    "woman": "C-F1 C-F2 C-F3 C-F4 M-F1 M-F3 M-F4",
}


@pytest.mark.row("contexts-table-4")
def test_table_4_has_the_tags_of_a_background_a_photo_and_both_together() -> None:
    rooms = [
        {"key": "garage.1", "photo": "g", "rating": 9.0},
        {"key": "bridal.1", "photo": "b", "rating": 0.0},
    ]
    backgrounds = filled("backgrounds", rooms)
    pictures = [(photo_id, "context", key) for photo_id in "xyz" for key in backgrounds["key"]]
    composites = pd.DataFrame(pictures, columns=["photo", "kind", "attribute"])
    answers = {
        ("b", "empty"): ["rack", "Dressing Room"],
        ("y", "original"): ["Young man"],
        ("y", "bridal.1"): ["cloak"],
    }
    answers |= {("x", "original"): ["nobody asked for this one"]}
    scores = pd.DataFrame(
        [
            {
                "classifier": "a",
                "photo": photo,
                "attribute": key,
                "label": tag,
                "score": 0.5 + rank,
            }
            for (photo, key), tags in answers.items()
            for rank, tag in enumerate(tags)
        ]
    )
    printed = context_tables.paper_tables(
        {"scores": scores, "composites": composites, "backgrounds": backgrounds}
    )
    assert printed["table4"].iloc[0].to_dict() == {
        "classifier": "a",
        "background bridal.1": "dressing_room, rack",
        "photo": "young_man",
        "photo before bridal.1": "cloak",
    }


@pytest.mark.row("contexts-table-7", "contexts-table-7-marks")
def test_table_7_is_laid_out_as_printed(paper_grid, table7) -> None:
    rows = [
        inferred_table(
            replace(paper_grid(name), head={"classifier": name, "tags": "gross"}), LABELS, QUICK
        )
        for name in TAGGERS
    ]
    table = context_tables.paper_tables({"inferred": pd.concat(rows).assign(q=np.nan)})[
        "table7"
    ].set_index("context")
    assert list(table.columns) == list(TAGGERS)
    assert list(table.index) == ["canvas", *CONTEXTS]
    for (tagger, context), counts in table7.items():
        mark = "*" * (context in MARKS_7.get(tagger, "").split())
        assert (
            table.loc["canvas" if context == "B" else context, tagger]
            == "-".join(map(str, counts)) + mark
        )


@pytest.mark.row("contexts-table-7", "contexts-table-8", "contexts-table-9")
def test_the_baseline_stands_first_then_feminine_and_masculine_contexts_as_printed(
    paper_grid,
) -> None:
    grid = paper_grid("C")
    alphabetical = replace(
        grid,
        contexts=tuple(AS_STORED.get(name, name) for name in grid.contexts),
        conditions=tuple(name.replace("canvas", "original") for name in grid.conditions),
    )
    options = replace(QUICK, baseline="original")
    rows = inferred_table(alphabetical, {}, options).assign(q=np.nan).sort_values("context")
    rooms = [
        ("garage", 9.0, "masculine"),
        ("kindergarten", 5.0, "feminine"),
        ("nursery", 4.0, "feminine"),
    ]
    backgrounds = [dict(zip(("context", "rating", "label"), room, strict=True)) for room in rooms]
    tables = context_tables.paper_tables(
        {"inferred": rows, "backgrounds": filled("backgrounds", backgrounds)}
    )
    assert tables["table7"]["context"].tolist()[:4] == [
        "original",
        "nursery",
        "kindergarten",
        "garage",
    ]


@pytest.mark.row("contexts-table-8")
def test_table_8_is_laid_out_as_printed_but_for_its_misprints(paper_grid) -> None:
    rows = [
        recognised_table(replace(paper_grid(name), head={"classifier": name, "tags": "gross"}))
        for name in TAGGERS
    ]
    table = context_tables.paper_tables({"recognised": pd.concat(rows)})["table8"].set_index(
        "context"
    )
    printed = golden("table8.csv").set_index("context")
    differing = {
        f"{tagger}-{context}": table.loc[context, tagger]
        for tagger in TAGGERS
        for context in CONTEXTS
        if table.loc[context, tagger] != printed.loc[context, tagger]
    }
    assert differing == {
        "A-M3": ".893;.968;1;.880",
        "M-F1": ".437;.347;.450;.450",
        "W-M2": ".863;NA;NA;.863",
    }


@pytest.mark.row("contexts-table-9", "contexts-table-9-na", "contexts-table-9-marks")
def test_table_9_is_laid_out_as_printed_with_its_marks(paper_grid) -> None:
    rows = [
        accuracy_table(
            replace(paper_grid(name), head={"classifier": name, "tags": "gross"}), LABELS, QUICK
        )
        for name in TAGGERS
    ]
    table = context_tables.paper_tables({"accuracy": pd.concat(rows)})["table9"].set_index(
        "context"
    )
    printed = golden("table9.csv").set_index("context")
    below = {
        ("I", "F1"),
        ("W", "F2"),
        ("I", "M2"),
        ("W", "F4"),
    }  # printed although the paper's rule gives NA
    for tagger in TAGGERS:
        for context in printed.index:
            cells = (
                ["NA", "NA"]
                if (tagger, context) in below
                else printed.loc[context, tagger].split("/")
            )
            marks = [
                "*" * (f"{tagger}-{context}" in MARKS_9[gender].split())
                for gender in ("man", "woman")
            ]
            want = "/".join(cell + mark for cell, mark in zip(cells, marks, strict=True))
            assert table.loc["canvas" if context == "B" else context, tagger] == want, (
                tagger,
                context,
            )


@pytest.mark.row("contexts-table-10", "contexts-table-12")
def test_tables_10_and_12_are_laid_out_as_printed() -> None:
    printed = golden("table10_12.csv").set_index("context")
    cells = [f"{group}{gender}" for gender in "WM" for group in "ABLW"]
    genders = ["woman" if name[1] == "W" else "man" for name in cells for _ in range(4)]
    groups = [name[0] for name in cells for _ in range(4)]
    frames = []
    for tagger in "CA":
        columns = {"B": np.full(32, np.nan)}
        for context in CONTEXTS:
            means = np.repeat(
                [float(printed.loc[f"{tagger}-{context}", name]) for name in cells], 4
            )
            columns[context] = means + np.tile([-0.004, 0.004, -0.001, 0.001], 8)
        answers = dict.fromkeys(columns, [(0, True, 1)] * 32)
        measures = {"distance": np.stack(list(columns.values()), 1)}
        grid = grid_of(answers, gender=genders, group=groups, measures=measures)
        frames.append(distances_table(replace(grid, head={"classifier": tagger, "tags": "gross"})))
    pairs = [
        {
            "classifier": tagger,
            "context": context,
            "factor": factor,
            "one": two[0],
            "other": two[2],
            "difference": 1.0,
        }
        for tagger in "CA"
        for context in CONTEXTS
        for column, factor in (("gender", "gender"), ("race", "group"))
        for two in printed.loc[f"{tagger}-{context}", column].split()
    ]
    tukey = pd.DataFrame(pairs).assign(paper_significant=True, ci_low=0.0, ci_high=2.0, p=0.001)
    table = context_tables.paper_tables({"distances": pd.concat(frames), "tukey": tukey})["table10"]
    table = table.set_index(table["classifier"] + "-" + table["context"])
    for name, row in printed.iterrows():
        for cell in cells:
            head = f"{'woman' if cell[1] == 'W' else 'man'} {cell[0]}"
            assert table.loc[name, head] == f"{float(row[cell]):.3f}"[1:], (name, cell)
        assert (
            table.loc[name, "differs by gender"].replace(" > ", ">").replace(",", "")
            == row["gender"]
        )
        assert (
            table.loc[name, "differs by group"].replace(" > ", ">").replace(",", "") == row["race"]
        )


def spread(mean: float, second: float, t: str, counts: tuple[int, int]) -> np.ndarray:
    """Values of women and of men with these means and this Welch's t."""
    shapes = [np.resize([1.0, -1.0], count) for count in counts]
    shapes = [shape - shape.mean() for shape in shapes]
    error = np.sqrt(sum(shape.var(ddof=1) / len(shape) for shape in shapes))
    t_value = 1.0 if t == "ns" else abs(float(t.rstrip("*")))
    scale = abs(mean - second) / (t_value * error)
    return np.concatenate(
        [middle + scale * shape for middle, shape in zip((mean, second), shapes, strict=True)]
    )


@pytest.mark.row("contexts-table-11", "contexts-table-11-stars", "contexts-table-13")
def test_tables_11_and_13_are_laid_out_as_printed_but_for_one_star() -> None:
    printed, people = golden("table11_13.csv").set_index("row"), (307, 290)
    for tagger, context in (("C", "F1"), ("C", "M1"), ("A", "F1"), ("A", "M1")):
        measures = {}
        for name, row in printed[printed.index.str.startswith(f"{tagger}-{context}-")].iterrows():
            level = spread(float(row["W"]), float(row["M"]), row["t.1"], people)
            change = spread(float(row["dW"]), float(row["dM"]), row["t"], people)
            measures[str(name).rpartition("-")[2]] = np.stack([level - change, level], 1)
        cells = dict.fromkeys(("B", context), [(0, True, 1)] * sum(people))
        grid = grid_of(cells, gender=["woman"] * people[0] + ["man"] * people[1], measures=measures)
        rows = changes_table(replace(grid, head={"classifier": tagger, "tags": "gross"}), {}, QUICK)
        table = context_tables.paper_tables({"changes": rows})["table11"].set_index("tags")
        for kind in measures:
            row, laid_out = printed.loc[f"{tagger}-{context}-{kind}"], table.loc[kind]
            for head, column in (("Δ women", "dW"), ("Δ men", "dM"), ("women", "W"), ("men", "M")):
                assert float(laid_out[head]) == pytest.approx(float(row[column]), abs=5.1e-5), (
                    context,
                    kind,
                    head,
                )
            for head, column in (("Δ t", "t"), ("t", "t.1")):
                if row[column] == "ns":
                    assert not laid_out[head].endswith("*")
                    continue
                star = (
                    ""
                    if (tagger, context, kind, head) == ("C", "F1", "concrete", "Δ t")
                    else row[column][-1:]
                )
                assert laid_out[head].endswith("*") == (star == "*"), (context, kind, head)
                assert float(laid_out[head].rstrip("*")) == pytest.approx(
                    float(row[column].rstrip("*")), abs=0.006
                )


def test_several_rooms_a_context_add_what_is_said_of_any_such_rooms() -> None:
    rng = np.random.default_rng(1)
    cells = {
        name: [(int(code), True, 1) for code in rng.integers(0, 3, 40)]
        for name in ("B", "one", "two", "three", "four")
    }
    one_room = grid_of(cells, gender=["woman", "man"] * 20)
    two_rooms = replace(
        one_room,
        contexts=("", "F", "F", "M", "M"),
        conditions=("canvas", "F.1", "F.2", "M.1", "M.2"),
    )
    heads = {}
    for name, grid, ratings in (
        ("one", one_room, {"one": 0.0, "two": 10.0}),
        ("two", two_rooms, {"F": 0.0, "M": 10.0}),
    ):
        tables = {
            "inferred": inferred_table(grid, {}, QUICK),
            "congruence": congruence_table(grid, ratings, QUICK),
        }
        printed = context_tables.paper_tables(
            {key: frame.assign(q=np.nan) for key, frame in tables.items()}
        )
        heads[name] = list(printed["congruence"])
        assert not any(
            "nan" in str(cell) for frame in printed.values() for cell in frame.to_numpy().ravel()
        )
    assert not any("rooms" in head for head in heads["one"])
    assert {"p, any such rooms", "95 %, any such rooms"} <= set(heads["two"])


# --- Table 14: the answers to the paper's questions ------------------------------------------------------------------

HEAD = {"classifier": "a", "tags": "gross"}
BACKGROUNDS = pd.DataFrame(
    {"context": ["bridal", "garage", "gym"], "label": "none", "rating": [0.0, 9.0, 5.0]}
)


NO_INTERVAL = dict.fromkeys(("ci_low", "ci_high", "change_low", "change_high"), np.nan)


def table(**columns) -> pd.DataFrame:
    return pd.DataFrame({**HEAD, **NO_INTERVAL, **columns})


def results(**more: pd.DataFrame) -> dict[str, pd.DataFrame]:
    inferred = table(
        context=["bridal", "bridal", "garage", "gym"],
        gender="all",
        inferred=["woman", "man", "man", "woman"],
        change=[0.2, -0.2, -0.1, 0.4],
        q=[0.01, 0.01, 0.01, 0.01],
    )
    return {"backgrounds": BACKGROUNDS, "inferred": inferred, **more}


@pytest.mark.row("contexts-table-14-rq1")
def test_rq1_counts_women_in_feminine_and_men_in_masculine_contexts_alone():
    row = context_tables.table14(results()).iloc[0]
    assert (
        row[QUESTIONS[0]]
        == "women: yes, more in 1 of 1 feminine; men: no, more in 0 of 1 masculine, less in 1"
    )
    quiet = results()
    quiet["inferred"]["q"] = 0.2
    text = context_tables.table14(quiet).iloc[0][QUESTIONS[0]]
    assert (
        text
        == "women: not found, more in 0 of 1 feminine; men: not found, more in 0 of 1 masculine"
    )
    quiet["inferred"] = quiet["inferred"].assign(q=0.01, change_low=-0.1, change_high=0.5)
    assert context_tables.table14(quiet).iloc[0][QUESTIONS[0]] == text
    quiet["inferred"]["q"] = np.nan
    text = context_tables.table14(quiet).iloc[0][QUESTIONS[0]]
    assert text == "women: not judged, too rare; men: not judged, too rare"


def drawn_rooms() -> pd.DataFrame:
    """The label and the rating of each of the eight that ship."""
    records = read_contexts(ROOMS / "contexts.toml").items()
    return pd.DataFrame(
        {"context": name, "label": record.label, "rating": record.rating}
        for name, record in records
    )


@pytest.mark.row("contexts-4.2-neutral", "contexts-table-14-rq1")
def test_the_papers_eight_contexts_are_four_feminine_and_four_masculine_ones():
    """F4 and M4 are rated 5, and count in Tables 7, 9 and 14 alike."""
    eight = drawn_rooms()
    inferred = pd.concat(
        table(
            context=[*eight["context"]],
            gender="all",
            inferred=[gender] * 8,
            change=[0.2] * 8,
            q=[0.01] * 8,
        )
        for gender in ("woman", "man")
    )
    row = context_tables.table14({"backgrounds": eight, "inferred": inferred}).iloc[0]
    assert (
        row[QUESTIONS[0]]
        == "women: yes, more in 4 of 4 feminine; men: yes, more in 4 of 4 masculine"
    )
    unlabelled = eight.assign(label="none")
    row = context_tables.table14({"backgrounds": unlabelled, "inferred": inferred}).iloc[0]
    assert (
        row[QUESTIONS[0]]
        == "women: yes, more in 3 of 3 feminine; men: yes, more in 3 of 3 masculine"
    )


@pytest.mark.row("contexts-table-9-marks", "contexts-table-14-rq3", "contexts-4.2-neutral")
def test_the_stars_of_table_9_are_counted_in_table_14_out_of_four_contexts_a_side(paper_grid):
    """By the labels of a run, in which F4 and M4 are rated 5; of taggers that recognise every context."""
    eight = drawn_rooms().replace(
        {"context": {context: scene.paper for context, scene in SCENES.items()}}
    )
    assert sides(eight) == LABELS
    for tagger, women, men in (("A", 0, 3), ("C", 4, 3)):
        rows = accuracy_table(
            replace(paper_grid(tagger), head={"classifier": "a", "tags": "gross"}),
            sides(eight),
            QUICK,
        )
        stars = rows[rows["congruent_rise"]].groupby("gender")["context"].agg(set).to_dict()
        for gender, count in (("woman", women), ("man", men)):
            marked = {cell[2:] for cell in MARKS_9[gender].split() if cell[0] == tagger}
            assert stars.get(gender, set()) == marked
            assert len(marked) == count
        inputs = results(accuracy=rows.assign(**NO_INTERVAL, q=0.01)) | {"backgrounds": eight}
        cell = context_tables.table14(inputs).iloc[0][QUESTIONS[2]]
        assert f"more in {women} of 4 feminine" in cell
        assert f"more in {men} of 4 masculine" in cell


PRINTED_14 = {
    ("A", "RQ1"): "yes, for men only: women in 0 of 4 feminine, men in 3 of 4 masculine",
    ("C", "RQ1"): "yes, for women and men: women in 4 of 4 feminine, men in 1 of 4 masculine",
    ("A", "RQ3"): "yes, for men only: women in 0 of 4 feminine, men in 3 of 4 masculine",
    ("C", "RQ3"): "yes, for women and men: women in 4 of 4 feminine, men in 3 of 4 masculine",
}


@pytest.mark.row("contexts-table-14-rq1", "contexts-table-14-rq3")
@pytest.mark.parametrize(("tagger", "question"), PRINTED_14)
def test_as_published_rq1_and_rq3_are_answered_as_printed(paper_grid, tagger, question):
    """Amazon: yes, for men only; Clarifai: yes, for both.  From the papers' counts, though no change has a q."""
    grid = replace(paper_grid(tagger), head={"classifier": "a", "tags": "gross"})
    tables = {
        "inferred": inferred_table(grid, LABELS, QUICK),
        "accuracy": accuracy_table(grid, LABELS, QUICK),
    }
    quiet = {name: rows.assign(q=1.0) for name, rows in tables.items()}
    inputs = quiet | {
        "backgrounds": pd.DataFrame(
            {"context": [*LABELS], "label": [*LABELS.values()], "rating": 5.0}
        )
    }
    row = context_tables.table14(inputs, published=True).iloc[0]
    assert row[STARRED[question]] == PRINTED_14[tagger, question]
    assert (
        row[QUESTIONS[0]]
        == "women: not found, more in 0 of 4 feminine; men: not found, more in 0 of 4 masculine"
    )  # by the test
    assert set(STARRED.values()).isdisjoint(context_tables.table14(inputs))


def test_as_published_rq3_is_not_answered_where_no_context_can_be_recognised():
    rows = table(context=["bridal"], gender="woman", paired_change=0.1, q=0.01, congruent_rise=True)
    unnamed = table(context=["bridal"], given="all", q=float("nan"), share=float("nan"))
    inputs = results(accuracy=rows, recognised=unnamed)
    inputs["inferred"] = inputs["inferred"].assign(congruent_rise=False)
    row = context_tables.table14(inputs, published=True).iloc[0]
    assert row[STARRED["RQ3"]] == "not judged: no context has tags in its dictionary"
    assert row[STARRED["RQ1"]] == "no: women in 0 of 1 feminine, men in 0 of 1 masculine"


@pytest.mark.row("contexts-table-14-rq2")
def test_rq2_names_the_contexts_where_recognition_depends_and_says_where_it_cannot_be_judged():
    rows = table(context=["bridal", "garage"], given="all", q=[0.01, 0.3], share=[0.9, 0.8])
    text = context_tables.table14(results(recognised=rows)).iloc[0][QUESTIONS[1]]
    assert text == "no, it depends in 1 of 2 contexts: bridal"
    rows = rows.assign(q=float("nan"), share=float("nan"))
    text = context_tables.table14(results(recognised=rows)).iloc[0][QUESTIONS[1]]
    assert text == "not judged: no context has tags in its dictionary"


@pytest.mark.row("contexts-table-14-rq4")
def test_rq4_counts_contexts_in_which_a_group_changes_more_and_what_fits_the_bias():
    tukey = table(
        context=["bridal", "garage", "garage", "garage"], factor=["gender", "gender", "group", "group"],
        one=["man", "man", "black", "black"], other=["woman", "woman", "white", "asian"],
        difference=[-0.1, -0.1, 0.2, 0.1], paper_significant=[True, False, True, True], p=[1e-4, 0.3, 1e-4, 1e-4],
    )  # fmt: skip
    changes = table(context=["bridal"] * 3, q=[0.01, 0.02, 0.5], consistent=[True, False, False])
    row = context_tables.table14(results(tukey=tukey, changes=changes)).iloc[0]
    assert row[QUESTIONS[3]] == "women in 1 of 2, black in 1 of 2"
    assert row[QUESTIONS[4]] == "1 of 2 differences found (3 tests)"
    nothing = results(changes=changes.assign(q=0.5, consistent=False))
    assert context_tables.table14(nothing).iloc[0][QUESTIONS[4]] == "no difference found in 3 tests"
    untested = context_tables.table14(
        results(tukey=tukey.assign(p=np.nan, paper_significant=False))
    ).iloc[0]
    assert untested[QUESTIONS[3]] == "not judged: no group can be compared"


@pytest.mark.row("contexts-table-11-bias")
def test_consistent_cells_of_table_11_are_marked_and_others_are_not():
    rows = table(
        context=["bridal", "bridal"], analysis=["within", "between"], super="abstract", women=0.3, men=0.1,
        t=[5.0, 1.0], p=[0.0001, 0.3], consistent=[True, False],
    )  # fmt: skip
    printed = context_tables.paper_tables({"changes": rows})["table11"].iloc[0]
    assert (printed["Δ t"], printed["t"]) == ("5.00*†", "1.00")
