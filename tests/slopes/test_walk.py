import doctest
from pathlib import Path

import pandas as pd
import pytest

import gslopes
from gslopes.ask.classifiers.python import FunctionClassifier
from gslopes.core.errors import UsageError
from gslopes.core.options import options_of
from gslopes.slopes import audit as stages
from gslopes.slopes.config import RunConfig


def test_examples_in_the_docstrings_hold() -> None:
    assert not doctest.testmod(stages).failed


LABEL = "bright"


def named(picture: object) -> str:
    return LABEL


def classify(pictures: list) -> list:
    return [{named(picture): 0.5} for picture in pictures]


def test_what_a_function_names_in_its_own_module_is_part_of_its_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = FunctionClassifier(classify).version
    assert FunctionClassifier(classify).version == before
    monkeypatch.setitem(globals(), "LABEL", "zebra")
    after = FunctionClassifier(classify).version
    assert after != before
    monkeypatch.setitem(globals(), "named", lambda picture: "zebra")
    assert FunctionClassifier(classify).version not in (before, after)
    other = FunctionClassifier(lambda pictures: [])
    assert (other.name, other.traits.kept, other.version in (before, after)) == (
        "lambda",
        False,
        False,
    )


@pytest.mark.slow
def test_drawn_faces_are_arguments_of_an_audit(tmp_path: Path) -> None:
    given = gslopes.drawn_faces(tmp_path / "drawn", faces=3)
    assert len(list(given["photos"].glob("*.png"))) == 3
    assert set(given) <= set(options_of(RunConfig)) | {"photos"}
    audit = gslopes.audit(out=tmp_path / "run", classifier=classify, placebo=False, **given)
    assert (audit.photos, audit.used) == (3, 3)
    assert audit.findings["label"].tolist() == ["bright"]
    opened = gslopes.load(tmp_path / "run")
    assert (opened.summary, opened.page, opened.used) == (audit.summary, audit.page, 3)
    pd.testing.assert_frame_equal(opened.findings, audit.findings)
    (tmp_path / "run" / "slopes.parquet").unlink()
    with pytest.raises(UsageError, match="not fitted yet"):
        gslopes.load(tmp_path / "run").findings  # noqa: B018
    with pytest.raises(UsageError, match="0 faces cannot be drawn"):
        gslopes.drawn_faces(tmp_path / "none", faces=0)
    with pytest.raises(UsageError, match="241 faces cannot be drawn: 240 ship"):
        gslopes.drawn_faces(tmp_path / "none", faces=241)
