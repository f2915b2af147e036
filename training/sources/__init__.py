"""Readers of data sets: photos with labels."""
