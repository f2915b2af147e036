"""The dialects in which language models are asked, each one file of data in ``dialects``.

A file says where the vendor is and how it knows who asks, and has two expressions of JMESPath (https://jmespath.org):

``request``  the vendor's request, of our fields: ``model``, ``system``, ``text``, ``pictures`` (each with
             ``media_type``, ``data``, base64, and ``detail``), ``response_format`` (a JSON schema), ``temperature``,
             ``seed``, ``max_tokens``, ``logprobs``, ``top_logprobs``, and others; what is null is left out
``reply``    the reply as chat completions have it: ``choices``, each with ``message`` (``content``, ``refusal``),
             ``finish_reason`` and ``logprobs`` (``content``, a list of tokens; ``rivals``, a list beside it, where
             ``top_logprobs`` lie apart); ``usage`` (``prompt_tokens``, ``completion_tokens``); ``model``

Its table ``batches`` tells how requests are sent by batch, see ``batching``.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gslopes.core import Facts, JsonObject, Names, from_dict, frozen, read_beside, read_toml

_FOLDER = Path(__file__).with_name("dialects")
_FAMILIES = read_beside(__file__, "families.toml")
DIALECTS = tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


@frozen
class Dialect:
    """How the models of one vendor are asked.

    home: address of the API.  key: variable of the key; what does instead may stand behind it, in brackets.
    variables: that may hold another address.
    path: after the address, with ``{model}``.  headers: of each request, with ``{key}``.
    service: of Amazon's, as boto3 names it, which finds the address and whoever asks.
    picture_bytes: of one encoded picture, at most.
    request, reply, batches: see above; without the last it has none.
    """

    home: str
    key: str
    path: str
    headers: dict[str, str]
    request: str
    reply: str = "@"
    variables: Names = ()
    service: str = ""
    picture_bytes: int = 15_000_000
    batches: JsonObject | None = None

    def asked(self, fields: Facts) -> JsonObject:
        """The vendor's request.  fields: see above; those that it has no place for are left out."""
        return shaped(self.request, fields)

    def read(self, body: JsonObject) -> JsonObject:
        """A reply with what chat completions have beside its own fields.  Raises: ValueError for another form."""
        return body | shaped(self.reply, body)


def load_dialect(name: str) -> Dialect:
    """One of ``DIALECTS``."""
    return from_dict(Dialect, read_toml(_FOLDER / f"{name}.toml"), where=f"the dialect {name}")


def shaped(expression: str, value: Any) -> Any:
    """What an expression of JMESPath makes of a value, without nulls."""
    import jmespath

    return _without_nulls(jmespath.search(expression, value))


def family_of(model: str) -> JsonObject:
    """What families.toml says of a model.  model: its name, a blank, and the effort that the user asks for."""
    families = _FAMILIES["families"].values()
    found = (family for family in families if re.search(family["names"], model))
    return dict(_FAMILIES["others"] | next(found, {}))


def spoken(name: str, family: JsonObject, url: str) -> Dialect:
    """The dialect of this name; ``auto``: of the family at its vendor, of another address what is spoken there."""
    if name != "auto":
        return load_dialect(name)
    if url or os.environ.get("OPENAI_BASE_URL"):
        native = (name for name, form in _FAMILIES["native"].items() if re.search(form, url))
        return load_dialect(next(native, "chat"))
    return replace(load_dialect(family["dialect"]), **family["vendor"])


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_without_nulls(inner) for inner in value if inner is not None]
    return value
