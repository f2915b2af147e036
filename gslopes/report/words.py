"""The words of every table, figure and page: they are part of being correct."""

import re
from urllib.parse import urlsplit

from gslopes.core import many as many, printable as printable, read_beside
from gslopes.core.crossed import split
from gslopes.core.geometry import DEFAULT_EXTENT, EXTENT
from gslopes.core.placebo import ends_of

_URL = 2000  # of an address

_KNOWN = read_beside(__file__, "attributes.toml")

LONGEST_LABEL = 80
_PARTS = re.compile(
    r"[^\W\d_][^\s.:/]+([.:][^\W\d_][^\s.:/]+)+"
)  # a name within a name: emotion.happy, mine:chin
_OF_CAPTIONS = re.compile(r"^(synset|word|relation):([^:]+?)(?:\.[a-z]\.\d+)?$")
_LATER = re.compile(
    r"(?<=_)[A-Z](?=[a-z]+(?:_|$))"
)  # the first letter of a later word, unless it is an acronym


def ends(attribute: str) -> tuple[str, str]:
    """What the negative and the positive end of an attribute look like.

    >>> ends("gender"), ends("beard"), ends("race: Asian − White")
    (('feminine', 'masculine'), ('less beard', 'more beard'), ('White', 'Asian'))
    """
    attribute = split(attribute)[0]
    if contrast := ends_of(attribute):
        return contrast[2], contrast[1]
    if attribute in _KNOWN:
        negative, positive = _KNOWN[attribute]["ends"]
        return negative, positive
    return f"less {printable(attribute)}", f"more {printable(attribute)}"


def perceived(attribute: str) -> str:
    """The attribute as a thing that is seen in a picture, never as a fact about a person; of two their interaction.

    >>> perceived("young"), perceived("race: Asian − White")
    ('perceived age', 'perceived race (Asian against White)')
    >>> perceived("gender-x-race"), perceived("gender-x-race=-2")
    ('the interaction of perceived gender and perceived race', 'perceived gender on darker-skinned faces')
    >>> perceived("gender-x-tone=2")
    'perceived gender on light-skinned faces'
    """
    if contrast := ends_of(attribute):
        return f"{perceived(contrast[0])} ({contrast[1]} against {contrast[2]})"
    first, second, value = split(attribute)
    if value:
        middle = sum(EXTENT.get(second, DEFAULT_EXTENT)) / 2
        return f"{perceived(first)} on {faces(second)[float(value) > middle]}"
    if second:
        return f"the interaction of {perceived(first)} and {perceived(second)}"
    if attribute in _KNOWN:
        return str(_KNOWN[attribute]["name"])
    return f"perceived {printable(attribute)}"


def faces(attribute: str) -> tuple[str, str]:
    """Faces at the negative end of an attribute against those at the positive one.

    >>> faces("race"), faces("beard")
    (('darker-skinned faces', 'lighter-skinned faces'), ('faces with less beard', 'faces with more beard'))
    """
    first, last = ("darker-skinned", "lighter-skinned") if attribute == "race" else ends(attribute)
    if attribute in _KNOWN:
        return f"{first} faces", f"{last} faces"
    if ends_of(attribute):
        return f"{first}-looking faces", f"{last}-looking faces"
    return f"faces with {first}", f"faces with {last}"


def both(first: str, second: str) -> str:
    """Two classifiers that are compared, or the one that is in both runs, fit to be shown.

    >>> both("tagger:v=1", "tagger:v=2"), both("tagger", "tagger")
    ('tagger:v=1 → tagger:v=2', 'tagger')
    """
    return " → ".join(printable(name) for name in dict.fromkeys((first, second)))


def shorten(text: str, length: int) -> str:
    """At most ``length`` characters, the last one an ellipsis if something was cut."""
    if len(text) <= length:
        return text
    return text[: length - 1] + "…"


def model(name: str) -> str:
    r"""A classifier or an editor as pages name it: of a file of its parameters the name, without the folders.

    >>> model("llm:m,prompt=/home/me/task.toml,repeats=3"), model("http:http://localhost:80/a/b")
    ('llm:m,prompt=task.toml,repeats=3', 'http:http://localhost:80/a/b')
    """
    return re.sub(r"(?<=[=:])(/(?!/)[^,]*/|[A-Z]:\\[^,]*\\)", "", printable(name))


def label(text: str) -> str:
    """A label as pages and terminals write it: printable, at most ``LONGEST_LABEL`` characters."""
    return shorten(printable(text), LONGEST_LABEL)


def readable(text: str) -> str:
    """A label as people read it, in sentences and charts; its exact name is shown on hover and in tables.

    >>> readable("Wearing_Lipstick"), readable("mine2:hairchin"), readable("5_o_Clock_Shadow"), readable("US_Flag")
    ('Wearing lipstick', 'mine2 · hairchin', '5 o clock shadow', 'US flag')
    >>> readable("Heavy makeup"), readable("McDonald v1.5"), readable("FACE_FEMALE"), readable("口紅_赤"), readable("_")
    ('Heavy makeup', 'McDonald v1.5', 'FACE FEMALE', '口紅 赤', '_')
    >>> readable("synset:ice_cream.n.01"), readable("word:nurse"), readable("relation:stand")
    ('ice cream (synset)', 'nurse (word)', 'stand (relation)')
    """
    text = _OF_CAPTIONS.sub(r"\2 (\1)", text)
    text = re.sub("[.:]", " · ", text) if _PARTS.fullmatch(text) else text
    plain = _LATER.sub(lambda letter: letter[0].lower(), text).replace("_", " ")
    return label(" ".join(plain.split()) or text)


def link(address: object) -> str:
    r"""An address that a reader may follow: http or https, of a host, without a name and a password; else empty.

    >>> link("https://example.org/a?b=c"), link("javascript:alert(1)"), link("https://u:p@example.org"), link("//x.org")
    ('https://example.org/a?b=c', '', '', '')
    """
    text = str(address)
    if len(text) > _URL or not text.isprintable() or any(char in text for char in " <>\"'`\\"):
        return ""
    try:
        parts = urlsplit(text)
        if parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc:
            return text
        return ""
    except ValueError:
        return ""
