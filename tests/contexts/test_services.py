"""Five services, asked by their own clients, have planted congruence slopes: each comes back within its interval."""

from __future__ import annotations

from hashlib import sha256

import pandas as pd
import pytest

from gslopes.contexts.measures.paired import ALIKE
from gslopes.core.records import Answer
from tests.contexts.drawn import audit
from tests.contexts.planted import plant
from tests.fake_provider import FakeProvider

pytestmark = pytest.mark.slow
SLOPES = {"google": 0.24, "rekognition": 0.12, "clarifai": -0.24, "azure": 0.0, "imagga": 0.18}


class Same:
    """What a service is planted to say, without the service."""

    version, batch = "1", 8

    def __init__(self, name: str, known: dict[str, list[tuple[str, float]]]) -> None:
        self.name, self.known = name, known

    def ask(self, pictures):
        return [self.known[sha256(data).hexdigest()] for data in pictures]

    def parse(self, raw):
        return Answer("answered", tuple(raw))


@pytest.fixture(scope="module")
def asked(folder, tmp_path_factory):
    """A run whose pictures five fake services and their twins in this process have seen."""
    with pytest.MonkeyPatch.context() as patch, FakeProvider() as provider:
        for name, value in provider.environment.items():
            patch.setenv(name, value)
        run = tmp_path_factory.mktemp("services") / "run"
        audit(folder, run)  # asks the tagger in this process
        provider.known = plant(run, SLOPES)
        cache = tmp_path_factory.mktemp("cache")
        names = [f"{name}:rate=1000" for name in SLOPES]  # the fake one has no quota
        audit(folder, run, classifier=names, cache=cache, yes=True)
        calls = len(provider.log.calls)
        audit(folder, run, classifier=names, cache=cache, yes=True)
        assert len(provider.log.calls) == calls  # nobody is asked twice
        for name, known in provider.known.items():
            found = audit(folder, run, classifier=Same(f"twin-{name}", known))
        yield found


@pytest.mark.parametrize("service", SLOPES)
def test_each_services_slope_is_recovered_with_its_interval(service, asked):
    rows = asked.tables["congruence"]
    at = (rows["measure"] == "correct") & (rows["group"] == "all") & (rows["tags"] == "gross")
    row = rows[at & (rows["gender"] == "all") & (rows["estimator"] == "person")].set_index("classifier").loc[service]
    assert row["slope"] == pytest.approx(100 * SLOPES[service], abs=5)
    if SLOPES[service]:
        assert row["ci_low"] <= 100 * SLOPES[service] <= row["ci_high"]
    else:  # it says the same before every context
        assert row["note"] == ALIKE


@pytest.mark.parametrize("service", SLOPES)
def test_a_service_and_its_twin_without_one_are_described_alike(service, asked):
    rows = asked.tables["described"]
    one, other = (
        rows[rows["classifier"] == name].drop(columns="classifier").reset_index(drop=True)
        for name in (service, f"twin-{service}")
    )
    pd.testing.assert_frame_equal(one, other)
