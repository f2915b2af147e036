"""What an audit declares. Plan, order, parts, resume, stamps, findings, page, result and verb follow from it.

An audit is *stimuli, ask, outcomes, contrasts, findings, page*: stages make tables, the last ones are judged and shown.
Its folder holds, next to the functions named here, ``tables.toml`` (see ``core.tables``), ``method.toml`` (see
``report.choices``), ``sentences.toml`` (see ``frame.page``) and ``sections.html.j2``.
Read ``gslopes/captions/audit.py``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gslopes.core.summary import CONDITION
from gslopes.core.tables import Table

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from gslopes.core.executor import Executor
    from gslopes.core.tables import Tables as Opened
    from gslopes.frame.page import Finished, Page
    from gslopes.frame.plan import Plan
    from gslopes.frame.result import Result
    from gslopes.frame.run import Run
    from gslopes.report.choices import Choice

Tables = Mapping[str, "pd.DataFrame"]
Made = Mapping[str, "pd.DataFrame | Sequence[Mapping[str, Any]]"]  # table to its rows
INPUTS = "inputs"
NOTES = "notes"  # what a stage may read next to tables: what the user gave; sentences of all stages


@dataclass(frozen=True)
class Inputs:
    """What is audited, looked at and checked before any work.

    content: for the stages that read ``inputs``.  facts: by name in run.json; a folder with others holds another run.
    records: are there, too, and may change.  notes: sentences for the user.
    """

    content: Any
    facts: Mapping[str, Any]
    records: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stage:
    """One step on a run folder. It is done again if what it reads, its options or the program changed, else skipped.

    reads, makes: tables; files and folders of pictures by their path below the run folder, with a dot or a slash in
        it (``review.html``, ``edits/``), which ``work`` writes, durably and before its rows. A folder is known by its
        files' names, sizes and times. Of ``reads`` also ``inputs`` and ``notes``.
    work: gives the tables' rows; called with the run, the items of a part where there are ``items``, and the name where
        there is ``each``.
    items: what is cut into parts of ``part`` items, each committed by itself; units of progress are called ``unit``.
    each: names for which all parts are done, such as those of models; names of earlier runs stay in the tables.
    join: what becomes of the tables of all parts, where they are not merged one after another.
    merging: reads and options that ``join`` alone depends on: parts stay what they are where these change.
    threads: whether its parts may be done side by side in threads.
    here: its parts are done in this process alone, such as those that ask models.
    when: whether the options have it; where not, what it made before is removed, but for its parts.
    uses: what else it is made from, as JSON has it, such as the versions of models.
    due: whether something is left to do although all is as it was, such as what failed; parts with failed rows.
    confirm: has confirmed, before any part is done, what they cost; takes each name's number of missing items.
    check: raises if the tables of all parts are of no use.
    options: of the configuration, those it depends on, such as ``seed`` or ``fit.seed``; all of them if None.
    """

    name: str
    reads: tuple[str, ...]
    makes: tuple[str, ...]
    work: Callable[..., Made]
    items: Callable[[Run], Sequence[Any] | NDArray[Any]] | None = None
    part: int = 32
    unit: str = "photos"
    each: Callable[[Run], Sequence[str]] | None = None
    join: Callable[[Run, Tables], Made] | None = None
    merging: tuple[str, ...] = ()
    here: bool = False
    threads: bool = False
    when: Callable[[Run], bool] | None = None
    uses: Callable[[Run], Any] | None = None
    due: Callable[[Run], bool] | None = None
    confirm: Callable[[Run, Mapping[str | None, int]], None] | None = None
    check: Callable[[Run], None] | None = None
    options: tuple[str, ...] | None = None


class Headline(NamedTuple):
    """The finding in a sentence.

    label: how that of the row begins that it is about.  contrast, model: those of the row.  Empty: of any.
    """

    sentence: str
    label: str = ""
    contrast: str = ""
    model: str = ""


@dataclass(frozen=True)
class Section:
    """Part of a page: the macro ``name`` of the audit's sections.html.j2, or of parts.html.j2, called with ``data``.

    data: None leaves the part out.  title: its heading; empty for a part that brings its own.
    first: before what is folded away; see ``frame.page`` for names that have a place of their own.
    """

    name: str
    title: str
    data: Callable[[Any], Mapping[str, Any] | None]
    first: bool = False


@dataclass(frozen=True)
class Assets:
    """How a page is made that has more than sections, such as figures and data for scripts.

    page: of a run.  options, reads, makes: of the stage that writes it, next to all tables and the page; see ``Stage``.
    """

    page: Callable[[Finished], Page]
    options: tuple[str, ...] | None = None
    reads: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()


def _always(config: Any) -> bool:
    """A lambda would not travel to other processes."""
    return True


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What is done in stages on a run folder; plan, result, page and verb follow from what it declares.

    name: of the verb, and ``kind`` in run.json.  home: its folder.
    config: dataclass of all options, see ``core.options``.
    tables: those of its stages, by name.
    inputs: looks at the source, after the frame has looked for photos there.
    photos: whether a folder that is given is one of photos, by the configuration; by default it is.
    outline: what an audit would do, as lines and as JSON, for ``--dry-run``.
    judged: the numbers that are judged, in the columns of ``core.summary.FINDINGS`` but for the decision; a table that
        has decisions is shown with them.
    counts: things found, used; files that could not be read and questions that failed, which give exit code 3.
    terminal: what is printed of a result; None: its findings.  shown: tables that ``--json`` prints.
    page: its sections.  assets: if it has more than these.
    models: name to what is asked, found before any work.
    more: whether more models may be asked later; else their versions identify the run.
    before: called once before the first stage that is not up to date: credentials, prices, a first question.
    configure: makes the configuration of a new run of source, options, stages to do, ready objects and run folder,
        where options depend on one another or the source is one of them.
    fixed: facts that follow from the options alone, which stay what they are where a run is done again.
    looked_at: options that ``inputs`` alone reads: given to a run, they are looked at with its source before all else.
    alone: stages that ``--only`` can name, with what is printed after each, as text and as JSON.
    result: the class of its result, if it says more than others.
    condition: columns that ``--fail-if`` can name, each with a value of its type.
    differences: how a run in a folder, or these options, differ from the paper, as ``--method`` prints it.
    """

    name: str
    home: Path
    config: type
    tables: Mapping[str, Table]
    inputs: Callable[[Path, Any], Inputs]
    outline: Callable[[Plan], tuple[list[str], Any]]
    stages: tuple[Stage, ...]
    judged: Callable[[Opened], pd.DataFrame]
    headline: Callable[[Opened], Headline]
    counts: Callable[[Opened], tuple[int, int, int]]
    shown: tuple[str, ...]
    terminal: Callable[[Opened], str] | None = None
    page: tuple[Section, ...] = ()
    assets: Assets | None = None
    photos: Callable[[Any], bool] = _always
    models: Callable[[Plan], Mapping[str, Any]] | None = None
    more: bool = False
    before: Callable[[Run, Executor], None] | None = None
    configure: (
        Callable[[Path | None, Mapping[str, Any], Sequence[str], Any, Path | None], Any] | None
    ) = None
    fixed: Callable[[Any], Mapping[str, Any]] | None = None
    looked_at: tuple[str, ...] = ()
    alone: Mapping[str, Callable[[Result], tuple[str, Mapping[str, Any]]]] = field(
        default_factory=dict
    )
    result: type[Result] | None = None
    condition: Mapping[str, float | str | bool] = field(default_factory=lambda: CONDITION)
    differences: Callable[[Path | None, Mapping[str, Any]], tuple[Any, list[Choice]]] | None = None

    @cached_property
    def sentences(self) -> dict[str, Any]:
        """The content of sentences.toml.

        Of it the help takes ``about``, ``examples`` and ``source``, what is given: an option of the configuration that
        is positional may name it instead.  ``question`` heads the page, see ``frame.page`` for the others.
        """
        return tomllib.loads((self.home / "sentences.toml").read_text("utf-8"))
