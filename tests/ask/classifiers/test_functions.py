"""Functions as people write them, by ``gslopes try``: a verdict at once, or the sentence that helps."""

import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gslopes.ask.classifiers.in_memory import as_classifier
from gslopes.core.errors import UsageError

LOAD = """
    import asyncio, functools
    import cv2, numpy as np, pandas as pd, torch, torchvision
    from pathlib import Path
    from PIL import Image

    def _share(pixels): return float(np.asarray(pixels).mean() / 255)
    _net = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(3, 4)).eval()
    torch.nn.init.constant_(_net[2].weight, 0.2), torch.nn.init.zeros_(_net[2].bias)
    _net[2].weight.data[0] = 3
    _names = ["cat", "dog", "hat", "cup"]
    _prepare = torchvision.transforms.Compose([torchvision.transforms.Resize(16), torchvision.transforms.ToTensor()])
"""

NATURAL = {
    "mapping": """
        def classify(image):
            return {"bright": _share(image)}""",
    "torchvision_logits_of_a_batch": """
        @torch.no_grad()
        def predict(images):
            batch = torch.stack([_prepare(image.convert("RGB").resize((16, 16))) for image in images])
            return [dict(zip(_names, row.tolist())) for row in _net(batch).softmax(1)]""",
    "torch_on_a_pil_image": """
        def predict(img: Image.Image):
            with torch.no_grad():
                shares = torch.softmax(_net(_prepare(img)[None])[0], 0)
            return {name: share for name, share in zip(_names, shares)}""",
    "deepface_like": """
        def emotions(img_path):
            pixels = cv2.imread(img_path)
            found = [{"emotion": {"happy": _share(pixels), "sad": 0.1}, "region": {"x": 0}}]
            return found[0]["emotion"]""",
    "mappings_in_a_mapping": """
        def classify(image):
            return [{"emotion": {"happy": _share(image), "sad": 0.1}, "dominant_emotion": "happy"}]""",
    "pipeline_like": """
        class _Pipeline:
            def __call__(self, images):
                if not isinstance(images, (str, Image.Image)):
                    raise ValueError("Incorrect format used for image. Should be a local path, or a PIL image.")
                return [{"score": _share(images), "label": "bright"}, {"score": 0.1, "label": "dark"}]
        _pipe = _Pipeline()
        def ask(image):
            return _pipe(image)""",
    "sklearn_predict_proba": """
        from sklearn.linear_model import LogisticRegression
        _X = np.linspace(0, 1, 40).reshape(-1, 1)
        _model = LogisticRegression().fit(_X, (_X[:, 0] > 0.5).astype(int))
        def bright(x):
            return float(_model.predict_proba(np.array([[x.mean() / 255]]))[0, 1])""",
    "one_label": """
        def verdict(photo):
            return "bright" if photo.mean() > 60 else "dark" """,
    "a_bool": """
        def hire(face):
            return _share(face) > 0.2""",
    "a_number": """
        def age(image):
            return 20 + image.mean() / 10""",
    "numpy_floats": """
        def moods(photo):
            pixels = np.asarray(photo.convert("L"), np.float32) / 255
            return {"bright": pixels.mean(), "even": np.float64(1 - pixels.std())}""",
    "a_path": """
        def score(path: str) -> dict:
            assert path.endswith(".png") and Path(path).is_file()
            return {"bright": _share(Image.open(path))}""",
    "a_list": """
        def judge(photos: list[np.ndarray]) -> list[dict[str, float]]:
            return [{"bright": photo.mean() / 255} for photo in photos]""",
    "an_async_function": """
        _lock = []
        async def ask(image):
            _lock.append(asyncio.get_running_loop())
            assert all(loop is _lock[0] for loop in _lock)
            await asyncio.sleep(0)
            return {"bright": _share(image)}""",
    "a_class_with_call": """
        class Model:
            def __init__(self, scale=255):
                self.scale = scale
            def __call__(self, image):
                return {"bright": image.mean() / self.scale}""",
    "a_class_with_predict": """
        class Model:
            def predict(self, x):
                return np.array([x.mean() / 255])""",
    "a_lambda": """
        hire = lambda img: [("hire", _share(img)), ("fire", 0.2)]""",
    "a_series": """
        def classify(image):
            return pd.Series({"bright": _share(image), "other": 0.5})""",
    "a_row_of_a_table": """
        def classify(image):
            return pd.DataFrame({"bright": [_share(image)], "other": [0.5]})""",
    "a_tensor_of_one": """
        def smile(tensor_or_array):
            return torch.as_tensor(np.array(tensor_or_array)).double().mean() / 255""",
    "a_generator": """
        def classify(images):
            for image in images:
                yield {"bright": image.mean() / 255}""",
    # and more that are just as likely
    "a_ranking_of_triples": """
        def decode_predictions(image):
            return [[("n01", "tabby", _share(image)), ("n02", "lynx", np.float32(0.1))]]""",
    "scores_first": """
        def top(image: "Image.Image"):
            return sorted(zip([_share(image), 0.3], ["bright", "other"]), reverse=True)""",
    "size_of_a_pil_image": """
        def flat(image):
            width, height = image.size
            return dict(bright=_share(image), wide=width / (width + height))""",
    "opencv_by_a_path_of_another_name": """
        def f(x):
            gray = cv2.cvtColor(cv2.imread(x), cv2.COLOR_BGR2GRAY)
            return {"class": "bright", "confidence": gray.mean() / 255}""",
    "a_partial": """
        def _with_threshold(image, threshold):
            return [name for name in ("any", "bright") if name == "any" or image.mean() > threshold]
        def classify(image, _ask=functools.partial(_with_threshold, threshold=60)):
            return _ask(image)""",
}

