"""One loopback server with the protocols of five tagging services and of a language model, in five dialects.

    with FakeProvider() as provider:
        provider.environment            what to set so that gslopes, or a client of your own, asks it
        provider.trouble(0.2)           a fifth of all requests fails, in every way there is
        provider.log.calls              who asked what, when, and what became of it

Answers come from the picture's content, so that slopes can be planted and found again: see ``pictures``.
"""

from tests.fake_provider.control import KINDS, Call, FakeProvider
from tests.fake_provider.pictures import FURNITURE, PLANTED, paint, present

__all__ = ["FURNITURE", "KINDS", "PLANTED", "Call", "FakeProvider", "paint", "present"]
