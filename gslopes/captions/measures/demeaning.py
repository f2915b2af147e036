"""D1: listed demeaning words, as lower bound, estimate and upper bound over the senses of a word.

Source: Wang et al. 2022; lists are the user's files. Without one the object half is not run, never 0.
"""

from __future__ import annotations

from gslopes.captions.measures.rows import Recorder
from gslopes.words.graph import Fact
from gslopes.words.mentions import BOUNDS, caption_bounds, demeaning_synsets

_READING = {"lower": "face", "estimate": "look", "upper": "look"}


def listed_words(recorder: Recorder) -> None:
    """D1 at one stage: captions, images and per 1,000 captions under each bound, by group and by word."""
    material, mentions = recorder.material, recorder.mentions
    lists = demeaning_synsets(mentions.lists, mentions.wordnet)
    counts: dict[str, dict[str, int]] = {bound: {} for bound in BOUNDS}
    images_with: dict[str, set[str]] = {}
    known: dict[tuple[Fact, ...], dict[str, set[str]]] = {}
    for image in recorder.images:
        for caption in material.stages[recorder.stage][image]:
            if caption.kept not in known:
                known[caption.kept] = caption_bounds(caption.kept, lists, mentions.senses, "role")
            words = known[caption.kept]
            for bound in BOUNDS:
                counts[bound][image] = counts[bound].get(image, 0) + bool(words[bound])
                for word in words[bound]:
                    images_with.setdefault(f"{bound}:{word}", set()).add(image)
            for word in sorted(words["upper"]):
                bound = next(bound for bound in BOUNDS if word in words[bound])
                recorder.case("listed", image, caption, word=word, bound=bound, reading=_READING[bound])
    for bound in BOUNDS:
        recorder.rates(counts[bound], recorder.images, concept=bound, reading=_READING[bound])
        have = [image for image, count in counts[bound].items() if count]
        recorder.image_shares({bound: have}, recorder.images, reading=_READING[bound])
    for name, images in sorted(images_with.items()):
        reading = _READING[name.partition(":")[0]]
        number = {"n": len(recorder.images), "active": len(images), "value": float(len(images)), "unit": "count"}
        recorder.measure(**number, concept=name, reading=reading, estimator="captions")
