# gslopes try model_output.py,labels=labels.txt,activation=softmax
import torch
from transformers.utils import ModelOutput


def model(pixel_values: torch.Tensor):
    logits = pixel_values.mean((2, 3))[:, :2] * 6
    return ModelOutput(loss=None, logits=logits, hidden_states=(torch.zeros(2, 2),))
