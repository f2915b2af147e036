"""Does a language model know that it cannot know: shares by value and group, and abstentions that move are told."""

import json

import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.slopes.config import FitConfig
from tests.again import redo
from tests.fake_provider import FakeProvider
from tests.fake_provider.folder import VALUES, write_run
from tests.fixtures import assert_page_fits
from tests.slopes.test_tasks import MODEL, page_of, score

ABSTAINING = f"{MODEL},abstain=yes,repeats=1"
HEADS = ["column", "group", "step"]


def shares_of(run) -> pd.DataFrame:
    found = tables.read(tables.SOUNDNESS, run / "soundness.parquet")
    found["task"] = found["classifier"].str.extract("prompt=([^,]+)")
    return found.set_index(["task", *HEADS])


def abstentions_of(run) -> pd.DataFrame:
    found = tables.reading(tables.read(tables.SLOPES, run / "slopes.parquet"))
    found = found[found["label"] == "(abstains)"]
    return found.set_index(found["classifier"].str.extract("prompt=([^,]+)")[0])


@pytest.mark.evidence
@pytest.mark.slow
@pytest.mark.browser
def test_a_model_that_abstains_more_at_one_end_is_told_as_such(
    provider: FakeProvider, tmp_path, chromium
):
    provider.chat.slopes = {"cannot tell": -0.25}
    provider.chat.otherwise = "no"
    provider.chat.abstains = (0.5, -0.25)
    run = write_run(tmp_path / "run", 24, part=6)
    score(run, tmp_path / "cache", "crime", "salary", name=ABSTAINING)
    about = tmp_path / "photos.csv"
    photos = sorted(tables.read(tables.EDITS, run / "edits.parquet")["photo"].unique())
    groups = ["one", "other"] * 12
    about.write_text(
        "".join(f"{a},{b}\n" for a, b in [("photo", "sex"), *zip(photos, groups, strict=True)])
    )
    redo(run, "fit", FitConfig(photos_csv=about, groups=("sex",)))
    moves = abstentions_of(run)
    for task in ("crime", "salary"):
        row = moves.loc[task]
        assert row["ci_low"] < -12.5 < row["ci_high"]
        assert (row["n"], row["decision"]) == (24, "open")  # there is no placebo sweep
    shares = shares_of(run)
    whole = shares.loc[("salary", "", "all photos", -1)]
    assert whole["ci_low"] < 0.5 < whole["ci_high"]
    by_value = shares.loc[("salary", "", "all photos")].drop(-1)
    assert by_value["share"].is_monotonic_increasing
    assert by_value["value"].tolist() == pytest.approx(VALUES)
    assert shares.loc[("salary", "sex", "one", -1), "photos"] == 12
    html = page_of(run)
    for task in ("crime", "salary"):
        assert f"prompt={task}" in html
    assert "points more at the feminine end" in html
    result = redo(run, "report")
    assert "points more at the feminine end" in " ".join(str(result).split())
    assert len(result.facts["soundness"]) == 2 * 3 * (1 + len(by_value))
    assert "(abstains)" in set(result.findings["label"])
    for width, height in ((1280, 800), (390, 844)):
        assert_page_fits(chromium, run / "report/index.html", width, height)


@pytest.mark.slow
def test_models_that_always_or_never_abstain_are_told_and_nothing_is_said_to_move(
    provider: FakeProvider, tmp_path
):
    provider.chat.slopes = {"cannot tell": 0.0}
    provider.chat.otherwise, provider.chat.abstains = "no", (2.0, 0.0)
    run = write_run(tmp_path / "run", 12, part=6)
    score(run, tmp_path / "cache", "salary", name=ABSTAINING)
    provider.chat.abstains = (0.0, 0.0)
    score(run, tmp_path / "cache", "salary", "illness", name=f"{MODEL},repeats=1")
    result = redo(run, "fit")
    shares = tables.read(tables.SOUNDNESS, run / "soundness.parquet").query("step == -1")
    by_name = shares.set_index("classifier")["share"]
    always = by_name.index.str.contains("abstain=yes")
    assert by_name[always].tolist() == [0.0]
    assert by_name[~always].tolist() == [1.0, 1.0]
    html = page_of(run)
    assert html.count("it never abstains.") >= 2
    assert "cannot be judged" in html
    assert "points more at the" not in html
    codes = set(result.findings.query("label == '(abstains)'")["decision"])
    assert codes == {"unjudged"}
    assert "12 refused" not in json.dumps(result.facts["findings"])
