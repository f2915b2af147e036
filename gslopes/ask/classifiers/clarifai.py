"""``clarifai``: a classifier that Clarifai hosts, through its official gRPC client.

Unless asked otherwise, general-image-recognition. Clarifai ended most of its older models on 2025-12-31;
``clarifai:model=MODEL,user=USER,app=APP`` asks any other that gives concepts, one's own as well.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from gslopes.ask.classifiers import service
from gslopes.ask.classifiers.service import Service
from gslopes.ask.cost import ServiceOptions
from gslopes.ask.secrets import scrub
from gslopes.core.errors import ConfigError, CredentialsError, GslopesError
from gslopes.core.records import Answer

KEY = "CLARIFAI_PAT"
HOST, USER, APP, MODEL = "api.clarifai.com", "clarifai", "main", "general-image-recognition"
_MESSAGE = {"send": 1 << 30, "receive": 32 << 20}  # bytes; the vendor's own channel has the first for both
_SUCCESS, _MIXED, _FAILURE = 10000, 10010, 10020
_DEPRECATED = (10001, 10002)  # successes all the same: the model, or its version, is going to end
_REDIRECT = re.compile(r"(?i)http status 3\d\d|header with status: 3\d\d")  # gRPC follows none, nor says where to
_ANSWERED = (_SUCCESS, *_DEPRECATED)


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


class Clarifai(Service):
    """A ``records.Classifier`` over one of Clarifai's models, 128 pictures a request."""

    Options = ClarifaiOptions
    SERVICE, CREDENTIALS, ENDPOINT_VARIABLES = "clarifai", (KEY,), ("CLARIFAI_GRPC_BASE",)
    batch = 128

    def parse(self, raw: object) -> Answer:
        """Names and values of the concepts."""
        output = cast("dict[str, Any]", raw)
        labels = service.best((one["name"], one["value"]) for one in output["concepts"])
        return Answer("answered", labels, version=str(output.get("model_version", "")))

    def _connected(self) -> tuple[Any, Callable[[], object]]:
        import grpc
        from clarifai_grpc.channel.clarifai_channel import ClarifaiChannel
        from clarifai_grpc.grpc.api import service_pb2_grpc

        if not os.environ.get(KEY):
            raise CredentialsError("clarifai", [KEY])
        # The vendor's channel sends again by itself, up to five times: ours is the same without that.
        limits = [(f"grpc.max_{way}_message_length", size) for way, size in _MESSAGE.items()]
        options = [("grpc.enable_retries", 0), *limits]
        address = self._address or HOST
        if address.startswith("http://"):
            channel = grpc.insecure_channel(address.removeprefix("http://"), options=options)
        else:
            secure = grpc.ssl_channel_credentials()
            channel = grpc.secure_channel(address.removeprefix("https://"), secure, options=options)
        # The stub takes its deserialiser from the last channel that this class made; nothing is connected here.
        ClarifaiChannel.get_grpc_channel("localhost").close()
        return service_pb2_grpc.V2Stub(channel), channel.close

    def _answers(self, pictures: list[bytes]) -> list[object]:
        from clarifai_grpc.grpc.api import resources_pb2, service_pb2

        options, key = self._options, (("authorization", f"Key {os.environ.get(KEY, '')}"),)
        wanted = resources_pb2.OutputConfig(max_concepts=options.max_concepts, min_value=options.min_value)
        images = [resources_pb2.Data(image=resources_pb2.Image(base64=picture)) for picture in pictures]
        request = service_pb2.PostModelOutputsRequest(
            user_app_id=resources_pb2.UserAppIDSet(user_id=options.user, app_id=options.app),
            model_id=options.model,
            version_id=options.model_version,
            model=resources_pb2.Model(output_info=resources_pb2.OutputInfo(output_config=wanted)),
            inputs=[resources_pb2.Input(data=image) for image in images],
        )
        reply = self._client.PostModelOutputs(request, metadata=key, timeout=service.TIMEOUT)
        statuses = [reply.status, *(output.status for output in reply.outputs)]
        ending = [status for status in statuses if status.code in _DEPRECATED]
        if ending and not self.notes:
            said = ending[0].description or ending[0].details or "it is deprecated"
            self.notes.append(f"Clarifai will end the model {self._options.model}: {scrub(said).rstrip('.')}.")
        if reply.status.code not in _ANSWERED and not (reply.status.code in (_MIXED, _FAILURE) and reply.outputs):
            raise self._said(reply.status)
        if len(reply.outputs) < len(pictures):
            raise self._error("lost", f"{len(reply.outputs)} outputs came to {len(pictures)} inputs")
        answers: list[object] = []
        for output in reply.outputs:
            if output.status.code not in _ANSWERED:
                answers.append(self._said(output.status))
                continue
            concepts = [{"id": one.id, "name": one.name, "value": one.value} for one in output.data.concepts]
            answers.append({"concepts": concepts, "model_version": output.model.model_version.id})
        return answers

    def _said(self, status: Any) -> GslopesError:
        said = dict.fromkeys(text for text in (status.description, status.details) if text)
        return self._error(kind_of_code(status.code), f"{status.code}: {'; '.join(said)}")

    @classmethod
    def _details(cls, error: Exception, kind: service.Kind) -> tuple[service.Kind, str]:
        code, details = getattr(error, "code", None), getattr(error, "details", None)
        if not callable(code) or not callable(details):
            return super()._details(error, kind)
        name, said = getattr(code(), "name", ""), str(details() or "")
        if _REDIRECT.search(said):
            return "service", f"it sends us on to another address, and no picture follows a redirect ({said})"
        text = said.lower()
        if "certificate_verify_failed" in text:
            kind = "service"
        elif name == "UNAVAILABLE" and re.search("socket closed|reset|connection closed|goaway", text):
            kind = "lost"  # the connection's end after sending may have cost money
        elif name == "RESOURCE_EXHAUSTED" and "larger than max" in text:  # no throttling: the channel's size
            kind = "failed"
        else:
            kind = service.codes_of("clarifai").get(name, "unavailable")
        return kind, f"{name}: {said}"


def kind_of_code(code: int) -> service.Kind:
    """The kind of one of Clarifai's own status codes."""
    return next((kind for first, last, kind in service.ranges_of("clarifai") if first <= code <= last), "failed")
