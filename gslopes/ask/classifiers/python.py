"""``python:module:function``, or ``FILE.py:function``: a callable of the user's own; FILE.py takes the only one in it.

    def smiles(image):
        return {"smile": float(model(image))}

It takes one picture, a list, or a batch: arrays (H, W, 3) of uint8 in RGB order, BGR if it is named ``bgr``, PIL
images, paths of copies, files' bytes, open files, texts in base64, tensors (3, H, W) or arrays of floats in [0, 1]: as
its first parameter is annotated (``np.ndarray``, ``Image.Image``, ``str``, ``bytes``, ``torch.Tensor``, ``list[...]``)
or named (``image``, ``images``, ``image_path`` …), else as the first pictures show. An ``async def`` is awaited, a
user's class instantiated, an estimator of scikit-learn asked for its ``predict_proba``. For each picture it returns a
mapping of label to score in [0, 1], or to a number in a unit; None if it will not judge it. A label, (label, score),
lists of them, labels beside scores, ``{"label": ..., "score": ...}`` records, objects with such fields, JSON, a
Series and a DataFrame of one row are read, too; mappings in a mapping are joined to labels, and percentages divided
by 100. A number or bool is labelled by the function's name, arrays and tensors by ``labels=FILE``; ``activation=``
makes scores of logits.

Answers are kept for later runs only if ``version=`` names the version of the function. Without it the
version is a digest of the module's source, of what it imports from its folder, and of the values that the function
names, so that a run folder never mixes the answers of two. If a value has no digest, nothing is kept.
"""

import ast
import asyncio
import functools
import inspect
import re
import sys
import weakref
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from textwrap import shorten
from types import ModuleType
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

from gslopes.ask.classifiers import calling
from gslopes.ask.classifiers.calling import Estimator
from gslopes.ask.classifiers.captions import CaptionReader
from gslopes.ask.classifiers.model_file import digest_of_texts, read_labels
from gslopes.ask.classifiers.picking import ranked
from gslopes.ask.classifiers.returned import Reader, split_replies
from gslopes.ask.names import Bounded
from gslopes.ask.pictures import decoded
from gslopes.core import (
    LARGEST_TABLE,
    ClassifierError,
    ConfigError,
    GslopesError,
    ModelError,
    Traits,
    UsageError,
    frozen,
    hexdigest,
    is_out_of_memory,
    read_regular,
    sha256_of,
    tell,
)
from gslopes.core.digest import NoDigest, digest_of_object
from gslopes.core.records import Answer, ByteArray, Files, Raws

# -- the classifier ----------------------------------------------------------------------------------------------------


@frozen
class PythonOptions(Bounded):
    """path: ``module:function``.  version: of the function, part of the cache's key; empty: a digest of its source.

    labels: a text file, one label a line, for a function that returns several numbers; empty: it names its labels.
    kind: ``caption``: it returns a text for each picture, see ``captions``.
    unit: of numbers beyond [0, 1], such as ``years``; pages name it.
    activation: what makes scores of its numbers, if they are logits.
    batch: pictures in one call.
    """

    path: str
    version: str = ""
    labels: str = ""
    kind: Literal["score", "caption"] = "score"
    unit: str = ""
    activation: Literal["none", "sigmoid", "softmax"] = "none"
    batch: int = 32


