"""The gallery: its numbers come from run folders, its pages from its numbers, its adapters answer."""

import json
import sys
import tomllib
from pathlib import Path

import pytest

import gslopes
from gslopes.slopes import audit as stages
from gslopes.slopes.config import FitConfig
from tests.again import redo
from tests.fake_provider import PLANTED
from tests.fake_provider.folder import write_run
from tests.fake_provider.pictures import CENTRE

ROOT = Path(__file__).resolve().parents[1]
GALLERY = ROOT / "docs/gallery"
NOTEBOOKS = ROOT / "notebooks/gallery"
MODELS = tomllib.loads((GALLERY / "models.toml").read_text("utf-8"))
RESULTS = sorted(path.stem for path in GALLERY.glob("*.json"))
FACTS = {"title", "about", "model", "package", "licence", "setup", "classifier", "limits"}


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch):
    """The module that makes the pages."""
    monkeypatch.syspath_prepend(ROOT / "docs/hooks")
    import from_gallery

    yield from_gallery
    for name in ("from_gallery", "from_code"):
        sys.modules.pop(name, None)


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch):
    """The script that writes the numbers."""
    monkeypatch.syspath_prepend(ROOT / "notebooks/gallery")
    import make

    yield make
    sys.modules.pop("make", None)


def light(pictures):
    """A score of how light every picture is; and a number in another unit."""
    shares = [float((picture.mean() / 255) ** 2) for picture in pictures]
    return [{"light": share, "age": 20 + 30 * share} for share in shares]


def test_every_model_has_all_facts_and_every_page_a_small_picture() -> None:
    assert {name: FACTS - set(item) for name, item in MODELS.items() if FACTS - set(item)} == {}
    assert set(RESULTS) <= set(MODELS)
    sizes = {path.stem: path.stat().st_size for path in GALLERY.glob("*.jpg")}
    assert set(RESULTS) <= set(sizes)
    assert max(sizes.values()) <= 150_000


@pytest.mark.parametrize("name", RESULTS)
def test_a_page_says_what_its_run_found(hook, name: str) -> None:
    page = hook.page(name)
    for run in json.loads((GALLERY / f"{name}.json").read_text("utf-8"))["runs"].values():
        for attribute in run["attributes"].values():
            assert attribute["sentence"] in page
            assert all(
                f"| `{label['label']}` | {hook.slope(label)}" in page
                for label in attribute["labels"]
            )
            assert attribute["findings"] == sum(
                label["decision"] == "finding" for label in attribute["labels"]
            ) or (attribute["judged"] > len(attribute["labels"]))
            assert not [label for label in attribute["labels"] if " %" in hook.slope(label)], (
                "a number is parted from its unit"
            )
    assert f"--classifier {MODELS[name]['classifier']}" in page
    assert MODELS[name]["licence"] in page
    assert f"[{MODELS[name]['title']}]({name}.md)" in hook.gallery()
    assert (
        f"]({name}.jpg)]({name}.md)\n\n**[{MODELS[name]['title']}]({name}.md)**, "
        in hook.pictures()
    )


def test_the_paid_audit_shows_what_was_planted_service_by_service_and_says_that_none_was_asked(
    hook,
) -> None:
    (run,) = json.loads((GALLERY / "paid-audit.json").read_text("utf-8"))["runs"].values()
    services = ["rekognition", "google", "clarifai", "azure", "imagga"]
    assert list(run["attributes"]) == [f"gender, {service}" for service in services]
    for service, attribute in zip(services, run["attributes"].values(), strict=True):
        slopes = {item["label"]: item["slope"] for item in attribute["labels"]}
        planted = {label: 100 * CENTRE * PLANTED[service][label] for label in ("Nurse", "Engineer")}
        assert slopes == pytest.approx(planted, abs=0.3)
        assert {item["placebo"] for item in attribute["labels"]} == {0}
    page = hook.page("paid-audit")
    for number in (1, 2):
        rows = page.partition(f"**Table {number}.**")[2].splitlines()[4:9]
        assert [row.split(" | ")[0] for row in rows] == [f"| {service}" for service in services]
    assert "**No service was asked.**" in page
    assert "with stand-in answers: " in hook.pictures()


def test_the_script_writes_the_slopes_of_a_run_folder(make, hook, tmp_path, monkeypatch) -> None:
    run = write_run(tmp_path / "run", 16, part=8)
    stages.score_photos(run, gslopes.as_classifier(light), device="cpu", cache=tmp_path / "cache")
    redo(run, "fit", FitConfig(permutations=0))
    (tmp_path / "models.toml").write_text((GALLERY / "models.toml").read_text("utf-8"))
    monkeypatch.setattr(make, "GALLERY", tmp_path)
    monkeypatch.setattr(sys, "argv", ["make.py", "imagenet", f"Drawn={run}", "--no-picture"])
    make.main()
    (result,) = json.loads((tmp_path / "imagenet.json").read_text("utf-8"))["runs"]["Drawn"][
        "attributes"
    ].values()
    table = gslopes.load(run).findings.set_index("label")
    assert {label["label"] for label in result["labels"]} == {"light", "age"}
    for label in result["labels"]:
        assert [label["slope"], label["ci_low"], label["ci_high"]] == pytest.approx(
            table.loc[label["label"], ["slope", "ci_low", "ci_high"]].tolist(), rel=1e-5
        )
        assert label["decision"] == table.loc[label["label"], "decision"]
    assert {label["measure"] for label in result["labels"]} == {"log-odds", "value"}
    monkeypatch.setattr(hook, "GALLERY", tmp_path)
    hook.models.cache_clear()
    page = hook.page("imagenet")
    assert "16 of 16 photos are in the slopes" in page
    assert "of the odds" in page
