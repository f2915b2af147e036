# gslopes try parallel_lists.py
def tag(images):
    scores = [image.reshape(-1, 3).mean(0) / 255 for image in images]
    return {"labels": [["red", "green", "blue"] for _ in images], "scores": scores}