class FunctionClassifier(Reader):
    """A ``records.Classifier`` over a function; if it may take pictures in several forms, the first that it answers.

    Its version is a digest of its code and of what that depends on, or the one that is named. Answers are kept only
    in the run folder: a function may read files and ask servers. What has neither version keeps nothing.

    labels: of numbers that it returns without names; empty: a single number is labelled by the function's name.
    version: of the function; empty: a digest.
    notes: a sentence, if it takes another form than the likeliest.

    Raises: UsageError if it needs more arguments than pictures.
    """

    batch = 32
    _told = ""  # what else it is given, for messages
    _path = ""  # of a function by its name
    _parts: Any = None  # what its answers depend on, if not on the function alone
    _maker = "as_classifier"
    traits = Traits(numbers=True, warns=True, shows=True)

    def __init__(
        self,
        function: Any,
        labels: Sequence[str] = (),
        name: str = "",
        unit: str = "",
        version: str = "",
        activation: str = "none",
    ) -> None:
        inner = getattr(function, "func", function)  # of a functools.partial
        plain = name or getattr(inner, "__name__", type(inner).__name__)
        self._own = re.sub(r"[^\w-]", "-", plain).strip("-") or "function"
        self.name = f"{self._own}:unit={unit}" if unit else self._own
        own = function if isinstance(function, Estimator) else None
        self.notes = own.notes if own else []
        self._function = function
        self._labels = tuple(labels) or (own and own.labels) or (self._own,)
        self._unit = unit
        self._activation = activation
        self._captions: CaptionReader | None = None  # of a function of captions
        self._named_version = version
        self._names = f" labels {digest_of_texts(self._labels)}" if labels else ""
        self._names += f" {activation}" * (activation != "none")
        self.identify()
        # Only one once it answered. Copies, of one editor for each wish, share both.
        self._answered: set[calling.Form] = set()
        self._forms = calling.forms_of(self._of_pictures(), self._own)
        # One for all calls: the connections of a client belong to one. In a thread: notebooks have one running.
        self._loop = asyncio.new_event_loop()
        self._thread = ThreadPoolExecutor(1)
        weakref.finalize(self, self._loop.close)

    def identify(self) -> None:
        """Find the version again: what the function depends on may have changed since."""
        version = self._named_version
        if self._path:
            identity = identity_at(self._path, self._function, version)
        else:
            identity = identity_of(self._parts or self._function, self._own, version, self._maker)
        self.version = identity.version + self._names
        cached = self.traits.cached and not identity.unknown
        self.traits = replace(self.traits, unknown=identity.unknown, cached=cached)

    def ask(self, pictures: Files) -> Raws:
        """Encoded pictures to label and score each; an AnswerError for a reply that cannot be read.

        Raises: PhotoError if a picture cannot be decoded; ModelError, with the line, if the function fails before it
            ever answered, ClassifierError afterwards; ModelError if what it returns does not fit the pictures.
        """
        failures: dict[calling.Form, BaseException] = {}
        read = ""  # the kind of picture that it takes, for sure
        for form in self._forms:
            if read and (form[0] != read or form[1] in calling.SEVERAL):
                continue
            try:
                entries = self._called(form, pictures)
            except (Exception, SystemExit) as error:
                if is_out_of_memory(error) and len(pictures) > 1:
                    raise  # it is asked about fewer
                failures[form] = error
                if not calling.is_about_form(error):
                    break
                read = form[0] if isinstance(error, ModelError) else ""
            else:
                if failures:
                    expected = calling.spoken(self._forms[0])
                    self.notes.append(
                        f"{self._own} does not take {expected}: it is given {calling.spoken(form)}."
                    )
                self._forms[:] = [form]
                self._answered.add(form)
                return entries[: len(pictures)]
        raise self._failed(failures, pictures[0])

    def _failed(self, failures: dict[calling.Form, BaseException], picture: bytes) -> GslopesError:
        form, last = max(failures.items(), key=lambda pair: calling.reached(pair[1]))
        if isinstance(last, GslopesError):
            return last
        height, width = decoded([picture])[0].shape[:2]
        why = shorten(str(last), 300, placeholder=" …").rstrip(".")
        what = f"{type(last).__name__}: {why}".rstrip(": ")
        message = f"{self._own} failed: {what}{calling.user_line(last)}. "
        message += f"It was given {calling.spoken(form)}{self._told}, {width} x {height} pixels"
        everywhere = 1 < len(failures) == len(self._forms)
        message += "; it fails in every other form, too" * everywhere
        if self._answered and not is_out_of_memory(last):
            # some picture is odd: the others go on without it
            error: GslopesError = ClassifierError(f"{message}.")
        else:
            error = ModelError(f"{message}.", calling.advice(last, everywhere))
        error.__cause__ = last
        return error

    def _called(self, form: calling.Form, pictures: Sequence[bytes]) -> list[Any]:
        several = form[1] in calling.SEVERAL
        # what it returns for three shows whether it takes lists
        if several and {(form[0], "one"), (form[0], "alone")} & {*self._forms}:
            pictures = [*pictures, *[pictures[0]] * (3 - len(pictures))]
        with TemporaryDirectory() as folder:
            given = calling.in_form(pictures, form, folder)
            function = self._of_pictures()
            replies = []
            for one in given:
                reply = function(one)
                if inspect.isawaitable(reply) or hasattr(reply, "__aiter__"):
                    run = self._loop.run_until_complete
                    reply = self._thread.submit(run, _awaited(reply)).result()
                replies.append(reply)
            if several:
                share = len(pictures) // len(given)
                replies = [entry for reply in replies for entry in self._split(reply, share)]
            return self.read(replies)

    def sent(self, picture: bytes) -> tuple[str, ByteArray]:
        """What the function is given for an encoded picture: in words, and (H, W, 3) uint8 RGB."""
        (pixels,) = decoded([picture])
        height, width = pixels.shape[:2]
        told = calling.KINDS[self._forms[0][0]]["sent"]
        return f"the whole picture, {width} x {height}, {told}", pixels

    def _of_pictures(self) -> Any:
        """The function with nothing left to be given but pictures."""
        return self._function

    def _split(self, replies: Any, pictures: int) -> list[Any]:
        """What it returned for a list of pictures, cut into one entry for each.  Raises: ModelError."""
        return split_replies(replies, pictures, self._labels)

    def parse(self, raw: Any) -> Answer:
        """As ``answer_of``."""
        return answer_of(raw, self._captions)


