"""First sentences, the page, the review and its answers."""

import math
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import gslopes
from gslopes import captions
from gslopes.captions.config import SENTENCES, TABLES
from gslopes.captions.page.review import (
    confirmed,
    corrected,
    mask,
    masked,
    read_answers,
    review_items,
    sampled,
)
from gslopes.captions.page.sections import (
    _named,
    _ranked,
    _sentence,
    examples,
    headline_of,
    judged,
)
from gslopes.core.errors import ConfigError, DataMissing
from gslopes.core.summary import FINDING
from gslopes.frame.findings import decide
from gslopes.frame.result import load
from gslopes.frame.shown import grid_of
from gslopes.report.inline import templates
from tests.broken import shown
from tests.fixtures import assert_one_minute, assert_page_fits

NOBODY = TABLES["salience"].empty()


def measured(*rows: dict[str, object]) -> pd.DataFrame:
    plain = dict.fromkeys(TABLES["measures"].columns, "") | {"captions": "union", "kind": "rule"}
    plain |= dict.fromkeys(("value", "ci_low", "ci_high", "p", "q"), math.nan)
    given = {
        "unit": "pp",
        "stage": "system-captions",
        "column": "skin",
        "group": "darker",
        "other": "lighter",
    }
    given |= {"n": 400, "active": 200}
    return pd.DataFrame([{**plain, **given, "reading": "face", **row} for row in rows])


def told(rows: pd.DataFrame, salience: pd.DataFrame = NOBODY) -> list[dict[str, str]]:
    found = decide(judged({"measures": rows, "salience": salience})).to_dict("records")
    return [one | _sentence(one) for one in found if one["decision"] == FINDING]


def headline(rows: pd.DataFrame, cases: int = 0) -> str:
    return headline_of(
        {"measures": rows, "salience": NOBODY, "cases": pd.DataFrame(index=range(cases))}
    ).sentence


def row(technique: str, value: float, q: float, **more: object) -> dict[str, object]:
    return {
        "technique": technique,
        "value": value,
        "q": q,
        "p": q,
        "ci_low": value - 2,
        "ci_high": value + 2,
    } | more


def test_the_surest_of_each_concept_leads_and_what_the_photos_may_explain_comes_last():
    rows = measured(
        row("E3", -9, 0.004, concept="any person concept"),
        row("S1", 20, 0.0001, concept="hallucination:nurse.n.01"),
        row("S4", 25, 0.0002, concept="nurse.n.01"),
        row("S3", 30, 0.0001, concept="tie.n.01"),
        row("S3", 10, 0.01, concept="dog.n.01"),
        row("D2", 4.5, 0.02, concept="unmentioned"),
        row("E1", 9, 0.2, concept="people unmentioned"),
    )
    outcome = told(rows)
    assert [one["technique"] for one in outcome] == ["S1", "E3", "D2", "S4", "S3", "S3"]
    text = "System captions wrongly include “nurse” 20.0 points more often for darker than for lighter "
    assert (
        headline(rows, 3)
        == f"{text[:-1]}.\n+20.0 [+18.0, +22.0] percentage points, q < 0.001, 400 images; "
        "groups as they were annotated."
    )
    assert outcome[2]["number"] == "+4.5 [+2.5, +6.5] percentage points"
    assert outcome[2]["q"] == "q = 0.020"
    assert "“tie” 30.0 points more" in outcome[4]["text"]
    assert outcome[0]["said"] == "“nurse” wrongly included (S1, at face value)"


def test_the_system_comes_before_human_captions_and_gender_words_are_no_finding_between_genders():
    human = row("S3", -30, 0.0001, concept="tie.n.01", stage="human-captions")
    gendered = [
        row(name, 90, 0.0, concept="x:woman.n.01", column="gender") for name in ("S1", "S3")
    ]
    found, annotators = told(measured(human, *gendered, row("S3", 8, 0.04, concept="dog.n.01")))
    assert found["text"].startswith("System captions say “dog”")
    assert annotators["text"].startswith("Human captions say “tie”")
    assert len(told(measured(row("S3", 90, 0.0, concept="woman.n.01")))) == 1


