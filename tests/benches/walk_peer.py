"""Photos to counterfactual photos, JPEG to JPEG: our walk against the best plain one that we can write.

    python tests/benches/walk_peer.py IDENPROF UTKFACE [--photos 96] [--side 224] [--rounds 7] [--out FILE]

The peer does everything right. It reads and writes with simplejpeg if that is installed, else Pillow; facenet-
pytorch's MTCNN sees 32 photos at once; parser, reader and editor, as the zoo loads them, see the faces of these 32 in
one batch, the parser their mirror images as well; chips, masks and what comes of both in the photo are our own
functions. Half of the photos come from each folder, all made as large. The peer keeps no tables, and leaves out what
our walk checks of a photo. It runs twice: ``threads`` has all cores in the networks and in a pool for the rest,
``batches`` has one batch a core, each with one thread. Ours are the defaults, without placebos.

Rounds alternate. It prints the time on the wall, the processor's time, and how far apart the pictures are; for that
the peer writes once more with Pillow, since simplejpeg's transform is 0.7 levels off.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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
from bench_synthesis import differences, ours, prepare  # noqa: E402

from gslopes.core.geometry import OFFSET, similarity, warp  # noqa: E402
from gslopes.core.records import EditedChip, Motion  # noqa: E402
from gslopes.faces import zoo  # noqa: E402
from gslopes.faces.compose.masks import mask_is_degenerate, soft_mask  # noqa: E402
from gslopes.faces.compose.paste import compose  # noqa: E402
from gslopes.faces.compose.skin import mirrored_classes, region_classes  # noqa: E402
from gslopes.faces.edit.editors import PhotoValues, stands_at, way  # noqa: E402
from gslopes.faces.zoo.framing import CHIP  # noqa: E402
from gslopes.frame.executors.one_process import cores  # noqa: E402

try:
    import simplejpeg
except ImportError:
    simplejpeg = None

SIZE, BATCH, SMALLEST = 128, 32, 32
OTHER = 0.1  # levels in the mean of a picture, from which it shows another face


def read(file: Path) -> np.ndarray:
    if simplejpeg:
        return simplejpeg.decode_jpeg(file.read_bytes(), fastdct=False, fastupsample=False)
    return np.asarray(Image.open(file).convert("RGB"))


def write(file: Path, pixels: np.ndarray, gray: bool) -> None:
    pixels = np.ascontiguousarray(pixels[..., :1]) if gray else pixels
    if simplejpeg:
        colours = ("GRAY", "Gray") if gray else ("RGB", "444")
        file.write_bytes(simplejpeg.encode_jpeg(pixels, 95, *colours))
        return
    data = io.BytesIO()
    Image.fromarray(pixels.squeeze()).save(data, "JPEG", quality=95, subsampling=0)
    file.write_bytes(data.getvalue())


class Peer:
    """The plain walk in batches, in either way."""

    def __init__(self) -> None:
        self.mtcnn = MTCNN(keep_all=True, min_face_size=SMALLEST)
        self.parser, self.editor = zoo.load("face-parser"), zoo.load("gender-field")
        self.reader = PhotoValues(zoo.load("labeller"), self.editor.spec.labels)
        for model in (self.parser, self.editor):
            model.module.to(memory_format=torch.channels_last)
        self.region = list(region_classes("face", self.parser.spec.labels))
        self.mirrored = mirrored_classes(self.parser.spec.labels)
        self.values = stands_at(np.array(VALUES, np.float32), self.editor.spec.steps)

    def threads(self, files: list[Path], out: Path) -> None:
        out.mkdir(exist_ok=True)
        torch.set_num_threads(cores())
        cv2.setNumThreads(1)
        with ThreadPoolExecutor(cores()) as pool:
            for start in range(0, len(files), BATCH):
                self.walk(files[start : start + BATCH], out, pool.map)

    def batches(self, files: list[Path], out: Path) -> None:
        out.mkdir(exist_ok=True)
        torch.set_num_threads(1)
        cv2.setNumThreads(1)
        step = min(BATCH, -(-len(files) // cores()))
        with ThreadPoolExecutor(cores()) as pool:
            list(
                pool.map(
                    lambda i: self.walk(files[i : i + step], out, map), range(0, len(files), step)
                )
            )

    @torch.inference_mode()
    def walk(self, files: list[Path], out: Path, mapped: Callable) -> None:
        photos = list(mapped(read, files))
        result = [
            self.nearest(*item)
            for item in zip(photos, *self.mtcnn.detect(np.stack(photos), True)[::2], strict=True)
        ]
        used = [index for index, matrix in enumerate(result) if matrix is not None]
        if not used:
            return
        chips = np.stack(list(mapped(lambda i: warp(photos[i], result[i], SIZE), used)))
        x = torch.from_numpy(chips).permute(0, 3, 1, 2).float() / 255
        masks = list(mapped(soft_mask, self.likely(x)))
        readings = self.reader(x)[:, :1]
        ratios, motion = self.editor.module(
            (2 * x - 1).contiguous(memory_format=torch.channels_last)
        )
        towards, share = way(readings, torch.from_numpy(self.values))
        logs, fields = (255 * x + OFFSET).log(), motion.permute(0, 2, 3, 1).numpy()
        distances = (readings.new_tensor(self.values) - readings).numpy()

        def finish(row: int) -> None:
            if mask_is_degenerate(masks[row]):
                return
            edits = share[row, :, None, None, None] * ratios[row, towards[row]]
            edited = (logs[row] + edits).exp_().sub_(OFFSET).permute(0, 2, 3, 1).numpy()
            index, moves = used[row], Motion(fields[row], distances[row])
            near = chips[row].astype(np.float32)
            gray = not np.ptp(photos[index], axis=2).any()
            chip = EditedChip(edited, near, moves)
            full = compose(photos[index], gray, chip, masks[row], result[index], "ratio")
            for step in range(len(VALUES)):
                write(out / f"{files[index].stem}-{step}.jpg", full.picture(step), gray)

        list(mapped(finish, range(len(used))))

    def likely(self, x: torch.Tensor) -> np.ndarray:
        spec = self.parser.spec
        mean, std = (torch.tensor(v).view(1, 3, 1, 1) for v in (spec.mean, spec.std))
        normal = ((x - mean) / std).contiguous(memory_format=torch.channels_last)
        recorded = self.parser.module(normal).softmax(1)
        present = self.parser.module(normal.flip(3)).softmax(1).flip(3)[:, self.mirrored]
        return ((recorded + present) / 2)[:, self.region].sum(1).clamp(0, 1).numpy()

    @staticmethod
    def nearest(
        photo: np.ndarray, boxes: np.ndarray | None, points: np.ndarray
    ) -> np.ndarray | None:
        if boxes is None:
            return None
        middle = np.array([photo.shape[1] - 1, photo.shape[0] - 1]) / 2
        index = int(np.argmin((((boxes[:, :2] + boxes[:, 2:]) / 2 - middle) ** 2).sum(1)))
        small = (boxes[index, 2:] - boxes[index, :2]).min() < SMALLEST
        return None if small else similarity(points[index], CHIP * SIZE - 0.5)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--photos", type=int, default=96)
    parser.add_argument("--side", type=int, default=224)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--device", default="cpu", choices=["cpu"])
    parser.add_argument("--workers", type=int, default=0, help="threads of ours; 0: one a core")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure.say(run(args, Path(folder)), args.out)


def run(args: argparse.Namespace, root: Path) -> dict[str, object]:
    global simplejpeg
    (root / "photos").mkdir()
    for number, folder in enumerate(args.folders):
        for file in prepare(
            folder, root / f"from-{number}", args.photos // len(args.folders), args.side
        ):
            file.rename(root / "photos" / f"{number}-{file.name}")
    files = sorted((root / "photos").iterdir())
    walk, result = ours(root, args, SMALLEST)
    peer = Peer()
    runs = {
        "ours": walk,
        "threads": lambda: peer.threads(files, root / "plain"),
        "batches": lambda: peer.batches(files, root / "plain"),
    }
    processor: dict[str, list[float]] = {name: [] for name in runs}

    def clocked(name: str) -> Callable[[], None]:
        def run() -> None:
            began = time.process_time()
            runs[name]()
            processor[name].append(time.process_time() - began)

        return run

    wall = measure.in_turn({name: clocked(name) for name in runs}, args.rounds)
    processor = {name: times[1:] for name, times in processor.items()}
    used, files_by = (
        result().used,
        f"simplejpeg {simplejpeg.__version__}" if simplejpeg else "Pillow",
    )
    simplejpeg = None
    peer.batches(files, root / "plain")
    return {
        "bench": "walk peer", "machine": measure.machine(packages=("torch", "facenet-pytorch", "pillow")),
        "files": files_by,
        "photos": len(files), "used": used, "side": args.side, "values": len(VALUES), "rounds": args.rounds,
        "wall_ms_a_photo": {name: quartiles(times, len(files)) for name, times in wall.items()},
        "processor_ms_a_photo": {name: quartiles(times, len(files)) for name, times in processor.items()},
        "times_faster": {name: paired(wall, name) for name in runs if name != "ours"},
        "times_less_processor": {name: paired(processor, name) for name in runs if name != "ours"},
        "levels_apart": apart(root),
    }  # fmt: skip


def apart(folder: Path) -> dict[str, float]:
    """Levels between the pictures, apart from photos of which MTCNN gives two faces the same score.

    facenet-pytorch takes the last of these, our walk the first, so that two pictures show two faces of one photo.
    """
    means = differences(folder)
    largest = {photo: max(mean for second, mean in means if second == photo) for photo, _ in means}
    others = {photo for photo, mean in largest.items() if mean > OTHER}
    same = [mean for photo, mean in means if photo not in others]
    return {
        "photos": len(largest), "of_another_face": len(others), "pictures": len(same),
        "mean": round(float(np.mean(same)), 4), "worst_mean": round(max(same), 4),
    }  # fmt: skip


def quartiles(seconds: list[float], photos: int) -> list[float]:
    """First quartile, median and third, in milliseconds a photo."""
    return [round(1000 * float(item) / photos, 2) for item in np.percentile(seconds, [25, 50, 75])]


def paired(seconds: dict[str, list[float]], peer: str) -> list[float]:
    """How many times as long the peer took, round by round: first quartile, median and third."""
    ratios = np.array(seconds[peer]) / np.array(seconds["ours"])
    return [round(float(item), 2) for item in np.percentile(ratios, [25, 50, 75])]


if __name__ == "__main__":
    main()
