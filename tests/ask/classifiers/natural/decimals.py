# gslopes try decimals.py
from decimal import Decimal
from fractions import Fraction


def score(image):
    red = int(image[..., 0].astype(int).sum())
    return {"red": Fraction(red, 255 * image[..., 0].size), "half": Decimal("0.5")}
