"""What ``--as-published`` sets of a run's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gslopes.core.errors import ConfigError
from gslopes.core.options import put

# What can be set as Joo & Kärkkäinen (2020) have it; see ``slopes.method``.
PUBLISHED: Mapping[tuple[str, str], Any] = {
    ("edit", "model"): "fader",
    ("compose", "region"): "skin",
    ("compose", "blend"): "paste",
    ("compose", "placebo"): False,
    ("gate", "on"): False,
    ("fit", "presence"): "vendor",
}


def publish(mapping: dict[str, Any]) -> None:
    """Set what the paper sets.  Raises: ConfigError if something else was asked for."""
    for (part, key), value in PUBLISHED.items():
        given = mapping.get(part, {}).get(key)
        if given and key == "model":  # a Fader Network of the user's own
            continue
        if given is not None and given != value:
            hint = "Leave one of the two out: gslopes audit --as-published --method lists what it sets."
            raise ConfigError(f"As published, {part}.{key} is {value}, not {given}.", hint)
        put(mapping, (part, key), value)
    for key in ("steps", "range"):
        if mapping.get("edit", {}).get(key) is not None:
            raise ConfigError(f"As published, {key} is the paper's.", f"Leave --{key} out, or --as-published.")
