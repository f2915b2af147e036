"""The audit as a whole on small stages: Python call, command, options, gate, hardly anything in it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

import gslopes
from gslopes.core.errors import UnknownName, UsageError
from gslopes.frame.result import load
from tests.broken import broken, shown
from tests.fixtures import QUESTIONS, questions


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty images by ten photographers; of women one in two goes unmentioned by the system, of men none."""
    folder = tmp_path_factory.mktemp("captions") / "stages"
    folder.mkdir()
    human, system, groups = ["image,caption"], ["image,caption"], ["image,gender,photographer,age"]
    for place in range(40):
        word = "woman" if place % 2 else "man"
        human += [f"{place},A {word} on a bench.", f"{place},A {word} with a dog."]
        said = "bench" if place % 4 == 1 else f"{word} on a bench"
        system.append(f"{place},A {said}.")
        groups.append(f"{place},{'female' if place % 2 else 'male'},p{place // 4},{10 + place}")
    (folder / "human-captions.csv").write_text("\n".join(human) + "\n")
    (folder / "system-captions.csv").write_text("\n".join(system) + "\n")
    (folder.parent / "groups.csv").write_text("\n".join(groups) + "\n")
    return folder


def one(measures: pd.DataFrame, **facts: str) -> pd.Series:
    chosen = measures
    for name, value in facts.items():
        chosen = chosen[chosen[name] == value]
    assert len(chosen) == 1
    return chosen.iloc[0]


def test_groups_of_images_that_no_stage_has_are_said_and_not_refused(stages: Path, tmp_path: Path):
    text = (stages.parent / "groups.csv").read_text("utf-8")
    (tmp_path / "groups.csv").write_text(text + "x,male,p1,20\n", "utf-8")
    said = "1 row of groups.csv is about none of the images looked at: 'x'."
    how = {"groups": tmp_path / "groups.csv", "columns": ["gender"], "techniques": ("D2",)}
    audit = gslopes.audit_captions(stages, tmp_path / "run", **how)
    assert said in audit.notes
    assert unescape(audit.page.read_text("utf-8")).count(said) == 1
    assert len(audit.tables["measures"])


def test_the_python_call_gives_tables_and_pages(stages: Path, tmp_path: Path):
    groups = stages.parent / "groups.csv"
    audit = gslopes.audit_captions(stages, tmp_path / "run", groups=groups, columns=["gender"], techniques=("D2", "S3"))
    row = one(audit.tables["measures"], technique="D2", concept="unmentioned", unit="pp", column="gender")
    assert (row["value"], row["group"], row["other"]) == (50, "female", "male")
    assert row["ci_low"] > 0
    assert audit.page == audit.folder / "report" / "index.html"
    assert audit.page.is_file()
    assert not (audit.folder / "report.html").exists()
    assert questions(audit.page.read_text("utf-8")) == QUESTIONS
    assert 'href="../review.html"' in audit.page.read_text("utf-8")
    assert (audit.page.parent / "../review.html").resolve() == audit.review.resolve()
    assert audit.review.is_file()
    opened = gslopes.load(audit.folder)
    assert (opened.summary, opened.page, opened.review) == (audit.summary, audit.page, audit.review)
    given = {"groups": groups, "columns": ["gender"], "techniques": ("D2", "S3")}
    again = gslopes.audit_captions(stages, tmp_path / "own", **given, tuples=audit.folder / "tuples.parquet")
    pd.testing.assert_frame_equal(again.tables["measures"], audit.tables["measures"])


def test_unknown_options_are_named_with_the_nearest(stages: Path, tmp_path: Path):
    with pytest.raises(UsageError, match="technique"):
        gslopes.audit_captions(stages, tmp_path / "run", techniqe=["D2"])
    with pytest.raises(UnknownName, match="gendr"):
        gslopes.audit_captions(stages, tmp_path / "run", groups=stages.parent / "groups.csv", column="gendr")


def test_groups_of_other_images_are_an_error_before_anything_is_parsed(stages: Path, tmp_path: Path):
    (tmp_path / "others.csv").write_text("image,gender\n000.jpg,male\n001.jpg,female\n")
    with pytest.raises(UsageError, match=r"none of the images.*'000\.jpg', '001\.jpg'.*same ids"):
        gslopes.audit_captions(stages, tmp_path / "run", groups=tmp_path / "others.csv")
    assert not (tmp_path / "run").exists()


def test_the_groups_may_lie_among_the_stages(stages: Path, tmp_path: Path):
    shutil.copytree(stages, tmp_path / "stages")
    groups = shutil.copy(stages.parent / "groups.csv", tmp_path / "stages" / "groups.csv")
    options = {"groups": groups, "column": "gender", "technique": "D1"}
    assert set(gslopes.audit_captions(tmp_path / "stages", tmp_path / "run", **options).tables["people"]["value"])


