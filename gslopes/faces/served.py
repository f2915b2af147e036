"""What edits and masks in a process without a device: the process that owns it answers for their networks.

The other end of each is the function below it, which ``core.serving`` calls there.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gslopes.core.arrays import floats
from gslopes.core.records import ByteArray, EditedChip, Editor, FloatArray
from gslopes.core.serving import Answering, Recipe, ask
from gslopes.faces import zoo
from gslopes.faces.compose.skin import REGIONS, ParserMasker, region_classes
from gslopes.faces.edit.editors import editor_of
from gslopes.faces.zoo.checkpoint import load_bisenet


class Swept:
    """In place of ``records.EditedChips``: of each chip by itself."""

    def __init__(self, chips: list[EditedChip]) -> None:
        self.of = chips.__getitem__


class ServedEditor:
    """An editor whose chips the owner of the device edits; all else is as of this one.

    named: what ``editing`` takes.
    """

    def __init__(self, editor: Editor, *named: Any) -> None:
        self.editor = editor
        self.recipe: Recipe = (editing, *named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.editor, name)

    def sweep_ends(self, chips: ByteArray, values: FloatArray) -> Swept:
        """As the editor's, or its ``sweep`` if it has none."""
        return Swept(ask(self.recipe, chips, *values.tolist()))


def editing(
    name: str, reader: str | None, calibrated: bool, names: tuple[str, ...], device: str
) -> Answering:
    """Chips to their edits."""
    editor: Any = editor_of(name, device, reader, calibrated, names)
    sweep = getattr(editor, "sweep_ends", editor.sweep)

    def answers(chips: list[ByteArray], *values: float) -> list[EditedChip]:
        swept = sweep(np.stack(chips), floats(values))
        return [swept.of(row) for row in range(len(chips))]

    return answers


class ServedMasker(ParserMasker):
    """One whose pictures the owner of the device parses.

    file: of the parser; None for that of the zoo.  arguments: as of ``ParserMasker``.
    """

    def __init__(self, file: Path | None, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.recipe: Recipe = (parsing, file)
        labels = self.parser.spec.labels
        lips = labels.index("upper lip"), labels.index("lower lip")
        eyes = labels.index("left eye"), labels.index("right eye")
        regions = (region_classes(region, labels) for region in REGIONS)
        # only sums travel
        self.sums = tuple(dict.fromkeys((*regions, lips, eyes)))

    def seen(self, pictures: ByteArray) -> Sequence[Tensor]:
        """A tensor for each of ``sums``."""
        planes = np.stack(ask(self.recipe, pictures, *self.sums), 1)
        return [torch.from_numpy(plane[:, None]) for plane in planes]

    def summed(self, parsed: Sequence[Tensor], classes: tuple[int, ...]) -> Tensor:
        """As of the other."""
        return parsed[self.sums.index(classes)]


def parsing(file: Path | None, device: str) -> Answering:
    """Pictures to how likely each pixel is of these classes together."""
    parser = zoo.load("face-parser", device) if file is None else load_bisenet(file, device)
    masker = ParserMasker(parser, device=device)

    def answers(pictures: list[ByteArray], *sums: tuple[int, ...]) -> list[FloatArray]:
        parsed = masker.seen(np.stack(pictures))
        with torch.inference_mode():
            planes = torch.cat([masker.summed(parsed, classes) for classes in sums], 1)
        return [*planes.cpu().numpy()]

    return answers
