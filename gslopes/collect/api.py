"""``gslopes.collect_photos`` and ``gslopes.census``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.core.config import check_names


def collect_photos(out: str | Path, *, source: str, **options: Any) -> pd.DataFrame:
    """Photos of people at work from a source, with licence, creator and page of each.

    out: the folder, made if missing.  source: openverse, wikimedia, google, a list or a folder; see
        ``gslopes collect --help``.  options: occupations, keywords, per_query, near, min_side, gap, contact.

    Returns the manifest, one row a photo.

    Raises: UsageError, CredentialsError, StorageError.
    """
    from gslopes.collect.photos import CollectConfig, plan_collection
    from gslopes.collect.photos import collect as gather
    from gslopes.core import tables
    from gslopes.core.config import from_dict
    from gslopes.core.tables.collection import MANIFEST

    check_names("collect", options, set(CollectConfig.__dataclass_fields__))
    folder = Path(out)
    gather(plan_collection(from_dict(CollectConfig, {"source": source, **options}), folder))
    return tables.read(MANIFEST, folder / f"{MANIFEST.name}.parquet")


def census(photos: str | Path, out: str | Path, **options: Any) -> pd.DataFrame:
    """How the faces in a folder of photos are read, by occupation (the sub-folder, or the collection's manifest).

    out: the census folder.  options: confidence, min_face, limit, review, device; see ``gslopes census --help``.

    Returns one row an occupation: n, answered, female, female_low, female_high, male, male_low, male_high,
    other_answers, women (share of women among people employed; US Bureau of Labor Statistics).

    Raises: UsageError, ModelError, StorageError.
    """
    from gslopes.collect.census.count import CensusConfig
    from gslopes.collect.census.count import census as count
    from gslopes.core.config import from_dict
    from gslopes.report.composition import table3

    check_names("census", options, set(CensusConfig.__dataclass_fields__))
    found = count(Path(photos), Path(out), from_dict(CensusConfig, options))
    return table3(found.composition, found.women)
