"""How many workers a cluster has, and what each has of its machines."""

import pytest

from gslopes.frame.executors.ray import SHARING, _size


class Nodes:
    def __init__(self, *nodes: tuple[int, int]) -> None:
        self.known = [
            {"Alive": True, "Resources": {"CPU": cpus, "GPU": gpus}} for cpus, gpus in nodes
        ]

    def nodes(self):
        return self.known


@pytest.mark.parametrize(
    ("nodes", "workers", "expected"),
    [
        ([(16, 1)], None, (8, 2, 1 / 8)),
        ([(64, 1)], None, (SHARING, 8, 1 / 8)),
        ([(4, 1)], None, (2, 2, 1 / 2)),
        ([(2, 1)], None, (1, 2, 1)),
        ([(2, 2)], None, (2, 1, 1)),
        ([(16, 1), (16, 1)], None, (16, 2, 1 / 8)),
        ([(16, 1)], 3, (3, 5, 1 / 3)),
        ([(16, 2)], 1, (1, 16, 1)),
        ([(8, 0), (16, 1)], None, (8, 2, 1 / 8)),  # machines without a GPU stay out
    ],
)
def test_workers_have_shares_of_the_gpus_that_fit(nodes, workers, expected):
    size = _size(Nodes(*nodes), workers, 1000, gpus=True)
    assert (size.workers, size.cpus, size.gpus) == expected
    cards = sum(gpus for _, gpus in nodes)
    assert size.workers <= cards * int(1 / size.gpus)
