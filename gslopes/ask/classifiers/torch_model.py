"""``torchvision:NAME`` and ``timm:NAME``: models of these libraries, with the libraries' preprocessing and labels.

For example ``torchvision:resnet50``, ``torchvision:vit_b_16,top_k=0,threshold=0.1``,
``timm:convnext_tiny.fb_in1k`` or ``timm:resnet18,weights=mine.safetensors,labels=labels.txt``.
"""

import io
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np

from gslopes.ask.classifiers.model_file import (
    ACTIVATIONS,
    check_presence,
    choose,
    digest_of,
    existing,
    first_words,
    presence,
    read_labels,
)
from gslopes.ask.pictures import decoded
from gslopes.core import (
    ConfigError,
    JsonObject,
    ModelError,
    Names,
    Traits,
    UnknownName,
    frozen,
    is_out_of_memory,
    read_named,
)
from gslopes.core.records import Answer, ByteArray, Files, Raws

BATCH = 32
_TRIED = 256  # pixels, side of the picture that a model is tried out with
SMALL = 1e-4  # labels below this score are kept only if they are among
FEW = 100  # the highest

_LARGEST = 64 << 30  # bytes of a file of weights
_WRAPPERS = ("state_dict", "model_state_dict", "model", "net")  # keys of training scripts
_PREFIXES = ("module.", "_orig_mod.", "model.")  # of DataParallel, torch.compile, Lightning
_HEADS = ("fc", "classifier", "head", "heads")  # what names of the last layer hold


Made = tuple[str, Any, Any, Sequence[str]]  # version, module, transform, labels


@frozen
class LibraryOptions:
    """A model of a library, by its name there.

    model: the name.
    weights: a file with a state dict (.safetensors, or .pth that holds only tensors); empty: the library's own, from
        its hub.
    labels: a text file, one label a line, in the order of the outputs; empty: the model's own.
    top_k, threshold: which labels count as returned, see ``model_file.presence``.
    activation: what makes scores of the outputs: ``softmax`` (one of many) or ``sigmoid`` (independent labels).
    """

    model: str
    weights: str = ""
    labels: str = ""
    top_k: int | None = None
    threshold: float | None = None
    activation: Literal["softmax", "sigmoid"] = "softmax"

    def __post_init__(self) -> None:
        check_presence(self)


class TorchModel(ABC):
    """A ``records.Classifier`` over a torch module, batched on the device.

    options: with ``top_k``, ``threshold`` and ``activation``, which makes scores of the outputs.
    """

    batch = BATCH
    _independent = (
        False  # whether labels are: then the activation ``auto`` is a sigmoid, else a softmax
    )

    def __init__(self, name: str, options: Any, device: str = "cpu") -> None:
        self.name = name
        self._device = device
        self.version, module, self._transform, labels = self._made(options)
        self.labels = unique(labels)
        self.traits = Traits(cached=True, labels=self.labels, prepares=True, shows=True)
        self._module = module.eval().to(device)
        activation = options.activation
        if activation == "auto":
            activation = "sigmoid" if self._independent else "softmax"
        self._presence = presence(options.top_k, options.threshold, activation)
        self._activation = ACTIVATIONS[activation]

    @abstractmethod
    def _made(self, options: Any) -> Made:
        """Version; (B, 3, H, W) to (B, L); a PIL picture to (3, H, W); L labels.  Raises: as the class says."""

    def prepare(self) -> None:
        """Ask about a gray picture.  Raises: ModelError if the outputs do not fit the labels."""
        self._logits([np.full((_TRIED, _TRIED, 3), 128, np.uint8)])

    def ask(self, pictures: Files) -> Raws:
        """Encoded pictures to [number of the label, score] pairs each, highest first.

        Raises: PhotoError if a picture cannot be decoded; ModelError if the outputs do not fit the labels.
        """
        return list(map(self._pairs, self._logits(decoded(pictures))))

    def sent(self, picture: bytes) -> tuple[str, ByteArray]:
        """What the module is sent for an encoded picture: in words, and (H, W, 3) uint8, its range stretched."""
        (values,) = self._inputs(decoded([picture]))
        values = np.asarray(values, np.float32)
        low = float(values.min())
        high = float(values.max())
        height, width = values.shape[1:]
        words = f"{width} x {height} float32, RGB before its preprocessing, channels first, {low:.3g} to {high:.3g}"
        stretched = (values - low) * (255 / max(high - low, 1e-9))
        return words, stretched.transpose(1, 2, 0).astype(np.uint8)

    def _inputs(self, pictures: Iterable[ByteArray]) -> list[Any]:
        from PIL import Image

        return [self._transform(Image.fromarray(pixels)) for pixels in pictures]

    def _logits(self, pictures: Sequence[ByteArray]) -> Any:
        import torch

        with torch.inference_mode():
            batch = torch.stack(self._inputs(pictures)).to(self._device)
            logits = self._forward(batch).double().cpu().numpy()
        if logits.shape != (len(pictures), len(self.labels)):
            raise ModelError(
                f"{self.name} has {logits.shape[-1]} outputs and {len(self.labels)} labels.",
                "Give labels=FILE, one label per line, in the order of the outputs.",
            )
        return logits

    def parse(self, raw: Any) -> Answer:
        """Pairs to the labels that count as returned."""
        numbers, scores = zip(*raw, strict=True)
        labels = [self.labels[number] for number in numbers]
        return Answer("answered", choose(labels, np.array(scores), *self._presence))

    def _forward(self, batch: Any) -> Any:
        return self._module(batch)

    def _pairs(self, logits: Any) -> list[list[float]]:
        scores = np.round(self._activation(logits), 7)
        order = np.argsort(-scores, kind="stable")
        threshold, top_k = self._presence
        count = max(FEW, top_k, int((scores >= min(SMALL, threshold or SMALL)).sum()))
        return [[int(number), float(scores[number])] for number in order[:count]]


