# gslopes try torch_one_picture.py
import torch


def score(image: torch.Tensor):
    channels, height, width = image.shape
    assert channels == 3
    return {"red": image[0].sum() / (height * width)}
