# gslopes try json_text.py
import json


def ask(image):
    return json.dumps({"red": float(image[..., 0].mean() / 255), "reason": "it looks so"})
