"""What counts as a present label: the vendor's own cut of each classifier, or the user's."""

from collections.abc import Iterable

from gslopes.ask import names
from gslopes.ask.classifiers.catalogue import SERVICES
from gslopes.core import ConfigError
from gslopes.slopes.measures.answers import ALL, Cut

NONE = "none"


def cuts(classifiers: Iterable[str], presence: str) -> dict[str, Cut]:
    """The cut of each classifier.

    classifiers: canonical names.
    presence: ``vendor``: what each service returns unless asked for more, everything for a classifier on this machine,
        whose own threshold is in its name; ``none``: everything that was returned; or a score in [0, 1].

    Raises: ConfigError for any other presence.

    >>> cuts(["rekognition:max_labels=50", "celeba-tagger"], "vendor")["rekognition:max_labels=50"]
    Cut(score=0.55, most=0)
    """
    own_cut = parse(presence)
    return {name: vendor_cut(name) if own_cut is None else own_cut for name in classifiers}


def parse(presence: str) -> Cut | None:
    """The user's cut; None for the vendors' own.  Raises: ConfigError."""
    if presence == "vendor":
        return None
    if presence == NONE:
        return ALL
    try:
        score = float(presence)
    except ValueError:
        score = -1.0
    if not 0 <= score <= 1:
        raise ConfigError(
            f"Presence is vendor, none or a score in [0, 1], not {presence}.",
            "Such as --set fit.presence=0.6.",
        )
    return Cut(score)


def vendor_cut(classifier: str) -> Cut:
    """What a service itself counts unless it is asked for more; everything for every other classifier."""
    listed = SERVICES.get(names.split(classifier)[0])
    if listed:
        return Cut(*listed.presence)
    return ALL
