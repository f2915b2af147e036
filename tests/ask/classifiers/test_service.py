"""Every exception of every vendor's client becomes one of ours: a new one that nobody thought of fails here."""

import importlib
import inspect
import re
from collections.abc import Callable
from contextlib import suppress

import boto3
import botocore.exceptions
import grpc
import pytest
from clarifai_grpc.grpc.api.status import status_code_pb2

from gslopes.ask.classifiers import service
from gslopes.ask.classifiers.services import Azure, Clarifai, Google, Imagga, Rekognition
from gslopes.core.errors import (
    ClassifierError,
    ConfigError,
    CredentialsError,
    GslopesError,
    Refused,
    ServiceError,
    Throttled,
    Unavailable,
)

# Modules whose exceptions can come out of a request, and what makes ours of them.
VENDORS: dict[str, tuple[Callable[[Exception], GslopesError], tuple[str, ...]]] = {
    "google": (
        Google.gslopes_error,
        (
            "google.api_core.exceptions",
            "google.auth.exceptions",
            "requests.exceptions",
            "google.protobuf.json_format",
        ),
    ),
    "rekognition": (Rekognition.gslopes_error, ("botocore.exceptions", "boto3.exceptions")),
    "clarifai": (
        Clarifai.gslopes_error,
        ("grpc", "clarifai_grpc.channel.exceptions", "clarifai_grpc.channel.errors"),
    ),
    "azure": (Azure.gslopes_error, ("azure.core.exceptions",)),
    "imagga": (Imagga.gslopes_error, ("httpx",)),
}
# The kind must follow the name.
TRANSIENT = re.compile(
    r"Time(d)?out|(?<!MD5)Unavailable|TooManyRequests|Exhausted|Connect(ion)?(Closed)?Error|Gateway|Deadline"
)
WHO = re.compile(r"Credential|Unauth|Forbidden|PermissionDenied|Authentication|SSO|Login")


def exceptions_of(module: str) -> list[type[Exception]]:
    """Public exception classes that belong to the module's package."""
    package = module.partition(".")[0]
    members = list(vars(importlib.import_module(module)).values())
    classes = {
        member for member in members if inspect.isclass(member) and issubclass(member, Exception)
    }
    defined = (
        member
        for member in classes
        if member.__module__.startswith(package) and not issubclass(member, Warning)
    )
    return sorted(defined, key=lambda member: member.__qualname__)


def bare(kind: type[Exception]) -> Exception:
    """An instance with a message and nothing else: each class wants other arguments."""
    for arguments in (("a message",), ("a message", None)):
        with suppress(Exception):
            return kind(*arguments)
    error = kind.__new__(kind, "a message")
    vars(error).update(message="a message", _error_format=None)
    return error


LEAST = {
    "google": 80,
    "rekognition": 100,
    "azure": 15,
    "imagga": 20,
    "clarifai": 6,
}  # exceptions of each


@pytest.mark.parametrize("vendor", VENDORS)
def test_every_exception_becomes_one_of_ours_and_a_mistake_of_ours_stays(vendor):
    ours, modules = VENDORS[vendor]
    kinds = [kind for name in modules for kind in exceptions_of(name)]
    assert len(kinds) >= LEAST[vendor]
    for kind in kinds:
        found = ours(bare(kind))
        assert isinstance(found, (ClassifierError, ServiceError)), kind
        if TRANSIENT.search(kind.__name__):
            assert isinstance(found, (Throttled, Unavailable)), kind
        if WHO.search(kind.__name__):
            assert isinstance(found, CredentialsError), kind
    with pytest.raises(ZeroDivisionError):
        ours(ZeroDivisionError("a mistake of ours"))


def test_every_error_that_amazon_declares_for_detect_labels_is_decided():
    client = boto3.client(
        "rekognition", "us-east-1", aws_access_key_id="a", aws_secret_access_key="b"
    )
    declared = {
        shape.name
        for shape in client.meta.service_model.operation_model("DetectLabels").error_shapes
    }
    client.close()
    assert len(declared) >= 8
    assert declared <= set(service.codes_of("rekognition"))


AMAZON = {
    Throttled: [
        ("ThrottlingException", 400),
        ("ProvisionedThroughputExceededException", 400),
        ("SomethingNew", 429),
    ],
    Unavailable: [("InternalServerError", 500), ("SomethingNew", 503)],
    CredentialsError: [
        ("ExpiredTokenException", 400),
        ("AccessDeniedException", 400),
        ("SomethingNew", 403),
    ],
    Refused: [("ImageTooLargeException", 400), ("InvalidImageFormatException", 400)],
    ClassifierError: [("InvalidParameterException", 400)],
}


