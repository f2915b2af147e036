"""The tables of the crop audits, by name, see tables.toml; and their words, see sentences.toml.

``photo`` is the sha256 of the file's bytes. ``left`` and ``right`` are the photos of a joined picture; of photos one
below the other, ``left`` is the upper one.
"""

import tomllib
from pathlib import Path

from gslopes.core.tables import read_tables

TABLES = read_tables(Path(__file__).with_suffix(".toml"))
SENTENCES = tomllib.loads(Path(__file__).with_name("sentences.toml").read_text("utf-8"))
MEASURES = ("parity", "averages", "positions", "attached", "policies", "gaze", "gaze_gaps")
CONSTANT = "no interval: people do not differ"  # a note of parity
