"""What is asked in a dialect: its key, what an error in a reply means, and parameters not taken.

Each dialect in which language models are asked is one file of data in ``dialects``.  It says where the vendor is and
how it knows who asks, and has two expressions of JMESPath (https://jmespath.org):

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
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from gslopes.ask.classifiers import chat, service
from gslopes.ask.cost import TokenOptions, said
from gslopes.ask.secrets import remember_secret
from gslopes.core import (
    Facts,
    JsonObject,
    Limits,
    Names,
    RequestUsage,
    StorageError,
    Unfinished,
    from_dict,
    frozen,
    hexdigest,
    parse_json,
    read_beside,
    read_json,
    read_toml,
)

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


_MODELS = read_beside(__file__, "models.toml")
_VARIABLE = re.compile(r"env:(\w+)")


@frozen
class CompatibleOptions(TokenOptions):
    """Fields of ``TokenOptions``, and whom to ask.

    model: as the server names it.  url: of the API; empty: the dialect's variable, or the vendor's own.
    key: the name of the environment variable that holds the key, empty: the dialect's; ``entra``: who is signed in at
        Azure.  A server on this machine needs none, nor does one that gets a header from a variable.
    header: of each request; ``env:VARIABLE`` stands for a secret.
    extra: fields of its body, each read as JSON if it is; dots lead into objects.
    """

    model: str = field(kw_only=True)
    url: str = ""
    key: str = ""
    header: Names = ()
    extra: Names = ()


@frozen
class Reply:
    """What came.  good: whether its status is.  refused: the words of a refusal by policy; empty if it is none."""

    body: JsonObject
    good: bool
    refused: str = ""


class CompatibleService(service.OnePictureService):
    """A service that takes one picture a request, and a key that a server on this machine does without.

    Its options are ``CompatibleOptions``; its raw answers have ``usage``, the tokens in and out of each request.
    SECONDS: of a request, at most; 0: as ``ask.transport`` has it.  dialect: None: chat completions.
    """

    SECONDS = 0.0

    def __init__(
        self, name: str, options: Any, device: str = "cpu", dialect: Dialect | None = None
    ) -> None:
        self._dialect = dialect or load_dialect("chat")
        self.ENDPOINT_VARIABLES = self._dialect.variables
        super().__init__(name, options, device)
        self._here = service.on_this_machine(self._address)
        self._home = self._address or self._dialect.home
        self._lock = threading.Lock()
        facts = {"options": options, "models": _MODELS, "today": date.today(), "here": self._here}
        self.notes += said("model.txt.j2", **facts).splitlines()
        self._learned: JsonObject = {"left_out": [], "max_tokens": 0}
        with suppress(StorageError, OSError, ValueError, TypeError):
            self._learned |= read_json(self._memory)
        self._tell(self._learned["left_out"])

    def usage(self, raw: Any) -> RequestUsage:
        """Tokens and money of the last request behind a raw answer, or behind Unfinished."""
        used = raw.usage if isinstance(raw, Unfinished) else raw["usage"][-1]
        return self._options.billed(used)

    @property
    def _variables(self) -> Sequence[str]:
        options = self._options
        if options.key == "entra":
            return service.ENTRA
        named = _VARIABLE.findall(str(options.header))
        return [options.key or next(iter(named), self._dialect.key), *named]

    def _connected(self) -> Any:
        from gslopes.ask import transport

        dialect = self._dialect
        variable = self._variables[0].split()[0]
        signs: Any = None
        if dialect.service:
            key = os.environ.get(variable, "")
            asks = self._amazon(dialect.service, key=key)
            self._home = asks.meta.endpoint_url
            signs = None if key else partial(service.signed, asks)
        elif self._options.key == "entra":
            signs = service.entra_signs(self.SERVICE)
        elif not self._here:
            self._credentials()
        own = (given.split("=", 1) for given in self._options.header)
        headers = {
            name.lower(): _VARIABLE.sub(_value_of, form.replace("{key}", f"env:{variable}"))
            for name, form in (*dialect.headers.items(), *own)
        }
        return transport.Client(headers=headers, seconds=self.SECONDS, auth=signs)

    def _extended(self, body: JsonObject) -> JsonObject:
        """The body of a request, with the fields that the user adds."""
        fields: JsonObject = dict(given.split("=", 1) for given in self._options.extra)
        for name, text in fields.items():
            with suppress(ValueError):
                fields[name] = parse_json(text)
        return service.nested(fields, body)

    def _priced(self, tokens: tuple[int, int], requests: int = 1) -> Limits:
        """Its limits with a picture's price.  tokens: in and out, of all its requests.  requests: about it, at most."""
        options = self._options
        by_tokens = options.price_of(*tokens)
        price = options.price or (0.0 if self._here else None)
        if by_tokens is not None:
            price = by_tokens / 1000
        return replace(
            self.traits.limits,
            price=price,
            note=" ".join([self.traits.limits.note, *self.notes]),
            network=True,
            tokens=tokens,
            requests_per_picture=requests,
            estimated=bool(price and not options.price),
        )

    def _sent(self, method: str, path: str, **sent: Any) -> Any:
        """The reply to a request, as httpx has it.  path: after the address.  sent: as httpx takes it."""
        import httpx

        url = httpx.URL(self._home)
        # .../v1 of the path may stand in the address, too
        base = url.path.rstrip("/").removesuffix("/" + path.split("/")[1])
        return self._client.request(method, url.copy_with(path=base + path), **sent)

    def _exchanged(self, path: str, names: set[str], reply: Any = None, **sent: Any) -> Reply:
        """The reply to a request.

        path: after the address.  names: of the parameters.  reply: if it has come.  sent: as httpx takes it.

        Raises: Unfinished if it is to be asked again without a parameter; the error that the reply holds.
        """
        if reply:  # it may be about a request before this one
            names = names.union(self._learned["left_out"])
        reply = reply or self._sent("POST", path, **sent)
        status = reply.status_code
        good = status < 400
        text = reply.content.decode("utf-8", "replace")
        try:
            body = chat.read(text)
            if good:
                body = self._dialect.read(body)
        except ValueError as error:
            words = str(error)
            if good:
                kind = service.kind_inside({"message": words}, "lost")
                raise self._error(kind, words) from None
            is_page = text.lstrip().startswith("<")
            body = {"error": text if text.strip() and not is_page else words}
        body = {"type": reply.headers.get("x-amzn-errortype", "").partition(":")[0], **body}
        problem = chat.problem_of(body, status)
        if not problem:
            return Reply(body, good)
        kind, words, facts = problem
        if refused := chat.policy_in(facts, status):  # it refuses every time
            return Reply(body, good, refused)
        if good or status in (400, 422):
            unknown = chat.unknown_parameters(facts, names)
            if unknown:
                self._drop(unknown)
        raise self._error(kind, words, reply.headers)

    def _drop(self, names: Sequence[str]) -> None:
        """Ask without these parameters from now on.  Raises: Unfinished."""
        with self._lock:
            fresh = [name for name in names if name not in self._learned["left_out"]]
            self._learned["left_out"] += fresh
            self._tell(fresh)
            self._remember()
        raise Unfinished(f"{', '.join(names)} is not taken.")

    def _tell(self, names: Sequence[str]) -> None:
        self.notes += [f"{self.name} does not take {name}: it is asked without." for name in names]

    # -- what a server tells of a model -------------------------------------------------------------------------------

    @property
    def _memory(self) -> Path:
        """A file beside the answers, without any key, of one model at one address in one month."""
        from gslopes.ask.cache import cache_folder

        effort = getattr(self._options, "reasoning_effort", "")
        about = f"{self._address or self._dialect.home} {self._options.model} {effort}"
        month = time.strftime("%Y-%m")
        return cache_folder() / f"{self.SERVICE}-{month}-{hexdigest(about)[:32]}.json"

    def _remember(self) -> None:
        """Keep for this month what was learned: parameters that are not taken, and how long a reply must be."""
        from gslopes.ask.cache import writable_cache
        from gslopes.core.runfolder import write_json

        with suppress(StorageError):
            writable_cache()
            write_json(self._memory, self._learned)


def _value_of(found: re.Match[str]) -> str:
    """The value of the variable that is named, which no text repeats; ``none`` if there is none."""
    value = os.environ.get(found[1], "none")
    remember_secret(value)
    return value
