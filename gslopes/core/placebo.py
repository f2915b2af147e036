"""Names of sweeps in the tables: of placebos the attribute whose sweep they accompany and a kind; of contrasts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gslopes.core import Facts, Names, printable

if TYPE_CHECKING:
    from pandas import DataFrame, Series

KINDS = ("same", "light", "random")
CROSS = "-x-"  # between the names of two attributes that are crossed, see ``core.crossed``
SIGNED = frozenset({"light"})  # kinds whose sign has a meaning: it brightens as the edit does
UNEDITED = "unedited"  # in place of a named baseline: the photo as it is
TEXTS = {"same": "the same picture", "light": "light alone", "random": "a random change"}


def name(attribute: str, kind: str) -> str:
    """The name of a placebo sweep.

    >>> name("gender", "light")
    'gender-light'
    """
    return f"{attribute}-{kind}"


def names(attribute: str) -> Names:
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


def among(attributes: Series) -> Series[bool]:
    """Which rows belong to placebo sweeps.  attributes: the column of a table."""
    return attributes.map(lambda name: is_placebo(str(name))).astype(bool)


def real(rows: DataFrame) -> DataFrame:
    """The rows of sweeps that are no placebos.  rows: of a table with the column attribute."""
    return rows[~among(rows["attribute"])]


def of_a_set(manifest: Facts) -> bool:
    """Whether others made a run's pictures.  manifest: the content of ``run.json``."""
    return bool(manifest["config"].get("pairs"))


def contrast(attribute: str, level: str, baseline: str) -> str:
    """The name of such a sweep.  Arguments as ``plain`` gives them."""
    return f"{attribute}: {level} − {baseline}"


def ends_of(sweep: str) -> tuple[str, str, str] | None:
    """(attribute, level, baseline) of a contrast; None for any other sweep.

    >>> ends_of("race: Black − White"), ends_of("gender")
    (('race', 'Black', 'White'), None)
    """
    match = re.fullmatch("(.+): (.+) − (.+)", sweep)
    if match and CROSS not in sweep:
        return match[1], match[2], match[3]
    return None


def attribute_of(sweep: str) -> str:
    """The attribute that is edited along a sweep.

    >>> attribute_of("race: Black − White"), attribute_of("gender")
    ('race', 'gender')
    """
    if named := ends_of(sweep):
        return named[0]
    return sweep


def plain(text: str) -> str:
    """A text of others as a name of a sweep, which is a folder's, too, or in one.

    >>> plain("skin: dark"), is_placebo(plain("medium-light"))
    ('skin dark', False)
    """
    text = (
        printable(text)[:60].replace(": ", " ").replace(" − ", " - ").replace("/", "∕").lstrip(".")
    )
    if is_placebo(text) or CROSS in text:
        return text.replace("-", "\N{NON-BREAKING HYPHEN}")
    return text
