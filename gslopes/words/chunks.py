"""The default parser: from tags to a graph, by rules that a reader can check against a caption.

Objects are heads of noun phrases, their adjectives, participles and other nouns are attributes, verbs and prepositions
relations. Known limits: attachment of prepositional phrases, appositions, relative clauses, and the tagger's errors.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from gslopes.words.graph import COMPOUNDS, Fact, Mentions, Senses
from gslopes.words.pos_tagger import (
    GRAMMAR,
    NOTHING,
    Animate,
    HanTa,
    Phrase,
    Token,
    as_adjectives,
    hanta,
    is_noun,
    noun_phrase,
    preposition,
    sentences,
)
from gslopes.words.wordlists import shipped
from gslopes.words.wordnet import WordNet, wordnet

VERSION = "chunks-2"
BOUNDARIES = ("CJS", "CJT", "PNQ", "AVQ", "DTQ")
FINITE = ("VVZ", "VVD", "VVB")


class Chunks:
    """The parser.

    animate: whether a noun's base form is a person or an animal; decides what a bare participle belongs to.
    """

    def __init__(self, tagger: HanTa, wordnet: WordNet, animate: Animate) -> None:
        self.name = f"{VERSION}+{tagger.name}"
        self.tagger = tagger
        self.wordnet = wordnet
        self.animate = cache(animate)

    def parse(self, caption: str) -> tuple[Fact, ...]:
        """The facts of one caption, sorted, each once; words without synsets."""
        facts: set[Fact] = set()
        for tokens in self.tag(caption):
            facts.update(_Clause(self.wordnet, self.animate).read(tokens))
        repeated = {fact._replace(plural=True) for fact in facts if not fact.plural}
        return tuple(sorted(facts - repeated))

    def tag(self, caption: str) -> list[list[Token]]:
        """The tokens of each sentence with their tags repaired; *the women's restroom* without women, as adjective."""
        repaired = (
            repair(self.tagger.tag(words), self.wordnet, self.animate)
            for words in sentences(caption)
        )
        return [as_adjectives(tokens, self.animate) for tokens in repaired]


def repair(tokens: Sequence[Token], wordnet: WordNet, animate: Animate) -> list[Token]:
    """Four repairs, in this order: unknown words, participles after people, compounds, lemmas of nouns."""
    fixed: list[Token] = []
    for token in tokens:
        tag = "NN1" if token.tag == "UNC" else token.tag
        before = fixed[-1] if fixed else NOTHING
        noun_before = before.tag.startswith("NN") and animate(_singular(before, wordnet))
        if noun_before and token.word.endswith("ing") and tag[:2] in ("NN", "AJ"):
            fixed.append(Token(token.word, wordnet.base(token.word, "v") or token.lemma, "VVG"))
        elif (before.word, token.word) in COMPOUNDS:
            plural = token.word.endswith("s") and not token.word.endswith("ss")
            tag = tag if tag.startswith("NN") else "NN2" if plural else "NN1"
            fixed[-1] = Token(f"{before.word}_{token.word}", f"{before.word}_{token.word}", tag)
        else:
            fixed.append(Token(token.word, token.lemma, tag))
    return [
        token._replace(lemma=_singular(token, wordnet)) if is_noun(token) else token
        for token in fixed
    ]


def _singular(token: Token, wordnet: WordNet) -> str:
    """WordNet's own morphology for a plural, else the form if it is a noun, else the tagger's lemma."""
    first, _, last = token.word.rpartition("_")
    if token.tag == "NN2":
        base = wordnet.base(token.word, "n") or wordnet.base(last, "n")
        lemma = f"{first}_{wordnet.base(last, 'n')}" if first and base else base
        return lemma or token.lemma
    if wordnet.knows(token.word, "n") or first:
        return token.word
    return token.lemma


