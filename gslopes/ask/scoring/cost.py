"""Before the first question: what asking will take and cost, and whether the user confirms it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from gslopes.ask.answers import ClassifierCache
from gslopes.ask.config import CostLimits
from gslopes.ask.cost import Estimate, estimate, limits_of
from gslopes.ask.questions import digest, read_picture
from gslopes.ask.trust import confirmed
from gslopes.core.errors import ConfigError, PhotoError, UsageError
from gslopes.core.executor import Executor
from gslopes.core.records import Classifier


def estimate_parts(
    run: Path, classifier: Classifier, edits: Iterable[pd.DataFrame], cache: ClassifierCache, before: int
) -> Estimate:
    """What one classifier still has to be asked.

    edits: the rows of the edits table that are due, part by part.
    cache: its answers; read only if asking costs anything.  before: pictures in finished parts.
    """
    left, cached = [], 0
    for frame in edits:
        files = frame["file"].tolist()
        if limits_of(classifier).remote and not cache.empty:
            keys = {digest(data) for file in files if (data := _bytes(run, file))}
            left.append(len(keys) - cache.count(keys))
            cached += len(files) - left[-1]
        else:
            left.append(len(files))
    return estimate(classifier.name, limits_of(classifier), classifier.batch, left, cached + before)


def estimate_walk(classifier: Classifier, images: int, part: int) -> Estimate:
    """What it takes at most to ask about the pictures that are still to be made.

    images: at most.  part: pictures of one part, at most.
    """
    parts = [min(part, images - start) for start in range(0, images, part)] if part else []
    return estimate(classifier.name, limits_of(classifier), classifier.batch, parts, 0)


def confirm_cost(estimates: Sequence[Estimate], config: CostLimits, executor: Executor) -> None:
    """Say what will be asked; above ``confirm_above`` ask the user, or require ``--yes`` without a terminal.

    Raises: ConfigError if there is a budget but no price; UsageError if it is not wanted or no one can be asked.
    """
    due = [one for one in estimates if one.pictures]
    for one in due:
        executor.note(f"score      {one}" + (f" ({one.note})" if one.note else ""))
    unknown = [one.name for one in due if one.usd is None]
    if unknown and config.budget is not None:
        name = unknown[0].partition(":")[0]
        raise ConfigError(
            f"A budget needs a price, and that of {unknown[0]} depends on your plan.",
            f"Give it in USD per 1,000 pictures, such as {name}:price=1.2.",
        )
    total = sum(one.usd or 0.0 for one in due)
    total = total if config.budget is None else min(total, config.budget)
    if config.yes or (total <= config.confirm_above and not unknown):
        return
    price = f"up to {total:,.2f} USD" + (f" and what your plan says for {', '.join(unknown)}" if unknown else "")
    hint = "Add --yes (yes=True in Python), or set a --budget; --confirm-above raises the limit."
    unasked = UsageError(f"This will cost {price}, and there is no terminal to confirm it at.", hint)
    if not confirmed(f"This will cost {price}. Go on?", unasked):
        raise UsageError("Not confirmed, so nothing was asked.", "Add --limit or --budget for a smaller audit.")


def _bytes(run: Path, file: str) -> bytes:
    try:
        return read_picture(run, file)
    except PhotoError:
        return b""
