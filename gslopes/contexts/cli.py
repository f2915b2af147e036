"""``gslopes contexts``: does the background decide who is seen?"""

from gslopes.contexts.audit import CONTEXTS
from gslopes.frame.verb import verb

contexts = verb(CONTEXTS)
