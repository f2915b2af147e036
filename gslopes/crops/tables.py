"""The tables of a crop audit, declared in ``tables.toml``. Their rules are those of ``core.tables``.

``photo`` is the sha256 of the file's bytes. ``left`` and ``right`` are the photos of a joined picture; of photos one
below the other, ``left`` is the upper one.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pyarrow as pa

from gslopes.core.tables.schema import Table, column

_TYPES = {"text": pa.string(), "bool": pa.bool_(), "floats": pa.list_(pa.float32())}
_TYPES |= {name: getattr(pa, name)() for name in ("int16", "int32", "int64", "float32", "float64")}


def _field(line: str) -> pa.Field:
    name, kind, unit = line.split(maxsplit=2)
    return column(name, _TYPES[kind.removesuffix("?")], unit, null=kind.endswith("?"))


_TABLES = {
    name: Table(name, pa.schema(map(_field, table["columns"].splitlines())), tuple(table["key"].split()))
    for name, table in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
}

PEOPLE, TRAITS, COVARIATES = (_TABLES[name] for name in ("people", "traits", "covariates"))
SALIENCY, DRAWN_MAPS = (_TABLES[name] for name in ("saliency", "drawn_maps"))
PAIRS, OUTCOMES, CROPS = (_TABLES[name] for name in ("pairs", "outcomes", "crops"))
TOGETHER, STABILITY = (_TABLES[name] for name in ("together", "stability"))
PARITY, AGGREGATES, POSITIONS = (_TABLES[name] for name in ("parity", "aggregates", "positions"))
POLICIES, VIEWS = (_TABLES[name] for name in ("policies", "views"))
SPREAD, STRENGTHS, SHARES = (_TABLES[name] for name in ("spread", "strengths", "shares"))
REGION_TABLES = GLANCES, REGIONS, GAZE, GAZE_GAPS, KINDS = tuple(
    _TABLES[name] for name in ("glances", "regions", "gaze", "gaze_gaps", "kinds")
)
DUELS, OPPONENTS, SWEEP_SLOPES = (_TABLES[name] for name in ("duels", "opponents", "sweep_slopes"))

FEW, CONSTANT = "too few to judge", "no interval: people do not differ"  # notes of PARITY
MEASURES = (PARITY, AGGREGATES, POSITIONS, POLICIES, VIEWS, SPREAD, STRENGTHS, SHARES)
ALL = (
    *(PEOPLE, TRAITS, SALIENCY, PAIRS, OUTCOMES, CROPS, TOGETHER, STABILITY, COVARIATES, DRAWN_MAPS),
    *(*MEASURES, *REGION_TABLES, DUELS),
)
