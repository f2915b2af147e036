"""``gslopes evaluate``: what a shipped model reaches on people that no model has learned from."""

from __future__ import annotations

from gslopes.studies.evaluate.evaluate import evaluate

__all__ = ["evaluate"]