def labels_of(options: LibraryOptions, of_model: Sequence[str]) -> Names:
    """From the user's file, else the model's own.  Raises: ConfigError if both lack."""
    if options.labels:
        return read_labels(options.labels)
    if not of_model:
        raise ConfigError(
            f"The labels of {options.model} are not known.",
            "Give labels=FILE with one label per line.",
        )
    return tuple(of_model)


def unique(labels: Sequence[str]) -> Names:
    """Labels that occur twice get their number: ImageNet has two cranes.

    >>> unique(["crane", "owl", "crane"])
    ('crane', 'owl', 'crane (2)')
    """
    counts: Counter[str] = Counter()
    named = []
    for label in labels:
        counts[label] += 1
        named.append(label if counts[label] == 1 else f"{label} ({counts[label]})")
    return tuple(named)


# -- torchvision and timm ----------------------------------------------------------------------------------------------


class TorchvisionClassifier(TorchModel):
    """A ``records.Classifier`` over one of ``torchvision.models``.

    Raises: UnknownName if torchvision has no such classifier; ModelError if its weights cannot be had.
    """

    Options = LibraryOptions

    def _made(self, options: LibraryOptions) -> Made:
        from torchvision import models

        model = options.model
        names = models.list_models(module=models)
        if model not in names:
            raise UnknownName("classifier in torchvision", model, names)
        pretrained = models.get_model_weights(model).DEFAULT
        labels = labels_of(options, pretrained.meta["categories"])
        if options.weights:
            with warnings.catch_warnings():  # two networks warn of how they draw weights
                warnings.simplefilter("ignore")
                module = models.get_model(model, weights=None, num_classes=len(labels))
            version = load_weights(module, options.weights)
        else:
            try:
                module = models.get_model(model, weights=pretrained)
            except OSError as error:
                raise ModelError(
                    f"The weights of {model} cannot be downloaded: {error}.",
                    f"Download {pretrained.url} elsewhere and give weights=FILE.",
                ) from None
            version = str(pretrained.url).rpartition("/")[2]
        return version, module, pretrained.transforms(), labels


class TimmClassifier(TorchModel):
    """A ``records.Classifier`` over a model of timm.

    Raises: UnknownName if timm has no such model; ModelError if its weights cannot be had.
    """

    Options = LibraryOptions

    def _made(self, options: LibraryOptions) -> Made:
        model = options.model
        timm: Any = import_module("timm")
        if not timm.is_model(model):
            raise UnknownName("model in timm", model, timm.list_models())
        if options.weights:
            count = {"num_classes": len(labels_of(options, ()))} if options.labels else {}
            module = timm.create_model(model, **count)
            version = load_weights(module, options.weights)
        else:
            with from_hub(
                f"The weights of {model}",
                "Connect once, or give weights=FILE, copied from elsewhere.",
            ):
                module = timm.create_model(model, pretrained=True)
            version = str(module.pretrained_cfg.get("hf_hub_id") or model)
        data: Any = import_module("timm.data")
        own = []
        if subset := data.infer_imagenet_subset(module):
            info = data.ImageNetInfo(subset)
            own = list(map(info.index_to_description, range(info.num_classes())))
        transform = data.create_transform(
            **data.resolve_model_data_config(module), is_training=False
        )
        return version, module, transform, labels_of(options, own)


