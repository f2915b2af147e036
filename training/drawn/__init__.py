"""Drawn faces: cartoon portraits whose attributes, landmarks and masks are known, because we drew them.

They are the ground truth of the tests and of the calibration: ``do(gender = g)`` is ``parameters.replace(gender=g)``,
which draws the same photo again with nothing but the cue changed, and nothing changed outside the face mask.

The cue is a drawing's convention of femininity and masculinity (brows, lips, beard, make-up), not a person's gender.
"""

from gslopes.photos.drawn import SIZE, gender_readout, tone_readout
from training.drawn.draw import DrawnFaces, render
from training.drawn.folder import drawn_in_place, write_folder
from training.drawn.parameters import COLUMNS, FaceParameters, sample

__all__ = [
    "COLUMNS",
    "SIZE",
    "DrawnFaces",
    "FaceParameters",
    "drawn_in_place",
    "gender_readout",
    "render",
    "sample",
    "tone_readout",
    "write_folder",
]
