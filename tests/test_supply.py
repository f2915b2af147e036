"""What others made is named by its version and checked: JavaScript that ships, actions and tools of the workflows."""

import re
import tomllib
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_javascript_that_ships_is_the_file_of_a_named_version():
    folder = ROOT / "gslopes/report/vendor"
    sources = tomllib.loads((folder / "sources.toml").read_text("utf-8"))
    assert sources.keys() == {path.name for path in folder.glob("*.js")}
    for name, source in sources.items():
        assert sha256((folder / name).read_bytes()).hexdigest() == source["sha256"]
        assert f"v{source['version']} " in (folder / name).read_text("utf-8")[:100]


def test_actions_are_named_by_their_commit_and_tools_by_their_version():
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        text = path.read_text("utf-8")
        assert all(
            re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", use)
            for use in re.findall(r"uses: (.+)", text)
        )
        for tools in re.findall(r"pip install (.+)", text):
            local = {"-e", "'.[dev]'", "dist/*.whl"}
            assert all("==" in tool for tool in set(tools.split()) - local)


def test_the_weekly_audit_reads_the_lowest_and_the_newest_set_and_fails_where_it_cannot_look_up_a_package():
    text = (ROOT / ".github/workflows/audit.yml").read_text("utf-8")
    assert re.search(r"cron: \"\d+ \d+ \* \* \d\"", text)
    assert "versions: [lowest-direct, highest]" in text
    assert (
        "uv pip compile pyproject.toml --extra test --resolution ${{ matrix.versions }} -o pins.txt"
        in text
    )
    assert (
        "pip-audit -r pins.txt --no-deps --disable-pip --strict" in text
    )  # without, what is not found is left out
