"""Levels of 0 to 255, as edits are made and pasted in them."""

from __future__ import annotations

# Added to a level before its logarithm is taken: black has one, and noise in shadows is not blown up.
OFFSET = 8.0

LUMA = (0.299, 0.587, 0.114)  # of R, G and B: ITU-R BT.601, as Pillow makes gray
