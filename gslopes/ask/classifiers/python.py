"""``python:module:function``, or ``python:FILE.py:function``: a callable of the user's own.

The function takes a list of pictures, (H, W, 3) uint8 RGB arrays of any sizes, and returns one entry each: a mapping of
label to score in [0, 1], or None if it will not judge the picture. With a first parameter called ``picture``, ``image``
or the like it takes one at a time. An entry may also be a label, (label, score) pairs, ``{"label": ..., "score": ...}``
records, or, where its labels are known, numbers in their order. Arrays and tensors, (N, L), are read as rows; a mapping
of label to N scores as columns. The module may also lie in the working folder.

    def moods(pictures):
        return [{"bright": float(picture.mean() / 255)} for picture in pictures]

Answers are kept for later runs only if ``version=`` says which version of the function gives them. Without it the
version is a digest of the module's source and of what it imports from its own folder, so that a run folder never mixes
the answers of two.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CellType, CodeType, FunctionType
from typing import Any, ClassVar, Literal, cast

from gslopes.ask.classifiers.captions import CaptionReader
from gslopes.ask.classifiers.model_file import digest_of, digest_of_texts, existing, read_labels
from gslopes.ask.names import ARGUMENT, OPERATIONAL
from gslopes.ask.pictures import decoded
from gslopes.core.errors import AnswerError, ClassifierError, ConfigError, GslopesError, ModelError, UsageError
from gslopes.core.files import LARGEST_TABLE, read_regular, sha256_of
from gslopes.core.records import Answer

# -- what a function may take and return -------------------------------------------------------------------------------


Scores = dict[str, float]

_ONE = frozenset({"picture", "photo", "image", "img", "face", "array", "pixels", "im", "pic"})
RETURN = "Return one mapping of label to score for each picture, such as [{'smile': 0.8}, {'smile': 0.1}]."


class FunctionCaller:
    """Calls a function with pictures: one by one if its first parameter is called so (``picture``, ``image`` …).

    function: takes (H, W, 3) uint8 RGB arrays.  labels: of numbers that it returns without names; empty if it names
        them.
    """

    def __init__(self, function: Callable[..., Any], labels: Sequence[str] = ()) -> None:
        self._function = function
        self._labels = tuple(labels)
        self._one_by_one = takes_one(function)

    def __call__(self, pictures: list[Any]) -> list[Scores | AnswerError | None]:
        """One entry a picture; an AnswerError where a reply cannot be read.

        Raises: ModelError if what it returns does not fit the pictures; whatever the function raises.
        """
        if self._one_by_one:
            entries = [self._function(picture) for picture in pictures]
        else:
            entries = split_replies(self._function(pictures), len(pictures), self._labels)
        answers: list[Scores | AnswerError | None] = []
        for entry in entries:
            try:
                answers.append(read_entry(entry, self._labels))
            except AnswerError as error:
                answers.append(error)
        return answers


def takes_one(function: Callable[..., Any]) -> bool:
    """Whether a function takes one picture, by the name of its first parameter.

    >>> takes_one(lambda picture: {}), takes_one(lambda pictures: []), takes_one(lambda x: x)
    (True, False, False)
    """
    try:
        return next(iter(inspect.signature(function).parameters), "").lower() in _ONE
    except (TypeError, ValueError):
        return False


def split_replies(replies: Any, pictures: int, labels: Sequence[str]) -> list[Any]:
    """What was returned for a list of pictures, cut into an entry for each.  Raises: ModelError if it does not fit."""
    if replies is None:
        raise ModelError("The function returned None: it may lack its return.", RETURN)
    if isinstance(replies, Mapping):
        columns = {label: _plain(scores) for label, scores in replies.items()}
        if columns and all(isinstance(column, list) and len(column) == pictures for column in columns.values()):
            return [{label: column[i] for label, column in columns.items()} for i in range(pictures)]
        if pictures == 1:
            return [replies]
        raise ModelError(
            f"The function returned one mapping for {pictures} pictures.",
            f"{RETURN} A function of one picture names its parameter picture.",
        )
    plain = _plain(replies)
    if isinstance(plain, (str, int, float)):
        raise ModelError(f"The function returned {plain!r} for {pictures} pictures.", RETURN)
    entries = list(plain)
    if pictures == 1 and len(labels) == len(entries) > 1 and all(isinstance(entry, (int, float)) for entry in entries):
        return [entries]
    if len(entries) != pictures:
        answers = "one answer" if len(entries) == 1 else f"{len(entries):,} answers"
        asked = "one picture" if pictures == 1 else f"{pictures:,} pictures"
        raise ModelError(f"The function returned {answers} for {asked}.", f"{RETURN} In the order of the pictures.")
    return entries


def read_entry(entry: Any, labels: Sequence[str] = ()) -> Scores | None:
    """Label to score of what was returned for one picture; None is a refusal.  Raises: AnswerError.

    >>> read_entry([{"label": "cat", "score": 0.9}]), read_entry("cat"), read_entry([0.2, 0.8], ["cat", "dog"])
    ({'cat': 0.9}, {'cat': 1.0}, {'cat': 0.2, 'dog': 0.8})
    """
    if entry is None:
        return None
    if isinstance(entry, Mapping) and set(entry) == {"label", "score"}:
        entry = [entry]
    if isinstance(entry, Mapping):
        return {str(label): _number(label, score) for label, score in entry.items()}
    entry = _plain(entry)
    if isinstance(entry, str):
        return {entry: 1.0}
    items = entry if isinstance(entry, list) else [entry]
    if items and all(isinstance(item, Mapping) and {"label", "score"} <= set(item) for item in items):
        return {str(item["label"]): _number(item["label"], item["score"]) for item in items}
    if items and all(isinstance(item, str) for item in items):
        return dict.fromkeys(items, 1.0)
    if items and all(isinstance(item, (list, tuple)) and len(item) == 2 and isinstance(item[0], str) for item in items):
        return {label: _number(label, score) for label, score in items}
    if len(items) == 1 and isinstance(items[0], (list, Mapping)):
        return read_entry(items[0], labels)
    if not all(isinstance(item, (int, float)) for item in items):
        kind = type(items[0]).__name__ if len(items) == 1 else f"a list of {type(items[0]).__name__}"
        raise AnswerError(f"The function returned {kind} for a picture, not a mapping of label to score.")
    count = "a number" if len(items) == 1 else f"{len(items)} numbers"
    if not labels:
        raise AnswerError(
            f"The function returned {count} for a picture, and no labels: return a mapping such as {{'smile': 0.8}}, "
            "or give labels=FILE, in Python gslopes.as_classifier(function, labels=[...])"
        )
    if len(items) != len(labels):
        raise AnswerError(f"The function returned {count} for a picture, and there are {len(labels)} labels")
    return {label: float(item) for label, item in zip(labels, items, strict=True)}


def _number(label: object, score: Any) -> float:
    score = _plain(score)
    if isinstance(score, list) and len(score) == 1:
        score = score[0]
    if isinstance(score, str) or not isinstance(score, (int, float)):
        raise AnswerError(f"The function's score of {label!r} is {score!r}, not a number in [0, 1].")
    return float(score)


def _plain(value: Any) -> Any:
    """Arrays and tensors, of any device, as nested lists or a number; iterables as lists; the rest unchanged."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        return value
    return [item if isinstance(item, (str, Mapping)) or item is None else _plain(item) for item in value]


