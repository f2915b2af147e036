# gslopes try table_of_a_batch.py
import pandas as pd


def judge(paths: list[str]) -> pd.DataFrame:
    import cv2

    means = [cv2.imread(path).reshape(-1, 3).mean(0) / 255 for path in paths]
    return pd.DataFrame(means, columns=["blue", "green", "red"], index=paths)
