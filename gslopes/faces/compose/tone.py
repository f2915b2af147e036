"""One tone for all of a face's skin: as faces have it at the other end of the attribute, in the photo's own light.

A network that edits pixel by pixel shows where a face changes, and little about how light its skin would be, for it
takes dark skin for a dark photo. So what its edit does to the skin as a whole is taken out, and one offset in L*a*b*
comes in its place. The face's own colour, the median of its skin, has a place among faces at the same end; the offset
leads to the same place among faces at the other. It is a ratio, so that shading and pores stay; what shines, and
what is gray, moves less.

Source of the place: Reinhard, Ashikhmin, Gooch, Shirley 2001, Color transfer between images.

Along the attribute ``tone`` the places are ten steps of a scale, and the whole edit is the ratio between two of them,
channel by channel, so that the colour of the photo's light stays: from the photo's own step, at which the skin's
median is as light as the step, to the wanted one. The order and number of steps are those of the Monk Skin Tone Scale
(Monk 2019; Google 2022, whose swatches go from #f6ede4 to #292420). The swatches themselves are lighter and darker
than skin in photos, unevenly spaced (1 to 4 within 7 L*, 5 and 6 apart by 23), and 2 and 3 in reverse order: steps are
even in L* from the lightest to the darkest skin in photos, as viewers name them; colours are of people under one lamp.
"""

from typing import Any

import cv2
import numpy as np

from gslopes.core.geometry import LUMA, OFFSET, STEPS, smoothed, step_of
from gslopes.core.records import Array, FloatArray, Tone, doubles, floats

LEAST_SKIN = 0.02  # of a chip's area: with less the skin's tone stays as the network has it
FARTHEST = (
    2.0  # spreads from the median: skin beyond is moved as skin there, to colours that photos show
)
REACH = 0.85  # share of the offset that the whole way is: further, fair faces grow darker by 18 L* in even light
EVENLY = 0.5  # of skin that darkens, share of it that is one ratio in light and shade; the rest is one step of log-odds
PALER = 0.25  # the same if it grows lighter
MATT = 0.3  # EVENLY along the scale: with 0 the skin of photos in hard light shines in blotches; lighter skin gets 0
RICHEST = 1.5  # of the skin's own colour, the most that counts: what is gray has none to change
CEILING = 0.95  # share of the range: no skin is brighter
DARKEST = 0.02  # share of that, below which log-odds are those there
SMOOTH = (
    1.5 / 128
)  # of the Gaussian before luminance is read, in units of the side: pores decide nothing


def toned(
    layers: Any,
    chip: FloatArray,
    skin: FloatArray,
    tone: Tone,
) -> None:
    """Give an edit the tone of skin that it shall have, in place; nothing if too little skin is seen.

    layers: (K, S, S, 3) float32, logarithms of ratios to the chip.  chip: (S, S, 3) float32 RGB, 0 to 255.
    skin: (S, S) float32 in [0, 1], how much of each pixel is the face's skin; if it is 0 the edit stays.
    """
    inside = skin > 0.5
    if inside.mean() < LEAST_SKIN:
        return
    tint = np.median(doubles(cv2.cvtColor(chip[inside][None] / 255, cv2.COLOR_RGB2LAB)[0]), 0)
    before = _levels(tint)
    luma = floats(LUMA)
    smooth = smoothed(chip, SMOOTH * len(chip))
    light = floats(smooth @ luma)
    colour = np.log((before + OFFSET) / (before @ luma + OFFSET))
    lean = np.log((smooth + OFFSET) / (light + OFFSET)[..., None]) @ colour
    rich = floats(np.clip(lean / max(float(colour @ colour), 1e-4), 0, RICHEST))
    means = layers[:, inside].mean(1)
    luma_before = float(before @ luma)
    for layer, mean, (share, ends) in zip(layers, means, tone.steps, strict=True):
        after = _wanted(tint, ends, share)
        luma_after = float(after @ luma)
        evenly = float(np.log((luma_after + OFFSET) / (luma_before + OFFSET)))
        turned = floats(np.log((after + OFFSET) / (before + OFFSET)) - evenly)
        even = EVENLY if luma_after < luma_before else PALER
        if tone.scale:
            even = MATT if luma_after < luma_before else 0.0
        lighter = even * evenly + (1 - even) * step(light, luma_before, luma_after)
        for channel in range(3):
            layer[..., channel] += skin * (lighter + rich * turned[channel] - mean[channel])


def offset(colour: Array, ends: Any, onwards: bool) -> Array:
    """L*, a*, b* (3,) from a colour to the one that has its place at the other end.

    ends: see ``core.records.Tone``.  onwards: from the first end to the second.

    In lightness the place is kept; a* and b* differ from what is usual at each lightness by as much as they did.

    >>> offset(np.array([40.0, 15.0, 20.0]), ((45, 15, 20, 10, 0, 0), (65, 14, 18, 5, -0.2, 0)), True).tolist()
    [22.5, -0.5, -2.0]
    """
    both = np.array(ends).reshape(2, 2, 3)
    first, second = both if onwards else both[::-1]
    rank = np.clip((colour[0] - first[0, 0]) / first[1, 0], -FARTHEST, FARTHEST)
    colours = [end[0] + rank * end[1, 0] * np.array([1, *end[1, 1:]]) for end in (first, second)]
    return doubles(colours[1] - colours[0])


def step(light: FloatArray, before: float, after: float) -> FloatArray:
    """Logarithms of ratios (S, S) of luminance, 0 to 255, after the step of log-odds from ``before`` to ``after``.

    light: (S, S).
    """
    shares = np.clip(np.array([before, after]) / (255 * CEILING), DARKEST, 1 - DARKEST)
    share = (light / (255 * CEILING)).clip(DARKEST, 1 - DARKEST)
    factor = shares[1] / (1 - shares[1]) * (1 - shares[0]) / shares[0]
    moved = share * factor / (1 - share + share * factor)
    return floats(np.log((255 * CEILING * moved + OFFSET) / (255 * CEILING * share + OFFSET)))


def _wanted(tint: Array, ends: Any, share: float) -> Array:
    """Levels (3,) that skin of this colour gets.  ends, share: of one value, see ``core.records.Tone``."""
    places = np.array(ends)
    if len(places) == 2:
        return _levels(tint + REACH * abs(share) * offset(tint, places, share > 0))
    steps = np.linspace(*STEPS, len(places))
    own, wanted = (
        _levels(np.array([np.interp(step, steps, column) for column in places.T]))
        for step in (step_of(tint[0]), share)
    )
    return _levels(tint) * wanted / own


def _levels(lab: Array) -> Array:
    """L*a*b* (3,) to levels of RGB, 0 to 255."""
    return doubles(255 * cv2.cvtColor(floats(lab)[None, None], cv2.COLOR_LAB2RGB)[0, 0])
