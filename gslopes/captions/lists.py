"""The word lists of an audit, and the words that are in none of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gslopes.captions import tables as schemas
from gslopes.captions.config import CaptionsConfig
from gslopes.core import tables
from gslopes.language.graph import Senses
from gslopes.language.mentions import Mentions
from gslopes.language.wordlists import Lists, read_list, shipped
from gslopes.language.wordnet import WordNet, wordnet

MOST = 200


def lists_of(config: CaptionsConfig, words: WordNet) -> Lists:
    """The shipped lists, with the user's replacing those of the same name.  Raises: ConfigError."""
    lists = shipped()
    for name, file in config.lists.items():
        lists = lists.with_list(read_list(Path(file), name, words))
    return lists


def mentions_of(config: CaptionsConfig) -> Mentions:
    """What finds mentions of people under the configured WordNet, sense rule and lists.

    Raises: ConfigError, ModelError.
    """
    words = wordnet()
    return Mentions(Senses(words, config.senses, config.relax), lists_of(config, words))


def unlisted(run: Path) -> list[dict[str, Any]]:
    """The 200 commonest words for people and adjectives of people that are in no list: kind, word, images."""
    tuples = tables.read(schemas.TUPLES, run / "tuples.parquet")
    mentions = Mentions(Senses(wordnet()), shipped())
    listed = {entry for one in shipped() for entry in one.entries}
    person = {word: mentions.is_person(word) for word in {*tuples["word"], *tuples["subject"]}}
    rows: list[dict[str, Any]] = []
    for kind, of in (("object", "word"), ("attribute", "subject")):
        chosen = tuples[(tuples["kind"] == kind) & tuples[of].map(person) & ~tuples["word"].isin(listed)]
        counts = chosen.groupby("word")["image"].nunique()
        rows += [{"kind": kind, "word": str(word), "images": int(n)} for word, n in counts.items()]
    return sorted(rows, key=lambda row: (-row["images"], row["word"]))[:MOST]
