"""D1: listed demeaning words, as lower bound, estimate and upper bound over the senses of a word.

Source: Wang et al. 2022; lists are the user's files. Without one the object half is not run, never 0.
"""

from __future__ import annotations

from gslopes.captions.material import Material, flags
from gslopes.captions.measures.rows import RowHeader, TechniqueResult, case, rate_rows, shares
from gslopes.captions.options import AuditOptions
from gslopes.language.bounds import BOUNDS, DEMEANING, caption_bounds, demeaning_synsets
from gslopes.language.graph import Fact


def listed_words(material: Material, stage: str, options: AuditOptions) -> TechniqueResult:
    """D1 at one stage: captions, images and per 1,000 captions under each bound, by group and by word."""
    known = material.mentions.lists
    header = RowHeader("demeaning", "D1", stage, origin="paper", lists=known.versions(*DEMEANING.values()))
    lists = demeaning_synsets(known, material.mentions.wordnet)
    images = material.images(stage)
    counts: dict[str, dict[str, int]] = {name: {} for name in BOUNDS}
    words: dict[str, set[str]] = {}
    found = TechniqueResult()
    seen: dict[tuple[Fact, ...], dict[str, set[str]]] = {}
    for image in images:
        for caption in material.stages[stage][image]:
            facts = caption.kept
            if facts not in seen:
                seen[facts] = caption_bounds(facts, lists, material.mentions.senses, options.bound_senses)
            for name, said in seen[facts].items():
                counts[name][image] = counts[name].get(image, 0) + bool(said)
                for word in said:
                    words.setdefault(f"{name}:{word}", set()).add(image)
            for word in sorted(seen[facts]["upper"]):
                bound = next(name for name in BOUNDS if word in seen[facts][name])
                found.cases.append(case(_reading(header, bound), "listed", image, caption, word=word, bound=bound))
    of = {image: len(material.stages[stage][image]) for image in images}
    for name in BOUNDS:
        found.measures += rate_rows(_reading(header, name), material, counts[name], of, options, concept=name)
        have = {name: [image for image, count in counts[name].items() if count]}
        found.measures += shares(_reading(header, name), material, flags(have, images), options)
    for name, having in sorted(words.items()):
        word_header = _reading(header, name.partition(":")[0])
        found.measures += rate_rows(word_header, material, dict.fromkeys(having, 1), of, options, concept=name)[:1]
    return found


def _reading(header: RowHeader, bound: str) -> RowHeader:
    reading = "face" if bound == "lower" else "look"
    return RowHeader(header.harm, header.technique, header.stage, reading=reading, origin="paper", lists=header.lists)
