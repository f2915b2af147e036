"""Curves and graphs of the crop audits' pages, which curves.html.j2 and graph.html.j2 draw."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from gslopes.core.arrays import Array
from gslopes.core.tables import Record, Row
from gslopes.crops.page.words import larger_first
from gslopes.report import numbers, words
from gslopes.report.inline import templates

LEFT = 40
ABOVE = 12
WIDE = 304
TALL = 200  # of the axes, pixels: with their legend below curves fit a phone


def distributions(values: Mapping[str, Array], title: str, extent: tuple[float, float]) -> Markup:
    """Empirical distribution functions by group, with bands that hold everywhere at once (Dvoretzky-Kiefer-Wolfowitz).

    values: group to its persons' numbers.  extent: ends of the axis, the same for panels that are compared.
    """
    low, high = extent if extent[1] > extent[0] else (extent[0], extent[0] + 1)

    def points(line: Array) -> str:
        across, up = (line - [[low], [0]]) / [[high - low], [1]]
        return " ".join(
            f"{LEFT + WIDE * a:.1f},{ABOVE + TALL * (1 - b):.1f}"
            for a, b in zip(across, up, strict=True)
        )

    curves = []
    said = []
    for name, every in values.items():
        sample = np.sort(every[~np.isnan(every)])
        if not (n := len(sample)):
            continue
        share = np.arange(n + 1) / n
        half = math.sqrt(math.log(2 / 0.05) / (2 * n))
        upper, lower = (np.clip(share[1:] + side * half, 0, 1) for side in (1, -1))
        around = np.array([np.r_[sample, sample[::-1]], np.r_[upper, lower[::-1]]])
        line = np.array([np.repeat(sample, 2), np.repeat(share, 2)[1:-1]])
        curves.append((name, points(line), points(around)))
        said.append(f"{name} median {np.median(sample):.3g} of {n}")
    return _drawn(
        "curves.html.j2", title, said, left=LEFT, above=ABOVE, wide=WIDE, tall=TALL,
        levels=["0", "0.25", "0.5", "0.75", "1"], curves=curves,
        ticks=[numbers.value(end) for end in (low, (low + high) / 2, high)],
    )  # fmt: skip


def _drawn(template: str, title: str, said: Sequence[str], **known: Any) -> Markup:
    """A drawing by its template, with what it shows in words."""
    made = templates(Path(__file__).parent).get_template(template)
    return Markup(made.render(description=f"{title}: {'; '.join(said)}", **known))


# -- the graph of Figure 2 --------------------------------------------------------------------------------------------

SIDE = 358  # pixels of the graph
MARGIN = 30  # pixels above and below it
REACH = 135  # pixels from its middle to its outermost groups
APART = 9  # pixels from a group's middle to an arrow
HEAD = 10 + 4j  # pixels of an arrow's head: its length, and half of its width
NUMBER = 82  # pixels of a number with its interval
ROOM = (84, 30)  # pixels across and down between two of them
PLACES = (
    0.5,
    0.42,
    0.58,
    0.34,
    0.66,
    0.27,
    0.73,
    0.2,
    0.8,
)  # along an arrow: the places for its number
LETTERS = 24  # of a group's name
CORNERS = {  # across and down, by the number of groups
    2: (-1, 1),
    3: (-1j, -1 + 1j, 1 + 1j),
    4: (-1 - 1j, 1 - 1j, -1 + 1j, 1 + 1j),
    5: (-1j, 1 - 0.25j, 0.65 + 1j, -0.65 + 1j, -1 - 0.25j),
}
MOST_GROUPS = max(CORNERS)  # between more of them there are too many arrows to read


def graph(rows: Sequence[Record], title: str) -> Markup:
    """An arrow from the favoured group of each pair to the other, with its points over 50 % and their interval.

    An arrow whose interval holds 50 % is dashed; even pairs have no head.

    rows: of PARITY, of one column, variant and policy, of ``MOST_GROUPS`` groups at most.

    Source: Yee et al. 2021, Figures 2 (right), 3 and 4.
    """
    names = dict.fromkeys(row[side] for row in rows for side in ("group", "other"))
    middle = complex(SIDE / 2, MARGIN + REACH)
    places = {
        name: middle + REACH * corner
        for name, corner in zip(names, CORNERS[len(names)], strict=True)
    }
    arrows: list[Row] = []
    said = []
    for row in map(larger_first, rows):
        arrow = _arrow(places[row["group"]], places[row["other"]], arrows)
        arrow["share"] = numbers.size(100 * row["p"] - 50)
        arrow["ends"] = _over_half(row)
        arrow["even"] = not row["ci_low"] > 0.5
        arrow["headed"] = row["p"] > 0.5
        arrows.append(arrow)
        said.append(f"{row['group']} over {row['other']} {arrow['share']} {arrow['ends']}")
    points = [_point(*place) for place in places.items()]
    tall = 2 * (REACH + MARGIN)
    return _drawn(
        "graph.html.j2",
        title,
        said,
        side=SIDE,
        tall=tall,
        wide=NUMBER,
        arrows=arrows,
        points=points,
    )


def _over_half(row: Record) -> str:
    """The interval of a share in points over 50 %."""
    low, high = (100 * row[end] - 50 for end in ("ci_low", "ci_high"))
    if math.isnan(low):
        return "no interval"
    return numbers.interval(low, high)


def _point(name: str, place: complex) -> Row:
    """A group's circle, and its name above or below it, inside the drawing."""
    text = {"text_x": place.real, "anchor": "middle"}
    if place.real < SIDE / 3:
        text = {"text_x": place.real - NUMBER / 2, "anchor": "start"}
    elif place.real > 2 * SIDE / 3:
        text = {"text_x": place.real + NUMBER / 2, "anchor": "end"}
    below = place.imag > MARGIN + REACH
    text["text_y"] = place.imag + (22 if below else -12)
    return {
        "x": place.real,
        "y": place.imag,
        "name": words.shorten(name, LETTERS),
        "full": name,
        **text,
    }


def _arrow(start: complex, end: complex, others: Sequence[Row]) -> Row:
    """An arrow's ends and head, and the place of its number: far from the numbers of the others."""
    along = (end - start) / abs(end - start)
    first = start + APART * along
    last = end - APART * along
    back = (last - HEAD * along, last - HEAD.conjugate() * along)
    head = " ".join(f"{corner.real:.1f},{corner.imag:.1f}" for corner in (last, *back))
    spots = [start + place * (end - start) for place in PLACES]
    spot = max(spots, key=lambda spot: min([1.0, *(_room(spot, other["at"]) for other in others)]))
    return {"first": first, "last": last, "head": head, "at": spot}


def _room(spot: complex, other: complex) -> float:
    """1 or more if two numbers do not touch."""
    apart = spot - other
    return max(abs(apart.real) / ROOM[0], abs(apart.imag) / ROOM[1])
