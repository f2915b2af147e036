"""MTCNN (Zhang et al. 2016) with facenet-pytorch's networks, over batches of pictures of mixed sizes.

The three networks and every threshold are facenet-pytorch's. What is new is how they are fed: each level of the image
pyramid is one batch, and what the second and the third network look at is cut out of running sums, for all pictures
together, instead of box by box.
"""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from gslopes.core import read_beside
from gslopes.core.records import ByteArray, Detections, sides_of, slices
from gslopes.core.runtime import batch_size

# The detector's own defaults: thresholds of its three stages and the step of its image pyramid.
THRESHOLDS = (0.6, 0.7, 0.7)
FACTOR = 0.709
# A face of which the third network is less sure than that is looked at again, turned: of those with wrong points 99 %,
# of upright ones 14 % (125 photos of UTKFace and IdenProf, turned by up to 180 degrees).
CERTAIN = 0.999
# P-Net sees 12 pixels, two apart, so a narrower picture holds nothing that it could find.
CELL = 12
STRIDE = 2  # pixels

# Pixels of a pyramid's level, and of patches, that go through a network at once on the CPU, on which fewer are as fast;
# and the bytes that each takes.
LEVEL = (200_000, 91)
PATCHES = (75_000, 250)
# Numbers of patches that a network is given: something is kept for every shape that it has seen.
SHAPES = 8
LAST = torch.channels_last
LAYERS = read_beside(__file__, "cascade.toml")