@pytest.mark.parametrize(
    ("technique", "concept", "said"),
    [
        (
            "S1",
            "too-specific:man.n.01",
            "System captions are too specific with “man” 5.0 points more often",
        ),
        (
            "S1",
            "hallucination:tie.n.01",
            "System captions wrongly include “tie” 5.0 points more often",
        ),
        (
            "I2",
            "none",
            "System captions mention no person 5.0 points more often for darker",
        ),
        ("I2", "mismatch", "System captions use words of the other gender 5.0 points more often"),
    ],
)
def test_a_rule_is_stated_in_words(technique: str, concept: str, said: str):
    (one,) = told(measured(row(technique, 5, 0.001, concept=concept)))
    assert one["text"].startswith(said)


BARE = row("D4", 1, math.nan, p=math.nan)
WIDE = row("D2", 1, 0.5, ci_low=-20, ci_high=22, concept="unmentioned")


@pytest.mark.parametrize(
    ("rows", "cases", "sentence"),
    [
        (
            [row("D2", 1, 0.5)],
            4,
            "less than would matter.\n400 images; its 95 % interval is [−1.0, +3.0] points, 5",
        ),
        ([BARE], 4, "No groups were compared.\n4 cases wait to be read."),
        ([BARE], 0, "No groups were compared.\nNo case was found."),
        (
            [WIDE],
            0,
            "Cannot tell whether captions differ between groups.\n400 images: nobody is mentioned (D2, at face value)",
        ),
        (
            [row("D2", 1, 0.5, n=8)],
            0,
            "Cannot tell whether captions differ between groups.\n8 images",
        ),
        (
            [row("D2", 1, 0.5, active=8)],
            0,
            "[−1.0, +3.0] points (0.39 ",
        ),
        (
            [row("D2", 3, 0.06)],
            0,
            "[+1.0, +5.0] points (q 0.06, adjusted for the number of tests).",
        ),
        (
            [WIDE, row("S3", 1, 0.5, concept="tie.n.01")],
            0,
            "None of 2 differences between groups is shown.\n400 images: nobody is mentioned",
        ),
        (
            [row("D2", 1, 0.5, ci_low=math.nan, ci_high=math.nan)],
            0,
            "(D2, at face value) has no interval.",
        ),
    ],
)
def test_nothing_found_is_said_or_that_it_cannot_be_told(
    rows: list[dict[str, object]], cases: int, sentence: str
):
    assert told(measured(*rows)) == []
    assert sentence in headline(measured(*rows), cases)


def test_a_strangers_words_are_printable_and_s2_is_in_log_odds():
    hostile = {"group": "<b>\u202edark", "other": "light"}
    (one,) = told(measured(row("D2", 5, 0.01, concept="unmentioned", **hostile)))
    assert "\u202e" not in one["text"]
    salience = {
        **dict.fromkeys(TABLES["salience"].columns, ""),
        **row("S2", 0, 0.01, concept="dress.n.01"),
    }
    salience |= {
        "coefficient": -1.25,
        "eligible": True,
        "stage": "system-captions",
        "ci_low": -2.0,
        "ci_high": -0.5,
    }
    salience |= {"group": "male", "other": "female", "n": 90}
    (two,) = told(measured(row("D2", 1, 0.9)), pd.DataFrame([salience]))
    assert (
        two["text"]
        == "System captions mention “dress” less often where shown with male than with female"
    )
    assert two["number"] == "−1.25 [−2.00, −0.50] log odds"


@pytest.mark.parametrize("technique", [name for name in SENTENCES["findings"] if name != "S2"])
def test_every_technique_has_a_sentence(technique: str):
    (one,) = told(measured(row(technique, -3, 0.001, concept="a:b")))
    assert "3.0 points" in one["text"]
    assert "{" not in one["text"]


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> =HYPERLINK(\u202e)"


