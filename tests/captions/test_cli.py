from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from gslopes.captions.cli import captions


def run(*args: object) -> str:
    done = CliRunner().invoke(captions, [str(arg) for arg in args], standalone_mode=False, catch_exceptions=False)
    return done.output


def test_the_help_has_examples():
    assert "gslopes captions stages --groups groups.csv --out run" in run("--help")


def test_the_dry_run_writes_nothing(tmp_path: Path):
    stages = tmp_path / "stages"
    stages.mkdir()
    (stages / "system-captions.csv").write_text("image,caption\na,A dog.\n")
    output = run(stages, "--dry-run")
    assert "Nothing was written." in output
    assert "S2 objects rightly mentioned or not cannot run" in output
    assert list(tmp_path.iterdir()) == [stages]


def test_an_option_file_and_options_of_the_line(tmp_path: Path):
    stages = tmp_path / "stages"
    stages.mkdir()
    (stages / "system-captions.csv").write_text(
        "image,caption\n" + "".join(f"{i},A man on a bench.\n" for i in range(12))
    )
    (tmp_path / "c.toml").write_text('techniques = ["D1"]\n[options]\nbootstrap = 20\n')
    output = run(stages, "--config", tmp_path / "c.toml", "--out", tmp_path / "run", "--technique", "D4", "--json")
    found = json.loads(output[output.index("{") :])
    assert {row["technique"] for row in found["measures"]} == {"D4"}
