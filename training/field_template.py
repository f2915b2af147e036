"""Edit a face by a template: the change of each pixel's lightness and colour for a unit of the attribute.

The template holds where a face changes (``train.field_editor``, in log-odds of luminance and logarithms of colour), the
chip how: what is bright already hardly becomes brighter, and what is dark keeps its texture. Where skin darkens, a
share of the change is the same factor for all of it, for in log-odds alone shadows would darken several times as much
as cheeks in the light; highlights, which are no skin, are left out of that. An attribute that is a tone of skin, as
race is, moves the whole face as well:

- Luminance moves by ``lightness`` log-odds a unit, below ``CEILING``.
- Where the face grows darker no part of it grows lighter by more than ``GLOW`` a unit: lids and lips would shine. And
  what varies slowly over the face may count for less there: chins darker than cheeks look like dirt.
- Colour goes along as skin's does (``train.skin_colour``). Where a face grows lighter each pixel stays as usual, or
  unusual, as it was; if it grows darker each moves as the whole face would if it darkened as much, and comes
  nearer to its colour.

The template's own mean over the face is not used: it would hold the exposure of its training photos.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor
from torch.nn.functional import softplus
from torchvision.transforms.functional import gaussian_blur

from gslopes.core.geometry import LUMA, OFFSET
from training.skin_colour import colours_of, darkened, lightened, standardise_colour

# Left, top, right and bottom in units of the side; what lies in two boxes belongs to the later one. The mouth is the
# skin about the upper lip, and ends where the corners of the lips are; the jaw belongs to the cheeks.
BOXES = {
    "forehead": (0.0, 0.0, 1.0, 0.3),
    "eyes": (0.0, 0.3, 1.0, 0.5),
    "cheeks": (0.0, 0.5, 1.0, 1.0),
    "nose": (0.37, 0.46, 0.63, 0.665),
    "mouth": (0.3, 0.665, 0.7, 0.74),
    "chin": (0.3, 0.74, 0.7, 1.0),
    "lips": (0.36, 0.695, 0.64, 0.81),
}
PARTS = tuple(BOXES)
SOFT = 4 / 128  # of the Gaussian that softens the edges, in units of the side


def over_parts(numbers: tuple[float, ...], like: Tensor) -> Tensor:
    """(S, S) numbers over a chip, without an edge from part to part.

    numbers: one of each of ``PARTS``.  like: (..., S, S), whose side, type and device count.
    """
    return _drawn(numbers, like.shape[-1]).to(like)


def inverse_over_parts(bounds: tuple[float, ...], like: Tensor) -> Tensor:
    """(S, S) 1 / bound over a chip, likewise; 0 if a part has none.

    bounds: one of each of ``PARTS``, 0 for none.  like: as of ``over_parts``.
    """
    return over_parts(tuple(1 / bound if bound else 0.0 for bound in bounds), like)


@lru_cache(16)
@torch.inference_mode(False)  # what is kept here may be wanted by a training later
def _drawn(numbers: tuple[float, ...], size: int) -> Tensor:
    drawn = torch.zeros(size, size)
    for (left, top, right, bottom), number in zip(BOXES.values(), numbers, strict=True):
        rows = slice(round(top * size), round(bottom * size))
        columns = slice(round(left * size), round(right * size))
        drawn[rows, columns] = number
    pixels = SOFT * size
    return gaussian_blur(drawn[None], 2 * round(3 * pixels) + 1, pixels)[0]


CEILING = 0.88  # share of the range: no skin is brighter
SLOPE = (
    0.43  # logarithms of luminance that a log-odds is worth at half the range, 1 - 0.5 / CEILING
)
HIGHLIGHT = 0.85  # share of the range above which a pixel is less and less skin, and at 1 none
GLOW = 0.03  # log-odds a unit by which a part of a face that darkens may grow lighter
BROAD = (
    6 / 128
)  # of the Gaussian above which form varies slowly, and colours grow even: wider than teeth and eyes
NEAR = (
    8 / 128
)  # of the Gaussian within which bounds by part are one factor, so that form keeps its shape
SMOOTH = (
    1.5 / 128
)  # of the Gaussian before luminance is read, in units of the side: pores and lashes decide little

Rows = Tensor | slice  # of chips: one for each edit, or one for all


@dataclass(frozen=True, slots=True)
class TemplateUse:
    """How a template is applied.

    lightness: log-odds of luminance that the whole face moves a unit; 0 for an attribute that is no tone of skin.
    darkest, brightest: log-odds that darkening and lightening, the tone not counted, approach and do not pass; 0 for
        no bound.
    darkest_by_part, brightest_by_part: take the place of both if the tone darkens, one for each of
        ``train.face_parts.PARTS``, 0 for no bound there; both empty to go by the others. All that lies near together is
        shortened by one factor, so that form keeps its shape.
    evenly: share of darkening that is uniform over light and shade.
    slow: share of what varies slowly in the form that stays if the tone darkens.
    darker_form: factor of the form if the tone darkens.
    """

    lightness: float = 0.0
    darkest: float = 0.0
    brightest: float = 0.0
    darkest_by_part: tuple[float, ...] = ()
    brightest_by_part: tuple[float, ...] = ()
    evenly: float = 0.4
    slow: float = 1.0
    darker_form: float = 1.0


class TemplateEdits:
    """Edits of some chips for moves along an attribute: what does not depend on how far they go is computed once.

    chips: (b, 3, S, S) RGB in [0, 1].
    template: (3, S, S), or (b, 3, S, S) one for each chip, per unit; its luminance in log-odds, what else it has in
        logarithms, see ``train.field_editor``. One channel in place of three for an edit of lightness.
    face: (S, S) weights of the face's place in a chip.
    """

    def __init__(
        self, chips: Tensor, template: Tensor, face: Tensor, use: TemplateUse | None = None
    ) -> None:
        use = use or TemplateUse()
        chips = chips.contiguous()
        self.chips = chips
        self.use = use
        luma = template.new_tensor(LUMA)[:, None, None]
        self.logs = (255 * chips + OFFSET).log()
        templates = template.expand(len(chips), -1, -1, -1)
        form = (
            templates[:, 0] if templates.shape[1] == 1 else (templates * luma).sum(1)
        )  # (b, S, S)
        self.form = form - _mean(form, face)
        self.colour = None
        if templates.shape[1] == 3:
            colour = templates - form[:, None]
            self.colour = colour - _mean(colour, face)
        smooth = blurred(chips, SMOOTH)
        bright = (smooth * luma).sum(1)  # (b, S, S)
        light = bright.clamp(0.02, CEILING - 0.01)
        self.odds, self.light = _odds(light), _logarithm(light)
        self.skin = ((1 - bright) / (1 - HIGHLIGHT)).clamp(0, 1)
        if use.lightness:
            fast = use.darker_form * (
                self.form - (1 - use.slow) * blurred(self.form[:, None], BROAD)[:, 0]
            )
            self.darker_form = _without_glow(fast, use.lightness) - use.lightness
            self.colours, self.before = colours_of(smooth)
            self.standard, self.broad = (
                standardise_colour(self.colours, self.before),
                blurred(self.colours, BROAD),
            )
            self.face_colour, mean = _mean(self.colours, face), _mean(light, face)
            self.mean_odds, self.mean_light = _odds(mean), _logarithm(mean)

    def pictures(self, distances: Tensor, out: Tensor | None = None) -> Tensor:
        """(b, K, 3, S, S) levels at K distances (b, K), 0 to 255 or a little beyond; in memory channels come last.

        out: memory that takes them, on the same device; new memory by default.
        """
        return self._each(
            distances, lambda rows, edits: (self.logs[rows] + edits).exp_().sub_(OFFSET), out
        )

    def __call__(self, distances: Tensor) -> Tensor:
        """(b, K, 3, S, S) to add to logarithms of levels plus ``OFFSET`` at K distances (b, K); 0 if they are 0."""
        return self._each(distances, lambda rows, edits: edits)

    def _each(
        self,
        distances: Tensor,
        finished: Callable[[Rows, Tensor], Tensor],
        made: Tensor | None = None,
    ) -> Tensor:
        """What ``finished`` makes of chips and their edits (n, 3, S, S): on a CPU of one chip at a time, in cache."""
        if made is None:
            made = self.chips.new_empty(*distances.shape, *self.chips.shape[2:], 3).movedim(-1, 2)
        darkens = distances * self.use.lightness < 0
        for way, edited in ((darkens, self._darker), (~darkens, self._paler)):
            if distances.is_cuda:
                rows, columns = way.nonzero(as_tuple=True)
                if len(rows):
                    made[rows, columns] = finished(
                        rows, edited(rows, distances[rows, columns, None, None])
                    )
                continue
            for row, towards in enumerate(way):
                columns = towards.nonzero()[:, 0]
                one = slice(row, row + 1)
                if len(columns):
                    pictures = finished(one, edited(one, distances[row, columns, None, None]))
                    for column, picture in zip(columns.tolist(), pictures, strict=True):
                        made[row, column] = picture  # a quarter of the time of all columns at once
        return made

    def _darker(self, rows: Rows, units: Tensor) -> Tensor:
        """Edits (n, 3, S, S) of these chips, n of them or one, in units (n, 1, 1) in which the tone darkens."""
        use = self.use
        tone = units * self.use.lightness
        excess = units * self.darker_form[rows]
        if use.darkest_by_part or use.brightest_by_part:
            excess = _bounded_by_part(excess, use)
        else:
            excess = _bounded(excess, use.darkest, use.brightest)
        moved = self._moved(rows, tone + excess)
        before = self.mean_light[rows]
        after = torch.minimum(_logarithm(_raised(self.mean_odds[rows], tone)), before + moved)
        colour = darkened(self.broad[rows], self.face_colour[rows], before, after)
        return self._with_colour(rows, units, colour.add_(moved[:, None]))

    def _paler(self, rows: Rows, units: Tensor) -> Tensor:
        """The same if it lightens, or without a tone."""
        use = self.use
        moved = self._moved(
            rows,
            units * use.lightness + _bounded(units * self.form[rows], use.darkest, use.brightest),
        )
        if not use.lightness:
            return self._with_colour(rows, units, moved[:, None])
        colour = lightened(self.colours[rows], self.standard[rows], self.before[rows] + moved)
        return self._with_colour(rows, units, colour.add_(moved[:, None]))

    def _with_colour(self, rows: Rows, units: Tensor, edits: Tensor) -> Tensor:
        """Edits (n, 1 or 3, S, S) and the template's own colour."""
        if self.colour is None:
            return edits
        return edits + units[:, None] * self.colour[rows]

    def _moved(self, rows: Rows, odds: Tensor) -> Tensor:
        """Log-odds of luminance (n, S, S) to its logarithms; darkening is in part uniform over light and shade."""
        moved = _logarithm(_raised(self.odds[rows], odds)) - self.light[rows]
        uniform = self.use.evenly * SLOPE * self.skin[rows] * odds + (1 - self.use.evenly) * moved
        return torch.where(odds < 0, uniform, moved)


