"""Parsers by name: ``chunks`` (default), and ``spacy:FOLDER`` from a user's installation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from importlib import metadata, util
from pathlib import Path
from typing import Any

from gslopes.core.errors import ModelError, UnknownName, UsageError
from gslopes.core.files import read_named, sha256_of
from gslopes.core.text import plain
from gslopes.words.chunks import PARTITIVES, animate, standard
from gslopes.words.graph import Fact, Parser
from gslopes.words.pos_tagger import LONGEST, for_whom

NAMES = ("chunks", "spacy", "tuples")
RULES = "2"  # of what is made of a pipeline's or a model's answer; part of a parser's name


def find_parser(name: str) -> Parser:
    """The parser of a name.  Raises: UnknownName; UsageError if its package is missing; ModelError if its folder is."""
    kind, _, folder = name.partition(":")
    if kind not in NAMES:
        raise UnknownName("parser", kind, NAMES)
    if kind == "chunks":
        return standard()
    if kind == "tuples":
        raise UsageError("tuples:FILE is read, not parsed.", "Write --parser tuples:FILE in gslopes captions.")
    if not folder or not Path(folder).is_dir():
        raise ModelError(f"There is no folder {folder!r} of a spaCy pipeline.", "Write spacy:FOLDER.")
    return Spacy(Path(folder), animate())


def digest_of(folder: Path) -> str:
    """The start of one sha256 over the names and contents of a folder's files."""
    whole = sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        whole.update(str(file.relative_to(folder)).encode())
        whole.update(bytes.fromhex(sha256_of(file)))
    return whole.hexdigest()[:16]


class Spacy:
    """Dependency rules over the user's spaCy pipeline, with a tagger, a parser and a lemmatiser.

    animate: whether a base form is a person or an animal.

    Raises: UsageError if spaCy is missing; ModelError if the folder holds no pipeline.
    """

    def __init__(self, folder: Path, animate: Callable[[str], bool]) -> None:
        if util.find_spec("spacy") is None:
            raise UsageError("The parser spacy needs spaCy, which is not installed.", "pip install 'gslopes[spacy]'")
        import spacy

        try:
            self._pipeline = spacy.load(folder)
        except (OSError, ValueError) as error:
            hint = "Name the folder of a pipeline that nlp.to_disk wrote."
            raise ModelError(f"{folder} is no spaCy pipeline: {error}.", hint) from error
        if missing := [name for name in ("tagger", "parser") if name not in self._pipeline.pipe_names]:
            hint = "Name a pipeline with a tagger and a parser, such as en_core_web_sm."
            raise ModelError(f"The spaCy pipeline in {folder} has no {' and no '.join(missing)}.", hint)
        self.name = f"spacy-{metadata.version('spacy')}+{digest_of(folder)}+{RULES}"
        self._animate = animate

    def parse(self, caption: str) -> tuple[Fact, ...]:
        """The facts of one caption, sorted, each once."""
        return facts_of_dependencies(self._pipeline(plain(caption[:LONGEST]).lower()), self._animate)


def facts_of_dependencies(tokens: Iterable[Any], animate: Callable[[str], bool]) -> tuple[Fact, ...]:
    """Facts from dependency-parsed tokens (``pos_``, ``dep_``, ``lemma_``, ``head``, ``children``, ``tag_``).

    A possessor that only says for whom a thing is, as by ``possessives``, is an attribute of it.
    """
    tokens = list(tokens)
    nouns = [t for t in tokens if t.pos_ in ("NOUN", "PROPN", "PRON") and t.dep_ != "compound" and t.tag_[:3] != "PRP"]
    facts: set[Fact] = set()
    for noun in nouns:
        thing = _possessed(noun)
        if thing is not None and _says_for_whom(noun, thing, animate):
            facts.add(Fact("attribute", _base(noun), subject=_base(thing)))
            continue
        negated = any(child.lower_ == "no" or child.dep_ == "neg" for child in noun.children)
        facts.add(Fact("object", _base(noun), negated=negated, plural=noun.tag_ == "NNS"))
        for child in noun.children:
            if child.dep_ in ("amod", "compound"):
                facts.add(Fact("attribute", _base(child), subject=_base(noun), negated=negated))
            elif child.dep_ == "prep":
                facts |= _attached(noun, child, child.lower_)
            elif child.dep_ in ("acl", "relcl"):
                facts |= _verb(child, [noun])
    for token in tokens:
        subjects = [child for child in token.children if child.dep_ in ("nsubj", "nsubjpass")]
        if subjects:
            facts |= _verb(token, [*subjects, *(c for s in subjects for c in s.children if c.dep_ == "conj")])
    return tuple(sorted(facts))


def _possessed(noun: Any) -> Any:
    """The thing whose possessor a noun is, or is joined to by *and*; None of others."""
    while noun.dep_ == "conj":
        noun = noun.head
    return noun.head if noun.dep_ == "poss" else None


def _says_for_whom(owner: Any, thing: Any, animate: Callable[[str], bool]) -> bool:
    before = [child.lower_ for one in (owner, thing) for child in one.children if child.dep_ in ("det", "nummod")]
    nouns = [_base(child) for child in thing.children if child.dep_ == "compound"]
    plural = owner.tag_ == "NNS" or _base(owner) == "people"
    determiner = before[0] if before else ""
    return animate(_base(owner)) and for_whom(plural, determiner, [*nouns, _base(thing)], animate)


def _verb(verb: Any, subjects: Sequence[Any]) -> set[Fact]:
    facts = set()
    negated = any(child.dep_ == "neg" for child in verb.children)
    objects = [child for child in verb.children if child.dep_ in ("dobj", "obj")]
    for subject in subjects:
        if _base(subject) in PARTITIVES:
            inner = [c for p in subject.children if p.lower_ == "of" for c in p.children if c.dep_ == "pobj"]
            subject = inner[0] if inner else subject
        for child in verb.children:
            if child in objects:
                facts.add(Fact("relation", _base(verb), _base(subject), _base(child), negated=negated))
            elif child.dep_ == "acomp":
                facts.add(Fact("attribute", _base(child), subject=_base(subject), negated=negated))
            elif child.dep_ == "prep":
                bare = _base(verb) == "be" or bool(objects)
                facts |= _attached(subject, child, child.lower_ if bare else f"{_base(verb)} {child.lower_}")
    return facts


def _attached(source: Any, preposition: Any, word: str) -> set[Fact]:
    ends = [child for child in preposition.children if child.dep_ == "pobj"]
    return {Fact("relation", word, _base(source), _base(end)) for end in ends}


def _base(token: Any) -> str:
    return str(token.lemma_ or token.lower_)


def parser_identity(name: str) -> str:
    """What of a parser makes two runs the same: its name with versions and digests, without loading a model.

    Raises: UnknownName, UsageError, ModelError as ``find_parser``.
    """
    kind, _, folder = name.partition(":")
    if kind == "chunks":
        return standard().name
    if kind == "tuples":
        return f"tuples-{sha256(read_named(folder, hint='Write --parser tuples:FILE.')).hexdigest()[:16]}"
    if kind in NAMES and Path(folder).is_dir():
        return f"{kind}-{digest_of(Path(folder))}+{RULES}"
    return find_parser(name).name
