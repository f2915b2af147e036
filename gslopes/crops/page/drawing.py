"""The pairs that the page shows, drawn with their crops and each cropper's map."""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from pandas import DataFrame
from PIL import Image, ImageDraw, ImageOps

from gslopes.ask.boxes import Saliency, crop_rectangle
from gslopes.ask.croppers import has_map
from gslopes.ask.croppers.asker import Asker
from gslopes.ask.croppers.joining import Layout, check_map
from gslopes.ask.croppers.policies import MIN_DISTANCE, find_peaks
from gslopes.core import AnswerError, JsonObject, PhotoError, Record, runfolder
from gslopes.core.records import ByteArray, SaliencyMap
from gslopes.core.tables import lookup, records
from gslopes.crops.asking import crop_row, joined_pictures
from gslopes.crops.config import ABOVE, INSIDE
from gslopes.crops.page.sections import by_itself
from gslopes.frame.spec import Made, Run
from gslopes.photos.people import CROSS
from gslopes.report import inline, numbers, words
from gslopes.report.charts import FOCUS, FRAMES, LIGHT
from gslopes.stats.rounding import sort_key

WIDTHS = {"thumbs": 360, "full": 900}
MOST = 6
GAP = 2  # pixels between two pictures
PARTS = 3  # of a sheet: the crops, those around the second peak, the map
STRIP = 44  # pixels of the line of scores


def draw_pairs(run: Run) -> Made:
    """RUN/pairs.json: cropper to titles, each with its pictures, and whether it gives maps."""
    drawn = {}
    if run.config.embed != "none":
        askers = run.once(joined_pictures).askers
        drawn = {name: _drawn(run, name, askers[name]) for name in askers}
    runfolder.write_json(run.folder / "pairs.json", drawn)
    return {}


def _drawn(run: Run, name: str, askers: Sequence[Asker]) -> JsonObject:
    """A cropper's pictures by title, and whether it gives maps.  askers: one a variant, of which the first leads."""
    variant = run.config.variant
    pairs = run.table("pairs")
    answered = with_margin(pairs.query("cropper == @name"))
    by_title = chosen(answered.query("variant == @variant"))
    leading = next(iter(by_title.values()))[["left", "right"]]
    turned = answered[answered["variant"] == variant + ABOVE].merge(leading)
    by_title["The first pair, one above the other"] = turned.head(1)
    titles = [(title, _pictures(run, askers, rows)) for title, rows in by_title.items()]
    return {
        "titles": [(title, pictures) for title, pictures in titles if pictures],
        "mapped": has_map(askers[0].model),
    }


class Photos(NamedTuple):
    """What pictures are drawn from.  number, group: by photo.  crops: by cropper, variant, left and right."""

    number: dict[str, int]
    group: dict[str, str]
    crops: DataFrame


def _photos(run: Run) -> Photos:
    """The run's photos and crops."""
    traits = run.table("traits")
    crossed = traits[traits["column"] == CROSS.join(run.config.groups)]
    value_of = lookup(crossed, "person", "value")
    person_of = lookup(run.table("people"), "photo", "person")
    group = {photo: value_of.get(person, "?") for photo, person in person_of.items()}
    number = {photo: index for index, photo in enumerate(run.once(joined_pictures).ids)}
    crops = by_itself(run.table("crops")).set_index(["cropper", "variant", "left", "right"])
    return Photos(number, group, crops.sort_index())


def _pictures(run: Run, askers: Sequence[Asker], pairs: DataFrame) -> list[dict[str, str]]:
    """Rows of PAIRS with margins, drawn; a picture whose map or photo cannot be had again is left out."""
    photos = run.once(_photos)
    pictures = []
    for row in records(pairs):
        asker = next(asker for asker in askers if asker.stacked == row["variant"].endswith(ABOVE))
        pair = (row["left"], row["right"])
        numbers_of_both = [photos.number[photo] for photo in pair]
        mapped = None
        try:
            picture, plan = asker.picture(numbers_of_both)
            if has_map(asker.model):
                saliency = cast("Saliency", asker.model).maps([picture])[0]
                check_map(saliency, plan.width, plan.height, asker.model.name, "a joined picture")
                mapped = around_second(asker, numbers_of_both, plan, saliency)
        except (AnswerError, PhotoError):
            continue
        crops = photos.crops.loc[[(row["cropper"], row["variant"], *pair)]]
        names = [words.printable(photos.group[photo]) for photo in pair]
        frames = records(crops.sort_values("ratio"))
        pictures.append(draw(row, frames, picture, names, WIDTHS[run.config.embed], mapped))
    return pictures


class Seen(NamedTuple):
    """The map of a joined picture, its second peak in pixels, and a record like one of CROPS for each crop around it.

    Without a second peak it has neither point nor record.
    """

    saliency: SaliencyMap
    second: tuple[int, int] | None = None
    crops: Sequence[Record] = ()


def around_second(
    asker: Asker,
    photos: Sequence[int],
    plan: Layout,
    saliency: SaliencyMap,
) -> Seen:
    """A map with its second peak and the crops around that."""
    scores = saliency.scores.astype(float)
    peaks = find_peaks(scores, saliency.x, saliency.y, MIN_DISTANCE * min(plan.width, plan.height))
    if len(peaks) < 2:
        return Seen(saliency)
    x, y = map(int, peaks[1])
    crops = [
        crop_row(asker, photos, plan, ratio, crop_rectangle(plan.width, plan.height, x, y, ratio))
        for ratio in sorted(asker.ratios)
    ]
    return Seen(saliency, (x, y), crops)


