"""Drawn faces, whose truth is known: the demo and planted biases."""