def cases(count: int = 4) -> pd.DataFrame:
    plain = dict.fromkeys(TABLES["cases"].columns, "")
    rows = [
        {
            **plain,
            "case": f"{i:016x}",
            "harm": "demeaning",
            "technique": "D1" if i else "D3",
            "image": f"{i}.png",
        }
        | {"source": 0, "word": "clown", "text": f"{HOSTILE} Two clowns.", "truth_text": "a man"}
        for i in range(count)
    ]
    return pd.DataFrame(rows)


def test_listed_words_are_masked_on_the_page_and_not_where_they_are_judged_with_technique_and_truth(
    tmp_path: Path,
):
    (other, *_), (*_, listed) = cases().to_dict("records"), cases().to_dict("records")
    assert mask("clown") == "c••••"
    assert "clown" not in "".join(masked(listed))
    assert "clowns" in masked(other)[1], "only listed words of D1 are masked"
    items = review_items(
        cases(2).assign(truth=["human-labels", ""], truth_text=""),
        None,
        tmp_path,
        {"D3": "context"},
    )
    assert all("clowns" in item["text"] for item in items)
    assert [item["truth"] for item in items] == ["nothing", "not asked: the caption alone is read"]
    assert items[0]["technique"] == "D3 context"


def test_words_of_the_house_and_listed_words_stay_inside_and_no_number_is_minus_zero():
    plain = dict.fromkeys(TABLES["measures"].columns, "") | {
        "n": 9,
        "active": 3,
        "value": -0.0,
        "reading": "look",
    }
    plain |= {"ci_low": math.nan, "ci_high": math.nan}
    rows = pd.DataFrame([plain, plain]).assign(technique=["I2", "D1"], concept=["none", "x:clown"])
    shown = grid_of("All", _named(rows))
    assert shown["rows"] == [["I2", "no person is mentioned"], ["D1", "x:c••••"]]
    assert shown["caption"] == "All; n 9; active 3; value 0; reading look"


@pytest.mark.row("captions-fig-4")
def test_cases_of_a_word_that_s1_ranks_high_come_first():
    one = {**dict.fromkeys(TABLES["cases"].columns, ""), "technique": "S1", "rule": "hallucination"}
    rows = pd.DataFrame(
        [{**one, "concept": name} for name in ("apple", "gun", "baby")]
        + [{**one, "technique": "D4"}]
    )
    ranks = {
        "stage": "",
        "scenario": "hallucination",
        "concept": ["gun", "baby", "gun"],
        "rank": [2, 3, 1],
    }
    inclusions = pd.DataFrame(ranks).astype({"rank": "Int32"})
    assert _ranked(rows, inclusions)["concept"].tolist() == ["gun", "baby", "apple", ""]


