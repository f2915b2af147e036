"""A face along gender by prototypes, the method of Rowland and Perrett (1995): an editor without a network.

    python notebooks/gallery/prototypes.py UTKFACE prototypes.npz
    PROTOTYPES=prototypes.npz gslopes audit PHOTOS --attribute gender --classifier NAME --out RUN \
        --editor python:notebooks/gallery/prototypes.py:edit,takes=chip,version=1

A prototype is the mean shape (68 landmarks) and the mean colour in that shape of many women, or men. A unit is half of
the difference of the two: a face's landmarks move by that of the shapes, and its colour by that of the colours.

The method: Rowland and Perrett 1995, Manipulating facial appearance through shape and color, IEEE Computer Graphics and
Applications 15 (5). The landmarks: dlib's predictor, trained by King on iBUG 300-W, from face_recognition_models. The
prototypes: UTKFace (Zhang, Song and Qi 2017), women and men matched in race and decade of age. This script: gslopes.
"""

import os
import sys
from collections import defaultdict
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import cv2
import dlib
import numpy as np
from scipy.interpolate import RBFInterpolator

SIDE = 200  # of the prototypes' frame, pixels
GRID = 24  # points a side at which a map is computed; between them it is linear
UNIT = 0.5  # of the difference, man minus woman
EACH = 60  # faces of a gender, race and decade at most
SEED = 0


@cache
def tools():
    """dlib's finder of faces and its predictor of 68 landmarks."""
    package = find_spec("face_recognition_models").submodule_search_locations[0]
    weights = Path(package) / "models/shape_predictor_68_face_landmarks.dat"
    return dlib.get_frontal_face_detector(), dlib.shape_predictor(str(weights))


def landmarks(image):
    """(68, 2) x y of the largest face in (H, W, 3) uint8 RGB.  Raises: ValueError if there is none."""
    finder, predictor = tools()
    faces = finder(image, 0)
    if not faces:
        raise ValueError("dlib finds no face")
    shape = predictor(image, max(faces, key=lambda face: face.area()))
    return np.array([(point.x, point.y) for point in shape.parts()], float)


def aligned(points, target, others=None):
    """Points (n, 2) moved, turned and scaled onto (n, 2) by least squares; or others, in the same way."""
    z, w = points @ (1, 1j), target @ (1, 1j)
    centred = z - z.mean()
    turn = centred.conj() @ (w - w.mean()) / (centred.conj() @ centred)
    moved = ((points if others is None else others) @ (1, 1j) - z.mean()) * turn + w.mean()
    return np.stack([moved.real, moved.imag], 1)


def frame(size):
    """Eight points around a square, which stay where they are."""
    ends = (0, size / 2, size - 1)
    return np.array([(x, y) for x in ends for y in ends if (x, y) != (size / 2, size / 2)])


def mapped(source, target, size):
    """Where each pixel of a square of ``size`` goes, (size, size, 2), by a thin-plate spline through points."""
    line = np.linspace(0, size - 1, GRID)
    grid = np.stack(np.meshgrid(line, line), -1).reshape(-1, 2)
    moved = RBFInterpolator(source, target, kernel="thin_plate_spline")(grid)
    places = np.float32(np.arange(size) * (GRID - 1) / (size - 1))
    return cv2.remap(
        np.float32(moved.reshape(GRID, GRID, 2)), *np.meshgrid(places, places), cv2.INTER_LINEAR
    )


def sampled(image, places, border=cv2.BORDER_REPLICATE):
    """An image at places (h, w, 2)."""
    return cv2.remap(image, places[..., 0], places[..., 1], cv2.INTER_CUBIC, borderMode=border)


# -- the editor --------------------------------------------------------------------------------------------------------


@cache
def prototypes():
    """The mean shape, and the difference of shapes and of colours, man minus woman."""
    with np.load(os.environ["PROTOTYPES"]) as file:
        return file["mean"], file["shape"], file["colour"]


def edit(image: np.ndarray, value: float | None) -> np.ndarray:
    """A square picture of a face, (S, S, 3) uint8 RGB, moved by ``value`` units, towards man if above 0."""
    if not value:
        return image
    mean, shape, colour = prototypes()
    share = UNIT * value
    size = image.shape[0]
    own = landmarks(image)
    moved = own + aligned(mean, own, mean + share * shape) - aligned(mean, own)
    around = frame(size)
    anchored = np.vstack([moved, around])
    back = mapped(anchored, np.vstack([own, around]), size)
    there = mapped(anchored, np.vstack([mean, aligned(own, mean, around)]), size)
    change = sampled(colour, there, cv2.BORDER_CONSTANT)
    result = sampled(image, back).astype(np.float32) + share * change
    return np.clip(np.rint(result), 0, 255).astype(np.uint8)


# -- the prototypes ----------------------------------------------------------------------------------------------------


def matched(folder):
    """Files of women and of men, as many of each race and decade of age."""
    groups = defaultdict(list)
    for path in sorted(folder.rglob("*.jpg")):
        age, gender, race = path.name.split("_")[:3]
        if 18 <= int(age) < 60 and race in "0123":
            groups[race, int(age) // 10, int(gender)].append(path)
    order = np.random.default_rng(SEED)
    files = {0: [], 1: []}
    for race, decade in sorted({key[:2] for key in groups}):
        both = [groups[race, decade, gender] for gender in (0, 1)]
        count = min(EACH, *map(len, both))
        for gender in (0, 1):
            files[gender] += [both[gender][i] for i in order.permutation(len(both[gender]))[:count]]
    return files


def main():
    folder, out = map(Path, sys.argv[1:])
    shapes, images = {0: [], 1: []}, {0: [], 1: []}
    for gender, paths in matched(folder).items():
        for path in paths:
            image = cv2.resize(cv2.imread(str(path))[..., ::-1], (SIDE, SIDE))
            try:
                shapes[gender].append(landmarks(np.ascontiguousarray(image)))
                images[gender].append(image)
            except ValueError:
                continue
    every = shapes[0] + shapes[1]
    mean = np.mean(every, 0)
    for _ in range(3):  # generalised Procrustes analysis
        mean = np.mean([aligned(shape, mean) for shape in every], 0)
    man, woman = (np.mean([aligned(shape, mean) for shape in shapes[g]], 0) for g in (0, 1))
    colours = []
    for gender in (0, 1):
        total = np.zeros((SIDE, SIDE, 3))
        for shape, image in zip(shapes[gender], images[gender], strict=True):
            around = frame(SIDE)
            places = mapped(np.vstack([mean, around]), np.vstack([shape, around]), SIDE)
            total += sampled(np.float32(image), places)
        colours.append(total / len(shapes[gender]))
    inside = np.zeros((SIDE, SIDE), np.uint8)
    cv2.fillConvexPoly(inside, cv2.convexHull(np.int32(mean)), 1)
    soft = cv2.GaussianBlur(np.float32(cv2.erode(inside, np.ones((9, 9)))), (0, 0), 5)
    colour = np.float32(colours[0] - colours[1]) * soft[..., None]
    np.savez_compressed(out, mean=mean, shape=man - woman, colour=colour)
    print(f"{len(shapes[1])} women and {len(shapes[0])} men: {out}")


if __name__ == "__main__":
    main()
