"""``gslopes captions``: the audit, and R2 of an audit with a captioner (``gslopes captions sweep RUN``)."""

from __future__ import annotations

from gslopes.captions.audit import CAPTIONS
from gslopes.captions.sweep import SWEEP
from gslopes.frame.verb import verb, verbs

captions = verbs(verb(CAPTIONS), verb(SWEEP))
