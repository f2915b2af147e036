"""Tables 7 to 9 beyond their layout (see report/test_tables.py): intervals, tests, planted effects."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.describe import describe
from gslopes.contexts.measures.inference import (
    NOT_APPLICABLE,
    accuracy_table,
    cramers_v,
    f1,
    inferred_table,
    recognised_table,
)
from gslopes.contexts.measures.typology import read_typology
from tests.contexts.conftest import CONTEXTS, grid_of

QUICK = ContextOptions(permutations=999)
LABELS = {name: "feminine" if name[0] == "F" else "masculine" for name in CONTEXTS}


def s1_cells() -> dict[str, list[tuple[int, bool, int]]]:
    def people(women, men, named=None):
        cells = []
        for counts, hits in zip((women, men), named or (women, men), strict=True):
            for code, count, recognised in zip((1, 2, 0), counts, hits, strict=True):
                cells += [(code, index < recognised, 1) for index in range(count)]
        return cells

    return {
        "B": people((80, 5, 15), (5, 70, 25)),
        "F": people((90, 0, 10), (20, 40, 40)),
        "N": people((70, 10, 20), (10, 60, 30), ((70, 10, 12), (10, 60, 18))),
        "M": people((40, 30, 30), (0, 85, 15), ((8, 0, 0), (0, 7, 0))),
    }


def test_wilsons_intervals_of_amazons_baseline(paper_grid):
    rows = inferred_table(paper_grid("A"), LABELS, QUICK)
    base = rows[(rows["context"] == "canvas") & (rows["gender"] == "all")].set_index("inferred")
    want = {
        "woman": (0.5511, 0.5110, 0.5905),
        "man": (0.1122, 0.0893, 0.1401),
        "neutral": (0.3367, 0.2999, 0.3755),
    }
    for name, numbers in want.items():
        assert base.loc[name, ["share", "ci_low", "ci_high"]].tolist() == pytest.approx(
            numbers, abs=5e-5
        )


def test_a_change_of_few_people_has_no_p():
    same = [(1, True, 1)] * 20
    changed = [(2, True, 1)] * 3 + [(1, True, 1)] * 17
    rows = inferred_table(grid_of({"B": same, "F1": changed}, gender=["woman"] * 20), LABELS, QUICK)
    row = rows[
        (rows["context"] == "F1") & (rows["gender"] == "all") & (rows["inferred"] == "man")
    ].iloc[0]
    assert row["change"] == pytest.approx(0.15)
    assert row["discordant"] == 3
    assert row["note"] == "too few people change their answer"
    assert row[["change_low", "change_high", "p"]].isna().all()
    assert row[["ci_low", "ci_high"]].notna().all()  # of the share


def test_f1_of_several_rooms_has_an_interval_for_people_and_rooms():
    """Its two standard errors leave out a person, and a room, at a time: the jackknife."""
    rng = np.random.default_rng(5)
    gender, rooms = ["woman", "man"] * 60, 4
    lean = np.where(np.arange(120) % 2 == 0, 0.75, 0.3)[:, None] + np.array(
        [0.0, 0.2, -0.2, 0.1, 0.05]
    )
    called = np.where(rng.random((120, 5)) < lean, 1, 2)
    columns = [[(int(code), True, 1) for code in column] for column in called.T]
    names = ["B", "F", "F2", "F3", "F4"]
    grid = replace(
        grid_of(dict(zip(names, columns, strict=True)), gender=gender),
        contexts=("", *["F"] * rooms),
    )
    grid = replace(grid, tagged=frozenset({"F"}))
    row = accuracy_table(grid, {}, QUICK).set_index(["context", "gender"]).loc["F", "woman"]

    def numbers(people, columns) -> np.ndarray:
        women = np.array(gender)[people] == "woman"
        scores = []
        for codes in (called[people][:, 0:1], called[people][:, columns]):
            right = (codes == 1)[women].sum()
            scores.append(
                2 * right / (right + (codes == 1)[~women].sum() + women.sum() * codes.shape[1])
            )
        return np.array([scores[1], scores[1] - scores[0]])

    everybody, every = np.arange(120), [1, 2, 3, 4]
    assert row[["f1", "paired_change"]].to_list() == pytest.approx(
        numbers(everybody, every).tolist()
    )
    out = [np.array([numbers(np.delete(everybody, person), every) for person in everybody])]
    out.append(
        np.array(
            [numbers(everybody, [room for room in every if room != without]) for without in every]
        )
    )
    people, by_room = (np.sqrt((len(part) - 1) * part.var(axis=0)) for part in out)
    for name, index in (("", 0), ("change_", 1)):
        value = row[["f1", "paired_change"]].iloc[index]
        for end in ("low", "high"):
            over_people = abs(row[f"{name or 'ci_'}{end}"] - value)
            want = np.hypot(over_people, stats.t(3).ppf(0.975) * by_room[index])
            assert abs(row[f"{name}rooms_{end}"] - value) == pytest.approx(want, rel=0.06)
    halves = [
        stats.t(dof).ppf(1 - row["p_rooms"] / 2) * se
        for dof, se in ((119, people[1]), (3, by_room[1]))
    ]
    assert np.hypot(*halves) == pytest.approx(abs(row["paired_change"]), rel=0.06)


@pytest.mark.parametrize(("rooms", "people"), [(1, 40), (2, 1)])
def test_one_room_or_one_person_is_no_sample(rooms, people):
    columns = {
        "B": [(1, True, 1)] * people,
        **{f"F{room}": [(2, True, 1)] * people for room in range(rooms)},
    }
    grid = grid_of(columns, gender=["woman"] * people)
    grid = replace(grid, contexts=("", *["F"] * rooms), tagged=frozenset({"F"}))
    row = accuracy_table(grid, {}, QUICK).set_index(["context", "gender"]).loc["F", "woman"]
    assert (
        row[["rooms_low", "rooms_high", "change_rooms_low", "change_rooms_high", "p_rooms"]]
        .isna()
        .all()
    )


def test_a_change_of_f1_of_few_people_is_not_judged():
    columns = {"B": [(1, True, 1)] * 30, "F": [(2, True, 1)] * 9 + [(1, True, 1)] * 21}
    row = (
        accuracy_table(grid_of(columns, gender=["woman"] * 30), {}, QUICK)
        .set_index("context")
        .loc["F"]
    )
    assert row["paired_change"] < -0.1
    assert row[["change_low", "change_high", "p"]].isna().all()
    assert row["note"] == "too few people change their answer"


def test_the_direction_of_errors_is_a_row_of_its_own(paper_grid):
    rows = inferred_table(paper_grid("C"), LABELS, QUICK).set_index(
        ["context", "gender", "inferred"]
    )["count"]
    # back-solved in the specification: men read as women in F1, women read as men in M1
    assert rows["F1", "man", "woman"] == 72
    assert rows["canvas", "man", "woman"] == 0
    assert rows["M1", "woman", "man"] == 116
    assert rows["canvas", "woman", "man"] == 70


def test_pairs_that_were_not_both_answered_are_left_out():
    base = [(1, True, index != 0) for index in range(30)]
    room = [(2, True, index != 1) for index in range(30)]
    rows = inferred_table(grid_of({"B": base, "M1": room}, gender=["woman"] * 30), LABELS, QUICK)
    row = rows[
        (rows["context"] == "M1") & (rows["gender"] == "all") & (rows["inferred"] == "man")
    ].iloc[0]
    assert (row["n"], row["discordant"], row["change"]) == (29, 28, 1.0)


@pytest.mark.parametrize(
    ("tagger", "context", "statistic", "df", "p"),
    [
        ("I", "M1", 110.235, 1, 8.7e-26),
        ("I", "M2", 54.270, 1, None),
        ("I", "M3", 33.623, 1, None),
        ("I", "M4", 12.301, 1, 4.5e-4),
        ("A", "M3", 7.943, 2, 0.019),
        ("A", "M4", 4.029, 2, 0.133),
        ("C", "F2", 8.512, 2, 0.014),
        ("M", "F4", 8.380, 2, 0.015),
        ("M", "F1", 2.857, 2, 0.240),
    ],
)
@pytest.mark.row("contexts-5.2-independent")
def test_pearsons_statistics(tagger, context, statistic, df, p, paper_grid):
    grid = paper_grid(tagger)
    column = grid.of(context)[0]
    v = cramers_v(grid.recognised[:, column], grid.inferred[:, column])
    assert 597 * v**2 == pytest.approx(statistic, abs=6e-4)
    p_value = recognised_table(grid).set_index(["context", "given"]).loc[(context, "all"), "p"]
    assert p_value == pytest.approx(stats.chi2.sf(statistic, df), rel=1e-3)
    if p is not None:
        assert p_value == pytest.approx(p, rel=0.02)


def test_a_context_without_tags_is_not_applicable_rather_than_0():
    grid = grid_of(
        {"B": [(1, False, 1)] * 4, "F1": [(1, False, 1)] * 4},
        gender=["woman"] * 4,
        tagged=frozenset(),
    )
    (row,) = recognised_table(grid).to_dict("records")
    assert row["note"] == NOT_APPLICABLE
    assert np.isnan(row["share"])


@pytest.mark.row("contexts-table-8")
def test_who_is_recognised_with_whom_in_the_planted_context():
    """S1, context N: everybody with a gendered answer, 12 of the women's 20 neutral ones and 18 of the men's 30."""
    grid = grid_of(
        {"B": s1_cells()["N"], "N": s1_cells()["N"]}, gender=["woman"] * 100 + ["man"] * 100
    )
    assert 200 * cramers_v(grid.recognised[:, 1], grid.inferred[:, 1]) ** 2 == pytest.approx(
        66.667, abs=5e-4
    )
    rows = recognised_table(grid).set_index("given")
    assert rows.loc["neutral", ["count", "n"]].tolist() == [30, 50]


def test_nothing_right_is_0_and_nothing_to_say_is_no_number():
    assert f1(0, 3, 0) == 0
    assert f1(0, 0, 3) == 0
    assert np.isnan(f1(0, 0, 0))


@pytest.fixture
def s1():
    return grid_of(s1_cells(), gender=["woman"] * 100 + ["man"] * 100)


@pytest.mark.parametrize(
    ("over", "context", "women", "men"),
    [
        ("recognised", "canvas", 0.8649, 0.8000),
        ("recognised", "F", 0.8571, 0.5714),
        ("recognised", "N", 0.8140, 0.7595),
        ("recognised", "M", None, None),
        ("all", "N", 0.7778, 0.7059),
        ("all", "M", 0.5714, 0.7907),
    ],
)
@pytest.mark.row("contexts-table-9", "contexts-table-9-na")
def test_planted_f1_comes_out_exactly(over, context, women, men, s1):
    grid = s1 if over == "recognised" else replace(s1, tagged=frozenset())
    table = accuracy_table(grid, {}, ContextOptions(permutations=99))
    table = table.set_index(["context", "gender"])["f1"]
    for gender, want in (("woman", women), ("man", men)):
        if want is None:
            assert np.isnan(table[context, gender])
        else:
            assert table[context, gender] == pytest.approx(want, abs=5e-5)


@pytest.mark.row("contexts-table-14-rq3")
def test_a_gain_of_selection_is_no_change(s1):
    """Over the same pictures the baseline's F1 is compared: recognising only the easy half gains nothing."""
    right = [(1, True, 1)] * 50 + [(0, False, 1)] * 50
    grid = grid_of({"B": right, "F": right}, gender=["woman"] * 100)
    row = accuracy_table(grid, {}, QUICK).set_index("context").loc["F"]
    assert row["f1"] == 1.0
    assert row["paired_change"] == 0.0


