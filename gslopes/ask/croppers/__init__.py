"""Croppers by name: saliency models, and whatever answers a picture with a rectangle."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from gslopes.ask.croppers.records import Cropper, Saliency
from gslopes.ask.trust import Trust
from gslopes.core.errors import ConfigError, UsageError
from gslopes.core.records import Finder
from gslopes.core.registry import Registry

_HOME = "gslopes.ask.croppers"
REGISTRY = Registry(
    "cropper",
    {
        "spectral-residual": f"{_HOME}.opencv:SpectralResidual",
        "fine-grained": f"{_HOME}.opencv:FineGrained",
        "fastgaze": f"{_HOME}.model_file:FastGaze",
        "onnx": f"{_HOME}.model_file:Onnx",
        "torchscript": f"{_HOME}.model_file:TorchScript",
        "python": f"{_HOME}.python:load",
        "faces": f"{_HOME}.simple:Faces",
        "centre": f"{_HOME}.simple:Centre",
        "random": f"{_HOME}.simple:Random",
        "smartcrop": f"{_HOME}.packages:SmartCrop",
        "vips-attention": f"{_HOME}.packages:VipsAttention",
        "vips-entropy": f"{_HOME}.packages:VipsEntropy",
        "replay": f"{_HOME}.replay:Replay",
        "http": f"{_HOME}.http:Http",
        "https": f"{_HOME}.http:Http",
    },
    "gslopes.croppers",
)


@dataclass(frozen=True, slots=True)
class Request:
    """What a cropper is made from.

    name: the whole text, as given.  argument: what stands after the first colon, such as a path.
    options: key=value pairs.  finder: finds faces, for croppers that need them.  device: as torch names it.
    seed: of croppers that draw at random.  trust: which files that are programs may run.
    """

    name: str
    argument: str
    options: dict[str, str]
    finder: Finder | None = None
    device: str = "cpu"
    seed: int = 0
    trust: Trust = field(default_factory=Trust)

    def only(self, *known: str) -> dict[str, str]:
        """The options.  Raises: ConfigError for one that is not known."""
        for key in self.options:
            if key not in known:
                hint = f"It takes {', '.join(known)}." if known else "It takes no options."
                raise ConfigError(f"The cropper {self.name!r} has no option {key!r}.", hint)
        return self.options

    def path(self) -> str:
        """The argument.  Raises: ConfigError if there is none."""
        if not self.argument:
            raise ConfigError(f"The cropper {self.name!r} needs a file.", f"Write {self.name.split(':')[0]}:PATH.")
        return self.argument

    def choice(self, key: str, *known: str) -> str:
        """An option that is one of these words, by default the first.  Raises: ConfigError."""
        word = self.options.get(key, known[0])
        if word not in known:
            raise ConfigError(f"{key} of {self.name!r} is {word!r}.", f"It is {', '.join(known[:-1])} or {known[-1]}.")
        return word

    def flag(self, key: str) -> bool:
        """Whether an option says yes."""
        return self.options.get(key, "no").lower() in ("yes", "true", "1")

    def number(self, key: str, default: float) -> float:
        """An option as a number.  Raises: ConfigError."""
        text = self.options.get(key)
        try:
            return default if text is None else float(text)
        except ValueError:
            raise ConfigError(f"{key} of the cropper {self.name!r} is {text!r}, which is no number.") from None


def parse(text: str) -> tuple[str, str, dict[str, str]]:
    """``NAME[:ARGUMENT][,key=value...]`` as its parts.

    Raises: ConfigError for an option without a value.

    >>> parse("onnx:model.onnx,size=320")
    ('onnx', 'model.onnx', {'size': '320'})
    """
    head, *items = text.split(",")
    name, _, argument = head.partition(":")
    options = {}
    for item in items:
        key, equals, value = item.partition("=")
        if not equals or not value:
            raise ConfigError(f"{item!r} in the cropper {text!r} is not key=value.", "Such as fastgaze:PATH,means=bgr.")
        options[key.strip()] = value.strip()
    return name.strip(), argument.strip(), options


def load_cropper(
    text: str, *, finder: Finder | None = None, device: str = "cpu", seed: int = 0, trust: Trust | None = None
) -> Saliency | Cropper:
    """A cropper ready to be asked; all that can be wrong with it is found here.

    text: see ``parse``.  finder: for ``faces``.  trust: which files that are programs (``torchscript:FILE``) may run;
        the user is asked without it.

    Raises: UnknownName, ConfigError, UsageError (its package is not installed), ModelError (its file).

    >>> load_cropper("centre").name
    'centre'
    """
    name, argument, options = parse(text)
    factory = REGISTRY.find(name).load()
    if not callable(factory):
        raise UsageError(f"The cropper {name!r} is no class or function.", "Let its entry point name one.")
    made = cast(Any, factory)(Request(text, argument, options, finder, device, seed, trust or Trust()))
    return cast("Saliency | Cropper", made)


def is_remote(cropper: Saliency | Cropper) -> bool:
    """Whether it is asked over a network, by ``ask.croppers.remote`` alone."""
    return hasattr(cropper, "at")


def has_map(cropper: Saliency | Cropper) -> bool:
    """Whether it gives saliency maps, and not rectangles alone."""
    return hasattr(cropper, "maps")
