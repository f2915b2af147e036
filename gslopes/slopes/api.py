"""``gslopes.drawn_faces``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gslopes.core.errors import UsageError


def drawn_faces(out: str | Path, faces: int = 60, seed: int = 0) -> dict[str, Any]:
    """Draw faces into a folder, to try things without photos of people: every attribute is known.

    out: the folder, made if missing.  faces: how many; 160 by 160 px each.  seed: of all random draws.

    Returns arguments of ``audit``: photos, the known faces and masks, and the editor of drawn faces.

        gslopes.audit(out="run", classifier=my_function, **gslopes.drawn_faces("drawn"))

    Raises: StorageError; UsageError for fewer than one face.
    """
    from gslopes.photos import drawn as rendered
    from gslopes.photos.drawn.folder import FACES, MASKS
    from gslopes.slopes.demo import EDITOR, SIZE, drawn

    if faces < 1:
        raise UsageError(f"{faces} faces cannot be drawn.", "Give at least 1; 40 and more for a finding.")
    folder = Path(out)
    photos = rendered.write_folder(drawn(faces, seed), folder, SIZE)
    known = {"landmarks": folder / FACES, "masks": folder / MASKS}
    # the gate's reader and its detector know photos, not drawings
    return {"photos": photos, **known, "editor": EDITOR, "gate": False}
