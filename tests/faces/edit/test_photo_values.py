import torch

from gslopes.faces.edit.photo_values import best_fitting


def test_the_values_are_where_the_reconstruction_is_nearest():
    truth = torch.tensor([[0.5, -0.25], [-1.0, 0.75]])

    def decode(values: torch.Tensor) -> torch.Tensor:
        return torch.cat([values, values.prod(1, keepdim=True) / 4], 1)[:, :, None, None].expand(-1, -1, 4, 4)

    assert torch.equal(best_fitting(decode, decode(truth), attributes=2), truth)
