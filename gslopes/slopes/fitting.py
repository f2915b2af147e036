"""The fit of a run folder: what a CSV tells about its photos, and the tables that it writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas import DataFrame, Series

from gslopes.core import Watch, counted, crossed, placebo, runfolder, tables
from gslopes.core.geometry import TONE, step_of
from gslopes.core.records import ABSTAINS
from gslopes.faces.gate.verdict import JUDGED, MEASURES
from gslopes.photos.people import read_about
from gslopes.slopes import expected, method, presence
from gslopes.slopes.config import FitConfig
from gslopes.slopes.measures.answers import Answers, Cut, gather, present
from gslopes.slopes.measures.options import EDITOR, Study
from gslopes.stats.rounding import places

if TYPE_CHECKING:
    from gslopes.slopes.measures.analysis import FitTables

TONES = ("darkest third", "middle third", "lightest third")
UNEDITED = "unedited"  # the folder of the unedited photos in a run, and their name in place of an attribute


def fit_folder(
    run: Path,
    config: FitConfig,
    values: crossed.Values,
    seed: int,
    *,
    watch: Watch | None = None,
) -> FitTables:
    """Answers of a run folder to the tables of a fit, see ``slopes.measures.analysis.FitTables``; writes ``PRESENCE``.

    If the gate was applied, the table gating has the dropped sweeps that were asked about nevertheless next to the
    others; if a reader read the pictures, the table reach has slopes per unit of its log-odds.

    values: attribute to its K values.  seed: of the run.
    watch: shows progress, given the number of sweeps.

    Raises: TableError, ConfigError, StorageError.
    """
    from gslopes.slopes.measures.analysis import Fit, analyse
    from gslopes.slopes.measures.crossed import views
    from gslopes.slopes.measures.soundness import soundness_rows

    scores, asked, limits = answers_of(run, config)
    editing = tables.read_rows(tables.EDITING, run)
    editing = placebo.real(editing)
    wished = tables.check(tables.ASKED, editing.assign(classifier=EDITOR)[tables.ASKED.columns])
    asked = pa.concat_tables([asked, wished.cast(asked.schema)]).unify_dictionaries()
    unedited = unedited_answers(run, limits)
    made = runfolder.read_manifest(run)["config"] if unedited else {}
    outside = method.is_asked_for(made)
    drawn = method.drawn(made) if unedited and not outside else ()
    study = Study(
        values=values,
        about=None if config.photos_csv is None else read_about(config.photos_csv, run),
        groups=config.groups,
        cluster=config.cluster,
        truth=config.truth,
        reach=reach_of(run, values),
        tones=tones_of(run),
        gates=verdicts_of(run, values),
        unedited=unedited,
        drawn=drawn,
        unchanged=tuple(values) if outside else (),
        steps=steps_of(run, values),
        moved=moved_of(run),
        wordings=wordings_of(editing),
        lost=lost_of(run, editing),
    )
    sweeps = asked.group_by(["classifier", "attribute"]).aggregate([]).num_rows
    grid = crossed.grid_of(values)
    sweeps *= len(views(grid)) if grid else 1
    options = config.options(seed)
    with (watch or counted(None, "fit", "sweeps"))(sweeps) as tick:
        fitted = analyse(scores, asked, study, options=options, tick=tick)
    abstentions = tables.read_rows(tables.SCORES, run, None, pc.field("label") == ABSTAINS)
    unknown = replace(study, truth=())  # no label of the classifier's is among abstentions
    soundness = soundness_rows(Fit(abstentions, asked, unknown, options))
    named = dict(sorted(limits.items()))
    cuts = {name: str(cut) for name, cut in named.items()}
    limited = {name: asdict(cut) for name, cut in named.items()}
    runfolder.write_json(
        run / method.PRESENCE, {"presence": config.presence, "cuts": cuts, "limits": limited}
    )
    slopes = fitted.slopes.assign(cut=fitted.slopes["classifier"].map(cuts))
    return replace(fitted, slopes=expected.marked(slopes), soundness=soundness)


def answers_of(run: Path, config: FitConfig) -> tuple[pa.Table, pa.Table, dict[str, Cut]]:
    """The tables scores, of the labels that count, and asked of a run folder, and what counts by classifier.

    Raises: TableError, UsageError.
    """
    scores, asked = (_answers(run, table) for table in (tables.SCORES, tables.ASKED))
    limits = presence.cuts(scores.column("classifier").unique().to_pylist(), config.presence)
    return present(scores, limits), asked, limits


def _answers(run: Path, table: tables.Table) -> pa.Table:
    """A table of answers, with those about dropped sweeps, and a judge's marks, at its end."""
    files = [run / f"{kind}{table.name}.parquet" for kind in ("", "dropped-", "marked/")]
    files[1:] = filter(Path.exists, files[1:])
    parts = [tables.read_arrow(table, file) for file in files]
    return pa.concat_tables(parts).unify_dictionaries()


