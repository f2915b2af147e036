"""Counterfactuals that others made, as tables of edits: see ``slopes.layouts`` for what is read.

A row a picture: what stays the same (the unit), attribute, value; maybe placebo (same, light, random: of such a sweep)
and group. A row without a value is the unit before any change. Values are numbers or names: each of these is a sweep
from 0, a baseline, to 1. Names that differ in case alone are one, as in groups.

Several attributes in a row are crossed. Two are a grid, see ``core.crossed``, of units that have all of it, if most do:
of names, one of them of two; of two values and names; or of odd numbers of values. Otherwise a unit is what stays the
same when one attribute changes, the others' values included, and what stays the same for all of them is its cluster.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from gslopes.core import (
    Facts,
    UnknownName,
    frozen,
    hexdigest,
    is_file,
    many,
    options,
    placebo,
    show,
    some_of,
)
from gslopes.core.crossed import Grid
from gslopes.core.csv_table import normal_names, tell_unsaid
from gslopes.core.runfolder import FARTHEST
from gslopes.photos.folder import size_of
from gslopes.slopes.layouts import JOINT, Picture, read_rows, refused

Levels = list[float]
SweepOf = tuple[str, str, DataFrame, Levels]  # name, placebo, pictures (units by values), values
KINDS = ("", *placebo.KINDS)
MOST = 0.5  # of the units that have a whole grid
_DIGESTED = ["unit", "attribute", "value", "placebo", "group", "shown", "name"]
_ROUNDED = 6e-5  # values that somebody wrote with four digits


@frozen
class PairSet:
    """A checked set.  values: sweep to its K values.  facts: a digest of what is read.

    units: by name: photo (its id: the name if that is a sha256, as in exports of ours, else the name's), shown,
        group, picture (before any change, or its first one), lacks (values, in words).
    edits: sorted by unit, a row a picture of a sweep that it has whole, placebo sweeps among them: attribute (the
        sweep), step, picture.
    """

    units: DataFrame
    edits: DataFrame
    values: Mapping[str, Levels]
    facts: Facts


def read_pairs(
    path: Path | str, baseline: str = "", limit: int | None = None, placebos: bool = True
) -> PairSet:
    """Read and check a set; no picture is opened.

    path: as ``--pairs`` names it.  limit: only the first units.  placebos: whether there are placebo sweeps.
    baseline: of named values, with commas between several attributes; the commonest value by default.

    Raises: UsageError; UnknownName for a baseline or a layout; ConfigError.
    """
    wide = _folded(pd.concat(read_rows(path), ignore_index=True).fillna(""))
    wide = wide[wide["unit"].isin(wide["unit"].unique()[:limit])]
    rows = _checked(_by_attribute(wide))
    baselines = options.names(baseline)
    for name in baselines:
        if name not in (known := rows["value"].unique()):
            raise UnknownName("baseline", name, filter(None, known))
    values: dict[str, Levels] = {}
    sweeps = [*_plain(show(path), rows, baselines)]
    if crossed := _grid(rows, [one for one in sweeps if not one[1]]):
        grid, sweeps = crossed
        values = grid.sweeps
        rows = rows.assign(unit=rows["cluster"], shown=rows["cluster"], cluster="")
    units = rows.drop_duplicates("unit").set_index("unit")
    units = units[["shown", "group", "cluster"]].assign(lacks="")
    edits, others = _edits([one for one in sweeps if placebos or not one[1]], units)
    originals = pd.concat([rows[rows["value"] == ""].set_index("unit"), edits])["picture"]
    original = originals.groupby(level=0).first()
    units["picture"] = [original.get(unit, Picture(Path())) for unit in units.index]
    units["photo"] = units.index.map(_id)
    if units["photo"].str[:16].duplicated().any():  # as files' names have them
        units["photo"] = [hexdigest(unit) for unit in units.index]
    units["lacks"] = units["lacks"].str.removesuffix("; ")
    used = units["picture"][units.index.isin(edits.index)]
    files = {picture.path for picture in [*edits["picture"], *used]}
    if lost := [show(file) for file in sorted(files) if not is_file(file)]:
        pictures = many(len(files), "picture")
        raise refused("gone", show(path), f"{len(lost):,}", pictures, some_of(lost))
    sizes = rows["picture"].map(lambda picture: size_of(picture.path))
    text = rows[_DIGESTED].assign(size=sizes).to_csv()
    facts = {"photos": len(units), "digest": hexdigest(text)}
    return PairSet(units, edits, values | others, facts)


def _edits(sweeps: Sequence[SweepOf], units: DataFrame) -> tuple[DataFrame, dict[str, Levels]]:
    """The pictures of complete sweeps by unit, and each sweep's values; notes what units lack."""
    values: dict[str, Levels] = {}
    parts = []
    for sweep, kind, cells, numbers in sweeps:
        part = cells.reindex(units.index)
        have = part.notna().sum(axis=1)
        if not kind:
            lacking = have.astype(str) + f" of {len(numbers)} values of {sweep}"
            if placebo.CROSS in sweep:
                gone = (part.columns[row] for row in part.isna().to_numpy())
                lacking += [f", without {', '.join(names)}" for names in gone]
            units["lacks"] += (lacking + "; ").where(have.between(1, len(numbers) - 1), "")
        name = placebo.name(sweep, kind) if kind else sweep
        values[name] = numbers
        complete = part.set_axis(range(len(numbers)), axis=1)[have == len(numbers)]
        complete = complete.melt(var_name="step", value_name="picture", ignore_index=False)
        parts.append(complete.assign(attribute=name))
    edits = pd.concat(parts).reset_index(names="unit")
    return edits.sort_values(["unit", "attribute", "step"]).set_index("unit"), values


def _plain(path: str, rows: DataFrame, baselines: Sequence[str]) -> Iterator[SweepOf]:
    """The sweeps of each attribute by itself, and those of their placebos."""
    cells = rows[rows["value"] != ""].pivot(
        index="unit", columns=["attribute", "placebo", "value"], values="picture"
    )
    cells = cells.sort_index(axis=1)
    if cells.empty:
        raise refused("empty", path)
    for attribute in cells.columns.unique("attribute"):
        of_kinds: Any = cells[attribute]
        pictures = of_kinds.get("", DataFrame())
        for sweep, levels, numbers in _sweeps((path, attribute), pictures, baselines):
            for kind in KINDS:
                part = of_kinds.reindex(columns=[(kind, level) for level in levels])
                yield sweep, kind, part.set_axis(levels, axis=1), numbers


def _by_attribute(wide: DataFrame) -> DataFrame:
    """A row a picture and attribute; if there are several, a unit has the values of the others in its name, and is one
    of a cluster.
    """
    values = wide.filter(like="value")
    parts = []
    for name in values:
        number = str(name).removeprefix("value")
        others = values.drop(columns=name).agg(JOINT.join, axis=1)
        parts.append(
            wide.assign(other=others, attribute=wide[f"attribute{number}"], value=wide[name])
        )
    rows = pd.concat(parts, ignore_index=True)
    if len(parts) > 1:
        rows = rows.assign(cluster=rows["unit"], unit=rows["unit"] + JOINT + rows["other"])
        rows = rows[rows["value"] != ""]
        varying = rows.groupby(["attribute", "unit"])["value"].transform("nunique") > 1
        varying = varying.groupby(rows["attribute"]).transform("any")
        rows = rows[varying | (not varying.any())]
    return rows.assign(shown=rows["shown"].mask(rows["shown"] == "", rows["unit"]))


def _grid(rows: DataFrame, sweeps: Sequence[SweepOf]) -> tuple[Grid, list[SweepOf]] | None:
    """The grid that two attributes make, and its sweeps; None if they make none."""
    axes: dict[str, list[SweepOf]] = {attribute: [] for attribute in rows["attribute"].unique()}
    for sweep in sweeps:
        axes[placebo.attribute_of(sweep[0])].append(sweep)
    if len(axes) != 2 or rows["placebo"].any() or not rows["other"].any():
        return None
    numbers = [attribute for attribute, (sweep, *_) in axes.items() if sweep[0] == attribute]
    named = sorted(axes.keys() - {*numbers}, key=lambda name: (len(axes[name]), name))
    first, second = [*numbers, *named]
    (name, _, pictures, values), *more = axes[first]
    levels = list(dict.fromkeys(str(one) for _, _, some, _ in axes[second] for one in some))
    places = list(map(float, range(len(levels))))
    names = tuple(levels)
    fits = len(values) == 2
    if second in numbers:
        places = axes[second][0][3]
        names = ()
        fits = len(values) % 2 == len(places) % 2 == 1
    own = rows[rows["attribute"] == first]
    cells = own.pivot(index="cluster", columns=["other", "value"], values="picture")
    cells = cells.reindex(columns=list(product(levels, pictures)))
    if more or not fits or cells.notna().all(axis=1).mean() < MOST:
        return None
    cells.columns = [" ".join(reversed(step)) for step in cells.columns]
    grid = Grid((name, second), (tuple(values), tuple(places)), names)
    steps = list(map(float, range(len(cells.columns))))
    return grid, [(grid.name, kind, cells[: 0 if kind else None], steps) for kind in KINDS]


def _refuse(rows: DataFrame, what: str, wrong: Series, *columns: str) -> None:
    if wrong.any():
        raise refused(what, *rows[wrong].iloc[0][["where", *columns]])


def _folded(wide: DataFrame) -> DataFrame:
    """The rows, each name and number in one spelling.  Raises: UsageError for a text that may be none."""
    _refuse(wide, "nameless", wide["unit"] == "")
    for column in map(str, wide.filter(regex="^(value|attribute|group)")):
        names = Series(normal_names(wide[column]), wide.index, dtype=object)
        if column == "group":
            tell_unsaid("--pairs", column, wide[column])
        else:
            _refuse(wide, "nothing", (names == "") & (wide[column] != ""), column)
            names = names.map(placebo.plain)
        numbers = _numbers(names) + 0.0  # of two zeros one
        wide[column] = names.mask(numbers.notna() & column.startswith("value"), numbers.map(str))
    return wide


def _checked(rows: DataFrame) -> DataFrame:
    """The rows.  Raises: UsageError about the first row that is wrong."""
    _refuse(rows, "nameless", (rows[["name", "attribute"]] == "").any(axis=1))
    _refuse(rows, "kind", ~rows["placebo"].isin(KINDS), "placebo")
    groups = rows.groupby("unit")["group"].transform("first")
    _refuse(rows, "groups", rows["group"] != groups, "unit")
    places = rows.groupby(["unit", "attribute", "placebo", "value"])["where"]
    rows["first"] = places.transform("first")
    _refuse(rows, "twice", places.cumcount() > 0, "unit", "attribute", "value", "first")
    return rows.drop(columns="first")


def _sweeps(
    about: tuple[str, str], pictures: DataFrame, baselines: Sequence[str]
) -> Iterator[tuple[str, list[str], Levels]]:
    """(sweep, values as the set has them, as numbers) of an attribute: one, or one for each name but the baseline.

    about: the set and the attribute.  pictures: its pictures, units by values, without placebos.
    """
    has_picture = pictures.notna()
    numbers = _numbers(Series(pictures.columns, pictures.columns)).dropna().sort_values()
    levels = numbers.index.tolist()
    names = [str(name) for name in pictures if name not in numbers]
    if levels and names:
        raise refused("mixed", *about, levels[0], names[0])
    if (most := has_picture.sum(axis=1).max() if len(pictures.columns) else 0) < 2:
        raise refused("one", *about)
    if levels:
        if most < len(levels):
            raise refused("full", *about, len(levels), most)
        yield about[1], levels, _even(numbers.tolist())
        return
    base = next((name for name in baselines if name in names), str(has_picture.sum().idxmax()))
    others = [
        name for name in names if name != base and has_picture[[base, name]].all(axis=1).any()
    ]
    if not others:
        raise refused("baseline", *about, base, ", ".join(names))
    for level in others:
        yield placebo.contrast(about[1], level, base), [base, level], [0.0, 1.0]


def _numbers(texts: Series) -> Series:
    """As numbers; NaN for names."""
    numbers = pd.to_numeric(texts, errors="coerce")
    return numbers.where(numbers.abs() <= FARTHEST)


def _even(values: Levels) -> Levels:
    """The values; if they are evenly spaced but for rounding, exactly evenly, like an editor's."""
    line = np.linspace(values[0], values[-1], len(values), dtype=np.float32)
    if np.abs(line - values).max() <= _ROUNDED * max(1.0, *map(abs, values)):
        return [float(str(value)) for value in line]
    return values


def _id(unit: str) -> str:
    if re.fullmatch("[0-9a-f]{64}", unit):
        return unit
    return hexdigest(unit.encode("utf-8", "replace"))


def file_name(text: str) -> str:
    """A unit's name as a file's name; two units never share one."""
    plain = re.sub(r"[^\w .()+-]|^\.", "_", text)[:120]
    if plain == text:
        return plain
    return f"{plain}-{_id(text)[:8]}"
