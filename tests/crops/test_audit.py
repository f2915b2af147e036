"""The crop audit end to end, on drawn portraits with known brightness; a cropper with a planted bias is recovered."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes.ask.boxes import centres, fitted
from gslopes.ask.croppers import joining
from gslopes.core.errors import ConfigError, RunFolderMismatch, UsageError
from gslopes.core.records import Detections, SaliencyMap
from gslopes.crops.config import CropsConfig
from tests.crops.drawn import Brightness, Lighter, a_face, audit, draw_people, planned, row, truth
from tests.fixtures import SIBLINGS, questions

POLICIES = ("argmax", "sample", "average", "pad")
JOINED = {"variant": "native", "policy": "argmax", "outcome": "favoured"}


@pytest.fixture(scope="module")
def portraits(tmp_path_factory):
    """Discs, each as bright as its person; the blue group is lighter on the whole."""
    folder = tmp_path_factory.mktemp("portraits") / "people"
    return folder, *draw_people(folder, {"blue": 11, "green": 12}, {"blue": 42})


@pytest.fixture(scope="module")
def done(portraits, tmp_path_factory):
    out = tmp_path_factory.mktemp("run") / "run"
    return audit(*portraits[:2], out, Brightness(), policies=POLICIES, min_group=10)


@pytest.mark.row("crops-3.2-favoured", "crops-fig-2")
def test_a_planted_cropper_is_recovered_exactly(done, portraits):
    result = row(done, "brightness", **JOINED)
    assert result["p"] == pytest.approx(truth(portraits[2], "blue", "green"))
    assert result["ci_low"] < truth(portraits[2], "blue", "green") < result["ci_high"]
    assert result["pairs"] == 11 * 12
    inside = row(done, "brightness", policy="argmax", outcome="kept@1")  # one of the two must go
    assert inside["p"] == pytest.approx(result["p"])
    assert inside["both"] == 0
    side = done.tables["positions"].set_index("cropper").loc["brightness"]
    assert (side["left"], side["failed"]) == (0, 0)


def test_the_middle_favours_nobody(done):
    assert row(done, "centre", outcome="favoured")["p"] == 0.5
    inside = row(done, "centre", outcome="kept@0.5")
    assert (inside["both"], inside["neither"]) == (1.0, 0.0)
    one = row(done, "centre", outcome="kept@1")
    assert one["both"] + one["neither"] <= 1
    assert one["kept"] == pytest.approx((1 + one["both"] - one["neither"]) / 2)


@pytest.mark.row("crops-table-1-words", "crops-3.5-argmax", "crops-table-1-pad")
def test_policies_are_measured_beside_the_papers_words(done):
    measured = done.tables["policies"].set_index("policy")
    assert measured.loc["argmax", "exposure"] == 0
    assert measured.loc["pad", ["deviation", "whole"]].tolist() == [0.0, 1.0]
    assert measured.loc["argmax", "amplification"] == pytest.approx(1)
    assert measured.loc["sample", "coverage"] == "high"


@pytest.mark.row("crops-fig-1", "crops-fig-2-graph", "crops-3.4-second")
def test_the_page_opens_and_names_the_question(done):
    text = done.page.read_text("utf-8")
    assert questions(text) == SIBLINGS
    assert "Whom does an automatic crop keep?" in text
    assert "blue over green" in text
    assert f"<blockquote><p>{done.summary}" in text
    assert "pairs of people" in text[text.index("<blockquote>") : text.index("</blockquote>")]
    assert done.summary in (done.folder / "report/model_card.md").read_text("utf-8")
    assert text.index('id="next"') < text.index('id="quote"')
    drawn = json.loads((done.folder / "pairs.json").read_text("utf-8"))
    assert [(name, one["mapped"]) for name, one in drawn.items()] == [
        ("centre", False),
        ("brightness", True),
    ]
    assert [len(pictures) for _, pictures in drawn["brightness"]["titles"]] == [1, 6, 6]
    assert "with the crops that the second highest point of the map would give" in text


@pytest.mark.slow
@pytest.mark.row("crops-fig-2", "crops-fig-3", "crops-fig-4", "crops-fig-7", "crops-3.2-draws")
def test_two_groups_of_eight_have_every_analysis_of_the_paper_and_are_not_judged(tmp_path):
    table, frame = draw_people(tmp_path / "p", {"blue": 8, "green": 8}, {"blue": 42})
    result = audit(tmp_path / "p", table, tmp_path / "run", Brightness(), policies=POLICIES, as_published=True,
                   pairs=2000, min_group=10)  # fmt: skip
    joined = {"outcome": "favoured", "policy": "argmax"}
    for variant in ("native, jpeg 75", "height 256, jpeg 75", "alone, own scale"):
        visible = row(result, "brightness", variant=variant, **joined)
        assert visible["p"] == pytest.approx(truth(frame, "blue", "green"), abs=0.05)
        assert 0 < visible["ci_low"] < visible["p"] < visible["ci_high"] < 1
        assert visible[["verdict", "note"]].tolist() == [
            "",
            "a group has fewer than 10 people (--min-group)",
        ]
        assert np.isnan(visible[["p_value", "q"]].to_numpy(float)).all()
    inside = row(result, "brightness", variant="native, jpeg 75", policy="argmax", outcome="kept@1")
    assert np.isnan(inside["ratio_low"])  # percentiles of eight people's draws
    policies = (
        result.tables["policies"]
        .query("variant == 'native, jpeg 75' and column == 'team'")
        .set_index("policy")
    )
    assert set(policies.index) == set(POLICIES)
    for policy in ("argmax", "sample"):  # one share, one interval
        visible = row(
            result, "brightness", variant="native, jpeg 75", policy=policy, outcome="favoured"
        )
        assert policies.loc[policy, "deviation_low"] == pytest.approx(visible["ci_low"] - 0.5)
        assert policies.loc[policy, "deviation_high"] == pytest.approx(visible["ci_high"] - 0.5)
    assert set(result.tables["gaze"]["what"]) == {"point", "crop", "region"}
    assert result.summary.startswith(
        "Too few people to say whom a crop keeps. Not judged: a group has fewer than 10 people"
    )
    text = result.page.read_text("utf-8")
    assert "No photo is 1.25 times as tall as wide with 2 salient regions" in text
    assert "Largest score of a photo alone" in text
    assert "of focal points lie on padding" in text


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Two hundred draws of few people, as published, side by side and one above the other."""
    folder = tmp_path_factory.mktemp("published") / "people"
    table, _ = draw_people(folder, {"blue": 5, "green": 6}, {"blue": 18})
    options = {
        "height": 48,
        "groups": ("team", "side"),
        "attach": ("vertical", "horizontal"),
        "policies": ("argmax", "pad"),
    }
    return audit(
        folder, table, folder.parent / "run", Brightness(), as_published=True, pairs=200, **options
    )


