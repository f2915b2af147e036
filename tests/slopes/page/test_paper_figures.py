"""Figures 1 to 3 of the paper."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from PIL import Image

from gslopes.core.errors import UsageError
from gslopes.report.charts import LIGHT, render
from gslopes.slopes.measures.answers import Answers, gather
from gslopes.slopes.page import paper_figures, write_report
from gslopes.slopes.page.loading import load
from gslopes.slopes.page.paper_figures import PRINTED_ENDS
from gslopes.slopes.page.paper_sheets import (
    ENDS,
    Answered,
    LabelCell,
    Line,
    Pipeline,
    answers_figure,
    label_figure,
    pipeline_figure,
)
from tests.slopes.page.conftest import VALUES


def said(rows: list[tuple[str, int, str, float]], steps: int) -> Answers:
    """Answers from rows of photo, step, label and score; every picture was answered."""
    values = np.linspace(-1, 1, steps)
    scores = pd.DataFrame(rows, columns=["photo", "step", "label", "score"]).assign(
        classifier="c", attribute="gender"
    )
    asked = (
        scores[["photo"]].drop_duplicates().merge(pd.DataFrame({"step": range(steps)}), how="cross")
    )
    asked = asked.assign(classifier="c", attribute="gender", status="answered")
    return next(
        gather(pa.Table.from_pandas(scores), pa.Table.from_pandas(asked), {"gender": values})
    )


@pytest.fixture(scope="module")
def run(make: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two classifiers along gender."""
    return make(
        tmp_path_factory.mktemp("numbered") / "run", [("a", "gender"), ("b", "gender")], photos=40
    )


@pytest.mark.row("slopes-figure-1")
@pytest.mark.slow
def test_a_report_has_the_three_figures_in_all_forms_and_without_pictures_figure_2_alone(
    run: Path,
) -> None:
    page = write_report(run).read_text("utf-8")
    for name in ("figure1", "figure2", "figure3"):
        assert f'src="{name}.png"' in page
        assert all((run / "report" / f"{name}.{form}").is_file() for form in ("png", "pdf"))
    (run / "report" / "figure3-race.png").touch()
    write_report(run, embed="none")
    assert {path.stem for path in (run / "report").glob("figure*.*")} == {"figure2"}


