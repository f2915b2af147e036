"""``onnx:FILE``: a model of the user's own in an ONNX file, with a labels file and a preprocessing spec.

For example ``onnx:model.onnx,labels=labels.txt,activation=softmax,top_k=5,std=0.229/0.224/0.225``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gslopes.ask.classifiers.model_file import ModelFile, ModelFileOptions, existing, first_words
from gslopes.core.errors import ClassifierError, ConfigError, ModelError
from gslopes.core.files import inside
from gslopes.core.records import ByteArray

_KINDS: Mapping[str, type[np.generic]] = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(double)": np.float64,
    "tensor(uint8)": np.uint8,  # of which black is 0 and white 255
}


class OnnxClassifier(ModelFile):
    """A ``records.Classifier`` over onnxruntime, one thread, deterministic.

    Raises: as ``ModelFile``.
    """

    def __init__(self, name: str, options: ModelFileOptions, device: str = "cpu") -> None:
        super().__init__(name, options, external_files(existing(options.file, "model")))
        self._session = session(self._file, device)
        inputs = self._session.get_inputs()
        self._input = inputs[0]
        self._output = self._session.get_outputs()[0].name
        if len(inputs) != 1 or len(self._input.shape) != 4 or self._input.type not in _KINDS:
            found = ", ".join(f"{each.name} {each.type} {each.shape}" for each in inputs)
            message = f"The model {self._file} does not take one batch of pictures; it takes {found}."
            raise ModelError(message, "Export it with one input, a batch of pictures.")
        self._kind = _KINDS[self._input.type]
        if self._kind is np.uint8:
            self._white = 255.0
            if options.white not in (0, 255) or any(options.mean) or options.std != (1.0, 1.0, 1.0):
                message = f"The model {options.file} takes bytes, 0 to 255."
                raise ConfigError(message, "Leave white, mean and std out.")
        declared = self._input.shape[0]
        self._fixed = declared if isinstance(declared, int) else 0
        self.batch = self._fixed or self.batch
        self._size = options.size or _declared_size(self._input.shape, options)
        self._try_out()

    def _outputs(self, batch: ByteArray) -> NDArray[Any]:
        asked = len(batch)
        if self._fixed > asked:  # a model exported for one batch size takes no other
            batch = np.concatenate([batch, np.zeros((self._fixed - asked, *batch.shape[1:]), np.uint8)])
        return super()._outputs(batch)[:asked]

    def _run(self, values: NDArray[np.float32]) -> NDArray[Any]:
        values = np.rint(values) if issubclass(self._kind, np.integer) else values
        try:
            return np.asarray(self._session.run([self._output], {self._input.name: values.astype(self._kind)})[0])
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
    except Exception:  # no ONNX at all: the session says so, in its own words
        return []
    found = set()
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
        found.add(path)
    return sorted(found)


def _locations(message: Any) -> Iterator[str]:
    """Of every tensor's external data, wherever in the graph it is."""
    for field, value in message.ListFields():
        if field.name == "external_data":
            yield from (entry.value for entry in value if entry.key == "location")
        elif field.message_type is not None:
            for part in [value] if hasattr(value, "ListFields") else value:
                yield from _locations(part)


def session(file: Path, device: str) -> Any:
    """Onnxruntime's session of a model, one thread, deterministic.  Raises: ModelError."""
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
        message = f"onnxruntime cannot load {file}: {first_words(error)}."
        raise ModelError(message, "Check that it is a complete ONNX model.") from None


def _declared_size(shape: list[Any], options: ModelFileOptions) -> int:
    height, width = shape[2:] if options.layout == "nchw" else shape[1:3]
    if not isinstance(height, int) or not isinstance(width, int):
        raise ConfigError(f"The model {options.file} does not declare its picture size.", "Give size=PIXELS.")
    if height != width:
        message = f"The model {options.file} declares pictures of {width} by {height}."
        raise ConfigError(message, "Only squares can be asked about; check layout=nchw or nhwc.")
    return height
