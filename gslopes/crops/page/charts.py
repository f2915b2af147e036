"""Curves and graphs of the crop audits' pages, which curves.html.j2 and graph.html.j2 draw."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from gslopes.core import Record, Row, read_beside
from gslopes.core.records import Array, Interval
from gslopes.report import inline


def distributions(values: Mapping[str, Array], title: str, extent: Interval) -> Markup:
    """Empirical distribution functions by group, with bands that hold everywhere at once (Dvoretzky-Kiefer-Wolfowitz).

    values: group to its persons' numbers.  extent: ends of the axis, the same for panels that are compared.
    """
    low, high = extent
    if not high > low:
        high = low + 1
    samples = {name: np.sort(sample[~np.isnan(sample)]).tolist() for name, sample in values.items()}
    return _drawn("curves.html.j2", title=title, low=low, high=high, samples=samples)


def _drawn(template: str, **content: Any) -> Markup:
    """A drawing by its template."""
    drawing = inline.templates(__file__).get_template(template)
    return Markup(drawing.render(content))


# -- the graph of Figure 2 --------------------------------------------------------------------------------------------

SIDE = 358  # pixels of the graph
MARGIN = 30  # pixels above and below it
REACH = 135  # pixels from its middle to its outermost groups
ROOM = (84, 30)  # pixels across and down between the middles of two numbers with their intervals
_GRAPH = read_beside(__file__, "graph.toml")
PLACES = _GRAPH["places"]
CORNERS = {
    int(count): [complex(*corner) for corner in corners]
    for count, corners in _GRAPH["corners"].items()
}
MOST_GROUPS = max(CORNERS)  # between more of them there are too many arrows to read


def graph(rows: Sequence[Record], title: str) -> Markup:
    """An arrow from the favoured group of each pair to the other, with its points over 50 % and their interval.

    An arrow whose interval holds 50 %, or that is not judged, is dashed; even pairs have no head.

    rows: of PARITY, of one column, variant and policy, of ``MOST_GROUPS`` groups at most.

    Source: Yee et al. 2021, Figures 2 (right), 3 and 4.
    """
    names = dict.fromkeys(row[side] for row in rows for side in ("group", "other"))
    middle = complex(SIDE / 2, MARGIN + REACH)
    corners = [middle + REACH * corner for corner in CORNERS[len(names)]]
    centres = dict(zip(names, corners, strict=True))
    arrows: list[Row] = []
    for row in map(larger_first, rows):
        ends = centres[row["group"]], centres[row["other"]]
        arrows.append({**row, "at": _apart(*ends, [arrow["at"] for arrow in arrows])})
    return _drawn(
        "graph.html.j2",
        title=title,
        side=SIDE,
        tall=2 * (REACH + MARGIN),
        arrows=arrows,
        points=centres,
    )


def _apart(start: complex, end: complex, taken: Sequence[complex]) -> complex:
    """The place of an arrow's number: far from the numbers of the others."""
    spots = [start + share * (end - start) for share in PLACES]
    return max(spots, key=lambda spot: min([1.0, *(_room(spot - other) for other in taken)]))


def _room(apart: complex) -> float:
    """1 or more if two numbers that lie so far apart do not touch."""
    return max(abs(apart.real) / ROOM[0], abs(apart.imag) / ROOM[1])


def larger_first(row: Record) -> Record:
    """A row of PARITY with the group first that has the larger share."""
    if not row["p"] < 0.5:
        return row
    turned = {"group": row["other"], "other": row["group"], "p": 1 - row["p"]}
    return {**row, **turned, "ci_low": 1 - row["ci_high"], "ci_high": 1 - row["ci_low"]}
