import pickle
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gslopes.core import tables
from gslopes.core.errors import TableError
from gslopes.core.reasons import Reason, SkipReason, split_prose

PROSE = {
    "": ("", ""),
    "no face found": ("no face found", ""),
    "face too small (25 px, at least 32 wanted)": ("face too small", "25 px, at least 32 wanted"),
    "unreadable: too large (9×9 pixels, limit 1 million)": (
        "unreadable: too large",
        "9×9 pixels, limit 1 million",
    ),
    "too dark (by far)": ("too dark (by far)", ""),
    "the edited photo lies outside the run folder": (
        "the edited photo cannot be read",
        "lies outside the run folder",
    ),
}


@pytest.mark.parametrize("prose", PROSE)
def test_a_reason_in_one_text_is_split_into_its_word_and_its_detail(prose: str):
    assert split_prose(prose) == PROSE[prose]


def test_a_why_comes_home_from_a_worker():
    sent = pickle.loads(pickle.dumps(SkipReason(Reason.TOO_LARGE, "9 million")))
    assert (sent, sent.reason, sent.detail) == (
        "unreadable: too large (9 million)",
        Reason.TOO_LARGE,
        "9 million",
    )


def test_a_table_without_details_of_an_older_version_is_refused_with_the_next_step(tmp_path: Path):
    schema = pa.schema([field for field in tables.ASKED.schema if field.name != "detail"])
    pq.write_table(schema.empty_table(), tmp_path / "asked.parquet")
    with pytest.raises(TableError, match=r"it lacks detail.* Run the stage that writes it again"):
        tables.read(tables.ASKED, tmp_path / "asked.parquet")


def test_a_status_tells_what_an_unknown_text_is_about():
    assert split_prose("content policy", "refused") == ("refused", "content policy")
    assert split_prose("RuntimeError: no", "failed") == ("failed", "RuntimeError: no")
    assert split_prose("no face found", "refused") == ("no face found", "")
    assert SkipReason.of("content policy", "refused").columns == {
        "reason": "refused",
        "detail": "content policy",
    }
    assert SkipReason.of(SkipReason(Reason.TOO_SMALL, "9 px"), "failed").detail == "9 px"