@pytest.mark.row("slopes-figure-2", "slopes-4.3-normalised")
def test_figure_2_is_of_a_label_that_all_classifiers_have_and_its_lines_are_those_of_the_table(
    run: Path,
) -> None:
    source = load(run)
    label = paper_figures.common_label(source.findings, frozenset())
    found = paper_figures.lines(source.findings, label)
    assert [line.classifier for line in found] == ["a", "b"]
    for line, finding in zip(found, source.findings, strict=True):
        row = finding.of("paper").set_index("label").loc[label]
        assert line.slope == pytest.approx(row["slope"])
        assert line.ratio[len(VALUES) // 2] == pytest.approx(1)
        fitted = np.polyfit(VALUES, line.ratio, 1)
        assert fitted == pytest.approx([line.slope, line.intercept], abs=1e-6)


@pytest.mark.slow
@pytest.mark.row("slopes-figure-3-colours")
@pytest.mark.figures("png")
@pytest.mark.parametrize("published", [False, True])
def test_as_published_figure_3_is_blue_for_masculine_and_red_for_feminine_along_gender_alone(
    make: Callable[..., Path], tmp_path: Path, published: bool
) -> None:
    run = make(
        tmp_path / "run", [("google", "gender"), ("a", "race"), ("google", "race")], photos=9
    )
    assert [finding.classifier for finding in paper_figures.along(load(run), "race")] == [
        "google",
        "a",
    ]
    manifest = json.loads((run / "run.json").read_text())
    manifest["config"]["as_published"] = published
    (run / "run.json").write_text(json.dumps(manifest))
    paper_figures.write(tmp_path, load(run), pictures=True)
    for attribute in ("gender", "race"):
        (file,) = tmp_path.glob(f"figure3-{attribute}*.png")
        with Image.open(file) as image:
            pixels = np.asarray(image.convert("RGB")).astype(int)
        there, absent = (
            (PRINTED_ENDS, ENDS) if published and attribute == "gender" else (ENDS, PRINTED_ENDS)
        )
        assert all(has(pixels, colour) for colour in there)
        assert not any(has(pixels, colour) for colour in absent)


def test_a_plain_concept_is_taken_only_where_there_is_no_other_label(run: Path) -> None:
    findings = load(run).findings
    first = paper_figures.common_label(findings, frozenset())
    second = paper_figures.common_label(findings, frozenset({first.casefold()}))
    assert second not in ("", first)
    everything = frozenset(label.casefold() for label in findings[0].rows["label"])
    assert paper_figures.common_label(findings, everything) == first


@pytest.mark.row("slopes-figure-3-letters")
def test_figure_3_writes_the_classifiers_names_out(run: Path) -> None:
    photos = paper_figures.answered(run, load(run).findings, frozenset({"outdoors"}))
    drawn = answers_figure(photos, VALUES, attribute="gender", ends=ENDS)
    written = [text.get_text() for axes in drawn.axes for text in axes.texts]
    assert written.count("a") == written.count("b") == len(photos)


@pytest.mark.row("slopes-figure-3")
def test_figure_3_has_every_classifiers_labels_under_each_picture(run: Path) -> None:
    photos = paper_figures.answered(run, load(run).findings, frozenset({"outdoors"}))
    assert len(photos) == paper_figures.PHOTOS
    for photo in photos:
        assert len(photo.pictures) == len(VALUES)
        assert all(picture is not None for picture in photo.pictures)
        assert [name for name, _ in photo.labels] == ["a", "b"]
        assert all(len(by_step) == len(VALUES) for _, by_step in photo.labels)


@pytest.mark.row("slopes-figure-3")
def test_labels_that_change_come_first_and_say_towards_which_end() -> None:
    rows = [("p", step, "always", 0.9) for step in range(3)]
    rows += [("p", 2, "late", 0.6), ("p", 0, "early", 0.4), ("other", 0, "not of this photo", 0.9)]
    found = paper_figures.labels_of(said(rows, 3), "p", frozenset({"always"}))
    kinds = [("late", 1, False), ("early", -1, False), ("always", 0, True)]
    assert [[(one.label, one.side, one.plain) for one in labels] for labels, _ in found] == [
        kinds
    ] * 3
    shown = [[round(one.score, 3) for one in labels] for labels, _ in found]
    assert shown == [[0, 0.4, 0.9], [0, 0, 0.9], [0.6, 0, 0.9]]  # 0: not returned
    assert [more for _, more in found] == [0, 0, 0]


def test_labels_of_the_users_choice_stand_in_figure_3_alone_and_in_order() -> None:
    rows = [("p", 0, "Nurse", 0.9), ("p", 0, "doctor", 0.5), ("p", 1, "chef", 0.4)]
    found = paper_figures.labels_of(said(rows, 2), "p", frozenset(), ("judge", "nurse"))
    assert [[(one.label, round(one.score, 3)) for one in labels] for labels, _ in found] == [
        [("judge", 0), ("nurse", 0.9)], [("judge", 0), ("nurse", 0)],
    ]  # fmt: skip
    assert [more for _, more in found] == [1, 1]


@pytest.mark.row("slopes-figure-2")
def test_figures_are_of_the_labels_asked_for_and_another_is_a_sentence_before_any_is_drawn(
    run: Path, tmp_path: Path
) -> None:
    known = str(load(run).findings[0].of("paper").dropna(subset=["slope"])["label"].iloc[0])
    before = sorted((run / "report").rglob("*")) if (run / "report").is_dir() else []
    with pytest.raises(UsageError, match="has no label") as raised:
        write_report(run, embed="none", labels=[f"{known}x"])
    assert known in str(raised.value.hint)
    made = paper_figures.write(
        tmp_path, load(run), pictures=False, labels=[known.upper(), "necktie"]
    )
    assert len([name for name in made if name.startswith("figure2")]) == 2
    assert (sorted((run / "report").rglob("*")) if (run / "report").is_dir() else []) == before


# -- test paper drawing -----------------------------------------------------------------------------------------------

THREE = np.array([-2.0, 0.0, 2.0])
GREY = np.full((40, 40, 3), 128, np.uint8)
ODD = ["$\\frac{", "口紅\n\udc80"]


def drawn(figure) -> np.ndarray:
    with Image.open(io.BytesIO(render(figure))) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def has(pixels: np.ndarray, colour: str) -> bool:
    wanted = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    return bool((np.abs(pixels - wanted).max(axis=2) <= 2).any())


def answered(*labels: LabelCell, classifiers: int = 1) -> Answered:
    by_step = [(labels, 0)] * len(THREE)
    return Answered(
        "a.jpg", [GREY] * len(THREE), [(f"c{number}", by_step) for number in range(classifiers)]
    )


@pytest.mark.parametrize("label", ODD)
def test_any_label_can_be_drawn(label):
    line = Line(label, np.array([1.2, 1.0, 0.8]), 1.0, -0.1)
    assert drawn(label_figure([line], THREE, label=label, attribute="gender")).size
    assert drawn(answers_figure([answered(LabelCell(label, 1))], THREE, attribute="gender")).size
    walked = Pipeline(
        None,
        [],
        np.empty((0, 2)),
        [None] * 3,
        [GREY] * 3,
        label,
        label,
        np.array([0.2, np.nan, 0.4]),
    )
    assert drawn(pipeline_figure(walked, THREE, attribute="gender")).size


@pytest.mark.parametrize(
    ("given", "says"), [(True, "pictures as given"), (False, "2  edit, 3  compose")]
)
def test_figure_1_says_who_made_the_pictures(given, says):
    walked = Pipeline(
        None, [], np.empty((0, 2)), [None] * 3, [GREY] * 3, "c", "nurse", np.array([0.2, 0.3, 0.4])
    )
    texts = [
        text.get_text()
        for text in pipeline_figure(walked, THREE, attribute="race", given=given).axes[0].texts
    ]
    assert says in texts
    assert ("2  score and 3  fit" in texts) is given


@pytest.mark.parametrize(
    ("scores", "within"), [([0.2, 0.3, 0.4], (-0.03, 1.03)), ([36.2, 38.0, 39.7], (30, 45))]
)
def test_figure_1_shows_scores_from_0_to_1_and_numbers_where_they_are(scores, within):
    walked = Pipeline(
        None, [], np.empty((0, 2)), [None] * 3, [GREY] * 3, "c", "quality", np.array(scores)
    )
    low, high = pipeline_figure(walked, THREE, attribute="gender").axes[-1].get_ylim()
    assert within[0] <= low < scores[0] < scores[-1] < high <= within[1]


@pytest.mark.figures
def test_each_classifier_has_a_curve_of_its_own_colour():
    lines = [
        Line(f"c{number}", 1 + 0.1 * number * THREE, 1.0, 0.1 * number) for number in range(1, 4)
    ]
    pixels = drawn(label_figure(lines, THREE, label="nurse", attribute="gender"))
    assert all(has(pixels, colour) for colour in LIGHT.series[:3])
    assert not has(pixels, LIGHT.series[3])


@pytest.mark.figures
def test_labels_towards_either_end_are_coloured_and_others_are_not():
    both = drawn(
        answers_figure(
            [answered(LabelCell("up", 1), LabelCell("down", -1))], THREE, attribute="gender"
        )
    )
    assert has(both, LIGHT.positive[1])
    assert has(both, LIGHT.negative[1])
    still = drawn(answers_figure([answered(LabelCell("always", 0))], THREE, attribute="gender"))
    assert not has(still, LIGHT.positive[1])
