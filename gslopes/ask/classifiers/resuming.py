"""Pictures that take several requests: which photo each shows, and what the requests so far have brought."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gslopes.core import hexdigest

Keep = Callable[[object], None]  # keeps what the requests about a picture have brought


@dataclass(eq=False)
class Begun:
    """A picture that is being asked about.

    photo: that it shows, empty if that is not known.  results: of its requests so far.  keep: keeps them.
    seen: what is made of the picture, once for all of its requests.
    order: in which options are given.  batch: in which its next requests are, see ``batching``; empty for none.
    """

    photo: str = ""
    results: list[Any] = field(default_factory=list)
    keep: Keep = lambda results: None
    seen: Any = None
    order: list[int] = field(default_factory=list)
    batch: str = ""

    def note(self, batch: str) -> None:
        """Keep what is known, so that another process can go on."""
        self.batch = batch
        self.keep({"order": self.order, "results": self.results, "batch": batch})


class Resuming:
    """The members of ``core.records.Able`` for a classifier that ``groups`` and ``resumes``."""

    _begun: dict[str, Begun]  # by sha256 of the picture

    def about(self, photo: str, pictures: Sequence[bytes]) -> None:
        """Note, before they are asked, that these pictures show one photo: they are asked about alike."""
        for picture in pictures:
            known = self._begun[hexdigest(picture)]
            known.photo = known.photo or photo

    def resume(self, picture: bytes, begun: Any, keep: Keep) -> None:
        """Go on with a picture at the point at which an earlier process stopped.

        begun: what was kept of it, None if nothing.  keep: called with what is to be kept, after each reply.
        """
        known = self._begun[hexdigest(picture)]
        known.keep = keep
        if begun:
            known.results = list(begun)
