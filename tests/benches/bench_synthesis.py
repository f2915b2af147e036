"""Photos to counterfactual photos, JPEG to JPEG: our walk against the plain one, same photos, same weights.

    python tests/benches/bench_synthesis.py PHOTOS [--photos 500] [--side 1024] [--device cuda] [--out FILE]

The peer takes one photo after the other: Pillow reads it, facenet-pytorch finds faces, parser and reader see one
chip at a time, the template is fitted to it and applied for one value at a time, OpenCV warps each change back,
Pillow saves. It has all cores through torch's own threads and keeps no tables; ours writes its run folder as in an
audit. Both have their models loaded, and both should make the same pictures: how far apart they are is in the
result.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import torch
from facenet_pytorch import MTCNN
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import measure  # noqa: E402
from bench_sweep import VALUES  # noqa: E402

from gslopes.core.geometry import OFFSET, similarity  # noqa: E402
from gslopes.core.records import Motion  # noqa: E402
from gslopes.faces import zoo  # noqa: E402
from gslopes.faces.components import default_components  # noqa: E402
from gslopes.faces.compose.composite import in_photo, within  # noqa: E402
from gslopes.faces.compose.masks import soft_mask  # noqa: E402
from gslopes.faces.compose.paste import Mover  # noqa: E402
from gslopes.faces.compose.skin import class_probabilities, region_classes  # noqa: E402
from gslopes.faces.edit.editors import editor_of, stands_at, way  # noqa: E402
from gslopes.faces.zoo.framing import CHIP  # noqa: E402
from gslopes.frame.executors import OneProcess  # noqa: E402
from gslopes.frame.executors.one_process import cores  # noqa: E402
from gslopes.slopes import audit as stages  # noqa: E402
from gslopes.slopes.config import configure  # noqa: E402
from gslopes.slopes.outcome import Walked  # noqa: E402

SMALLEST = 20  # of the faces that are edited, pixels
SIZE = 128


class Plain:
    """The plain walk."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.mtcnn = MTCNN(keep_all=True, min_face_size=SMALLEST, device=device)
        self.editor, self.parser = (
            editor_of("gender-field", device),
            zoo.load("face-parser", device),
        )
        self.region = list(region_classes("face", self.parser.spec.labels))

    @torch.inference_mode()
    def __call__(self, files: list[Path], out: Path) -> None:
        out.mkdir(exist_ok=True)
        for file in files:
            photo = Image.open(file).convert("RGB")
            boxes, _, points = self.mtcnn.detect(photo, landmarks=True)
            if boxes is None:
                continue
            middle = np.array([photo.width - 1, photo.height - 1]) / 2
            index = int(np.argmin((((boxes[:, :2] + boxes[:, 2:]) / 2 - middle) ** 2).sum(1)))
            if (boxes[index, 2:] - boxes[index, :2]).min() < SMALLEST:
                continue
            self.edit(
                np.asarray(photo), similarity(points[index], CHIP * SIZE - 0.5), out / file.stem
            )

    def edit(self, pixels: np.ndarray, matrix: np.ndarray, name: Path) -> None:
        scale = float(np.sqrt(abs(np.linalg.det(matrix[:, :2]))))
        smooth = (
            pixels
            if scale >= 0.8
            else cv2.GaussianBlur(pixels, (0, 0), 0.5 * np.sqrt(1 / scale**2 - 1))
        )
        chip = cv2.warpAffine(
            smooth, matrix, (SIZE, SIZE), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT_101
        )
        x = torch.from_numpy(chip).to(self.device).permute(2, 0, 1)[None].float() / 255
        mask = soft_mask(self.likely(x))
        if mask.mean() < 0.02:
            return
        photo = self.editor.photo_values(x)[:, :1]
        position = (pixels.shape[1], pixels.shape[0])
        weight = self.back(mask, matrix, scale, position, cv2.INTER_LINEAR, cv2.BORDER_CONSTANT)[
            ..., None
        ]
        weight[weight < 1 / 255] = 0
        ratios, moving = self.editor.network(2 * x - 1)
        moving = moving.permute(0, 2, 3, 1)
        values = stands_at(np.array(VALUES, np.float32), self.editor.spec.steps)
        towards, share = way(photo, torch.from_numpy(values))
        distances = torch.from_numpy(values).to(self.device)[None] - photo
        unit = within(Motion(moving[0].cpu().numpy(), distances[0].cpu().numpy()), mask)
        unit = self.back(unit, matrix, scale, position, cv2.INTER_CUBIC, cv2.BORDER_REPLICATE)
        move = Mover(np.where(weight > 0, in_photo(unit, matrix), 0).astype(np.float32))
        for step in range(len(VALUES)):
            distance = distances[:, step : step + 1]
            logs = (share[0, step] * ratios[0, towards[0, step]]).permute(1, 2, 0).cpu().numpy()
            layer = self.back(logs, matrix, scale, position, cv2.INTER_CUBIC, cv2.BORDER_REPLICATE)
            mixed = pixels + (pixels + OFFSET) * np.expm1(weight * layer)
            edited = np.clip(
                np.rint(move(mixed.astype(np.float32), float(distance))), 0, 255
            ).astype(np.uint8)
            Image.fromarray(edited).save(f"{name}-{step}.jpg", quality=95, subsampling=0)

    def likely(self, x: torch.Tensor) -> np.ndarray:
        levels = (255 * x).round().byte().permute(0, 2, 3, 1).cpu().numpy()
        shares = class_probabilities(self.parser, levels, torch.device(self.device))
        return shares[:, self.region].sum(1)[0].cpu().numpy()

    @staticmethod
    def back(
        chip: np.ndarray,
        matrix: np.ndarray,
        scale: float,
        size: tuple[int, int],
        how: int,
        border: int,
    ) -> np.ndarray:
        if scale > 1:
            chip = cv2.GaussianBlur(
                chip, (0, 0), 0.5 * np.sqrt(scale**2 - 1), borderType=cv2.BORDER_REPLICATE
            )
        return cv2.warpAffine(
            chip, matrix, size, flags=how | cv2.WARP_INVERSE_MAP, borderMode=border
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--photos", type=int, default=500)
    parser.add_argument(
        "--plain-photos", type=int, default=0, help="of the peer, if fewer; its time is scaled"
    )
    parser.add_argument(
        "--side", type=int, default=0, help="first make every photo this many pixels wide and high"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    parser.add_argument(
        "--workers", type=int, default=0, help="processes; 0: the threads of one process"
    )
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure.say(run(args, Path(folder)), args.out)


def run(args: argparse.Namespace, folder: Path) -> dict[str, object]:
    files = prepare(args.folder, folder / "photos", args.photos, args.side)
    few = files[: args.plain_photos or None]
    walk, result = ours(folder, args)
    plain = Plain(args.device)
    torch.set_num_threads(cores())
    runs = {"ours": walk, "plain": lambda: plain(few, folder / "plain")}
    seconds = measure.in_turn(runs, args.rounds, args.device)
    seconds["plain"] = [item * len(files) / len(few) for item in seconds["plain"]]
    used = result().used
    median = float(np.median(seconds["ours"]))
    return {
        "bench": "synthesis", "machine": measure.machine(args.device), "photos": len(files), "used": used,
        "plain_photos": len(few), "side": args.side or "as they are", "values": len(VALUES),
        "engine": f"{args.workers} processes" if args.workers else "threads of one process",
        "seconds": {name: measure.spread(times, 2) for name, times in seconds.items()},
        "photos_per_second": {name: round(len(files) / np.median(times), 2) for name, times in seconds.items()},
        "times_faster_than": measure.ratios(seconds),
        "paper_minutes": round(64_500 / len(files) * median / 60, 1),
        "levels_apart": pixel_differences(folder),
    }  # fmt: skip


def ours(
    folder: Path, args: argparse.Namespace, min_face: int = SMALLEST
) -> tuple[Callable[[], object], Callable[[], Walked]]:
    """A run from the beginning, and what the last one found."""
    options = {"min_face": min_face, "device": args.device, "placebo": False}
    components = default_components(configure(folder / "photos", options), args.device)
    executor = OneProcess(threads=args.workers)
    result: list[Walked] = []

    def walk() -> None:
        shutil.rmtree(folder / "run", ignore_errors=True)
        run = folder / "run"
        result[:] = [
            stages.synthesise(
                folder / "photos", run, components=components, executor=executor, **options
            )
        ]

    return walk, lambda: result[0]


def prepare(source: Path, folder: Path, count: int, side: int) -> list[Path]:
    """So many photos as JPEG; the same one twice is mirrored, so that no two are equal."""
    folder.mkdir()
    present = sorted(source.rglob("*.jpg"))
    present = present[:: max(1, len(present) // count)][:count]
    for index in range(count):
        file, target = present[index % len(present)], folder / f"{index:06d}.jpg"
        if not side and index < len(present):
            shutil.copy(file, target)
            continue
        photo = Image.open(file).convert("RGB")
        if index // len(present) % 2:
            photo = photo.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        shift = index // len(present) // 2
        photo = photo.crop((shift, 0, photo.width, photo.height))
        photo.resize((side or photo.width, side or photo.height), Image.Resampling.BICUBIC).save(
            target, quality=92
        )
    return sorted(folder.iterdir())


def pixel_differences(folder: Path) -> dict[str, float]:
    """Levels between our pictures and the peer's: the mean over all pixels, and the greatest mean of a picture."""
    means = [mean for _, mean in differences(folder)]
    return {
        "pictures": len(means),
        "mean": round(float(np.mean(means)), 4),
        "worst_mean": round(max(means), 3),
    }


def differences(folder: Path) -> list[tuple[str, float]]:
    """Of every picture that both have, its photo and the mean of the levels between them."""
    from gslopes.core import tables

    photos = tables.read(tables.PHOTOS, folder / "run" / "photos.parquet")
    photos = photos[photos["status"] == "used"].set_index("photo")["path"]
    edits = tables.read(tables.EDITS, folder / "run" / "edits.parquet")
    means = []
    for photo, step, file in edits[["photo", "step", "file"]].itertuples(index=False):
        second = folder / "plain" / f"{Path(photos[photo]).stem}-{step}.jpg"
        if second.exists():
            pair = [
                np.asarray(Image.open(path).convert("RGB"), np.int16)
                for path in (folder / "run" / file, second)
            ]
            means.append((photos[photo], float(np.abs(pair[0] - pair[1]).mean())))
    return means


if __name__ == "__main__":
    main()
