# gslopes try percentages.py
def shares(image):
    red = 100 * image[..., 0].mean() / 255
    return {"red": round(red, 1), "other": round(100 - red, 1)}
