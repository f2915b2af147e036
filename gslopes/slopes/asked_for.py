"""Which pictures of a photo an editor of others is asked for: those of its sweeps, and of their placebos; which
contrasts of named ends there are, also of our own editors.

An editor that takes words is asked in one wording a photo. Its *same* placebo is asked for twice, and both pictures
are dealt over the steps; its *random* one is a change that is not the attribute below the centre, and the opposite
one above it. An editor that takes values is asked once for no change. All lots are a photo's and the seed's.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from gslopes.ask.editors.prompts import Prompts, load_prompts
from gslopes.core import ConfigError, Names, UnknownName, frozen_identity, options, placebo
from gslopes.faces.compose.placebo import lot
from gslopes.faces.config import EditConfig, values_for
from gslopes.faces.edit.protocol import PictureEditor, Wish

DRAWS = 2  # pictures of the same placebo, of an editor that takes words
STEPS = 3  # of a sweep in words, unless more are asked for


class Asked(NamedTuple):
    """A picture that is asked for.  sweep, step, wording: as in core.tables.EDITING."""

    sweep: str
    step: int
    wording: int
    wish: Wish


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

    @property
    def ends(self) -> Names:
        """The names of its values, if they have some."""
        return tuple(value for value in self.wanted if isinstance(value, str))

    def sentences(self) -> dict[str, list[str]]:
        """What is said for each value, end, no change and random change, in each wording; empty without words."""
        said: dict[str, list[str]] = {}
        if self.prompts is None:
            return said
        for wording in range(self.prompts.wordings):
            for value, text in self._texts(wording).items():
                name = f"{value:g}" if isinstance(value, float) else value or "same"
                said.setdefault(name, []).append(text)
            for pair in range(self.prompts.pairs):
                for side in range(2):
                    name = f"random {pair + 1}{'ab'[side]}"
                    text = self.prompts.random(pair, side, wording)
                    said.setdefault(name, []).append(text)
        return said

    def asked(
        self,
        photo: str,
        seed: int,
        placebos: bool,
        neutral: bool,
    ) -> list[Asked]:
        """All pictures of a photo, by sweep and step; of *random* there is none at the centre.

        photo: its sha256.  neutral: whether the picture of no change is needed: the first one of *same*.
        """
        same, _, random = placebo.names(self.name)
        count = len(self.wanted)
        wording = -1
        draws = np.zeros(count, int)
        sides = []
        if self.prompts is not None:
            wording = int(lot(photo, seed, ":wording").integers(self.prompts.wordings))
            draws = lot(photo, seed, ":same").permutation(count) % DRAWS
            changes = lot(photo, seed, ":random")
            pair = int(changes.integers(self.prompts.pairs))
            below = int(changes.integers(2))
            sides = [self.prompts.random(pair, side, wording) for side in (below, 1 - below)]
        texts = self._texts(wording)
        wish = partial(Wish, self.attribute, seed=seed)
        pictures = [
            Asked(self.name, step, wording, wish(value, texts[value]))
            for step, value in enumerate(self.wanted)
        ]
        pictures += [
            Asked(same, step, wording, wish(None, texts[None], int(draws[step])))
            for step in range(count if placebos else int(neutral))
        ]
        pictures += [
            Asked(random, step, wording, wish(None, sides[2 * step >= count]))
            for step in range(count if placebos and sides else 0)
            if 2 * step + 1 != count
        ]
        return pictures

    def _texts(self, wording: int) -> dict[float | str | None, str]:
        """What is said for no change, and for each value; empty texts to an editor that takes values."""
        if self.prompts is None:
            return dict.fromkeys((None, *self.wanted), "")
        said: dict[float | str | None, str] = {None: self.prompts.same(wording)}
        return said | {value: self.prompts.sentence(value, wording) for value in self.wanted}


def sweeps_of(
    edit: EditConfig, editor: PictureEditor | None, baseline: str | None
) -> tuple[Sweep, ...]:
    """The sweeps of a run: one an attribute, or one for each named end that is wanted, but the baseline.

    editor: that others made; None for those of the zoo.
    baseline: of named ends, with commas between several attributes. By default it is the first one; of the zoo's
        editors the photo as it is.

    Raises: ConfigError, UnknownName if there are no such sentences, values or ends; ModelError.
    """
    sweeps: list[Sweep] = []
    ends = []
    bases = options.names(baseline or "")
    for attribute in edit.attributes:
        if placebo.plain(attribute) != attribute:
            raise ConfigError(f"{attribute!r} is no name of a sweep.", "Name it in plain words.")
        names = edit.names(attribute) if editor is None else []
        if names:
            ends += names
            sweeps += _contrasts(attribute, names, edit.wanted, bases)
            continue
        if editor is None or not editor.words:
            values = values_for(attribute, edit.steps, edit.range)
            sweeps.append(Sweep(attribute, attribute, tuple(float(str(one)) for one in values)))
            continue
        prompts = load_prompts(editor.prompt, attribute)
        ends += prompts.ends
        if prompts.ends:
            sweeps += _contrasts(attribute, prompts.ends, edit.wanted, bases, prompts)
        else:
            sweeps.append(Sweep(attribute, attribute, _chosen(edit, prompts), prompts))
    if edit.wanted and not ends:
        raise ConfigError(
            "No editor of this run has named ends.",
            "Leave --ends out, or name an editor with ends in gslopes list models.",
        )
    for kind, texts in (("baseline", bases), ("end", edit.wanted)):
        for text in texts:
            if not _named(ends, [text]):
                raise UnknownName(kind, text, ends)
    if not sweeps:
        raise ConfigError(
            f"{bases[0]} is the baseline, and the only end.", "Name another one with --ends."
        )
    return tuple(sweeps)


def _named(ends: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Those of the ends that texts name; capitals and hyphens do not count.

    >>> _named(["Black", "East Asian", "White"], ["east-asian", "BLACK"])
    ['Black', 'East Asian']
    """
    meant = {text.casefold().replace("-", " ") for text in texts}
    return [end for end in ends if end.casefold().replace("-", " ") in meant]


def values_of(sweeps: Sequence[Sweep], placebos: bool) -> dict[str, list[float]]:
    """Each sweep's values; its placebo sweeps after it, if there are some."""
    values: dict[str, list[float]] = {}
    for sweep in sweeps:
        names = placebo.names(sweep.name) if placebos else ()
        values |= dict.fromkeys((sweep.name, *names), sweep.values)
    return values


def _contrasts(
    attribute: str,
    ends: Sequence[str],
    wanted: Sequence[str],
    bases: Sequence[str],
    prompts: Prompts | None = None,
) -> Iterator[Sweep]:
    """One for each wanted end, all of them if none is named.  prompts: None for an editor of the zoo."""
    usual = ends[0] if prompts else placebo.UNEDITED
    base = next(iter(_named(ends, bases)), usual)
    for level in _named(ends, wanted) or ends:
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
