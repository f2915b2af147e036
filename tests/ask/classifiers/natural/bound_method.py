# gslopes try bound_method.py:classify
class Model:
    def __init__(self, white):
        self.white = white

    def run(self, data):
        import io

        from PIL import Image, ImageStat

        return dict(red=ImageStat.Stat(Image.open(io.BytesIO(data))).mean[0] / self.white)


classify = Model(255).run
