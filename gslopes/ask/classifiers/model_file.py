"""Models of the user's own: options, labels, preprocessing, what makes scores of their outputs; two kinds of file.

``onnx:FILE`` is a model in an ONNX file: ``onnx:model.onnx,labels=labels.txt,activation=softmax,top_k=5``.
``torchscript:FILE`` is a model that torch.jit saved, with a labels file and a preprocessing spec. For example
``torchscript:model.pt,labels=labels.txt,size=224,activation=softmax,top_k=5,std=0.229/0.224/0.225``. The program in the
file takes a batch of pictures and returns one row of outputs each. Such a file is a program, not only weights: it runs
with your rights, and only with ``--trust``. The same model as an ONNX file (``onnx``) needs no trust.
"""

import io
import math
import re
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np

from gslopes.ask.classifiers.catalogue import conversion
from gslopes.ask.names import Bounded, check_unit
from gslopes.ask.pictures import batch_of, normalise
from gslopes.core import (
    ClassifierError,
    ConfigError,
    ModelError,
    Names,
    Reason,
    Traits,
    UnknownName,
    UsageError,
    frozen,
    hexdigest,
    inside,
    read_named,
    read_text,
    sha256_of,
    show,
)
from gslopes.core.records import Answer, Array, ByteArray, Files, FloatArray, Raws

Labels = tuple[tuple[str, float], ...]
Three = tuple[float, float, float]
_LARGEST_PROGRAM = 16 << 30  # bytes of a file
SAME = 1e-6  # scores that differ by less are one answer


@frozen
class InputOptions:
    """What a model of the user's own is sent.

    size: side of the square input in pixels; 0: as the model declares.
    white: value of a white pixel before mean and std; 0: 255 if the model's input is whole numbers, else 1.
    mean, std: of the channels, in units of ``white``, in the order of ``channels``.
    """

    size: int = 0
    white: float = 0.0
    mean: Three = (0.0, 0.0, 0.0)
    std: Three = (1.0, 1.0, 1.0)
    channels: Literal["rgb", "bgr"] = "rgb"

    def __post_init__(self) -> None:
        if min(self.size, self.white) < 0 or min(self.std) <= 0:
            raise ConfigError("size and white must not be negative, and std must be above 0.")

    def values(
        self, batch: ByteArray, white: float = 0.0, layout: Literal["nchw", "nhwc"] = "nchw"
    ) -> FloatArray:
        """(B, H, W, 3) uint8 RGB to the input, float32.  white: if the options leave it open."""
        ordered = batch[..., ::-1] if self.channels == "bgr" else batch
        return normalise(
            ordered, self.mean, self.std, white=self.white or white or 1.0, layout=layout
        )


@frozen
class ModelOptions(InputOptions):
    """Fields of ``InputOptions``, and how the first output is read.

    threshold, top_k: which labels count as returned, see ``presence``.
    activation: what makes scores in [0, 1] of the outputs; ``none`` if the model does so itself.
    kind: ``number``: the outputs are numbers in any unit, such as an age, and all count as returned.
    unit: of such numbers, such as ``years``; pages name it.
    layout: order of the input's axes.
    """

    threshold: float | None = None
    top_k: int | None = None
    activation: Literal["none", "sigmoid", "softmax"] = "none"
    kind: Literal["score", "number"] = "score"
    unit: str = ""
    layout: Literal["nchw", "nhwc"] = "nchw"

    def __post_init__(self) -> None:
        InputOptions.__post_init__(self)
        check_presence(self)
        if self.kind == "number" and (self.activation != "none" or self.top_k or self.threshold):
            raise ConfigError(
                "A number has no activation, threshold or top_k.", "Leave them out, or kind=number."
            )
        check_unit(self.kind, self.unit)


@frozen
class ModelFileOptions(ModelOptions):
    """Fields of ``ModelOptions``.  file: the model.  labels: text file, one label a line, in the outputs' order."""

    file: Path = field(kw_only=True)
    labels: Path = field(kw_only=True)


@frozen
class OnnxOptions(ModelFileOptions):
    """Fields of ``ModelFileOptions``.  output: which one is read; empty: the only one that fits the labels."""

    output: str = ""


