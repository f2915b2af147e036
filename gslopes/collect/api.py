"""``gslopes.collect_photos`` and ``gslopes.census``."""

from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.collect.config import CensusConfig, CollectConfig
from gslopes.core.options import build
from gslopes.frame.executors import OneProcess


def collect_photos(out: str | Path, *, progress: bool = False, **options: Any) -> pd.DataFrame:
    """Photos of people at work from a source, with licence, creator and page of each.

    out: the folder, made if missing.  progress: show lines of progress on stderr.
    options: as of ``gslopes collect --help``, with underscores; ``source`` is openverse by default.

    Returns the manifest, one row a result.

    Raises: UsageError, StorageError, ServiceError.
    """
    from gslopes.collect.photos import collect, plan_collection

    plan = plan_collection(build(CollectConfig, options), Path(out))
    return collect(plan, OneProcess(progress=progress)).table


def census(
    photos: str | Path, out: str | Path, *, progress: bool = False, **options: Any
) -> pd.DataFrame:
    """How the faces in a folder of photos are read, by occupation (the sub-folder, or the collection's manifest).

    out: the census folder.  options: as of ``gslopes census --help``.

    Returns one row an occupation: n, answered, female, female_low, female_high, male, male_low, male_high,
    other_answers, women (share of women among people employed; US Bureau of Labor Statistics).

    Raises: UsageError, ModelError, StorageError.
    """
    from gslopes.collect.census import census as count
    from gslopes.report.composition import by_occupation

    result = count(
        Path(photos),
        Path(out),
        build(CensusConfig, options),
        executor=OneProcess(progress=progress),
    )
    return by_occupation(result.composition, result.women)
