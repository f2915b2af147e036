"""The classifiers that cost nothing to ask, as ``gslopes classifiers`` lists them; importing this imports none."""

from __future__ import annotations

from collections.abc import Mapping

from gslopes.score.classifiers.listing import Listed
from gslopes.score.limits import Limits

_FILE = (
    "FILE",
    "labels=LABELS",
    "threshold=0.5",
    "top_k=0",
    "activation=none",
    "size=0",
    "white=1",
    "mean=0/0/0",
    "std=1/1/1",
    "channels=rgb",
    "layout=nchw",
)
_LIBRARY = ("MODEL", "weights=", "labels=", "top_k=5", "threshold=0", "activation=softmax")
_HOME = "gslopes.score.classifiers"

LOCALS: Mapping[str, Listed] = {
    "captioner": Listed(
        f"{_HOME}.captioner:Captioner",
        "An image-to-text model of the transformers library; labels are its captions' words, synsets and mentions.",
        (
            "MODEL",
            "max_tokens=40",
            "prompt=Describe this picture in one sentence.",
            "samples=1",
            "temperature=1",
            "senses=overrides",
            "up=0",
            "parser=chunks",
            "batch=8",
        ),
        extra="gslopes[captions,transformers]",
        needs=("transformers", "HanTa"),
    ),
    "captioner-http": Listed(
        f"{_HOME}.captioner_services:HttpCaptioner",
        "A captioner of yours behind an address; labels are its captions' words, synsets and mentions.",
        (
            "URL",
            "version=",
            "token=",
            "senses=overrides",
            "up=0",
            "parser=chunks",
            "rate=0",
            "concurrency=0",
            "price=0",
            "batch=8",
        ),
        extra="gslopes[captions,http]",
        needs=("httpx", "HanTa"),
        limits=Limits(concurrency=4, note="limits and price are yours to give: rate, concurrency, price"),
    ),
    "captioner-python": Listed(
        f"{_HOME}.captioner:PythonCaptioner",
        "A function of yours, module:function, from a list of arrays to captions.",
        ("PATH", "version=", "senses=overrides", "up=0", "parser=chunks", "batch=32"),
        extra="gslopes[captions]",
        needs=("HanTa",),
    ),
    "celeba-tagger": Listed(
        f"{_HOME}.celeba_tagger:CelebaTagger",
        "40 CelebA attributes, a small network that ships with gslopes.",
        ("threshold=0.5",),
    ),
    "clip": Listed(
        f"{_HOME}.clip:ClipClassifier",
        "Zero-shot over occupations, traits or labels of yours, with a model of open_clip.",
        (
            "MODEL",
            "pretrained=",
            "weights=",
            "config=",
            "labels=occupations",
            "template=",
            "top_k=5",
            "threshold=0",
            "activation=auto",
        ),
        extra="gslopes[clip]",
        needs=("open_clip",),
    ),
    "http": Listed(
        f"{_HOME}.http:HttpClassifier",
        "An endpoint of yours that speaks a small JSON protocol.",
        ("URL", "version=", "token=", "rate=0", "concurrency=0", "price=0", "batch=8"),
        extra="gslopes[http]",
        needs=("httpx",),
        limits=Limits(concurrency=4, note="limits and price are yours to give: rate, concurrency, price"),
    ),
    "onnx": Listed(
        f"{_HOME}.onnx:OnnxClassifier",
        "A model of yours in an ONNX file, with a labels file and its preprocessing.",
        _FILE,
        extra="gslopes[onnx]",
        needs=("onnx", "onnxruntime"),
    ),
    "python": Listed(
        f"{_HOME}.python:PythonClassifier",
        "A function of yours, module:function, on a list of arrays.",
        ("PATH", "version=", "batch=32"),
    ),
    "replay": Listed(
        f"{_HOME}.replay:ReplayClassifier",
        "Recorded answers, such as gslopes cache export writes.",
        ("FILE", "classifier="),
    ),
    "timm": Listed(
        f"{_HOME}.timm:TimmClassifier",
        "An image classifier of timm, by its name there.",
        _LIBRARY,
        extra="gslopes[timm]",
        needs=("timm",),
    ),
    "torchscript": Listed(
        f"{_HOME}.torchscript:TorchScriptClassifier",
        "A model of yours that torch.jit saved, with a labels file and its preprocessing. The file is a program, which "
        "may read and write your files: it runs with --trust alone, in a process of its own.",
        (*_FILE, "time_limit=120"),
    ),
    "torchvision": Listed(
        f"{_HOME}.torchvision:TorchvisionClassifier",
        "An image classifier of torchvision, by its name there.",
        _LIBRARY,
    ),
    "transformers": Listed(
        f"{_HOME}.transformers:TransformersClassifier",
        "A model of the transformers library, by hub name or folder: image classification, zero-shot, or text.",
        (
            "MODEL",
            "revision=",
            "task=auto",
            "top_k=5",
            "threshold=0",
            "activation=auto",
            "labels=occupations",
            "template=",
            "prompt=occupation",
            "scores=auto",
            "repeats=5",
            "temperature=1",
            "seed=0",
            "max_tokens=200",
        ),
        extra="gslopes[transformers]",
        needs=("transformers",),
    ),
}
