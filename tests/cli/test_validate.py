from pathlib import Path

import pytest

from gslopes.cli.validate import _next


@pytest.mark.parametrize(("there", "verb"), [((), "score"), (("scores",), "fit"), (("scores", "slopes"), "report")])
def test_the_next_step_is_that_of_how_far_the_run_is(tmp_path: Path, there: tuple[str, ...], verb: str) -> None:
    for name in there:
        (tmp_path / f"{name}.parquet").write_bytes(b"")
    assert _next(tmp_path) == f"gslopes {verb} {tmp_path}"
