"""In what two manifests differ, in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def differences(old: Any, new: Any, name: str = "") -> list[str]:
    """One line for each leaf in which two nested mappings differ: its name and both values.

    >>> differences({"find": {"min_face": 32}}, {"find": {"min_face": 20}})
    ['find.min_face is 32 there and 20 here']
    >>> differences([-2.0, -1.3333334], [-2.0, -1.5], "values")
    ['values is [-2, -1.333] there and [-2, -1.5] here']
    """
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        found = []
        for key in dict.fromkeys([*old, *new]):
            found += differences(old.get(key), new.get(key), f"{name}.{key}" if name else str(key))
        return found
    there, here = (_value(one, short=True) for one in (old, new))
    there, here = (there, here) if there != here else (_value(old), _value(new))
    return [] if old == new else [f"{name} is {there} there and {here} here"]


def _value(value: Any, short: bool = False) -> str:
    """A value of a manifest as text.  short: numbers with four digits."""
    if value is None:
        return "not set"
    if isinstance(value, list) and not any(isinstance(one, list) for one in value):
        return f"[{', '.join(_value(one, short) for one in value)}]"
    shown = f"{value:.4g}" if short and isinstance(value, float) else str(value)
    return json.dumps(value) if isinstance(value, str) else shown
