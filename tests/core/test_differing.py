"""In what two manifests differ."""

import doctest

from gslopes.core import differing
from gslopes.core.differing import differences


def test_examples_in_the_docstrings_hold():
    assert not doctest.testmod(differing).failed


def test_numbers_have_four_digits_unless_they_differ_by_less():
    assert differences(1 / 3, 0.5, "share") == ["share is 0.3333 there and 0.5 here"]
    assert differences(0.123456, 0.123457, "share") == ["share is 0.123456 there and 0.123457 here"]
    assert differences([1 / 3], [1 / 3], "shares") == []
