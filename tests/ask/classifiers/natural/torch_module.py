# gslopes try torch_module.py:net,labels=labels.txt,activation=softmax
import torch
from torch import nn

net = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, 2)).eval()
with torch.no_grad():
    net[2].weight.zero_()
    net[2].bias.zero_()
    net[2].weight[0, 0] = 6.0