class OwnModel(ABC):
    """A ``records.Classifier`` over a model of the user's own; a subclass runs it.

    version: of the model and its labels.  labels: in the outputs' order.  what: the model, in messages.
    """

    batch = 32

    def __init__(
        self,
        name: str,
        version: str,
        labels: Sequence[str],
        options: ModelOptions,
        what: str,
    ) -> None:
        self.name = name
        self.version = version
        self.labels = tuple(labels)
        numbers = options.kind == "number"
        self.traits = Traits(cached=True, numbers=numbers, labels=self.labels, shows=True)
        self._options = options
        self._what = what
        self._presence = presence(options.top_k, options.threshold, options.activation)
        self._size = options.size
        self._white = options.white or 1.0
        self._kind = "float32"  # of the input

    def ask(self, pictures: Files) -> Raws:
        """Encoded pictures to one list of outputs each, before the activation.

        Raises: PhotoError if a picture cannot be decoded.
        """
        return list(self._outputs(batch_of(pictures, self._size)).tolist())

    def parse(self, raw: object) -> Answer:
        """Outputs to labels; an output that is not a finite number fails the picture."""
        outputs = np.asarray(raw, np.float64)
        if not np.isfinite(outputs).all():
            return Answer("failed", (), Reason.NOT_FINITE)
        if self.traits.numbers:
            return Answer("answered", tuple(zip(self.labels, outputs.tolist(), strict=True)))
        scores = ACTIVATIONS[self._options.activation](outputs)
        return Answer("answered", choose(self.labels, scores, *self._presence))

    def sent(self, picture: bytes) -> tuple[str, ByteArray]:
        """What the model is sent for an encoded picture: in words, and (S, S, 3) uint8 in the order of its channels."""
        batch = batch_of([picture], self._size)
        values = self._values(batch).astype(self._kind)
        channels = self._options.channels
        axis = "first" if self._options.layout == "nchw" else "last"
        words = f"{self._size} x {self._size} {self._kind}, {channels.upper()}, channels {axis}"
        words += f", {values.min():.3g} to {values.max():.3g}"
        return words, batch[0][..., :: -1 if channels == "bgr" else 1]

    @abstractmethod
    def _run(self, values: FloatArray) -> Array:
        """The model's outputs, (B, ...), for its input.  Raises: ClassifierError."""

    def _outputs(self, batch: ByteArray) -> Array:
        return self._run(self._values(batch)).reshape(len(batch), -1)

    def _values(self, batch: ByteArray) -> FloatArray:
        return self._options.values(batch, self._white, self._options.layout)

    def _try_out(self) -> None:
        """Ask about a gray picture, so that a misfit is found before any work.  Raises: ModelError, ConfigError."""
        try:
            outputs = self._outputs(np.full((1, self._size, self._size, 3), 128, np.uint8))[0]
        except ClassifierError as error:
            raise ModelError(
                f"The {self._what} does not take a picture of {self._size} pixels. {error.message}",
                "Check its size and layout.",
            ) from None
        if len(outputs) != len(self.labels):
            raise ModelError(
                f"The {self._what} has {len(outputs)} outputs and {len(self.labels)} labels.",
                "Write one label per line, in the order of the outputs.",
            )
        inside = ((outputs >= -1e-6) & (outputs <= 1 + 1e-6)).all()
        if not self.traits.numbers and self._options.activation == "none" and not inside:
            raise ConfigError(
                f"The {self._what} answers {outputs.min():.3g} to {outputs.max():.3g}, not in [0, 1].",
                "Give activation=sigmoid (independent labels) or softmax (one of many), or kind=number.",
            )


class ModelFile(OwnModel):
    """A model in a file.

    other_files: that belong to it.
    Raises: ModelError if a file is missing or does not fit the other; ConfigError if the preprocessing does not fit.
    """

    Options = ModelFileOptions

    def __init__(
        self, name: str, options: ModelFileOptions, other_files: Sequence[Path] = ()
    ) -> None:
        self._file = existing(options.file, "model")
        labels = existing(options.labels, "labels file")
        version = digest_of([self._file, *other_files, labels])
        super().__init__(name, version, read_labels(labels), options, f"model {options.file}")


def existing(path: Path | str, what: str) -> Path:
    """The file itself, ``~`` resolved.  Raises: ModelError if it is not there."""
    path = Path(path).expanduser()
    if not path.is_file():
        raise ModelError(
            f"There is no {what} at {path}.", "Paths are relative to the current folder."
        )
    return path


