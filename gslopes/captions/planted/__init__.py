"""Scenes with planted harms, against what the audit recovers."""
