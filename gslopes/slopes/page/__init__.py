"""Tables and pictures of a run folder in, one page for its reader out; no torch, no network, nothing else needed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from gslopes.core import Names, Watch, counted, from_dict, frozen

__all__ = ["ReportConfig", "write_report"]


@frozen
class ReportConfig:
    """What the page shows; see ``write_report``."""

    embed: Literal["thumbs", "none"] = "thumbs"
    p: float = 0.001
    slope: float = 0.03
    labels: Names = ()


def write_report(
    run: Path | str,
    *,
    p: float = 0.001,
    slope: float = 0.03,
    embed: Literal["thumbs", "none"] = "thumbs",
    labels: Sequence[str] = (),
    watch: Watch | None = None,
) -> Path:
    """Write RUN/report/, only from the run folder: the page, its data and pictures, the paper's tables and figures.

    report/index.html       the page; opens from disk, asks nothing of any server
    report/data/            what its scripts read when they need it
    report/pictures/        the photos' sweeps, see ``embed``
    report/findings.csv     one row a label: slope to read, interval, q, decision; findings.tex: those that are judged
    report/model_card.md    what was found, for a model card: n, intervals, editor, date, limits
    report/slopes.csv       every estimator in fourteen columns; slopes.parquet has all
    report/tables/          Tables 1 to 4 of the paper, as far as the run has them, as CSV, Markdown and LaTeX
    report/figure1.png, figure2.png, figure3.png    the paper's: the walk of one photo; one label, a curve for
                            each classifier; every classifier's labels under each picture; also as PDF

    If the run has several attributes, Figures 2 and 3 are named figure2-<attribute>.png and so on.  Each file is
    replaced whole, and the page last.

    run: the run folder, with run.json and slopes.parquet; sections whose tables or pictures are not there are left out.
    p, slope: a label is reported as pulled if its p is below ``p`` and the absolute value of its slope above ``slope``.
    embed: ``thumbs``: a strip of small squares around the face for each sweep; ``none``: no picture at all, nor Figures
        1 and 3, and no file name: for photos that must not leave the machine.
    labels: of Figures 2 and 3, any case; without, those that most classifiers return and that move most.
    watch: shows progress: called once with the number of steps, gives what is called with those that are done.

    Returns the path of index.html.

    Raises: UsageError if ``run`` is not a run folder, a threshold or ``embed`` is out of its range, or no
        classifier has a slope of a label; TableError if it
        has no slopes table or a damaged one; StorageError if the report cannot be written.
    Source: Joo & Kärkkäinen 2020, section 4.3, doi 10.1145/3422841.3423533.
    """
    from gslopes.frame.page import write
    from gslopes.frame.result import find_audit
    from gslopes.frame.spec import Run
    from gslopes.slopes.page.sections import walk_page

    audit = find_audit("audit")
    run = Path(run)
    options = from_dict(
        ReportConfig, {"embed": embed, "p": p, "slope": slope, "labels": tuple(labels)}
    )
    config = audit.config(run, report=options)
    return write(walk_page(Run(audit, run, config)), watch or counted(None, "report", "steps"))
