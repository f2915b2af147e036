# gslopes try class_with_analyze.py
class Analyzer:
    def __init__(self):
        self.calls = 0

    def analyze(self, image):
        self.calls += 1
        return {"red": image[..., 0].mean() / 255}
