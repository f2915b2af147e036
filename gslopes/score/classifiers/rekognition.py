"""``rekognition``: Amazon Rekognition through boto3: labels, ``rekognition:faces`` or ``rekognition:moderation``.

Credentials are whatever boto3 finds: variables, a profile, or one that ``aws sso login`` has signed in.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from gslopes.core.errors import ConfigError, CredentialsError, GslopesError, ServiceError
from gslopes.core.records import Answer
from gslopes.score.classifiers import wire
from gslopes.score.classifiers.features import rekognition_face
from gslopes.score.classifiers.services import SERVICES
from gslopes.score.limits import ServiceOptions
from gslopes.score.names import ARGUMENT, OPERATIONAL
from gslopes.score.scrub import guard_logs, remember_secret

VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
REGION = "AWS_DEFAULT_REGION"
_KEPT = {  # of a reply: the answer itself, and the model's version where there is one
    "labels": ("Labels", "LabelModelVersion"),
    "faces": ("FaceDetails",),
    "moderation": ("ModerationLabels", "ModerationModelVersion"),
}

# What botocore says by itself. Whatever is not named here is about how it is used: no picture will be answered.
ERRORS: Mapping[str, wire.Kind] = {
    "botocore.exceptions.BotoCoreError": "service",
    "botocore.exceptions.ClientError": "failed",  # told apart by its code, see CODES
    "botocore.exceptions.UndefinedModelAttributeError": "service",
    "boto3.exceptions.Boto3Error": "service",
    "botocore.exceptions.HTTPClientError": "lost",
    "botocore.exceptions.ConnectionError": "unavailable",
    "botocore.exceptions.SSLError": "service",
    "botocore.exceptions.IncompleteReadError": "lost",
    "botocore.exceptions.ChecksumError": "lost",
    "botocore.exceptions.FlexibleChecksumError": "lost",
    "botocore.exceptions.MetadataRetrievalError": "unavailable",
    "botocore.exceptions.CapacityNotAvailableError": "unavailable",
    "boto3.exceptions.RetriesExceededError": "unavailable",
    "botocore.exceptions.NoCredentialsError": "credentials",
    "botocore.exceptions.PartialCredentialsError": "credentials",
    "botocore.exceptions.CredentialRetrievalError": "credentials",
    "botocore.exceptions.UnknownCredentialError": "credentials",
    "botocore.exceptions.NoAuthTokenError": "credentials",
    "botocore.exceptions.TokenRetrievalError": "credentials",
    "botocore.exceptions.UnknownTokenProviderError": "credentials",
    "botocore.exceptions.RefreshWithMFAUnsupportedError": "credentials",
    "botocore.exceptions.ProfileNotFound": "credentials",
    "botocore.exceptions.SSOError": "credentials",
    "botocore.exceptions.LoginError": "credentials",
    "botocore.eventstream.ParserError": "lost",
    "botocore.parsers.ResponseParserError": "lost",  # a reply that is no JSON
}
CODES: Mapping[str, wire.Kind] = {
    **dict.fromkeys(
        (
            "ThrottlingException",
            "Throttling",
            "ThrottledException",
            "ProvisionedThroughputExceededException",
            "RequestLimitExceeded",
            "RequestThrottled",
            "RequestThrottledException",
            "TooManyRequestsException",
            "SlowDown",
        ),
        "throttled",
    ),
    **dict.fromkeys(
        (
            "AccessDeniedException",
            "AccessDenied",
            "AuthFailure",
            "ExpiredToken",
            "ExpiredTokenException",
            "IncompleteSignature",
            "IncompleteSignatureException",
            "InvalidAccessKeyId",
            "InvalidClientTokenId",
            "InvalidSignatureException",
            "MissingAuthenticationToken",
            "MissingAuthenticationTokenException",
            "NotAuthorized",
            "OptInRequired",
            "RequestExpired",
            "SignatureDoesNotMatch",
            "SubscriptionRequiredException",
            "UnauthorizedOperation",
            "UnrecognizedClientException",
        ),
        "credentials",
    ),
    "ImageTooLargeException": "refused",
    "InvalidImageFormatException": "refused",
    "InvalidParameterException": "failed",
    "InvalidS3ObjectException": "failed",
    "InternalServerError": "unavailable",
}


@dataclass(frozen=True, slots=True)
class RekognitionOptions(ServiceOptions):
    """What to ask for.

    feature: labels, what DetectFaces says about the largest face, or moderation labels.
    max_labels: labels a picture at most.  min_confidence: in percent; Amazon leaves out what is below 55 unless asked.
    profile: of the vendor's own files; empty: ``AWS_PROFILE`` or the default one.
    region: such as ``eu-west-1``; empty: as in ``AWS_DEFAULT_REGION`` or the profile.
    endpoint: another address; empty: ``AWS_ENDPOINT_URL_REKOGNITION`` or Amazon's own.
    """

    feature: Literal["labels", "faces", "moderation"] = field(default="labels", metadata=ARGUMENT)
    max_labels: int = 1000
    min_confidence: float = 0.0
    region: str = ""
    endpoint: str = ""
    profile: str = field(default="", metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        ServiceOptions.__post_init__(self)
        if self.max_labels < 1 or not 0 <= self.min_confidence <= 100:
            raise ConfigError("rekognition's max_labels must be 1 or more, and its min_confidence in [0, 100].")


class Rekognition:
    """A ``records.Classifier`` over Amazon Rekognition, one picture a request.

    Raises: ConfigError if the endpoint is not safe to send credentials to.
    """

    Options = RekognitionOptions
    batch = 1

    def __init__(self, name: str, options: RekognitionOptions, device: str = "cpu") -> None:
        del device
        self.name = name
        self._options = options
        self._address = wire.address(options.endpoint, "AWS_ENDPOINT_URL_REKOGNITION", "AWS_ENDPOINT_URL")
        self.version = wire.version_at(options.endpoint, self._address)
        self.limits = SERVICES["rekognition"].limits.adjusted(options)
        self._client: Any = None

    def prepare(self) -> None:
        """Find the credentials and make the client.  Raises: CredentialsError, ServiceError."""
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError

        guard_logs()  # vendors write requests there
        config = Config(
            retries={"total_max_attempts": 1, "mode": "standard"},  # the careful client sends again, nobody else
            connect_timeout=wire.CONNECT_TIMEOUT,
            read_timeout=wire.TIMEOUT,
            max_pool_connections=max(10, self.limits.concurrency),
        )
        try:
            session = boto3.Session(
                region_name=self._options.region or None, profile_name=self._options.profile or None
            )
            found = session.get_credentials()
            if found is None:
                raise CredentialsError("rekognition", VARIABLES)
            if not session.region_name:
                raise ServiceError("rekognition needs a region.", f"Set {REGION}, or write rekognition:region=REGION.")
            for secret in found.get_frozen_credentials():
                remember_secret(secret or "")
            self._client = session.client("rekognition", endpoint_url=self._address or None, config=config)
            weakref.finalize(self, self._client.close)
        except BotoCoreError as error:
            raise gslopes_error(error) from None

    def ask(self, pictures: list[bytes]) -> list[object]:
        """One encoded picture to the reply about it.

        Raises: Refused, Throttled, Unavailable, ServiceError, ClassifierError.
        """
        if self._client is None:
            self.prepare()
        answers: list[object] = []
        for picture in pictures:
            try:
                reply = self._detect({"Bytes": picture})
            except Exception as error:
                raise gslopes_error(error) from None
            kept = _KEPT[self._options.feature]
            if kept[0] not in reply:  # boto3 takes a reply that ends too early for an empty one
                raise wire.error_of("rekognition", "lost", f"the reply has no {kept[0]}", VARIABLES)
            answers.append({key: reply[key] for key in kept if key in reply})
        return answers

    def parse(self, raw: object) -> Answer:
        """Names, and confidences divided by 100; parents are not added, since Amazon lists them as labels as well."""
        reply = cast("dict[str, Any]", raw)
        if self._options.feature == "faces":
            return Answer("answered", wire.best(rekognition_face(reply["FaceDetails"])))
        name, version = _KEPT[self._options.feature]
        labels = wire.best((one["Name"], one["Confidence"] / 100) for one in reply[name])
        return Answer("answered", labels, version=str(reply.get(version, "")))

    def _detect(self, image: dict[str, bytes]) -> dict[str, Any]:
        options = self._options
        if options.feature == "faces":
            return dict(self._client.detect_faces(Image=image, Attributes=["ALL"]))
        if options.feature == "moderation":
            return dict(self._client.detect_moderation_labels(Image=image, MinConfidence=options.min_confidence))
        return dict(
            self._client.detect_labels(Image=image, MaxLabels=options.max_labels, MinConfidence=options.min_confidence)
        )


def gslopes_error(error: Exception) -> GslopesError:
    """Our error for one of boto3's; any other error as it is."""
    kind, wait = wire.kind_of(error, ERRORS), None
    text = f"{type(error).__name__}: {error}"
    response = getattr(error, "response", None)
    if isinstance(response, dict) and "Error" in response:
        about = response.get("ResponseMetadata", {})
        status, code = int(about.get("HTTPStatusCode", 0)), str(response["Error"].get("Code", ""))
        cut_short = status == 400 and code in (
            "",
            "400",
        )  # Amazon names every error; boto3 reads half a reply like this
        kind = CODES.get(code) or ("lost" if cut_short else wire.kind_of_status(status))
        wait = wire.seconds_to_wait(about.get("HTTPHeaders"))
        text = f"{code}: {response['Error'].get('Message', '')}"
    if kind is None:
        raise error
    return wire.error_of("rekognition", kind, text, VARIABLES, wait)
