"""Tables and pictures of a run folder in, one page for its reader out; no torch, no network, nothing else needed."""

from __future__ import annotations

from pathlib import Path

__all__ = ["write_report"]


def write_report(run: Path | str, *, p: float = 0.001, slope: float = 0.03) -> Path:
    """Write RUN/report/ from the run folder alone: the page, its tables as CSV and its figures as PNG.

    report/index.html       the page; opens from disk, asks nothing of any server
    report/slopes.csv       the whole slopes table
    report/pulled_negative.csv, pulled_positive.csv    Tables 1 and 2 of the paper: labels past both thresholds
    report/curves.png       Figure 2: frequency along the sweep of the steepest labels
    report/sweeps.png       Figure 3: edited photos with the labels' scores beneath

    Where the run has several classifiers or attributes, the figures are named curves-<attribute>-<classifier>.png and
    so on.  Each file is replaced whole, and the page last.

    run: the run folder, with run.json and slopes.parquet; sections whose tables or pictures are not there are left out.
    p, slope: a label is reported as pulled if its p is below ``p`` and the absolute value of its slope above ``slope``.

    Returns the path of index.html.

    Raises: UsageError if ``run`` is no run folder or a threshold is out of its range; TableError if it has no slopes
        table or a damaged one; StorageError if the report cannot be written.
    Source: Joo & Kärkkäinen 2020, section 4.3, doi 10.1145/3422841.3423533.
    """
    from gslopes.report.folder import write  # here: matplotlib takes its time, and most verbs need the tables alone

    return write(Path(run), p=p, slope=slope)
