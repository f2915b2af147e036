from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.core.errors import TableError
from gslopes.slopes.report import tally

VALUES = np.linspace(-2, 2, 7)


def read(run: Path, name: str) -> pd.DataFrame:
    return tables.read(tables.TABLES[name], run / f"{name}.parquet")


def test_photo_refused_at_one_step_is_in_no_figure(one: Path) -> None:
    asked = read(one, "asked")
    refused = asked.loc[asked["status"] == "refused", "photo"].item()
    answered = tally.answered_everywhere(one, "celeba-tagger", "gender", 7)
    assert len(answered) == 79
    assert refused not in answered
    assert refused not in [sweep.photo for sweep in tally.sweeps(one, "celeba-tagger", "gender", VALUES, most=79)]


def test_pictures_are_counted_by_what_became_of_them(one: Path) -> None:
    assert tally.statuses(one) == {("celeba-tagger", "gender"): {"answered": 559, "refused": 1}}


def test_what_was_refused_says_why(one: Path) -> None:
    assert tally.why(one) == {("celeba-tagger", "gender"): {"refused": "too small"}}
    assert tally.lost(one) == {"celeba-tagger": "1 refused (too small) of 560 pictures"}


def test_sweeps_are_spread_over_the_photos_and_complete(one: Path) -> None:
    answered = tally.answered_everywhere(one, "celeba-tagger", "gender", 7)
    sweeps = tally.sweeps(one, "celeba-tagger", "gender", VALUES)
    assert [sweep.photo for sweep in sweeps] == [answered[index] for index in (0, 26, 52, 78)]
    for sweep in sweeps:
        assert len(sweep.files) == 7
        assert all(file.is_file() for file in sweep.files)
        assert sweep.box == (22, 24, 74, 96)


def test_labels_that_moved_come_with_their_own_sign_and_scores(one: Path) -> None:
    scores = read(one, "scores")
    for sweep in tally.sweeps(one, "celeba-tagger", "gender", VALUES):
        assert [changed.slope > 0 for changed in sweep.changed] == sorted(
            (m.slope > 0 for m in sweep.changed), reverse=True
        )
        for changed in sweep.changed:
            expected = scores[(scores["photo"] == sweep.photo) & (scores["label"] == changed.label)]
            assert changed.scores[expected["step"]].tolist() == expected["score"].tolist()
            assert np.isnan(changed.scores).sum() == 7 - len(expected)
            assert changed.slope == pytest.approx(np.polyfit(VALUES, np.nan_to_num(changed.scores), 1)[0])


def test_photo_without_any_label_has_a_sweep_in_which_nothing_moved(make: Callable[..., Path], tmp_path: Path) -> None:
    run = make(tmp_path / "run", [("c", "gender")], photos=5)
    scores = read(run, "scores")
    tables.write(tables.SCORES, scores[:0], run / "scores.parquet")
    sweeps = tally.sweeps(run, "c", "gender", VALUES)
    assert len(sweeps) == 4
    assert all(sweep.changed == () for sweep in sweeps)


def test_missing_table_is_an_empty_one(tmp_path: Path) -> None:
    assert tally.statuses(tmp_path) == {}
    assert tally.sweeps(tmp_path, "c", "gender", VALUES) == []


@pytest.mark.parametrize("damage", [b"", b"PAR1 no more", None])
def test_damaged_table_is_an_error(one: Path, tmp_path: Path, damage: bytes | None) -> None:
    data = (one / "slopes.parquet").read_bytes() if damage is None else damage
    (tmp_path / "asked.parquet").write_bytes(data)
    with pytest.raises(TableError, match="asked"):
        tally.statuses(tmp_path)