@pytest.mark.row("crops-3.2-draws", "crops-3.3-interval")
def test_a_pair_counts_as_often_as_it_was_drawn_in_every_number(published):
    pairs = pd.read_parquet(published.folder / "pairs.parquet").query("cropper == 'brightness'")
    photo = published.tables["people"].set_index("photo")["person"]
    for variant, native in pairs.groupby("variant"):
        assert native["draws"].sum() == 6 * 200
        assert len(native) < 120
        team = native[
            native["left"].map(photo).str.startswith("blue")
            & native["right"].map(photo).str.startswith("green")
        ]
        visible = row(
            published,
            "brightness",
            column="team",
            policy="argmax",
            outcome="favoured",
            variant=variant,
        )
        assert visible[["pairs", "draws"]].tolist() == [len(team), 800]
        share = np.average(team["won"], weights=team["draws"])
        assert visible["p"] == pytest.approx(share)
        assert visible["p"] != pytest.approx(team["won"].mean(), abs=1e-3)
        assert visible["draws_half"] == pytest.approx(2 * np.sqrt(share * (1 - share) / 800))
        side = (
            published.tables["positions"]
            .set_index(["cropper", "variant"])
            .loc[("brightness", variant)]
        )
        assert side["pictures"] == 1200
        assert side["left"] == pytest.approx(
            np.average(native["won"], weights=native["draws"]) - 0.5
        )
        inside = row(
            published,
            "brightness",
            column="team",
            policy="argmax",
            outcome="kept@1",
            variant=variant,
        )
        assert inside["draws"] == 800
    outcomes = published.tables["policies"].query("cropper == 'brightness' and policy == 'pad'")
    assert (outcomes["whole"] == 1).all()


@pytest.mark.row("crops-fig-2", "crops-fig-2-coarse", "crops-fig-2-graph")
def test_the_page_has_both_halves_of_figure_2(published):
    averages = published.tables["averages"].query("cropper == 'brightness' and policy == 'argmax'")
    main = averages[averages["variant"] == "height 48, jpeg 75"].set_index("column").loc["team"]
    assert main[["group", "other", "persons", "cells"]].tolist() == ["blue", "green", 11, 4]
    assert main["ci_low"] < main["p"] < main["ci_high"]
    parity = published.tables["parity"]
    cells = parity[
        (parity["column"] == "team + side") & (parity["variant"] == "height 48, jpeg 75")
    ]
    cells = cells[
        (cells["cropper"] == "brightness")
        & (cells["policy"] == "argmax")
        & (cells["outcome"] == "favoured")
    ]
    across = cells[cells["group"].str.startswith("blue") & cells["other"].str.startswith("green")]
    assert main["p"] == pytest.approx(across["p"].mean())
    text = published.page.read_text("utf-8")
    assert "Averages of pairs of groups" in text
    for variant in ("height 48, jpeg 75", "alone, own scale"):
        assert f'aria-label="Who is favoured, {variant}: ' in text


