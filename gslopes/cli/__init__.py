"""The door: one file per verb, each a few lines: parse, call the library, print."""

from gslopes.cli.main import main

__all__ = ["main"]
