# gslopes try fastai_like.py,labels=labels.txt
import torch


def predict(item):
    red = torch.tensor(item[..., 0].mean() / 255)
    return "red", torch.tensor(0), torch.stack([red, 1 - red])