@contextmanager
def from_hub(what: str, hint: str, asks: bool = True) -> Iterator[None]:
    """Load from the hub; if it cannot be reached, without delay from what its client keeps.

    asks: whether the hub is asked; not for a folder.  Raises: ModelError.
    """
    from huggingface_hub import constants, get_session

    before = constants.HF_HUB_OFFLINE
    try:
        _ = asks and get_session().head(constants.ENDPOINT, timeout=10)
    except Exception:  # of the client's library, whose retries take a minute, and a line each
        constants.HF_HUB_OFFLINE = True
    try:
        yield
    except Exception as error:  # the client and the readers have many
        if is_out_of_memory(error):
            raise
        why = first_words(error)
        if asks and constants.HF_HUB_OFFLINE:
            why = f"{constants.ENDPOINT} cannot be reached, and no whole copy is here"
            hint = f"Connect once. Or: {hint}"
        raise ModelError(f"{what} cannot be loaded: {why}.", hint) from None
    finally:
        constants.HF_HUB_OFFLINE = before


# -- a state dict in a file -------------------------------------------------------------------------------------------


def load_weights(module: Any, file: Path | str) -> str:
    """Put the state dict of a file into a module; returns the file's sha256.

    Raises: ModelError if it is missing, holds no state dict, or does not fit.
    """
    file = existing(file, "weights file")
    state = read_state(file)
    expected = module.state_dict()
    misfits = [key for key in expected if key in state and state[key].shape != expected[key].shape]
    heads = [key for key in misfits if {*_HEADS} & {*key.split(".")} and len(expected[key].shape)]
    if misfits and misfits == heads and set(state) == set(expected):
        classes, labels = (int(weights[heads[0]].shape[0]) for weights in (state, expected))
        raise ModelError(
            f"The weights {file} have {classes:,} classes, and there are {labels:,} labels.",
            f"Give labels=FILE with {classes:,} lines, one label a line, in the order of the outputs.",
        )
    try:
        module.load_state_dict(state)
    except Exception as error:  # of many kinds
        raise ModelError(
            f"The weights {file} do not fit the model: {first_words(error)}.",
            "Check the model's name.",
        ) from None
    return digest_of([file])


def read_state(file: Path) -> JsonObject:
    """The state dict in a file, out of its wrappers and without the prefixes of all its keys.

    Raises: ModelError if the file has none; a file that would have to run code is not read.
    """
    import torch
    from safetensors.torch import load

    data = read_named(file, _LARGEST, raises=ModelError)
    try:
        state: Any
        if file.suffix == ".safetensors":
            state = load(data)
        else:
            state = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except Exception as error:  # unpicklers and readers raise many kinds
        hint = "Check the file."
        why = f"The weights {file} do not fit the model: {first_words(error)}."
        if data[:2] == b"PK" and b"constants.pkl" in data:
            why = f"{file} is a TorchScript program, not weights."
            hint = f"Give torchscript:{file},labels=FILE,size=PIXELS."
        elif "weights_only" in str(error) or "Unsupported" in str(error):
            why = f"The weights {file} do not fit the model: it holds a whole Python object, which would run code."
            hint = "Save its weights alone: torch.save(model.state_dict(), FILE)."
        raise ModelError(why, hint) from None
    for key in _WRAPPERS:
        if isinstance(state, Mapping) and isinstance(state.get(key), Mapping):
            state = state[key]
    arrays = isinstance(state, Mapping) and any(hasattr(value, "shape") for value in state.values())
    if not arrays:
        raise ModelError(
            f"The weights {file} do not fit the model: {file.name} holds no state dict.",
            "Save model.state_dict() with torch.save, or as .safetensors.",
        )
    state = {str(key): value for key, value in state.items()}
    for prefix in _PREFIXES:
        if all(key.startswith(prefix) for key in state):
            state = {key.removeprefix(prefix): value for key, value in state.items()}
    return state
