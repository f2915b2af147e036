# gslopes try attrs_result.py
import attrs


@attrs.define
class _Found:
    label: str
    confidence: float


def tags(picture):
    red, green, blue = picture.reshape(-1, 3).mean(0) / 255
    return [_Found("red", red), _Found("green", green)]
