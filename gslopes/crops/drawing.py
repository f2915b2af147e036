"""The pairs that the page shows, drawn with their crops and each cropper's map."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import pandas as pd
from PIL import Image, ImageDraw

from gslopes.ask.boxes import RECTANGLE, Saliency, SaliencyMap
from gslopes.ask.croppers import has_map
from gslopes.ask.croppers.joining import check_map
from gslopes.ask.croppers.policies import MIN_DISTANCE, find_peaks
from gslopes.core import runfolder
from gslopes.core.errors import AnswerError, PhotoError
from gslopes.crops.asking import material
from gslopes.crops.config import INSIDE
from gslopes.frame.run import Run
from gslopes.frame.spec import Made
from gslopes.photos.people import CROSS
from gslopes.report import numbers
from gslopes.report import words as plain
from gslopes.report.charts import FOCUS, FRAMES, LIGHT
from gslopes.report.inline import jpeg_uri
from gslopes.stats.rounding import sort_key

WIDTHS = {"thumbs": 360, "full": 900}
MOST = 6
STRIP = 44  # pixels of the line of scores


def draw_pairs(run: Run) -> Made:
    """RUN/pairs.json: cropper to titles, each with its pictures, and whether it gives maps."""
    pairs, traits, people, asked = run.table("pairs"), run.table("traits"), run.table("people"), run.once(material)
    crops, own = run.table("crops"), run.config.variant
    pairs, crops = pairs[pairs["variant"] == own], crops[crops["variant"] == own]
    crops = crops[crops["policy"].isin(["argmax", RECTANGLE])].set_index(["cropper", "left", "right"]).sort_index()
    number = {photo: index for index, photo in enumerate(asked.ids)}
    crossed = traits[traits["column"] == CROSS.join(run.config.groups)].set_index("person")["value"]
    group = {photo: crossed.get(person, "?") for photo, person in zip(people["photo"], people["person"], strict=True)}
    drawn: dict[str, Any] = {}
    for name, (asker, *_) in asked.askers.items() if run.config.embed != "none" else ():
        mapped, titles = has_map(asker.model), []
        for title, rows in chosen(pairs[pairs["cropper"] == name]).items():
            pictures = []
            for row in rows.to_dict("records"):
                pair, saliency = (row["left"], row["right"]), None
                try:
                    picture, _ = asker.picture([number[photo] for photo in pair])
                    if mapped:
                        (saliency,) = cast("Saliency", asker.model).maps([picture])
                        check_map(saliency, picture.shape[1], picture.shape[0], name, "a joined picture")
                except (AnswerError, PhotoError):
                    continue
                names, frames = [plain.printable(group[photo]) for photo in pair], crops.loc[[(name, *pair)]]
                pictures.append(draw(row, frames, picture, names, WIDTHS[run.config.embed], saliency))
            titles += [[title, pictures]] if pictures else []
        drawn[name] = {"titles": titles, "mapped": mapped}
    runfolder.write_json(run.folder / "pairs.json", drawn)
    return {}


def chosen(pairs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The pair of the middle margin, those of the largest and smallest, no photo twice; without maps some by lot."""
    answered = pairs[(pairs["status"] == "answered") & (pairs["reason"] == "")]
    answered = answered.assign(margin=(answered["max_left"] - answered["max_right"]).abs())
    if answered["margin"].isna().all():
        return {"Some pairs": answered.sample(min(MOST, len(answered)), random_state=0)}
    rising = answered.sort_values(["margin", "left", "right"], kind="stable", key=sort_key)
    chosen = {}
    middle = rising.iloc[len(rising) // 2 :].head(1)
    titles = {"A typical pair: half of all have a larger margin between both people's maxima": middle}
    titles |= {"Largest margin": rising.iloc[::-1], "Smallest margin": rising}
    for title, ordered in titles.items():
        seen: set[str] = set()
        rows: list[Any] = []
        for index, *pair in ordered[["left", "right"]].itertuples():
            if len(rows) < MOST and not seen & set(pair):
                seen |= set(pair)
                rows.append(index)
        chosen[title] = ordered.loc[rows]
    return chosen


def draw(
    row: Mapping[Any, Any],
    crops: pd.DataFrame,
    picture: np.ndarray,
    names: Sequence[str],
    width: int,
    saliency: SaliencyMap | None = None,
) -> dict[str, str]:
    """A joined picture with its focal point and a frame for each ratio, as uri, alt and margin; its map lies below.

    row: of PAIRS, with ``margin``.  crops: its rows of CROPS, one a ratio.  picture: (H, W, 3) uint8 RGB.
    names: groups of both.
    """
    scale = width / picture.shape[1]
    size = width, max(1, round(picture.shape[0] * scale))
    joined = Image.fromarray(picture).resize(size, Image.Resampling.LANCZOS)
    canvas = joined.copy()
    pen = ImageDraw.Draw(canvas)
    captions = []
    for index, crop in enumerate(crops.sort_values("ratio").to_dict("records")):
        x0, y0 = crop["left_px"] * scale + 2 * index, crop["top"] * scale + 2 * index
        x1, y1 = (crop["left_px"] + crop["crop_width"]) * scale, (crop["top"] + crop["crop_height"]) * scale
        frame = [x0, y0, max(x1 - 1 - 2 * index, x0), max(y1 - 1 - 2 * index, y0)]
        pen.rectangle(frame, outline=FRAMES[index % len(FRAMES)], width=2)
        shares = zip(names, (crop["kept_left"], crop["kept_right"]), strict=True)
        inside = [name for name, share in shares if isinstance(share, float) and share >= INSIDE]
        captions.append(f"{crop['ratio']:g} keeps {' and '.join(inside) or 'neither head'}")
    if row["x"] >= 0:
        x, y = row["x"] * scale, row["y"] * scale
        pen.circle((x, y), 6, outline="white", width=3)
        pen.circle((x, y), 3, fill=FOCUS)
    canvas = canvas if saliency is None else with_map(canvas, joined, saliency, scale)
    margin = numbers.value(row["margin"]) if np.isfinite(row["margin"]) else ""
    return {"uri": jpeg_uri(canvas), "alt": f"{' next to '.join(names)}; ratio {', '.join(captions)}", "margin": margin}


def with_map(drawn: Image.Image, joined: Image.Image, saliency: SaliencyMap, scale: float = 1.0) -> Image.Image:
    """The drawn pair; below it its map with the peaks in their order, and every cell's score as one line, row by row.

    drawn: the pair with its frames, RGB.  joined: without them, of the same size.  scale: from the map's picture.

    Source: Yee et al. 2021, Figure 6.
    """
    from matplotlib import colormaps

    scores = saliency.scores.astype(np.float64)
    levels = (scores - scores.min()) / (float(np.ptp(scores)) or 1.0)
    heat = Image.fromarray((255 * colormaps["viridis"](levels)[..., :3]).astype(np.uint8))
    gray = joined.convert("L").convert("RGB")
    below = Image.blend(gray, heat.resize(drawn.size, Image.Resampling.BILINEAR), 0.6)
    pen = ImageDraw.Draw(below)
    peaks = find_peaks(scores, saliency.x, saliency.y, MIN_DISTANCE * min(drawn.size) / scale)
    for rank, (x, y) in enumerate(peaks, start=1):
        pen.circle((x * scale, y * scale), 8, fill="white", outline="black")
        pen.text((x * scale, y * scale), str(rank), fill="black", anchor="mm")
    sheet = Image.new("RGB", (drawn.width, drawn.height + below.height + 2 + STRIP), "white")
    sheet.paste(drawn, (0, 0))
    sheet.paste(below, (0, drawn.height + 2))
    pen, rows = ImageDraw.Draw(sheet), len(levels)
    for row in range(1, rows) if rows <= sheet.width // 6 else ():
        across = sheet.width * row / rows
        pen.line([(across, sheet.height - STRIP + 2), (across, sheet.height)], fill=LIGHT.neutral)
    across = (np.arange(levels.size) + 0.5) * sheet.width / levels.size
    down = sheet.height - 3 - (STRIP - 8) * levels.ravel()
    pen.line([(float(x), float(y)) for x, y in zip(across, down, strict=True)], fill=LIGHT.series[0])
    return sheet
