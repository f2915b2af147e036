"""Clarifai: gRPC, V2.PostModelOutputs on the public model general-image-recognition."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import grpc
from clarifai_grpc.grpc.api import resources_pb2, service_pb2, service_pb2_grpc
from clarifai_grpc.grpc.api.status import status_code_pb2, status_pb2

from tests.fake_provider.pictures import kind
from tests.fake_provider.protocol import Accounts, Bad, Job, Labels

if TYPE_CHECKING:
    from tests.fake_provider.control import FakeProvider

IMAGES, IMAGE_BYTES, MESSAGE_BYTES = 128, 20_000_000, 128 * 2**20
NAME = "clarifai"
MODELS = {("clarifai", "main", "general-image-recognition"), ("a-team", "an-app", "a-model")}
_CODES = {
    "credentials": status_code_pb2.CONN_KEY_NOT_FOUND,
    "throttled": status_code_pb2.CONN_THROTTLED,
    "failed": status_code_pb2.INTERNAL_UNCATEGORIZED,
    "invalid": status_code_pb2.CONN_INVALID_REQUEST,
    "large": status_code_pb2.INPUT_OVER_LIMIT,
    "format": status_code_pb2.INPUT_UNSUPPORTED_FORMAT,
    "policy": status_code_pb2.INPUT_PERMISSION_DENIED,
}


_SAID = {
    status_code_pb2.SUCCESS: "Ok",
    10001: "Success, but the model is deprecated",  # these two are younger than the client's list
    10002: "Success, but the model version is deprecated",
    status_code_pb2.MIXED_STATUS: "Mixed Success",
    status_code_pb2.FAILURE: "Failure",
}


class Clarifai(service_pb2_grpc.V2Servicer):
    """The servicer; what no status can tell, it raises as gRPC does."""

    name = NAME

    @staticmethod
    def check(image: bytes) -> None:
        """Raises: Bad if it is no picture, or too large a one."""
        if len(image) > IMAGE_BYTES:
            raise Bad("large", "Image is too large.")
        if kind(image) not in ("JPEG", "PNG", "GIF", "BMP", "WEBP", "TIFF"):
            raise Bad("format", "Input has an unsupported format.")

    def __init__(self, provider: FakeProvider) -> None:
        self._provider = provider

    def PostModelOutputs(  # noqa: N802 -- the protocol's name
        self, request: service_pb2.PostModelOutputsRequest, context: grpc.ServicerContext
    ) -> service_pb2.MultiOutputResponse:
        provider, metadata = self._provider, dict(context.invocation_metadata())
        with provider.call(NAME) as call:
            try:
                job = _read(request, metadata, provider.accounts)
                results, version = provider.work(call, job)
            except Bad as bad:
                call.outcome = bad.kind
                if bad.kind == "unavailable":
                    context.abort(grpc.StatusCode.UNAVAILABLE, str(bad))
                return service_pb2.MultiOutputResponse(status=_status(bad))
            except ConnectionError:
                context.abort(grpc.StatusCode.UNAVAILABLE, "Socket closed")
            if call.trouble == "truncate":
                results = results[: len(results) // 2]
            return _answer(job, results, version, provider.clarifai_success)


def serve(provider: FakeProvider, threads: int) -> tuple[int, Callable[[], object]]:
    """Start it on a free loopback port: the port, and a function that stops it."""
    options = [("grpc.max_receive_message_length", MESSAGE_BYTES), ("grpc.so_reuseport", 0)]
    server = grpc.server(ThreadPoolExecutor(threads), options=options)
    service_pb2_grpc.add_V2Servicer_to_server(Clarifai(provider), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return port, lambda: server.stop(None).wait(5)


def _read(
    request: service_pb2.PostModelOutputsRequest, metadata: dict[str, str], accounts: Accounts
) -> Job:
    if metadata.get("authorization") != f"Key {accounts.clarifai}":
        raise Bad("credentials", "API key not found.")
    whose = (request.user_app_id.user_id, request.user_app_id.app_id)
    if (*whose, request.model_id) not in MODELS and whose in {model[:2] for model in MODELS}:
        raise Bad("invalid", f"The model {request.model_id!r} does not exist.")
    if whose not in {model[:2] for model in MODELS}:
        raise Bad("invalid", "The app does not exist.")
    if not 0 < len(request.inputs) <= IMAGES:
        raise Bad(
            "invalid", f"There are {len(request.inputs)} inputs; at most {IMAGES} are allowed."
        )
    config = request.model.output_info.output_config
    if not 0 <= config.max_concepts <= 200 or not 0 <= config.min_value <= 1:
        raise Bad("invalid", "max_concepts or min_value is out of its range.")
    images = [item.data.image.base64 for item in request.inputs]
    return Job(images, {"max_concepts": config.max_concepts or 20, "min_value": config.min_value})


def _answer(
    job: Job, results: list[Labels | Bad], version: str, success: int
) -> service_pb2.MultiOutputResponse:
    bad = [result for result in results if isinstance(result, Bad)]
    code = success
    if bad:
        code = status_code_pb2.FAILURE if len(bad) == len(results) else status_code_pb2.MIXED_STATUS
    status = status_pb2.Status(code=code, description=_SAID.get(code, ""))
    model = resources_pb2.Model(
        id="general-image-recognition", model_version=resources_pb2.ModelVersion(id=version)
    )
    outputs = [_output(result, model, job, success) for result in results]
    return service_pb2.MultiOutputResponse(status=status, outputs=outputs)


def _output(
    result: Labels | Bad, model: resources_pb2.Model, job: Job, success: int
) -> resources_pb2.Output:
    if isinstance(result, Bad):
        return resources_pb2.Output(status=_status(result), model=model)
    least, count = float(str(job.parameters["min_value"])), int(str(job.parameters["max_concepts"]))
    concepts = [
        resources_pb2.Concept(name=name, value=score) for name, score in result if score >= least
    ]
    status = status_pb2.Status(code=success, description=_SAID.get(success, "Ok"))
    return resources_pb2.Output(
        status=status, model=model, data=resources_pb2.Data(concepts=concepts[:count])
    )


def _status(bad: Bad) -> status_pb2.Status:
    return status_pb2.Status(code=_CODES[bad.kind], description=str(bad), details=str(bad))
