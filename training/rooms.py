"""The rooms that ship: conventional drawings of the eight contexts of Barlas et al. 2020, two layouts each.

Context cues are in the outer thirds and at the top; the middle, which a person will take, is free.  They are
drawings and tell nothing about rooms, nor about who works in them.

    python -m training.rooms    # writes the pictures in gslopes/contexts/data/rooms
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
from PIL import Image

from gslopes.contexts.stimuli.backgrounds import ROOMS
from gslopes.core.records import ByteArray

Colour = tuple[int, ...]
LAYOUTS = 2
SIZE = 768, 512  # pixels: of the usual canvas
_FINE = 2  # drawn this many times larger, then averaged: soft edges
WHITE = (245, 244, 240)
INK = (52, 48, 46)
STEEL = (176, 182, 188)
WOOD = (150, 108, 72)


@dataclass(frozen=True, slots=True)
class Scene:
    """A room.

    paper: its key there.  draw: with a pen and an accent colour.
    palettes: wall, floor and accent of each layout, RGB.
    """

    paper: str
    draw: Callable[[_Pen, Colour], None]
    palettes: tuple[tuple[Colour, ...], ...]


class _Pen:
    """Draws in units of the picture: x from 0 to 1 across, y from 0 to 1 down."""

    def __init__(
        self, width: int, height: int, wall: Colour, floor: Colour, horizon: float
    ) -> None:
        self.width = width
        self.height = height
        shade = np.linspace(1.04, 0.92, height, dtype=np.float32)[:, None, None]
        rows = np.arange(height)[:, None, None] < horizon * height
        base = np.where(rows, np.array(wall, np.float32), np.array(floor, np.float32))
        self.picture = np.ascontiguousarray(
            np.broadcast_to(np.clip(base * shade, 0, 255), (height, width, 3)).astype(np.uint8)
        )

    def at(self, x: float, y: float) -> tuple[int, int]:
        return round(x * self.width), round(y * self.height)

    def long(self, size: float) -> int:
        return max(1, round(size * self.height))

    def box(
        self, x: float, y: float, w: float, h: float, colour: Colour, edge: Colour | None = None
    ) -> None:
        cv2.rectangle(self.picture, self.at(x, y), self.at(x + w, y + h), colour, -1)
        if edge:
            cv2.rectangle(
                self.picture, self.at(x, y), self.at(x + w, y + h), edge, self.long(0.005)
            )

    def line(
        self, x0: float, y0: float, x1: float, y1: float, colour: Colour, size: float = 0.01
    ) -> None:
        cv2.line(
            self.picture, self.at(x0, y0), self.at(x1, y1), colour, self.long(size), cv2.LINE_AA
        )

    def disc(self, x: float, y: float, r: float, colour: Colour, size: float = 0) -> None:
        cv2.circle(
            self.picture,
            self.at(x, y),
            self.long(r),
            colour,
            self.long(size) if size else -1,
            cv2.LINE_AA,
        )

    def shape(self, points: list[tuple[float, float]], colour: Colour) -> None:
        cv2.fillPoly(
            self.picture,
            [np.array([self.at(*point) for point in points], np.int32)],
            colour,
            cv2.LINE_AA,
        )


def draw_scene(
    key: str, layout: int = 1, *, width: int = SIZE[0], height: int = SIZE[1]
) -> ByteArray:
    """One room, (height, width, 3) uint8 RGB.

    key: of ``SCENES``.  layout: 1, or 2 for its mirror in other colours, with another horizon.
    """
    scene = SCENES[key]
    wall, floor, accent = scene.palettes[layout - 1]
    pen = _Pen(_FINE * width, _FINE * height, wall, floor, 0.72 if layout == 1 else 0.66)
    scene.draw(pen, accent)
    picture = cv2.resize(pen.picture, (width, height), interpolation=cv2.INTER_AREA)
    return np.ascontiguousarray(picture[:, ::-1] if layout == 2 else picture, np.uint8)


def _darker(colour: Colour, by: float) -> Colour:
    return (int(colour[0] * by), int(colour[1] * by), int(colour[2] * by))


def _wedding(pen: _Pen, accent: Colour) -> None:
    pen.line(0.02, 0.2, 0.34, 0.2, STEEL, 0.012)
    pen.box(0.7, 0.14, 0.2, 0.62, (214, 224, 230), _darker(accent, 0.75))  # mirror
    for x in (0.07, 0.17, 0.27, 0.8):  # gowns
        pen.shape(
            [(x - 0.035, 0.22), (x + 0.035, 0.22), (x + 0.022, 0.36), (x - 0.022, 0.36)], WHITE
        )
        pen.shape(
            [(x - 0.022, 0.35), (x + 0.022, 0.35), (x + 0.1, 0.72), (x - 0.1, 0.72)],
            (250, 240, 232),
        )
        for fold in (-0.05, 0, 0.05):
            pen.line(x + 0.2 * fold, 0.37, x + fold, 0.71, _darker(WHITE, 0.9), 0.004)
    pen.disc(0.95, 0.66, 0.05, WHITE)  # bouquet
    for dx, dy in ((-0.015, -0.02), (0.02, -0.01), (0, 0.025), (0.012, -0.04)):
        pen.disc(0.95 + dx, 0.66 + dy, 0.02, accent)


def _nursery(pen: _Pen, accent: Colour) -> None:
    for index in range(128):  # dots of the wallpaper
        row, column = divmod(index, 16)
        pen.disc(
            (column + 0.5 * (row % 2)) / 15,
            0.05 + 0.085 * row,
            0.012,
            accent if (row + column) % 2 else WHITE,
        )
    for left, width in ((0.02, 0.32), (0.7, 0.26)):  # crib and chest of drawers
        pen.box(left, 0.48, width, 0.38, WHITE, _darker(accent, 0.8))
    for x in np.linspace(0.05, 0.31, 8):
        pen.box(float(x), 0.5, 0.012, 0.34, _darker(accent, 0.85))
    pen.line(0.08, 0.12, 0.28, 0.12, INK, 0.008)  # mobile
    for x, colour in (
        (0.08, accent),
        (0.15, (250, 220, 110)),
        (0.21, (150, 200, 170)),
        (0.28, accent),
    ):
        pen.line(x, 0.12, x, 0.24, INK, 0.004)
        pen.disc(x, 0.27, 0.035, colour)
    for y in (0.53, 0.64, 0.75):
        pen.box(0.72, y, 0.22, 0.09, (250, 246, 240), _darker(accent, 0.85))
    for x, y, r in ((0.78, 0.42, 0.05), (0.755, 0.37, 0.022), (0.805, 0.37, 0.022)):  # bear
        pen.disc(x, y, r, (196, 150, 108))


def _home_kitchen(pen: _Pen, accent: Colour) -> None:
    for x in (0.01, 0.13, 0.71, 0.85):
        pen.box(x, 0.06, 0.12, 0.24, accent, _darker(accent, 0.75))
    for row in range(4):  # tiles
        for x in [*np.arange(0, 0.36, 0.045), *np.arange(0.66, 1, 0.045)]:
            pen.box(float(x), 0.34 + 0.05 * row, 0.042, 0.046, WHITE, (210, 206, 200))
    pen.box(0.38, 0.05, 0.24, 0.26, (190, 220, 240), WHITE)  # window
    for x, w in ((0, 0.34), (0.68, 0.32)):
        pen.box(x, 0.56, w, 0.04, _darker(WOOD, 0.9))
        pen.box(x, 0.6, w, 0.32, accent, _darker(accent, 0.75))
    pen.box(0.72, 0.535, 0.22, 0.03, INK)  # hob and pot
    pen.box(0.74, 0.44, 0.1, 0.095, (206, 70, 60))
    pen.box(0.73, 0.43, 0.12, 0.015, (170, 56, 50))
    pen.box(0.08, 0.52, 0.16, 0.045, STEEL)  # sink
    pen.line(0.16, 0.52, 0.16, 0.42, STEEL, 0.014)


def _kindergarten(pen: _Pen, accent: Colour) -> None:
    colours = ((230, 80, 70), (250, 200, 70), (90, 160, 210), (120, 180, 100))
    pen.box(0.3, 0.05, 0.4, 0.3, (56, 98, 78), WOOD)  # board
    for index, colour in enumerate(colours):
        for x in (0.02, 0.73):  # bunting
            x += 0.07 * index
            pen.shape([(x, 0.04), (x + 0.06, 0.04), (x + 0.03, 0.12)], colour)
    for x, y in ((0.04, 0.2), (0.17, 0.18), (0.05, 0.38)):  # drawings
        pen.box(x, y, 0.1, 0.13, WHITE, accent)
        pen.disc(x + 0.05, y + 0.065, 0.04, colours[round(100 * x) % 4])
    for row, y in enumerate((0.24, 0.4, 0.56)):  # shelf
        pen.box(0.74, y, 0.24, 0.14, (206, 170, 120), WOOD)
        for column in range(4):
            pen.box(0.755 + 0.055 * column, y + 0.04, 0.045, 0.09, colours[(row + column) % 4])
    pen.box(0.02, 0.72, 0.28, 0.035, accent)  # low table with blocks
    for x, y, colour in (
        (0.07, 0.655, colours[0]),
        (0.12, 0.655, colours[2]),
        (0.095, 0.59, colours[1]),
    ):
        pen.box(x, y, 0.045, 0.064, colour, _darker(colour, 0.8))


def _garage(pen: _Pen, accent: Colour) -> None:
    pen.box(0.01, 0.08, 0.34, 0.36, (196, 160, 112), _darker(WOOD, 0.8))  # board of tools
    for index, x in enumerate((0.05, 0.1, 0.15, 0.2, 0.25, 0.3)):
        pen.line(x, 0.13, x, 0.29 + 0.03 * (index % 3), (84, 90, 98), 0.014)
        pen.disc(x, 0.13, 0.022, (84, 90, 98), 0.012)
    pen.box(0.02, 0.54, 0.3, 0.34, accent, INK)  # tool chest
    for y in (0.57, 0.65, 0.73, 0.81):
        pen.line(0.04, y, 0.3, y, INK, 0.006)
    for x, y in (
        (0.77, 0.62),
        (0.89, 0.62),
        (0.77, 0.76),
        (0.89, 0.76),
        (0.77, 0.9),
        (0.89, 0.9),
    ):  # tyres
        pen.disc(x, y, 0.085, (38, 38, 40))
        pen.disc(x, y, 0.04, STEEL)
    pen.box(0.68, 0.1, 0.02, 0.8, (206, 170, 60))  # lift with a car on it
    pen.shape(
        [(0.66, 0.36), (0.72, 0.26), (0.9, 0.26), (0.99, 0.36), (0.99, 0.45), (0.66, 0.45)],
        (70, 96, 140),
    )
    pen.shape([(0.74, 0.35), (0.77, 0.285), (0.87, 0.285), (0.92, 0.35)], (190, 210, 222))
    for x in (0.73, 0.92):
        pen.disc(x, 0.46, 0.05, INK)


def _restaurant(pen: _Pen, accent: Colour) -> None:
    pen.shape([(0.05, 0.02), (0.95, 0.02), (0.88, 0.16), (0.12, 0.16)], accent)  # hood
    for left, right in ((0.02, 0.36), (0.66, 0.98)):
        pen.line(left, 0.22, right, 0.22, INK, 0.008)
    for x, r in (
        (0.06, 0.04),
        (0.15, 0.055),
        (0.25, 0.05),
        (0.34, 0.035),
        (0.7, 0.05),
        (0.8, 0.055),
        (0.91, 0.045),
    ):
        pen.line(x, 0.22, x, 0.3, STEEL, 0.01)  # pans
        pen.disc(x, 0.3 + r, r, (96, 98, 102))
    for x, w in ((0, 0.36), (0.66, 0.34)):
        pen.box(x, 0.56, w, 0.04, (230, 234, 238), _darker(STEEL, 0.8))
        pen.box(x, 0.6, w, 0.34, STEEL, _darker(STEEL, 0.8))
        pen.box(x + 0.03, 0.66, w - 0.06, 0.2, (60, 62, 66), _darker(STEEL, 0.7))  # oven
        for knob in np.linspace(x + 0.05, x + w - 0.05, 6):
            pen.disc(float(knob), 0.63, 0.012, INK)
    for x in (0.06, 0.2, 0.7):
        pen.box(x, 0.45, 0.1, 0.11, (150, 156, 164), _darker(STEEL, 0.7))  # pots


def _sports_bar(pen: _Pen, accent: Colour) -> None:
    glass = ((88, 130, 70), (170, 110, 40), (120, 60, 40), (190, 190, 160), (60, 90, 120))
    for y in (0.2, 0.38, 0.56):
        for left in (0.01, 0.68):
            pen.box(left, y, 0.31, 0.018, WOOD)
            for index in range(9):  # bottles
                colour = glass[(index + round(10 * y)) % 5]
                x = left + 0.012 + 0.033 * index
                pen.box(x, y - 0.09, 0.02, 0.09, colour)
                pen.box(x + 0.006, y - 0.13, 0.008, 0.04, colour)
    pen.box(0.36, 0.04, 0.28, 0.22, (64, 140, 72), INK)  # screen with a pitch
    pen.line(0.5, 0.055, 0.5, 0.245, WHITE, 0.005)
    pen.disc(0.5, 0.15, 0.04, WHITE, 0.005)
    pen.box(0, 0.7, 1, 0.05, (140, 92, 56))  # counter
    pen.box(0, 0.75, 1, 0.25, (96, 62, 42))
    for x in (0.06, 0.17, 0.8, 0.92):  # beer, under lamps
        pen.shape(
            [(x - 0.035, 0.07), (x + 0.035, 0.07), (x + 0.015, 0.02), (x - 0.015, 0.02)], accent
        )
        pen.box(x, 0.58, 0.045, 0.12, (224, 160, 50), (240, 220, 170))
        pen.box(x, 0.56, 0.045, 0.03, WHITE)


def _lecture(pen: _Pen, accent: Colour) -> None:
    pen.box(0.26, 0.04, 0.48, 0.32, (250, 250, 250), (160, 160, 160))  # screen
    for index in range(4):
        pen.line(
            0.3,
            0.1 + 0.06 * index,
            0.56 - 0.04 * (index % 2),
            0.1 + 0.06 * index,
            (120, 140, 170),
            0.01,
        )
    for left in (0.02, 0.78):  # boards
        pen.box(left, 0.1, 0.2, 0.24, (48, 74, 62), _darker(WOOD, 0.8))
        for y in (0.15, 0.2, 0.25):
            pen.line(left + 0.02, y, left + 0.15, y, (210, 220, 212), 0.006)
    for row in range(5):  # rising benches at both sides
        y = 0.5 + 0.1 * row
        reach = 0.26 + 0.03 * row
        for left, width in ((0.0, reach), (1 - reach, reach)):
            pen.box(left, y, width, 0.03, _darker(accent, 1.25), INK)
            pen.box(left, y + 0.03, width, 0.07, accent)
            for seat in np.arange(left + 0.02, left + width - 0.03, 0.06):
                pen.box(float(seat), y - 0.045, 0.04, 0.045, _darker(accent, 0.8))
    pen.shape([(0.7, 0.5), (0.78, 0.5), (0.765, 0.66), (0.715, 0.66)], WOOD)  # lectern


def _scene(paper: str, draw: Callable[[_Pen, Colour], None], colours: str) -> Scene:
    """colours: wall, floor and accent of each palette, hexadecimal."""
    levels = [tuple(bytes.fromhex(colour)) for colour in colours.split()]
    palettes = tuple(tuple(levels[at : at + 3]) for at in range(0, len(levels), 3))
    return Scene(paper, draw, palettes)


SCENES: dict[str, Scene] = {
    "wedding-shop": _scene("F1", _wedding, "eee4dc cebcac d6b0aa e0e2e8 b0aaa8 beb4c8"),
    "nursery": _scene("F2", _nursery, "f6d6dc d6baa0 e88ca0 cee0f4 d0bca4 6e96d2"),
    "home-kitchen": _scene("F3", _home_kitchen, "ece6d8 b08c68 aac4b2 e2e8ec 968474 c4966e"),
    "kindergarten": _scene("F4", _kindergarten, "faeece bea680 5c8cbe deeee2 b8a082 d6785a"),
    "garage": _scene("M1", _garage, "b0b2b4 707072 c44230 96a0ac 626060 e6aa32"),
    "restaurant-kitchen": _scene("M2", _restaurant, "dee2e4 8c8078 bec2c6 cad0ce 787a7e a8b0b8"),
    "sports-bar": _scene("M3", _sports_bar, "5c3e30 46322a ce963c 3e4642 3c302a be5a3c"),
    "lecture-hall": _scene("M4", _lecture, "d6cec4 806854 6e4a36 c6ced6 686468 465a78"),
}


def main() -> None:
    """Write every room."""
    for key, layout in ((key, layout) for key in SCENES for layout in range(1, LAYOUTS + 1)):
        file = ROOMS / key / f"{layout}.png"
        file.parent.mkdir(exist_ok=True)
        Image.fromarray(draw_scene(key, layout)).save(file, compress_level=1)


if __name__ == "__main__":
    main()
