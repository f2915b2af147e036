"""Where eyes, brows, nose, lips and the outline of a face lie in its chip, measured on what the face parser sees.

A similarity of five points leaves the parts of a face a few pixels apart from one face to the next. These points say
by how much, so that a template fits each face (``edit.face_shape``). They are moments of the parser's likelihoods:
the ends of an eye are 1.9 standard deviations from its centre, say, so that no single pixel decides.

Beyond its photo a chip is mirrored: eyes and brows are the nearest to where they usually are, not their mirror images,
and an outline that runs into the chip's edge is not seen.
"""

from __future__ import annotations

import torch
from torch import Tensor

from gslopes.datasets.celebamask import FACE

EYES, BROWS, NOSE, LIPS = ("left eye", "right eye"), ("left brow", "right brow"), ("nose",), ("upper lip", "lower lip")
MOUTH = ("mouth", *LIPS)

# Rows and columns in which a part is looked for, and the least pixels that count as seen; of a chip of 128 pixels.
ROWS = {EYES: (43, 72), BROWS: (27, 62), NOSE: (45, 100), MOUTH: (73, 122), LIPS: (73, 122)}
LEAST = {EYES: 15, BROWS: 20, NOSE: 60, MOUTH: 60, LIPS: 25}
LEAST_FACE = 2000
USUAL_ROW = {EYES: 57, BROWS: 47}  # about which the part's rows count first; then about its own
SEARCHES = 3
NEAR, FAR = 8, 11  # rows from there: up to the first all counts, from the second nothing
COLUMNS = (59, 69)  # of the line along which chin and forehead are sought
BROW_ROW, LIP_ROW = 48, 95  # between them the face is taken to be; the lips' own where they are seen
OPEN = 0.5  # likelihood at the chip's edge from which the face goes on beyond it
OUTLINE = ((54, 59), (78, 83), (92, 97))  # rows at which the outline is sought: eyes, nose, mouth
SIDE = 128

# The point that takes a point's place in a mirror image.
MIRRORED = (
    5, 4, 6, 7, 1, 0, 2, 3,  # eyes: ends, lids
    13, 12, 11, 10, 9, 8,  # brows: ends, centre
    16, 15, 14,  # nose: wing, tip, wing
    18, 17, 19, 20, 21, 22,  # lips: corners, edges, centres of either
    23, 24, 26, 25, 28, 27, 30, 29,  # chin, forehead, outline
)  # fmt: skip
COUNT = len(MIRRORED)
AT_HAIR = (24, 25, 26)  # the forehead and the outline at the eyes


