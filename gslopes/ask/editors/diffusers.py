"""``diffusers:FOLDER``: a pipeline of the diffusers library, saved in a folder, that edits a picture by a sentence.

    diffusers:FOLDER                                     follows instructions: InstructPix2Pix, FLUX Kontext, Qwen
    diffusers:FOLDER,steps=20,guidance=7                 with options that its call takes
    diffusers:FOLDER,strength=0.6                        paints anew from a noisy picture, or within a mask

A pipeline that needs a mask gets the ellipse that fills the aligned face, hair to chin. The folder is read without any
network and without running code in it. The noise of a picture is drawn from the seed, the draw and the picture alone:
the values of a sweep share it. On a CPU pictures are asked one by one, so that the batch moves no byte.
"""

import inspect
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from gslopes.ask.classifiers.torch_model import from_hub
from gslopes.ask.classifiers.transformers import digest_of_folder
from gslopes.ask.editors import Setting, Wished, kept
from gslopes.ask.pictures import decoded, png
from gslopes.core import (
    ConfigError,
    JsonObject,
    Refused,
    Traits,
    frozen,
    hexdigest,
    pick_device,
    read_json,
)

# An option to the parameter of a pipeline's call.
_PARAMETERS = {
    "steps": "num_inference_steps",
    "guidance": "guidance_scale",
    "image_guidance": "image_guidance_scale",
    "true_guidance": "true_cfg_scale",
    "strength": "strength",
    "negative": "negative_prompt",
}
_MULTIPLE = 16  # of which a pipeline's sides are, pixels
_SAVE = "Name what save_pretrained has written, with safetensors and without code."


@frozen
class DiffusersOptions:
    """A pipeline and how it is called; an option that is left out is the pipeline's own.

    folder: what ``save_pretrained`` has written.
    steps, guidance, image_guidance, true_guidance, strength: of its call, if it takes them.
    negative: what the picture should not show, in words.
    takes: the aligned face, or the whole photo.
    size: of the longer side that the pipeline sees, pixels, such as 1024 for FLUX.
    dtype: of the weights, such as ``bfloat16`` on a GPU.
    prompt: the sentences, see ``ask.editors.prompts``; empty: the attribute's own.
    batch: aligned faces in one call on a GPU.
    """

    folder: str
    steps: int | None = None
    guidance: float | None = None
    image_guidance: float | None = None
    true_guidance: float | None = None
    strength: float | None = None
    negative: str | None = None
    takes: Literal["chip", "photo"] = "chip"
    size: int = 512
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    prompt: str = ""
    batch: int = 1

    def __post_init__(self) -> None:
        if self.size < 1 or self.size % _MULTIPLE or self.batch < 1:
            raise ConfigError(f"The size is a multiple of {_MULTIPLE}, and the batch 1 or more.")