@pytest.mark.row("captions-fig-5")
@pytest.mark.parametrize(
    ("low", "shown"), [(-2.0, "[−2.00, −0.50],"), (math.nan, "[−1.70, −0.80] over the splits,")]
)
def test_captions_behind_a_finding_of_s2_are_on_the_page_with_its_interval(
    tmp_path: Path, low: float, shown: str
):
    pair = {
        "stage": "system-captions",
        "column": "gender",
        "group": "female",
        "other": "male",
        "concept": "tie.n.01",
    }
    outcome = {
        **dict.fromkeys(TABLES["salience"].columns, math.nan),
        **pair,
        "n": 90,
        "finding": False,
    }
    outcome |= {
        "coefficient": -1.25,
        "ci_low": low,
        "ci_high": -0.5,
        "split_low": -1.7,
        "split_high": -0.8,
    }
    rows = [{**pair, "of": "male", "mentioned": True, "image": "1", "text": "A man in a tie."}]
    rows.append(
        {**pair, "of": "female", "mentioned": False, "image": "2", "text": f"A woman. {HOSTILE}"}
    )
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos/1.jpg").write_bytes(b"")
    run = SimpleNamespace(
        folder=tmp_path / "run", config=SimpleNamespace(images=tmp_path / "photos")
    )
    tables = {
        "examples": pd.DataFrame(rows),
        "salience": pd.DataFrame([{**outcome, "finding_paper": True}]),
    }
    built = examples(SimpleNamespace(run=run, tables=tables))
    shows = templates(Path(captions.__file__).parent).get_template("sections.html.j2").module
    text = str(shows.examples(**built))
    title = f"system captions, tie.n.01, female over male: log odds −1.25 {shown} 90 images"
    assert f"<summary>{title}</summary>" in text
    without, told = text.split("<div><p><b>")[1:]
    assert without.startswith("female, not mentioned</b>")
    assert told.startswith("male, mentioned</b>")
    assert 'A man in a tie.<br><span class="soft"><a href="../../photos/1.jpg">1</a>' in told
    assert "\u202e" not in text
    quiet = {**tables, "salience": tables["salience"].assign(finding_paper=False)}
    assert examples(SimpleNamespace(run=run, tables=quiet)) is None


@pytest.mark.parametrize("image", ["../secret", "/etc/passwd", "a\0b", "nothing"])
def test_only_photos_below_the_folder_are_linked(tmp_path: Path, image: str):
    photos = tmp_path / "photos"
    photos.mkdir()
    (tmp_path / "secret").write_text("x")
    assert review_items(cases(1).assign(image=image), photos, tmp_path, {})[0]["src"] == ""