WRONG = {
    "a_bug": (
        """
        def classify(image):
            shares = {"happy": 0.5}
            return {"smile": shares["smile"]}""",
        'classify failed: KeyError: \'smile\' (wrong_a_bug.py:16: return {"smile": shares["smile"]}). '
        "It was given one array at a time, 40 x 30 pixels. With --debug the whole traceback is shown.",
    ),
    "a_bug_behind_a_form": (
        """
        def classify(image):
            small = image.convert("RGB").resize((8, 8))
            return {"smile": small.brightness}""",
        "classify failed: AttributeError: 'Image' object has no attribute 'brightness' "
        '(wrong_a_bug_behind_a_form.py:16: return {"smile": small.brightness}). It was given one PIL image at a time, '
        "40 x 30 pixels; it fails in every other form, too. If it takes something else, annotate its parameter: "
        "np.ndarray, Image.Image, str, Path, bytes, torch.Tensor, or a list[...] of these.",
    ),
    "two_functions": (
        """
        def classify(image: np.ndarray):
            return {"smile": torch.zeros(3) @ torch.zeros(4)}

        def unused(image):
            pass""",
        "wrong_two_functions.py defines classify, unused. Name the one that is asked, such as "
        "wrong_two_functions.py:classify.",
    ),
    "two_parameters": (
        """
        def classify(image, model):
            return model(image)""",
        "classify cannot be called with a picture alone: missing a required argument: 'model'. "
        "Give its other parameters defaults, or ask functools.partial(classify, ...).",
    ),
    "texts_alone": (
        """
        def classify(image):
            return {"mood": "happy", "box": [1, 2, 3]}""",
        "The function's score of 'mood' is 'happy', not a number in [0, 1].",
    ),
    "helpers_beside_it": (
        """
        def load(path: str):
            return Image.open(path)

        def smile(path: str) -> dict[str, float]:
            return {"smile": scaled(load(path))}

        def scaled(image):
            return _share(image)

        def main(folder: Path, out: Path):
            print([smile(path) for path in folder.iterdir()], out)

        def prepare(image: Image.Image) -> Image.Image:
            return image.resize((8, 8))

        def normalized(photo) -> np.ndarray:
            return np.asarray(photo) / 255""",
        "Name the one that is asked, such as wrong_helpers_beside_it.py:smile.",
    ),
    "full_memory": (
        """
        def classify(images):
            if not isinstance(images[0], Image.Image):
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
            return [{"smile": 0.5} for image in images]""",
        "classify failed: OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (wrong_full_memory.py:16: "
        'raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")). It was given a list of '
        "arrays, 40 x 30 pixels. Memory was full with a single picture.",
    ),
    "full_memory_in_words": (
        """
        def classify(x: torch.Tensor):
            raise RuntimeError("CUDA out of memory. Tried to allocate 20.00 MiB")""",
        "It was given one tensor (N, 3, H, W) in [0, 1], 40 x 30 pixels. Memory was full with a single picture.",
    ),
    "a_broken_device": (
        """
        def classify(x):
            if isinstance(x, list):
                raise RuntimeError("CUDA error: device-side assert triggered")
            return {"smile": 0.5}""",
        "classify failed: RuntimeError: CUDA error: device-side assert triggered (wrong_a_broken_device.py:16: raise",
    ),
    "no_connection": (
        """
        def classify(photo):
            if isinstance(photo, np.ndarray):
                raise ConnectionError("Connection refused")
            return {"smile": 0.5}""",
        "classify failed: ConnectionError: Connection refused (wrong_no_connection.py:16: raise ConnectionError("
        '"Connection refused")). It was given one array at a time, 40 x 30 pixels. What the function asks for did not '
        "answer. Once it does, run the same command again.",
    ),
    "too_slow": (
        """
        async def classify(photo):
            await asyncio.wait_for(asyncio.sleep(9), 0.01)
            return {"smile": 0.5}""",
        "classify failed: TimeoutError (wrong_too_slow.py:15: await asyncio.wait_for(asyncio.sleep(9), 0.01); raised",
    ),
    "no_server": (
        """
        import urllib.request
        def classify(image):
            return urllib.request.urlopen("http://127.0.0.1:1/predict").read()""",
        "Connection refused> (wrong_no_server.py:16: return urllib.request.urlopen",
    ),
    "no_file": (
        """
        def classify(image):
            return {"smile": float(Path("weights/smile.txt").read_text())}""",
        "classify failed: FileNotFoundError: [Errno 2] No such file or directory: 'weights/smile.txt' "
        '(wrong_no_file.py:15: return {"smile": float(Path("weights/smile.txt").read_text())}; raised in ',
    ),
    "no_key_in_a_config": (
        """
        _config = {"model": {"name": "smile"}}
        def classify(image):
            level = _config["model"]["threshold"]
            return {"smile": level}""",
        "classify failed: KeyError: 'threshold' (wrong_no_key_in_a_config.py:16: level = "
        '_config["model"]["threshold"]). It was given one array at a time',
    ),
    "no_password": (
        """
        def classify(image):
            raise ValueError("SMILE_API_KEY is not set in the environment")""",
        "It was given one array at a time, 40 x 30 pixels. Set what it misses, and run the same command again.",
    ),
    "no_json": (
        """
        import json
        def classify(image):
            return json.loads("<html>Bad gateway</html>")""",
        "classify failed: JSONDecodeError: Expecting value: line 1 column 1 (char 0) (wrong_no_json.py:16: return ",
    ),
    "no_module": (
        """
        def classify(image):
            import no_such_library_of_faces
            return no_such_library_of_faces.smile(image)""",
        "classify failed: ModuleNotFoundError: No module named 'no_such_library_of_faces' (wrong_no_module.py:15: "
        "import no_such_library_of_faces). It was given one array at a time, 40 x 30 pixels. Install it where gslopes",
    ),
    "another_type_than_it_says": (
        """
        def classify(image: Image.Image):
            return {"smile": image.mean() / 255}""",
        "classify failed: AttributeError: 'Image' object has no attribute 'mean' (wrong_another_type_than_it_says.py:"
        '15: return {"smile": image.mean() / 255}). It was given one PIL image at a time, 40 x 30 pixels.',
    ),
    "two_faces": (
        """
        def analyze(img_path):
            return [{"emotion": {"happy": 80.0, "sad": 20.0}}, {"emotion": {"happy": 30.0, "sad": 70.0}}]""",
        "The function returned a table of several rows for a picture, not one mapping of label to score.",
    ),
    "a_table": (
        """
        def classify(image):
            return pd.DataFrame({"brand": ["a", "b"], "smile": [0.2, 0.4]})""",
        "The function returned a table of several rows for a picture, not one mapping of label to score.",
    ),
    "numbers_without_labels": (
        """
        def classify(image):
            return np.array([0.2, 0.8])""",
        "The function returned 2 numbers for a picture, and no labels: return a mapping such as {'smile': 0.8}, "
        "or give labels=FILE",
    ),
}


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name, level in {"bright": 250, "middle": 120, "dark": 20}.items():
        pixels = np.full((30, 40, 3), level, np.uint8)
        pixels[:, ::2] -= 15
        Image.fromarray(pixels).save(tmp_path / f"{name}.png")
    yield [tmp_path / f"{name}.png" for name in ("bright", "middle", "dark")]
    for name in [
        name
        for name, module in sys.modules.items()
        if str(tmp_path) in str(getattr(module, "__file__", ""))
    ]:
        del sys.modules[name]


