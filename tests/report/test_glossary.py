from gslopes.report import decisions
from gslopes.report.glossary import GLOSSARY


def test_every_decision_and_the_words_of_the_house_are_explained_once() -> None:
    words = [word for word, _ in GLOSSARY]
    assert len(words) == len(set(words))
    assert set(decisions.SHOWN.values()) <= set(words)
    assert {"reader", "placebo", "sweep", "slope"} <= set(words)
    assert all(meaning.endswith(".") for _, meaning in GLOSSARY)
