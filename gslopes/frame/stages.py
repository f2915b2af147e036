"""What an audit's stages read, make and depend on: what is no function of a ``Stage``, from its ``stages.toml``."""

from pathlib import Path

from gslopes.core import JsonObject, read_toml


def declared_stages(home: Path) -> dict[str, JsonObject]:
    """Name to the fields of ``frame.spec.Stage`` that are texts, numbers, flags or lists of texts.

    home: the folder of the audit.
    """
    declared = {}
    for name, facts in read_toml(home / "stages.toml").items():
        lists = {key: tuple(value) for key, value in facts.items() if isinstance(value, list)}
        declared[name] = {"name": name, **facts, **lists}
    return declared
