"""``onnx:FILE``: a model of the user's own in an ONNX file, with a labels file and a preprocessing spec.

For example ``onnx:model.onnx,labels=labels.txt,activation=softmax,top_k=5,std=0.229/0.224/0.225``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gslopes.core.errors import ConfigError, ModelError
from gslopes.core.records import Answer, ByteArray
from gslopes.score.names import ARGUMENT
from gslopes.score.pictures import batch_of, normalise

Three = tuple[float, float, float]

_KINDS: Mapping[str, type[np.generic]] = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(double)": np.float64,
    "tensor(uint8)": np.uint8,
}


@dataclass(frozen=True, slots=True)
class OnnxOptions:
    """How to ask the model and how to read its first output.

    file: the .onnx file.  labels: text file, one label a line, in the order of the outputs.
    threshold: a label is returned where its score is at least this, in [0, 1].
    top_k: if above 0, the k highest labels are returned instead, whatever their scores.
    activation: what makes scores in [0, 1] of the outputs; ``none`` if the model does so itself.
    size: side of the square input in pixels; 0: as the model declares.
    white: value of a white pixel before mean and std (1, or 255 for models that take bytes).
    mean, std: of the channels, in units of ``white``, in the order of ``channels``.
    layout: order of the input's axes.
    """

    file: Path = field(metadata=ARGUMENT)
    labels: Path
    threshold: float = 0.5
    top_k: int = 0
    activation: Literal["none", "sigmoid", "softmax"] = "none"
    size: int = 0
    white: float = 1.0
    mean: Three = (0.0, 0.0, 0.0)
    std: Three = (1.0, 1.0, 1.0)
    channels: Literal["rgb", "bgr"] = "rgb"
    layout: Literal["nchw", "nhwc"] = "nchw"

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise ConfigError(f"onnx's threshold is in [0, 1], not {self.threshold}.")
        if self.top_k < 0 or self.size < 0 or self.white <= 0 or min(self.std) <= 0:
            raise ConfigError("onnx's top_k and size are not negative, its white and std above 0.")
        if self.top_k and self.threshold != 0.5:
            raise ConfigError("onnx's top_k and threshold exclude each other.", "Give one of them.")


class OnnxClassifier:
    """A ``records.Classifier`` over onnxruntime, one thread, deterministic.

    Raises: ModelError if a file is missing or does not fit the other; ConfigError if the preprocessing does not fit.
    """

    Options = OnnxOptions
    cached = True

    def __init__(self, name: str, options: OnnxOptions, device: str = "cpu") -> None:
        self.name = name
        self._options = options
        file = _existing(options.file, "model")
        labels = _existing(options.labels, "labels file")
        self.labels = _read_labels(labels)
        self.version = _digest([file, file.with_name(f"{file.name}.data"), labels])
        self._session = _session(file, device)
        self._input = self._session.get_inputs()[0]
        self._output = self._session.get_outputs()[0].name
        self._kind = _check_input(file, self._session.get_inputs())
        declared = self._input.shape[0]
        self._fixed = declared if isinstance(declared, int) else 0
        self.batch = self._fixed or 32
        self._size = options.size or _declared_size(self._input.shape, options)
        self._try_out()

    def ask(self, pictures: list[bytes]) -> list[object]:
        """Encoded pictures to one list of outputs each, before the activation.

        Raises: PhotoError if a picture cannot be decoded.
        """
        return list(self._run(batch_of(pictures, self._size)).tolist())

    def parse(self, raw: object) -> Answer:
        """Outputs to labels; an output that is no finite number fails the picture."""
        outputs = np.asarray(raw, np.float64)
        if not np.isfinite(outputs).all():
            return Answer("failed", (), "the model's output is not a finite number")
        scores = _ACTIVATIONS[self._options.activation](outputs)
        chosen = np.argsort(-scores, kind="stable")[: self._options.top_k or None]
        least = 0.0 if self._options.top_k else self._options.threshold
        return Answer("answered", tuple((self.labels[i], float(scores[i])) for i in chosen if scores[i] >= least))

    def _run(self, batch: ByteArray) -> NDArray[np.floating[Any]]:
        asked = len(batch)
        if self._fixed > asked:  # a model exported for one batch size takes no other
            batch = np.concatenate([batch, np.zeros((self._fixed - asked, *batch.shape[1:]), np.uint8)])
        options = self._options
        ordered = batch[..., ::-1] if options.channels == "bgr" else batch
        values = normalise(ordered, options.mean, options.std, white=options.white, layout=options.layout)
        if self._kind is np.uint8:
            values = np.rint(values)
        outputs = self._session.run([self._output], {self._input.name: values.astype(self._kind)})[0]
        return np.asarray(outputs).reshape(len(batch), -1)[:asked]

    def _try_out(self) -> None:
        """Ask about a gray picture, so that a misfit is found before any work."""
        file = self._options.file
        gray = np.full((1, self._size, self._size, 3), 128, np.uint8)
        try:
            outputs = self._run(gray)[0]
        except Exception as error:  # onnxruntime has many exception classes and no base of its own
            message = f"The model {file} does not take a picture of {self._size} pixels: {_first_line(error)}."
            raise ModelError(message, "Check its size and layout.") from None
        if len(outputs) != len(self.labels):
            raise ModelError(
                f"The model {file} has {len(outputs)} outputs, {self._options.labels} has {len(self.labels)} labels.",
                "The labels file holds one label a line, in the order of the outputs.",
            )
        if self._options.activation == "none" and not ((outputs >= -1e-6) & (outputs <= 1 + 1e-6)).all():
            message = f"The model {file} answers {outputs.min():.3g} to {outputs.max():.3g}, not in [0, 1]."
            raise ConfigError(message, "Give activation=sigmoid (independent labels) or softmax (one of many).")


# --- files ---


def _existing(path: Path, what: str) -> Path:
    path = path.expanduser()
    if not path.is_file():
        raise ModelError(f"There is no {what} at {path}.", "Paths are relative to the working folder.")
    return path


def _read_labels(path: Path) -> tuple[str, ...]:
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    except UnicodeDecodeError:
        raise ModelError(f"The labels file {path} is not UTF-8 text.") from None
    while lines and not lines[-1]:
        lines.pop()
    if not lines or not all(lines):
        raise ModelError(f"The labels file {path} is empty or has an empty line.", "It holds one label a line.")
    if len(set(lines)) < len(lines):
        double = next(line for line in lines if lines.count(line) > 1)
        raise ModelError(f"The labels file {path} holds {double!r} twice.", "Labels must differ.")
    return tuple(lines)


def _digest(files: list[Path]) -> str:
    """sha256 over the files that exist; ``.data`` is where exporters put the weights of a large model."""
    total = hashlib.sha256()
    for path in files:
        if path.is_file():
            with path.open("rb") as file:
                total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()


# --- the session ---


def _session(file: Path, device: str) -> Any:
    runtime = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.execution_mode = runtime.ExecutionMode.ORT_SEQUENTIAL
    options.use_deterministic_compute = True
    options.log_severity_level = 3  # errors; warnings about graph clean-up would drown the progress line
    providers: list[Any] = ["CPUExecutionProvider"]
    if device.startswith("cuda") and "CUDAExecutionProvider" in runtime.get_available_providers():
        index = int(device.partition(":")[2] or 0)
        providers.insert(0, ("CUDAExecutionProvider", {"device_id": index}))
    try:
        return runtime.InferenceSession(str(file), options, providers=providers)
    except Exception as error:  # onnxruntime has many exception classes and no base of its own
        raise ModelError(f"onnxruntime cannot load {file}: {_first_line(error)}.") from None


def _check_input(file: Path, inputs: list[Any]) -> type[np.generic]:
    if len(inputs) != 1 or len(inputs[0].shape) != 4 or inputs[0].type not in _KINDS:
        found = ", ".join(f"{each.name} {each.type} {each.shape}" for each in inputs)
        raise ModelError(f"The model {file} does not take one batch of pictures; it takes {found}.")
    return _KINDS[inputs[0].type]


def _declared_size(shape: list[Any], options: OnnxOptions) -> int:
    height, width = shape[2:] if options.layout == "nchw" else shape[1:3]
    if not isinstance(height, int) or not isinstance(width, int):
        raise ConfigError(f"The model {options.file} does not declare its picture size.", "Give size=PIXELS.")
    if height != width:
        message = f"The model {options.file} declares pictures of {width} by {height}."
        raise ConfigError(message, "Only squares can be asked about; check layout=nchw or nhwc.")
    return height


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


# --- scores ---


def _sigmoid(outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    return 0.5 * (1 + np.tanh(outputs / 2))  # no overflow at either end


def _softmax(outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    powers = np.exp(outputs - outputs.max())
    return np.asarray(powers / powers.sum())


def _bounded(outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores as they are, rounding errors at 0 and 1 taken off; anything further out is the client's to refuse."""
    near = (outputs > -1e-6) & (outputs < 1 + 1e-6)
    return np.where(near, np.clip(outputs, 0, 1), outputs)


_ACTIVATIONS = {"none": _bounded, "sigmoid": _sigmoid, "softmax": _softmax}