def read_labels(file: Path | str) -> Names:
    """One label a line, all different.  Raises: ModelError."""
    path = existing(file, "labels file")
    text = read_text(
        path, raises=ModelError, hint="Name a text file in UTF-8 with one label per line."
    )
    if re.fullmatch(r"\.(csv|json|tsv|ya?ml)", path.suffix):
        raise ModelError(
            f"The labels file {path} is {path.suffix[1:].upper()}.",
            "Write its labels into a text file, one per line, in the order of the outputs.",
        )
    lines = list(map(str.strip, text.rstrip().splitlines()))
    if not lines or not all(lines):
        raise ModelError(
            f"The labels file {path} is empty or has an empty line.", "Write one label per line."
        )
    ((double, count),) = Counter(lines).most_common(1)
    if count > 1:
        raise ModelError(f"The labels file {path} holds {double!r} twice.", "Labels must differ.")
    return tuple(lines)


def label_list(name: str) -> Names:
    """The labels of a shipped list, ``occupations`` or ``traits``, or of a file.  Raises: ModelError."""
    if name in ("occupations", "traits"):
        name = f"{Path(__file__).parents[1]}/labels/{name}.txt"
    return read_labels(name)


def digest_of(paths: Sequence[Path]) -> str:
    """sha256 over the files that exist, in their order."""
    digests = map(sha256_of, filter(Path.is_file, paths))
    return hexdigest(bytes.fromhex("".join(digests)))


def digest_of_texts(texts: Sequence[str]) -> str:
    """16 hex digits of the sha256 over texts in their order."""
    return hexdigest("\0".join(texts))[:16]


def first_words(error: Exception) -> str:
    """A library's words about an error, on one line of at most 200 characters."""
    # without where in its own source it went wrong
    where = r"(?s)\A(?:.*Traceback of TorchScript.*\n|\[ONNXRuntimeError\].*\) (?=[A-Z]))"
    text = re.sub(where, "", str(error).strip()) or type(error).__name__
    return " ".join(text.split())[:200].rstrip(".")


# --- scores ---


def _bounded(outputs: Array) -> Array:
    """Scores without rounding errors at 0 and 1; anything further out is the client's to refuse."""
    near = (outputs > -1e-6) & (outputs < 1 + 1e-6)
    return np.where(near, np.clip(outputs, 0, 1), outputs)


ACTIVATIONS: Mapping[str, Callable[[Array], Array]] = {
    "none": _bounded,
    "sigmoid": lambda outputs: 0.5 * (1 + np.tanh(outputs / 2)),  # no overflow at either end
    "softmax": lambda outputs: import_module("scipy.special").softmax(outputs),
}


def check_presence(options: Any) -> None:
    """Raises: ConfigError if an option is out of its bounds, or of ``top_k`` and ``threshold`` both are given."""
    Bounded.__post_init__(options)
    top_k = options.top_k
    threshold = options.threshold
    if top_k == 0 and threshold is None:
        raise ConfigError(
            "Presence is by rank or by threshold, and top_k is 0.",
            "Give top_k=5, or threshold=0.1.",
        )
    if top_k and threshold is not None:
        raise ConfigError("top_k and threshold cannot be combined.", "Give one of them.")


def presence(top_k: int | None, threshold: float | None, activation: str) -> tuple[float, int]:
    """Threshold and top_k of any model on this machine, from what was given.

    Given neither, the five highest labels of a softmax count as returned, whatever their scores (one of many), and of
    independent labels those whose score is at least 0.5.

    >>> presence(None, None, "softmax"), presence(None, None, "sigmoid"), presence(None, 0.3, "softmax")
    ((0.0, 5), (0.5, 0), (0.3, 0))
    """
    if top_k is None and threshold is None and activation == "softmax":
        return 0.0, 5
    if top_k:
        return 0.0, top_k
    return (0.5 if threshold is None else threshold), 0


def choose(labels: Sequence[str], scores: Array, threshold: float, top_k: int) -> Labels:
    """The labels that count as returned, highest score first.

    labels: L of them.  scores: (L,) in [0, 1].  threshold, top_k: as from ``presence``; 0: any score, any number.
    """
    chosen = np.argsort(-scores, kind="stable")[: top_k or None]
    return tuple((labels[i], float(scores[i])) for i in chosen if scores[i] >= threshold)


# -- TorchScript -------------------------------------------------------------------------------------------------------


