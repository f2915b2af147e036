"""Captions and labels: read, as tables, as tuples, and as what the techniques work on."""
