"""The audit as a whole on small stages: Python call, command, options, gate, hardly anything in it."""

import json
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

import gslopes
from gslopes.core.errors import UnknownName, UsageError
from gslopes.frame.result import load
from tests.broken import broken, shown
from tests.fixtures import SIBLINGS, questions


def written(folder: Path, human: list[str], system: list[str], genders: list[str]) -> Path:
    """Stages of one caption an image in ``folder``, with groups.csv beside them."""
    folder.mkdir(parents=True)
    for name, texts in (("human", human), ("system", system)):
        rows = "".join(f"{image},{text}\n" for image, text in enumerate(texts))
        (folder / f"{name}-captions.csv").write_text(f"image,caption\n{rows}", "utf-8")
    rows = "".join(f"{image},{gender},{10 + image}\n" for image, gender in enumerate(genders))
    (folder.parent / "groups.csv").write_text(f"image,gender,age\n{rows}x,male,20\n", "utf-8")
    return folder


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty images; of women one in two goes unmentioned by the system, of men none."""
    words = [("man", "woman")[image % 2] for image in range(40)]
    system = [
        "A bench." if image % 4 == 1 else f"A {word} on a bench."
        for image, word in enumerate(words)
    ]
    human, genders = [f"A {word} with a dog." for word in words], 20 * ["male", "female"]
    return written(tmp_path_factory.mktemp("captions") / "stages", human, system, genders)


@pytest.mark.row("captions-d2-captions", "captions-d2-share", "captions-3.4-graphs")
def test_the_python_call_gives_tables_and_pages(stages: Path, tmp_path: Path):
    given = {
        "groups": stages.parent / "groups.csv",
        "columns": ["gender"],
        "techniques": ("D2", "S3"),
    }
    audit = gslopes.audit_captions(stages, tmp_path / "run", **given)
    measures = audit.tables["measures"]
    chosen = (
        (measures["technique"] == "D2")
        & (measures["concept"] == "unmentioned")
        & (measures["unit"] == "pp")
    )
    (row,) = measures[chosen].to_dict("records")
    assert (row["value"], row["column"], row["group"], row["other"]) == (
        50,
        "gender",
        "female",
        "male",
    )
    assert row["ci_low"] > 0
    page = audit.page.read_text("utf-8")
    assert questions(page) == SIBLINGS
    assert 'href="../review.html"' in page
    assert (audit.page.parent / "../review.html").resolve() == audit.review.resolve()
    assert audit.review.is_file()
    assert "Groups are those of gender: how people look" in shown(page)
    unmatched = "1 row of groups.csv is about none of the images looked at: 'x'."
    assert unmatched in audit.notes
    assert unescape(page).count(unmatched) == 1
    opened = gslopes.load(audit.folder)
    assert (opened.summary, opened.page, opened.review) == (audit.summary, audit.page, audit.review)
    again = gslopes.audit_captions(
        stages, tmp_path / "own", **given, tuples=audit.folder / "tuples.parquet"
    )
    pd.testing.assert_frame_equal(again.tables["measures"], measures)


def test_unknown_options_columns_and_images_are_named_before_anything_is_parsed(
    stages: Path, tmp_path: Path
):
    with pytest.raises(UsageError, match="technique"):
        gslopes.audit_captions(stages, tmp_path / "run", techniqe=["D2"])
    with pytest.raises(UnknownName, match="gendr"):
        gslopes.audit_captions(
            stages, tmp_path / "run", groups=stages.parent / "groups.csv", column="gendr"
        )
    (tmp_path / "others.csv").write_text("image,gender\n000.jpg,male\n001.jpg,female\n")
    with pytest.raises(UsageError, match=r"none of the images.*'000\.jpg', '001\.jpg'.*same ids"):
        gslopes.audit_captions(stages, tmp_path / "run", groups=tmp_path / "others.csv")
    assert not (tmp_path / "run").exists()


def test_captions_that_are_no_texts_end_in_tables_with_their_status_and_no_group_is_named(
    tmp_path: Path,
):
    (tmp_path / "stages").mkdir()
    rows = [
        {"image_id": image, "caption": caption}
        for image, caption in enumerate(["", 7, [["a"]], " ", None])
    ]
    (tmp_path / "stages" / "human-captions.json").write_text(json.dumps({"annotations": rows}))
    outcome = gslopes.audit_captions(tmp_path / "stages", tmp_path / "run", technique="D1")
    assert outcome.tables["sentences"]["status"].tolist() == [
        "empty",
        "failed",
        "failed",
        "empty",
        "empty",
    ]
    assert {"3 captions empty.", "2 captions failed."} <= set(outcome.notes)
    assert outcome.findings.empty
    page = shown(outcome.page.read_text("utf-8"))
    assert (
        questions(outcome.page.read_text("utf-8")) == SIBLINGS[1:]
    )  # no section says only that nothing was compared
    assert "Groups are those of" not in page
    assert "skin tone" not in page


def test_a_red_and_a_green_gate_their_files_and_the_findings(
    gslopes, stages: Path, tmp_path: Path
) -> None:
    run, file = tmp_path / "run", tmp_path / "junit.xml"
    args = (
        "captions",
        stages,
        "--groups",
        stages.parent / "groups.csv",
        "--column",
        "gender",
        "--technique",
        "D2",
    )
    args = (*args, "--out", run)
    wrong = gslopes(*args, "--fail-if", "slope > 5")
    assert (wrong.code, "The table has no column 'slope'" in wrong.err) == (2, True)
    assert not run.exists()
    red = gslopes(*args, "--fail-if", "finding and abs(value) > 30", "--junit", file)
    assert red.code == 4, red.err
    assert "fail-if    holds for" in red.err
    suite = ElementTree.parse(file).getroot()
    assert int(suite.get("failures")) >= 1
    green = gslopes("captions", run, "--fail-if", "finding and abs(value) > 99", "--junit", file)
    assert green.code == 0, green.err
    assert ElementTree.parse(file).getroot().get("failures") == "0"
    audit = load(run)
    first = audit.findings.iloc[0]
    assert (first["model"], first["contrast"]) == ("system-captions", "gender: female over male")
    assert first["value"] == pytest.approx(50)
    assert first["ci_low"] < 50 < first["ci_high"]
    content = json.loads((run / "summary.json").read_text("utf-8"))
    assert content["rows"][0]["value"] == pytest.approx(50)
    assert (content["audit"], content["found"], content["headline"]) == (
        "captions",
        40,
        audit.summary,
    )


WORDS = 15 * ["man", "woman"]
CASES = {
    "one image": (["A man."], ["A man."], ["male"]),
    "no word": ([f"A {word}." for word in WORDS], 30 * ["."], 15 * ["male", "female"]),
    "a third without a caption": (
        [f"A {word}." for word in WORDS],
        ["" if image % 3 == 0 else f"A {word}." for image, word in enumerate(WORDS)],
        15 * ["male", "female"],
    ),
    "one group": (30 * ["A man on a bench."], 30 * ["A dog."], 30 * ["male"]),
}


@pytest.mark.parametrize("name", CASES)
def test_every_table_and_page_is_made(tmp_path: Path, name: str):
    stages, given = written(tmp_path / "stages", *CASES[name]), {"groups": tmp_path / "groups.csv"}
    outcome = gslopes.audit_captions(stages, tmp_path / "run", **given, columns=["gender"])
    texts = [
        outcome.summary,
        str(outcome),
        outcome._repr_html_(),
        outcome.findings.to_csv(index=False),
    ]
    texts += [shown(file.read_text("utf-8")) for file in (outcome.page, outcome.review)]
    assert sorted({phrase for text in texts for phrase in broken(text)}) == []
    assert gslopes.load(tmp_path / "run").summary == outcome.summary


@pytest.mark.parametrize(
    ("woman", "man", "said", "technique"),
    [
        ("A nurse", "A doctor", "“nurse”", "S1"),  # a stereotype
        pytest.param("A girl", "A doctor", "terms of gender", "I1", marks=pytest.mark.slow),
        pytest.param("A lazy doctor", "A doctor", "listed words", "D1", marks=pytest.mark.slow),
        pytest.param(
            "A bench and a desk", "A doctor", "mention nobody", "D2", marks=pytest.mark.slow
        ),
    ],
)
def test_what_was_planted_comes_first_in_terminal_page_files_and_python(
    tmp_path: Path, woman: str, man: str, said: str, technique: str
) -> None:
    """Of women's captions two of three hold it; men's have another word for some things, and less to say of dogs."""
    genders = ["female", "male"] * 60
    rest = [f"with {('a dog', 'a cup', 'an umbrella')[image % 3]}" for image in range(120)]
    human = [f"A doctor {thing} in a street." for thing in rest]
    begin = {"female": woman, "male": man}
    system = [
        f"{begin[gender] if image % 3 else 'A doctor'} {thing} in a street."
        for image, (gender, thing) in enumerate(zip(genders, rest, strict=True))
    ]
    system[1::6] = [text.replace("a cup", "a thing") for text in system[1::6]]
    stages = written(tmp_path / "in" / "stages", human, system, genders)
    audit = gslopes.audit_captions(
        stages, tmp_path / "run", groups=stages.parent / "groups.csv", columns=["gender"]
    )
    heading = str(audit).splitlines()[0]
    assert said in heading
    assert len(heading) <= 90
    labels = audit.findings["label"].tolist()
    kept = json.loads((audit.folder / "summary.json").read_text("utf-8"))["rows"]
    listed = pd.read_csv(audit.folder / "report/findings.csv")["label"].tolist()
    assert labels == listed
    assert labels[: len(kept)] == [row["label"] for row in kept]
    assert labels[0].startswith(technique)
    lines = [line for line in str(audit).splitlines() if line.startswith(" ●")]
    shown_lines = [line.strip(" ●").split("  ")[0] for line in lines]
    text = unescape(audit.page.read_text("utf-8"))
    assert f"<h1>{heading}</h1>" in text
    places = [text.index(f">{line}</span>") for line in shown_lines]
    assert places == sorted(places)


# --- What is no English caption ---


def run_of(tmp_path: Path, human: list[str], system: list[str], **options: object):
    genders = ["male", "female"] * (len(human) // 2)
    stages = written(tmp_path / "stages", human, system, genders)
    options = {"groups": tmp_path / "groups.csv", "columns": ["gender"], **options}
    return gslopes.audit_captions(stages, tmp_path / "run", **options)


HUMAN = [f"A {word} with a dog." for word in 12 * ["man", "woman"]]
GERMAN = [f"{word} auf einer Bank mit einem Hund." for word in 12 * ["Ein Mann", "Eine Frau"]]
ENGLISH = [f"A {word} on a bench." for word in 12 * ["man", "woman"]]


def test_of_captions_in_another_language_nothing_is_judged_and_its_name_is_told(tmp_path: Path):
    audit = run_of(tmp_path, HUMAN, GERMAN)
    assert audit.tables["cases"].empty
    assert "system-captions" not in set(audit.tables["measures"]["stage"])
    sentence = "system-captions: 24 rows left out: captions in German, "
    sentence += "of which nothing is judged: only English is read."
    assert sentence in audit.places
    assert sentence in audit.facts["notes"]
    assert sentence in shown(audit.page.read_text("utf-8"))


@pytest.mark.slow
def test_a_captioner_that_answers_in_another_language_for_some_photos_is_judged_on_the_others(
    tmp_path: Path,
):
    mixed = [*GERMAN[:4], *ENGLISH[4:]]
    audit = run_of(tmp_path, HUMAN, mixed, techniques=("D2", "S1", "E1"))
    cases = audit.tables["cases"]
    assert set(cases["image"]) <= set(map(str, range(4, 24)))
    assert "unmentioned" not in set(cases["rule"])
    assert any(
        note.startswith("system-captions: 4 rows left out: captions in German")
        for note in audit.notes
    )


@pytest.mark.slow
def test_a_run_without_any_english_caption_says_that_nothing_was_judged(gslopes, tmp_path: Path):
    stages = written(tmp_path / "in" / "stages", GERMAN, GERMAN, ["male", "female"] * 12)
    done = gslopes(
        "captions", stages, "--groups", stages.parent / "groups.csv", "--out", tmp_path / "run"
    )
    assert done.code == 0, done.err
    assert done.out.startswith("Nothing was judged.")
    assert done.err.count("24 rows left out: captions in German") == 2
    assert pd.read_parquet(tmp_path / "run" / "cases.parquet").empty
    assert "in German" in shown((tmp_path / "run/report/index.html").read_text("utf-8"))
    plan = gslopes("captions", stages, "--dry-run")
    assert "captions in German" in plan.out


@pytest.mark.slow
def test_labels_in_another_language_are_no_truth(tmp_path: Path):
    stages = written(tmp_path / "stages", ENGLISH, ENGLISH, ["male", "female"] * 12)
    words = ("frau", "mann", "hund", "fahrrad", "straße", "tisch", "stuhl", "kind")
    rows = "".join(f"{image},object,{words[image % 8]}\n" for image in range(24))
    (stages / "human-labels.csv").write_text(f"image,kind,word\n{rows}", "utf-8")
    audit = gslopes.audit_captions(stages, tmp_path / "run", techniques=("S1", "D2"))
    assert any("labels in German" in note for note in audit.notes)
    assert set(audit.tables["techniques"]["truth"]) == {"human-captions"}


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ("<s> {} <end> <pad> <pad>", "24 captions hold tokens of a model"),
        pytest.param(
            "[CLS] {} [SEP]", "24 captions hold tokens of a model", marks=pytest.mark.slow
        ),
        pytest.param('{{"caption": "{}"}}', "24 captions are JSON", marks=pytest.mark.slow),
        pytest.param(
            "{0} {0} {0} {0}", "24 captions say the same again and again", marks=pytest.mark.slow
        ),
    ],
)
def test_what_a_model_leaves_in_captions_is_told_and_no_case(
    tmp_path: Path, form: str, sentence: str
):
    quoted = [f'"{form.format(text).replace(chr(34), chr(34) * 2)}"' for text in HUMAN]
    audit = run_of(tmp_path, HUMAN, quoted, techniques=("S1", "D2", "E1"))
    assert audit.tables["cases"].empty
    assert any(note.startswith(f"system-captions: {sentence}") for note in audit.notes), audit.notes


def test_emoji_of_people_mention_them_and_refusals_mention_nobody_and_are_not_counted(
    tmp_path: Path,
):
    system = [f"{sign} with a dog." for sign in 12 * ["👨🏽", "👩‍🦰"]]
    system[:2] = ["\"I'm sorry, but I can't help with identifying people.\""] * 2
    audit = run_of(tmp_path, HUMAN, system, techniques=("D2", "E1", "I2"))
    assert audit.tables["cases"].empty
    shares = audit.tables["measures"].query(
        "technique == 'I2' and concept == 'match' and unit == 'share' and group == ''"
    )
    assert shares[["active", "n"]].to_numpy().tolist() == [[22, 22]]
    assert (
        "system-captions: 2 rows left out: captions that only refuse, of which nothing is judged."
        in audit.notes
    )


@pytest.mark.slow
def test_clean_english_is_read_as_it_was_and_nothing_is_told(tmp_path: Path):
    audit = run_of(tmp_path, HUMAN, ENGLISH, techniques=("D2",))
    assert audit.notes == ("1 row of groups.csv is about none of the images looked at: 'x'.",)
    assert set(audit.tables["sentences"]["text"]) == {*HUMAN, *ENGLISH}
