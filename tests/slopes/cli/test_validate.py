from pathlib import Path

import pytest

import gslopes
from gslopes.core.errors import UsageError
from gslopes.frame.plan import plan
from gslopes.frame.run import carry_out
from gslopes.slopes import audit as stages


@pytest.mark.parametrize(
    ("csv", "said"), [("people.csv", "has no column 'height'"), ("nowhere.csv", "nowhere.csv")]
)
def test_what_is_wrong_is_said_before_any_sweep_is_measured(
    home, draw, tmp_path, csv, said
) -> None:
    faces, run = draw(2), tmp_path / "run"
    gslopes.synthesise(faces.photos, run, steps=3, device="cpu", **faces.known)
    rows = "".join(f"{path.name},female\n" for path in faces.photos.iterdir())
    Path(tmp_path / "people.csv").write_text(f"photo,gender\n{rows}")
    about = {"photos_csv": tmp_path / csv, "groups": ("height",)}
    with pytest.raises(UsageError, match=said):
        carry_out(plan(stages.SLOPES, run, None, about, only=["gate"]))
    assert not list((run / "parts/gate").rglob("*.parquet"))


def test_a_column_that_an_earlier_command_named_is_told_as_such_and_before_any_work(
    home, draw, tmp_path
) -> None:
    faces, run = draw(2), tmp_path / "run"
    gslopes.synthesise(faces.photos, run, steps=3, device="cpu", **faces.known)
    rows = [f"{path.name},female,yes\n" for path in faces.photos.iterdir()]
    (tmp_path / "old.csv").write_text("photo,gender,smiles\n" + "".join(rows))
    (tmp_path / "new.csv").write_text("photo,gender\n" + "".join(rows).replace(",yes", ""))
    about = {"photos_csv": tmp_path / "old.csv", "truth": ("Smiling=smiles",)}
    carry_out(plan(stages.SLOPES, run, None, about, only=["sources"]))
    again = plan(stages.SLOPES, run, None, {"photos_csv": tmp_path / "new.csv"}, only=["gate"])
    with pytest.raises(UsageError, match=r"new.csv has no column 'smiles'") as refused:
        carry_out(again)
    assert "--truth names it, in this command or when the run was made" in refused.value.hint
    assert not list((run / "parts/gate").rglob("*.parquet"))
