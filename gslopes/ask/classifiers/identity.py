"""Which function answered: a digest of its code and of what that depends on, or a version that the user names."""

import ast
import functools
import sys
from pathlib import Path
from secrets import token_hex
from types import ModuleType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from gslopes.core import LARGEST_TABLE, UsageError, hexdigest, read_regular, sha256_of, tell
from gslopes.core.digest import NoDigest, digest_of_object

_SOURCES: WeakKeyDictionary[ModuleType, str] = (
    WeakKeyDictionary()
)  # digests, as modules were when first asked about


class Identity(NamedTuple):
    """version: what tells answers apart.  unknown: why nothing does, a sentence; empty if the version does."""

    version: str
    unknown: str = ""


def identity_of(
    function: Any, name: str, version: str = "", maker: str = "as_classifier", call: str = ""
) -> Identity:
    """Of an object.

    name: in messages.  version: that the user names; empty: a digest.
    maker, call: in messages, the function that is given a version, or the whole of how it is named.
    """
    if version:
        return Identity(version)
    try:
        return Identity(digest_of_object(function)[:16])
    except NoDigest as error:
        call = call or f'gslopes.{maker}({name}, version="1")'
        note = f"The answers of {name} are not kept between calls: {error}. To keep them, name a version: {call}."
        _tell_once(f"Warning: {note}")
        return Identity(f"not known {token_hex(4)}", note)


def identity_at(path: str, function: Any, version: str = "") -> Identity:
    """Of what ``module:function`` or ``FILE.py:function`` names: of its source as well.

    Raises: UsageError if the source has changed since it was imported.
    """
    file = path.partition(":")[0]
    module = Path(file).stem if file.endswith(".py") else file
    source = source_digest(module)
    if module in sys.modules and _SOURCES.setdefault(sys.modules[module], source) != source:
        raise UsageError(f"{file} has changed since Python imported it.", "Restart Python.")
    identity = identity_of(function, path, version, call=f"python:{path},version=1")
    if version or not source:
        return identity
    return identity._replace(version=f"source {source[:16]} {identity.version}")


_tell_once = functools.cache(tell)


def source_digest(module: str) -> str:
    """sha256 over the source of an imported module and of what it imports, directly or not, from its folder.

    A package's folder is the one in which its outermost package lies. Installed libraries, data files and weights do
    not belong to it.

    module: dotted name, as in ``sys.modules``.
    Returns: 64 hex digits; empty if the module has no source file (it is compiled, or built in).
    """
    file = getattr(sys.modules.get(module), "__file__", None)
    if not file or not file.endswith(".py"):
        return ""
    path = Path(file).resolve()
    depth = len(module.split(".")) - (0 if path.name == "__init__.py" else 1)
    root = path.parents[depth]
    sources: set[Path] = set()
    _add_imported(path, root, sources)
    lines = [
        f"{source.relative_to(root).as_posix()}\0{sha256_of(source)}\n"
        for source in sorted(sources)
    ]
    return hexdigest("".join(lines))


def _add_imported(path: Path, root: Path, found: set[Path]) -> None:
    """Add a file, and those below a root that importing it runs: of what it imports, and of the packages of that."""
    found.add(path)
    try:
        tree = ast.parse(read_regular(path, LARGEST_TABLE))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        level = getattr(node, "level", 0)
        base = getattr(node, "module", None)
        for alias in node.names:
            folder = path.parents[level - 1] if level else root
            for part in f"{base or ''}.{alias.name}".strip(".").split("."):
                folder = folder / part
                for file in (folder / "__init__.py", folder.with_name(f"{part}.py")):
                    real = file.resolve() if file.resolve().is_relative_to(root) else file
                    if file.is_file() and real not in found:
                        _add_imported(real, root, found)
