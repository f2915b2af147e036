"""``gslopes contexts``, ``crops`` and ``captions``: each audit's verb."""

from functools import cache

import click

from gslopes.frame.result import AUDITS, find_audit
from gslopes.frame.verb import verb


@cache
def __getattr__(name: str) -> click.Command:
    if name not in AUDITS:
        raise AttributeError(name)
    return verb(find_audit(name))
