"""The whole context audit on drawn people: a planted effect comes back."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes.contexts.audit import CONTEXTS, audit_contexts
from gslopes.contexts.config import ContextOptions, ContextsConfig
from gslopes.contexts.page.sections import judged
from gslopes.contexts.page.tables import STARRED
from gslopes.contexts.stimuli.people import gender_of
from gslopes.core.errors import ConfigError, RunFolderMismatch, UsageError
from gslopes.core.options import build
from gslopes.core.runfolder import read_manifest
from gslopes.frame.page import choices_of
from tests.contexts.drawn import CANVAS, PEOPLE, Finder, Tagger, again, audit, small


def test_the_page_ends_with_what_to_do_next_and_what_to_quote(audited):
    text = audited.page.read_text("utf-8")
    quote = text[text.index("<blockquote>", text.index('id="next"')) : text.index("</blockquote>")]
    for part in (
        "right answers",
        "95 % interval [",
        f"{PEOPLE} people",
        "varied: the background",
        "staged",
    ):
        assert part in quote + (audited.folder / "report" / "model_card.md").read_text("utf-8")


@pytest.mark.figures("png")
@pytest.mark.row("contexts-fig-3", "contexts-4.3-share")
def test_everybody_is_cut_out_and_put_in_front_of_every_room(audited):
    assert (audited.found, audited.used, audited.damaged) == (PEOPLE, PEOPLE, 0)
    kinds = audited.tables["composites"]["kind"].value_counts().to_dict()
    assert kinds == {"context": 2 * PEOPLE, "canvas": PEOPLE, "original": PEOPLE, "empty": 2}
    shares = audited.tables["composites"].query("kind == 'context'")["person_share"]
    assert np.allclose(shares, 0.25, atol=0.003)


def test_the_planted_effect_comes_back_with_its_interval(audited):
    rows = audited.tables["inferred"].query("tags == 'gross' and inferred == 'woman'")
    rows_of = rows.set_index(["context", "gender"])
    assert rows_of.loc[("bridal", "man"), "change"] == pytest.approx(0.5)
    assert (
        rows_of.loc[("bridal", "man"), ["change_low", "change_high", "p"]].isna().all()
    )  # six men are too few
    assert rows_of.loc[("bridal", "woman"), "change"] == 0
    assert rows_of.loc[("garage", "man"), "change"] == 0
    slopes = audited.tables["congruence"].set_index(["tags", "measure", "gender", "group"])["slope"]
    # men: right half as often if kappa is -1, always if it is 0.8
    assert slopes["gross", "correct", "man", "all"] == pytest.approx(100 * 0.5 / 1.8)
    assert slopes["gross", "correct", "woman", "all"] == 0
    men = (
        audited.tables["congruence"]
        .query("tags == 'gross' and measure == 'correct' and gender == 'man'")
        .iloc[0]
    )
    assert men["ci_low"] <= 100 * 0.5 / 1.8 <= men["ci_high"]


def test_what_is_recognised_is_told(audited):
    rows = audited.tables["recognised"].query("tags == 'gross' and given == 'all'")
    assert rows.set_index("context")["share"].to_dict() == {"bridal": 1.0, "garage": 1.0}


def test_the_page_and_the_papers_tables_are_there(audited):
    text = audited.page.read_text("utf-8")
    assert "Gender is inferred as people report it" in text
    folder = audited.page.parent
    assert (folder / "tables/table7.tex").read_text("utf-8").startswith("\\begin{tabular}")
    assert "12-12-0" in (folder / "tables/table7.csv").read_text("utf-8")
    assert (folder / "figures/shares.png").is_file()
    assert (
        text.count('<figure class="chart-list">') == 7
    )  # slopes; changes of all, women, men; F1; right answers
    assert (folder / "cutouts.html").read_text("utf-8").count("<figure") == PEOPLE


@pytest.mark.slow
def test_analysis_alone_asks_nobody_and_needs_no_people_and_ones_own_ratings_decide(
    audited, tmp_path
):
    run, ratings = tmp_path / "run", tmp_path / "ratings.csv"
    shutil.copytree(audited.folder, run)
    rows = [
        f"{name},r{n},{level}"
        for name, level in (("bridal", 10), ("garage", 0), ("pub", 7))
        for n in range(9)
    ]
    ratings.write_text("\n".join(["context,rater,rating", *rows]) + "\n", "utf-8")
    reanalysed = again(run, analysis=ContextOptions(permutations=298, ratings=ratings))
    assert set(reanalysed.tables["congruence"]["p_perm"].dropna()) != set(
        audited.tables["congruence"]["p_perm"].dropna()
    )
    pd.testing.assert_series_equal(
        reanalysed.tables["inferred"]["share"], audited.tables["inferred"]["share"]
    )
    assert any("rates pub, which is no context of this run" in note for note in reanalysed.notes)
    assert reanalysed.tables["ratings"].set_index("context").loc["bridal", "median"] == 10
    men = [
        rows[
            (rows["measure"] == "correct") & (rows["gender"] == "man") & (rows["tags"] == "gross")
        ].iloc[0]["slope"]
        for rows in (audited.tables["congruence"], reanalysed.tables["congruence"])
    ]
    assert men[0] > 0 > men[1]  # the ratings are the other way round


@pytest.mark.evidence
@pytest.mark.slow
def test_one_more_tagger_is_asked_about_the_same_pictures(audited, folder, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(audited.folder, run)
    second = Tagger()
    second.name = "another"
    both = audit(folder, run, classifier=second)
    assert set(both.tables["inferred"]["classifier"]) == {"planted", "another"}
    second.version = "2"
    with pytest.raises(RunFolderMismatch, match="has answers of another in version 1; it is 2 now"):
        audit(folder, run, classifier=second)


def test_another_canvas_or_seed_needs_another_folder(audited, folder):
    for option in ({"canvas": (200, 128)}, {"seed": 5}):
        with pytest.raises(RunFolderMismatch, match=next(iter(option))):
            again(audited.folder, **option)


@pytest.mark.parametrize(
    ("more", "error", "message"),
    [
        ({"people": None}, UsageError, "self-reported gender"),
        ({"backgrounds": ("/nowhere",)}, UsageError, "no folder"),
        ({"canvas": (32, 32)}, ConfigError, "between 64 and 8192"),
        ({"person_share": 1.0}, ConfigError, "between 0.01 and 0.99"),
        ({"person_shares": 0.2}, ConfigError, "Did you mean 'person_share'"),
        ({"person_share": 0.9}, UsageError, "at most 0"),
    ],
)
def test_what_is_wrong_is_said_before_any_work(more, error, message, folder, tmp_path):
    with pytest.raises(error, match=message):
        audit(folder, tmp_path / "run", **more)


@pytest.mark.parametrize(
    "backgrounds", ["rendered", Path("rendered"), ("rendered",), [Path("rendered")]]
)
def test_one_background_is_as_good_as_a_list_of_one(backgrounds):
    assert build(
        ContextsConfig, {"backgrounds": backgrounds, "cutout": None}
    ).pictures.backgrounds == ("rendered",)


@pytest.mark.slow
@pytest.mark.row(
    "contexts-4.1-one",
    "contexts-4.3-eraser",
    "contexts-4.3-baseline",
    "contexts-4.3-pictures",
    "contexts-table-14-rq1",
    "contexts-table-14-rq3",
)
def test_as_published_the_photo_itself_is_the_baseline_and_one_photograph_a_context_is_asked_for(
    few, tmp_path
):
    options = {"preset": "published", "canvas": CANVAS, "analysis": ContextOptions(permutations=19)}
    options |= {"people": few / "people.csv", "classifier": Tagger()}
    shutil.copytree(few / "backgrounds", tmp_path / "two")
    (tmp_path / "two/bridal").mkdir()
    for name in ("1", "2"):
        Image.new("RGB", (400, 300), (250, 200, 200 + int(name))).save(
            tmp_path / f"two/bridal/{name}.png"
        )
    (tmp_path / "two/bridal.png").unlink()
    with small(Finder()), pytest.raises(UsageError, match="bridal has several"):
        audit_contexts(few / "people", tmp_path / "b", backgrounds=str(tmp_path / "two"), **options)
    with pytest.raises(ConfigError, match="cutout is eraser, not studio"):
        audit_contexts(few / "people", tmp_path / "c", cutout="studio", **options)
    with small(Finder()):
        result = audit_contexts(
            few / "people", tmp_path / "d", backgrounds=str(few / "backgrounds"), **options
        )
    assert set(result.tables["composites"]["kind"]) == {"original", "context", "empty"}
    assert set(result.tables["distances"]["context"]) == {"bridal", "garage"}
    _, choices = choices_of(CONTEXTS, read_manifest(result.folder))
    same = {choice.what for choice in choices if choice.same}
    assert {"baseline", "cut-outs", "pictures that are asked"} <= same
    page = (result.folder / "report/index.html").read_text("utf-8")
    assert "How this audit differs from the paper" in page
    for starred in STARRED.values():
        assert starred in page
        assert starred in (result.folder / "report/tables/table14.csv").read_text("utf-8")
    assert "net of the room" in page


@pytest.mark.slow
@pytest.mark.row("contexts-4.1-one", "contexts-4.3-cfd", "contexts-table-3", "contexts-table-7")
def test_as_published_on_the_layout_of_the_chicago_face_database_the_tables_count_as_printed(
    few, tmp_path
):
    images = tmp_path / "CFD Version 2.0.3/CFD 2.0.3 Images"
    rows = pd.read_csv(few / "people.csv", dtype=str)
    genders = rows["gender"].map(gender_of)
    for number, (photo, gender) in enumerate(
        zip(sorted((few / "people").iterdir()), genders, strict=False), 200
    ):
        person = f"{'ABLW'[number % 4]}{'F' if gender == 'woman' else 'M'}-{number}"
        (images / person).mkdir(parents=True)
        Image.open(photo).convert("RGB").save(
            images / person / f"CFD-{person}-001-N.jpg", quality=95
        )
        shutil.copy(
            images / person / f"CFD-{person}-001-N.jpg",
            images / person / f"CFD-{person}-002-HO.jpg",
        )
    with small(Finder()):
        result = audit_contexts(
            tmp_path, tmp_path.parent / f"{tmp_path.name}-run", people="cfd", preset="published", canvas=CANVAS,
            classifier=Tagger(), analysis=ContextOptions(permutations=19),
        )  # fmt: skip
    people = len(result.tables["people"])
    assert people == len(list(images.iterdir()))
    assert set(result.tables["people"]["group"]) <= {"Asian", "Black", "Latinx", "White"}
    counts = (
        result.tables["inferred"]
        .query("gender == 'all' and tags == 'gross'")
        .groupby("context")["count"]
        .sum()
    )
    assert len(counts) == 9  # the baseline and eight contexts, one room each
    assert set(counts) == {people}


def test_a_red_and_a_green_gate_and_the_planted_effect_in_the_summary(gslopes, audited) -> None:
    run = audited.folder
    red = gslopes(
        "contexts", run, "--fail-if", "finding and value > 20 and label == 'right answers'"
    )
    assert red.code == 4, red.err
    assert "planted congruence, gender: man right answers" in red.err
    green = gslopes("contexts", run, "--fail-if", "finding and abs(value) > 90")
    assert green.code == 0, green.err
    content = json.loads((run / "summary.json").read_text("utf-8"))
    assert [content[name] for name in ("found", "used", "models")] == [PEOPLE, PEOPLE, ["planted"]]
    rows = {row["contrast"]: row for row in content["rows"] if row["label"] == "right answers"}
    first = rows["congruence, gender: man"]
    assert first["decision"] == content["rows"][0]["decision"] == "finding"
    assert first["value"] == pytest.approx(100 * 0.5 / 1.8)
    assert first["ci_low"] < first["value"] < first["ci_high"]


def test_pictures_without_answers_have_no_findings_and_what_failed_is_counted() -> None:
    assert judged({}).empty
    photos = pd.DataFrame(
        {"path": ["a", "b"], "status": ["used", "skipped"], "reason": ["", "unreadable: truncated"]}
    )
    assert CONTEXTS.counts(
        {"photos": photos, "asked": pd.DataFrame({"status": ["failed", "refused"]})}
    ) == (2, 1, 2)
