"""What a classifier declares: in one record, with defaults for objects that declare nothing."""

import pytest

import gslopes
from gslopes.core.errors import UsageError
from gslopes.core.records import Answer
from gslopes.core.traits import Limits, Traits, traits_of


class Own:
    """An object of a user's, with the members that every classifier has."""

    name, version, batch = "own", "1", 4

    def ask(self, pictures):
        return [0.5 for _ in pictures]

    def parse(self, raw):
        return Answer("answered", (("any", raw),))


def test_an_object_that_declares_nothing_has_the_traits_of_a_local_classifier():
    made = gslopes.as_classifier(Own())
    assert isinstance(made, Own)
    assert traits_of(made) == Traits()
    assert not traits_of(made).kept


@pytest.mark.parametrize("own", [Traits(cached=True), Traits(Limits(price=1.0))])
def test_answers_are_kept_if_the_version_identifies_them_and_those_of_services_always(own):
    service = Own()
    service.traits = own
    assert traits_of(gslopes.as_classifier(service)).kept


@pytest.mark.parametrize(
    ("attribute", "trait"),
    [("numbers", "numbers"), ("limits", "limits"), ("prepare", "prepares"), ("usage", "counts")],
)
def test_an_attribute_that_only_traits_can_declare_is_named_with_its_trait(attribute, trait):
    outside = Own()
    setattr(outside, attribute, True)
    with pytest.raises(UsageError, match=f"Own has {attribute}, which gslopes reads") as raised:
        gslopes.as_classifier(outside)
    assert f"Traits({trait}=...)" in raised.value.hint
    outside.traits = Traits()
    assert gslopes.as_classifier(outside) is outside


def test_traits_of_another_kind_are_refused_before_anything_is_asked():
    other = Own()
    other.traits = {"numbers": True}
    with pytest.raises(UsageError, match="traits of Own are not gslopes"):
        gslopes.as_classifier(other)


def test_labels_of_an_object_are_its_own_business():
    named = Own()
    named.labels = ["any"]
    assert gslopes.as_classifier(named) is named