class Program:
    """A loaded program, called as a function from (N, ...) float32 to its output as float32.

    file: what torch.jit.save wrote.  device: ``cpu`` or ``cuda[:N]``.  trust: whether the user lets it run.

    Raises: UsageError if it is not trusted; ModelError if it cannot be loaded; in a call ClassifierError if the program
        fails on this input.
    """

    def __init__(self, file: Path, device: str, *, trust: bool) -> None:
        import torch

        if not trust:
            raise UsageError(
                f"{show(file)} is a program: it runs with your rights, and may read and write your files.",
                "If you trust whoever made it, add --trust (trust=True in Python). An ONNX file needs no trust.",
            )
        self._file = file
        self._device = device
        data = read_named(file, _LARGEST_PROGRAM, raises=ModelError)
        try:
            with warnings.catch_warnings():  # torch.jit is deprecated; people's files remain
                warnings.simplefilter("ignore")
                self._program = torch.jit.load(io.BytesIO(data), map_location=device).eval()
        except Exception as error:  # a damaged or foreign file may fail in any way
            raise ModelError(
                f"{show(file)} cannot be loaded: {first_words(error)}.",
                "It is what torch.jit.save has written.",
            ) from None

    def __call__(self, batch: FloatArray) -> FloatArray:
        """(N, ...) float32 to the output, float32 of any shape."""
        import torch

        values = torch.from_numpy(
            np.array(batch, np.float32)
        )  # a copy: a program may write into it
        try:
            with torch.inference_mode():
                outputs = self._program(values.to(self._device))
                if not isinstance(outputs, torch.Tensor):
                    raise TypeError(f"it returns {type(outputs).__name__}, not one tensor")
                return np.asarray(outputs.float().cpu().numpy())
        except Exception as error:  # the program may do anything
            raise ClassifierError(
                f"The program in {show(self._file)} failed: {first_words(error)}."
            ) from None


class TorchScriptClassifier(ModelFile):
    """A ``records.Classifier`` over a TorchScript program, batched on the device.

    Raises: UsageError if it is not trusted; as ``ModelFile``.
    """

    def __init__(
        self, name: str, options: ModelFileOptions, device: str = "cpu", *, trust: bool = False
    ) -> None:
        if not options.size:
            raise ConfigError(
                "A TorchScript file does not declare its picture size.", "Give size=PIXELS."
            )
        super().__init__(name, options)
        self._program = Program(self._file, device, trust=trust)
        self._try_out()

    def _run(self, values: FloatArray) -> Array:
        outputs: Any = self._program(values)
        if not outputs.ndim or outputs.size % len(values):
            raise ClassifierError(
                f"The {self._what} answers {len(values)} pictures with shape {outputs.shape}."
            )
        return outputs


# -- ONNX --------------------------------------------------------------------------------------------------------------


_INPUTS = {
    "tensor(float)": "float32",
    "tensor(float16)": "float16",
    "tensor(double)": "float64",
    "tensor(uint8)": "uint8",  # of which black is 0 and white 255
}


class OnnxClassifier(ModelFile):
    """A ``records.Classifier`` over onnxruntime, one thread, deterministic.

    Raises: as ``ModelFile``; as ``output_of``.
    """

    Options = OnnxOptions

    def __init__(self, name: str, options: OnnxOptions, device: str = "cpu") -> None:
        super().__init__(name, options, external_files(existing(options.file, "model")))
        self._session = session(self._file, device)
        inputs = self._session.get_inputs()
        self._input = inputs[0]
        kind = self._input.type
        shape = self._input.shape
        self._output = output_of(self._session, options.output, self._file, self._fits)
        if len(inputs) != 1 or len(shape) != 4 or kind not in _INPUTS:
            inputs_of = ", ".join(f"{one.name} {one.type} {one.shape}" for one in inputs)
            raise ModelError(
                f"The model {self._file} does not take one batch of pictures; it takes {inputs_of}.",
                "Export it with one input, a batch of pictures.",
            )
        self._kind = _INPUTS[kind]
        if self._kind == "uint8":
            self._white = 255.0
            if options.white not in (0, 255) or any(options.mean) or options.std != (1.0, 1.0, 1.0):
                raise ConfigError(
                    f"The model {options.file} takes bytes, 0 to 255.",
                    "Leave white, mean and std out.",
                )
        declared = shape[0]
        self._fixed = declared if isinstance(declared, int) else 0
        self.batch = self._fixed or self.batch
        self._size = options.size or _declared_size(shape, options)
        self._try_out()

    def _fits(self, shape: Sequence[object]) -> bool:
        outputs = math.prod(side for side in shape[1:] if isinstance(side, int))
        return len(self.labels) == outputs or (len(shape) < 3 and not isinstance(shape[-1], int))

    def _outputs(self, batch: ByteArray) -> Array:
        count = len(batch)
        if self._fixed > count:  # a model exported for one batch size takes no other
            blanks = np.zeros((self._fixed - count, *batch.shape[1:]), np.uint8)
            batch = np.concatenate([batch, blanks])
        return super()._outputs(batch)[:count]

    def _run(self, values: FloatArray) -> Array:
        values = np.rint(values) if self._kind == "uint8" else values
        try:
            return np.asarray(
                self._session.run([self._output], {self._input.name: values.astype(self._kind)})[0]
            )
        except Exception as error:  # onnxruntime has many exception classes and no base of its own
            raise ClassifierError(f"{first_words(error)}.") from None