@pytest.mark.parametrize("kind", AMAZON, ids=lambda kind: kind.__name__)
def test_amazons_codes_say_what_to_do(kind):
    for code, status in AMAZON[kind]:
        about = {
            "Error": {"Code": code, "Message": "m"},
            "ResponseMetadata": {"HTTPStatusCode": status},
        }
        assert (
            type(Rekognition.gslopes_error(botocore.exceptions.ClientError(about, "DetectLabels")))
            is kind
        )


class _Status(grpc.RpcError):
    """An error of a call, as the channel raises it."""

    def __init__(self, status: grpc.StatusCode, details: str = "") -> None:
        self._said = status, details

    def code(self) -> grpc.StatusCode:
        return self._said[0]

    def details(self) -> str:
        return self._said[1]


def test_every_status_of_grpc_is_decided():
    names = {status.name for status in grpc.StatusCode} - {"OK"}
    assert names == set(service.codes_of("clarifai"))


@pytest.mark.parametrize(
    ("status", "details", "kind", "billed"),
    [
        ("UNAVAILABLE", "failed to connect to all addresses", Unavailable, False),
        ("UNAVAILABLE", "Socket closed", Unavailable, True),
        ("UNAVAILABLE", "recvmsg:Connection reset by peer", Unavailable, True),
        ("DEADLINE_EXCEEDED", "Deadline Exceeded", Unavailable, True),
        ("RESOURCE_EXHAUSTED", "quota", Throttled, None),
        ("RESOURCE_EXHAUSTED", "Sent message larger than max (9 vs. 4)", ClassifierError, None),
        (
            "UNAVAILABLE",
            "Trying to connect an http1.x server (HTTP status 307)",
            ServiceError,
            None,
        ),
        ("UNKNOWN", "Received http2 header with status: 301", ServiceError, None),
        ("UNAVAILABLE", "Ssl handshake failed: CERTIFICATE_VERIFY_FAILED", ServiceError, None),
        ("UNAUTHENTICATED", "", CredentialsError, None),
        ("UNIMPLEMENTED", "", ServiceError, None),
    ],
)
def test_what_grpc_says_of_a_call_is_understood(status, details, kind, billed):
    error = Clarifai.gslopes_error(_Status(grpc.StatusCode[status], details))
    assert type(error) is kind
    assert error.billed is bool(billed)


NAMED = {  # what is in a name of Clarifai's codes
    "^CONN_THROTTLED": "throttled",
    "TRY_AGAIN|BUSY|SERVER_UNAVAILABLE|_FOR_MAINTENANCE|^INTERNAL_|^RPC_REQUEST": "unavailable",
    "TOKEN_INVALID|CREDENTIALS_INVALID|KEY_INVALID|KEY_NOT_FOUND|INSUFFICIENT_SCOPES": "credentials",
    "^INPUT_UNSUPPORTED_FORMAT|ALL_INPUT_INVALID_BYTES|INPUT_OVER_LIMIT": "refused",
    "EXCEED_MONTHLY|EXCEEDS_LIMITS": "service",
}


def test_clarifais_own_codes_mean_what_their_names_say():
    for name in [*status_code_pb2.StatusCode.keys()]:
        kinds = {kind for pattern, kind in NAMED.items() if re.search(pattern, name)}
        assert kinds <= {
            service.kind_of_code("clarifai", status_code_pb2.StatusCode.Value(name))
        }, name


# -- what all share ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["http://127.0.0.1:80", "http://localhost", "https://gateway.example/v", ""]
)
def test_addresses_that_keep_credentials_safe_are_taken(text):
    assert service.address(text, "NO_SUCH_VARIABLE") == text


@pytest.mark.parametrize(
    "text", ["http://gateway.example", "http://127.0.0.1.evil.example", "http://10.0.0.1"]
)
def test_plain_http_to_another_machine_is_not(text):
    with pytest.raises(ConfigError, match="without encryption"):
        service.address(text)


def test_the_option_comes_before_the_variables_and_these_in_their_order(monkeypatch):
    monkeypatch.setenv("FIRST", "https://first.example/")
    monkeypatch.setenv("SECOND", "https://second.example")
    assert service.address("", "UNSET", "FIRST", "SECOND") == "https://first.example"
    assert service.address("https://given.example", "FIRST") == "https://given.example"


def test_a_label_comes_once_with_its_highest_score():
    assert service.best([("a", 0.2), ("b", 1.01), ("a", 0.4), ("c", -0.1)]) == (
        ("a", 0.4),
        ("b", 1.0),
        ("c", 0.0),
    )


def test_http_statuses_say_what_to_do():
    kinds = {
        "failed": (400, 422),
        "credentials": (401, 403, 407),
        "service": (301, 402, 404),
        "lost": (408, 504),
        "refused": (413, 415),
        "throttled": (429,),
        "unavailable": (409, 500, 502, 503),
    }
    assert {kind: tuple(status for status in statuses) for kind, statuses in kinds.items()} == {
        kind: tuple(status for status in statuses if service.kind_of_status(status) == kind)
        for kind, statuses in kinds.items()
    }
