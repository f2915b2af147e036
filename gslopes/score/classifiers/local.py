"""The classifiers that run on this machine, as ``gslopes classifiers`` lists them; importing this imports none."""

from __future__ import annotations

from collections.abc import Mapping

from gslopes.score.classifiers.listing import Listed

LOCALS: Mapping[str, Listed] = {
    "celeba-tagger": Listed(
        "gslopes.score.classifiers.celeba_tagger:CelebaTagger",
        "40 CelebA attributes, a small network that ships with gslopes.",
        ("threshold=0.5",),
    ),
    "onnx": Listed(
        "gslopes.score.classifiers.onnx:OnnxClassifier",
        "A model of yours in an ONNX file, with a labels file and its preprocessing.",
        (
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
        ),
        extra="gslopes[onnx]",
        needs=("onnxruntime",),
    ),
}
