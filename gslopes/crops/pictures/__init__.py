"""Geometry of crops, joined pictures, saliency maps."""
