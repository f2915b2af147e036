"""The section ``[score]`` of a configuration: who is asked, and on which conditions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gslopes.core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ScoreConfig:
    """Who is asked, and what it may cost.

    classifiers: names with parameters, such as ``celeba-tagger:threshold=0.3``.
    cache: the folder that keeps answers; the user's cache folder if None.
    budget: USD that one command may spend, None for no stop.  max_calls: requests that it may send, None for no stop.
    confirm_above: USD from which on the user is asked first.  yes: do not ask.
    retry_failed: ask again about pictures that failed.
    """

    classifiers: tuple[str, ...] = ()
    cache: Path | None = None
    budget: float | None = None
    max_calls: int | None = None
    confirm_above: float = 10.0
    yes: bool = False
    retry_failed: bool = False

    def __post_init__(self) -> None:
        for name in ("budget", "max_calls", "confirm_above"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ConfigError(f"{name} is {value}; it must be at least 0.")
