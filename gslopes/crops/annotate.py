"""One picture drawn: its map, its focal points in their order, and its crops."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from gslopes.core import runfolder, runtime
from gslopes.core.errors import AnswerError, UsageError
from gslopes.core.records import ByteArray
from gslopes.core.trust import Trust
from gslopes.crops.asking.remote import RemoteCropper, ready_croppers
from gslopes.crops.croppers import has_map
from gslopes.crops.pictures.geometry import RATIOS, check_ratio, crop_rectangle
from gslopes.crops.pictures.heads import checked_crop
from gslopes.crops.pictures.saliency import check_map, focal_point, is_constant
from gslopes.crops.pictures.symmetry import Middle, Version, is_symmetric, symmetric_point
from gslopes.crops.policies import find_peaks
from gslopes.crops.records import Crop, Cropper, Saliency
from gslopes.datasets.folder import open_photo
from gslopes.report.charts import FRAMES
from gslopes.run.config import CostLimits

WIDTH = 640


def show_picture(
    picture: Path,
    out: Path,
    croppers: Sequence[str],
    ratios: Sequence[float] | None = None,
    *,
    seed: int = 0,
    device: str = "auto",
    trust: bool = False,
    symmetry: Version = "program",
    symmetric_crop: Middle = "sideways",
) -> list[dict[str, Any]]:
    """Draw one row a cropper (picture with points 1 to 3 and crops; its map on the right) into a PNG file.

    Returns one entry a cropper and ratio: cropper, ratio, left, top, width, height, pixels of the picture.

    symmetry, symmetric_crop: how a picture that is its own mirror image is found and cropped in its middle, see
        ``crops.pictures.symmetry``; the pairs of an audit are not, as published.

    Raises: UsageError, UnknownName, ConfigError, PhotoError, AnswerError, StorageError.
    """
    if out.suffix.lower() != ".png":
        raise UsageError(f"{runfolder.show(out)} does not end in .png.", "Such as --out crops.png.")
    chosen = [check_ratio(ratio) for ratio in ratios or RATIOS]
    models = ready_croppers(
        croppers, (), CostLimits(), chosen, device=runtime.pick_device(device), seed=seed, trust=Trust(trust)
    )
    pixels = open_photo(picture).pixels
    answers: list[dict[str, Any]] = []
    panels = []
    for model in models:
        if isinstance(model, RemoteCropper):
            with TemporaryDirectory() as folder:
                model.ask_about(Path(folder), lambda: [pixels], lambda _: None)
        found, panel = _panel(model, pixels, chosen, symmetry, symmetric_crop)
        panels.append(panel)
        for ratio, crop in zip(chosen, found, strict=True):
            box = {"left": crop.left, "top": crop.top, "width": crop.width, "height": crop.height}
            answers.append({"cropper": model.name, "ratio": ratio, **box})
    whole = Image.new("RGB", (max(p.width for p in panels), sum(p.height for p in panels)), "white")
    top = 0
    for panel in panels:
        whole.paste(panel, (0, top))
        top += panel.height
    buffer = io.BytesIO()
    whole.save(buffer, "PNG")
    runfolder.make_folder(out.parent)
    runfolder.write_bytes(out, buffer.getvalue())
    return answers


def _panel(
    model: Saliency | Cropper, pixels: ByteArray, ratios: Sequence[float], symmetry: Version, symmetric_crop: Middle
) -> tuple[list[Crop], Image.Image]:
    height, width = pixels.shape[:2]
    scale = WIDTH / width
    size = (WIDTH, max(1, round(height * scale)))
    drawn = Image.fromarray(pixels).resize(size, Image.Resampling.LANCZOS)
    parts = [drawn]
    points: list[tuple[float, float, float]] = []
    if has_map(model):
        (found,) = cast("Saliency", model).maps([pixels])
        check_map(found, width, height, model.name, "the picture")
        if is_constant(found):
            raise AnswerError(f"{model.name} finds nothing salient in the picture: there is no crop to draw.")
        x, y = focal_point(found)
        if symmetry != "off" and is_symmetric(found.scores if symmetry == "saliency" else pixels, symmetry):
            x, y = symmetric_point(width, height, x, y, symmetric_crop)
        crops = [crop_rectangle(width, height, x, y, ratio) for ratio in ratios]
        scores = found.scores.astype(np.float64)
        points = [(float(x), float(y), 0.0), *find_peaks(scores, found.x, found.y, 3, 0.2 * min(width, height))[1:]]
        parts.append(_heat(scores, drawn))
    else:
        crops = [
            checked_crop(cast("Cropper", model).crop(pixels, ratio), width, height, ratio, model.name)[0]
            for ratio in ratios
        ]
    pen = ImageDraw.Draw(drawn)
    for index, crop in enumerate(crops):
        box = (crop.left, crop.top, crop.left + crop.width - 1, crop.top + crop.height - 1)
        inset = 3 * index
        x0, y0, x1, y1 = (float(value) * scale for value in box)
        pen.rectangle([x0 + inset, y0 + inset, x1 - inset, y1 - inset], outline=FRAMES[index % len(FRAMES)], width=3)
    for rank, (across, down, _) in enumerate(points, start=1):
        place = (across * scale, down * scale)
        pen.ellipse([place[0] - 11, place[1] - 11, place[0] + 11, place[1] + 11], fill="white", outline="black")
        pen.text(place, str(rank), fill="black", anchor="mm")
    panel = Image.new("RGB", (WIDTH * len(parts), size[1] + 24), "white")
    for index, part in enumerate(parts):
        panel.paste(part, (WIDTH * index, 24))
    words = ", ".join(f"{ratio:g}" for ratio in ratios)
    ImageDraw.Draw(panel).text((6, 6), f"{model.name}: crops of height/width {words}", fill="black")
    return crops, panel


def _heat(scores: NDArray[np.float64], drawn: Image.Image) -> Image.Image:
    """The map over the picture in gray: dark blue low, yellow high."""
    spread = float(np.ptp(scores)) or 1.0
    levels = (255 * (scores - scores.min()) / spread).astype(np.uint8)
    colours = cv2.cvtColor(cv2.applyColorMap(levels, cv2.COLORMAP_VIRIDIS), cv2.COLOR_BGR2RGB)
    heat = Image.fromarray(np.asarray(colours, np.uint8)).resize(drawn.size, Image.Resampling.BILINEAR)
    return Image.blend(drawn.convert("L").convert("RGB"), heat, 0.55)
