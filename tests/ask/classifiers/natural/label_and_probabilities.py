# gslopes try label_and_probabilities.py
def decide(face):
    red = face[..., 0].mean() / 255
    shares = {"red": red, "other": 1 - red}
    return max(shares, key=shares.get), shares