def reach_of(run: Path, values: crossed.Values) -> DataFrame | None:
    """How far each edit moved the reader, and what it reads in the unedited photo; None if nothing was read.

    Columns: photo, attribute, reading, reach and odds.
    """
    from gslopes.slopes.measures.reach import log_odds, photo_reach

    keys = ["photo", "attribute", "reading"]
    parts = []
    own = pc.field("reading") == pc.field("attribute")
    frame = tables.read_rows(tables.READINGS, run, [*keys, "step", "score"], own)
    own_readings = frame[(frame["step"] >= 0) & ~frame["reading"].isin(MEASURES)]
    for name, rows in own_readings.groupby("attribute"):
        along = values.get(str(name), [])
        read = rows[rows.groupby("photo")["step"].transform("size") == len(along)]
        read = read.sort_values(["photo", "step"])  # those read at all values
        scores = read["score"].to_numpy(np.float64).reshape(-1, 1, max(1, len(along)))
        if len(scores):  # photo by photo, so that none is rounded by the others
            by_photo = read[:: len(along)]
            parts.append(by_photo[keys].assign(reach=photo_reach(scores, along)[:, 0]))
    if not parts:
        return None
    unedited = frame.query("step == -1").drop_duplicates(keys)
    odds = unedited[keys].assign(odds=log_odds(unedited["score"]))
    return pd.concat(parts).merge(odds, how="left", on=keys)


def wordings_of(editing: DataFrame) -> dict[str, Series]:
    """Sweep to the wording that each photo was asked for in, of those with several.  editing: rows of EDITING."""
    rows = editing.query("wording >= 0").drop_duplicates(["photo", "attribute"])
    named = rows.assign(wording="wording " + (rows["wording"] + 1).astype(str)).set_index("photo")
    by_sweep = named.groupby("attribute")["wording"]
    return {str(name): wordings for name, wordings in by_sweep if wordings.nunique() > 1}


def lost_of(run: Path, editing: DataFrame) -> dict[str, Answers]:
    """Sweep that an editor was asked for to why it lost photos, or the gate dropped them, as if reasons were labels.

    The label of photos that count is empty.

    editing: rows of EDITING.
    """
    dropped = "not kept and attribute in @editing.attribute"
    verdicts = tables.read_rows(tables.VERDICTS, run).query(dropped)
    rows = pd.concat([editing.query("status != 'answered'"), verdicts, editing])
    rows = rows.drop_duplicates(["photo", "attribute"]).drop(columns="step")
    rows = rows.merge(DataFrame({"step": [0, 1]}), "cross")  # a sweep has two values or more
    rows = rows.assign(classifier=EDITOR, status="answered", value=0, label=rows["reason"], score=1)
    scores, asked = (
        tables.check(table, rows[table.columns]) for table in (tables.SCORES, tables.ASKED)
    )
    ends = dict.fromkeys(rows["attribute"], np.array([0.0, 1.0]))
    return {answers.attribute: answers for answers in gather(scores, asked, ends)}


def moved_of(run: Path) -> DataFrame | None:
    """What else moved along sweeps that others made, as ``measures.explained`` takes it; None for our own edits."""
    if not (run / "readings.parquet").exists():
        return None
    manifest = runfolder.read_manifest(run)
    if not (placebo.of_a_set(manifest) or manifest["editor"]):
        return None
    if crossed.grid_of(manifest["values"]):  # read along each attribute, not in each picture
        return None
    others = pc.field("reading").isin([*JUDGED, "luminance", "background"])
    others &= (pc.field("step") >= 0) & (pc.field("reading") != pc.field("attribute"))
    return tables.read_rows(tables.READINGS, run, None, others)


def steps_of(run: Path, values: crossed.Values) -> dict[str, Series]:
    """Attribute to the slope of the skin's measured step along it, by photo; empty unless the tone is edited alone too.

    values: attribute to its K values.
    """
    from gslopes.stats.ols import line_slopes

    if TONE not in values:
        return {}
    manifest = runfolder.read_manifest(run)
    if placebo.of_a_set(manifest) or manifest["editor"]:
        return {}
    read = (pc.field("reading") == "luminance") & (pc.field("step") >= 0)
    frame = tables.read_rows(tables.READINGS, run, None, read & (pc.field("attribute") != TONE))
    steps = {}
    for name, rows in frame.groupby("attribute"):
        read = rows.pivot(index="photo", columns="step", values="score").dropna()
        steps[str(name)] = Series(line_slopes(step_of(read), values[str(name)]), read.index)
    return steps


def verdicts_of(run: Path, values: crossed.Values) -> dict[str, Series]:
    """Attribute to whether the gate kept each photo's sweep; empty if the gate was not applied.  Raises: TableError."""
    frame = runfolder.verdicts(run)
    frame = frame[frame["attribute"].isin(list(values))].set_index("photo")
    return {str(name): kept for name, kept in frame.groupby("attribute")["kept"]}


def unedited_answers(run: Path, limits: Mapping[str, Cut]) -> dict[str, Answers]:
    """Classifier to its answers about the unedited photos; empty if no classifier was asked.  Raises: TableError."""
    folder = run / UNEDITED
    both = (tables.SCORES, tables.ASKED)
    if not all((folder / f"{table.name}.parquet").is_file() for table in both):
        return {}
    scores, asked = (_answers(folder, table) for table in both)
    sweeps = gather(present(scores, limits), asked, {UNEDITED: np.zeros(1)})
    return {answers.classifier: answers for answers in sweeps}


def tones_of(run: Path) -> Series | None:
    """Photo to the third of its face's lightness, L* as read in the unedited photo; None if nothing was read."""
    unedited = (pc.field("reading") == "luminance") & (pc.field("step") == -1)
    rows = tables.read_rows(tables.READINGS, run, None, unedited).drop_duplicates("photo")
    if len(rows) < len(TONES):
        return None
    third = pd.qcut(
        Series(places(rows["score"])).rank(method="first"), len(TONES), labels=list(TONES)
    )
    return Series(third.astype(str).to_numpy(), index=rows["photo"].to_numpy())
