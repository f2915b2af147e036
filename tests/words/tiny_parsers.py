"""Real parsers made on the spot: a spaCy pipeline trained on three captions in seconds, a T5 of one layer a side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

TREEBANK = (
    (
        "a woman in a red dress is holding a tie",
        "DT NN IN DT JJ NN VBZ VBG DT NN",
        (1, 7, 1, 5, 5, 2, 7, 7, 9, 7),
        "det nsubj prep det amod pobj aux ROOT det dobj",
    ),
    ("two men sit on a bench", "CD NNS VBP IN DT NN", (1, 2, 2, 2, 5, 3), "nummod nsubj ROOT prep det pobj"),
    ("a man with no hat", "DT NN IN DT NN", (1, 1, 1, 4, 2), "det ROOT prep det pobj"),
    ("the women's restroom", "DT NNS POS NN", (1, 3, 1, 3), "det poss case ROOT"),
    ("a woman's hat", "DT NN POS NN", (1, 3, 1, 3), "det poss case ROOT"),
)
PARTS = {"NN": "NOUN", "NNS": "NOUN", "DT": "DET", "IN": "ADP", "JJ": "ADJ", "VBZ": "AUX", "VBG": "VERB", "VBP": "VERB"}
LEMMAS = {"men": "man", "women": "woman", "holding": "hold", "is": "be"}


def spacy_pipeline(folder: Path) -> Path:
    """Tagger, parser and lemmas of the captions of ``TREEBANK``, as ``to_disk`` writes them."""
    import spacy
    from spacy.training import Example
    from spacy.util import fix_random_seed

    fix_random_seed(0)
    pipeline = spacy.blank("en")
    network = {"@architectures": "spacy.HashEmbedCNN.v2", "width": 32, "depth": 2, "embed_size": 300}
    network |= {"window_size": 1, "maxout_pieces": 2, "subword_features": True, "pretrained_vectors": None}
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 32}
    states = {"@architectures": "spacy.TransitionBasedParser.v2", "state_type": "parser", "extra_state_tokens": False}
    states |= {"hidden_width": 32, "maxout_pieces": 2, "use_upper": True, "tok2vec": listener}
    pipeline.add_pipe("tok2vec", config={"model": network})
    pipeline.add_pipe("tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": listener}})
    pipeline.add_pipe("parser", config={"min_action_freq": 1, "model": states})
    examples = []
    for text, tags, heads, relations in TREEBANK:
        facts = {"tags": tags.split(), "heads": list(heads), "deps": relations.split()}
        examples.append(Example.from_dict(pipeline.make_doc(text), facts))
    steps = pipeline.initialize(lambda: examples)
    for _ in range(150):
        pipeline.update(examples, sgd=steps)
    rules: Any = pipeline.add_pipe("attribute_ruler")
    for tag, part in PARTS.items():
        rules.add([[{"TAG": tag}]], {"POS": part})
    for word in {token.text for text, *_ in TREEBANK for token in pipeline.make_doc(text)}:
        rules.add([[{"LOWER": word}]], {"LEMMA": LEMMAS.get(word, word)})
    pipeline.to_disk(folder)
    return folder
