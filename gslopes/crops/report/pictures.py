"""Pairs of people and their crops, drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image, ImageDraw

from gslopes.core.errors import ConfigError, PhotoError
from gslopes.crops.report.charts import with_map
from gslopes.photos.folder import open_photo
from gslopes.report import numbers
from gslopes.report.charts import FOCUS, FRAMES
from gslopes.report.inline import jpeg_uri

WIDTHS = {"thumbs": 360, "full": 900}
MOST = 6


@dataclass(frozen=True, slots=True)
class Picture:
    """One drawn pair: a data URI, what it shows in words, and the margin between both maxima."""

    uri: str
    alt: str
    margin: str


def check_embed(embed: str) -> None:
    """Raises: ConfigError if it is no way to show pictures."""
    if embed not in ("thumbs", "full", "none"):
        raise ConfigError(f"embed is {embed!r}.", "It is thumbs, full or none.")


def chosen(pairs: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The pairs with the largest and with the smallest margin, no photo twice; without maps some by lot."""
    answered = pairs[(pairs["status"] == "answered") & (pairs["reason"] == "")]
    margin = (answered["max_left"] - answered["max_right"]).abs()
    if margin.isna().all():
        drawn = answered.sample(min(MOST, len(answered)), random_state=0)
        return drawn.assign(margin=np.nan), drawn.iloc[:0].assign(margin=np.nan)
    known = answered.assign(margin=margin).sort_values(["margin", "left", "right"], kind="stable")
    return _without_repeats(known.iloc[::-1]), _without_repeats(known)


def _without_repeats(ordered: pd.DataFrame) -> pd.DataFrame:
    seen: set[str] = set()
    kept = []
    for index, row in zip(ordered.index, ordered.itertuples(), strict=True):
        if row.left not in seen and row.right not in seen:
            seen |= {str(row.left), str(row.right)}
            kept.append(index)
            if len(kept) == MOST:
                break
    return ordered.loc[kept]


def draw(
    row: Mapping[Any, Any],
    crops: pd.DataFrame,
    files: Sequence[Path],
    names: tuple[str, str],
    *,
    vertical: bool,
    width: int,
    map_: Mapping[Any, Any] | None = None,
    padding: str = "black",
) -> Picture | None:
    """A pair side by side with its focal point and a frame for each ratio; None if a file is gone.

    row: of PAIRS, with ``margin``.  crops: its rows of CROPS, one a ratio.  names: groups of both.
    map_: its row of DRAWN_MAPS, drawn below.  padding: colour of what no photo covers.
    """
    whole, tall = int(row["width"]), int(row["height"])
    scale = width / whole
    canvas = Image.new("RGB", (width, max(1, round(tall * scale))), padding)
    try:
        photos = [Image.fromarray(open_photo(file).pixels) for file in files]
    except PhotoError:
        return None
    native = sum(photo.height if vertical else photo.width for photo in photos) == (tall if vertical else whole)
    place = 0
    for photo in photos:
        # resized before they were joined: to one height, or one width
        fit = width / photo.width if vertical else canvas.height / photo.height
        factor = scale if native else fit
        size = (max(1, round(photo.width * factor)), max(1, round(photo.height * factor)))
        canvas.paste(photo.resize(size, Image.Resampling.LANCZOS), (0, place) if vertical else (place, 0))
        place += size[1] if vertical else size[0]
    plain = canvas.copy()
    pen = ImageDraw.Draw(canvas)
    captions = []
    for index, crop in enumerate(crops.sort_values("ratio").to_dict("records")):
        box = [crop["left_px"], crop["top"], crop["left_px"] + crop["crop_width"], crop["top"] + crop["crop_height"]]
        inset = index * 2
        x0, y0, x1, y1 = (float(value) * scale for value in box)
        pen.rectangle(
            [x0 + inset, y0 + inset, x1 - 1 - inset, y1 - 1 - inset], outline=FRAMES[index % len(FRAMES)], width=2
        )
        captions.append(f"{crop['ratio']:g} keeps {_who(crop, names)}")
    x, y = float(row["x"]) * scale, float(row["y"]) * scale
    if x >= 0:
        pen.ellipse([x - 6, y - 6, x + 6, y + 6], outline="white", width=3)
        pen.ellipse([x - 3, y - 3, x + 3, y + 3], fill=FOCUS)
    if map_ is not None:
        canvas = with_map(canvas, plain, map_)
    uri = jpeg_uri(canvas)
    margin = row["margin"]
    shown = numbers.value(margin) if isinstance(margin, float) and np.isfinite(margin) else ""
    alt = f"{names[0]} next to {names[1]}; ratio {', '.join(captions)}"
    return Picture(uri, alt, shown)


def _who(crop: Mapping[Any, Any], names: tuple[str, str]) -> str:
    kept = [crop["kept_left"], crop["kept_right"]]
    inside = [name for name, share in zip(names, kept, strict=True) if isinstance(share, float) and share >= 0.5]
    return " and ".join(inside) if inside else "neither head"
