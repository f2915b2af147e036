# gslopes try wrapped_reply.py
def call(photo):
    red, green, blue = (photo.reshape(-1, 3).mean(0) / 255).tolist()
    return {
        "id": 7431,
        "model": "colours-v2",
        "time_ms": 12.5,
        "result": {
            "predictions": [
                {"className": "red", "prob": red},
                {"className": "green", "prob": green},
            ]
        },
    }
