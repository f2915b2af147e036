"""Batches as OpenAI documents them, strictly: files of requests, batches of them, files of results and of errors.

Source: https://platform.openai.com/docs/api-reference/batch, https://platform.openai.com/docs/api-reference/files

A batch goes on by one state each time it is looked at: validating, in_progress, finalizing, completed. Its requests are
answered, and billed, as it leaves in_progress, each by the service that answers it alone.
"""

from __future__ import annotations

import json
import re
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.fake_provider.protocol import Bad, Reply, Request, Service

if TYPE_CHECKING:
    from tests.fake_provider.control import FakeProvider

MOST_REQUESTS, MOST_BYTES = 50_000, 200_000_000
STATES = ("validating", "in_progress", "finalizing", "completed")
_ADDRESSES = r"/v1/(files(/[\w-]+/content)?|batches(/[\w-]+(/cancel)?)?)"


@dataclass
class Batches:
    """What was put there, and what it is like; all of it may be changed while it runs.

    there: whether the server has batches.  answered: of a batch, before it expires; None: all.
    invalid: why every batch fails as it is validated; empty: none does.
    event: called with ``uploaded``, ``made``, ``looked`` or ``results`` when that has happened, before the reply leaves.
    """

    there: bool = True
    answered: int | None = None
    invalid: str = ""
    event: Callable[[str], None] = lambda name: None
    files: dict[str, bytes] = field(default_factory=dict)
    made: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)  # method and path of each request
    lock: threading.RLock = field(default_factory=threading.RLock)

    def owns(self, request: Request) -> bool:
        return self.there and re.fullmatch(_ADDRESSES, request.path) is not None

    def handle(self, provider: FakeProvider, service: Service, request: Request) -> Reply:
        """The reply to a request about files or batches.  service: answers each request of a batch."""
        with self.lock:
            self.asked.append(f"{request.method} {request.path}")
            try:
                if request.headers.get("authorization") != f"Bearer {provider.accounts.chat}":
                    raise Bad("credentials", "Incorrect API key provided.")
                content, event = self._done(provider, service, request)
            except Bad as bad:
                return service.error(bad, provider.retry_after)
            except LookupError as error:
                return Reply.of(404, {"error": {"message": str(error), "code": None}})
            self.event(event)
        if isinstance(content, bytes):
            return Reply(200, content, {"Content-Type": "application/octet-stream"})
        return Reply(200, json.dumps(content, indent=2).encode())  # OpenAI's has line breaks

    def _done(self, provider: FakeProvider, service: Service, request: Request) -> tuple[Any, str]:
        what, *names = request.path.split("/")[2:]
        match (request.method, what, names):
            case ("POST", "files", []):
                return self._upload(request), "uploaded"
            case ("GET", "files", [name, "content"]) if name in self.files:
                return self.files[name], "results"
            case ("POST", "batches", []):
                return self._make(json.loads(request.body)), "made"
            case ("GET", "batches", []):
                newest = list(self.made.values())[::-1][: int(request.query.get("limit", 20))]
                return {"object": "list", "data": newest, "has_more": False}, "listed"
            case ("GET", "batches", [name]) if name in self.made:
                self._go_on(self.made[name], provider, service, request)
                return self.made[name], "looked"
            case ("POST", "batches", [name, "cancel"]) if name in self.made:
                self.cancel(name, provider, service, request)
                return self.made[name], "cancelled"
        raise LookupError("No such object.")

    def _upload(self, request: Request) -> dict[str, Any]:
        form, _, boundary = request.headers.get("content-type", "").partition("; boundary=")
        if form != "multipart/form-data" or not boundary:
            raise Bad("invalid", "The request is no form.")
        fields, name = {}, ""
        for part in request.body.split(b"--" + boundary.encode())[1:-1]:
            head, _, content = part.partition(b"\r\n\r\n")
            key = re.search(rb'name="([^"]*)"', head)
            file = re.search(rb'filename="([^"]*)"', head)
            assert key
            name = file[1].decode() if file else name
            fields[key[1].decode()] = content.removesuffix(b"\r\n")
        if set(fields) != {"purpose", "file"} or fields["purpose"] != b"batch":
            raise Bad("invalid", f"Unknown fields, or another purpose than batch: {sorted(fields)}.")
        if not name.endswith(".jsonl"):
            raise Bad("invalid", "Invalid file format: .jsonl is expected.")
        if len(fields["file"]) > MOST_BYTES:
            raise Bad("invalid", "The file is too large.")
        made = f"file-{uuid.uuid4().hex[:12]}"
        self.files[made] = fields["file"]
        size = len(fields["file"])
        return {"id": made, "object": "file", "bytes": size, "purpose": "batch", "filename": name}

    def _make(self, body: dict[str, Any]) -> dict[str, Any]:
        if unknown := set(body) - {"input_file_id", "endpoint", "completion_window", "metadata"}:
            raise Bad("invalid", f"Unknown parameter: '{sorted(unknown)[0]}'.")
        if body.get("input_file_id") not in self.files or body.get("completion_window") != "24h":
            raise Bad("invalid", "No such file, or another window than 24h.")
        if body.get("endpoint") != "/v1/chat/completions":
            raise Bad("invalid", f"Invalid endpoint {body.get('endpoint')!r}.")
        for key, value in body.get("metadata", {}).items():
            if not isinstance(value, str) or len(key) > 64 or len(value) > 512:
                raise Bad("invalid", "Invalid metadata.")
        made = f"batch_{uuid.uuid4().hex[:12]}"
        lines = self.files[body["input_file_id"]].decode().split("\n")
        total = len(lines)
        self.made[made] = {
            "id": made,
            "object": "batch",
            **body,
            "errors": None,
            "status": "validating",
            "output_file_id": None,
            "error_file_id": None,
            "request_counts": {"total": total, "completed": 0, "failed": 0},
        }
        return self.made[made]

    def _problem(self, lines: list[dict[str, Any]], endpoint: str) -> str:
        """Why a file cannot be a batch; empty if it can."""
        names = [line.get("custom_id") for line in lines]
        if len(set(names)) < len(names):
            return "The custom_id of a request was used before."
        if len(lines) > MOST_REQUESTS:
            return "The file has too many requests."
        for line in lines:
            if set(line) != {"custom_id", "method", "url", "body"} or line["method"] != "POST":
                return f"The line has unknown or missing keys: {sorted(line)}."
            if line["url"] != endpoint:
                return "The URL of a request is not the endpoint of the batch."
        if len({line["body"]["model"] for line in lines}) > 1:
            return "The requests are for several models."
        return self.invalid

    def _go_on(
        self, batch: dict[str, Any], provider: FakeProvider, service: Service, request: Request
    ) -> None:
        if batch["status"] not in STATES[:-1]:
            return
        lines = [json.loads(line) for line in self.files[batch["input_file_id"]].split(b"\n")]
        if batch["status"] == "validating" and (problem := self._problem(lines, batch["endpoint"])):
            error = {"code": "invalid_request", "message": problem, "param": None, "line": 1}
            batch |= {"status": "failed", "errors": {"object": "list", "data": [error]}}
            return
        batch["status"] = STATES[STATES.index(batch["status"]) + 1]
        if batch["status"] == "finalizing":
            self._end(batch, lines, self.answered, provider, service, request)
            if self.answered is not None:
                batch["status"] = "expired"

    def cancel(
        self, name: str, provider: FakeProvider, service: Service, request: Request
    ) -> None:
        """End a batch with a third of its requests answered."""
        batch = self.made[name]
        lines = [json.loads(line) for line in self.files[batch["input_file_id"]].split(b"\n")]
        self._end(batch, lines, len(lines) // 3, provider, service, request)
        batch["status"] = "cancelled"

    def _end(
        self,
        batch: dict[str, Any],
        lines: list[dict[str, Any]],
        most: int | None,
        provider: FakeProvider,
        service: Service,
        request: Request,
    ) -> None:
        """Answer requests, the last one first; those beyond ``most`` have expired."""
        good, bad = [], []
        for number, line in enumerate(reversed(lines)):
            row: dict[str, Any] = {"id": f"batch_req_{number}", "custom_id": line["custom_id"]}
            if most is not None and number >= most:
                error = {"code": "batch_expired", "message": "This request could not be executed."}
                bad.append(row | {"response": None, "error": error})
                continue
            alone = Request(
                "POST", line["url"], {}, request.headers, json.dumps(line["body"]).encode()
            )
            reply = provider.answered(service, alone, by_batch=True)
            content = {"status_code": reply.status, "body": json.loads(reply.body)}
            (good if reply.status < 400 else bad).append(row | {"response": content, "error": None})
        for key, rows in (("output_file_id", good), ("error_file_id", bad)):
            if rows:
                batch[key] = f"file-{uuid.uuid4().hex[:12]}"
                self.files[batch[key]] = "".join(json.dumps(row) + "\n" for row in rows).encode()
        batch["request_counts"] |= {"completed": len(good), "failed": len(bad)}
