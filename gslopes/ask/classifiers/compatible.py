"""What is asked in a dialect: its key, what an error in a reply means, and parameters not taken."""

import os
import threading
from collections.abc import Sequence
from dataclasses import field, replace
from datetime import date
from functools import partial
from typing import Any

from gslopes.ask.classifiers import chat, service
from gslopes.ask.classifiers.dialect import Dialect, load_dialect
from gslopes.ask.cost import TokenOptions, said
from gslopes.ask.secrets import remember_secret
from gslopes.core import frozen
from gslopes.core.config import read_beside
from gslopes.core.errors import Unfinished
from gslopes.core.files import JsonObject
from gslopes.core.traits import Limits, RequestUsage

_MODELS = read_beside(__file__, "models.toml")


@frozen
class CompatibleOptions(TokenOptions):
    """Fields of ``TokenOptions``, and whom to ask.

    model: as the server names it.  url: of the API; empty: the dialect's variable, or the vendor's own.
    key: the name of the environment variable that holds the key, empty: the dialect's; a server on this machine needs
        none.
    """

    model: str = field(kw_only=True)
    url: str = ""
    key: str = ""


@frozen
class Reply:
    """What came.  good: whether its status is.  refused: the words of a refusal by policy; empty if it is none."""

    body: JsonObject
    good: bool
    refused: str = ""


class CompatibleService(service.OnePictureService):
    """A service that takes one picture a request, and a key that a server on this machine does without.

    Its options are ``CompatibleOptions``; its raw answers have ``usage``, the tokens in and out of each request.
    SECONDS: of a request, at most; 0: as ``ask.transport`` has it.
    """

    SECONDS = 0.0

    def __init__(self, name: str, options: Any, device: str = "cpu") -> None:
        self._dialect = self._spoken(options)
        self.ENDPOINT_VARIABLES = self._dialect.variables
        super().__init__(name, options, device)
        self._here = service.on_this_machine(self._address)
        self._home = self._address or self._dialect.home
        self._lock = threading.Lock()
        self._dropped: set[str] = set()  # parameters that this server does not take
        known = said(
            "model.txt.j2", options=options, models=_MODELS, today=date.today(), here=self._here
        )
        self.notes += known.splitlines()

    def usage(self, raw: Any) -> RequestUsage:
        """Tokens and money of the last request behind a raw answer, or behind Unfinished."""
        used = raw.usage if isinstance(raw, Unfinished) else raw["usage"][-1]
        return self._options.billed(used)

    def _spoken(self, options: Any) -> Dialect:
        """The dialect in which it is asked."""
        del options
        return load_dialect("chat")

    @property
    def _variables(self) -> Sequence[str]:
        return [self._options.key or self._dialect.key]

    def _connected(self) -> service.Connected:
        from gslopes.ask import transport

        dialect = self._dialect
        key = os.environ.get(self._variables[0].split()[0], "")
        signs = None
        if dialect.service:
            asks = service.amazon(
                dialect.service,
                self.SERVICE,
                self._variables,
                key=key,
                endpoint_url=self._address or None,
            )
            self._home = asks.meta.endpoint_url
            signs = None if key else partial(service.signed, asks)
        elif not self._here:
            self._credentials()
        remember_secret(key)
        headers = {name: form.format(key=key or "none") for name, form in dialect.headers.items()}
        client = transport.client(headers=headers, seconds=self.SECONDS, auth=signs)
        return client, client.close

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
            names = names | self._dropped
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
            fresh = [name for name in names if name not in self._dropped]
            self.notes += [
                f"{self.name} does not take {name}: it is asked without." for name in fresh
            ]
            self._dropped.update(fresh)
        raise Unfinished(f"{', '.join(names)} is not taken.")
