"""What an editor that others made is asked for, and what it is: whatever turns a photo and a wish into a photo.

The editors of the zoo, in ``faces.edit.editors``, edit aligned chips of numbers; these here give pictures, which
``faces.edit.outside`` fits onto the photo. A function, an address and an image model are in ``ask.editors``.
"""

from typing import Literal, Protocol

from gslopes.core import frozen
from gslopes.core.records import Classifier


@frozen
class Wish:
    """What one picture is asked for.

    attribute: such as gender.  value: a number in its unit, or the name of an end; None for no change of it.
    text: the sentence, for an editor that takes words; empty for others.
    draw: how often it was asked for before, 0 or more: an editor that draws by chance draws again.
    seed: of the run.
    """

    attribute: str
    value: float | str | None = None
    text: str = ""
    draw: int = 0
    seed: int = 0

    @property
    def key(self) -> str:
        """What tells it from others in an editor's name, but for the seed.

        >>> Wish("gender", -2.0).key, Wish("race", "Black", "Make it ...", draw=1).key, Wish("age").key
        ('@gender=-2', '@race=Black,draw=1,text=Make it ...', '@age=same')
        """
        value = f"{self.value:.10g}" if isinstance(self.value, float | int) else self.value
        parts = [f"{self.attribute}={'same' if value is None else value}"]
        parts += [f"draw={self.draw}"] * bool(self.draw)
        parts += [f"text={self.text}"] * bool(self.text)
        return f"@{','.join(parts)}"


class PictureEditor(Protocol):
    """An editor of whole photos, or of aligned chips.

    name: as given on the command line, with its parameters.  version: what identifies it, empty if unknown.
    takes: ``photo``, or ``chip``: the aligned face, see ``core.geometry``.
    size: of a chip's side, pixels; 0 of photos.
    words: whether it is told a sentence; else it is told a value.  prompt: the file, or the name, of its sentences;
        empty: the attribute's own.
    at: a wish to who is asked for it: each answer has a ``picture``, of the size of the picture that was sent.
    """

    name: str
    version: str
    takes: Literal["photo", "chip"]
    size: int
    words: bool
    prompt: str

    def at(self, wish: Wish) -> Classifier:
        """Who is asked for a wish."""
        ...
