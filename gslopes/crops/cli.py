"""``gslopes crops``: whom does an automatic crop keep?  Its sibling ``sweep`` moves one face."""

from __future__ import annotations

from gslopes.crops.audit import CROPS
from gslopes.crops.sweep import SWEEP
from gslopes.frame.verb import verb, verbs

crops = verbs(verb(CROPS), verb(SWEEP))