class Mtcnn(nn.Module):
    """Faces of pictures.

    min_face: side of the smallest face that is looked for, pixels.

    Source: Zhang, Zhang, Li, Qiao 2016, Joint Face Detection and Alignment using Multi-task Cascaded CNNs; weights as
    facenet-pytorch ships them (MIT).
    """

    def __init__(self, min_face: int = 32) -> None:
        super().__init__()
        self.min_face = min_face
        self.pnet, self.rnet, self.onet = (Network(name).to(memory_format=LAST) for name in LAYERS)

    @torch.inference_mode()
    def forward(self, pictures: list[ByteArray], upright: bool = False) -> list[Detections]:
        """Pictures, each (H, W, 3) uint8 RGB, to their faces, the most confident first.

        upright: whether to tell of each if it is upright, too.
        """
        if not pictures:
            return []
        device = next(self.parameters()).device
        areas = Areas(
            [torch.from_numpy(np.require(one, np.uint8, ["C", "W"])).to(device) for one in pictures]
        )
        boxes, owner = self._propose(areas)
        boxes, owner, (scores, by) = self._refine(areas, boxes, owner, 24, self.rnet, THRESHOLDS[1])
        keep = best_boxes(boxes, scores, owner, 0.7)
        boxes = to_square(apply_deltas(boxes[keep], by[keep], 1))
        owner = owner[keep]
        boxes, owner, (scores, by, points) = self._refine(
            areas, boxes, owner, 48, self.onet, THRESHOLDS[2]
        )
        sides = sides_of(boxes) + 1
        points = sides[:, :, None] * points.view(-1, 2, 5) + boxes[:, :2, None] - 1  # (n, 2, 5)
        boxes = apply_deltas(boxes, by, 1)
        faces = [part.float().cpu() for part in (boxes, scores, points.transpose(1, 2))]
        owner = owner.cpu()
        keep = nms_min_area(faces[0], faces[1], owner, 0.7)
        boxes, scores, points = (part[keep] for part in faces)
        owner = owner[keep]
        columns: list[Any] = [boxes, points, scores]
        if upright:
            columns.append(self._upright(areas, boxes, owner, scores))
        return [
            Detections(*(column[owner == index].numpy() for column in columns))
            for index in range(len(pictures))
        ]

    def _upright(
        self,
        areas: "Areas",
        boxes: Tensor,
        owner: Tensor,
        scores: Tensor,
    ) -> Tensor:
        """Whether each face is upright, (n,) bool.

        The third network takes faces on their side or upside down for faces as well, and gives points as if they were
        upright; but it doubts them, and less so the same square turned back by a quarter or half.
        """
        boxes = boxes.to(areas.sums.device)
        owner = owner.to(areas.sums.device)
        inside = areas.inside(to_square(boxes), owner)
        doubted = (scores.to(inside.device) < CERTAIN) & (sides_of(inside) > 0).all(1)
        upright = torch.ones_like(doubted)
        for few in doubted.nonzero()[:, 0].split(SHAPES) if doubted.any() else ():
            patches = normal(areas.resized(inside[few], owner[few], 48))
            turned = torch.cat([torch.rot90(patches, quarters, (2, 3)) for quarters in range(4)])
            doubts = self.onet(turned.contiguous(memory_format=LAST))[-1][:, 0]
            upright[few] = doubts.view(4, -1).argmin(0) == 0
        return upright.cpu()

    # -- the first network: over every place of every level of the pyramid --

    def _propose(self, areas: "Areas") -> tuple[Tensor, Tensor]:
        """Squares (n, 4) where a face may be, and the index of each one's picture (n,)."""
        device = areas.sums.device
        proposals = [torch.zeros(0, 9, device=device)]
        owners = [torch.zeros(0, dtype=torch.long, device=device)]
        scale = CELL / self.min_face
        while max(map(min, areas.shapes)) * scale >= CELL:
            for indices, size in areas.levels(scale):
                owner, corner, score, by = self._places(normal(areas.shrunk(indices, size)))
                low = ((corner + 1) / scale).floor()
                high = ((corner + CELL) / scale).floor()
                boxes = torch.cat([low, high, score[:, None], by], 1)
                keep = best_boxes(boxes[:, :4], boxes[:, 4], owner, 0.5)
                proposals.append(boxes[keep])
                owners.append(torch.tensor(indices, device=device)[owner[keep]])
            scale *= FACTOR
        boxes = torch.cat(proposals)
        owner = torch.cat(owners)
        keep = best_boxes(boxes[:, :4], boxes[:, 4], owner, 0.7)
        boxes = boxes[keep]
        owner = owner[keep]
        return to_square(apply_deltas(boxes[:, :4], boxes[:, 5:], 0)), owner

    def _places(self, level: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Where in a level (b, 3, h, w) there may be a face: index, x y of its corner, score, (n, 4) deltas.

        As P-Net's own ``forward``, but its deltas are computed only for places that may have a face.
        """
        net: Any = self.pnet
        x = level
        for name in net.body:
            x = net.get_submodule(name)(x)
        features = x.permute(0, 2, 3, 1)  # (b, h, w, 32)
        odds = linear(features, net.conv4_1.weight.flatten(1), net.conv4_1.bias)
        scores = (odds[..., 1] - odds[..., 0]).sigmoid()
        owner, y, x = (scores >= THRESHOLDS[0]).nonzero(as_tuple=True)
        by = linear(features[owner, y, x], net.conv4_2.weight.flatten(1), net.conv4_2.bias)
        corner = torch.stack([x, y], 1).to(scores.dtype) * STRIDE
        return owner, corner, scores[owner, y, x], by

    # -- the other two: over what is left --

    @staticmethod
    def _refine(
        areas: "Areas",
        boxes: Tensor,
        owner: Tensor,
        size: int,
        net: nn.Module,
        threshold: float,
    ) -> tuple[Tensor, Tensor, list[Tensor]]:
        """Boxes and owners of those that a network takes for faces; their scores and its other outputs."""
        inside = areas.inside(boxes, owner)
        filled = (sides_of(inside) > 0).all(1)
        boxes = boxes[filled]
        owner = owner[filled]
        inside = inside[filled]
        outputs = []
        step = max(1, batch_size(str(boxes.device), PATCHES[1], PATCHES[0]) // size**2)
        multiple = max(1, step // SHAPES)
        for start in range(0, max(1, len(boxes)), step):
            rows = torch.arange(start, min(start + step, len(boxes)), device=boxes.device)
            count = len(rows)
            # the last one again until their number is a multiple of multiple
            rows = torch.cat([rows, rows[-1:].expand(-count % multiple)])
            patches = normal(areas.resized(inside[rows], owner[rows], size))
            *rest, score = net(patches.contiguous(memory_format=LAST))
            outputs.append([part[:count] for part in (score[:, 1], *rest)])
        together = [torch.cat(chunks) for chunks in zip(*outputs, strict=True)]
        sure = together[0] > threshold
        return boxes[sure], owner[sure], [values[sure] for values in together]


def normal(pictures: Tensor) -> Tensor:
    """Levels, 0 to 255, in the units of the three networks."""
    return (pictures - 127.5) * 0.0078125


# --- Boxes of a detector's cascade: what is cut out of pictures for them, and which of them are duplicates ------------
# Boxes are (n, 4) float, x0 y0 x1 y1 in pixels of their picture; ``owner`` (n,) is the index of that picture.
# Conventions of whole pixels (a box of one pixel has x0 == x1) are as in the cascade's training.


class Areas:
    """Mean colours of any rectangles of pictures in constant time, from running sums (Crow 1984, summed-area tables).

    pictures: each (H, W, 3) uint8 on one device, of any sizes.
    """

    def __init__(self, pictures: list[Tensor]) -> None:
        device = pictures[0].device
        self.shapes = [tuple(picture.shape[:2]) for picture in pictures]
        lengths = [(height + 1) * (width + 1) for height, width in self.shapes]
        self.sums = torch.empty((sum(lengths), 3), dtype=torch.int32, device=device)
        for picture, sums in zip(pictures, self.sums.split(lengths), strict=True):
            _running_sums(picture, sums)
        self.starts = torch.tensor([0, *lengths], device=device).cumsum(0)
        self.sides = torch.tensor(self.shapes, device=device).flip(1)

    def levels(self, scale: float) -> Iterator[tuple[list[int], tuple[int, int]]]:
        """One level of the pyramid, pictures of one size in a batch: their indices, and their height and width."""
        limit = batch_size(str(self.sums.device), LEVEL[1], LEVEL[0])
        for shape in sorted(set(self.shapes)):
            if min(shape) * scale < CELL:
                continue
            indices = [index for index, other in enumerate(self.shapes) if other == shape]
            height, width = (int(side * scale + 1) for side in shape)
            for part in slices(len(indices), max(1, limit // (height * width))):
                yield indices[part], (height, width)

    def shrunk(self, indices: list[int], size: tuple[int, int]) -> Tensor:
        """Whole pictures, all as large, at another height and width, (n, 3, h, w) float in [0, 255]; as ``resized``."""
        device = self.sums.device
        height, width = self.shapes[indices[0]]
        zero = torch.zeros(1, dtype=torch.long, device=device)
        y0, y1 = (edges[0] for edges in _bins(zero, zero + height, size[0]))
        x0, x1 = (edges[0] for edges in _bins(zero, zero + width, size[1]))
        pixels = ((y1 - y0)[:, None] * (x1 - x0))[..., None].float()
        level = torch.empty((len(indices), *size, 3), device=device)
        few = 1 if device.type == "cpu" else len(indices)  # on a CPU one at a time, in its cache
        for rows in slices(len(indices), few):
            starts = self.starts[indices[rows]].tolist()
            sums = torch.stack([self.sums[at : at + (height + 1) * (width + 1)] for at in starts])
            lines = sums.view(-1, height + 1, width + 1, 3)
            lines = _taken(lines, y1, 1) - _taken(lines, y0, 1)
            torch.div(_taken(lines, x1, 2) - _taken(lines, x0, 2), pixels, out=level[rows])
        return level.permute(0, 3, 1, 2)

    def inside(self, boxes: Tensor, owner: Tensor) -> Tensor:
        """The pixels of each box that its picture has, (n, 4) int64: first column and row, one past the last."""
        corner = boxes.trunc().long()
        low = corner[:, :2].clamp(min=1) - 1
        return torch.cat([low, torch.minimum(corner[:, 2:], self.sides[owner])], 1)

    def resized(self, inside: Tensor, owner: Tensor, size: int) -> Tensor:
        """The pixels of each box as (n, 3, size, size) float in [0, 255], every new pixel the mean of those under it.

        inside: as ``inside`` gives them, none empty.

        The same bins as torch's ``adaptive_avg_pool2d`` ("area" interpolation).
        """
        x0, x1 = _bins(inside[:, 0], inside[:, 2], size)  # (n, size) each
        y0, y1 = _bins(inside[:, 1], inside[:, 3], size)
        pitch = self.sides[owner, :1] + 1
        rows = torch.cat([y0, y1], 1) * pitch + self.starts[owner][:, None]
        index = rows[:, :, None] + torch.cat([x0, x1], 1)[:, None]  # (n, 2 size, 2 size)
        corners = _taken(self.sums, index.reshape(-1), 0).view(len(owner), 2, size, 2, size, 3)
        total = (
            corners[:, 1, :, 1] - corners[:, 0, :, 1] - corners[:, 1, :, 0] + corners[:, 0, :, 0]
        )
        pixels = (y1 - y0)[:, :, None] * (x1 - x0)[:, None]
        return (total.float() / pixels[..., None]).permute(0, 3, 1, 2)


def _running_sums(picture: Tensor, sums: Tensor) -> None:
    """Write those of all pixels above and to the left into (H + 1) (W + 1) rows of three, int32.

    They may run over in large pictures; differences come back, since no bin holds 8 million pixels.
    """
    sums = sums.unflatten(0, (-1, picture.shape[1] + 1))
    if picture.device.type == "cpu":
        cv2.integral(picture.numpy(), sums.numpy(), sdepth=cv2.CV_32S)
        return
    sums.zero_()
    torch.cumsum(picture.cumsum(0, dtype=torch.int32), 1, dtype=torch.int32, out=sums[1:, 1:])


def _taken(sums: Tensor, index: Tensor, axis: int) -> Tensor:
    if sums.device.type == "cpu":  # NumPy takes pixels of three numbers a third as long
        return torch.from_numpy(sums.numpy().take(index.numpy(), axis))
    return sums.index_select(axis, index)


def _bins(first: Tensor, last: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Where each of ``count`` bins of the pixels from ``first`` to ``last`` begins and ends, (n, count) each."""
    length = (last - first)[:, None]
    steps = torch.arange(count, device=first.device)
    ends = -((-(steps + 1) * length) // count)
    return first[:, None] + (steps * length) // count, first[:, None] + ends


def best_boxes(boxes: Tensor, scores: Tensor, owner: Tensor, overlap: float) -> Tensor:
    """Indices of the boxes that stay when, in each picture, those that overlap a better one fall away.

    overlap: intersection over union from which two boxes are duplicates.
    """
    # in 64 bits, in which pictures are moved apart without moving a box
    corners = boxes.double().cpu().numpy()
    rectangles: Any = np.concatenate([corners[:, :2], sides_of(corners)], 1)
    order: Any = scores.float().cpu().numpy()
    keep = cv2.dnn.NMSBoxesBatched(rectangles, order, owner.tolist(), -1.0, overlap)
    return torch.as_tensor(np.array(keep, np.int64).reshape(-1), device=boxes.device)


def nms_min_area(boxes: Tensor, scores: Tensor, owner: Tensor, overlap: float) -> Tensor:
    """As ``best_boxes``, by the intersection's share of the smaller box: a box in a box goes too. For few boxes."""
    keep = []
    for picture in owner.unique():
        rows = (owner == picture).nonzero()[:, 0]
        rows = rows[torch.argsort(scores[rows], descending=True, stable=True)]
        while len(rows):
            best, rows = rows[0], rows[1:]
            keep.append(int(best))
            rows = rows[_of_the_smaller(boxes[best], boxes[rows]) <= overlap]
    return torch.tensor(keep, dtype=torch.long)


def _of_the_smaller(box: Tensor, others: Tensor) -> Tensor:
    low = torch.maximum(box[:2], others[:, :2])
    high = torch.minimum(box[2:], others[:, 2:])
    shared = (high - low + 1).clamp(min=0).prod(1)
    return shared / torch.minimum((sides_of(box) + 1).prod(), (sides_of(others) + 1).prod(1))


def to_square(boxes: Tensor) -> Tensor:
    """The squares around the boxes' centres, as wide as their longer sides."""
    sides = sides_of(boxes)
    side = sides.amax(1, keepdim=True)
    low = boxes[:, :2] + sides * 0.5 - side * 0.5
    return torch.cat([low, low + side], 1)


def apply_deltas(boxes: Tensor, deltas: Tensor, extra: float) -> Tensor:
    """Boxes with each side moved by the share ``deltas`` (n, 4) of their width or height, taken ``extra`` longer."""
    sides = sides_of(boxes) + extra
    return boxes + deltas * sides.repeat(1, 2)


# --- The three networks, with the weights that facenet-pytorch ships (MIT) --------------------------------------------
# Its package is not imported: it imports torchvision, and that torch's compiler, which takes longer than a photo.


class Network(nn.Module):
    """Layers one after the other, then heads side by side, under the names of their weights.

    name: ``pnet``, which may see a picture of any size, ``rnet`` for 24 x 24 pixels or ``onet`` for 48 x 48.

    Source: Zhang, Zhang, Li, Qiao 2016, Joint Face Detection and Alignment using Multi-task Cascaded CNNs, Figure 2.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        layers: dict[str, nn.Module] = {}
        for number, row in enumerate(LAYERS[name]["convolutions"], 1):
            before, after, kernel, pool = row
            layers[f"conv{number}"] = nn.Conv2d(before, after, kernel)
            layers[f"prelu{number}"] = nn.PReLU(after)
            if pool:
                layers[f"pool{number}"] = nn.MaxPool2d(pool, 2, ceil_mode=True)
        dense = LAYERS[name]["dense"]
        if dense:
            layers |= {"flat": Flat(), f"dense{number + 1}": nn.Linear(*dense)}
            layers[f"prelu{number + 1}"] = nn.PReLU(dense[1])
        for key, shape in LAYERS[name]["heads"].items():
            layers[key] = nn.Linear(*shape) if dense else nn.Conv2d(*shape)
        self.heads = list(LAYERS[name]["heads"])
        self.body = [key for key in layers if key not in self.heads]
        for key, layer in layers.items():
            self.add_module(key, layer)
        package: Any = find_spec("facenet_pytorch")
        weights = Path(package.origin).with_name("data") / f"{name}.pt"
        self.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True))
        self.eval().requires_grad_(False)

    def forward(self, pictures: Tensor) -> tuple[Tensor, ...]:
        """(B, 3, H, W) in [-1, 1] to moves of the box's sides, of the last network the five points, and the chances."""
        for key in self.body:
            pictures = self.get_submodule(key)(pictures)
        chances, *rest = (self.get_submodule(key)(pictures) for key in self.heads)
        return (*rest, chances.softmax(1))


class Flat(nn.Module):
    """(B, C, H, W) to (B, W H C), as the weights have it."""

    def forward(self, x: Tensor) -> Tensor:
        """All but the first dimension in one."""
        return x.permute(0, 3, 2, 1).flatten(1)