# -- what a function is made of ----------------------------------------------------------------------------------------


def source_digest(module: str) -> str:
    """sha256 over the source of an imported module and of what it imports, directly or not, from its own folder.

    A package's own folder is the one its outermost package lies in. Installed libraries, data files and weights do not
    belong to it.

    module: dotted name, as in ``sys.modules``.
    Returns: 64 hex digits; empty if the module has no source file (it is compiled, or built in).
    """
    file = getattr(sys.modules.get(module), "__file__", None)
    if not file or not file.endswith(".py"):
        return ""
    depth = len(module.split(".")) - (0 if Path(file).name == "__init__.py" else 1)
    root = Path(file).resolve().parents[depth]
    sources: set[Path] = set()
    waiting = [Path(file).resolve()]
    while waiting:
        path = waiting.pop()
        if path not in sources:
            sources.add(path)
            waiting += _imported(path, root)
    total = hashlib.sha256()
    for path in sorted(sources):
        total.update(f"{path.relative_to(root).as_posix()}\0{sha256_of(path)}\n".encode())
    return total.hexdigest()


def _imported(path: Path, root: Path) -> Iterator[Path]:
    """The files below a root that importing what a file imports runs: those of its packages, and its own."""
    try:
        tree = ast.parse(read_regular(path, LARGEST_TABLE))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    package = path.relative_to(root).parent.parts
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            names += (base, *(f"{base}.{alias.name}" if base else alias.name for alias in node.names))
    for name in filter(None, names):
        folder = root
        for part in name.split("."):
            folder = folder / part
            for file in (folder / "__init__.py", folder.with_name(f"{folder.name}.py")):
                if file.is_file():
                    yield file.resolve() if file.resolve().is_relative_to(root) else file


