# gslopes try own_object.py
class _Answer:
    def __init__(self, label, probability):
        self.label = label
        self.probability = probability

    def __repr__(self):
        return f"{self.label}: {self.probability:.0%}"


def guess(photo):
    return _Answer("red", photo[..., 0].mean() / 255)
