# gslopes try torch_batch.py
import torch

NAMES = ["red", "green", "blue"]


@torch.no_grad()
def predict(batch: torch.Tensor) -> list[dict[str, float]]:
    assert batch.ndim == 4 and batch.shape[1] == 3 and batch.max() <= 1
    return [dict(zip(NAMES, row.tolist(), strict=True)) for row in batch.mean((2, 3))]
