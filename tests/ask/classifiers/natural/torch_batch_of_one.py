# gslopes try torch_batch_of_one.py
import torch.nn.functional as F


def classify(img_tensor):
    n, c, h, w = img_tensor.shape
    small = F.interpolate(img_tensor, (8, 8), mode="area")
    red, green, blue = small[0].mean((1, 2))
    return {"red": red, "green": green}
