"""Whose cut counts."""

import json

import pytest

from gslopes.core.errors import ConfigError
from gslopes.slopes import audit as stages
from gslopes.slopes.config import FitConfig
from gslopes.slopes.measures.answers import ALL, Cut
from gslopes.slopes.method import PRESENCE
from gslopes.slopes.presence import cuts, vendor_cut
from tests.again import redo
from tests.fake_provider import FakeProvider
from tests.fake_provider.folder import write_run


@pytest.mark.row("slopes-4.2-presence")
@pytest.mark.parametrize(
    ("name", "cut"),
    [
        ("rekognition:max_labels=50", Cut(0.55)),
        ("google", Cut(0, 10)),
        ("clarifai:model=m,user=u", Cut(0, 20)),
        ("imagga", ALL),
        ("llm:some-model,prompt=trait", Cut(0.5)),
        ("celeba-tagger:threshold=0.3", ALL),
        ("mood:of=another package", ALL),
        ("transformers:google/vit", ALL),
        ("transformers:any-model,task=zero-shot", ALL),
    ],
)
def test_the_vendors_own(name, cut):
    assert vendor_cut(name) == cut
    assert cuts([name], "vendor") == {name: cut}
    assert cuts([name], "none") == {name: ALL}
    assert cuts([name], "0.6") == {name: Cut(0.6)}


@pytest.mark.parametrize("wrong", ["all", "1.5", "-0.1", ""])
def test_what_is_no_presence_is_refused_before_any_work(wrong):
    with pytest.raises(ConfigError, match="vendor, none or a score"):
        FitConfig(presence=wrong)


@pytest.mark.row("slopes-4.2-presence")
@pytest.mark.slow
def test_the_cut_decides_the_slope_and_is_written_down(provider: FakeProvider, tmp_path):
    run = write_run(tmp_path / "run", 24, part=6)
    stages.score_photos(
        run, ["rekognition:rate=200"], device="cpu", cache=tmp_path / "cache", yes=True
    )
    found = {}
    for presence in ("none", "0.52", "vendor"):
        slopes = redo(run, "fit", FitConfig(presence=presence, permutations=0)).tables["slopes"]
        found[presence] = (
            slopes[slopes["estimator"] == "paper"].set_index("label")["slope"].get("Nurse", 0.0)
        )
        cut = {
            "none": "every label that was returned",
            "0.52": "score at least 0.52",
            "vendor": "score at least 0.55",
        }
        assert set(slopes["cut"]) == {cut[presence]}
        written = json.loads((run / PRESENCE).read_text())
        assert written["presence"] == presence
    assert found["none"] == pytest.approx(-0.375, abs=0.02)
    assert len(set(found.values())) == 3
    assert written["cuts"] == {"rekognition": "score at least 0.55"}
