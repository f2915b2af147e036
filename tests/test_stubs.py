"""What type checkers, editors and shells are told follows from the options, and finds a stranger's mistakes."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

STRANGER = """\
import gslopes

many = gslopes.audit("photos", attribute=("gender", "race"), cross=True, grid=(5, 3), limit=None)
print(many.findings, many.photos)
gslopes.audit("photos", "run", classifier="celeba-tagger", gate=False, fit={"permutations": 10})
gslopes.audit("photos", gate={"tau": 0.5}, range="-1,1", config="more.toml")
gslopes.audit_crops("photos", people="people.csv", groups="gender", ratios=(1, 2))
gslopes.audit_captions("stages", list={"traits": "mine.toml"})
gslopes.export("run", "parquet", split=0.8)
gslopes.audit("photos", atribute="gender")  # wrong: call-arg; did you mean "attribute"
gslopes.audit("photos", limit="ten")  # wrong: arg-type; expected "int | None"
gslopes.audit("photos", engine="many")  # wrong: arg-type; 'ray'
gslopes.audit("photos", fit={"permutation": 10})  # wrong: arg-type; Fit
gslopes.audit_contexts("photos", preset="publishd")  # wrong: arg-type; 'published'
gslopes.audit_crops("photos", height=2.5)  # wrong: arg-type; "int | None"
gslopes.audit_captions("photos", techniq="S1")  # wrong: call-arg; did you mean "technique"
gslopes.synthesise("photos", classifier="x")  # wrong: call-arg; "classifier"
gslopes.score_photos("run", budget="a lot")  # wrong: arg-type; "float | None"
gslopes.census("photos", "out", confidense=1)  # wrong: call-arg; "confidence"
gslopes.collect_photos("out", gap="long")  # wrong: arg-type; "float | None"
gslopes.nothing()  # wrong: attr-defined; "nothing"
"""


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch):
    """The module that writes them."""
    monkeypatch.syspath_prepend(ROOT / "docs/hooks")
    import from_options

    yield from_options
    sys.modules.pop("from_options", None)


def test_the_stubs_and_the_completions_are_those_of_the_options(hook) -> None:
    pytest.importorskip("ruff", reason="ruff sets them: pip install 'gslopes[docs]'")
    for path, text in ((hook.STUBS, hook.stubs()), (hook.COMPLETION, hook.completion())):
        assert path.read_text("utf-8") == text, "python docs/hooks/hooks.py writes it"


@pytest.mark.slow
def test_a_type_checker_finds_a_strangers_mistakes_and_nothing_else(tmp_path: Path) -> None:
    api = pytest.importorskip(
        "mypy.api", reason="mypy is not installed: pip install 'gslopes[dev]'"
    )
    file = tmp_path / "stranger.py"
    file.write_text(STRANGER, "utf-8")
    # the package behind the stubs is checked elsewhere
    out, err, _ = api.run(
        [
            "--strict",
            "--follow-imports=skip",
            "--no-error-summary",
            "--hide-error-context",
            f"--cache-dir={tmp_path}",
            str(file),
            str(ROOT / "gslopes/__init__.pyi"),
        ]
    )
    assert err == ""
    said = [line for line in out.splitlines() if ": error: " in line]
    wrong = {
        number: line.partition("# wrong: ")[2].split("; ")
        for number, line in enumerate(STRANGER.splitlines(), 1)
        if "# wrong" in line
    }
    assert [int(line.split(":")[1]) for line in said] == list(wrong)
    for line, (code, words) in zip(said, wrong.values(), strict=True):
        assert line.endswith(f"[{code}]")
        assert words in line
