# gslopes try dataclass_result.py
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdict:
    red: float
    green: float
    model: str = "v3"
    boxes: list[float] = field(default_factory=list)


def judge(image):
    red, green, _ = image.reshape(-1, 3).mean(0) / 255
    return _Verdict(red=red, green=green)
