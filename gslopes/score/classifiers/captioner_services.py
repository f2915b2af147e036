"""Captioners behind an address: ``captioner-http:URL``, a team's own, and ``azure-caption``, Azure AI Vision.

``captioner-http`` speaks the protocol of ``http``, with a caption in place of labels:

    {"version": "2026-05-01", "answers": [{"caption": "A woman on a bench."}, {"refused": "no face"}]}
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal, cast

from gslopes.core.errors import AnswerError
from gslopes.core.records import Answer
from gslopes.language.senses import Rule
from gslopes.score.classifiers.azure import Azure, AzureOptions
from gslopes.score.classifiers.captioner import Reading, answer_of, check_reading
from gslopes.score.classifiers.http import HttpClassifier, HttpOptions
from gslopes.score.classifiers.local import LOCALS
from gslopes.score.classifiers.services import SERVICES
from gslopes.score.limits import ServiceOptions
from gslopes.score.names import OPERATIONAL, PARSING


@dataclass(frozen=True, slots=True)
class HttpCaptionerOptions(HttpOptions):
    """As ``http``.  senses, up, parser: as for the chat captioner."""

    senses: Rule = field(default="overrides", metadata=PARSING)
    up: int = field(default=0, metadata=PARSING)
    parser: str = field(default="chunks", metadata=PARSING)

    def __post_init__(self) -> None:
        HttpOptions.__post_init__(self)
        check_reading(self.up)


class HttpCaptioner(HttpClassifier):
    """A ``records.Classifier`` over a team's own captioner.

    Raises: ConfigError if a token would travel unencrypted to another machine, or stands in the address.
    """

    Options = HttpCaptionerOptions

    def __init__(self, name: str, options: HttpCaptionerOptions, device: str = "cpu") -> None:
        super().__init__(name, options, device)
        self.limits = LOCALS["captioner-http"].limits.adjusted(options)
        read = Reading("captioner-http", options, self.version)
        self._words, self.version = read.words, read.version
        self.asked_as, self.asked_version = read.asked_as, read.asked_version

    def parse(self, raw: object) -> Answer:
        """The labels of one entry's caption, or its refusal.  Raises: AnswerError if it holds no caption."""
        entry = cast("dict[str, Any]", raw)
        version = str(entry.get("version", ""))
        if "refused" in entry:
            return Answer("refused", (), str(entry["refused"]), version)
        caption = entry.get("caption")
        if not isinstance(caption, str):
            raise AnswerError("The captioner's reply has no caption.", 'Each of its answers is {"caption": "..."}.')
        return answer_of([caption], self._words, version)


@dataclass(frozen=True, slots=True)
class AzureCaptionOptions(ServiceOptions):
    """model_version, endpoint, auth: as for ``azure``; captions are in English.

    gender_neutral: the service's own switch, which writes person for man, woman, boy and girl.
    senses, up, parser: as for the chat captioner.
    """

    model_version: str = "latest"
    endpoint: str = ""
    gender_neutral: bool = False
    senses: Rule = field(default="overrides", metadata=PARSING)
    up: int = field(default=0, metadata=PARSING)
    parser: str = field(default="chunks", metadata=PARSING)
    auth: Literal["key", "entra"] = field(default="key", metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        ServiceOptions.__post_init__(self)
        check_reading(self.up)


class AzureCaption(Azure):
    """A ``records.Classifier`` over the captions of Azure's Image Analysis, one picture a request.

    Raises: ConfigError if the endpoint is not safe to send credentials to.
    """

    Options = AzureCaptionOptions  # type: ignore[assignment]

    def __init__(self, name: str, options: AzureCaptionOptions, device: str = "cpu") -> None:
        shared = {item.name: getattr(options, item.name) for item in fields(ServiceOptions)}
        asked: dict[str, Any] = {name: getattr(options, name) for name in ("model_version", "endpoint", "auth")}
        super().__init__(name, AzureOptions(**shared, **asked), device)
        self._gender_neutral = options.gender_neutral
        self.limits = SERVICES["azure-caption"].limits.adjusted(options)
        read = Reading("azure-caption", options, self.version)
        self._words, self.version = read.words, read.version
        self.asked_as, self.asked_version = read.asked_as, read.asked_version

    def parse(self, raw: object) -> Answer:
        """The labels of the caption.  Raises: AnswerError if the reply holds none."""
        reply = cast("dict[str, Any]", raw)
        caption = reply.get("captionResult", {}).get("text")
        if not isinstance(caption, str):
            raise AnswerError("Azure's reply has no caption.")
        return answer_of([caption], self._words, str(reply.get("modelVersion", "")))

    def _request(self) -> tuple[list[str], dict[str, Any]]:
        return ["caption"], {"gender_neutral_caption": True} if self._gender_neutral else {}
