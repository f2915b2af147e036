"""Compose: K edited chips and a mask back into K full photos, the same pixel for pixel outside of the mask."""
