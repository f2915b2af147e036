"""Names of placebo sweeps in the tables: the attribute whose sweep they accompany, and a kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("same", "light", "random")
SIGNED = frozenset({"light"})  # kinds whose sign says something: that one brightens as the edit does
TEXTS = {"same": "the same picture", "light": "light alone", "random": "a random change"}


def name(attribute: str, kind: str) -> str:
    """The name of a placebo sweep.

    >>> name("gender", "light")
    'gender-light'
    """
    return f"{attribute}-{kind}"


def names(attribute: str) -> tuple[str, ...]:
    """All placebo sweeps of an attribute."""
    return tuple(name(attribute, kind) for kind in KINDS)


def split(attribute: str) -> tuple[str, str]:
    """(the attribute itself, the kind of placebo; empty for a real sweep).

    >>> split("gender-light"), split("gender")
    (('gender', 'light'), ('gender', ''))
    """
    for kind in KINDS:
        if attribute.endswith(f"-{kind}"):
            return attribute.removesuffix(f"-{kind}"), kind
    return attribute, ""


def is_placebo(attribute: str) -> bool:
    """Whether a sweep of this name is a placebo's.

    >>> is_placebo("gender-light"), is_placebo("gender")
    (True, False)
    """
    return bool(split(attribute)[1])


def among(attributes: pd.Series) -> pd.Series[bool]:
    """Which rows belong to placebo sweeps.  attributes: the column of a table."""
    return attributes.map(lambda one: is_placebo(str(one))).astype(bool)
