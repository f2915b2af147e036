"""Where the page's numbers come from: commands that make them again, how to cite, and the cards of the models."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from gslopes.faces.zoo import home
from gslopes.report import words

BIBTEX = """\
@inproceedings{joo2020gender,
  author    = {Joo, Jungseock and K{\\"a}rkk{\\"a}inen, Kimmo},
  title     = {Gender Slopes: Counterfactual Fairness for Computer Vision Models by Attribute Manipulation},
  booktitle = {Proceedings of the 2nd International Workshop on Fairness, Accountability, Transparency and Ethics
               in Multimedia (FATE/MM '20)},
  year      = {2020},
  doi       = {10.1145/3422841.3423533}
}

@inproceedings{lample2017fader,
  author    = {Lample, Guillaume and Zeghidour, Neil and Usunier, Nicolas and Bordes, Antoine and Denoyer, Ludovic
               and Ranzato, Marc'Aurelio},
  title     = {Fader Networks: Manipulating Images by Sliding Attributes},
  booktitle = {Advances in Neural Information Processing Systems 30},
  year      = {2017}
}"""

# Where an option's value stands in the configuration of run.json, and what it is if it was not given.
_OPTIONS = (
    (("edit", "steps"), "--steps", None),
    (("edit", "model"), "--editor", ""),
    (("find", "min_face"), "--min-face", 32),
    (("find", "landmarks"), "--landmarks", None),
    (("compose", "region"), "--region", "auto"),
    (("compose", "blend"), "--blend", "auto"),
    (("compose", "format"), "--format", "jpeg"),
    (("compose", "masks"), "--masks", None),
    (("compose", "skin_weights"), "--skin-weights", None),
    (("limit",), "--limit", None),
)


def citation(manifest: Mapping[str, Any]) -> str:
    """BibTeX of the method, of the editor's architecture, and of the program in the version that was used."""
    version = words.printable(manifest.get("gslopes", "")) or "unknown"
    software = (
        f"@software{{gslopes,\n  title   = {{gslopes}},\n  version = {{{version}}},\n  license = {{Apache-2.0}}\n}}"
    )
    return f"{BIBTEX}\n\n{software}"


def anonymous(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest without the names of folders and files on the machine: absolute paths, and where the photos lie."""
    config = manifest.get("config")
    photos = str(config.get("photos", "")) if isinstance(config, Mapping) else ""
    return {name: _hidden(value, photos) for name, value in manifest.items()}


def _hidden(value: Any, photos: str) -> Any:
    if isinstance(value, Mapping):
        return {name: _hidden(inner, photos) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_hidden(inner, photos) for inner in value]
    if not isinstance(value, str):
        return value
    if photos and value == photos:
        return "PHOTOS"
    return "FILE" if PurePath(value).is_absolute() or "\\" in value else value


def commands(manifest: Mapping[str, Any], p: float, slope: float) -> list[str]:
    """The commands that make the run again, from its own configuration; none if run.json does not say."""
    config = manifest.get("config")
    if not isinstance(config, Mapping) or not isinstance(config.get("edit"), Mapping):
        return []
    parts: list[str] = ["gslopes", "audit", str(config.get("photos", "PHOTOS"))]
    for attribute in _listed(config["edit"].get("attributes")):
        parts += ["--attribute", attribute]
    classifiers = manifest.get("classifiers")
    for classifier in classifiers if isinstance(classifiers, Mapping) else ():
        parts += ["--classifier", str(classifier)]
    ends = config["edit"].get("range")
    if isinstance(ends, list) and len(ends) == 2:
        parts += [f"--range={ends[0]},{ends[1]}"]
    for path, option, default in _OPTIONS:
        value = _at(config, path)
        if value not in (default, None):
            parts += [option, str(value)]
    if _at(config, ("compose", "placebo")) is False:
        parts.append("--no-placebo")
    if manifest.get("seed"):
        parts += ["--seed", str(manifest["seed"])]
    again = [shlex.join([words.printable(word) for word in [*parts, "--out", "RUN"]])]
    return [*again, f"gslopes report RUN --p {p:g} --slope {slope:g}"]


def cards(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(name, card as Markdown) of the run's models, where this installation has the very same weights."""
    models = manifest.get("models")
    found = []
    for name, facts in models.items() if isinstance(models, Mapping) else ():
        digest = str(facts.get("sha256", "")) if isinstance(facts, Mapping) else ""
        text = _card(str(name), digest)
        if text:
            found.append((words.printable(name), text))
    return found


def _card(name: str, digest: str) -> str:
    if not digest or not name.replace("-", "").isalnum():
        return ""
    folder, weights = home.find("models", name), home.find("weights", name)
    try:
        if folder is None or weights is None or digest not in (weights / "sha256").read_text(encoding="ascii"):
            return ""
        card = (folder / "card.md").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""
    return "\n".join(words.printable(line) for line in card.splitlines())


def _at(config: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = config
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _listed(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else []