def external_files(file: Path) -> list[Path]:
    """The files in which a model keeps weights, as its graph names them, sorted; none if all are in the model itself.

    Raises: ModelError if one is missing or outside the model's folder.

    Source: ONNX, TensorProto.external_data.
    """
    onnx = import_module("onnx")
    try:
        model = onnx.load_model(str(file), load_external_data=False)
    except Exception:  # not ONNX at all: the session tells so
        return []
    paths = set()
    for location in _locations(model):
        path = file.parent / location
        if not inside(file.parent, path):
            raise ModelError(
                f"The model {file} names weights outside its own folder: {location}.",
                "Put the weights next to the model, and export it again.",
            )
        if not path.is_file():
            raise ModelError(
                f"The model {file} needs its weights in {location}, which is not there.",
                "Put the file next to the model.",
            )
        paths.add(path)
    return sorted(paths)


def _locations(message: Any) -> Iterator[str]:
    """Of every tensor's external data, wherever in the graph it is."""
    for part_of, value in message.ListFields():
        if part_of.name == "external_data":
            yield from (entry.value for entry in value if entry.key == "location")
        elif part_of.message_type is not None:
            for part in [value] if hasattr(value, "ListFields") else value:
                yield from _locations(part)


def session(file: Path, device: str) -> Any:
    """Onnxruntime's session of a model, one thread, deterministic.  Raises: ModelError."""
    runtime = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.execution_mode = runtime.ExecutionMode.ORT_SEQUENTIAL
    options.use_deterministic_compute = True
    # errors; warnings about graph clean-up would drown the progress line
    options.log_severity_level = 3
    providers: list[Any] = ["CPUExecutionProvider"]
    if device.startswith("cuda") and "CUDAExecutionProvider" in runtime.get_available_providers():
        index = int(device.partition(":")[2] or 0)
        providers.insert(0, ("CUDAExecutionProvider", {"device_id": index}))
    try:
        return runtime.InferenceSession(str(file), options, providers=providers)
    except Exception as error:  # onnxruntime has many exception classes and no base of its own
        hint = conversion(file) or "Check that it is a complete ONNX model."
        if re.search("max supported IR|is till opset", str(error)):
            hint = (
                "It is newer than onnxruntime: update that, or export the model for an older opset."
            )
        raise ModelError(f"onnxruntime cannot load {file}: {first_words(error)}.", hint) from None


def output_of(session: Any, name: str, file: Path, fits: Callable[[Sequence[object]], bool]) -> str:
    """The name of the output that is read: the one that is wanted, else the only one that fits.

    fits: whether a shape does, whose sides are numbers, or names if they may vary.
    Raises: UnknownName if no output has that name; ConfigError if it is not clear which one is meant.
    """
    outputs = session.get_outputs()
    shapes = {output.name: output.shape or ["?"] for output in outputs}
    if name and name not in shapes:
        raise UnknownName("output", name, shapes, f"The model {file}")
    fitting = [
        output.name for output in outputs if output.type in _INPUTS and fits(shapes[output.name])
    ]
    if not name and not fitting and any("map(" in output.type for output in outputs):
        raise ModelError(
            f"The model {file} answers with scores in a map, not in a tensor (ZipMap).",
            "Export it without: convert_sklearn(..., options={'zipmap': False}).",
        )
    names = [name] if name else fitting or list(shapes)
    if len(names) == 1:
        return names[0]
    what = "several outputs that fit" if fitting else "no output that fits"
    listing = ", ".join(f"{name} {'x'.join(map(str, shapes[name]))}" for name in names)
    raise ConfigError(
        f"The model {file} has {what}: {listing}.", f"Give output={names[0]}, or another one."
    )


def _declared_size(shape: list[Any], options: ModelFileOptions) -> int:
    height, width = shape[2:] if options.layout == "nchw" else shape[1:3]
    if not isinstance(height, int) or not isinstance(width, int):
        raise ConfigError(
            f"The model {options.file} does not declare its picture size.", "Give size=PIXELS."
        )
    if height != width:
        raise ConfigError(
            f"The model {options.file} declares pictures of {width} by {height}.",
            "Only squares can be asked about; check layout=nchw or nhwc.",
        )
    return height