def landmarks(seen: Tensor, labels: tuple[str, ...]) -> Tensor:
    """Points of aligned chips, (b, 31, 2), x y in pixels; NaN where the parser does not see the part.

    seen: (b, classes, 128, 128) probabilities, see ``zoo.parsing``.  labels: the classes' names.
    """

    def likely(part: tuple[str, ...]) -> Tensor:
        return ((seen[:, [labels.index(name) for name in part]].sum(1) - 0.25) / 0.5).clamp(0, 1)

    y, x = torch.meshgrid(*(torch.arange(SIDE).to(seen) for _ in range(2)), indexing="ij")
    points: list[Tensor] = []

    def add(at_x: Tensor, at_y: Tensor, known: Tensor) -> None:
        points.append(torch.where(known[:, None], torch.stack([at_x, at_y], 1), torch.nan))

    def part(name: tuple[str, ...], within: Tensor | float = 1.0, classes: tuple[str, ...] = ()) -> _Moments:
        low, high = ROWS[name]
        shown = likely(classes or name) * ((y >= low) & (y < high)) * within
        found = _Moments(shown, x, y, LEAST[name])
        if name in USUAL_ROW:
            row = torch.full_like(found.y, USUAL_ROW[name])
            for _ in range(SEARCHES):
                near = ((FAR - (y - row[:, None, None]).abs()) / (FAR - NEAR)).clamp(0, 1)
                found = _Moments(shown * near, x, y, LEAST[name])
                row = torch.where(found.known, found.y, row)
        return found

    halves = ((x < SIDE / 2).to(seen), (x >= SIDE / 2).to(seen))
    for half in halves:
        eye = part(EYES, half)
        for along, down in ((-1.9, 0.0), (1.9, 0.0), (0.0, -1.9), (0.0, 1.9)):
            add(*eye.at(along, down), eye.known)
    for half in halves:
        brow = part(BROWS, half)
        for along in (-1.7, 0.0, 1.7):
            add(*brow.at(along, 0.0), brow.known)
    nose = part(NOSE)
    for along, down in ((-1.8, 1.0), (0.0, 1.8), (1.8, 1.0)):
        add(nose.x + along * nose.wide, nose.y + down * nose.high, nose.known)
    mouth = part(MOUTH)
    for along, down in ((-1.9, 0.0), (1.9, 0.0), (0.0, -1.9), (0.0, 1.9)):
        add(*mouth.at(along, down), mouth.known)
    for lip in LIPS:
        one = part(LIPS, classes=(lip,))
        add(one.x, one.y, one.known)

    face = likely(FACE)
    known = face.sum((1, 2)) > LEAST_FACE
    lips = torch.where(mouth.known, mouth.y, torch.full_like(mouth.y, LIP_ROW))
    line, rows = face[:, :, slice(*COLUMNS)].mean(2), torch.arange(SIDE).to(seen)
    centre = torch.full_like(lips, (SIDE - 1) / 2)
    below = _run(torch.where(rows > lips[:, None], line, 1.0))
    add(centre, lips + (below * (rows > lips[:, None])).sum(1), known & (below[:, -1] < OPEN))
    above = _run(line[:, :BROW_ROW].flip(1))
    add(centre, BROW_ROW - above.sum(1), known & (above[:, -1] < OPEN))
    for low, high in OUTLINE:
        across, row = face[:, low:high].mean(1), torch.full_like(lips, (low + high - 1) / 2)
        left, right = _run(across[:, : SIDE // 2].flip(1)), _run(across[:, SIDE // 2 :])
        add(centre - left.sum(1), row, known & (left[:, -1] < OPEN))
        add(centre + right.sum(1), row, known & (right[:, -1] < OPEN))
    return torch.stack(points, 1)


def mirrored(points: Tensor) -> Tensor:
    """The points (..., 31, 2) of the same chips seen in a mirror."""
    flipped = points[..., list(MIRRORED), :].clone()
    flipped[..., 0] = SIDE - 1 - flipped[..., 0]
    return flipped


def _run(likely: Tensor) -> Tensor:
    """(b, n) likelihoods along a line from within the face, as far as they go on: a face beyond a gap is another."""
    return torch.cummin(likely, 1).values


class _Moments:
    """Centre, extent and slope of weights (b, S, S): each (b,), in pixels.

    known: whether they add up to ``least`` pixels.
    """

    def __init__(self, weights: Tensor, x: Tensor, y: Tensor, least: float) -> None:
        total = weights.sum((1, 2))
        share = weights / total.clamp(min=1e-3)[:, None, None]
        self.known = total > least
        self.x, self.y = ((share * axis).sum((1, 2)) for axis in (x, y))
        dx, dy = x - self.x[:, None, None], y - self.y[:, None, None]
        across, down, both = ((share * product).sum((1, 2)) for product in (dx * dx, dy * dy, dx * dy))
        self.wide, self.high = across.clamp(min=0.05).sqrt(), down.clamp(min=0.05).sqrt()
        self.slope = both / across.clamp(min=0.05)

    def at(self, along: float, down: float) -> tuple[Tensor, Tensor]:
        """The point so many standard deviations along the part and below it."""
        return self.x + along * self.wide, self.y + along * self.wide * self.slope + down * self.high
