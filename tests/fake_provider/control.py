"""The fake as a whole: what it is told to do, and what it did."""

from __future__ import annotations

import hashlib
import json
import random
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.fake_provider import batches, chat, clarifai, pictures, web
from tests.fake_provider.converse import Converse
from tests.fake_provider.gemini import Gemini
from tests.fake_provider.messages import Messages
from tests.fake_provider.protocol import Accounts, Bad, Job, Labels, Reply, Request, Service
from tests.fake_provider.responses import Responses
from tests.fake_provider.vendors import Azure, Google, Imagga, Rekognition

UNIVERSE = "loopback.example"  # in Google's own, its client looks up by itself, at Google, where data may go
LANGUAGE = (chat.Chat, Responses, Messages, Gemini, Converse)
MODELS = tuple(endpoint.name for endpoint in LANGUAGE)
SERVICES = ("google", "rekognition", "clarifai", "azure", "imagga", *MODELS)
_CHECKS = {
    service.name: service.check
    for service in (Google, Rekognition, Azure, Imagga, clarifai.Clarifai, *LANGUAGE)
}

# The ways to fail. ``close``: the connection ends before any work. ``lost``: after it, without a reply. ``truncate``:
# in the middle of the reply (Clarifai: fewer outputs than inputs). The last two are billed, and nobody has the answer.
DELAY = 0.05  # seconds
KINDS = ("throttle", "fail", "unavailable", "close", "lost", "truncate", "delay")
_RAISED = {
    "throttle": ("throttled", "Too many requests: please slow down."),
    "fail": ("failed", "Internal error encountered."),
    "unavailable": ("unavailable", "The service is currently unavailable."),
    "reject": ("credentials", "The credentials were withdrawn."),
}


@dataclass
class Call:
    """One request. Times are of ``time.monotonic``.

    images: sha256 of each picture, in the order of the request.  billed: of those that were judged.
    outcome: ``answered``, or what was wrong.  trouble: the failure that was planted, if any.
    delivered: whether the whole reply was handed to the connection.  by_batch: whether it was part of a batch.
    """

    service: str
    began: float
    ended: float = 0.0
    images: tuple[str, ...] = ()
    billed: tuple[str, ...] = ()
    parameters: dict[str, object] = field(default_factory=dict)
    outcome: str = "open"
    trouble: str = ""
    delivered: bool = False
    by_batch: bool = False


@dataclass
class Log:
    """Every call since the beginning, in the order of arrival."""

    calls: list[Call] = field(default_factory=list)

    def of(self, service: str) -> list[Call]:
        return [call for call in self.calls if call.service == service]

    def billed(self, service: str) -> list[str]:
        """sha256 of the pictures that were judged, as often as they were."""
        return [image for call in self.of(service) for image in call.billed]

    def clear(self) -> None:
        self.calls.clear()


