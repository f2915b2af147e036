import pytest
import torch

from gslopes.train.schedule import one_cycle


def test_the_rate_rises_within_the_first_tenth_falls_to_nothing_and_is_that_of_the_optimiser() -> None:
    optimiser = torch.optim.AdamW([torch.zeros(1, requires_grad=True)], lr=1.0)
    rates = [one_cycle(optimiser, 2e-3, step, 100) for step in range(100)]
    assert optimiser.param_groups[0]["lr"] == rates[-1]
    assert rates.index(max(rates)) == 9
    assert rates[9:] == sorted(rates[9:], reverse=True)
    assert rates[0] == pytest.approx(2e-4)
    assert 0.97 * 2e-3 < max(rates) <= 2e-3
    assert rates[-1] < 1e-5
