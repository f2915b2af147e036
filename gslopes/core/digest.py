"""A digest of a Python object: of all that its answers can depend on, as far as Python can tell.

Its state and its class; of a function its code, defaults, closure, and the globals that the code names. Arrays and
tensors count by their bytes, containers by what they hold, modules of torch by their state, other objects by what
they would be pickled as. Code counts by what it does: comments and line numbers do not. What is installed counts by
its name, a connection to a server by its address.

What has no digest, such as an open file or a session of a compiled library, raises ``NoDigest``: an object that holds
it cannot be distinguished from another one.
"""

import builtins
import copyreg
import dis
import functools
import hashlib
import logging
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec, resolve_name
from io import BytesIO
from pathlib import Path
from pickle import PickleBuffer
from types import CellType, CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any
from zipfile import ZipFile

from gslopes.core import LARGEST_TABLE, Facts, read_beside, read_regular

LIMIT = 2_000_000  # parts of an object, beyond which it has no digest

_PLAIN = (type(None), bool, int, float, complex, str, bytes, bytearray)
_MAPPINGS = (dict, MappingProxyType)
_WRAPPED: dict[type, tuple[str, ...]] = {  # what counts of each, where a pickle has none of it
    property: ("fget", "fset"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    functools.cached_property: ("func",),
    type(functools.lru_cache(len)): ("__wrapped__",),
}
_MANGLED = re.compile(
    rb"\.?___torch_mangle_\d+"
)  # what tells compiled classes of one process apart
_WITHOUT_EFFECT = (
    type(threading.Lock()),
    type(threading.RLock()),
    logging.Logger,
    logging.RootLogger,
)
_LISTED = read_beside(__file__, "digest.toml")


class NoDigest(Exception):
    """Something has no digest.  The message: by what name it was reached, and its type."""


def digest_of_object(thing: Any) -> str:
    """64 hex digits, equal in every process that has the same object and code.

    Raises: NoDigest, naming the first part that has none.

    >>> one, other = (functools.partial(pow, exp=number) for number in (2, 3))
    >>> digest_of_object(one) == digest_of_object(other)
    False
    """
    return _Digest().of(thing).hex()


class _Digest:
    """The digests of one object's parts."""

    def __init__(self) -> None:
        # by id; the part is kept, so that no other part gets its id
        self._done: dict[int, tuple[bytes, Any]] = {}
        self._open: dict[int, int] = {}  # the parts that this one is a part of
        self._trail: list[str] = []  # their names

    def of(self, thing: Any) -> bytes:
        """The digest of one part."""
        kind = type(thing)
        if kind in _PLAIN:
            return _hashed(kind.__name__, f"{thing:x}" if kind is int else repr(thing))
        number = id(thing)
        if number in self._done:
            return self._done[number][0]
        if number in self._open:
            return _hashed("above", str(self._open[number]))
        if len(self._done) >= LIMIT:
            raise NoDigest(f"it has more than {LIMIT:,} parts")
        self._open[number] = len(self._open)
        try:
            digest = self._of(thing)
        except RecursionError:
            raise NoDigest("its parts lie too deep in one another") from None
        finally:
            del self._open[number]
        self._done[number] = digest, thing
        return digest

    def _of(self, thing: Any) -> bytes:
        kind = type(thing)
        if kind in (list, tuple):
            return self._all(kind.__name__, thing)
        if kind in _MAPPINGS:
            return self._all(kind.__name__, (part for pair in thing.items() for part in pair))
        if kind in (set, frozenset):
            return _hashed(kind.__name__, *sorted(map(self.of, thing)))
        if kind in _WITHOUT_EFFECT:
            return _hashed(kind.__name__)
        for accepted, read in _READERS.items():
            if isinstance(thing, accepted):
                return read(self, thing)
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(thing, torch.Tensor):
            return self._tensor(thing)
        if torch is not None and isinstance(thing, torch.jit.ScriptModule):
            return self._script(thing)
        return self._object(thing)

    def _all(self, kind: str, parts: Iterable[Any]) -> bytes:
        return _hashed(kind, *map(self.of, parts))

    def _members(self, kind: str, members: Facts) -> bytes:
        """Named parts, in the order of their names."""
        digests = []
        for name in sorted(members):
            self._trail.append(name)
            digests += [_hashed("name", name), self.of(members[name])]
            self._trail.pop()
        return _hashed(kind, *digests)

    # -- objects ------------------------------------------------------------------------------------------------------

    def _object(self, thing: Any) -> bytes:
        """By what it would be pickled as."""
        kind = type(thing)
        name = f"{kind.__module__}.{kind.__qualname__}"
        top = kind.__module__.partition(".")[0]
        if top in _LISTED["connections"]:
            return _hashed("connection", name, str(getattr(thing, "base_url", "")))
        if top == "gslopes" and isinstance(getattr(thing, "version", None), str):
            return _hashed("model", name, str(getattr(thing, "name", "")), thing.version)
        reduce = copyreg.dispatch_table.get(kind)
        try:
            reduced = reduce(thing) if reduce else thing.__reduce_ex__(5)
        except Exception:  # each type has another error for what cannot be pickled
            where = f"its {self._trail[-1]} is" if self._trail else "it is"
            raise NoDigest(f"{where} of the type {name}, whose state cannot be read") from None
        if isinstance(reduced, str):
            return _hashed("global", str(getattr(thing, "__module__", "")), reduced)
        function, arguments, state, items, pairs = (*reduced, None, None, None)[:5]
        members = state if isinstance(state, dict) else {}
        named = members if all(isinstance(key, str) for key in members) else {}
        rest = None if named else state
        parts = [kind, function, arguments, rest, list(items or ()), list(pairs or ())]
        return _hashed("object", self._all(name, parts), self._members("state", named))

    def _tensor(self, tensor: Any) -> bytes:
        torch = sys.modules["torch"]
        about = f"{tensor.dtype} {tuple(tensor.shape)}"
        try:
            flat = tensor.detach().cpu().to_dense().contiguous().flatten()
            return _hashed(
                "tensor", about, flat.view(torch.uint8).numpy().data if flat.numel() else b""
            )
        except (RuntimeError, TypeError, NotImplementedError):
            raise NoDigest(f"a tensor of {tensor.dtype} cannot be read") from None

    def _script(self, module: Any) -> bytes:
        """A compiled module: its code, and what it is saved with."""
        codes = [str(getattr(part, "code", "")) for _, part in module.named_modules()]
        parts: list[Any] = [_MANGLED.sub(b"", code.encode()) for code in codes]
        with ZipFile(BytesIO(module.save_to_buffer())) as archive:
            for name in sorted(archive.namelist()):
                folder = Path(name).parts[1]
                if folder not in (
                    "code",
                    ".data",
                ):  # the order of a set, and a number that this order decides
                    parts += [name, _MANGLED.sub(b"", archive.read(name))]
        return _hashed("script", *parts)

    # -- code ---------------------------------------------------------------------------------------------------------

    def _function(self, function: FunctionType) -> bytes:
        """What it does, and what it finds outside of itself."""
        name = f"{function.__module__}.{function.__qualname__}"
        is_own = _is_own(function.__module__)
        if not is_own and "<locals>" not in name:
            return _hashed("installed", name)
        pairs = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        empty = CellType()
        cells = {variable: cell.cell_contents for variable, cell in pairs if cell != empty}
        rest = [self._code(function.__code__), self._globals(function)] if is_own else [name]
        return _hashed(
            "function",
            self._members("closure", cells),
            self._members("attributes", vars(function)),
            self._all("defaults", [function.__defaults__, function.__kwdefaults__]),
            *rest,
        )

    def _code(self, code: CodeType) -> bytes:
        return _hashed(
            "code",
            code.co_code,
            self._all("facts", [getattr(code, name) for name in _LISTED["of_code"]]),
        )

    def _globals(self, function: FunctionType) -> bytes:
        """What the code of a function names: values, and of the user's own modules what it names of them."""
        scope = function.__globals__
        codes = list(_codes(function.__code__))
        names = {name for code in codes for name in code.co_names}
        looked_up = {name: scope[name] for code in codes for name in _loaded(code) if name in scope}
        package = str(scope.get("__package__") or "")
        imported = {name for code in codes for name in _imported(code, package)}
        return _hashed(
            "scope", self._named_in(looked_up, names), *(_source(name) for name in sorted(imported))
        )

    def _named_in(self, values: Facts, names: Iterable[str]) -> bytes:
        """Values by name; of modules among them what ``names`` names of them."""
        modules = {name: value for name, value in values.items() if isinstance(value, ModuleType)}
        others = {name: value for name, value in values.items() if name not in modules}
        inner = [self._module(modules[name], names) for name in sorted(modules)]
        return _hashed("named", self._members("values", others), *inner)

    def _module(self, module: ModuleType, names: Iterable[str] = ()) -> bytes:
        """Of a module of the user's own what is named of it."""
        if not _is_own(module.__name__) or id(module) in self._open:
            return _hashed("module", module.__name__)
        self._open[id(module)] = len(self._open)
        named = {name: vars(module)[name] for name in names if name in vars(module)}
        digest = self._named_in(named, names)
        del self._open[id(module)]
        return _hashed(module.__name__, digest)

    def _class(self, kind: type) -> bytes:
        name = f"{kind.__module__}.{kind.__qualname__}"
        if not _is_own(kind.__module__):
            return _hashed("class", name)
        members = {
            key: value for key, value in vars(kind).items() if key not in _LISTED["of_no_class"]
        }
        return _hashed(
            "class", name, self._all("bases", kind.__bases__), self._members("members", members)
        )

    def _wrapper(self, wrapper: Any) -> bytes:
        kind = next(kind for kind in _WRAPPED if isinstance(wrapper, kind))
        return self._all(kind.__name__, [getattr(wrapper, name) for name in _WRAPPED[kind]])


# By type, the first that fits.
_READERS: dict[Any, Callable[[_Digest, Any], bytes]] = {
    type: _Digest._class,
    FunctionType: _Digest._function,
    CodeType: _Digest._code,
    ModuleType: _Digest._module,
    tuple(_WRAPPED): _Digest._wrapper,
    PickleBuffer: lambda digest, one: _hashed("buffer", one.raw()),
}


def _hashed(kind: str, *parts: Any) -> bytes:
    """sha256 over a kind and parts, texts or bytes, each with its length."""
    total = hashlib.sha256()
    for part in (kind, *parts):
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        total.update(f"{memoryview(data).nbytes} ".encode())
        total.update(data)
    return total.digest()


@functools.cache
def _is_own(module: str) -> bool:
    """Whether a module is the user's own code: neither installed, nor Python's, nor ours."""
    top = module.partition(".")[0]
    if module == "__main__":
        return True
    if top in sys.stdlib_module_names or top == "gslopes":
        return False
    file = getattr(sys.modules.get(module), "__file__", None) or getattr(
        sys.modules.get(top), "__file__", None
    )
    return file is None or not _is_installed(Path(file))


def _is_installed(file: Path) -> bool:
    return "site-packages" in file.parts or "dist-packages" in file.parts


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code, and the code of the functions and comprehensions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _loaded(code: CodeType) -> Iterator[str]:
    """The names that a code looks up outside of itself."""
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and not hasattr(builtins, str(step.argval)):
            yield str(step.argval)


def _imported(code: CodeType, package: str) -> Iterator[str]:
    """The full names of the modules that a code imports when it runs."""
    steps = list(dis.get_instructions(code))
    for index, step in enumerate(steps):
        if step.opname != "IMPORT_NAME":
            continue
        level = steps[index - 2].argval
        dots = "." * level if isinstance(level, int) else ""
        try:
            yield resolve_name(dots + str(step.argval), package)
        except ImportError:  # beyond the package: the code fails when it runs
            continue


def _source(module: str) -> bytes:
    """The source of a module that is imported when code runs, and may not be imported yet."""
    top = module.partition(".")[0]
    # looking for a part of a package runs the package
    file = top not in sys.stdlib_module_names and _own_file(top) and _own_file(module)
    if not file:
        return _hashed("installed", module)
    return _hashed("source", module, read_regular(file, LARGEST_TABLE))


def _own_file(module: str) -> Path | None:
    """The file of a module of the user's own; None if it is installed, compiled or not found."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError, AttributeError):
        return None
    file = Path(getattr(spec, "origin", None) or "")
    if file.suffix != ".py" or _is_installed(file):
        return None
    return file