class FakeProvider:
    """Five services and a language model on two loopback ports.

    A context manager; everything can be changed while it runs.
    """

    def __init__(self, seed: int = 0) -> None:
        self.log = Log()
        self._folder = tempfile.TemporaryDirectory(prefix="fake-provider-")
        self._lock = threading.Lock()
        self._seed = seed
        self.reset()
        self.accounts, self._service_account = _accounts(Path(self._folder.name))

    # --- being told ---

    def reset(self) -> None:
        """As it was in the beginning, on the same ports and with the same credentials."""
        self.log.clear()
        self.slopes: dict[str, Mapping[str, float]] = dict(pictures.PLANTED)
        self.known: Mapping[
            str, Mapping[str, Labels]
        ] = {}  # service to sha256 of a picture to its labels
        self.chat = chat.ChatSettings()
        self.batches = batches.Batches()
        self.clarifai_success = (
            10000  # what Clarifai calls a success; 10001 and 10002: of a model that will end
        )
        self.versions = {service: f"{service}-1.0" for service in SERVICES}
        self.retry_after = (
            0.0  # what a throttled request is told to wait, in seconds; 0: it is told nothing
        )
        self._lot = random.Random(self._seed)
        self._refused: Callable[[str], bool] = lambda sha256: False
        self._changes: dict[str, tuple[int, str]] = {}
        self._answered = dict.fromkeys(SERVICES, 0)
        self.heal()

    def trouble(
        self, share: float, kinds: Iterable[str] = KINDS, services: Iterable[str] = SERVICES
    ) -> None:
        """Let this share of the requests fail, each in one of these ways, drawn by lot."""
        kinds = tuple(kinds)
        assert set(kinds) <= {*KINDS, "reject"}
        self._trouble = (share, kinds, frozenset(services))
        self._bag: list[str] = []

    def heal(self) -> None:
        """No more trouble."""
        self.trouble(0.0, ())

    def refuse(self, which: Iterable[str] | float) -> None:
        """Refuse these pictures for good: a set of sha256, or the share of all that falls by their sha256."""
        if isinstance(which, float):
            self._refused = lambda sha256: int(sha256[:8], 16) < which * 2**32
        else:
            self._refused = frozenset(which).__contains__

    def change_version(self, service: str, version: str, after: int = 0) -> None:
        """Answer with another model version once so many more requests were answered."""
        self._changes[service] = (self._answered[service] + after, version)

    # --- what a client needs ---

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def credentials(self) -> dict[str, str]:
        """Environment variables with the credentials that are accepted."""
        return {
            "OPENAI_API_KEY": self.accounts.chat,
            "ANTHROPIC_API_KEY": self.accounts.anthropic,
            "GEMINI_API_KEY": self.accounts.gemini,
            "GOOGLE_APPLICATION_CREDENTIALS": str(self._service_account),
            "AWS_ACCESS_KEY_ID": self.accounts.aws_key,
            "AWS_SECRET_ACCESS_KEY": self.accounts.aws_secret,
            "AWS_DEFAULT_REGION": "us-east-1",
            "CLARIFAI_PAT": self.accounts.clarifai,
            "VISION_KEY": self.accounts.azure,
            "IMAGGA_API_KEY": self.accounts.imagga_key,
            "IMAGGA_API_SECRET": self.accounts.imagga_secret,
        }

    @property
    def endpoints(self) -> dict[str, str]:
        """Environment variables that point the clients here."""
        return {
            "GOOGLE_VISION_ENDPOINT": self.address,
            "OPENAI_BASE_URL": f"{self.address}/v1",
            "ANTHROPIC_BASE_URL": self.address,
            "GOOGLE_GEMINI_BASE_URL": self.address,
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": self.address,
            "GOOGLE_CLOUD_UNIVERSE_DOMAIN": UNIVERSE,
            "AWS_ENDPOINT_URL_REKOGNITION": self.address,
            "CLARIFAI_GRPC_BASE": f"http://127.0.0.1:{self._grpc_port}",
            "VISION_ENDPOINT": self.address,
            "IMAGGA_ENDPOINT": self.address,
        }

    @property
    def environment(self) -> dict[str, str]:
        return self.credentials | self.endpoints

    @property
    def secrets(self) -> list[str]:
        """Every text that no output may hold."""
        private = json.loads(self._service_account.read_text())["private_key"].splitlines()[1:-1]
        keys = self.accounts
        plain = [
            keys.aws_key,
            keys.aws_secret,
            keys.clarifai,
            keys.azure,
            keys.imagga_key,
            keys.imagga_secret,
        ]
        models = [keys.chat, keys.anthropic, keys.gemini, keys.bedrock]
        return [*private, *plain, *models, keys.google_key]

    # --- working ---

    def __enter__(self) -> FakeProvider:
        self._port, stop_http = web.serve(self)
        self._grpc_port, stop_grpc = clarifai.serve(self, threads=32)
        self._stops = (stop_http, stop_grpc)
        return self

    def __exit__(self, *_: object) -> None:
        for stop in self._stops:
            stop()
        self._folder.cleanup()

    @contextmanager
    def call(self, service: str) -> Iterator[Call]:
        """One line of the log, from the request's arrival to the end of its reply."""
        call = Call(service, time.monotonic())
        with self._lock:
            self.log.calls.append(call)
        try:
            yield call
            call.delivered = call.trouble not in ("lost", "truncate", "close")
        finally:
            call.ended = time.monotonic()

    def reply_of(self, service: Service, request: Request, call: Call) -> Reply:
        """The reply to one request.  Raises: ConnectionError as ``work``."""
        try:
            try:
                job = service.read(request, self.accounts)
            except (KeyError, TypeError, AttributeError) as error:
                raise Bad("invalid", f"The request is not what is documented: {error!r}") from error
            results, version = self.work(call, job)
            return service.answer(job, results, version)
        except Bad as bad:
            call.outcome = bad.kind
            return service.error(bad, self.retry_after)

    def answered(self, request: Request) -> Reply:
        """The reply to one request of a batch."""
        service = web.service_of(self, request)
        assert service is not None
        with self.call(service.name) as call:
            call.by_batch = True
            try:
                return self.reply_of(service, request, call)
            except ConnectionError:  # within the vendor's own house
                return service.error(Bad("failed", "Internal error."), 0.0)

    def work(self, call: Call, job: Job) -> tuple[list[Labels | Bad], str]:
        """Judge the pictures of a valid request, or fail as told: what each shows, and the model's version.

        Raises: Bad; ConnectionError if the connection shall end without a reply.
        """
        call.images = tuple(hashlib.sha256(image).hexdigest() for image in job.images)
        call.parameters = job.parameters
        call.trouble = self._draw(call.service)
        if call.trouble in _RAISED:
            raise Bad(*_RAISED[call.trouble])
        if call.trouble == "close":
            call.outcome = "closed"
            raise ConnectionError
        time.sleep(DELAY if call.trouble == "delay" else 0)
        results = [
            self._look(call.service, image, name)
            for image, name in zip(job.images, call.images, strict=True)
        ]
        call.billed = tuple(
            name
            for name, result in zip(call.images, results, strict=True)
            if not isinstance(result, Bad)
        )
        call.outcome = "answered"
        if call.trouble == "lost":
            raise ConnectionError
        return results, self._version(call.service)

    def _look(self, service: str, image: bytes, sha256: str) -> Labels | Bad:
        try:
            _CHECKS[service](image)
            pixels = pictures.decode(image)
        except Bad as bad:
            return bad
        except (OSError, ValueError):
            return Bad("format", "The picture is damaged.")
        if self._refused(sha256):
            return Bad("policy", "The picture is not judged: content policy.")
        if service in MODELS:
            return [*zip("au", pictures.place(pixels), strict=True)]
        expected = self.known.get(service, {}).get(sha256)
        return pictures.labels(pixels, self.slopes[service]) if expected is None else expected

    def _draw(self, service: str) -> str:
        share, kinds, services = self._trouble
        with self._lock:
            if not kinds or service not in services or self._lot.random() >= share:
                return ""
            if not self._bag:  # every kind comes once before any comes twice
                self._bag = self._lot.sample(kinds, len(kinds))
            return self._bag.pop()

    def _version(self, service: str) -> str:
        with self._lock:
            self._answered[service] += 1
            after, version = self._changes.get(service, (0, ""))
            if version and self._answered[service] > after:
                self.versions[service] = version
            return self.versions[service]


def _accounts(folder: Path) -> tuple[Accounts, Path]:
    """Fresh credentials, and the file of a Google service account."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    plain = serialization.NoEncryption()
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain
    ).decode()
    spki = serialization.PublicFormat.SubjectPublicKeyInfo
    public = key.public_key().public_bytes(serialization.Encoding.PEM, spki).decode()
    file = folder / "service-account.json"
    content = {
        "type": "service_account",
        "project_id": "fake",
        "private_key_id": secrets.token_hex(20),
        "private_key": private,
        "client_email": "audit@fake.iam.gserviceaccount.com",
        "client_id": "1",
        "universe_domain": UNIVERSE,
        "token_uri": "http://127.0.0.1:9/token",  # nobody is there: the client signs its tokens itself
    }
    file.write_text(json.dumps(content))
    aws = "AKIA" + secrets.token_hex(8).upper()
    plant = [f"planted-{secrets.token_hex(16)}" for _ in range(10)]
    return Accounts(public, aws, *plant), file
