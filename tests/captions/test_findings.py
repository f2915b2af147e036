"""What a captions audit judges, its summary, and a gate on it: red where a planted omission is, else green."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gslopes.frame.opening import load


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty images; the system leaves out every second woman, and no man."""
    folder = tmp_path_factory.mktemp("captions") / "stages"
    folder.mkdir()
    human, system, groups = ["image,caption"], ["image,caption"], ["image,gender"]
    for place in range(60):
        word = "woman" if place % 2 else "man"
        human += [f"{place},A {word} on a bench.", f"{place},A {word} with a dog."]
        system.append(f"{place},A {'bench' if place % 4 == 1 else f'{word} on a bench'}.")
        groups.append(f"{place},{'female' if place % 2 else 'male'}")
    (folder / "human-captions.csv").write_text("\n".join(human) + "\n")
    (folder / "system-captions.csv").write_text("\n".join(system) + "\n")
    (folder.parent / "groups.csv").write_text("\n".join(groups) + "\n")
    return folder


def test_a_red_and_a_green_gate_their_files_and_the_findings(gslopes, planted: Path, tmp_path: Path) -> None:
    run, file = tmp_path / "run", tmp_path / "junit.xml"
    options = tmp_path / "quick.toml"
    options.write_text("[options]\nbootstrap = 50\npermutations = 99\nsplits = 20\n")
    args = ("captions", planted, "--groups", planted.parent / "groups.csv", "--column", "gender", "--technique", "D2")
    args = (*args, "--config", options, "--out", run)
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
    assert (content["audit"], content["found"], content["headline"]) == ("captions", 60, audit.summary)


def test_a_run_without_groups_has_no_findings(gslopes, planted: Path, tmp_path: Path) -> None:
    done = gslopes("captions", planted, "--technique", "D4", "--out", tmp_path / "run", "--fail-if", "finding")
    assert done.code == 0, done.err
    audit = load(tmp_path / "run")
    assert audit.findings.empty
