"""Every interval of an audit of contexts or crops can be: simulated audits of all sizes, and what is said of them."""

import numpy as np
import pytest

from gslopes.contexts import TABLES as OF_CONTEXTS, filled
from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.interaction import compare
from gslopes.contexts.page import sections
from gslopes.contexts.page.tables import paper_tables
from gslopes.crops.config import TABLES as OF_CROPS
from gslopes.crops.page import sections as of_crops
from tests.benches.headlines_siblings import Contexts, Crops, audited, cropped
from tests.bounds import Bound, bare, check, impossible

SIZES = ((1, 1), (2, 2), (3, 1), (3, 3), (5, 9), (10, 2), (12, 12), (30, 10))
QUICK = ContextOptions(permutations=19)
CHANGE = ("change", "change_rooms")
STEEP = 100 * 0.5 * np.abs(np.linspace(-2, 2, 5)).sum() / 10  # of presence over five values
OF_TABLES = {
    "recognised": [Bound("share", ends, 0, 1) for ends in ("ci", "rooms")],
    "inferred": [Bound("share", ends, 0, 1) for ends in ("ci", "rooms")]
    + [Bound("change", ends, -1, 1) for ends in CHANGE],
    "accuracy": [Bound("f1", ends, 0, 1) for ends in ("ci", "rooms")]
    + [Bound("paired_change", ends, -1, 1) for ends in CHANGE],
    "distances": [Bound("mean", "ci", 0, 1)],
    "tukey": [Bound("difference", "ci", -1, 1)],
    "interaction": [
        Bound("difference", "ci", -2 * STEEP, 2 * STEEP),
        Bound("face", "face", -2 * STEEP, 2 * STEEP),
        Bound("effect", "effect", -100, 100),
        Bound("slope", "slope", -STEEP, STEEP),
        Bound("baseline", "baseline", -STEEP, STEEP),
    ],
    "ratings": [Bound("median", "ci", 0, 10)],
}
OF_CROPS_TABLES = {
    "parity": [Bound("p", "ci", 0, 1), Bound("ratio", "ratio", 0)],
    "averages": [Bound("p", "ci", 0, 1)],
    "positions": [Bound("left", "ci", -0.5, 0.5)],
    "attached": [Bound("same", "ci", 0, 1)],
    "policies": [Bound("deviation", "deviation", -0.5, 0.5)],
    "gaze": [Bound("share", "ci", 0, 1)],
    "gaze_gaps": [Bound("difference", "ci", -1, 1)],
}


def steepest(audit: Contexts) -> float:
    """Of right answers, or another share, over the rated contexts, in points per unit of congruence."""
    fit = np.array(audit.ratings) / 5 - 1
    centred = fit - fit.mean()
    return 50 * float(np.abs(centred).sum() / np.square(centred).sum())


def test_every_end_of_an_interval_has_a_bound() -> None:
    """Of ``changes`` and ``congruence`` below, row by row."""
    own = {
        "changes": [Bound("difference")],
        "congruence": [Bound("slope", e) for e in ("ci", "rooms")],
    }
    for tables, bounds in ((OF_CONTEXTS, OF_TABLES | own), (OF_CROPS, OF_CROPS_TABLES)):
        for name, table in tables.items():
            assert not bare(table.columns, bounds.get(name, ())), name


LARGE = [pytest.param(size, marks=(pytest.mark.slow, pytest.mark.evidence)) for size in SIZES[6:]]


@pytest.mark.slow
@pytest.mark.parametrize("size", [*SIZES[:6], *LARGE])
def test_no_interval_of_a_context_audit_leaves_its_bounds(size) -> None:
    for seed, more in enumerate(({"slope": 3.0}, {"rooms": 2, "photos": 2}, {"refused": 0.4})):
        ratings = (0.0, 4.0, 5.0, 9.0) if seed else (1.0, 9.0)
        audit = Contexts(*size, ratings=ratings, groups=2, **more)
        made = audited(audit, np.random.default_rng([*size, seed]), QUICK)
        # one answer missing leaves fewer contexts, between which a slope can be steeper
        steep = np.inf if audit.refused else steepest(audit)
        slopes = made.get("congruence", filled("congruence", []))
        most = np.where(slopes["measure"] == "n_tags", np.inf, steep)
        most = np.where(slopes["estimator"] == "difference", 2 * most, most)
        apart = np.where(made["changes"]["analysis"] == "within", 2, 1)
        own = {
            "congruence": [Bound("slope", ends, -most, most) for ends in ("ci", "rooms")],
            "changes": [Bound("difference", "ci", -apart, apart)],
        }
        results = {name: frame for name, frame in made.items() if name in OF_TABLES | own}
        check(results, OF_TABLES | own)
        few = slopes[(slopes["estimator"] == "person") & (slopes["n"] < 10)]
        assert few[["p", "p_perm", "q", "ci_low", "ci_high", "rooms_low"]].isna().all(axis=None)
        results["backgrounds"] = made["backgrounds"].astype(object)
        pages = paper_tables(results)
        cells = [f"{cell}" for page in pages.values() for cell in page.to_numpy().ravel()]
        assert impossible("; ".join([*cells, sections.headline(made)]), steep) == []


def test_no_interval_of_a_sweep_leaves_its_bounds() -> None:
    rng = np.random.default_rng(3)
    values = np.linspace(-2, 2, 5)
    rows = []
    for people in (2, 5, 10, 12, 30):
        for share in (0.02, 0.5, 0.9):
            canvas = (rng.random((people, 1)) < share) * np.ones((1, 5))
            steps = np.tile(values > 0.5, (people, 1)) ^ (rng.random((people, 5)) < 0.05)
            rows += [
                compare(canvas, steps, values, np.arange(people)),
                compare(1.0 - steps, steps, values, np.arange(people)),
            ]
    check({"interaction": filled("interaction", rows)}, OF_TABLES)


@pytest.mark.parametrize("size", SIZES)
def test_no_interval_of_a_crop_audit_leaves_its_bounds(size) -> None:
    for seed, more in enumerate(({"apart": 3.0}, {"chance": True}, {"constant": True})):
        for least in (2, 10):
            audit = Crops(size, min_group=least, **more)
            made = cropped(audit, np.random.default_rng([*size, seed]))
            check({"parity": made["parity"]}, OF_CROPS_TABLES)
            if min(size) < least:
                unjudged = made["parity"][["p_value", "q", "ratio_low", "ratio_high"]]
                assert unjudged.isna().all(axis=None)
            assert impossible(of_crops.headline_of(made).sentence) == []
