"""Faces: found, edited, put back and judged, and the models that do it."""
