"""Which editors there are, and whether a name is one of theirs; imports none of them."""

from gslopes.ask.classifiers.catalogue import full_name, listed
from gslopes.core.registry import Registry

CATALOGUE = listed("outside", "editors")
REGISTRY = Registry(
    "editor",
    {name: entry.place for name, entry in CATALOGUE.items()},
    "gslopes.editors",
)
GIVEN = "given:"  # before the name of an editor that is an object of Python


def is_outside(text: str) -> bool:
    """Whether a text names an editor that others made, and not a model of the zoo, or a kind of them.

    >>> is_outside("mine.py:edit"), is_outside("images:m,url=http://localhost"), is_outside("gender-fader")
    (True, True, False)
    """
    if text.startswith(GIVEN):
        return True
    base = full_name(text).partition(",")[0].partition(":")[0]
    return any(base == target.name for target in REGISTRY.targets())
