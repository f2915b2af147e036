"""What is seen of a training while it goes on: a TensorBoard, and sheets of held-out faces."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from matplotlib import get_data_path
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from gslopes.core.errors import ConfigError, UsageError
from gslopes.core.geometry import OFFSET
from gslopes.core.records import ByteArray
from gslopes.faces.edit.editors import editor_of
from gslopes.faces.zoo import LoadedModel, ModelSpec, build
from training.augment import to_float
from training.field_editor import FieldEditor
from training.sets import TrainingSet
from training.shards import Feed

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

VALUES = (-2.0, -1.0, 0.0, 1.0, 2.0)
EDITORS = ("fader", "edit-ends", "edit-field", "edit-groups")
FACES = 8  # rows of a sheet
HEAD = 20  # pixels of its line of titles
GAP = 4  # pixels between faces


@dataclass(frozen=True, slots=True)
class Sheets:
    """Held-out faces that an editor is shown on.

    chips: (n, S, S, 3) uint8 RGB.  labels: (n, A) float.  every: steps between two sheets.
    """

    spec: ModelSpec
    chips: ByteArray
    labels: NDArray[np.float32]
    every: int
    device: str

    def draw(self, state: dict[str, Any]) -> ByteArray:
        """A sheet by the weights ``state``: a row a face, first as it is; what moves is not in it.

        Returns (height, width, 3) uint8 RGB. A random number drawn for it leaves the training's as they are.
        """
        with torch.random.fork_rng():
            network = build(self.spec)
        network.load_state_dict(state, strict=False)
        network = network.to(self.device).eval()
        titles, pictures = edited(self.spec, network, self.chips, self.labels, self.device)
        cells = np.concatenate([self.chips[:, None].astype(np.float32), pictures], 1)
        cells = np.rint(cells.clip(0, 255)).astype(np.uint8)  # (n, K + 1, S, S, 3)
        step = self.spec.size + GAP
        size = cells.shape[1] * step - GAP, len(cells) * step - GAP + HEAD
        sheet = Image.new("RGB", size, "white")
        pen = ImageDraw.Draw(sheet)
        font = ImageFont.truetype(f"{get_data_path()}/fonts/ttf/DejaVuSans.ttf", 11)
        for column, title in enumerate(("photo", *titles)):
            middle = (column * step + self.spec.size / 2, HEAD / 2)
            pen.text(middle, title, "black", font, anchor="mm")
            for row, cell in enumerate(cells[:, column]):
                sheet.paste(Image.fromarray(cell), (column * step, HEAD + row * step))
        return np.asarray(sheet)


def sheets_of(spec: ModelSpec, faces: TrainingSet, every: int, device: str) -> Sheets | None:
    """Sheets of some held-out faces, of both ends of the edited attribute; None if none are wanted.

    Raises: ConfigError for a model that edits no faces.
    """
    if not every:
        return None
    check_sheets(spec)
    order = np.random.default_rng(0).permutation(len(faces.pixels))
    sign = np.sign(faces.labels[order, 0])
    by_turns = np.concatenate([order[sign > 0], order[sign <= 0]])
    rows = by_turns[np.linspace(0, len(order) - 1, min(FACES, len(order))).astype(int)]
    chosen = faces.part(rows)
    return Sheets(spec, np.ascontiguousarray(chosen.pixels), chosen.labels, every, device)


def check_sheets(spec: ModelSpec) -> None:
    """Raises: ConfigError for a model that edits no faces."""
    if spec.network not in EDITORS:
        raise ConfigError(
            f"{spec.name} edits no faces, so it has no sheets.", "Leave out --sheet-every."
        )


@torch.no_grad()
def edited(
    spec: ModelSpec, network: Any, chips: ByteArray, labels: NDArray[np.float32], device: str
) -> tuple[tuple[str, ...], NDArray[np.float32]]:
    """Titles of the columns, and chips (n, S, S, 3) uint8 RGB as a network that is still in training edits them.

    Pictures are (n, K, S, S, 3) float in levels. A Fader Network decodes at the value itself, also if its spec has a
    template, which is made at the end.
    """
    numbers = [f"{value:+g}".replace("+0", "0").replace("-", "−") for value in VALUES]
    words = (spec.ends[0], "", "", "", spec.ends[-1]) if spec.ends else ("",) * 5
    titles = tuple(f"{n} {word}".strip() for n, word in zip(numbers, words, strict=True))
    plain = LoadedModel(network, replace(spec, steps=()), "")
    if spec.network == "fader":
        x = to_float(torch.from_numpy(chips).to(device), spec.mean, spec.std)
        latents = network.encode(x)
        others = torch.from_numpy(labels[:, 1:]).to(device)
        decoded = [
            network.decode(latents, torch.cat([others.new_full((len(x), 1), value), others], 1))
            for value in VALUES
        ]
        pictures = (torch.stack(decoded, 1) + 1) * 127.5
        return titles, pictures.permute(0, 1, 3, 4, 2).cpu().numpy()
    if spec.network == "edit-field":
        x = torch.from_numpy(chips).to(device).permute(0, 3, 1, 2).float()
        ratios = FieldEditor(plain, device).at(x / 255, VALUES)[0].exp()
        pictures = ratios * (x + OFFSET)[:, None] - OFFSET
        return titles, pictures.permute(0, 1, 3, 4, 2).cpu().numpy()
    if spec.network == "edit-groups":
        ends = np.arange(len(spec.names), dtype=np.float32)
        swept = editor_of(plain, device, calibrated=False).sweep(chips, ends)
        return tuple(spec.names), np.asarray(swept.edited)
    swept = editor_of(plain, device, calibrated=False).sweep(chips, np.array(VALUES, np.float32))
    return titles, np.asarray(swept.edited)


def tensorboard_at(folder: Path, wanted: bool) -> Path | None:
    """The folder of a TensorBoard, if one is wanted.  Raises: UsageError if it is not installed."""
    if not wanted:
        return None
    try:
        import tensorboard  # type: ignore[import-untyped]  # noqa: F401
    except ImportError as error:
        raise UsageError(
            "--tensorboard needs TensorBoard, which is not installed.", "pip install tensorboard"
        ) from error
    return folder


@dataclass(slots=True)
class Watch:
    """What a loop shows, and where its photos come from if they are not all in memory.

    feed: renews the photos that a loop draws from; None if they are all there.
    sheets, samples: what is drawn, and the folder that it goes to.  board: folder of the TensorBoard, if any.
    """

    feed: Feed | None = None
    sheets: Sheets | None = None
    samples: Path = Path("samples")
    board: Path | None = None
    _writer: SummaryWriter | None = field(default=None, repr=False)

    def begin(self, step: int) -> None:
        """From this step on; what a run that was stopped wrote about later ones does not count."""
        if self.board is not None:
            from torch.utils.tensorboard import SummaryWriter

            self._writer = SummaryWriter(str(self.board), purge_step=step + 1)

    def report(self, step: int, metrics: dict[str, float]) -> None:
        """Numbers of a step."""
        if self._writer is not None:
            for name, value in metrics.items():
                self._writer.add_scalar(name, value, step)
            self._writer.flush()

    def show(self, step: int, last: bool, state: dict[str, Any]) -> None:
        """A sheet, if it is time; the last step has one always."""
        if self.sheets is None or not (last or step % self.sheets.every == 0):
            return
        sheet = self.sheets.draw(state)
        self.samples.mkdir(parents=True, exist_ok=True)
        file = self.samples / f"step-{step:06}.png"
        partial = file.with_suffix(".partial")
        Image.fromarray(sheet).save(partial, "PNG")
        partial.replace(file)
        if self._writer is not None:
            self._writer.add_image("held-out faces", sheet, step, dataformats="HWC")

    def end(self) -> None:
        """Nothing more comes."""
        if self._writer is not None:
            self._writer.close()
