"""Findings as JUnit XML, as CI servers show it: a row is a test, and fails if the condition holds."""

from pathlib import Path

from pandas import DataFrame

from gslopes.core import runfolder
from gslopes.report.inline import templates


def write(path: Path, frame: DataFrame, failed: DataFrame, condition: str) -> None:
    """Write one suite, a test a row, named by the row's first three columns; those that are not judged are skipped.

    frame: every row.  failed: of them, those for which the condition holds, by their index.

    Raises: StorageError.
    """
    fails = frame.index.isin(failed.index).tolist()
    rows = list(zip(frame.to_dict("records"), fails, strict=True))
    suite = templates(__file__).get_template("junit.xml.j2")
    runfolder.write_bytes(path, suite.render(rows=rows, condition=condition).encode())
