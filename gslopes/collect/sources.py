"""The sources by name: ``openverse``, ``google:base=URL``, ``urls:FILE``, ``folder:DIR``."""

from __future__ import annotations

from pathlib import Path

from gslopes.ask.secrets import secret_in_address
from gslopes.collect.source import Source
from gslopes.collect.user_sources import Folder, Urls
from gslopes.collect.web_sources import Bing, Google, Openverse, Wikimedia
from gslopes.collect.wikidata import Wikidata
from gslopes.core.errors import ConfigError, UnknownName

_WEB: dict[str, type[Openverse] | type[Wikimedia] | type[Google] | type[Bing]] = {
    "openverse": Openverse,
    "wikimedia": Wikimedia,
    "google": Google,
    "bing": Bing,
}
_USER: dict[str, type[Urls] | type[Folder]] = {"urls": Urls, "folder": Folder}
NAMES = (*_WEB, Wikidata.name, *_USER)


def load_source(spec: str) -> Source:
    """A source from its name, with what follows it.

    spec: ``openverse``, ``wikimedia``, ``google`` or ``bing``, each optionally with ``:base=URL`` for an interface of
        the same form elsewhere (``,public=yes`` after it if it has parameters or a part that looks random);
        ``wikidata``, see ``collect.wikidata``; ``urls:FILE``; ``folder:DIR``.

    Raises: UnknownName with the nearest name; ConfigError for a missing or unknown parameter.
    """
    name, _, rest = spec.partition(":")
    if name in _USER:
        if not rest:
            raise ConfigError(f"The source {name!r} needs a place.", f"Write it as {name}:PATH.")
        return _USER[name](Path(rest))
    if name not in NAMES:
        raise UnknownName("source", name, NAMES)
    base, public, _ = rest.partition("base=")[2].partition(",public=yes")
    if found := secret_in_address(base, public=bool(public)):
        hint = "Keys belong into the environment variables that gslopes collect --help names."
        raise ConfigError(f"The address of {name} holds {found}, which would be stored with the photos.", hint)
    if name == Wikidata.name:
        return Wikidata(rest)
    if not rest:
        return _WEB[name]()
    if rest.partition("=")[0] != "base" or not base.startswith(("http://", "https://")):
        raise ConfigError(f"The source {name!r} has an unknown parameter.", f"Its only one is {name}:base=URL.")
    return _WEB[name](base)
