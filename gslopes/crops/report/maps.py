"""A pair's saliency map, drawn next to its crops: the map, its peaks in their order, and every cell's score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib import colormaps
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from gslopes.report.charts import LIGHT

Array = NDArray[np.float64]
STRIP = 44  # pixels of the line of scores


def with_map(drawn: Image.Image, plain: Image.Image, row: Mapping[Any, Any]) -> Image.Image:
    """The drawn pair with its map and the line of its scores below.

    drawn: the pair with its frames, RGB.  plain: without them, of the same size.  row: of DRAWN_MAPS.
    """
    scores = np.asarray(row["values"], np.float64).reshape(int(row["rows"]), int(row["columns"]))
    spread = float(np.ptp(scores)) or 1.0
    levels = (scores - scores.min()) / spread
    heat = Image.fromarray((255 * colormaps["viridis"](levels)[..., :3]).astype(np.uint8))
    gray = plain.convert("L").convert("RGB")
    below = Image.blend(gray, heat.resize(drawn.size, Image.Resampling.BILINEAR), 0.6)
    pen = ImageDraw.Draw(below)
    peaks = np.asarray(row["peaks"], np.float64).reshape(-1, 2) * drawn.size
    for rank, (x, y) in enumerate(peaks, start=1):
        pen.ellipse([x - 8, y - 8, x + 8, y + 8], fill="white", outline="black")
        pen.text((x, y), str(rank), fill="black", anchor="mm")
    whole = Image.new("RGB", (drawn.width, drawn.height + below.height + 2 + STRIP), "white")
    whole.paste(drawn, (0, 0))
    whole.paste(below, (0, drawn.height + 2))
    _line(ImageDraw.Draw(whole), levels, drawn.width, whole.height)
    return whole


def _line(pen: ImageDraw.ImageDraw, levels: Array, width: int, bottom: int) -> None:
    rows = len(levels)
    for row in range(1, rows) if rows <= width // 6 else ():
        pen.line([(width * row / rows, bottom - STRIP + 2), (width * row / rows, bottom)], fill=LIGHT.neutral)
    flat = levels.ravel()
    across = (np.arange(len(flat)) + 0.5) * width / len(flat)
    down = bottom - 3 - (STRIP - 8) * flat
    pen.line([(float(x), float(y)) for x, y in zip(across, down, strict=True)], fill=LIGHT.series[0])
