import torch
from torch import nn

from training.tagger import l2_fgm


def test_a_l2_fgm_picture_is_near_and_worse():
    torch.manual_seed(0)
    network = nn.Sequential(nn.Flatten(), nn.Linear(3 * 16 * 16, 2))
    x, target = torch.rand(4, 3, 16, 16), torch.tensor([[1.0, 0.0]] * 4)
    known = torch.ones(4, 2, dtype=torch.bool)
    perturbed = l2_fgm(network, x, target, known, 2.0, torch.Generator().manual_seed(0))
    assert (perturbed - x).flatten(1).norm(dim=1).max() <= 2.0001
    before, after = (nn.functional.binary_cross_entropy_with_logits(network(p), target) for p in (x, perturbed))
    assert after > before + 0.1


def test_unknown_labels_worsen_nothing():
    network = nn.Sequential(nn.Flatten(), nn.Linear(3 * 16 * 16, 1))
    x, known = torch.rand(2, 3, 16, 16), torch.tensor([[True], [False]])
    perturbed = l2_fgm(network, x, torch.ones(2, 1), known, 1.0, torch.Generator().manual_seed(0))
    assert (perturbed[0] - x[0]).norm() > 0.9
