"""The pairs that the page shows, drawn with their crops and each cropper's map."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from PIL import Image, ImageDraw

from gslopes.ask.boxes import Saliency, SaliencyMap, crop_rectangle
from gslopes.ask.croppers import has_map
from gslopes.ask.croppers.asker import Asker
from gslopes.ask.croppers.joining import Layout, check_map
from gslopes.ask.croppers.policies import MIN_DISTANCE, find_peaks
from gslopes.core import runfolder
from gslopes.core.errors import AnswerError, PhotoError
from gslopes.core.tables import Record, Row
from gslopes.crops.asking import material
from gslopes.crops.config import ABOVE, INSIDE
from gslopes.crops.words import by_itself
from gslopes.frame.spec import Made, Run
from gslopes.photos.people import CROSS
from gslopes.report import numbers
from gslopes.report import words as plain
from gslopes.report.charts import FOCUS, FRAMES, LIGHT
from gslopes.report.inline import jpeg_uri
from gslopes.stats.rounding import sort_key

WIDTHS = {"thumbs": 360, "full": 900}
MOST = 6
GAP = 2  # pixels between two pictures
PARTS = 3  # of a sheet: the crops, those around the second peak, the map
CENTRED = "; its map is almost symmetric: the centre is cropped"
STRIP = 44  # pixels of the line of scores


def draw_pairs(run: Run) -> Made:
    """RUN/pairs.json: cropper to titles, each with its pictures, and whether it gives maps."""
    pairs = run.table("pairs")
    traits = run.table("traits")
    people = run.table("people")
    asked = run.once(material)
    own = run.config.variant
    crops = (
        by_itself(run.table("crops"))
        .set_index(["cropper", "variant", "left", "right"])
        .sort_index()
    )
    number = {photo: index for index, photo in enumerate(asked.ids)}
    crossed = traits[traits["column"] == CROSS.join(run.config.groups)].set_index("person")["value"]
    group = {
        photo: crossed.get(person, "?")
        for photo, person in zip(people["photo"], people["person"], strict=True)
    }

    def pictures(asker: Asker, rows: pd.DataFrame) -> list[dict[str, str]]:
        """Rows of PAIRS with margins, drawn; none of a picture whose map or photo cannot be had again."""
        shown = []
        for row in rows.to_dict("records"):
            pair = (row["left"], row["right"])
            seen = None
            photos = [number[photo] for photo in pair]
            try:
                picture, plan = asker.picture(photos)
                if has_map(asker.model):
                    (saliency,) = cast("Saliency", asker.model).maps([picture])
                    check_map(
                        saliency, plan.width, plan.height, asker.model.name, "a joined picture"
                    )
                    seen = Seen(saliency, *around_second(asker, photos, plan, saliency))
            except (AnswerError, PhotoError):
                continue
            frames = (
                crops.loc[[(row["cropper"], row["variant"], *pair)]]
                .sort_values("ratio")
                .to_dict("records")
            )
            names = [plain.printable(group[photo]) for photo in pair]
            shown.append(draw(row, frames, picture, names, WIDTHS[run.config.embed], seen))
        return shown

    drawn: dict[str, Any] = {}
    for name, askers in asked.askers.items() if run.config.embed != "none" else ():
        answered = with_margin(pairs[pairs["cropper"] == name])
        by_title = chosen(answered[answered["variant"] == own])
        titles = [[title, pictures(askers[0], rows)] for title, rows in by_title.items()]
        turned = answered[answered["variant"] == own + ABOVE].merge(
            next(iter(by_title.values()))[["left", "right"]]
        )
        if len(turned):
            stacked = next(asker for asker in askers if asker.stacked)
            titles.append(
                ["The first pair, one above the other", pictures(stacked, turned.head(1))]
            )
        drawn[name] = {
            "titles": [one for one in titles if one[1]],
            "mapped": has_map(askers[0].model),
        }
    runfolder.write_json(run.folder / "pairs.json", drawn)
    return {}


class Seen(NamedTuple):
    """The map of a joined picture, its second peak x, y, and a record like those of CROPS for each crop around it.

    Without a second peak there is no point and no record.
    """

    saliency: SaliencyMap
    second: tuple[int, int] | None = None
    crops: Sequence[Record] = ()


def around_second(
    asker: Asker, photos: Sequence[int], plan: Layout, saliency: SaliencyMap
) -> tuple[tuple[int, int] | None, list[Row]]:
    """The second peak of a map in whole pixels, and the crops around it; nothing where it has one."""
    scores = saliency.scores.astype(float)
    peaks = find_peaks(scores, saliency.x, saliency.y, MIN_DISTANCE * min(plan.width, plan.height))
    if len(peaks) < 2:
        return None, []
    x, y = (int(at) for at in peaks[1])
    records = []
    for ratio in sorted(asker.ratios):
        crop = crop_rectangle(plan.width, plan.height, x, y, ratio)
        kept = dict(zip(("kept_left", "kept_right"), asker.kept(photos, plan, crop), strict=True))
        sides = {
            "left_px": crop.left,
            "top": crop.top,
            "crop_width": crop.width,
            "crop_height": crop.height,
        }
        records.append({"ratio": ratio, **sides, **kept})
    return (x, y), records


def with_margin(pairs: pd.DataFrame) -> pd.DataFrame:
    """The answered rows of PAIRS, with the margin between both people's maxima."""
    answered = pairs[(pairs["status"] == "answered") & (pairs["reason"] == "")]
    return answered.assign(margin=(answered["max_left"] - answered["max_right"]).abs())