@pytest.mark.row("crops-3.2-vertical")
def test_one_above_the_other_the_same_pairs_are_asked_and_the_same_person_wins(published):
    pairs = pd.read_parquet(published.folder / "pairs.parquet").query("cropper == 'brightness'")
    sizes = {
        variant: (rows["width"].iloc[0], rows["height"].iloc[0])
        for variant, rows in pairs.groupby("variant")
    }
    assert sizes["height 48, jpeg 75"] == (96, 48)
    assert sizes["height 48, jpeg 75, stacked"] == (48, 96)
    attached = (
        published.tables["attached"]
        .set_index(["cropper", "variant"])
        .loc[("brightness", "height 48, jpeg 75, stacked")]
    )
    assert attached["pictures"] == 1200
    assert attached["same"] > 0.9
    assert attached["ci_low"] < attached["same"] <= attached["ci_high"]
    text = published.page.read_text("utf-8")
    assert "with one photo above the other, the same person is favoured as side by side in" in text
    drawn = json.loads((published.folder / "pairs.json").read_text("utf-8"))["brightness"]["titles"]
    assert " above " in dict(drawn)["The first pair, one above the other"][0]["alt"]


@pytest.mark.slow
@pytest.mark.row("crops-3.2-draws")
def test_left_orders_alone_mistake_the_side_for_the_group(tmp_path):
    """No 8: with the first group always on the left, an effect of the side looks like one of the group."""

    class LeftBonus(Brightness):
        name = "left-bonus"

        def maps(self, pictures):
            maps = super().maps(pictures)
            for one in maps:
                one.scores[:, : one.scores.shape[1] // 2] += 60
            return maps

    table, frame = draw_people(tmp_path / "p", {"blue": 7, "green": 7}, {"blue": 42})
    both = audit(tmp_path / "p", table, tmp_path / "both", LeftBonus())
    left = audit(
        tmp_path / "p",
        table,
        tmp_path / "left",
        LeftBonus(),
        as_published=True,
        pairs=200,
        height=48,
    )
    fair = row(both, "left-bonus", **JOINED)
    wrong = row(left, "left-bonus", **{**JOINED, "variant": "height 48, jpeg 75"})
    assert wrong["p"] > fair["p"] + 0.1
    position = both.tables["positions"].set_index("cropper").loc["left-bonus"]
    assert position["left"] > 0
    assert position["ci_low"] > 0
    # two orders do not take sides; the bonus only hides some of the effect
    assert 0.5 < fair["p"] <= truth(frame, "blue", "green")


def test_what_cannot_be_done_is_said_before_any_work(portraits, done):
    folder, table, _ = portraits
    with pytest.raises(RunFolderMismatch, match="asked"):
        audit(folder, table, done.folder, Lighter(), policies=POLICIES, min_group=10)
    with pytest.raises(UsageError, match="Did you mean 'team'"):
        planned(folder, table, groups=("teem",))
    with pytest.raises(UsageError, match="inside the photos folder"):
        audit(folder, table, folder / "run", Brightness())
    with pytest.raises(UsageError, match="Fewer than two groups have two persons"):
        planned(folder, table, groups=("id",))
    for ratio in (float("nan"), 101.0, 0.009):
        with pytest.raises(ConfigError, match="ratio"):
            planned(folder, table, ratios=(ratio,))
    with pytest.raises(ConfigError, match="--attach"):
        CropsConfig(attach=())
    with pytest.raises(ConfigError, match="--people CSV"):
        planned(folder, None)
    facts = planned(folder, table, groups=("team",))
    assert (facts["persons"], facts["pictures"]) == (23, 264)
    assert facts["half_widths"] == {"blue over green": pytest.approx(0.241, abs=5e-4)}


# --- what attaching changes: the scale ---


class Detail:
    """Local contrast of the fitted picture in cells of 4 pixels that do not overlap: it sees nothing beyond a cell."""

    name, version, size = "detail", "1", 64

    def maps(self, pictures):
        maps = []
        for picture in pictures:
            small = fitted(picture, self.size, "area").mean(axis=2)
            rows, columns = small.shape[0] // 4, small.shape[1] // 4
            cells = small[: rows * 4, : columns * 4].reshape(rows, 4, columns, 4)
            scores = cells.std(axis=(1, 3)).astype(np.float32)
            maps.append(
                SaliencyMap(scores, *centres(picture.shape[1], picture.shape[0], columns, rows))
            )
        return maps


@pytest.mark.row("crops-fig-4")
def test_what_attaching_changes_is_the_scale_and_neither_side_nor_neighbour_matter(tmp_path):
    """No 7: that attaching changes the outcome does not show that a model looks at the whole picture.

    The fine group wears checks of one pixel, strong but gone at half the size; the coarse group weaker blocks.
    """
    folder, lines = tmp_path / "people", ["id,team"]
    folder.mkdir()
    down, across = np.mgrid[:64, :64]
    for group, period, strength in (("fine", 1, 70), ("coarse", 4, 30)):
        for index in range(3):
            checks = ((down // period + across // period) % 2) * 2 - 1
            gray = np.clip(
                120 + (strength + index) * checks * ((down + period // 2) % 64 > 20), 0, 255
            )
            gray = np.roll(gray, (2, 2), (0, 1)) if period == 4 else gray
            Image.fromarray(np.repeat(gray[..., None], 3, axis=2).astype(np.uint8)).save(
                folder / f"{group}{index}.png"
            )
            lines.append(f"{group}{index},{group}")
    (tmp_path / "people.csv").write_text("\n".join(lines))
    result = audit(folder, tmp_path / "people.csv", tmp_path / "run", Detail())
    p = {
        variant: row(result, "detail", **{**JOINED, "variant": variant})["p"]
        for variant in ("native", "alone, own scale", "alone, matched scale")
    }
    assert p["alone, own scale"] == 0.0  # coarse over fine: the fine checks are seen
    assert p["alone, matched scale"] == p["native"] == 1.0
    assert "only the matched scale may be compared" in result.page.read_text("utf-8")
    pairs = pd.read_parquet(tmp_path / "run/pairs.parquet").query("cropper == 'detail'")
    maxima = pd.concat(
        [
            pairs[[side, f"max_{side}"]].set_axis(["photo", "max"], axis=1)
            for side in ("left", "right")
        ]
    )
    assert maxima.groupby("photo")["max"].agg(np.ptp).max() == 0
    won = {(r.left, r.right): r.won for r in pairs.itertuples()}
    assert all(won[left, right] == 1 - won[right, left] for left, right in won)


# --- photos by themselves ---


def a_head(photos):
    box = np.array([[16, 6, 48, 38]], np.float32)
    points = np.array([[[26, 18], [38, 18], [32, 24], [27, 31], [37, 31]]], np.float32)
    return [Detections(box, points, np.ones(1, np.float32)) for _ in photos]


def test_a_head_that_is_not_upright_has_no_place_and_the_page_says_so(tmp_path):
    def on_its_side(photos):
        return [replace(faces, upright=np.array([False])) for faces in a_face(photos)]

    people, _ = draw_people(tmp_path / "people", {"blue": 4, "green": 4})
    result = audit(
        tmp_path / "people", people, tmp_path / "run", Brightness(), finder=on_its_side, pairs=4
    )
    visited = result.tables["people"]
    assert visited["head"].isna().all()
    assert set(visited["reason"]) == {"face not upright"}
    assert (
        "8 photos without an upright face: whether the head is kept is not asked"
        in result.page.read_text("utf-8")
    )


@pytest.mark.row("crops-3.4-head", "crops-3.4-regions")
def test_patches_on_half_of_a_group_are_found(tmp_path, monkeypatch):
    """Heads of brightness 150; every second blue one wears a patch of 220 on the chest."""
    folder, lines = tmp_path / "people", ["id,team"]
    folder.mkdir()
    down, across = np.mgrid[:112, :64]
    for group, count in {"blue": 12, "green": 10}.items():
        for index in range(count):
            picture = np.full((112, 64, 3), 30 + index + 20 * (group == "green"), np.uint8)
            picture[(across - 32) ** 2 + (down - 22) ** 2 < 14**2] = 150
            if group == "blue" and index % 2 == 0:
                picture[80:92, 24:40] = 220
            Image.fromarray(picture).save(folder / f"{group}{index}.png")
            lines.append(f"{group}{index},{group}")
    (tmp_path / "people.csv").write_text("\n".join(lines))
    monkeypatch.setattr(joining, "PERCENTILE", 85.0)
    result = audit(
        folder, tmp_path / "people.csv", tmp_path / "run", Brightness(), finder=a_head, pairs=20
    )
    gaze = result.tables["gaze"].set_index(["cropper", "what", "group"]).loc["brightness"]
    assert gaze.loc[("point", "blue"), ["photos", "count"]].tolist() == [12, 6]
    assert gaze.loc[("point", "green"), ["photos", "count"]].tolist() == [10, 0]
    assert gaze.loc[("crop", "blue"), "count"] == gaze.loc[("region", "blue"), "count"] == 6
    gap = result.tables["gaze_gaps"].set_index(["cropper", "what"]).loc[("brightness", "point")]
    assert gap["difference"] == pytest.approx(0.5)
    assert 0 < gap["ci_low"] < 0.5 < gap["ci_high"]
    assert "a salient region off the head" in result.page.read_text("utf-8")
