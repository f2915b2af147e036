"""``clarifai``: a classifier that Clarifai hosts, through its official gRPC client.

Unless asked otherwise, general-image-recognition. Clarifai ended most of its older models on 2025-12-31;
``clarifai:model=MODEL,user=USER,app=APP`` asks any other that gives concepts, one's own as well.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from gslopes.core.errors import ConfigError, CredentialsError, GslopesError
from gslopes.core.records import Answer
from gslopes.score.classifiers import wire
from gslopes.score.classifiers.services import SERVICES
from gslopes.score.limits import ServiceOptions
from gslopes.score.scrub import guard_logs, scrub

VARIABLES = ("CLARIFAI_PAT",)
ADDRESS, USER, APP, MODEL = "api.clarifai.com", "clarifai", "main", "general-image-recognition"
_MESSAGE = 1024 * 1024 * 1024  # bytes, as in the vendor's own channel
_SUCCESS, _MIXED, _FAILURE = 10000, 10010, 10020
_DEPRECATED = (10001, 10002)  # successes all the same: the model, or its version, is going to end
_ANSWERED = (_SUCCESS, *_DEPRECATED)

# gRPC's status codes by name. What is said about a whole message is never about one picture.
ERRORS: Mapping[str, wire.Kind] = {
    "CANCELLED": "lost",
    "UNKNOWN": "unavailable",
    "INVALID_ARGUMENT": "failed",
    "DEADLINE_EXCEEDED": "lost",
    "NOT_FOUND": "service",
    "ALREADY_EXISTS": "failed",
    "PERMISSION_DENIED": "credentials",
    "RESOURCE_EXHAUSTED": "throttled",
    "FAILED_PRECONDITION": "failed",
    "ABORTED": "unavailable",
    "OUT_OF_RANGE": "failed",
    "UNIMPLEMENTED": "service",
    "INTERNAL": "unavailable",
    "UNAVAILABLE": "unavailable",
    "DATA_LOSS": "lost",
    "UNAUTHENTICATED": "credentials",
}
# Other classes that the vendor's client may raise.
CLASSES: Mapping[str, wire.Kind] = {
    "grpc.FutureTimeoutError": "lost",
    "grpc.FutureCancelledError": "lost",
    "grpc.RpcError": "unavailable",
    "grpc._channel._InactiveRpcError": "unavailable",
    "clarifai_grpc.channel.exceptions.ClarifaiException": "failed",
    "clarifai_grpc.channel.errors.ApiError": "unavailable",
    "clarifai_grpc.channel.errors.UsageError": "service",
}
# Clarifai's own codes: the first range that holds a code decides, https://docs.clarifai.com.
CODES: tuple[tuple[int, int, wire.Kind], ...] = (
    (10030, 10030, "unavailable"),  # try again
    (11003, 11003, "throttled"),  # by the hour
    (11005, 11005, "throttled"),
    (11004, 11006, "service"),  # by the month, or by the plan
    (11000, 11009, "credentials"),
    (11200, 11200, "credentials"),
    (11100, 11199, "failed"),
    (21200, 21200, "service"),
    (21201, 21201, "credentials"),
    (21350, 21355, "unavailable"),  # not deployed yet, loading, busy
    (30000, 30003, "unavailable"),
    (30100, 30399, "refused"),
    (39996, 39998, "unavailable"),  # connection, maintenance
    (40010, 40037, "unavailable"),  # database, remote calls
    (60000, 69999, "service"),  # licence, billing
    (98000, 98999, "unavailable"),  # internal
    (99001, 99009, "unavailable"),
)


@dataclass(frozen=True, slots=True)
class ClarifaiOptions(ServiceOptions):
    """What to ask for.

    max_concepts: labels a picture at most; Clarifai gives 20 unless asked, and 200 at most.
    min_value: labels with a lower score are left out, in [0, 1].
    model, model_version, user, app: which model; a version of it, empty: the newest; whose, and in which app.
    endpoint: another address; empty: ``CLARIFAI_GRPC_BASE`` or Clarifai's own. With ``http://``: no encryption.
    """

    max_concepts: int = 200
    min_value: float = 0.0
    model: str = MODEL
    model_version: str = ""
    user: str = USER
    app: str = APP
    endpoint: str = ""

    def __post_init__(self) -> None:
        ServiceOptions.__post_init__(self)
        if not 1 <= self.max_concepts <= 200 or not 0 <= self.min_value <= 1:
            raise ConfigError("clarifai's max_concepts must be from 1 to 200, and its min_value in [0, 1].")


class Clarifai:
    """A ``records.Classifier`` over one of Clarifai's models.

    Raises: ConfigError if the endpoint is not safe to send credentials to.
    """

    Options = ClarifaiOptions
    batch = 128

    def __init__(self, name: str, options: ClarifaiOptions, device: str = "cpu") -> None:
        del device
        self.name = name
        self._options = options
        self._address = wire.address(options.endpoint, "CLARIFAI_GRPC_BASE")
        self.version = wire.version_at(options.endpoint, self._address)
        self.limits = SERVICES["clarifai"].limits.adjusted(options)
        self.notes: list[str] = []  # what a user should know, one sentence each; told once
        self._stub: Any = None

    def prepare(self) -> None:
        """Find the credentials and open the channel.  Raises: CredentialsError."""
        import grpc
        from clarifai_grpc.channel.clarifai_channel import ClarifaiChannel
        from clarifai_grpc.grpc.api import service_pb2_grpc

        guard_logs()  # vendors write requests there
        if not os.environ.get("CLARIFAI_PAT"):
            raise CredentialsError("clarifai", VARIABLES)
        # The vendor's channel sends again by itself, up to five times: ours is the same without that.
        limits = [(f"grpc.max_{way}_message_length", _MESSAGE) for way in ("send", "receive")]
        options = [("grpc.enable_retries", 0), *limits]
        address = self._address or ADDRESS
        if address.startswith("http://"):
            channel = grpc.insecure_channel(address.removeprefix("http://"), options=options)
        else:
            secure = grpc.ssl_channel_credentials()
            channel = grpc.secure_channel(address.removeprefix("https://"), secure, options=options)
        # The stub takes its deserialiser from the last channel that this class made; nothing is connected here.
        ClarifaiChannel.get_grpc_channel("localhost").close()
        weakref.finalize(self, channel.close)
        self._stub = service_pb2_grpc.V2Stub(channel)

    def ask(self, pictures: list[bytes]) -> list[object]:
        """Up to 128 encoded pictures to the output for each, as a dictionary, or an error about that one alone.

        Raises: Refused, Throttled, Unavailable, ServiceError, ClassifierError.
        """
        if self._stub is None:
            self.prepare()
        who = (("authorization", f"Key {os.environ.get('CLARIFAI_PAT', '')}"),)
        try:
            reply = self._stub.PostModelOutputs(self._request(pictures), metadata=who, timeout=wire.TIMEOUT)
        except Exception as error:
            raise gslopes_error(error) from None
        code = reply.status.code
        ending = [
            one for one in (reply.status, *(output.status for output in reply.outputs)) if one.code in _DEPRECATED
        ]
        if ending and not self.notes:
            said = ending[0].description or ending[0].details or "it is deprecated"
            self.notes.append(f"Clarifai will end the model {self._options.model}: {scrub(said).rstrip('.')}.")
        if code not in _ANSWERED and not (code in (_MIXED, _FAILURE) and reply.outputs):
            raise _error(reply.status)
        if len(reply.outputs) != len(pictures):
            message = f"{len(reply.outputs)} outputs came to {len(pictures)} pictures"
            raise wire.error_of("clarifai", "lost", message, VARIABLES)
        return [_answer(output) for output in reply.outputs]

    def parse(self, raw: object) -> Answer:
        """Names and values of the concepts."""
        output = cast("dict[str, Any]", raw)
        labels = wire.best((one["name"], one["value"]) for one in output["concepts"])
        return Answer("answered", labels, version=str(output.get("model_version", "")))

    def _request(self, pictures: list[bytes]) -> Any:
        from clarifai_grpc.grpc.api import resources_pb2, service_pb2

        wanted = resources_pb2.OutputConfig(max_concepts=self._options.max_concepts, min_value=self._options.min_value)
        return service_pb2.PostModelOutputsRequest(
            user_app_id=resources_pb2.UserAppIDSet(user_id=self._options.user, app_id=self._options.app),
            model_id=self._options.model,
            version_id=self._options.model_version,
            model=resources_pb2.Model(output_info=resources_pb2.OutputInfo(output_config=wanted)),
            inputs=[
                resources_pb2.Input(data=resources_pb2.Data(image=resources_pb2.Image(base64=picture)))
                for picture in pictures
            ],
        )


def gslopes_error(error: Exception) -> GslopesError:
    """Our error for one of gRPC; any other error as it is."""
    code, details = getattr(error, "code", None), getattr(error, "details", None)
    kind = wire.kind_of(error, CLASSES)
    text = f"{type(error).__name__}: {error}"
    if callable(code) and callable(details):
        name, said = getattr(code(), "name", ""), str(details() or "")
        kind, text = _grpc_kind(name, said), f"{name}: {said}"
    if kind is None:
        raise error
    return wire.error_of("clarifai", kind, text, VARIABLES)


def kind_of_code(code: int) -> wire.Kind:
    """The kind of one of Clarifai's own status codes."""
    return next((kind for first, last, kind in CODES if first <= code <= last), "failed")


def _grpc_kind(name: str, said: str) -> wire.Kind:
    """The connection's end after sending may have cost money; a message above the channel's size is not throttling."""
    text = said.lower()
    if name == "UNAVAILABLE" and any(
        word in text for word in ("socket closed", "reset", "connection closed", "goaway")
    ):
        return "lost"
    if name == "RESOURCE_EXHAUSTED" and "larger than max" in text:
        return "failed"
    return ERRORS.get(name, "unavailable")


def _error(status: Any) -> GslopesError:
    said = dict.fromkeys(text for text in (status.description, status.details) if text)
    text = f"{status.code}: {'; '.join(said)}"
    return wire.error_of("clarifai", kind_of_code(status.code), text, VARIABLES)


def _answer(output: Any) -> object:
    """One output: its concepts and its model's version, or what is wrong with that picture."""
    if output.status.code not in _ANSWERED:
        return _error(output.status)
    concepts = [{"id": one.id, "name": one.name, "value": one.value} for one in output.data.concepts]
    return {"concepts": concepts, "model_version": output.model.model_version.id}
