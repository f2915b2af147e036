"""The commercial services, as ``gslopes classifiers`` lists them; importing this imports none of their clients.

Limits and prices are those that the vendors published in November 2026; the user's contract may say otherwise, and the
parameters ``rate``, ``concurrency`` and ``price`` tell what it says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gslopes.score.classifiers.listing import Credential, Listed
from gslopes.score.limits import Limits

_MIB = 2**20
_PACE = ("rate=0", "concurrency=0", "price=0")
_AZURE_CREDENTIALS = (Credential("VISION_ENDPOINT"), Credential("VISION_KEY"))
_AZURE = Limits(  # of Image Analysis 4.0, whatever it is asked for
    requests_per_second=20,
    concurrency=8,
    picture_bytes=20 * _MIB,
    min_side=50,
    max_side=16_000,
    formats=("JPEG", "PNG"),
    note="20 requests a minute on the free plan: rate=0.33.",
)

SERVICES: Mapping[str, Listed] = {
    "azure": Listed(
        "gslopes.score.classifiers.azure:Azure",
        "Tags of Azure AI Vision, Image Analysis 4.0, or the severities of Azure AI Content Safety.",
        ("tags|moderation", "language=en", "model_version=latest", "endpoint=", *_PACE, "auth=key"),
        extra="gslopes[azure]",
        needs=("azure.ai.vision.imageanalysis", "azure.ai.contentsafety", "azure.identity"),
        presence={"moderation": (1 / 3, 0)},
        limits=replace(_AZURE, price=1.0, note=f"{_AZURE.note} Tags end after 2028-09-25. Entra ID: auth=entra."),
        credentials=_AZURE_CREDENTIALS,
    ),
    "azure-caption": Listed(
        "gslopes.score.classifiers.captioner_services:AzureCaption",
        "Captions of Azure AI Vision; labels are their words, synsets and mentions.",
        (
            "model_version=latest",
            "endpoint=",
            "gender_neutral=no",
            "senses=overrides",
            "up=0",
            "parser=chunks",
            *_PACE,
            "auth=key",
        ),
        extra="gslopes[azure,captions]",
        needs=("azure.ai.vision.imageanalysis", "azure.identity", "HanTa"),
        limits=replace(_AZURE, price=1.5, note=f"{_AZURE.note} Captions exist in some regions only."),
        credentials=_AZURE_CREDENTIALS,
    ),
    "captioner-chat": Listed(
        "gslopes.score.classifiers.captioner:ChatCaptioner",
        "Captions of a language model behind the chat endpoint; labels are their words, synsets and mentions.",
        (
            "MODEL",
            "url=",
            "key=OPENAI_API_KEY",
            "prompt=caption",
            "scores=repeats",
            "repeats=1",
            "n=1",
            "temperature=0",
            "seed=0",
            "max_tokens=200",
            "side=0",
            "detail=auto",
            "snapshot=",
            "senses=overrides",
            "up=0",
            "parser=chunks",
            *_PACE,
            "price_in=0",
            "price_out=0",
            "image_tokens=1105",
            "timeout=120",
        ),
        extra="gslopes[captions,llm]",
        needs=("openai", "HanTa"),
        presence={"": (0.5, 0)},
        limits=Limits(
            concurrency=4,
            picture_bytes=15_000_000,
            formats=("JPEG", "PNG"),
            price=None,
            note="The price depends on the model: price_in and price_out, USD per million tokens. "
            "A server on this machine needs no key and costs nothing.",
        ),
        credentials=(Credential("OPENAI_API_KEY"),),
    ),
    "clarifai": Listed(
        "gslopes.score.classifiers.clarifai:Clarifai",
        "A classifier that Clarifai hosts; general-image-recognition unless asked otherwise.",
        (
            "max_concepts=200",
            "min_value=0",
            "model=general-image-recognition",
            "model_version=",
            "user=clarifai",
            "app=main",
            "endpoint=",
            *_PACE,
        ),
        extra="gslopes[clarifai]",
        needs=("clarifai_grpc", "grpc"),
        presence={"": (0.0, 20)},
        limits=Limits(
            requests_per_second=15,
            concurrency=4,
            picture_bytes=20_000_000,
            request_bytes=100_000_000,
            formats=("JPEG", "PNG"),
            price=None,
            note="The price depends on the plan: price=USD_PER_1000. Most of the older models ended on 2025-12-31; "
            "that one is going to end is told when it answers.",
        ),
        credentials=(Credential("CLARIFAI_PAT"),),
    ),
    "google": Listed(
        "gslopes.score.classifiers.google:Google",
        "Labels of Google Cloud Vision, the likelihoods of a face, or those of SafeSearch.",
        ("labels|faces|safe-search", "max_results=50", "model=", "endpoint=", *_PACE, "images_per_minute=1800"),
        extra="gslopes[google]",
        needs=("google.cloud.vision",),
        presence={"": (0.0, 10), "faces": (0.5, 0), "safe-search": (0.5, 0)},
        limits=Limits(
            requests_per_second=30,
            pictures_per_second=30,
            concurrency=4,
            picture_bytes=7_500_000,  # a picture above it would not fit into a request, whose JSON takes 10 MiB
            request_bytes=7_500_000,
            max_pixels=75_000_000,
            formats=("JPEG", "PNG"),
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
        "gslopes.score.classifiers.imagga:Imagga",
        "Tags of Imagga.",
        ("limit=-1", "threshold=0", "language=en", "endpoint=", *_PACE),
        extra="gslopes[imagga]",
        needs=("httpx",),
        limits=Limits(
            concurrency=1,
            formats=("JPEG", "PNG"),
            price=None,
            note="Price and concurrency depend on the plan: price=USD_PER_1000, concurrency=N.",
        ),
        credentials=(Credential("IMAGGA_API_KEY"), Credential("IMAGGA_API_SECRET")),
    ),
    "llm": Listed(
        "gslopes.score.classifiers.llm:Llm",
        "A multimodal language model behind the OpenAI-compatible chat endpoint, of a vendor or on this machine.",
        (
            "MODEL",
            "url=",
            "key=OPENAI_API_KEY",
            "prompt=occupation",
            "scores=auto",
            "repeats=5",
            "n=1",
            "temperature=1",
            "seed=0",
            "max_tokens=200",
            "side=0",
            "detail=auto",
            "snapshot=",
            *_PACE,
            "price_in=0",
            "price_out=0",
            "image_tokens=1105",
            "timeout=120",
        ),
        extra="gslopes[llm]",
        needs=("openai",),
        presence={"": (0.5, 0)},
        limits=Limits(
            concurrency=4,
            picture_bytes=15_000_000,
            formats=("JPEG", "PNG"),
            price=None,
            note="The price depends on the model: price_in and price_out, USD per million tokens. "
            "A server on this machine needs no key and costs nothing.",
        ),
        credentials=(Credential("OPENAI_API_KEY"),),
    ),
    "openai": Listed(
        "gslopes.score.classifiers.openai_moderation:OpenAIModeration",
        "OpenAI's moderation of pictures, free of charge; a score for each category.",
        ("moderation", "model=omni-moderation-latest", "endpoint=", *_PACE),
        extra="gslopes[llm]",
        needs=("openai",),
        presence={"": (0.5, 0)},
        limits=Limits(
            requests_per_second=8,
            concurrency=4,
            picture_bytes=15_000_000,
            formats=("JPEG", "PNG"),
            price=0.0,
            note="Requests a minute are a quota of the account: rate=REQUESTS_A_SECOND.",
        ),
        credentials=(Credential("OPENAI_API_KEY"),),
    ),
    "rekognition": Listed(
        "gslopes.score.classifiers.rekognition:Rekognition",
        "Labels of Amazon Rekognition, its analysis of a face, or moderation labels.",
        (
            "labels|faces|moderation",
            "max_labels=1000",
            "min_confidence=0",
            "region=",
            "endpoint=",
            *_PACE,
            "profile=",
        ),
        extra="gslopes[rekognition]",
        needs=("boto3",),
        presence={"": (0.55, 0), "faces": (0.5, 0), "moderation": (0.5, 0)},
        limits=Limits(
            requests_per_second=5,
            concurrency=8,
            picture_bytes=5 * _MIB,
            min_side=80,
            max_side=10_000,
            formats=("JPEG", "PNG"),
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
        "gslopes.score.classifiers.watson:Watson",
        "Withdrawn by IBM in December 2021: recorded answers can be audited with replay.",
        _PACE,
    ),
}
