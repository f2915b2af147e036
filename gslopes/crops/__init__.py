"""Whom does an automatic crop keep? Two people side by side, and each photo alone.

Source: Yee, Tantipongpipat & Mishra 2021, *Image Cropping on Twitter: Fairness Metrics, their Limitations, and the
Importance of Representation, Design, and Agency*, doi 10.1145/3479594. What differs from the paper, and why, is said
where it differs. Parity of counts does not show that a crop is harmless; who is cropped in which context matters, and
the remedy that its authors recommend is to let people choose, or not to crop.

Its tables are declared in tables.toml, its words in sentences.toml. ``photo`` is the sha256 of the file's bytes.
``left`` and ``right`` are the photos of a joined picture; of photos one below the other, ``left`` is the upper one.
"""

import tomllib
from pathlib import Path

from gslopes.core.tables import read_tables

TABLES = read_tables(Path(__file__).with_name("tables.toml"))
SENTENCES = tomllib.loads(Path(__file__).with_name("sentences.toml").read_text("utf-8"))
MEASURES = ("parity", "averages", "positions", "attached", "policies", "gaze", "gaze_gaps")
CONSTANT = "no interval: people do not differ"  # a note of parity
