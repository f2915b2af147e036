"""MTCNN (Zhang et al. 2016) from facenet-pytorch, over pictures of mixed sizes."""

from __future__ import annotations

import numpy as np
import torch
from facenet_pytorch import MTCNN
from facenet_pytorch.models.utils.detect_face import detect_face
from torch import nn

from gslopes.core.records import ByteArray, Detections

# The detector's own defaults: thresholds of its three stages and the step of its image pyramid.
THRESHOLDS = (0.6, 0.7, 0.7)
FACTOR = 0.709
# P-Net sees 12 pixels, so a narrower picture holds nothing that it could find.
SMALLEST = 12


class Mtcnn(nn.Module):
    """Faces of pictures; pictures of one size go through the three networks as one batch.

    min_face: side of the smallest face that is looked for, pixels.

    Source: Zhang, Zhang, Li, Qiao 2016, Joint Face Detection and Alignment using Multi-task Cascaded CNNs; weights as
    facenet-pytorch ships them (MIT).
    """

    def __init__(self, min_face: int = 32) -> None:
        super().__init__()
        self.min_face = min_face
        self.cascade = MTCNN(min_face_size=min_face, keep_all=True).eval()

    @torch.inference_mode()
    def forward(self, pictures: list[ByteArray]) -> list[Detections]:
        """Pictures, each (H, W, 3) uint8 RGB, to their faces, the most confident first."""
        results = [_nothing() for _ in pictures]
        for indices in _same_size(pictures):
            found = self._detect(np.stack([pictures[i] for i in indices]))
            for index, detections in zip(indices, found, strict=True):
                results[index] = detections
        return results

    def _detect(self, pixels: ByteArray) -> list[Detections]:
        """Faces of pictures of one size, (B, H, W, 3)."""
        if min(pixels.shape[1:3]) < max(SMALLEST, self.min_face):
            return [_nothing() for _ in pixels]
        nets = self.cascade
        device = next(nets.parameters()).device
        boxes, points = detect_face(pixels, self.min_face, nets.pnet, nets.rnet, nets.onet, THRESHOLDS, FACTOR, device)
        return [_detections(b, p) for b, p in zip(boxes, points, strict=True)]


def _same_size(pictures: list[ByteArray]) -> list[list[int]]:
    """Indices of the pictures, grouped by size."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for index, picture in enumerate(pictures):
        groups.setdefault(picture.shape[:2], []).append(index)
    return list(groups.values())


def _detections(boxes: np.ndarray, points: np.ndarray) -> Detections:
    boxes = np.asarray(boxes, np.float32).reshape(-1, 5)
    order = np.argsort(-boxes[:, 4], kind="stable")
    points = np.asarray(points, np.float32).reshape(-1, 5, 2)[order]
    return Detections(boxes[order, :4], points, boxes[order, 4])


def _nothing() -> Detections:
    return Detections(np.zeros((0, 4), np.float32), np.zeros((0, 5, 2), np.float32), np.zeros(0, np.float32))
