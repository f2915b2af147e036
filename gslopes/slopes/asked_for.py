"""Which pictures of a photo an editor of others is asked for: those of its sweeps, and of their placebos.

An editor that takes words is asked in one wording a photo. Its *same* placebo is asked for twice, and both pictures
are dealt over the steps; its *random* one is a change that is not the attribute below the centre, and the opposite
one above it. An editor that takes values is asked once for no change. All lots are a photo's and the seed's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gslopes.core import frozen_identity, placebo
from gslopes.core.errors import ConfigError, UnknownName
from gslopes.faces.config import EditConfig, values_for
from gslopes.faces.edit.protocol import PictureEditor, Wish

if TYPE_CHECKING:
    from gslopes.ask.editors.prompts import Prompts

DRAWS = 2  # pictures of the same placebo, of an editor that takes words
STEPS = 3  # of a sweep in words, unless more are asked for
Wishes = dict[tuple[str, int], Wish]


@frozen_identity
class Sweep:
    """What is asked for along one sweep.

    name: of the sweep.  attribute: that is edited.  wanted: its K values, or names of both ends.
    prompts: the sentences; None for an editor that takes values.
    """

    name: str
    attribute: str
    wanted: tuple[float | str, ...]
    prompts: Prompts | None = None

    @property
    def values(self) -> list[float]:
        """Its K values; 0 and 1 of named ends."""
        return [
            float(step) if isinstance(value, str) else value
            for step, value in enumerate(self.wanted)
        ]

    def wording(self, photo: str, seed: int) -> int:
        """Which one a photo is asked in; -1 of an editor that takes values."""
        if self.prompts is None:
            return -1
        return int(_lot(photo, seed, "wording").integers(self.prompts.wordings))

    def no_change(self, photo: str, seed: int, draw: int = 0) -> Wish:
        """The wish for the photo as it is."""
        text = ""
        if self.prompts is not None:
            text = self.prompts.same(self.wording(photo, seed))
        return Wish(self.attribute, None, text, draw, seed)

    def of(self, photo: str, seed: int) -> Wishes:
        """The wishes of its pictures, by sweep and step.  photo: its sha256."""
        wording = self.wording(photo, seed)
        texts = [
            "" if self.prompts is None else self.prompts.sentence(value, wording)
            for value in self.wanted
        ]
        return {
            (self.name, step): Wish(self.attribute, value, text, seed=seed)
            for step, (value, text) in enumerate(zip(self.wanted, texts, strict=True))
        }

    def sentences(self) -> dict[str, list[str]]:
        """What is said for each value, end or no change, in each wording; empty without words."""
        prompts = self.prompts
        if prompts is None:
            return {}
        wordings = range(prompts.wordings)
        said = {"same": [prompts.same(wording) for wording in wordings]}
        for value in self.wanted:
            name = value if isinstance(value, str) else f"{value:g}"
            said[name] = [prompts.sentence(value, wording) for wording in wordings]
        return said

    def placebos(self, photo: str, seed: int) -> Wishes:
        """The wishes of its placebos' pictures, of those that the editor makes; random has none at the centre."""
        same, _, random = placebo.names(self.name)
        count = len(self.wanted)
        draws = [0] * count
        if self.prompts is not None:
            draws = (_lot(photo, seed, "same").permutation(count) % DRAWS).tolist()
        wishes = {
            (same, step): self.no_change(photo, seed, draw) for step, draw in enumerate(draws)
        }
        if self.prompts is None:
            return wishes
        lot = _lot(photo, seed, "random")
        pair = int(lot.integers(self.prompts.pairs))
        below = int(lot.integers(2))
        wording = self.wording(photo, seed)
        texts = [self.prompts.random(pair, side, wording) for side in (below, 1 - below)]
        for step in range(count):
            place = 2 * step + 1 - count
            if place:
                text = texts[place > 0]
                wishes[random, step] = Wish(self.attribute, None, text, seed=seed)
        return wishes


def sweeps_of(edit: EditConfig, editor: PictureEditor, baseline: str | None) -> tuple[Sweep, ...]:
    """The sweeps of a run: one an attribute, or one for each named end but the baseline.

    baseline: of named ends, with commas between several attributes; the first one by default.

    Raises: ConfigError, UnknownName if there are no such sentences, values or ends.
    """
    sweeps = list[Sweep]()
    ends = list[str]()
    bases = [name.strip() for name in (baseline or "").split(",") if name.strip()]
    for attribute in edit.attributes:
        if placebo.plain(attribute) != attribute:
            raise ConfigError(f"{attribute!r} is no name of a sweep.", "Name it in plain words.")
        if not editor.words:
            values = values_for(attribute, edit.steps, edit.range)
            sweeps.append(Sweep(attribute, attribute, tuple(float(str(one)) for one in values)))
            continue
        from gslopes.ask.editors.prompts import load_prompts

        prompts = load_prompts(editor.prompt, attribute)
        ends += prompts.ends
        if prompts.ends:
            sweeps += _contrasts(attribute, prompts, bases)
        else:
            sweeps.append(Sweep(attribute, attribute, _chosen(edit, prompts), prompts))
    for name in bases:
        if name not in ends:
            raise UnknownName("baseline", name, ends)
    return tuple(sweeps)


def values_of(sweeps: Sequence[Sweep], placebos: bool) -> dict[str, list[float]]:
    """Each sweep's values; its placebo sweeps after it, if there are some."""
    values: dict[str, list[float]] = {}
    for sweep in sweeps:
        names = placebo.names(sweep.name) if placebos else ()
        values |= dict.fromkeys((sweep.name, *names), sweep.values)
    return values


def wishes_of(
    sweeps: Sequence[Sweep], photo: str, seed: int, placebos: bool, neutral: bool
) -> Wishes:
    """All wishes of a photo.  neutral: whether each sweep needs the picture of no change."""
    wishes: Wishes = {}
    for sweep in sweeps:
        wishes |= sweep.of(photo, seed)
        if placebos:
            wishes |= sweep.placebos(photo, seed)
        elif neutral:
            wishes[placebo.name(sweep.name, "same"), 0] = sweep.no_change(photo, seed)
    return wishes


def _contrasts(attribute: str, prompts: Prompts, bases: Sequence[str]) -> Iterator[Sweep]:
    base = next((name for name in bases if name in prompts.ends), prompts.ends[0])
    for level in prompts.ends:
        if level != base:
            yield Sweep(placebo.contrast(attribute, level, base), attribute, (base, level), prompts)


def _chosen(edit: EditConfig, prompts: Prompts) -> tuple[float, ...]:
    """The values in words that ``--steps`` and ``--range`` ask for, evenly among those that there are."""
    low, high = edit.range or (-np.inf, np.inf)
    known = [value for value in prompts.values if low <= value <= high]
    count = edit.steps or min(STEPS, len(known))
    places = np.linspace(0, len(known) - 1, count)
    if count < 3 or count > len(known) or (places % 1).any():
        have = ", ".join(f"{value:g}" for value in known)
        raise ConfigError(
            f"There are no sentences for {count} evenly spaced values: {prompts.name} has {have}.",
            "Choose --steps and --range among them, or write more: prompt=FILE.",
        )
    return tuple(known[int(place)] for place in places)


def _lot(photo: str, seed: int, what: str) -> np.random.Generator:
    text = f"{seed}:{photo}:{what}"
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]))