@dataclass
class _Clause:
    """One sentence, read from left to right."""

    wordnet: WordNet
    animate: Animate
    facts: list[Fact] = field(default_factory=list)
    subject: Phrase | None = None  # of the clause's finite verb
    nearest: Phrase | None = None  # what a preposition attaches to
    last: Phrase | None = None  # the phrase read last, be it an object or not
    actor: Phrase | None = None  # the person or animal read last
    doer: Phrase | None = None  # of the open verb
    verb: str = ""
    has_object: bool = False
    prep: str = ""
    link: tuple[Phrase, str] | None = (
        None  # how the last phrase hangs together with what precedes, for its coordinates
    )
    auxiliary: bool = False
    copula: bool = False
    joined: bool = False
    owning: bool = False
    denied: bool = False

    def read(self, tokens: Sequence[Token]) -> list[Fact]:
        """The facts of the tokens, which are gone through once."""
        index = 0
        while index < len(tokens):
            token = tokens[index]
            words, length = preposition(tokens, index)
            phrase, end = noun_phrase(tokens, index, self.wordnet)
            if length:
                self.prep = words
                self.joined = False
                index = index + length
            elif phrase:
                self.take(phrase, tokens[end] if end < len(tokens) else None)
                index = end
            else:
                self.word(token, tokens, index)
                index += 1
        return self.facts

    def word(self, token: Token, tokens: Sequence[Token], index: int) -> None:
        """A token that begins neither a phrase nor a preposition."""
        tag = token.tag
        following = {other.tag for other in tokens[index + 1 : index + 3]}
        if tag == "XX0":
            self.denied = True
        elif tag in BOUNDARIES:
            self.boundary(tag)
        elif tag.startswith(("VB", "VM", "VD")) or (
            tag.startswith("VH") and {"VVN", "VBN"} & following
        ):
            self.auxiliary = True
            self.copula = tag.startswith("VB")
            if self.copula:
                self.verb = ""
        elif tag.startswith(("VV", "VH")):
            self.open(token)
        elif tag.startswith("AJ") and self.copula and self.subject:
            for noun in self.subject.nouns:
                negated = self.subject.negated or self.denied
                self.facts.append(Fact("attribute", token.word, subject=noun.word, negated=negated))
        elif tag == "CJC" or token.word == ",":
            self.joined = self.last is not None and not self.prep
        elif tag == "POS" and self.last:  # the dog's tail: the dog has it
            self.begin(self.last, "have")
            self.owning = True

    def boundary(self, tag: str) -> None:
        """*who* and *that* speak of the nearest phrase; *while* goes on with the same subject."""
        if tag in ("PNQ", "CJT", "DTQ"):
            self.subject = self.last or self.subject
        self.begin(self.doer, "")
        self.auxiliary = self.copula = self.joined = self.denied = False
        self.link = None

    def open(self, token: Token) -> None:
        """A verb: of the clause's subject if it is finite, else of the person or animal nearest before it."""
        bare = not self.auxiliary and token.tag not in FINITE
        doer = (self.actor or self.last) if bare else (self.subject or self.actor or self.last)
        self.begin(doer, token.lemma)
        self.auxiliary = self.copula = self.joined = False

    def begin(self, doer: Phrase | None, verb: str) -> None:
        """A verb, empty for none, without an object or a preposition yet."""
        self.doer = doer
        self.verb = verb
        self.has_object = False
        self.prep = ""

    def take(self, phrase: Phrase, following: Token | None) -> None:
        """A noun phrase, in the role that the words before it give it."""
        starts_clause = (
            following is not None
            and following.tag.startswith(("VV", "VB"))
            and bool(self.verb)
            and self.animate(phrase.nouns[0].word)
        )
        if self.denied or self.prep == "without":
            phrase = phrase._replace(negated=True)
        self.put(phrase)
        if self.joined and self.last and not starts_clause:
            self.coordinate(phrase)
        elif self.prep and self.prep != "without":
            self.attach(phrase)
        elif self.prep == "without":
            self.prep = ""
        elif self.verb and self.doer and not starts_clause:
            self.relate(self.doer, self.verb, phrase)
            self.has_object = True
            self.nearest = phrase
            if self.owning:
                self.verb = ""
                self.link = None
                self.owning = False
                self.subject = phrase
        else:
            self.subject = self.nearest = phrase
            self.verb = ""
            self.link = None
        self.joined = False
        if self.last is None or not phrase.negated:
            self.last = phrase
        if any(self.animate(noun.word) for noun in phrase.nouns) and not phrase.negated:
            self.actor = self.last

    def coordinate(self, phrase: Phrase) -> None:
        """*and* another phrase: it shares the relations of the one before."""
        before = self.last
        assert before
        joined = Phrase((*before.nouns, *phrase.nouns), before.negated)
        if self.link:
            self.relate(*self.link, phrase)
        self.replace(before, joined, "subject", "nearest", "actor", "doer")
        self.last = joined

    def replace(self, before: Phrase, after: Phrase, *roles: str) -> None:
        """Put a phrase into the roles that another has, of these."""
        for role in roles:
            if getattr(self, role) is before:
                setattr(self, role, after)

    def attach(self, phrase: Phrase) -> None:
        """A phrase after a preposition."""
        prep = self.prep
        self.prep = ""
        if prep == "of" and self.last:
            self.relate(self.last, "of", phrase)
            if self.last.nouns[-1].word in GRAMMAR["partitives"]:
                self.replace(self.last, phrase, "subject", "nearest", "doer")
            return
        source = self.nearest
        if self.verb and self.doer:
            source = self.doer
            if not self.has_object:
                prep = f"{self.verb} {prep}"
        elif self.copula and self.subject:
            source = self.subject
        if source:
            self.relate(source, prep, phrase)
        if not self.verb:
            self.nearest = phrase
        self.subject = self.subject or phrase

    def relate(self, source: Phrase, word: str, target: Phrase) -> None:
        """Every noun of one phrase with every noun of the other."""
        self.link = (source, word)
        negated = source.negated or target.negated
        self.facts += [
            Fact("relation", word, subject=noun.word, object=other.word, negated=negated)
            for noun in source.nouns
            for other in target.nouns
        ]

    def put(self, phrase: Phrase) -> None:
        """The phrase's objects and attributes."""
        for noun in phrase.nouns:
            self.facts.append(Fact("object", noun.word, negated=phrase.negated, plural=noun.plural))
            self.facts += [
                Fact("attribute", word, subject=noun.word, negated=phrase.negated)
                for word in noun.attributes
            ]


def standard() -> Chunks:
    """The parser with HanTa.

    >>> facts = standard().parse("A woman in a red dress is holding a tie.")
    >>> [fact.text for fact in facts if fact.kind == "relation"]
    ['woman – hold – tie', 'woman – in – dress']
    """
    return Chunks(hanta(), wordnet(), animate())


def animate() -> Animate:
    """Whether a base form is a person or an animal."""
    mentions = Mentions(Senses(wordnet()), shipped())
    return lambda word: mentions.is_person(word) or mentions.is_animal(word)