@pytest.mark.parametrize("caption", ["", 7, [["a"]]])
def test_captions_of_which_none_is_a_text_end_in_tables_with_their_status(tmp_path: Path, caption: object):
    (tmp_path / "stages").mkdir()
    rows = [{"id": place, "image_id": place, "caption": caption} for place in range(5)]
    (tmp_path / "stages" / "human-captions.json").write_text(json.dumps({"annotations": rows}))
    found = gslopes.audit_captions(tmp_path / "stages", tmp_path / "run", technique="D1")
    assert set(found.tables["sentences"]["status"]) <= {"empty", "failed"}
    assert any("5 captions" in note for note in found.notes)


def test_a_red_and_a_green_gate_their_files_and_the_findings(gslopes, stages: Path, tmp_path: Path) -> None:
    run, file = tmp_path / "run", tmp_path / "junit.xml"
    args = ("captions", stages, "--groups", stages.parent / "groups.csv", "--column", "gender", "--technique", "D2")
    args = (*args, "--out", run)
    wrong = gslopes(*args, "--fail-if", "slope > 5")
    assert (wrong.code, "there is no column 'slope'" in wrong.err) == (2, True)
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
    assert (content["audit"], content["found"], content["headline"]) == ("captions", 40, audit.summary)


def test_a_run_without_groups_has_no_findings(gslopes, stages: Path, tmp_path: Path) -> None:
    done = gslopes("captions", stages, "--technique", "D4", "--out", tmp_path / "run", "--fail-if", "finding")
    assert done.code == 0, done.err
    audit = load(tmp_path / "run")
    assert audit.findings.empty


Row = tuple[str, str, str, str]  # image, a person's caption, the system's, gender


def images(count: int, human: str, system: str) -> list[Row]:
    words = ("man", "woman")
    return [
        (str(place), human.format(words[place % 2]), system.format(words[place % 2]), ("male", "female")[place % 2])
        for place in range(count)
    ]


CASES: dict[str, Callable[[], list[Row]]] = {
    "one image": lambda: images(1, "A {} on a bench.", "A {}."),
    "every caption alike": lambda: images(30, "A dog.", "A dog."),
    "no word": lambda: images(30, "A {} on a bench.", "."),
    "a third without a caption": lambda: [
        (image, human, "" if int(image) % 3 == 0 else system, gender)
        for image, human, system, gender in images(30, "A {} on a bench.", "A {} on a bench.")
    ],
    "one group": lambda: [(*row[:3], "male") for row in images(30, "A {} on a bench.", "A {}.")],
}


@pytest.mark.parametrize("name", CASES)
def test_every_table_and_page_is_made(tmp_path: Path, name: str):
    stages = tmp_path / "stages"
    stages.mkdir()
    rows = CASES[name]()
    for file, column in (("human", 1), ("system", 2)):
        lines = [f"{row[0]},{row[column]}" for row in rows]
        (stages / f"{file}-captions.csv").write_text("\n".join(["image,caption", *lines]) + "\n", "utf-8")
    groups = "\n".join(["image,gender", *(f"{row[0]},{row[3]}" for row in rows)]) + "\n"
    (tmp_path / "groups.csv").write_text(groups, "utf-8")
    found = gslopes.audit_captions(stages, tmp_path / "run", groups=tmp_path / "groups.csv", columns=["gender"])
    page = found.page.read_text("utf-8")
    texts = [
        found.summary,
        str(found),
        found._repr_html_(),
        found.findings.to_csv(index=False),
        shown(page),
        shown(found.review.read_text("utf-8")),
    ]
    assert sorted({one for text in texts for one in broken(text)}) == []
    assert gslopes.load(tmp_path / "run").summary == found.summary


def test_the_page_names_the_groups_that_it_was_given_and_no_other(tmp_path: Path):
    stages = tmp_path / "stages"
    stages.mkdir()
    for file in ("human", "system"):
        lines = "".join(f"{place},A man on a bench.\n" for place in range(6))
        (stages / f"{file}-captions.csv").write_text(f"image,caption\n{lines}", "utf-8")
    groups = "image,age\n" + "".join(f"{place},{('old', 'young')[place % 2]}\n" for place in range(6))
    (tmp_path / "groups.csv").write_text(groups, "utf-8")
    found = gslopes.audit_captions(stages, tmp_path / "run", groups=tmp_path / "groups.csv")
    assert "Groups are those of age: how people look" in shown(found.page.read_text("utf-8"))
    bare = gslopes.audit_captions(stages, tmp_path / "bare")
    assert "No table of groups was given" in shown(bare.page.read_text("utf-8"))
    assert "skin tone" not in shown(bare.page.read_text("utf-8"))
