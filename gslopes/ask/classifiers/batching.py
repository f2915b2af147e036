"""Requests that are sent by batch, for a lower price and within a day.

The walk is the usual one. The requests that a picture needs are *posted*, and the picture waits; when all pictures were
looked at, what is posted leaves as a batch. When this has come, each picture is asked about again, and its request
finds its reply. So refusals, parameters that are not taken and further requests are as ever. What a batch leaves open
goes into the next one.

With each picture the cache keeps where it was posted before that leaves: first the time, which is our name of the
batch, then the vendor's name. After a kill in between, the vendor's list tells whether the batch was made. A picture is
claimed as always, so that no kill lets a request be paid twice, and no two commands send the same.

How a vendor takes batches is data, the table ``batches`` of its file in ``dialects``:

``discount``        what a request costs, as a share of its price
``bytes``           of one batch, about.  ``limits``: instead of those of single requests
``lines``           an expression of JMESPath: the requests as the vendor takes them, of ``name`` and ``request`` each
``form``            sent with a file of them, if ``upload`` says where it goes; else the batch itself holds them
``body``            what makes a batch, of ``name``, ``lines`` and ``file``

and one table for each exchange: ``method``, ``path`` after the address of the API, and ``read``, an expression of what
the objects of the reply tell:

``upload``          the vendor's name of the file
``make``            with the name of the model at ``{}``: the vendor's name of the batch
``list``            the vendor's name of the batch that we named ``NAME``, or of the first since then
``look``            at the batch ``{}``: ``state``, in words; ``files``, where its results are, false until it has ended
``results``         in the file ``{}``: those that count, each with ``name``, ``status`` (of HTTP) and ``body``
"""

import json
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from threading import Event
from typing import Any

from gslopes.ask.classifiers.compatible import CompatibleService, Dialect, shaped
from gslopes.ask.classifiers.resuming import Begun
from gslopes.ask.retry import RETRYABLE, Stopped
from gslopes.core import ConfigError, JsonObject, ServiceError

NONE = ("Whoever answers for this model takes no batches.", "Leave out --batch.")
PAUSE = 20.0  # seconds between looks at batches


class Batching(CompatibleService):
    """A service that may be asked by batch, by one thread then.

    batches: how; empty if it is asked at once.

    Raises: ConfigError if its dialect has no batches.
    """

    def __init__(self, name: str, options: Any, device: str, dialect: Dialect) -> None:
        self.batches: JsonObject = {}
        if options.by_batch:
            self.batches = dialect.batches or {}
            if not self.batches:
                raise ConfigError(*NONE)
            self.SECONDS = 3600.0
            share = self.batches["discount"]
            options = replace(
                options,
                price=options.price * share,
                price_in=options.price_in * share,
                price_out=options.price_out * share,
            )
        super().__init__(name, options, device, dialect)
        self._posted: list[JsonObject] = []  # requests, each with its ``name``
        self._waiting: list[Begun] = []  # pictures that they are about
        self._come: dict[str, bool | None] = {"": True}  # by batch; None: of an earlier command
        self._delivery: JsonObject = {}  # by name of a request

    def prepare(self) -> None:
        """As ``Service.prepare``; finds out whether the server has batches, too."""
        super().prepare()
        if self.batches:
            self._told("list")

    def wait(self, halt: Event) -> None:
        """Send what is posted, and wait until all has come, or until ``halt`` is set.

        Raises: ServiceError if a batch brings nothing; CredentialsError.
        """
        self._submit()
        while not halt.wait(PAUSE) and not all(self._come.values()):
            for batch, come in list(self._come.items()):
                with suppress(*RETRYABLE):
                    self._come[batch] = come or self._look(batch)

    def _delivered(self, known: Begun, due: list[JsonObject]) -> Any:
        """The reply to the first of the requests that a picture needs; they leave if they have not.

        due: each with ``name`` and ``request``.

        Raises: Stopped while it is out.
        """
        if reply := self._delivery.pop(due[0]["name"], None):
            return reply
        if self._come.setdefault(known.batch, None):
            self._posted += due
            self._waiting.append(known)
            if len(self._posted) * len(str(due)) > self.batches["bytes"]:
                self._submit()
        raise Stopped

    def _submit(self) -> None:
        """Make a batch of what is posted; if it is not known whether it was made, the next look finds out."""
        if not self._posted:
            return
        batch = datetime.now(UTC).isoformat()
        for known in self._waiting:
            known.note(batch)
        lines = shaped(self.batches["lines"], self._posted)
        facts = {"name": batch, "lines": lines}
        with suppress(*RETRYABLE):
            if form := self.batches.get("form"):
                file = {"file": ("requests.jsonl", "\n".join(map(json.dumps, lines)))}
                facts["file"] = self._told("upload", data=form, files=file)
            body = shaped(self.batches["body"], facts)
            batch = self._told("make", self._options.model, json=body)
            self.notes.append(
                f"batch      {batch}: sent. Stop with Ctrl-C, and come back with the same command."
            )
        for known in self._waiting:
            known.note(batch)
        self._come[batch] = False
        self._posted = []
        self._waiting = []

    def _look(self, batch: str) -> bool:
        """Whether a batch has come; its replies are there then."""
        import httpx

        if ":" in batch:  # our name
            batch = self._told("list", batch)
            if not batch:
                return True
        state = self._told("look", batch)
        self.notes.append(f"batch      {batch}: {state['state']}.")
        if state["files"] is False:
            return False
        if not state["files"] and self._come.get(batch) is False:
            raise self._error("service", state["state"])
        for file in state["files"]:
            for reply in self._told("results", file):
                self._delivery[reply["name"]] = httpx.Response(reply["status"], json=reply["body"])
        return True

    def _told(self, what: str, name: str = "", **sent: Any) -> Any:
        """What the reply to a request about batches tells."""
        step = self.batches[what]
        with self._our_errors():
            reply = self._sent(step["method"], step["path"].format(name), **sent)
            if reply.status_code in (404, 405, 501):
                raise ServiceError(*NONE)
            if reply.status_code >= 400:
                self._exchanged("", set(), reply)
        try:  # one JSON object, or lines of them
            told = json.loads(f"[{reply.text.strip()}]".replace("}\n{", "},{"))
            return shaped(step["read"].replace("NAME", name), told)
        except ValueError:
            words = f"its reply about batches is of another form: {reply.text[:80]!r}"
            raise self._error("service", words) from None