async def _awaited(reply: Any) -> Any:
    if hasattr(reply, "__aiter__"):
        return [item async for item in reply]
    return await reply


class PythonClassifier(FunctionClassifier):
    """A function by its name.  Raises: UsageError if it cannot be imported, or needs more than pictures."""

    Options = PythonOptions

    def __init__(self, name: str, options: PythonOptions, device: str = "cpu") -> None:
        labels = read_labels(options.labels) if options.labels else ()
        self._path = options.path
        super().__init__(
            function_at(options.path),
            labels,
            unit=options.unit,
            version=options.version,
            activation=options.activation,
        )
        self.name = name
        self.traits = replace(self.traits, cached=bool(options.version))
        self.batch = options.batch
        if options.kind == "caption":
            self._labels = ()
            self._captions = CaptionReader(self)


def answer_of(raw: Any, captions: CaptionReader | None) -> Answer:
    """A mapping to its labels, highest score first; None is a refusal.

    captions: reads the text of a function of captions, which is the only key of a mapping, or the answer itself.
    """
    if captions:
        return captions.answer(list(raw) if isinstance(raw, dict) and len(raw) == 1 else [raw])
    if raw is None:
        return Answer("refused", (), "the function returned None")
    return Answer("answered", ranked(raw))


def function_at(path: str) -> Any:
    """What ``module:function`` or ``FILE.py:function`` names, or the only public function or class of a module.

    Raises: ConfigError if it names none; UsageError if it cannot be imported, with the user's line, or called.
    """
    module, _, name = path.partition(":")
    if not module:
        raise ConfigError(
            f"{path!r} is not module:function.", "Such as python:my_module:my_function."
        )
    file = Path(module).expanduser()
    is_file = file.suffix == ".py"
    folder = str(file.resolve().parent if is_file else Path.cwd())
    if folder not in sys.path:
        sys.path.append(folder)  # last: a file here hides no installed package
    try:
        named: Any = _imported_file(file) if is_file else import_module(module)
        for part in (name or _only_one(named, module)).split("."):
            named = getattr(named, part)
        named = calling.as_function(named)
    except ConfigError:
        raise
    except (Exception, SystemExit) as error:  # a user's module may fail in any way
        hint = "The module must be installed, or lie in the working folder; a class is made without arguments."
        why = f"{type(error).__name__}: {error}{calling.user_line(error)}"
        raise UsageError(f"{path} cannot be imported: {why}.", hint) from error
    if not callable(named):
        raise UsageError(
            f"{path} is not a function.",
            "It takes a picture and returns a mapping of label to score.",
        )
    return named


def _only_one(module: Any, file: str) -> str:
    """The name of the only public function or class that a module defines.  Raises: ConfigError."""
    candidates = {
        name: value
        for name, value in vars(module).items()
        if name[0] != "_"
        and getattr(value, "__module__", "") == module.__name__
        and callable(value)
    }
    named = calling.likeliest(candidates) if candidates else "classify"
    if len(candidates) == 1:
        return named
    raise ConfigError(
        f"{file} defines {', '.join(candidates) or 'no public function or class'}.",
        f"Name the one that is asked, such as {file}:{named}.",
    )


def _imported_file(file: Path) -> Any:
    """The module in a file, under its bare name.  Raises: ImportError; whatever the module raises."""
    if not file.is_file():
        raise ImportError(f"the file {file} is missing")
    name = file.stem
    if (loaded := sys.modules.get(name)) is not None:
        if Path(getattr(loaded, "__file__", None) or "").resolve() == file.resolve():
            return loaded
        raise ImportError(f"another module is named {name}: give the file another name")
    spec: Any = spec_from_file_location(name, file)
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


# -- which function answered: a digest of its code and of what that depends on, or a version that the user names -------

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
