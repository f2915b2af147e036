"""Pairs of people and their crops, drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
from PIL import Image, ImageDraw

from gslopes.ask.boxes import Saliency, SaliencyMap
from gslopes.ask.croppers import has_map
from gslopes.core import runfolder
from gslopes.core.errors import AnswerError, PhotoError
from gslopes.crops.asker import RECTANGLE
from gslopes.crops.asking import material
from gslopes.crops.charts import with_map
from gslopes.crops.people import People
from gslopes.crops.pictures import check_map
from gslopes.crops.policies import find_peaks
from gslopes.frame.run import Run
from gslopes.frame.spec import Made
from gslopes.photos.folder import open_photo
from gslopes.photos.people import CROSS
from gslopes.report import numbers
from gslopes.report import words as plain
from gslopes.report.charts import FOCUS, FRAMES
from gslopes.report.inline import jpeg_uri

LONGEST = 96  # cells a side that are kept; of a larger map the highest of each block
PEAKS, MIN_DISTANCE = 3, 0.2  # as the policy choose-k has them
WIDTHS = {"thumbs": 360, "full": 900}
MOST = 6


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
) -> dict[str, str] | None:
    """A pair side by side with its focal point and a frame for each ratio, as uri, alt, margin; None without its files.

    row: of PAIRS, with ``margin``.  crops: its rows of CROPS, one a ratio.  names: groups of both.
    map_: its row of DRAWN_MAPS, drawn below.
    """
    whole, tall = int(row["width"]), int(row["height"])
    scale = width / whole
    canvas = Image.new("RGB", (width, max(1, round(tall * scale))))
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
    return {"uri": uri, "alt": alt, "margin": shown}


def _who(crop: Mapping[Any, Any], names: tuple[str, str]) -> str:
    kept = [crop["kept_left"], crop["kept_right"]]
    inside = [name for name, share in zip(names, kept, strict=True) if isinstance(share, float) and share >= 0.5]
    return " and ".join(inside) if inside else "neither head"


# -- the stage --------------------------------------------------------------------------------------------------------


def draw_pairs(run: Run) -> Made:
    """The pairs that the page shows, drawn, and each cropper's map of them, so that the page needs no cropper.

    pairs.json: cropper to titles, each with its pictures.
    """
    pairs, known = run.table("pairs"), run.once(material)
    number = {photo: index for index, photo in enumerate(known.ids)}
    maps: list[dict[str, Any]] = []
    drawn: dict[str, list[Any]] = {}
    for name, asker in known.askers.items():
        far, near = chosen(pairs[pairs["cropper"] == name])
        own: dict[tuple[str, str], dict[str, Any]] = {}
        shown = pd.concat([far, near]).drop_duplicates(["left", "right"]) if has_map(asker.model) else far.iloc[:0]
        for left, right in shown[["left", "right"]].itertuples(index=False):
            picture, plan = asker.picture([number[left], number[right]])
            try:
                (found,) = cast("Saliency", asker.model).maps([picture])
                check_map(found, plan.width, plan.height, name, "a joined picture")
            except AnswerError:
                continue
            key = {"cropper": name, "left": left, "right": right}
            own[left, right] = key | _cells(found, plan.width, plan.height)
        maps += own.values()
        if run.config.embed != "none":
            drawn[name] = _drawn(run, name, (far, near), own)
    runfolder.write_json(run.folder / "pairs.json", drawn)
    return {"drawn_maps": maps}


def _drawn(
    run: Run, cropper: str, both: tuple[pd.DataFrame, pd.DataFrame], maps: Mapping[tuple[str, str], Mapping[str, Any]]
) -> list[Any]:
    """(title, pictures) of the pairs with the largest and the smallest margin."""
    config, people, traits, crops = run.config, run.table("people"), run.table("traits"), run.table("crops")
    path, person = (dict(zip(people["photo"], people[name], strict=True)) for name in ("path", "person"))
    inputs: People = run.inputs
    photos = {portrait.relative: portrait.path for portrait in inputs.portraits}
    of_column = traits[traits["column"] == CROSS.join(config.groups)]
    group: dict[str, Any] = dict(of_column[["person", "value"]].itertuples(index=False))
    crops = crops[(crops["cropper"] == cropper) & crops["policy"].isin(["argmax", RECTANGLE])]
    crops = crops.set_index(["left", "right"]).sort_index()
    mapless = both[0]["margin"].isna().all()
    titles = ("Some pairs" if mapless else "Largest margin between both people's maxima", "Smallest margin")
    shown = []
    for title, rows in zip(titles, both, strict=True):
        pictures = []
        for row in rows.to_dict("records"):
            pair = row["left"], row["right"]
            files = [photos[path[photo]] for photo in pair if path[photo] in photos]
            one, other = (plain.printable(group.get(person[photo], "?")) for photo in pair)
            if len(files) == 2:
                how: dict[str, Any] = {"vertical": config.attach == "vertical", "width": WIDTHS[config.embed]}
                of_pair = crops.loc[[pair]].reset_index()
                picture = draw(row, of_pair, files, (one, other), **how, map_=maps.get(pair))
                pictures += [picture] if picture is not None else []
        shown += [[title, pictures]] if pictures else []
    return shown


def _cells(found: SaliencyMap, width: int, height: int) -> dict[str, Any]:
    scores = found.scores.astype(np.float64)
    peaks = find_peaks(scores, found.x, found.y, PEAKS, MIN_DISTANCE * min(width, height))
    for axis in (0, 1):
        step = -(-scores.shape[axis] // LONGEST)
        scores = np.maximum.reduceat(scores, np.arange(0, scores.shape[axis], step), axis=axis)
    return {
        "rows": scores.shape[0],
        "columns": scores.shape[1],
        "peaks": np.array([(x / width, y / height) for x, y, _ in peaks], np.float32).ravel(),
        "values": scores.astype(np.float32).ravel(),
    }
