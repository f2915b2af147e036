# gslopes try pydantic_result.py:classify
from PIL import Image, ImageStat
from pydantic import BaseModel


class Prediction(BaseModel):
    label: str
    score: float


class Response(BaseModel):
    model: str
    predictions: list[Prediction]


def classify(image: Image.Image) -> Response:
    red, green, _ = ImageStat.Stat(image).mean
    found = [Prediction(label="red", score=red / 255), Prediction(label="green", score=green / 255)]
    return Response(model="colours-2", predictions=found)