def write(file: str, text: str) -> str:
    Path(file).write_text(textwrap.dedent(LOAD) + textwrap.dedent(text) + "\n")
    return file


@pytest.mark.row("slopes-1-black-box")
@pytest.mark.parametrize("kind", NATURAL)
def test_a_natural_function_gives_a_verdict_without_a_wrong_turn(gslopes, photos, kind):
    done = gslopes("try", write(f"natural_{kind}.py", NATURAL[kind]), *photos)
    assert (done.code, done.err) == (0, ""), done.err + done.out
    assert "varies      yes: " in done.out, done.out
    assert not re.search("failed|refused", done.out), done.out


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_function_is_answered_with_the_sentence_that_helps(gslopes, photos, kind):
    text, sentence = WRONG[kind]
    done = gslopes("try", write(f"wrong_{kind}.py", text), *photos)
    assert done.code in (1, 2)
    assert sentence in " ".join((done.out + done.err).split())


@pytest.mark.parametrize(
    "kind", ["full_memory", "a_broken_device", "no_connection", "no_key_in_a_config"]
)
def test_a_failure_that_is_not_about_the_form_changes_no_form(gslopes, photos, kind):
    """Each would answer in another form: it is not tried, and no line is said to be wrong."""
    done = gslopes("try", write(f"wrong_{kind}.py", WRONG[kind][0]), *photos)
    assert done.code == 1
    assert not re.search(
        "every other form|does not take|annotate|[Mm]end that line", done.out + done.err
    )