def test_the_sample_is_the_same_each_time():
    drawn = sampled(cases(50), 10)
    assert sorted(drawn["case"]) == sorted(
        sampled(cases(50).sample(frac=1, random_state=1), 10)["case"]
    )
    assert len(drawn) == 11


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Of an audit in which half of the women go unmentioned, with a hostile name and caption."""
    home = tmp_path_factory.mktemp("pages")
    (home / "stages").mkdir()
    human, system, groups = ["image,caption"], ["image,caption"], ["image,gender"]
    for image in range(60):
        word = "woman" if image % 2 else "man"
        human.append(f'{image},"A {word} with a dog. {HOSTILE}"')
        system.append(f"{image},A {'bench' if image % 4 == 1 else f'{word} on a bench'}.")
        groups.append(f"{image},{'female' if image % 2 else 'male'}")
    for name, rows in (("human", human), ("system", system)):
        (home / "stages" / f"{name}-captions.csv").write_text("\n".join(rows), encoding="utf-8")
    (home / "groups.csv").write_text("\n".join(groups))
    audit = gslopes.audit_captions(home / "stages", home / "run", groups=home / "groups.csv")
    return {"report": audit.page, "review": audit.review}


def test_the_page_ends_with_what_to_do_next_and_what_to_quote(pages: dict[str, Path]) -> None:
    text = unescape(pages["report"].read_text("utf-8"))
    quoted = text[text.index("<blockquote><p>", text.index('id="next"')) :]
    said = quoted[: quoted.index("</blockquote>")]
    for part in (
        "System captions mention nobody",
        "points, 95 % interval [",
        "images",
        "nothing was varied",
    ):
        assert part in said
    card = pages["report"].with_name("model_card.md").read_text("utf-8")
    assert card.startswith("## How captions speak of people")
    assert HOSTILE not in pages["report"].read_text("utf-8")


@pytest.mark.row("captions-s1-objects", "captions-d1-objects")
def test_d1_and_s1_begin_with_what_was_not_judged_until_a_list_is_given(
    pages: dict[str, Path], tmp_path: Path
) -> None:
    texts, titles = (
        ("D1, not judged: nouns", "S1, not judged: nouns"),
        ("D1 listed words", "S1 words wrongly included"),
    )
    page = shown(pages["report"].read_text("utf-8"))
    for text, title in zip(texts, titles, strict=True):
        assert page.index(text) < page.index(title, page.index(text)) < page.index(text) + 600
        assert any(note.startswith(text) for note in load(pages["report"].parents[1]).notes)
    (tmp_path / "mine.txt").write_text("slob.n.01\n")
    lists = dict.fromkeys(("demeaning-synsets", "non-imageable-synsets"), tmp_path / "mine.txt")
    stages = pages["report"].parents[2] / "stages"
    given = gslopes.audit_captions(stages, tmp_path / "run", technique=["D1", "S1"], list=lists)
    page = shown(given.page.read_text("utf-8"))
    assert all(title in page for title in titles)
    assert not any(text in page for text in texts)
    (tmp_path / "mine.txt").write_text("# nothing yet\n")
    with pytest.raises(ConfigError, match="demeaning-synsets is empty"):
        gslopes.audit_captions(stages, tmp_path / "again", technique="D1", list=lists)


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("size", [(1280, 900), pytest.param((390, 844), marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["report", "review"])
def test_the_pages_fit_the_window_and_axe_finds_no_serious_fault(
    chromium: Any, pages: dict[str, Path], name: str, size: tuple[int, int]
):
    assert_page_fits(chromium, pages[name], *size)


@pytest.mark.slow
@pytest.mark.browser
def test_the_first_minute_is_five_screens(chromium: Any, pages: dict[str, Path]):
    assert_one_minute(chromium, pages["report"])


# -- answers of a review -----------------------------------------------------------------------------------------------


def test_everything_read_leaves_no_interval_and_a_sample_a_narrower_one():
    assert corrected(0.14, 312, 312) == (0.14, 0.14)
    low, high = corrected(0.14, 200, 312)
    wide = corrected(0.14, 200, 10**9)
    assert wide[0] < low < 0.14 < high < wide[1]


@pytest.mark.row("captions-fig-4", "captions-fig-6")
def test_shares_confirmed_with_causes_of_the_rest():
    cases = pd.DataFrame({"case": list("abcd"), "technique": ["S1"] * 3 + ["D1"]})
    answers = [("a", "harm"), ("b", "parser"), ("c", "harm")]
    reviews = pd.DataFrame(
        [(*row, "r", "") for row in answers], columns=["case", "answer", "reviewer", "note"]
    )
    demeaning, stereotyping = confirmed(cases, reviews)
    assert (demeaning["cases"], demeaning["read"]) == (1, 0)
    assert stereotyping["share"] == pytest.approx(2 / 3)
    assert stereotyping["causes"] == {"parser": 1}


def test_answers_of_a_csv(tmp_path: Path):
    file = tmp_path / "review.csv"
    file.write_text(
        "case,answer,reviewer,note\na,harm,me,'=1+1\na,unsure,you,\"\ta tab\"\nb,,me,''=a\n"
    )
    answers = read_answers(file, required=True)
    assert [row["note"] for row in answers] == ["=1+1", "\ta tab", "'=a"]
    cases = pd.DataFrame({"case": ["a", "b"], "technique": "S1"})
    (row,) = confirmed(cases, pd.DataFrame(answers))
    assert row["read"] == 1  # a note without an answer does not count
    assert read_answers(tmp_path / "none.csv", required=False) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y\n1,2\n", "has no column case"),
        ("case,answer,reviewer,note\na,nonsense,me,\n", "line 2"),
        ("case,answer,reviewer,note\na,harm,me,\na,unsure,me,later\n", "line 3"),
        ('case,answer,reviewer,note\na,harm,me,"\n', "line 2"),
    ],
)
def test_what_is_no_review_or_contradicts_itself_is_an_error_with_its_line(
    tmp_path: Path, text: str, message: str
):
    file = tmp_path / "review.csv"
    file.write_text(text)
    with pytest.raises(DataMissing, match=rf"review\.csv.*{message}"):
        read_answers(file, required=True)
