# gslopes try torch_network.py
import torch
from torch import nn

net = nn.Sequential(nn.Conv2d(3, 2, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten()).eval()
with torch.no_grad():
    net[0].weight.zero_()
    net[0].bias.zero_()
    net[0].weight[0, 0] = net[0].weight[1, 2] = 1.0


def score(x):
    with torch.inference_mode():
        out = net(x)
    return {"red": out[:, 0], "blue": out[:, 1]}
