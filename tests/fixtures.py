"""A home of tiny random models and folders of rendered faces: the whole walk in a second, without trained weights."""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from gslopes.core import tables

if TYPE_CHECKING:
    from gslopes.slopes.measures.answers import Answers

EMPTY = {
    "pdf": b"%PDF-1.4\n",
    "svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
}  # in place of figures; and a PNG:
EMPTY["png"] = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    "0000000a49444154789c636000000002000148afa4710000000049454e44ae426082"
)
LABELS = ("Beard", "Chef", "Hat", "Lipstick", "Nurse", "Smiling", "Tie", "Young")


@dataclass(frozen=True)
class Faces:
    """A folder of rendered photos, and the arguments that name what is known about them."""

    folder: Path

    @property
    def photos(self) -> Path:
        return self.folder / "photos"

    @property
    def known(self) -> dict[str, Path | bool]:
        """Faces and masks; without placebos, which are four times the pictures."""
        return {
            "landmarks": self.folder / "faces.csv",
            "masks": self.folder / "masks",
            "placebo": False,
        }

    @property
    def args(self) -> list[str]:
        expected = [("--set", f"{name}={self.known[name]}") for name in ("landmarks", "masks")]
        return [*expected[0], *expected[1], "--no-placebo"]


def write_tiny_models(home: Path) -> Path:
    """A home whose weights/ holds networks of a few hundred parameters with random weights."""
    import torch

    from gslopes.faces.zoo import ModelSpec, build
    from training.weights import save_weights

    about = {"summary": "For tests.", "licence": "CC0-1.0", "data": (), "paper": "", "recipe": ""}
    specs = [
        ModelSpec(
            name=f"{a}-field",
            network="fader",
            edits=a,
            size=32,
            labels=(a,),
            config={"widths": [4, 8]},
            **about,
        )
        for a in ("gender", "race")
    ]
    specs.append(
        ModelSpec(
            "celeba-tagger",
            network="tagger",
            size=32,
            labels=LABELS,
            config={"widths": [4, 8]},
            **about,
        )
    )
    for seed, spec in enumerate(specs):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            module = build(spec)
            for parameter in module.parameters():
                torch.nn.init.normal_(parameter, std=0.5)
        save_weights(home / "weights" / spec.name, spec, module.state_dict())
    return home


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_models(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a classifier in an ONNX file: random pixels' weights, each label on half of the rendered faces."""
    import numpy as np
    import onnx
    from onnx import helper

    from training.drawn import render, sample

    folder, size, lot = tmp_path_factory.mktemp("toy"), 16, np.random.default_rng(0)
    weights = lot.normal(size=(3 * size * size, len(LABELS))).astype(np.float32)
    pixels = render(sample(64, 1), 96).pixels.astype(np.float32) / 255
    small = (
        pixels.reshape(64, size, 6, size, 6, 3).mean((2, 4)).transpose(0, 3, 1, 2).reshape(64, -1)
    )
    bias = -np.median(small @ weights, axis=0)
    nodes = [
        helper.make_node("Flatten", ["photos"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weights"], ["product"]),
        helper.make_node("Add", ["product", "bias"], ["logits"]),
        helper.make_node("Sigmoid", ["logits"], ["scores"]),
    ]
    kind = onnx.TensorProto.FLOAT
    ends = (("photos", ["N", 3, size, size]), ("scores", ["N", len(LABELS)]))
    inputs, outputs = ([helper.make_tensor_value_info(name, kind, shape)] for name, shape in ends)
    constants = [
        onnx.numpy_helper.from_array(value, name)
        for name, value in (("weights", weights), ("bias", bias))
    ]
    graph = helper.make_graph(nodes, "toy", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, folder / "toy.onnx")
    (folder / "labels.txt").write_text("\n".join(LABELS) + "\n")
    return f"onnx:{folder / 'toy.onnx'},labels={folder / 'labels.txt'}"


@pytest.fixture
def home(tiny_models: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GSLOPES_HOME", str(tiny_models))
    return tiny_models


@pytest.fixture(scope="session")
def draw(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Faces]:
    """Draws n rendered faces into a fresh folder."""
    from training.drawn import sample, write_folder

    def drawn(n: int, seed: int = 0, size: int = 96) -> Faces:
        folder = tmp_path_factory.mktemp("faces")
        write_folder(sample(n, seed), folder, size=size)
        return Faces(folder)

    return drawn


@dataclass(frozen=True)
class Done:
    """What a command did: its exit code and what it printed."""

    code: int
    out: str
    err: str


@pytest.fixture
def gslopes(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """Runs the command line in this process."""
    from gslopes.cli import main

    def run(*args: object) -> Done:
        out, err = (
            io.TextIOWrapper(io.BytesIO(), "utf-8"),
            io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace"),
        )
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            with pytest.raises(SystemExit) as ended:
                main([os.fspath(arg) if isinstance(arg, Path) else str(arg) for arg in args])
        texts = []
        for stream in (out, err):
            stream.flush()
            texts.append(stream.buffer.getvalue().decode())
        return Done(int(ended.value.code or 0), *texts)

    return run


# --- What is made once, or not at all ---


def save_empty(figure: Any, file: Any, **options: Any) -> None:
    """In place of ``Figure.savefig``: a file of that kind with nothing in it."""
    if hasattr(file, "write"):
        file.write(EMPTY[options["format"]])
    else:
        Path(file).write_bytes(EMPTY[options["format"]])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Rendering is most of a report's time: tests render what they draw only if they are marked ``figures``, and of
    ``figures("png")`` only that form, of ``figures("none")`` nothing.
    """
    from matplotlib.figure import Figure

    real = getattr(Figure.savefig, "real", Figure.savefig)
    marker = item.get_closest_marker("figures")
    forms = (marker.args or tuple(EMPTY)) if marker else ()

    def save(figure: Any, file: Any, **options: Any) -> None:
        (real if options["format"] in forms else save_empty)(figure, file, **options)

    save.real = real  # type: ignore[attr-defined]
    Figure.savefig = save  # type: ignore[method-assign]


def missing_browser(what: str) -> None:
    """Skips, or fails if ``GSLOPES_BROWSER=required``."""
    sentence = f"{what} is missing: apt-get install chromium; pip install 'gslopes[test]'"
    if os.environ.get("GSLOPES_BROWSER") == "required":
        pytest.fail(sentence)
    pytest.skip(sentence)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The one browser of all tests marked ``browser``."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing_browser("Playwright")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        missing_browser("Chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


def assert_page_fits(chromium: Any, page_file: Path, width: int, height: int) -> None:
    """All folds open, in light and dark: nothing wider than the window, no fault of any weight that axe finds, no
    request, no message.
    """
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright",
        reason="axe-playwright-python is not installed: pip install 'gslopes[test]'",
    ).Axe()
    page = chromium.new_page(viewport={"width": width, "height": height})
    events: list[str] = []
    page.on("console", lambda message: events.append(message.text))
    page.on(
        "request",
        lambda request: events.append(request.url) if request.url.startswith("http") else None,
    )
    page.goto(page_file.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        faults = axe.run(page).response["violations"]
        assert [(f["id"], f["impact"], f["nodes"][0]["html"]) for f in faults] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert events == []
    page.close()


def assert_one_minute(chromium: Any, page_file: Path) -> None:
    """What a reader sees before the fold: five screens and 900 words at most, at a desk and on a phone."""
    for width, height in ((1280, 800), (390, 844)):
        page = chromium.new_page(viewport={"width": width, "height": height})
        page.goto(page_file.as_uri())
        fold = page.locator("#everything")
        assert fold.bounding_box()["y"] <= 5 * height
        assert fold.get_attribute("open") is None
        fold.evaluate("fold => fold.remove()")
        assert len(page.inner_text("body").split()) <= 900
        page.close()


def sweeps_of(
    scores: pd.DataFrame, asked: pd.DataFrame, values: Mapping[str, Any] | None = None
) -> list[Answers]:
    """The answers of each classifier along each attribute."""
    from gslopes.slopes.measures.answers import gather, values_by_attribute

    answers, questions = tables.check(tables.SCORES, scores), tables.check(tables.ASKED, asked)
    return list(gather(answers, questions, values_by_attribute(answers, questions, values)))


def paper_slopes(
    scores: pd.DataFrame, asked: pd.DataFrame, values: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """Only the paper's rows, as a table."""
    from gslopes.slopes.measures.analysis import checked
    from gslopes.slopes.measures.estimators import paper

    return checked(tables.SLOPES, [paper(sweep) for sweep in sweeps_of(scores, asked, values)])


@pytest.fixture
def make_onnx(tmp_path: Path) -> Callable[..., str]:
    """Writes an ONNX model and its labels; returns ``onnx:FILE,labels=FILE``.

    The model averages each channel over the picture and multiplies by ``weights`` (3, L): with the default, ``red`` is
    the mean of the first channel and ``other`` the mean of the last two.
    """
    onnx = pytest.importorskip(
        "onnx",
        reason="onnx, which builds the models, is not installed: pip install 'gslopes[test]'",
    )
    pytest.importorskip(
        "onnxruntime", reason="onnxruntime is not installed: pip install 'gslopes[onnx]'"
    )

    def make(
        weights: object = ((1, 0), (0, 0.5), (0, 0.5)),
        labels: str = "red\nother\n",
        *,
        batch: int | str = "batch",
        side: int | str = 16,
        layout: str = "nchw",
        kind: str = "FLOAT",
    ) -> str:
        helper, dtype = onnx.helper, getattr(onnx.TensorProto, kind)
        matrix = np.asarray(weights, np.float32)
        shape = [batch, 3, side, side] if layout == "nchw" else [batch, side, side, 3]
        axes = [2, 3] if layout == "nchw" else [1, 2]
        nodes = [
            helper.make_node("Cast", ["photos"], ["pixels"], to=onnx.TensorProto.FLOAT),
            helper.make_node("ReduceMean", ["pixels", "axes"], ["means"], keepdims=0),
            helper.make_node("MatMul", ["means", "weights"], ["scores"]),
        ]
        constants = [
            onnx.numpy_helper.from_array(np.array(axes, np.int64), "axes"),
            onnx.numpy_helper.from_array(matrix, "weights"),
        ]
        graph = helper.make_graph(
            nodes,
            "redness",
            [helper.make_tensor_value_info("photos", dtype, shape)],
            [
                helper.make_tensor_value_info(
                    "scores", onnx.TensorProto.FLOAT, [batch, matrix.shape[1]]
                )
            ],
            constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        onnx.checker.check_model(model)
        onnx.save(model, tmp_path / "model.onnx")
        (tmp_path / "labels.txt").write_text(labels, encoding="utf-8")
        return f"onnx:{tmp_path / 'model.onnx'},labels={tmp_path / 'labels.txt'}"

    return make


QUESTIONS = ["Does it answer differently?", "How sure?", "Show me", "What next?"]
SIBLINGS = [
    question for question in QUESTIONS if question != "Show me"
]  # of the other audits' pages


def questions(html: str) -> list[str]:
    """The headings of a page that ask its questions, in order; each is a link of its contents, in the same order."""
    matches = re.findall(r'<h2 class="question" id="(\w+)">([^<]+)</h2>', html)
    contents = html[html.index("<nav") : html.index("</nav>")]
    assert re.findall(r'href="#(\w+)"', contents)[: len(matches)] == [name for name, _ in matches]
    return [title for _, title in matches]


@pytest.fixture(scope="session")
def portrait_chip() -> np.ndarray:
    """The astronaut's aligned chip, (1, 128, 128, 3) uint8."""
    from gslopes.core.geometry import warp
    from gslopes.faces.find import choose
    from gslopes.faces.networks.mtcnn import Mtcnn
    from gslopes.slopes.demo import astronaut

    photo = astronaut()
    return warp(photo, choose(Mtcnn(32)([photo])[0], 512, 512, 32).matrix, 128)[None]


def round_to_tf32(modules: Iterable[Any]) -> int:
    """Let convolutions and matrices round as a GPU's matrix units do, to ten bits; returns how many there are."""
    import torch

    def rounded(values: Any) -> Any:
        bits = values.contiguous().view(torch.int32)
        return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)

    count = 0
    for module in modules:
        if isinstance(module, torch.nn.Conv2d | torch.nn.ConvTranspose2d | torch.nn.Linear):
            module.weight.data = rounded(module.weight.data)
            module.register_forward_pre_hook(lambda _, inputs: (rounded(inputs[0]), *inputs[1:]))
            count += 1
    return count