def chosen(answered: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The pair of the middle margin, those of the largest and smallest, no photo twice; without maps some by lot.

    answered: rows of PAIRS with ``margin``.
    """
    if answered["margin"].isna().all():
        return {"Some pairs": answered.sample(min(MOST, len(answered)), random_state=0)}
    rising = answered.sort_values(["margin", "left", "right"], kind="stable", key=sort_key)
    chosen = {}
    passed = np.maximum(rising["draws"].to_numpy(), 1).cumsum()
    middle = rising[passed > passed[-1] // 2].head(1)
    titles = {
        "A typical pair: half of all have a larger margin between both people's maxima": middle
    }
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
    row: Record,
    crops: Sequence[Record],
    picture: np.ndarray,
    names: Sequence[str],
    width: int,
    seen: Seen | None = None,
) -> dict[str, str]:
    """A joined picture with its focal point and a frame for each ratio, as uri, alt and margin.

    Below it lie the picture with the crops around the second peak, and the map; next to it, if it is tall.

    row: of PAIRS, with ``margin``.  crops: its records of CROPS by rising ratio.  picture: (H, W, 3) uint8 RGB.
    names: groups of both.
    """
    between = " above " if row["variant"].endswith(ABOVE) else " next to "
    tall = seen is not None and picture.shape[0] > picture.shape[1]
    width = width // PARTS if tall else width
    scale = width / picture.shape[1]
    size = width, max(1, round(picture.shape[0] * scale))
    joined = Image.fromarray(picture).resize(size, Image.Resampling.LANCZOS)
    canvas = framed(joined, crops, scale, (row["x"], row["y"]))
    alt = f"{between.join(names)}; ratio {keeps(crops, names)}" + CENTRED * row["centred"]
    if seen is not None:
        if seen.second is not None:
            canvas = together(canvas, framed(joined, seen.crops, scale, seen.second))
            same = keeps(seen.crops, names) == keeps(crops, names)
            alt += f"; around the second peak {'the same' if same else keeps(seen.crops, names)}"
        canvas = with_map(canvas, joined, seen.saliency, scale)
    margin = numbers.value(row["margin"]) if np.isfinite(row["margin"]) else ""
    return {"uri": jpeg_uri(canvas), "alt": alt, "margin": margin}


def keeps(crops: Sequence[Record], names: Sequence[str]) -> str:
    """Whose head is inside of the crops, in words: ratios that keep the same stand together."""
    ratios = defaultdict(list)
    for crop in crops:
        shares = zip(names, (crop["kept_left"], crop["kept_right"]), strict=True)
        inside = [name for name, share in shares if isinstance(share, float) and share >= INSIDE]
        who = "both heads" if len(inside) == len(names) else "".join(inside) or "neither head"
        ratios[who].append(f"{crop['ratio']:g}")
    return ", ".join(
        f"{', '.join(of)} keep{'s' * (len(of) == 1)} {who}" for who, of in ratios.items()
    )


def together(first: Image.Image, second: Image.Image) -> Image.Image:
    """Two pictures with a gap, the second below the first, or next to it if it is tall."""
    tall = second.height > second.width
    place = (first.width + GAP, 0) if tall else (0, first.height + GAP)
    sheet = Image.new("RGB", (place[0] + second.width, place[1] + second.height), "white")
    sheet.paste(first, (0, 0))
    sheet.paste(second, place)
    return sheet


def framed(
    joined: Image.Image, crops: Sequence[Record], scale: float, point: tuple[float, float]
) -> Image.Image:
    """The picture with a frame for each crop, and a dot at the point; none at a negative one."""
    canvas = joined.copy()
    pen = ImageDraw.Draw(canvas)
    for index, crop in enumerate(crops):
        x0 = crop["left_px"] * scale + 2 * index
        y0 = crop["top"] * scale + 2 * index
        x1 = (crop["left_px"] + crop["crop_width"]) * scale
        y1 = (crop["top"] + crop["crop_height"]) * scale
        frame = [x0, y0, max(x1 - 1 - 2 * index, x0), max(y1 - 1 - 2 * index, y0)]
        pen.rectangle(frame, outline=FRAMES[index % len(FRAMES)], width=2)
    if point[0] >= 0:
        x, y = (at * scale for at in point)
        pen.circle((x, y), 6, outline="white", width=3)
        pen.circle((x, y), 3, fill=FOCUS)
    return canvas


def with_map(
    drawn: Image.Image, joined: Image.Image, saliency: SaliencyMap, scale: float = 1.0
) -> Image.Image:
    """The drawn pair; with it its map with the peaks in their order, and every cell's score as one line, row by row.

    drawn: the pair with its frames, RGB.  joined: without them.  scale: from the map's picture.

    Source: Yee et al. 2021, Figure 6.
    """
    from matplotlib import colormaps

    scores = saliency.scores.astype(float)
    levels = (scores - scores.min()) / (float(np.ptp(scores)) or 1.0)
    heat = Image.fromarray((255 * colormaps["viridis"](levels)[..., :3]).astype(np.uint8))
    gray = joined.convert("L").convert("RGB")
    coloured = Image.blend(gray, heat.resize(joined.size, Image.Resampling.BILINEAR), 0.6)
    pen = ImageDraw.Draw(coloured)
    peaks = find_peaks(scores, saliency.x, saliency.y, MIN_DISTANCE * min(joined.size) / scale)
    for rank, (x, y) in enumerate(peaks, start=1):
        pen.circle((x * scale, y * scale), 8, fill="white", outline="black")
        pen.text((x * scale, y * scale), str(rank), fill="black", anchor="mm")
    pictures = together(drawn, coloured)
    sheet = Image.new("RGB", (pictures.width, pictures.height + STRIP), "white")
    sheet.paste(pictures, (0, 0))
    pen = ImageDraw.Draw(sheet)
    rows = len(levels)
    for row in range(1, rows) if rows <= sheet.width // 6 else ():
        across = sheet.width * row / rows
        pen.line([(across, sheet.height - STRIP + 2), (across, sheet.height)], fill=LIGHT.neutral)
    across = (np.arange(levels.size) + 0.5) * sheet.width / levels.size
    down = sheet.height - 3 - (STRIP - 8) * levels.ravel()
    pen.line(
        [(float(x), float(y)) for x, y in zip(across, down, strict=True)], fill=LIGHT.series[0]
    )
    return sheet