def test_a_gendered_word_for_everybody_raises_recall_and_ruins_precision():
    base = [(1, True, 1)] * 50 + [(2, True, 1)] * 50
    bride = [(1, True, 1)] * 100
    grid = grid_of({"B": base, "F": bride}, gender=["woman"] * 50 + ["man"] * 50)
    rows = accuracy_table(grid, {}, QUICK).set_index(["context", "gender"])
    assert rows.loc[("F", "woman"), "f1"] == pytest.approx(2 / 3)
    assert rows.loc[("F", "man"), "f1"] == 0
    assert rows.loc[("F", "man"), "change_high"] < -0.89
    assert rows.loc[("F", "man"), "p"] < 0.01


@pytest.mark.evidence
@pytest.mark.slow
def test_recognition_dealt_anew_of_nothing():
    generator, p_values = np.random.default_rng(12), []
    for _ in range(1000):
        cells = list(
            zip(
                generator.integers(0, 3, 200),
                generator.random(200) < 0.5,
                np.ones(200, int),
                strict=True,
            )
        )
        rows = recognised_table(
            grid_of({"B": cells, "F": cells}, gender=["woman"] * 100 + ["man"] * 100)
        )
        p_values.append(rows.set_index("given").loc["all", "p"])
    assert (
        0.036 <= np.mean(np.array(p_values) <= 0.05) <= 0.064
    )  # 0.05 and twice its standard error


def test_gender_words_that_the_typology_lacks_lower_f1_step_by_step(tmp_path):
    genders = ["woman"] * 100 + ["man"] * 100
    words = {
        "woman": ["woman", "lady", "girl", "hostess"],
        "man": ["man", "gentleman", "boy", "guy"],
    }
    answers = [words[gender][index % 4] for index, gender in enumerate(genders)]
    scores = []
    for size in (4, 3, 2, 1):
        path = tmp_path / f"{size}.toml"
        clusters = {"feminine": words["woman"][:size], "masculine": words["man"][:size]}
        path.write_text(
            "".join(
                f'[clusters.{name}]\nsuper = "demographics"\ntags = {tags}\n'
                for name, tags in clusters.items()
            )
        )
        typology = read_typology(path)
        codes = [
            {"neutral": 0, "woman": 1, "man": 2}[describe({tag}, typology)["inferred"]]
            for tag in answers
        ]
        grid = grid_of({"B": [(code, True, 1) for code in codes]}, gender=genders)
        scores.append(accuracy_table(grid, {}, ContextOptions(permutations=9))["f1"].tolist())
    assert scores[0] == [1.0, 1.0]
    assert (np.diff(np.array(scores), axis=0) < 0).all()
