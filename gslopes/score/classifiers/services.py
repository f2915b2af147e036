"""The commercial services, as ``gslopes classifiers`` lists them; importing this imports none of their clients."""

from __future__ import annotations

from collections.abc import Mapping

from gslopes.score.classifiers.listing import Listed

SERVICES: Mapping[str, Listed] = {}
