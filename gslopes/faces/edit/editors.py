"""The editor for a model of the zoo, whichever network it has: an aligned chip at every value of an attribute."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Self, cast

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from gslopes.core import ModelError, Names, runtime, serving
from gslopes.core.geometry import OFFSET
from gslopes.core.records import (
    ByteArray,
    EditedChips,
    Ends,
    FloatArray,
    Motion,
    Tone,
    floats,
    slices,
)
from gslopes.faces.networks.edit_field import ToneScale
from gslopes.faces.networks.fader import Fader, FoldedFader
from gslopes.faces.networks.tagger import folded
from gslopes.faces.zoo import LoadedModel, ModelSpec, load
from gslopes.faces.zoo.reader import (
    LEAST,
    WORDS,
    FaceReader,
    cropped,
    normalised,
    on_device,
    standardised,
)

# --- Edit aligned chips: encode once, decode at K values of one attribute, the others held at the face's own values
# Source: Joo & Kärkkäinen 2020, §3.3, ``D(E(x), a)``: the picture at each value, and at the photo's own, from which a
# blend other than ``paste`` takes the change. A template in the weights is the edit of a unit, in logarithms.

# A photo's own value is 2 p - 1 of its reading p. A spec's ``steps`` are an editor's places in this unit at the values:
# by them 0 is neutral, and equal steps are even in readings.
# An editor that is not ``calibrated`` takes the values themselves, as in the paper, and its decoder is given them.

# Chips that are decoded at once on the CPU, K pictures each; bytes for a picture of 128 x 128.
BATCH_SIZE = 4
PICTURE = 1_400_000


class _ZooEditor:
    """What both kinds of editor know of their model."""

    def __init__(self, model: LoadedModel, device: str, calibrated: bool) -> None:
        self.spec = model.spec
        self.sha256 = model.sha256
        self.size = model.spec.size
        self.blend = model.spec.blend
        self.border = model.spec.border
        self.region = model.spec.region
        self.steps = model.spec.steps if calibrated else ()
        self.device = torch.device(device)

    def few(self, count: int, least: int) -> int:
        """How many chips are edited at once, ``count`` pictures each; ``least`` on the CPU."""
        bytes_each = PICTURE * (self.size / 128) ** 2 * count
        return runtime.batch_size(str(self.device), bytes_each, least)


class FaderEditor(_ZooEditor):
    """A records.Editor on one of the zoo's Fader Networks.

    model: loaded on the device.  device: where it runs.
    reader: the model that reads a face's own values; None takes the values at which the reconstruction fits best, as
        editors of drawn faces need it.
    calibrated: whether it follows the spec's ``steps``; else the decoder is given the values themselves.

    It computes in 32 bits everywhere: fp16 moved levels by up to 1.15, bf16 by up to 7.

    Raises: UnknownName, ModelError.
    """

    def __init__(
        self,
        model: LoadedModel,
        device: str = "cpu",
        reader: str | None = "labeller",
        calibrated: bool = True,
    ) -> None:
        if not isinstance(model.module, Fader):
            raise ModelError(
                f"The model {model.spec.name} is not an editor: it has no Fader Network.",
                "See gslopes list models.",
            )
        super().__init__(model, device, calibrated)
        self.network = FoldedFader(model.module).eval().to(self.device)
        self.template = model.module.template
        self.photo_values = None
        if reader is not None:
            self.photo_values = PhotoValues.of(self.spec, reader, device)

    @torch.inference_mode()
    def sweep(self, chips: ByteArray, values: FloatArray) -> EditedChips:
        """The chips at every value, and at their own.

        chips: (B, S, S, 3) uint8 RGB.  values: (K,) in units of the attribute.
        """
        values = stands_at(values, self.steps)
        pictures = np.empty((len(chips), len(values) + 1, *chips.shape[1:]), np.float32)
        with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
            for part in slices(len(chips), self.few(len(values) + 1, BATCH_SIZE)):
                pictures[part] = self._sweep(chips[part], values)
        return EditedChips(pictures[:, :-1], pictures[:, -1])

    def _sweep(self, chips: ByteArray, values: FloatArray) -> FloatArray:
        """As ``sweep``; (b, K + 1, S, S, 3), the neutral pictures last."""
        x = on_device(chips, self.device)
        normal = standardised(x, self.spec.mean, self.spec.std)
        latents = self.network.encode(normal)
        if self.photo_values is None:
            photo = best_fitting(
                lambda a: self.network.sweep(latents, a[:, None]), normal, len(self.spec.labels)
            )
        else:
            photo = self.photo_values(x)
        conditions = photo[:, None].repeat(1, len(values) + 1, 1)
        conditions[:, :-1, 0] = photo.new_tensor(values)
        if self.template is None:
            rgb = self.network.sweep(latents, conditions)
            mean, std = (x.new_tensor(v)[:, None, None] for v in (self.spec.mean, self.spec.std))
            pictures = rgb.mul_(std).add_(mean).mul_(255).clamp_(0, 255)
            pictures = pictures.unflatten(0, conditions.shape[:2])
        else:
            units = conditions[..., 0] - photo[:, :1]
            edits = units[:, :, None, None, None] * self.template
            pictures = ((255 * x + OFFSET).log()[:, None] + edits).exp_().sub_(OFFSET)
        return floats(pictures.permute(0, 1, 3, 4, 2).contiguous().cpu())


# --- Edit aligned chips by what a network makes of this face at both ends of an attribute --------------------
# From the photo's own value o towards an end, the edit at a is the share (a - o) / (end - o) of the logarithm of the
# ratio between the face at that end and the photo, on the photo's own texture: a value is in proportion to what is
# seen. Beyond an end it goes on along the same line. How parts of the face move comes along as a motion, a - o units
# of it, which ``compose`` carries out on the photo itself.

# Of named ends a value is no place on a line: 0 is one of them, or the photo itself, 1 another one, each the whole way.

# A face that is surely read as one end is still read so a third of the way to the other, where value 0 lies. With a
# spec's ``own_zero`` 0 lies where this face's reading is neutral: between its log-odds and those of its picture at the
# other end, which are taken to move along a line. Ends and own values stay where they are, with straight lines between.

ENDS = (-2.0, 2.0)  # of the attribute
IN_PHOTOS = 1.0  # half the log-odds by which an end is read further in the photo, where parts move, than in the chip
FARTHEST_ZERO = 0.75  # share of the way, however little a reading moves
ENDS_BATCH = 16  # chips that are read at once on the CPU


Ways = tuple[Tensor, ...]  # what ``_ways`` gives


class _FieldEditor(_ZooEditor):
    """What both editors on such a network have in common."""

    # Of chips (b, 3, S, S), RGB in [0, 1], at K values: towards and shares as of ``Ends``, fields and distances as of
    # ``Motion``, shares and ends as of ``Tone``, unless the skin's colour is the network's; its ends may be ``tone``.
    # After them ratios and moves, the network's, (b, E, 3, S, S) and (b, ..., S, S, 2); and the values.
    _ways: Callable[..., Ways]

    def __init__(self, model: LoadedModel, device: str, calibrated: bool) -> None:
        super().__init__(model, device, calibrated)
        self.network: Any = model.module.to(memory_format=torch.channels_last)
        self.tone: Any = ()

    def sweep(self, chips: ByteArray, values: FloatArray) -> EditedChips:
        """The chips at every value, and unchanged.

        chips: (B, S, S, 3) uint8 RGB.  values: (K,) in units of the attribute.
        """
        swept = self._swept(chips, values, drawn=True)
        return replace(swept, edited=swept.edited.cpu().numpy())

    def sweep_ends(self, chips: ByteArray, values: FloatArray) -> EditedChips:
        """As ``sweep``; ``edited`` has the ``Ends`` of each chip: no picture is drawn that would only be divided."""
        return self._swept(chips, values, drawn=False)

    @torch.inference_mode()
    def _swept(self, chips: ByteArray, values: FloatArray, drawn: bool) -> EditedChips:
        values = stands_at(values, self.steps)
        step = self.few(len(values) + 1, ENDS_BATCH)
        edited = torch.empty(len(chips) * drawn, len(values), *chips.shape[1:], device=self.device)
        ends: list[Ends] = []
        # on a CPU one chip at a time is drawn, in its cache
        few = 1 if self.device.type == "cpu" else step
        kept = []
        for part in slices(len(chips), step):
            x = on_device(chips[part], self.device)
            ratios, moves = self.network((2 * x - 1).contiguous(memory_format=torch.channels_last))
            towards, share, *about = self._ways(x, ratios, moves.movedim(-3, -1), values)
            kept.append([column.cpu().numpy() for column in about])
            if not drawn:
                columns = (ratios.permute(0, 1, 3, 4, 2).contiguous(), towards, share)
                ends += map(Ends, *(column.cpu().numpy() for column in columns))
            for rows in slices(len(x) * drawn, few):
                logs = (255 * x[rows] + OFFSET).log()
                face = torch.arange(len(x[rows]), device=self.device)[:, None]
                edits = share[rows, :, None, None, None] * ratios[rows][face, towards[rows]]
                pictures = (logs[:, None] + edits).exp_().sub_(OFFSET)  # (few, K, 3, S, S)
                edited[part][rows] = pictures.permute(0, 1, 3, 4, 2)
        fields, distances, *tones = map(np.concatenate, zip(*kept, strict=True))
        tone = None
        if tones:
            tone = Tone(tones[0], self.tone or tones[1])
        return EditedChips(
            edited if drawn else ends, floats(chips), Motion(fields, distances), tone
        )


class EndsEditor(_FieldEditor):
    """A records.Editor on one of the zoo's networks that know both ends of an attribute.

    model: loaded on the device.  device: where it runs.  reader: the model that reads a face's own value.
    calibrated: as of ``FaderEditor``.

    Raises: UnknownName, ModelError.
    """

    def __init__(
        self,
        model: LoadedModel,
        device: str = "cpu",
        reader: str = "labeller",
        calibrated: bool = True,
    ) -> None:
        super().__init__(model, device, calibrated)
        self.photo_values = PhotoValues.of(self.spec, reader, device)
        self.tone = self.network.config.tone

    def _ways(self, x: Tensor, ratios: Tensor, moves: Tensor, values: FloatArray) -> Ways:
        source_value = self.photo_values(x)[:, :1]
        places = source_value.new_tensor(values)
        if self.steps and self.spec.own_zero:
            places = self._places(x, ratios, source_value, places)
        towards, share = way(source_value, places)
        ways = (towards, share, moves, places - source_value)
        if not self.tone:
            return ways
        # skin at an end goes no further; its tone sets in late, so that at 0 it is still near the photo's
        return (*ways, share.square() * (towards - (1 + source_value) / 2))

    def _places(self, x: Tensor, ratios: Tensor, source: Tensor, values: Tensor) -> Tensor:
        """Values (K,) in the unit of own values, (b, K), so that at 0 each face is read as neutral.

        x: chips (b, 3, S, S), RGB in [0, 1].  ratios: (b, 2, 3, S, S).  source: own values (b, 1).
        """
        end = torch.where(source < 0, ENDS[1], ENDS[0])  # beyond neutral
        edit = torch.where(end[..., None, None] > 0, ratios[:, 1], ratios[:, 0])
        there = edit.exp() * (255 * x + OFFSET) - OFFSET
        read = self.photo_values((there / 255).clamp(0, 1))[:, :1]
        odds = torch.stack([source, read]).clamp(-0.998, 0.998).atanh()
        far = (IN_PHOTOS + odds[1] * end.sign()).clamp(min=0.5)
        zero = (1 + far / odds[0].abs()).reciprocal().clamp(max=FARTHEST_ZERO)
        bent = torch.minimum(1 - values / end, 1 - values / (source + 1e-9)).clamp(min=0)
        return values + bent * (source + zero * (end - source))


class GroupsEditor(_FieldEditor):
    """A records.Editor on one of the zoo's networks of named ends: value k is the k-th of its names.

    model: loaded on the device.  names: ends as of ``ModelSpec.names``; any other one is the photo as it is.
    device: where it runs.  reader: the model that reads which ends a face looks like, from whose skin its colour goes.

    Raises: UnknownName, ModelError.
    """

    def __init__(
        self,
        model: LoadedModel,
        names: Sequence[str],
        device: str = "cpu",
        reader: str = "labeller",
    ) -> None:
        super().__init__(model, device, calibrated=False)
        known = self.spec.names
        self.towards = [known.index(name) if name in known else -1 for name in names]
        self.reader = FaceReader(load(reader, device))
        labels = (WORDS["ends"].get(name.casefold(), ("", ""))[1] for name in known)
        read = [*self.reader.labels, ""]
        self.columns = [read.index(label) if label in read else -1 for label in labels]

    def _ways(self, x: Tensor, ratios: Tensor, moves: Tensor, values: FloatArray) -> Ways:
        wanted = torch.tensor([self.towards[int(value)] for value in values], device=self.device)
        towards = wanted.clamp(min=0).expand(len(x), -1)
        share = (wanted >= 0).to(x).expand(len(x), -1)
        ways = (towards, share, moves[:, towards[0]], share)
        tones = x.new_tensor(self.network.config.tones)
        if not len(tones):
            return ways
        likes = F.pad(self.reader.probabilities(x), (0, 1))[:, self.columns] + LEAST
        own = likes / likes.sum(1, keepdim=True) @ tones  # (b, 6)
        pairs = [own[:, None].expand(-1, len(wanted), -1), tones[towards]]
        return (*ways, share, torch.stack(pairs, 2))


class ToneEditor(_ZooEditor):
    """A records.Editor of the tone of skin alone: where it goes is a table, the rest is ``compose.tone``.

    Its values are steps of the scale, 1 the lightest, 10 the darkest.
    """

    def __init__(self, model: LoadedModel, device: str = "cpu") -> None:
        super().__init__(model, device, calibrated=False)
        self.places = cast(ToneScale, model.module).places

    def sweep(self, chips: ByteArray, values: FloatArray) -> EditedChips:
        """The chips as they are, and the steps that their skin shall have; arguments as of the others."""
        neutral = floats(chips)
        edited = neutral[:, None].repeat(len(values), 1)
        places = tuple(map(tuple, self.places.tolist()))
        steps = np.tile(floats(values), (len(chips), 1))
        return EditedChips(edited, neutral, tone=Tone(steps, places))


def way(source_value: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """From own values (b, 1) to values (K,) or (b, K): the end that lies there, 0 or 1, and the share of the way to it.

    Returns (b, K) int64 and (b, K) float; the share is 0 at the own value, 1 at the end and more beyond it.
    """
    units = values - source_value
    towards = (units > 0).long()
    return towards, units / (units.new_tensor(ENDS)[towards] - source_value)


def stands_at(values: FloatArray, steps: Sequence[float]) -> FloatArray:
    """Values of the attribute (K,) in the unit of own values, by a table: straight lines, also beyond its ends.

    steps: what the values -2, -4/3, -2/3, 0, 2/3, 4/3 and 2 are; none leaves the values unchanged.

    >>> stands_at(np.array([-2, 0, 1, 3]), (-2, -1.5, -1, -0.5, 0, 1, 2))
    array([-2. , -0.5,  0.5,  3.5], dtype=float32)
    """
    if not steps:
        return values
    knots = np.linspace(*ENDS, len(steps))
    table = np.asarray(steps)
    left = np.clip(np.searchsorted(knots, values) - 1, 0, len(steps) - 2)
    share = (values - knots[left]) / (knots[1] - knots[0])
    return floats(table[left] + share * (table[left + 1] - table[left]))


# --- A face's own values of the attributes that an editor knows: read from the photo, in the editor's units -----------


TAGS = WORDS["tags"]  # attributes that a tagger of CelebA's labels reads, with its label


class PhotoValues:
    """Reads chips with readers of the zoo.

    reader: such as the zoo's ``labeller``.  attributes: the editor's, in its order.
    tagger: reads the ``TAGS`` in place of the reader, in another framing, mirrored beyond the chip.

    Raises: ModelError for an attribute that neither can read.
    """

    def __init__(
        self, reader: LoadedModel, attributes: Names, tagger: LoadedModel | None = None
    ) -> None:
        self.reader = FaceReader(replace(reader, module=folded(reader.module)))
        self.attributes = attributes
        self.tagger = tagger
        self.tagged = tuple(name for name in attributes if tagger is not None and name in TAGS)
        self.read = tuple(name for name in attributes if name not in self.tagged)
        self.reader.check(self.read)

    @classmethod
    def of(cls, spec: ModelSpec, reader: str, device: str) -> Self:
        """For the editor that a spec is about.  Raises: UnknownName, ModelError."""
        tagger = load(spec.tagger, device) if spec.tagger else None
        return cls(load(reader, device), spec.labels, tagger)

    def __call__(self, chips: Tensor) -> Tensor:
        """Chips (B, 3, S, S), RGB in [0, 1], to values (B, A) in [-1, 1]."""
        values = dict(zip(self.read, self.reader.attributes(chips, self.read).T, strict=True))
        if self.tagger is not None and self.tagged:
            spec = self.tagger.spec
            faces = normalised(self.tagger, cropped(chips, spec.crop, spec.size))
            probabilities = self.tagger.module(faces).sigmoid()
            for name in self.tagged:
                label, opposite = TAGS[name]
                column = probabilities[:, spec.labels.index(label)]
                values[name] = 1 - column if opposite else column
        return 2 * torch.stack([values[name] for name in self.attributes], 1) - 1


def best_fitting(decode: Callable[[Tensor], Tensor], chips: Tensor, attributes: int) -> Tensor:
    """A face's own values (B, A) without a reader: at which the editor's reconstruction is nearest the chip.

    decode: (B, A) values to chips (B, 3, S, S).  chips: (B, 3, S, S), in the same units as the decoder's.
    attributes: A. Each is fitted with the others fixed; several are fitted twice.
    """
    grid = torch.linspace(-1, 1, 9).to(chips)
    values = chips.new_zeros(len(chips), attributes)
    for attribute in [*range(attributes)] * min(attributes, 2):
        errors = []
        for value in grid:
            values[:, attribute] = value
            errors.append((decode(values) - chips).abs().mean((1, 2, 3)))
        values[:, attribute] = grid[torch.stack(errors).argmin(0)]
    return values


# --- The editor for a model ------------------------------------------------------------------------------------------

FaceEditor = FaderEditor | EndsEditor | GroupsEditor | ToneEditor


def editor_of(
    model: str | LoadedModel,
    device: str = "cpu",
    reader: str | None = "labeller",
    calibrated: bool = True,
    names: Sequence[str] = (),
) -> FaceEditor:
    """The editor that a model, or the one of this name, is; arguments as of ``FaderEditor`` and ``GroupsEditor``.

    Raises: UnknownName; ModelError for a model that does not edit, or an edit field without a reader.
    """
    loaded = load(model, device) if isinstance(model, str) else model
    network = loaded.spec.network
    if network == "tone-scale":
        return ToneEditor(loaded, device)
    if network not in ("edit-ends", "edit-groups"):
        return FaderEditor(loaded, device, reader, calibrated)
    if reader is None:
        raise ModelError(
            f"{loaded.spec.name} needs a reader of a face's own value.",
            "Name one; the walk takes the labeller.",
        )
    if network == "edit-groups":
        return GroupsEditor(loaded, names or loaded.spec.names, device, reader)
    return EndsEditor(loaded, device, reader, calibrated)


def asked(named: Sequence[Any], chips: ByteArray, values: FloatArray) -> Any:
    """In place of ``sweep_ends``: of the owner of the device.  named: what ``editing`` takes after the device."""
    edits = serving.ask(chips, (editing, *named), *values.tolist())
    return SimpleNamespace(of=edits.__getitem__)


def editing(device: str, model: str, *about: Any) -> Any:
    """For ``core.serving``: chips to their edits.  about: further arguments of ``editor_of``."""
    editor: Any = editor_of(model, device, *about)
    sweep = getattr(editor, "sweep_ends", editor.sweep)

    def edits(chips: list[ByteArray], *values: float) -> list[Any]:
        swept = sweep(np.stack(chips), floats(values))
        return [swept.of(row) for row in range(len(chips))]

    return edits
