"""Batches as OpenAI, Anthropic and Google document them, strictly.

Source: https://platform.openai.com/docs/api-reference/batch, https://platform.openai.com/docs/api-reference/files,
https://platform.claude.com/docs/en/api/messages/batches/create, https://ai.google.dev/api/batch-api

A batch goes on by one state each time it is looked at: of OpenAI validating, in_progress, finalizing, completed. Its
requests are answered, and billed, as it leaves the second, each by the service that answers it alone, the last one
first.
"""

from __future__ import annotations

import json
import re
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.fake_provider.protocol import Bad, Reply, Request

if TYPE_CHECKING:
    from tests.fake_provider.control import FakeProvider

MOST_REQUESTS, MOST_BYTES = 50_000, 200_000_000
STATES = ("validating", "in_progress", "finalizing", "completed")
OPENAI = r"/v1/(files(/[\w-]+/content)?|batches(/[\w-]+(/cancel)?)?)"
ANTHROPIC = r"/v1/messages/batches(/[\w-]+(/results)?)?"
GOOGLE = r"/v1beta/(models/[^/]+:batchGenerateContent|batches(/[\w-]+)?)"
ENDPOINTS = ("/v1/chat/completions", "/v1/responses")


@dataclass
class Batches:
    """What was put there, and what it is like; all of it may be changed while it runs.

    there: whether the server has batches.  answered: of a batch, before it expires; None: all.
    invalid: why every batch fails as it is validated; empty: none does.
    event: called with ``uploaded``, ``made``, ``looked`` or ``results`` before the reply that says so leaves.
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
        addresses = (OPENAI, ANTHROPIC, GOOGLE)
        return self.there and any(re.fullmatch(form, request.path) for form in addresses)

    def handle(self, provider: FakeProvider, request: Request) -> Reply:
        """The reply to a request about files or batches."""
        with self.lock:
            self.asked.append(f"{request.method} {request.path}")
            _, _, what, *names = request.path.split("/")
            try:
                if what == "messages":
                    content, event = self._anthropic(provider, request, names[1:])
                elif request.path.startswith("/v1beta"):
                    content, event = self._google(provider, request, what, names)
                else:
                    content, event = self._openai(provider, request, what, names)
            except Bad as bad:
                status = {"credentials": 401}.get(bad.kind, 400)
                error = {"message": str(bad), "type": "invalid_request_error", "code": None}
                return Reply.of(status, {"error": error})
            except LookupError as error:
                return Reply.of(404, {"error": {"message": str(error), "code": None}})
            self.event(event)
        if isinstance(content, bytes):
            return Reply(200, content, {"Content-Type": "application/octet-stream"})
        return Reply(200, json.dumps(content, indent=2).encode())  # the vendors' have line breaks

    # -- OpenAI's -----------------------------------------------------------------------------------------------------

    def _openai(
        self, provider: FakeProvider, request: Request, what: str, names: list[str]
    ) -> tuple[Any, str]:
        if request.headers.get("authorization") != f"Bearer {provider.accounts.chat}":
            raise Bad("credentials", "Incorrect API key provided.")
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
                self._go_on(self.made[name], provider, request)
                return self.made[name], "looked"
            case ("POST", "batches", [name, "cancel"]) if name in self.made:
                batch = self.made[name]  # a third is answered by then
                self._end(batch, self._lines(batch), provider, request, True)
                batch["status"] = "cancelled"
                return batch, "cancelled"
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
            raise Bad(
                "invalid", f"Unknown fields, or another purpose than batch: {sorted(fields)}."
            )
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
        if body.get("endpoint") not in ENDPOINTS:
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

    def _lines(self, batch: dict[str, Any]) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.files[batch["input_file_id"]].split(b"\n")]

    def _go_on(self, batch: dict[str, Any], provider: FakeProvider, request: Request) -> None:
        if batch["status"] not in STATES[:-1]:
            return
        lines = self._lines(batch)
        if batch["status"] == "validating" and (problem := self._problem(lines, batch["endpoint"])):
            error = {"code": "invalid_request", "message": problem, "param": None, "line": 1}
            batch |= {"status": "failed", "errors": {"object": "list", "data": [error]}}
            return
        batch["status"] = STATES[STATES.index(batch["status"]) + 1]
        if batch["status"] == "finalizing":
            self._end(batch, lines, provider, request)
            if self.answered is not None:
                batch["status"] = "expired"

    def _end(
        self,
        batch: dict[str, Any],
        lines: list[dict[str, Any]],
        provider: FakeProvider,
        request: Request,
        cancelled: bool = False,
    ) -> None:
        good, bad = [], []
        most = len(lines) // 3 if cancelled else self.answered
        asked = [(line["custom_id"], line["url"], line["body"]) for line in lines]
        for name, reply in self._replies(asked, provider, request, most):
            row: dict[str, Any] = {"id": f"batch_req_{name}", "custom_id": name}
            if reply is None:
                error = {"code": "batch_expired", "message": "This request could not be executed."}
                bad.append(row | {"response": None, "error": error})
                continue
            content = {"status_code": reply.status, "body": json.loads(reply.body)}
            (good if reply.status < 400 else bad).append(row | {"response": content, "error": None})
        for key, rows in (("output_file_id", good), ("error_file_id", bad)):
            if rows:
                batch[key] = f"file-{uuid.uuid4().hex[:12]}"
                self.files[batch[key]] = "".join(json.dumps(row) + "\n" for row in rows).encode()
        batch["request_counts"] |= {"completed": len(good), "failed": len(bad)}

    def _replies(
        self,
        asked: list[tuple[str, str, dict[str, Any]]],
        provider: FakeProvider,
        request: Request,
        most: int | None,
    ) -> list[tuple[str, Reply | None]]:
        """Each request by name, path and body, the last one first, with its reply; None beyond ``most``."""
        replies: list[tuple[str, Reply | None]] = []
        headers = {**request.headers, "content-type": "application/json"}
        for number, (name, path, body) in enumerate(reversed(asked)):
            alone = Request("POST", path, {}, headers, json.dumps(body).encode())
            late = most is not None and number >= most
            replies.append((name, None if late else provider.answered(alone)))
        return replies

    # -- Anthropic's --------------------------------------------------------------------------------------------------

    def _anthropic(
        self, provider: FakeProvider, request: Request, names: list[str]
    ) -> tuple[Any, str]:
        if request.headers.get("x-api-key") != provider.accounts.anthropic:
            raise Bad("credentials", "invalid x-api-key")
        if "anthropic-version" not in request.headers:
            raise Bad("invalid", "anthropic-version: header is required")
        match (request.method, names):
            case ("POST", []):
                body = json.loads(request.body)
                if set(body) != {"requests"} or len(request.body) > 256_000_000:
                    raise Bad("invalid", f"Extra inputs are not permitted: {sorted(body)}")
                ids = [one.get("custom_id") for one in body["requests"]]
                if any(set(one) != {"custom_id", "params"} for one in body["requests"]):
                    raise Bad("invalid", "requests.0: Extra inputs are not permitted")
                if len(set(ids)) < len(ids) or len(ids) > 100_000:
                    raise Bad("invalid", "requests: custom_id must be unique")
                if not all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", one) for one in ids):
                    raise Bad("invalid", "requests.0.custom_id: String should match pattern")
                name = f"msgbatch_{uuid.uuid4().hex[:12]}"
                counts = dict.fromkeys(("canceled", "errored", "expired", "succeeded"), 0)
                self.made[name] = {
                    "id": name,
                    "type": "message_batch",
                    "processing_status": "in_progress",
                    "request_counts": counts | {"processing": len(ids)},
                    "created_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
                    "results_url": None,
                    "_requests": body["requests"],
                    "_looks": 0,
                }
                return self._public(name), "made"
            case ("GET", []):
                newest = [self._public(name) for name in list(self.made)[::-1]]
                return {"data": newest[:20], "has_more": False}, "listed"
            case ("GET", [name]) if name in self.made:
                self._go_on_anthropic(self.made[name], provider, request)
                return self._public(name), "looked"
            case ("GET", [name, "results"]) if name in self.files:
                return self.files[name], "results"
        raise LookupError("No such object.")

    def _public(self, name: str) -> dict[str, Any]:
        return {key: value for key, value in self.made[name].items() if key[0] != "_"}

    def _go_on_anthropic(
        self, batch: dict[str, Any], provider: FakeProvider, request: Request
    ) -> None:
        batch["_looks"] += 1
        if batch["_looks"] != 2:
            return
        asked = [(one["custom_id"], "/v1/messages", one["params"]) for one in batch["_requests"]]
        rows = []
        counts = dict.fromkeys(batch["request_counts"], 0)
        for name, reply in self._replies(asked, provider, request, self.answered):
            result: dict[str, Any] = {"type": "expired"}
            if reply is not None:
                body = json.loads(reply.body)
                result = {"type": "errored", "error": body}
                if reply.status < 400:
                    result = {"type": "succeeded", "message": body}
            counts[result["type"]] += 1
            rows.append({"custom_id": name, "result": result})
        self.files[batch["id"]] = "".join(json.dumps(row) + "\n" for row in rows).encode()
        url = f"{provider.address}/v1/messages/batches/{batch['id']}/results"
        batch |= {"processing_status": "ended", "request_counts": counts, "results_url": url}

    # -- Google's -----------------------------------------------------------------------------------------------------

    def _google(
        self, provider: FakeProvider, request: Request, what: str, names: list[str]
    ) -> tuple[Any, str]:
        if request.headers.get("x-goog-api-key") != provider.accounts.gemini:
            raise Bad("credentials", "API key not valid. Please pass a valid API key.")
        match (request.method, what, names):
            case ("POST", "models", [method]):
                body = json.loads(request.body)
                batch = body.get("batch", {})
                requests = batch.get("inputConfig", {}).get("requests", {}).get("requests")
                if set(body) != {"batch"} or set(batch) != {"displayName", "inputConfig"}:
                    raise Bad("invalid", f"Unknown name: {sorted(batch)}")
                if not requests or any(set(one) != {"request", "metadata"} for one in requests):
                    raise Bad("invalid", "Unknown name at 'batch.input_config.requests'")
                if len(request.body) > 20_000_000:
                    raise Bad("invalid", "Request payload size exceeds the limit: 20971520 bytes.")
                name = f"batches/{uuid.uuid4().hex[:12]}"
                self.made[name] = {
                    "name": name,
                    "metadata": {
                        "@type": "GenerateContentBatch",
                        "displayName": batch["displayName"],
                        "state": "BATCH_STATE_PENDING",
                        "batchStats": {"requestCount": str(len(requests))},
                    },
                    "_requests": requests,
                    "_path": f"/v1beta/models/{method.partition(':')[0]}:generateContent",
                    "_looks": 0,
                }
                return self._public(name), "made"
            case ("GET", "batches", []):
                newest = [self._public(name) for name in list(self.made)[::-1]]
                return ({"operations": newest} if newest else {}), "listed"
            case ("GET", "batches", [name]) if f"batches/{name}" in self.made:
                self._go_on_google(self.made[f"batches/{name}"], provider, request)
                return self._public(f"batches/{name}"), "looked"
        raise LookupError("No such object.")

    def _go_on_google(
        self, batch: dict[str, Any], provider: FakeProvider, request: Request
    ) -> None:
        batch["_looks"] += 1
        batch["metadata"]["state"] = "BATCH_STATE_RUNNING"
        if batch["_looks"] < 2:
            return
        batch["metadata"]["state"] = "BATCH_STATE_SUCCEEDED"
        if batch["_looks"] > 2:
            return
        asked = [
            (one["metadata"]["key"], batch["_path"], one["request"]) for one in batch["_requests"]
        ]
        rows = []
        for name, reply in self._replies(asked, provider, request, self.answered):
            error = {"code": 4, "message": "Deadline expired before operation could complete."}
            row: dict[str, Any] = {"error": error}
            if reply is not None:
                body = json.loads(reply.body)
                row = {"response": body}
                if reply.status >= 400:
                    row = {"error": {"code": 3, "message": body["error"]["message"]}}
            rows.append(row | {"metadata": {"key": name}})
        response = {"@type": "GenerateContentBatch", "inlinedResponses": {"inlinedResponses": rows}}
        batch |= {"done": True, "response": response}
        good = sum("response" in row for row in rows)
        batch["metadata"]["batchStats"]["successfulRequestCount"] = str(good)
