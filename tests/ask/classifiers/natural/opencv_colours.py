# gslopes try opencv_colours.py
import cv2


def classify(image):
    rgb = cv2.cvtColor(image, cv2.COLOR_BGR2RGB)
    return {"red": rgb[..., 0].mean() / 255, "blue": rgb[..., 2].mean() / 255}
