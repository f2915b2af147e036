"""The crop audit end to end, on drawn portraits with known brightness; a cropper with a planted bias is recovered."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from gslopes.core.errors import ConfigError, RunFolderMismatch, UsageError
from gslopes.crops.config import CropsConfig
from gslopes.frame.result import load
from tests.crops.drawn import Brightness, Lighter, draw_people, planned, truth
from tests.crops.drawn import audit as audit_of
from tests.fixtures import QUESTIONS, questions

COUNTS = {"blue": 11, "green": 12}


@pytest.fixture(scope="module")
def portraits(tmp_path_factory):
    """Discs whose brightness is that of a person; the blue group is lighter on the whole."""
    folder = tmp_path_factory.mktemp("portraits") / "people"
    return folder, *draw_people(folder, COUNTS, {"blue": 42})


def run(portraits, out, model, **options):
    folder, table, _ = portraits
    return audit_of(folder, table, out, model, **{"min_group": 10, **options})


@pytest.fixture(scope="module")
def done(portraits, tmp_path_factory):
    out = tmp_path_factory.mktemp("run") / "run"
    return run(portraits, out, Brightness(), policies=("argmax", "sample", "average", "pad")), out


def row(found, cropper, **wanted):
    rows = found.tables["parity"][
        (found.tables["parity"]["cropper"] == cropper) & found.tables["parity"]["variant"].str.startswith("native")
    ]
    for name, value in wanted.items():
        rows = rows[rows[name] == value]
    assert len(rows) == 1
    return rows.iloc[0]


def test_a_planted_cropper_is_recovered_exactly(done, portraits):
    found, _ = done
    result = row(found, "brightness", policy="argmax", outcome="favoured")
    assert result["p"] == pytest.approx(truth(portraits[2], "blue", "green"))
    assert result["ci_low"] < truth(portraits[2], "blue", "green") < result["ci_high"]
    assert result["pairs"] == 11 * 12


def test_the_pairs_on_the_page_have_their_maps(done):
    found, _ = done
    drawn = json.loads((found.folder / "pairs.json").read_text("utf-8"))
    assert [(name, one["mapped"]) for name, one in drawn.items()] == [("centre", False), ("brightness", True)]
    assert [len(pictures) for _, pictures in drawn["brightness"]["titles"]] == [6, 6]
    assert "Below each pair its map" in found.page.read_text("utf-8")


def test_the_middle_favours_nobody(done):
    found, _ = done
    result = row(found, "centre", outcome="favoured")
    assert result["p"] == 0.5
    kept = row(found, "centre", outcome="kept@0.5")
    assert (kept["both"], kept["neither"]) == (1.0, 0.0)
    one = row(found, "centre", outcome="kept@1")
    assert one["both"] + one["neither"] <= 1
    assert one["kept"] == pytest.approx((1 + one["both"] - one["neither"]) / 2)


def test_both_orders_leave_no_effect_of_the_side(done):
    found, _ = done
    position = found.tables["positions"].set_index("cropper").loc["brightness"]
    assert position["left"] == 0
    assert position["failed"] == 0


def test_who_is_favoured_is_who_is_kept_where_one_must_go(done):
    found, _ = done
    favoured = row(found, "brightness", policy="argmax", outcome="favoured")
    kept = row(found, "brightness", policy="argmax", outcome="kept@1")
    assert kept["p"] == pytest.approx(favoured["p"])
    assert kept["both"] == 0


def test_policies_are_measured_beside_the_papers_words(done):
    found, _ = done
    measured = found.tables["policies"].set_index("policy")
    assert measured.loc["argmax", "exposure"] == 0
    assert measured.loc["pad", ["deviation", "whole"]].tolist() == [0.0, 1.0]
    assert measured.loc["argmax", "amplification"] == pytest.approx(1)
    assert measured.loc["sample", "coverage"] == "high"


def test_the_page_opens_and_names_the_question(done):
    found, out = done
    text = found.page.read_text("utf-8")
    assert questions(text) == QUESTIONS
    assert "Whom does an automatic crop keep?" in text
    assert "brightness" in text
    assert "blue over green" in text
    assert f"<blockquote><p>{found.summary}" in text
    assert "pairs of people" in text[text.index("<blockquote>") : text.index("</blockquote>")]
    assert found.summary in (out / "report/model_card.md").read_text("utf-8")
    assert text.index('id="next"') < text.index('id="quote"')
    assert json.loads((out / "run.json").read_text())["kind"] == "crops"


def test_a_run_opens_again_with_its_sentence(done):
    found, out = done
    opened = load(out)
    assert (opened.summary, opened.page) == (found.summary, found.page)
    assert (opened.found, opened.used, opened.damaged) == (found.found, found.used, found.damaged)


def test_the_same_command_asks_nobody_again_and_gives_equal_tables(done, portraits):
    found, out = done
    model = Brightness()
    again = run(portraits, out, model, policies=("argmax", "sample", "average", "pad"))
    assert model.asked == 0
    pd.testing.assert_frame_equal(found.tables["parity"], again.tables["parity"])
    with pytest.raises(RunFolderMismatch, match="asked"):
        run(portraits, out, Lighter(), policies=("argmax", "sample", "average", "pad"))


@pytest.mark.slow
def test_a_cropper_of_rectangles_alone_and_crossed_groups(portraits, tmp_path):
    found = run(portraits, tmp_path / "run", Lighter(), groups=("team", "side"), min_group=2)
    favoured = found.tables["parity"][
        (found.tables["parity"]["cropper"] == "lighter") & (found.tables["parity"]["outcome"] == "favoured")
    ]
    team = favoured[favoured["column"] == "team"].iloc[0]
    assert team["p"] == pytest.approx(truth(portraits[2], "blue", "green"))
    assert favoured["column"].nunique() == 3


def test_left_orders_alone_mistake_the_side_for_the_group(portraits, tmp_path):
    """No 8: with the first group always on the left, an effect of the side looks like one of the group."""

    class LeftBonus(Brightness):
        name = "left-bonus"

        def maps(self, pictures):
            found = super().maps(pictures)
            for one in found:
                one.scores[:, : one.scores.shape[1] // 2] += 60
            return found

    both = run(portraits, tmp_path / "both", LeftBonus())
    left = run(portraits, tmp_path / "left", LeftBonus(), as_published=True, pairs=200)
    fair, wrong = (row(found, "left-bonus", policy="argmax", outcome="favoured") for found in (both, left))
    assert wrong["p"] > fair["p"] + 0.1
    position = both.tables["positions"].set_index("cropper").loc["left-bonus"]
    assert position["left"] > 0
    assert position["ci_low"] > 0
    assert (
        0.5 < fair["p"] <= truth(portraits[2], "blue", "green")
    )  # two orders do not take sides; the bonus only hides some of the effect


def test_what_cannot_be_done_is_said_before_any_work(portraits):
    folder, table, _ = portraits
    with pytest.raises(UsageError, match="Did you mean 'team'"):
        planned(folder, table, groups=("teem",))
    with pytest.raises(UsageError, match="inside the photos folder"):
        run(portraits, folder / "run", Brightness())
    with pytest.raises(UsageError, match="12 persons"):
        planned(folder, table, groups=("team",), min_group=12)
    with pytest.raises(ConfigError, match="ratio"):
        CropsConfig(ratios=(float("nan"),))
    with pytest.raises(ConfigError, match="--people CSV"):
        planned(folder, None)
    facts = planned(folder, table, groups=("team",))
    assert (facts["persons"], facts["pictures"]) == (23, 264)


def test_a_photo_that_another_one_of_the_same_size_replaces_ends_the_audit(tmp_path):
    table, _ = draw_people(tmp_path / "people", {"blue": 2, "green": 2})
    files = sorted((tmp_path / "people").iterdir())
    longest = max(file.stat().st_size for file in files)
    for file in files:
        file.write_bytes(file.read_bytes().ljust(longest, b"\0"))
    audit_of(tmp_path / "people", table, tmp_path / "run", Brightness())
    files[0].write_bytes(files[1].read_bytes())
    with pytest.raises(RunFolderMismatch, match="digest"):
        audit_of(tmp_path / "people", table, tmp_path / "run", Brightness())