def with_margin(pairs: DataFrame) -> DataFrame:
    """The answered rows of PAIRS, with the margin between both people's maxima."""
    answered = pairs.query("status == 'answered' and reason == ''")
    return answered.assign(margin=(answered["max_left"] - answered["max_right"]).abs())


def chosen(answered: DataFrame) -> dict[str, DataFrame]:
    """The pair of the middle margin, pairs of the largest and smallest, no photo twice; without maps some by lot.

    answered: rows of PAIRS with ``margin``.
    """
    if answered["margin"].isna().all():
        return {"Some pairs": answered.sample(min(MOST, len(answered)), random_state=0)}
    rising = answered.sort_values(["margin", "left", "right"], key=sort_key)
    passed = rising["draws"].clip(lower=1).cumsum()
    ordered_by_title = {
        "A typical pair: half of all pairs are decided more clearly": rising[
            passed > passed.iloc[-1] // 2
        ].head(1),
        "The pairs that are decided most clearly": rising.iloc[::-1],
        "The closest pairs": rising,
    }
    return {title: _nobody_twice(ordered) for title, ordered in ordered_by_title.items()}


def _nobody_twice(pairs: DataFrame) -> DataFrame:
    """The first ``MOST`` pairs of which none has a photo of one before it."""
    drawn: set[str] = set()
    rows: list[Any] = []
    for index, *pair in pairs[["left", "right"]].itertuples():
        if len(rows) < MOST and drawn.isdisjoint(pair):
            drawn |= {*pair}
            rows.append(index)
    return pairs.loc[rows]


def draw(
    row: Record,
    crops: Sequence[Record],
    picture: ByteArray,
    names: Sequence[str],
    width: int,
    mapped: Seen | None = None,
) -> dict[str, str]:
    """A joined picture with its focal point and a frame for each ratio, as uri, alt and margin.

    Below it lie the picture with the crops around the second peak, and the map; next to it, if it is tall.

    row: of PAIRS, with ``margin``.  crops: its records of CROPS by rising ratio.  picture: (H, W, 3) uint8 RGB.
    names: groups of both.
    """
    if mapped and picture.shape[0] > picture.shape[1]:
        width = width // PARTS
    scale = width / picture.shape[1]
    size = width, max(1, round(picture.shape[0] * scale))
    joined = Image.fromarray(picture).resize(size, Image.Resampling.LANCZOS)
    canvas = framed(joined, crops, scale, (row["x"], row["y"]))
    second: Sequence[Record] = ()
    if mapped and mapped.second:
        second = mapped.crops
        canvas = together(canvas, framed(joined, second, scale, mapped.second))
    if mapped:
        canvas = with_map(canvas, joined, mapped.saliency, scale)
    alt = inline.plain(
        "alt.txt.j2",
        __file__,
        names=names,
        crops=crops,
        second=second,
        above=row["variant"].endswith(ABOVE),
        centred=row["centred"],
        inside=INSIDE,
    )
    margin = numbers.value(row["margin"]) if np.isfinite(row["margin"]) else ""
    return {"uri": inline.jpeg_uri(canvas), "alt": alt, "margin": margin}


def together(first: Image.Image, second: Image.Image) -> Image.Image:
    """Two pictures with a gap, the second below the first, or next to it if it is tall."""
    tall = second.height > second.width
    corner = (first.width + GAP, 0) if tall else (0, first.height + GAP)
    sheet = Image.new("RGB", (corner[0] + second.width, corner[1] + second.height), "white")
    sheet.paste(first, (0, 0))
    sheet.paste(second, corner)
    return sheet


def framed(
    joined: Image.Image,
    crops: Sequence[Record],
    scale: float,
    point: tuple[float, float],
) -> Image.Image:
    """The picture with a frame for each crop, and a dot at the point; none at a negative one."""
    canvas = joined.copy()
    pen = ImageDraw.Draw(canvas)
    for index, crop in enumerate(crops):
        apart = 2 * index  # frames lie inside of one another
        x0 = crop["left_px"] * scale + apart
        y0 = crop["top"] * scale + apart
        x1 = max((crop["left_px"] + crop["crop_width"]) * scale - 1 - apart, x0)
        y1 = max((crop["top"] + crop["crop_height"]) * scale - 1 - apart, y0)
        pen.rectangle((x0, y0, x1, y1), outline=FRAMES[index % len(FRAMES)], width=2)
    if point[0] >= 0:
        centre = (point[0] * scale, point[1] * scale)
        pen.circle(centre, 6, outline="white", width=3)
        pen.circle(centre, 3, fill=FOCUS)
    return canvas


def with_map(
    drawn: Image.Image,
    joined: Image.Image,
    saliency: SaliencyMap,
    scale: float = 1.0,
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
    for rank, (x, y) in enumerate(peaks, 1):
        pen.circle((x * scale, y * scale), 8, fill="white", outline="black")
        pen.text((x * scale, y * scale), f"{rank}", fill="black", anchor="mm")
    pictures = together(drawn, coloured)
    width, height = pictures.size
    sheet = ImageOps.expand(pictures, (0, 0, 0, STRIP), "white")
    pen = ImageDraw.Draw(sheet)
    rows = len(levels)
    if rows <= width // 6:
        for row in range(1, rows):
            across = width * row / rows
            pen.line([across, height + 2, across, height + STRIP], fill=LIGHT.neutral)
    x = (np.arange(levels.size) + 0.5) * width / levels.size
    y = height + STRIP - 3 - (STRIP - 8) * levels.ravel()
    pen.line(np.column_stack([x, y]).ravel().tolist(), fill=LIGHT.series[0])
    return sheet
