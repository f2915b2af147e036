"""IBM's service cannot be asked any more."""

from __future__ import annotations

import pytest

from gslopes.core.errors import ServiceError
from gslopes.score.classifiers import load_classifier


@pytest.mark.parametrize("call", [lambda w: w.prepare(), lambda w: w.ask([b""]), lambda w: w.parse({})])
def test_watson_says_since_when_it_is_gone_and_what_to_do_instead(call):
    with pytest.raises(ServiceError, match=r"withdrew .* in December 2021.* replay:FILE"):
        call(load_classifier("watson", prepare=False))
