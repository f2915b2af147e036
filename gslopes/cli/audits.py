"""``gslopes contexts``, ``crops`` and ``captions``: each audit's verb, with its siblings such as ``crops sweep``."""

from __future__ import annotations

from functools import cache

import click

from gslopes.frame.result import AUDITS, find_audit
from gslopes.frame.verb import verb, verbs


@cache
def __getattr__(name: str) -> click.Command:
    if name not in AUDITS:
        raise AttributeError(name)
    return verbs(*(verb(find_audit(kind)) for kind in AUDITS if kind.partition(" ")[0] == name))
