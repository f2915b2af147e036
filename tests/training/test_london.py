import numpy as np
import pytest

from gslopes.core.errors import DataMissing
from training.sources import read_london


def test_the_portraits_come_with_what_the_people_said(tmp_path):
    (tmp_path / "neutral").mkdir()
    for name in ("001", "002", "003"):
        (tmp_path / "neutral" / f"{name}.jpg").touch()
    rows = ["id,age,gender,ethnicity", "001,24,female,white", "002,NA,male,east_asian/white", "009,30,male,black"]
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    found = read_london(tmp_path)
    assert [path.stem for path in found.paths] == ["001", "002", "003"]
    np.testing.assert_array_equal(found.column("masculine"), [0, 1, np.nan])
    np.testing.assert_array_equal(found.column("age"), [24, np.nan, np.nan])
    np.testing.assert_array_equal(found.column("white"), [1, np.nan, np.nan])


def test_without_the_set_it_says_where_it_was_looked_for(tmp_path):
    with pytest.raises(DataMissing, match="neutral"):
        read_london(tmp_path)
