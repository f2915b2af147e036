"""The classifiers of gslopes: where each is, what it needs, its limits and its price; importing this imports none.

Limits and prices of services are those that the vendors published in November 2026; a user's contract may say
otherwise: the parameters ``rate``, ``concurrency`` and ``price``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path

from gslopes.score.limits import LOCAL, Limits

_MIB = 2**20


@dataclass(frozen=True, slots=True)
class Credential:
    """One credential of a service.

    variable: the environment variable.  files: the vendor's own files that may hold it instead, ``~`` allowed.
    instead: other variables, one of which is enough.
    """

    variable: str
    files: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()

    @property
    def present(self) -> bool:
        """Whether it is there; its value is not looked at."""
        variables = any(map(os.environ.get, (self.variable, *self.instead)))
        return variables or any(Path(file).expanduser().is_file() for file in self.files)


@dataclass(frozen=True, slots=True)
class Listed:
    """A classifier of gslopes.

    place: ``module:Class`` in this package.  summary: one sentence.
    extra: what to give to ``pip install``.  needs: the modules that the extra brings, dotted names allowed.
    limits: see ``score.limits``.
    presence: feature (empty: any other) to what the vendor itself returns unless asked for more: the least score, and
        the number of labels a picture, 0 for no limit.
    credentials: all that are needed; none for a local classifier.
    """

    place: str
    summary: str
    extra: str = ""
    needs: tuple[str, ...] = ()
    limits: Limits = LOCAL
    presence: Mapping[str, tuple[float, int]] = field(default_factory=dict)
    credentials: tuple[Credential, ...] = ()

    @property
    def path(self) -> str:
        """``package.module:Class``."""
        return f"gslopes.score.classifiers.{self.place}"

    @property
    def missing_modules(self) -> list[str]:
        """Modules that are not installed; at most the parent packages of dotted names are imported to find out."""
        return [module for module in self.needs if not _installed(module)]

    @property
    def missing_credentials(self) -> list[str]:
        """The variables that are not set, each with its alternatives."""
        return [" or ".join((one.variable, *one.instead)) for one in self.credentials if not one.present]


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


# -- classifiers that cost nothing to ask -----------------------------------------------------------------------------

_OWN_ENDPOINT = Limits(concurrency=4, note="limits and price are yours to give: rate, concurrency, price")

LOCALS: Mapping[str, Listed] = {
    "captioner": Listed(
        "captioner:Captioner",
        "An image-to-text model of the transformers library; labels are its captions' words, synsets and mentions.",
        extra="gslopes[captions,transformers]",
        needs=("transformers", "HanTa"),
    ),
    "captioner-http": Listed(
        "captioner_services:HttpCaptioner",
        "A captioner of yours behind an address; labels are its captions' words, synsets and mentions.",
        extra="gslopes[captions,http]",
        needs=("httpx", "HanTa"),
        limits=_OWN_ENDPOINT,
    ),
    "captioner-python": Listed(
        "captioner:PythonCaptioner",
        "A function of yours, module:function, from a list of arrays to captions.",
        extra="gslopes[captions]",
        needs=("HanTa",),
    ),
    "celeba-tagger": Listed(
        "celeba_tagger:CelebaTagger", "40 CelebA attributes, a small network that ships with gslopes."
    ),
    "clip": Listed(
        "clip:ClipClassifier",
        "Zero-shot over occupations, traits or labels of yours, with a model of open_clip.",
        extra="gslopes[clip]",
        needs=("open_clip",),
    ),
    "http": Listed(
        "http:HttpClassifier",
        "An endpoint of yours that speaks a small JSON protocol.",
        extra="gslopes[http]",
        needs=("httpx",),
        limits=_OWN_ENDPOINT,
    ),
    "onnx": Listed(
        "onnx:OnnxClassifier",
        "A model of yours in an ONNX file, with a labels file and its preprocessing.",
        extra="gslopes[onnx]",
        needs=("onnx", "onnxruntime"),
    ),
    "python": Listed("python:PythonClassifier", "A function of yours, module:function, on a list of arrays."),
    "replay": Listed("replay:ReplayClassifier", "Recorded answers, such as gslopes cache export writes."),
    "timm": Listed(
        "timm:TimmClassifier", "An image classifier of timm, by its name there.", extra="gslopes[timm]", needs=("timm",)
    ),
    "torchscript": Listed(
        "torchscript:TorchScriptClassifier",
        "A model of yours that torch.jit saved, with a labels file and its preprocessing. The file is a program, which "
        "may read and write your files: it runs with --trust alone, in a process of its own.",
    ),
    "torchvision": Listed(
        "torchvision:TorchvisionClassifier", "An image classifier of torchvision, by its name there."
    ),
    "transformers": Listed(
        "transformers:TransformersClassifier",
        "A model of the transformers library, by hub name or folder: image classification, zero-shot, or text.",
        extra="gslopes[transformers]",
        needs=("transformers",),
    ),
}

# -- commercial services ----------------------------------------------------------------------------------------------

_ENCODED = Limits(concurrency=4, formats=("JPEG", "PNG"), price=None)
_CHAT = replace(
    _ENCODED,
    picture_bytes=15_000_000,
    note="The price depends on the model: price_in and price_out, USD per million tokens. "
    "A server on this machine needs no key and costs nothing.",
)
_AZURE = replace(  # of Image Analysis 4.0, whatever it is asked for
    _ENCODED,
    requests_per_second=20,
    concurrency=8,
    picture_bytes=20 * _MIB,
    min_side=50,
    max_side=16_000,
    note="20 requests a minute on the free plan: rate=0.33.",
)
_AZURE_CREDENTIALS = (Credential("VISION_ENDPOINT"), Credential("VISION_KEY"))
_OPENAI_CREDENTIALS = (Credential("OPENAI_API_KEY"),)

SERVICES: Mapping[str, Listed] = {
    "azure": Listed(
        "azure:Azure",
        "Tags of Azure AI Vision, Image Analysis 4.0, or the severities of Azure AI Content Safety.",
        extra="gslopes[azure]",
        needs=("azure.ai.vision.imageanalysis", "azure.ai.contentsafety", "azure.identity"),
        presence={"moderation": (1 / 3, 0)},
        limits=replace(_AZURE, price=1.0, note=f"{_AZURE.note} Tags end after 2028-09-25. Entra ID: auth=entra."),
        credentials=_AZURE_CREDENTIALS,
    ),
    "azure-caption": Listed(
        "captioner_services:AzureCaption",
        "Captions of Azure AI Vision; labels are their words, synsets and mentions.",
        extra="gslopes[azure,captions]",
        needs=("azure.ai.vision.imageanalysis", "azure.identity", "HanTa"),
        limits=replace(_AZURE, price=1.5, note=f"{_AZURE.note} Captions exist in some regions only."),
        credentials=_AZURE_CREDENTIALS,
    ),
    "captioner-chat": Listed(
        "captioner_services:ChatCaptioner",
        "Captions of a language model behind the chat endpoint; labels are their words, synsets and mentions.",
        extra="gslopes[captions,llm]",
        needs=("openai", "HanTa"),
        presence={"": (0.5, 0)},
        limits=_CHAT,
        credentials=_OPENAI_CREDENTIALS,
    ),
    "clarifai": Listed(
        "clarifai:Clarifai",
        "A classifier that Clarifai hosts; general-image-recognition unless asked otherwise.",
        extra="gslopes[clarifai]",
        needs=("clarifai_grpc", "grpc"),
        presence={"": (0.0, 20)},
        limits=replace(
            _ENCODED,
            requests_per_second=15,
            picture_bytes=20_000_000,
            request_bytes=100_000_000,
            note="The price depends on the plan: price=USD_PER_1000. Most of the older models ended on 2025-12-31; "
            "a warning follows when an answer says that the model will end.",
        ),
        credentials=(Credential("CLARIFAI_PAT"),),
    ),
    "google": Listed(
        "google:Google",
        "Labels of Google Cloud Vision, the likelihoods of a face, or those of SafeSearch.",
        extra="gslopes[google]",
        needs=("google.cloud.vision",),
        presence={"": (0.0, 10), "faces": (0.5, 0), "safe-search": (0.5, 0)},
        limits=replace(
            _ENCODED,
            requests_per_second=30,
            pictures_per_second=30,
            picture_bytes=7_500_000,  # a picture above it would not fit into a request, whose JSON takes 10 MiB
            request_bytes=7_500_000,
            max_pixels=75_000_000,
            price=1.5,
            note="The first 1,000 pictures a month are free. A face's emotions are unknown to new projects since "
            "2026-10-15, and to all from 2027-01-14.",
        ),
        credentials=(
            Credential(
                "GOOGLE_APPLICATION_CREDENTIALS",
                ("~/.config/gcloud/application_default_credentials.json",),
                instead=("GOOGLE_API_KEY",),
            ),
        ),
    ),
    "imagga": Listed(
        "imagga:Imagga",
        "Tags of Imagga.",
        extra="gslopes[imagga]",
        needs=("httpx",),
        limits=replace(
            _ENCODED,
            concurrency=1,
            note="Price and concurrency depend on the plan: price=USD_PER_1000, concurrency=N.",
        ),
        credentials=(Credential("IMAGGA_API_KEY"), Credential("IMAGGA_API_SECRET")),
    ),
    "llm": Listed(
        "llm:Llm",
        "A multimodal language model behind the OpenAI-compatible chat endpoint, of a vendor or on this machine.",
        extra="gslopes[llm]",
        needs=("openai",),
        presence={"": (0.5, 0)},
        limits=_CHAT,
        credentials=_OPENAI_CREDENTIALS,
    ),
    "openai": Listed(
        "openai_moderation:OpenAIModeration",
        "OpenAI's moderation of pictures, free of charge; a score for each category.",
        extra="gslopes[llm]",
        needs=("openai",),
        presence={"": (0.5, 0)},
        limits=replace(
            _ENCODED,
            requests_per_second=8,
            picture_bytes=15_000_000,
            price=0.0,
            note="Requests a minute are a quota of the account: rate=REQUESTS_A_SECOND.",
        ),
        credentials=_OPENAI_CREDENTIALS,
    ),
    "rekognition": Listed(
        "rekognition:Rekognition",
        "Labels of Amazon Rekognition, its analysis of a face, or moderation labels.",
        extra="gslopes[rekognition]",
        needs=("boto3",),
        presence={"": (0.55, 0), "faces": (0.5, 0), "moderation": (0.5, 0)},
        limits=replace(
            _ENCODED,
            requests_per_second=5,
            concurrency=8,
            picture_bytes=5 * _MIB,
            min_side=80,
            max_side=10_000,
            price=1.0,
            note="Requests a second are a quota of the account, 50 in some regions: rate=50.",
        ),
        credentials=(
            Credential("AWS_ACCESS_KEY_ID", ("~/.aws/credentials",), instead=("AWS_PROFILE",)),
            Credential("AWS_SECRET_ACCESS_KEY", ("~/.aws/credentials",), instead=("AWS_PROFILE",)),
            Credential("AWS_DEFAULT_REGION", ("~/.aws/config",)),
        ),
    ),
    "watson": Listed(
        "watson:Watson", "Withdrawn by IBM in December 2021: recorded answers can be audited with replay."
    ),
}
