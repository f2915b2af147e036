"""Faces and moderation as labels: what services say in addition, each a score in [0, 1].

A face's answer is about the largest face. What is said as yes or no with a confidence c becomes c or 1 - c; an age in
years is divided by 100; a likelihood or a severity is its place on the service's scale. Without a face there is the one
label ``no face``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NO_FACE = "no face"
YEARS = 100.0  # the age whose score is 1
_LIKELIHOODS = ("VERY_UNLIKELY", "UNLIKELY", "POSSIBLE", "LIKELY", "VERY_LIKELY")
_SEVEREST = 6.0  # of Azure's four levels 0, 2, 4, 6

Pairs = list[tuple[str, float]]


def rekognition_face(details: list[Mapping[str, Any]]) -> Pairs:
    """Gender, emotions, age and what is worn, of the largest face of ``FaceDetails``."""
    if not details:
        return [(NO_FACE, 1.0)]
    face = max(details, key=lambda one: float(one["BoundingBox"]["Width"]) * float(one["BoundingBox"]["Height"]))
    pairs: Pairs = []
    if "Gender" in face:
        pairs.append((f"gender: {face['Gender']['Value']}", float(face["Gender"]["Confidence"]) / 100))
    if "AgeRange" in face:
        pairs += [(f"age: {end.lower()} end", float(face["AgeRange"][end]) / YEARS) for end in ("Low", "High")]
    pairs += [(f"emotion: {one['Type']}", float(one["Confidence"]) / 100) for one in face.get("Emotions", [])]
    for name, said in face.items():
        if isinstance(said, Mapping) and isinstance(said.get("Value"), bool):
            sure = float(said["Confidence"]) / 100
            pairs.append((f"face: {name}", sure if said["Value"] else 1 - sure))
    return pairs


def google_face(faces: list[Mapping[str, Any]]) -> Pairs:
    """The likelihoods of the largest face of ``faceAnnotations``; those that are unknown are left out.

    Emotions are unknown for new projects since October 2026, and for all from January 2027.
    """
    if not faces:
        return [(NO_FACE, 1.0)]
    face = max(faces, key=lambda one: _area(one.get("boundingPoly", {}).get("vertices", [])))
    names = {name: name.removesuffix("Likelihood") for name in face if name.endswith("Likelihood")}
    return [(f"face: {short}", likelihood) for name, short in names.items() if (likelihood := _place(face[name])) >= 0]


def google_safe_search(annotation: Mapping[str, Any]) -> Pairs:
    """The likelihoods of ``safeSearchAnnotation``."""
    return [(f"unsafe: {name}", place) for name, said in annotation.items() if (place := _place(said)) >= 0]


def azure_safety(categories: list[Mapping[str, Any]]) -> Pairs:
    """The severities of ``categoriesAnalysis``, 0 to 6."""
    return [(f"unsafe: {one['category']}", float(one.get("severity") or 0) / _SEVEREST) for one in categories]


def _place(likelihood: object) -> float:
    """Of a likelihood on the scale from 0 to 1; -1 if it is unknown."""
    text = str(likelihood)
    return _LIKELIHOODS.index(text) / (len(_LIKELIHOODS) - 1) if text in _LIKELIHOODS else -1.0


def _area(vertices: list[Mapping[str, Any]]) -> float:
    sides = [[float(one.get(axis, 0)) for one in vertices] or [0.0] for axis in ("x", "y")]
    return (max(sides[0]) - min(sides[0])) * (max(sides[1]) - min(sides[1]))