class DiffusersEditor(Wished):
    """A ``faces.edit.protocol.PictureEditor`` over a pipeline, and, ``at`` a wish, the ``records.Classifier`` of it.

    Its weights are loaded when it is prepared, or first asked.

    Raises: ModelError if the folder holds no pipeline; ConfigError if its call does not take a picture, or an option.
    """

    Options = DiffusersOptions
    traits = Traits(cached=True, prepares=True, pictures=True)
    words = True
    seeded = True

    def __init__(self, name: str, options: DiffusersOptions, setting: Setting) -> None:
        folder = Path(options.folder).expanduser()
        device = pick_device(setting.device)
        kind, release = _kind(folder)
        self._taken = inspect.signature(kind.__call__).parameters
        self._call = _settings(kind.__name__, self._taken, options)
        self._longest = options.size
        # shared with what ``at`` returns
        self._pipeline = cache(partial(_loaded, kind, folder, options.dtype, device, setting.trust))
        self.name = name
        self.version = f"{digest_of_folder(folder, folder.rglob('*'))} diffusers {release}"
        self.takes = options.takes
        self.prompt = options.prompt
        self.size = options.size if options.takes == "chip" else 0
        self.batch = options.batch
        # photos differ in size; to a pipeline called Plus several pictures are references for one; where prompts are
        # a list, what is negative would have to be one
        if device == "cpu" or not self.size or options.negative or "Plus" in kind.__name__:
            self.batch = 1

    def prepare(self) -> None:
        """Load the pipeline.  Raises: ModelError."""
        self._pipeline()

    def ask(self, pictures: list[bytes]) -> list[object]:
        """At most ``batch`` encoded pictures to a PNG of the same size each, as ``kept`` has it, or a Refused.

        Raises: PhotoError; what the pipeline raises.
        """
        import torch
        from PIL import Image, ImageDraw

        given = [Image.fromarray(pixels) for pixels in decoded(pictures)]
        size = given[0].size
        units = self._longest / max(size) / _MULTIPLE
        inner = [max(1, round(side * units)) * _MULTIPLE for side in size]
        mask = Image.new("L", inner)
        ImageDraw.Draw(mask).ellipse((0, 0, *inner), fill=255)
        columns: dict[str, list[Any]] = {
            "prompt": [self._wish.text] * len(given),
            "image": [picture.resize(inner, Image.Resampling.LANCZOS) for picture in given],
            "mask_image": [mask] * len(given),
            "generator": [torch.Generator().manual_seed(self._seed(data)) for data in pictures],
        }
        call = self._call | {"width": inner[0], "height": inner[1]}
        for name, column in columns.items():
            call[name] = column if len(given) > 1 else column[0]  # some pipelines take no lists
        with torch.inference_mode():
            output = self._pipeline()(**{name: call[name] for name in call if name in self._taken})
        replies: list[object] = []
        for picture in output.images:
            same = picture.convert("RGB").resize(size, Image.Resampling.LANCZOS)
            replies.append(kept(png(np.asarray(same)), self.version))
        for place, refused in enumerate(getattr(output, "nsfw_content_detected", None) or ()):
            if refused:
                replies[place] = Refused("the pipeline's safety checker refused it")
        return replies

    def _seed(self, picture: bytes) -> int:
        return int(hexdigest(f"{self._wish.seed} {self._wish.draw} {hexdigest(picture)}")[:8], 16)


# -- the pipeline ------------------------------------------------------------------------------------------------------


def _kind(folder: Path) -> tuple[Any, str]:
    """The class of a folder's pipeline, and the release of diffusers.  Raises: ModelError."""
    import diffusers

    with from_hub(f"The pipeline {folder}", _SAVE, asks=False):
        index = read_json(folder / "model_index.json")
        for part, value in index.items():
            if isinstance(value, list) and any(value):
                (folder / part).stat()  # without its tokenizer it would be loaded all the same
        return getattr(diffusers, index["_class_name"]), diffusers.__version__


def _settings(kind: str, taken: Any, options: DiffusersOptions) -> JsonObject:
    """Parameters of the call that the options set.  Raises: ConfigError if it does not take one."""
    chosen = [name for name in _PARAMETERS if getattr(options, name) is not None]
    for name in ("image", "prompt", *chosen):
        if _PARAMETERS.get(name, name) not in taken:
            has = ", ".join(one for one in _PARAMETERS if _PARAMETERS[one] in taken)
            raise ConfigError(
                f"The call of {kind} takes no {name}.",
                f"Name a pipeline that edits a picture by a sentence. Options of this one: {has}.",
            )
    if "mask_image" in taken and options.takes == "photo":
        raise ConfigError(f"{kind} paints within a mask of the aligned face.", "Give takes=chip.")
    return {_PARAMETERS[name]: getattr(options, name) for name in chosen}


def _loaded(kind: Any, folder: Path, dtype: str, device: str, trust: bool) -> Any:
    """The pipeline on its device.  Raises: ModelError."""
    import diffusers
    import torch

    diffusers.utils.logging.disable_progress_bar()
    diffusers.utils.logging.set_verbosity_error()
    where = {"local_files_only": True, "use_safetensors": not trust or None}
    with from_hub(f"The pipeline {folder}", _SAVE, asks=False):
        pipeline = kind.from_pretrained(str(folder), dtype=getattr(torch, dtype), **where)
    pipeline.set_progress_bar_config(disable=True)
    return pipeline.to(device)