def _mean(part: Tensor, face: Tensor) -> Tensor:
    """Over the face, (..., S, S) to (..., 1, 1)."""
    return (part * face).sum((-1, -2), keepdim=True) / face.sum()


def _bounded(odds: Tensor, darkest: float, brightest: float) -> Tensor:
    """Log-odds smoothly kept above the negative of ``darkest`` and below ``brightest``, each 0 for no bound."""
    if darkest:
        odds = torch.where(odds < 0, darkest * torch.tanh(odds / darkest), odds)
    if brightest:
        odds = torch.where(odds > 0, brightest * torch.tanh(odds / brightest), odds)
    return odds


def _bounded_by_part(odds: Tensor, use: TemplateUse) -> Tensor:
    """Log-odds (n, S, S) kept between the bounds of each part of a face.

    x / (1 + G(|x| / b)) with b the bound of its part and sign, G a Gaussian of ``NEAR``: if all around goes far it
    ends at the bound, and what differs from its neighbours still does. Bounded pixel by pixel, little would be left
    of a long way but its sign, flat patches with steep rims.
    """
    none = (0.0,) * len(PARTS)
    low, high = (
        inverse_over_parts(bounds or none, odds)
        for bounds in (use.darkest_by_part, use.brightest_by_part)
    )
    return odds / (
        1 + blurred((odds.abs() * torch.where(odds < 0, low, high))[:, None], NEAR)[:, 0]
    )