def function_digest(function: Callable[..., Any]) -> str:
    """sha256 over the source of a function, and of the functions and plain values of its own module that it names."""
    return hashlib.sha256("\0".join(_sources(function, set())).encode()).hexdigest()


def _sources(function: Any, seen: set[int]) -> Iterator[str]:
    """The source of a function, and of what it names: functions of its own module, and plain values."""
    seen.add(id(function))
    code, scope = getattr(function, "__code__", None), getattr(function, "__globals__", {})
    try:
        yield inspect.getsource(function)
    except (OSError, TypeError):  # typed into a console, or compiled
        yield repr(function) if code is None else f"{code.co_code!r} {code.co_consts!r} {code.co_names!r}"
    if code is None:
        return
    cells = [cell.cell_contents for cell in function.__closure__ or () if cell != CellType()]
    for value in [*(scope[name] for name in _names(code) if name in scope), *cells]:
        if isinstance(value, FunctionType) and value.__module__ == function.__module__ and id(value) not in seen:
            yield from _sources(value, seen)
        elif isinstance(value, (str, int, float, tuple)):
            yield repr(value)


def _names(code: CodeType) -> Iterator[str]:
    """Names that a function's code looks up outside of it, in its comprehensions too."""
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _names(part)


# -- the classifier ----------------------------------------------------------------------------------------------------


Function = Callable[[list[Any]], Sequence[Mapping[str, float] | None]]


