"""``rekognition``: Amazon Rekognition through boto3: labels, or ``rekognition:faces``, what it says about a face.

Credentials are whatever boto3 finds: variables, a profile, or one that ``aws sso login`` has signed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from gslopes.ask.classifiers import service
from gslopes.ask.classifiers.service import Service, before_send
from gslopes.ask.cost import ServiceOptions
from gslopes.ask.names import ARGUMENT, OPERATIONAL
from gslopes.ask.secrets import remember_secret
from gslopes.core.errors import ConfigError, CredentialsError, ServiceError
from gslopes.core.records import Answer

REGION = "AWS_DEFAULT_REGION"
_YEARS = 100.0  # the age whose score is 1
_KEPT = {"labels": ("Labels", "LabelModelVersion"), "faces": ("FaceDetails",)}  # of a reply


@dataclass(frozen=True, slots=True)
class RekognitionOptions(ServiceOptions):
    """What to ask for.

    feature: labels, or what DetectFaces says about the largest face.
    max_labels: labels a picture at most.  min_confidence: in percent; Amazon leaves out what is below 55 unless asked.
    profile: of the vendor's own files; empty: ``AWS_PROFILE`` or the default one.
    region: such as ``eu-west-1``; empty: as in ``AWS_DEFAULT_REGION`` or the profile.
    endpoint: another address; empty: ``AWS_ENDPOINT_URL_REKOGNITION`` or Amazon's own.
    """

    feature: Literal["labels", "faces"] = field(default="labels", metadata=ARGUMENT)
    max_labels: int = 1000
    min_confidence: float = 0.0
    region: str = ""
    endpoint: str = ""
    profile: str = field(default="", metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        ServiceOptions.__post_init__(self)
        if self.max_labels < 1 or not 0 <= self.min_confidence <= 100:
            raise ConfigError("rekognition's max_labels must be 1 or more, and its min_confidence in [0, 100].")


class Rekognition(Service):
    """A ``records.Classifier`` over Amazon Rekognition, one picture a request."""

    Options = RekognitionOptions
    SERVICE, CREDENTIALS = "rekognition", ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    ENDPOINT_VARIABLES = ("AWS_ENDPOINT_URL_REKOGNITION", "AWS_ENDPOINT_URL")

    def parse(self, raw: object) -> Answer:
        """Names, and confidences divided by 100; parents are not added, since Amazon lists them as labels as well."""
        reply = cast("dict[str, Any]", raw)
        if self._options.feature == "faces":
            return Answer("answered", service.best(_face(reply["FaceDetails"])))
        labels = service.best((one["Name"], one["Confidence"] / 100) for one in reply["Labels"])
        return Answer("answered", labels, version=str(reply.get("LabelModelVersion", "")))

    def _connected(self) -> tuple[Any, Callable[[], object]]:
        import boto3
        from botocore.config import Config

        from gslopes.ask.transport import BoundedTransport

        options = self._options
        config = Config(
            retries={"total_max_attempts": 1, "mode": "standard"},  # ask.retry sends again, and nothing else
        )
        session = boto3.Session(region_name=options.region or None, profile_name=options.profile or None)
        found = session.get_credentials()
        if found is None:
            raise CredentialsError("rekognition", self.CREDENTIALS)
        if not session.region_name:
            raise ServiceError("rekognition needs a region.", f"Set {REGION}, or write rekognition:region=REGION.")
        for secret in found.get_frozen_credentials():
            remember_secret(secret or "")
        client = session.client("rekognition", endpoint_url=self._address or None, config=config)
        transport = BoundedTransport()
        client.meta.events.register("before-send.rekognition", before_send(transport))
        closing = ExitStack()
        closing.callback(transport.close)
        closing.callback(client.close)
        return client, closing.close

    def _answer(self, picture: bytes) -> object:
        options, kept = self._options, _KEPT[self._options.feature]
        if options.feature == "faces":
            reply = self._client.detect_faces(Image={"Bytes": picture}, Attributes=["ALL"])
        else:
            reply = self._client.detect_labels(
                Image={"Bytes": picture}, MaxLabels=options.max_labels, MinConfidence=options.min_confidence
            )
        if kept[0] not in reply:  # boto3 takes a reply that ends too early for an empty one
            raise self._error("lost", f"the reply has no {kept[0]}")
        return {key: reply[key] for key in kept if key in reply}

    @classmethod
    def _details(cls, error: Exception, kind: service.Kind) -> tuple[service.Kind, str]:
        response = getattr(error, "response", None)
        if not isinstance(response, dict) or "Error" not in response:
            return super()._details(error, kind)
        status = int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
        code = str(response["Error"].get("Code", ""))
        # Amazon names every error; boto3 reads half a reply as one without a name.
        cut_short = status == 400 and code in ("", "400")
        kind = service.codes_of("rekognition").get(code) or ("lost" if cut_short else service.kind_of_status(status))
        return kind, f"{code}: {response['Error'].get('Message', '')}"


def _face(details: list[Mapping[str, Any]]) -> list[tuple[str, float]]:
    """Gender, emotions, age and what is worn, of the largest face of ``FaceDetails``."""
    if not details:
        return [(service.NO_FACE, 1.0)]
    face = max(details, key=lambda one: float(one["BoundingBox"]["Width"]) * float(one["BoundingBox"]["Height"]))
    pairs: list[tuple[str, float]] = []
    if "Gender" in face:
        pairs.append((f"gender: {face['Gender']['Value']}", float(face["Gender"]["Confidence"]) / 100))
    if "AgeRange" in face:
        pairs += [(f"age: {end.lower()} end", float(face["AgeRange"][end]) / _YEARS) for end in ("Low", "High")]
    pairs += [(f"emotion: {one['Type']}", float(one["Confidence"]) / 100) for one in face.get("Emotions", [])]
    for name, said in face.items():
        if isinstance(said, Mapping) and isinstance(said.get("Value"), bool):
            sure = float(said["Confidence"]) / 100
            pairs.append((f"face: {name}", sure if said["Value"] else 1 - sure))
    return pairs
