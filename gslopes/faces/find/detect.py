"""Find every face of a batch of photos with MTCNN."""

from __future__ import annotations

from gslopes.core.records import Detections, Photo
from gslopes.faces.networks.mtcnn import Mtcnn


class MtcnnFinder:
    """A records.Finder on MTCNN.

    min_face: faces smaller than this many pixels are not looked for.
    device: where the networks run, as torch names it.
    """

    def __init__(self, min_face: int = 32, device: str = "cpu") -> None:
        self.detector = Mtcnn(min_face).to(device)

    def __call__(self, photos: list[Photo]) -> list[Detections]:
        """All faces of each photo, the most confident first."""
        found: list[Detections] = self.detector([photo.pixels for photo in photos])
        return found