@dataclass(frozen=True, slots=True)
class PythonOptions:
    """path: ``module:function``.  version: of the function, part of the cache's key; empty: a digest of its source.

    labels: a text file, one label a line, for a function that returns numbers; empty: it names its labels.
    kind: ``caption``: it returns a text for each picture, see ``captions``.
    unit: of numbers that are no scores, such as ``years``; pages name it.
    batch: pictures in one call.
    """

    path: str = field(metadata=ARGUMENT)
    version: str = ""
    labels: str = ""
    kind: Literal["score", "caption"] = "score"
    unit: str = ""
    batch: int = field(default=32, metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise ConfigError(f"python's batch must be at least 1, not {self.batch}.")


class PythonClassifier:
    """A ``records.Classifier`` over a function.

    Raises: UsageError if it cannot be imported or is not callable.
    """

    Options: ClassVar[type[PythonOptions]] = PythonOptions
    numbers = True
    captions: CaptionReader | None = None  # of a function of captions

    def __init__(self, name: str, options: PythonOptions, device: str = "cpu") -> None:
        del device
        self.name = name
        self.cached = bool(options.version)
        self.batch = options.batch
        self._function = function_at(options.path)
        labels = existing(options.labels, "labels file") if options.labels else None
        self._caller = FunctionCaller(self._function, read_labels(labels) if labels else ())
        self._answered = False  # whether it ever did: a function that fails at once is broken, not its pictures
        file = options.path.partition(":")[0]
        source = source_digest(Path(file).stem if file.endswith(".py") else file)
        self.version = options.version or (f"source {source[:16]}" if source else "undeclared")
        if labels:
            self.version += f" labels {digest_of([labels])[:16]}"
        if options.kind == "caption":
            self.captions = CaptionReader().read_for(self)

    def ask(self, pictures: list[bytes]) -> list[object]:
        """Encoded pictures to what the function says.

        Raises: PhotoError if a picture cannot be decoded; ModelError with file and line if the function fails before
            it ever answered, ClassifierError afterwards; ModelError if what it returns does not fit the pictures.
        """
        arrays = decoded(pictures)
        try:
            answers = self._caller(arrays)
        except GslopesError:
            raise
        except (Exception, SystemExit) as error:
            message = f"The function failed: {type(error).__name__}: {error}{user_line(error)}."
            if self._answered:  # some picture is odd: the others go on without it
                raise ClassifierError(message) from error
            raise ModelError(message, "Fix it and run the same command again.") from error
        self._answered = True
        return list(answers)

    def parse(self, raw: object) -> Answer:
        """A mapping to its labels, highest score first; None is a refusal. A caption is read for its own labels."""
        if self.captions:
            return self.captions.answer([next(iter(raw)) if isinstance(raw, dict) and len(raw) == 1 else raw])
        if raw is None:
            return Answer("refused", (), "the function returned None")
        return Answer("answered", tuple(sorted(cast("dict[str, float]", raw).items(), key=lambda pair: -pair[1])))


class FunctionClassifier(PythonClassifier):
    """A function as a classifier; another text is another classifier.

    Its version is a digest of its source, and of the functions and plain values of its own module that it names.

    Answers are kept in the run folder alone: a function may depend on what its source does not show.
    """

    def __init__(self, function: Function, labels: Sequence[str] = (), name: str = "", unit: str = "") -> None:
        own = name or getattr(function, "__name__", type(function).__name__)
        self.name = "".join(char if char.isalnum() or char in "_-" else "-" for char in own).strip("-") or "function"
        self.name += f":unit={unit}" if unit else ""
        self.version = function_digest(function)[:16]
        if labels:
            self.version += f" labels {digest_of_texts(labels)}"
        self.cached = False
        self.batch = 32
        self._function = function
        self._caller = FunctionCaller(function, labels)
        self._answered = False


def function_at(path: str) -> Callable[..., Any]:
    """The function that ``module:function`` or ``FILE.py:function`` names.

    Raises: ConfigError if it names none; UsageError if it cannot be imported, with the user's line, or called.
    """
    file, _, name = path.partition(":")
    if not file or not name:
        raise ConfigError(f"{path!r} is not module:function.", "Such as python:my_module:my_function.")
    folder = str(Path(file).expanduser().resolve().parent if file.endswith(".py") else Path.cwd())
    if folder not in sys.path:
        sys.path.append(folder)  # last: a file here hides no installed package
    try:
        function: Any = _imported_file(Path(file).expanduser()) if file.endswith(".py") else import_module(file)
        for part in name.split("."):
            function = getattr(function, part)
    except (Exception, SystemExit) as error:  # a user's module may fail in any way while it is imported
        hint = "The module must be installed, or lie in the working folder."
        where = user_line(error)
        raise UsageError(f"{path} cannot be imported: {type(error).__name__}: {error}{where}.", hint) from error
    if not callable(function):
        raise UsageError(f"{path} is not a function.", "It takes a list of arrays and returns a list of mappings.")
    return cast("Callable[..., Any]", function)


def _imported_file(file: Path) -> Any:
    """The module in a file, under its bare name.  Raises: ImportError; whatever the module raises."""
    if not file.is_file():
        raise ImportError(f"there is no file {file}")
    loaded = sys.modules.get(file.stem)
    if loaded is not None:
        if Path(getattr(loaded, "__file__", None) or "").resolve() == file.resolve():
            return loaded
        raise ImportError(f"another module is named {file.stem}: give the file another name")
    spec = spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is not Python source")
    module = sys.modules[file.stem] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[file.stem]
        raise
    return module


def user_line(error: BaseException) -> str:
    """Where a user's code failed, as `` (moods.py, line 7)``; empty if none of it was running."""
    ours = Path(__file__).resolve()
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<")]
    outside = [frame for frame in frames if Path(frame.filename).resolve() != ours]
    theirs = [frame for frame in outside if "importlib" not in frame.filename]
    return f" ({Path(theirs[-1].filename).name}, line {theirs[-1].lineno})" if theirs else ""