def test_the_form_that_was_found_is_named(gslopes, photos):
    done = gslopes("try", write("found_form.py", NATURAL["pipeline_like"]), *photos)
    assert (
        "warning     ask does not take one array at a time: it is given one PIL image at a time."
        in done.out
    )


def test_the_line_of_a_library_stands_after_the_users_own(gslopes, photos):
    done = gslopes("try", write("found_line.py", WRONG["two_functions"][0]) + ":classify", *photos)
    said = " ".join((done.out + done.err).split())
    assert re.search(
        r"RuntimeError: .* \(found_line\.py:15: return .*\)\. It was given one array at a time",
        said,
    ), said
    done = gslopes(
        "try",
        write("resized.py", "def classify(image: Image.Image):\n    return _prepare(5)"),
        *photos,
    )
    said = " ".join((done.out + done.err).split())
    assert re.search(
        r"\(resized\.py:14: return _prepare\(5\); raised in torchvision/\S+\.py:\d+: raise TypeError",
        said,
    )


def test_a_class_is_instantiated_in_python_too(photos):
    class Half:
        def classify(self, image):
            return 0.5

    made = as_classifier(Half)
    assert made.parse(made.ask([photos[0].read_bytes()])[0]).labels == (("classify", 0.5),)
    assert made.version == as_classifier(Half).version
    with pytest.raises(
        UsageError, match="two cannot be called with a picture alone: missing a required"
    ):
        as_classifier(lambda image, *, model: {}, name="two")
