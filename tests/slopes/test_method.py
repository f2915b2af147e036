"""The list of deviations from the paper."""

import re
import tomllib
from pathlib import Path

import pytest
from markupsafe import escape

from gslopes.core.config import to_dict
from gslopes.report.choices import Choice, to_markdown
from gslopes.slopes.config import PUBLISHED, configure
from gslopes.slopes.method import choices, of_run
from gslopes.slopes.page import write_report
from tests.slopes.page.conftest import make_run

ROOT = Path(__file__).resolve().parents[2]
BOTH = ("gender", "race")


def of(**options: object) -> dict[str, Choice]:
    """The list for the options of an audit."""
    return {one.what: one for one in choices(to_dict(configure("photos", options)))}


def test_the_defaults_differ_and_every_difference_has_its_reason():
    found = of()
    assert (found["region"].here, found["blend"].here) == ("face", "ratio")
    assert all(one.reason for one in found.values() if not one.same)
    for name in ("region", "blend", "gate", "placebo sweeps"):
        assert not found[name].same
        assert found[name].option


@pytest.mark.row("slopes-0-published")
def test_as_published_sets_all_that_can_be_set():
    can = {name for name, one in of(attribute=BOTH).items() if one.option}
    assert {"values of gender", "values of race", "region", "blend", "gate", "presence"} <= can
    published = of(attribute=BOTH, as_published=True)
    assert [name for name in can if not published[name].same] == []
    assert published["edit of gender-fader"].same
    assert not [name for name in published if name.endswith("of race-fader")]  # none ships
    left = {
        re.sub(r" of gender-fader$", "", name) for name, one in published.items() if not one.same
    }
    assert left == {
        "picture size", "training data", "loss", "controlled attributes",
        "drawing effect", "face parser", "smallest face", "classifiers", "estimator", "test", "plain concepts",
        "photos", "occupations",
    }  # fmt: skip


SAYS = {  # cells of the column paper, as Joo & Kärkkäinen (2020) have them and where
    "values of gender": ("7 from -2 to 2", "section 4.3"),
    "values of race": ("5 from -2 to 2", "section 4.3"),
    "edit of race-field": (
        "the decoder's picture at each value, beyond -1 and 1 extrapolated", "sections 3.3 and 4.3",
    ),
    "picture size of race-field": ("not said", ""),
    "training data of gender-field": ("CelebA", "section 4.2"),
    "training data of race-field": (
        "CelebA, and pictures that Google Image Search finds for names of celebrities on FamousFix", "section 4.2",
    ),
    "loss of race-field": ("the Fader Network's: reconstruction and a latent adversary", "section 3.3"),
    "controlled attributes of gender-field": (
        "other attributes that go with the edited one are given to the decoder and held still", "section 3.3",
    ),
    "gender and race of the training photos of race-field": (
        "as a model trained on FairFace estimates them; examples of lower confidence checked by hand", "section 4.2",
    ),
    "face parser": ("BiSeNet", "section 3.3"),
    "region": ("skin", "sections 3.3 and 4.2"),
    "blend": ("paste", "section 4.2"),
    "drawing effect": ("not measured", ""),
    "placebo sweeps": ("none", ""),
    "smallest face": ("not said", ""),
    "gate": ("none", ""),
    "classifiers": (
        "Google Vision, Amazon Rekognition, IBM Watson Visual Recognition, Clarifai", "section 4.1",
    ),
    "presence": ("labels that the service returns as it comes", "section 4.2"),
    "estimator": ("paper", "section 4.3"),
    "test": ("none is named", "section 4.3"),
    "thresholds of the tables": ("p < 0.001, |slope| > 0.03", "caption of Table 1; p in section 4.3 as well"),
    "plain concepts": ("left out of Tables 1, 2 and 4; two are named as examples", "section 4.3"),
    "photos": ("64,500 images of Google Image Search: 129 occupations, six keywords", "sections 1 and 4.2"),
    "occupations": ("129 of the US Bureau of Labor Statistics, twenty of them printed", "section 4.2 and Table 3"),
}  # fmt: skip