def _odds(light: Tensor) -> Tensor:
    """Log-odds below ``CEILING`` of luminance (share of the range)."""
    return (light / (CEILING - light)).log()


def _raised(odds: Tensor, by: Tensor) -> Tensor:
    """Luminance (share of the range) of log-odds moved by ``by``."""
    return CEILING * torch.sigmoid(odds + by)


def _without_glow(form: Tensor, lightness: float) -> Tensor:
    """Log-odds a unit of tone and form together, smoothly kept from passing ``GLOW`` against the tone."""
    along = 1.0 if lightness > 0 else -1.0
    return along * (GLOW * softplus(along * (lightness + form) / GLOW + 1) - GLOW)


def _logarithm(light: Tensor) -> Tensor:
    return (255 * light + OFFSET).log()


def blurred(pictures: Tensor, sigma: float) -> Tensor:
    """Smoothed by a Gaussian.  pictures: (b, C, S, S).  sigma: in units of the side.

    As two products of matrices: on a CPU a tenth of the time of a wide convolution, and no more than a narrow one.
    """
    along = _along(pictures.shape[-1], sigma).to(pictures)
    return along @ pictures @ along.T


@lru_cache(8)
@torch.inference_mode(False)  # what is kept here may be wanted by a training later
def _along(side: int, sigma: float) -> Tensor:
    """(S, S) what smooths a column: each pixel's share in each."""
    pixels = sigma * side
    return gaussian_blur(
        torch.eye(side, dtype=torch.float64)[None], [1, 2 * round(2 * pixels) + 1], pixels
    )[0]
