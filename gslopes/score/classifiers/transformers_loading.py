"""Models of the transformers library from its hub or a folder: their options, their task, loading and version."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from gslopes.core.errors import ConfigError, ModelError
from gslopes.core.files import read_json
from gslopes.core.runtime import is_out_of_memory
from gslopes.score.classifiers.llm_prompt import check_repeats
from gslopes.score.classifiers.model_file import digest_of, first_words
from gslopes.score.classifiers.zero_shot import ZeroShotOptions
from gslopes.score.names import ARGUMENT

Task = Literal["auto", "classify", "zero-shot", "text"]
_TEXT = ("ForConditionalGeneration", "ForImageTextToText", "ForVision2Seq")
_ZERO_SHOT = ("CLIPModel", "ChineseCLIPModel", "AltCLIPModel", "SiglipModel", "Siglip2Model", "AlignModel")
_KINDS = (".json", ".safetensors", ".bin", ".jinja", ".txt", ".model")  # of a folder's files, in its version


@dataclass(frozen=True, kw_only=True)
class TransformersOptions(ZeroShotOptions):
    """A model by its name on the hub, or a folder that ``save_pretrained`` has written.

    model: the name or folder.  revision: of the hub's model; empty: the newest.
    task: ``classify``, ``zero-shot`` or ``text``; ``auto``: what a folder's config.json says, else ``classify``.
    top_k, threshold: not of ``text``.  labels, template: of ``zero-shot``.
    activation: ``auto``: sigmoid where the model says that its labels are independent (SigLIP's are), else softmax.
    prompt, scores, repeats, temperature, seed, max_tokens: of ``text``, as for ``llm:``.
    """

    model: str = field(metadata=ARGUMENT)
    revision: str = ""
    task: Task = "auto"
    prompt: str = "occupation"
    scores: Literal["auto", "logprobs", "repeats"] = "auto"
    repeats: int = 5
    temperature: float = 1.0
    seed: int = 0
    max_tokens: int = 200

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.repeats < 1 or self.max_tokens < 1 or self.temperature < 0 or self.seed < 0:
            raise ConfigError("repeats and max_tokens must be 1 or more, temperature and seed not negative.")
        check_repeats(self.scores, self.repeats, self.temperature)


def task_of(model: str) -> Task:
    """What a folder's config.json says that its model does; ``classify`` for anything else.

    >>> task_of("google/vit-base-patch16-224")
    'classify'
    """
    try:
        content = read_json(Path(model).expanduser() / "config.json")
        names = [str(name) for name in content.get("architectures") or ()]
    except (OSError, ValueError, AttributeError):
        return "classify"
    if any(name.endswith(_TEXT) for name in names):
        return "text"
    return "zero-shot" if any(name in _ZERO_SHOT for name in names) else "classify"


def loaded(model: str, kind: str, processor: str, *, revision: str = "", **more: Any) -> tuple[Any, Any]:
    """A model and its processor by the names of their Auto classes; of a folder without any network.

    more: for ``from_pretrained`` of the model.
    Raises: ModelError.
    """
    import transformers as library

    known: Any = library
    name, where = model, cast("dict[str, Any]", {"revision": revision} if revision else {})
    if Path(model).expanduser().is_dir():
        name, where = str(Path(model).expanduser()), {"local_files_only": True}
    try:
        made = getattr(known, kind).from_pretrained(name, **where, **more)
        return made.eval(), getattr(known, processor).from_pretrained(name, **where)
    except Exception as error:  # the hub's client and the readers have many
        if is_out_of_memory(error):
            raise
        hint = "Name a model of the hub for this task, or a folder that save_pretrained has written."
        raise ModelError(f"The model {model} cannot be loaded: {first_words(error)}.", hint) from None


def version_of(model: str, config: Any) -> str:
    """sha256 of a local folder's files, or the hub's commit."""
    folder = Path(model).expanduser()
    if not folder.is_dir():
        return str(getattr(config, "_commit_hash", "") or model)
    files = sorted(path for path in folder.iterdir() if path.suffix in _KINDS)
    names = hashlib.sha256("\0".join(path.name for path in files).encode()).hexdigest()
    return hashlib.sha256(f"{names}{digest_of(files)}".encode()).hexdigest()