def test_each_cell_about_the_paper_is_what_the_paper_says_in_its_section():
    found = of(attribute=BOTH)
    assert {name: (found[name].paper, found[name].section) for name in SAYS} == SAYS
    other = {"race-field": "gender-field", "gender-field": "race-field"}
    twins = {name.replace(one, other[one]) for name in SAYS for one in other}
    assert set(found) <= set(SAYS) | twins
    assert "gender and race of the training photos of gender-field" not in found


@pytest.mark.row("slopes-0-published", "slopes-0-placebos")
def test_what_as_published_sets_is_what_is_listed():
    config = configure("photos", {"as_published": True})
    published = [(part, key, one[key]) for part, one in PUBLISHED.items() for key in one]
    for section, key, value in published:
        assert getattr(getattr(config, section), key) == value
    for section, key, value in published:  # each of them is told: without it the list is another
        listed = to_dict(config)
        if key == "calibrated":  # the shipped Fader Network has no table, an edit field has one
            listed["edit"] = {**listed["edit"], "model": "gender-field"}
        changed = {
            **listed,
            section: {**listed[section], key: None if isinstance(value, bool) else "other"},
        }
        if not value:
            changed[section][key] = True
        assert choices(changed) != choices(listed)


@pytest.mark.row("slopes-3.3-controlled", "slopes-3.3-adversary")
def test_the_list_says_which_losses_a_fader_network_has_beside_the_papers_and_which_attribute_is_not_held_still():
    recipes = {
        path.stem: tomllib.loads(path.read_text("utf-8"))
        for path in (ROOT / "training").glob("*.toml")
    }
    gone = {
        name: recipe.get("train", {}).get("pictures", {}).get("gone")
        for name, recipe in recipes.items()
    }
    told = tomllib.loads((ROOT / "gslopes/slopes/data/method.toml").read_text("utf-8"))["fading"]
    assert {name: [fades] for name, fades in told.items()} == {
        name: fades for name, fades in gone.items() if fades
    }
    found = of(as_published=True)
    assert (
        "a parser's features, and an adversary that knows photos"
        in found["loss of gender-fader"].here
    )
    assert (
        found["controlled attributes of gender-fader"].here
        == "young, smiling, race, eyeglasses; beard is given, too, but trained to fade towards feminine"
    )
    assert of()["controlled attributes of gender-field"].here.startswith(
        "none is given to the network"
    )


def test_the_page_of_the_repository_is_that_of_the_defaults():
    """Made by: gslopes.report.choices.to_markdown(gslopes.slopes.method.choices(…)), as here"""
    found = choices(to_dict(configure("PHOTOS", {"attribute": BOTH})))
    assert (ROOT / "METHOD.md").read_text("utf-8").rstrip() == to_markdown(found).rstrip()
    assert "](METHOD.md)" in (ROOT / "README.md").read_text("utf-8")


def test_thresholds_of_another_report_are_a_difference():
    found = {one.what: one for one in choices({}, None, (0.05, 0.01))}["thresholds of the tables"]
    assert (found.same, found.here) == (False, "p < 0.05, |slope| > 0.01")


@pytest.mark.slow
def test_the_page_of_a_run_has_the_list_in_its_method_section(tmp_path: Path):
    run = make_run(tmp_path / "run", [("celeba-tagger", "gender")], photos=20)
    page = write_report(run, p=0.01, embed="none").read_text("utf-8")
    section = page[page.index('id="provenance"') :]
    for one in of_run(run, (0.01, 0.03)):
        assert str(escape(one.what)) in section
        if not one.same:
            assert str(escape(one.reason)) in section
    assert "p &lt; 0.01, |slope| &gt; 0.03" in section
    assert "p < 0.01, \\|slope\\| > 0.03" in (run / "report" / "method.md").read_text("utf-8")


def test_the_cuts_of_presence_are_told():
    presence = {"presence": "0.6", "cuts": {"google": "score at least 0.6"}}
    found = {one.what: one for one in choices({}, presence)}
    assert found["presence"].here == "google: score at least 0.6"


@pytest.mark.row("slopes-3.3-parser")
def test_a_run_with_the_checkpoint_of_bisenet_has_the_paper_s_parser():
    found = of(as_published=True, parser="79999_iter.pth")["face parser"]
    assert (found.same, found.here) == (True, "BiSeNet")
    assert of(as_published=True)["face parser"].here == "face-parser, a feature pyramid"
