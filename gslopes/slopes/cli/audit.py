"""``gslopes audit``: the whole walk, or one of its stages; ``gslopes synthesise``: the first of them."""

from gslopes.frame.verb import verb
from gslopes.slopes.audit import SLOPES

audit = verb(SLOPES)
synthesise = verb(
    SLOPES,
    "synthesise",
    "Make the counterfactual photos of a folder: the first stage of an audit. No classifier is asked.",
    (
        "gslopes synthesise photos --out run",
        "gslopes synthesise photos --attribute race --steps 9 --set format=png --out run",
        "gslopes synthesise photos --out run --dry-run",
    ),
    ("attribute", "steps", "limit", "placebo", "device"),
)
