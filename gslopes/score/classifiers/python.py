"""``python:module:function``, or ``python:FILE.py:function``: a callable of the user's own.

The function takes a list of pictures, (H, W, 3) uint8 RGB arrays of any sizes, and returns one entry each: a mapping of
label to score in [0, 1], or None if it will not judge the picture. What else it may take and return is in
``function_reply``. The module may also lie in the working folder.

    def moods(pictures):
        return [{"bright": float(picture.mean() / 255)} for picture in pictures]

Answers are kept for later runs only if ``version=`` says which version of the function gives them. Without it the
version is a digest of the module's source and of what it imports from its own folder, so that a run folder never mixes
the answers of two.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, ClassVar, cast

from gslopes.core.errors import ClassifierError, ConfigError, GslopesError, ModelError, UsageError
from gslopes.core.records import Answer
from gslopes.score.classifiers import function_reply
from gslopes.score.classifiers.function_reply import FunctionCaller
from gslopes.score.classifiers.model_file import digest_of, digest_of_texts, existing, read_labels
from gslopes.score.classifiers.python_source import function_digest, source_digest
from gslopes.score.names import ARGUMENT, OPERATIONAL
from gslopes.score.pictures import decoded

REFUSED = "the function returned None"

Function = Callable[[list[Any]], Sequence[Mapping[str, float] | None]]


@dataclass(frozen=True, slots=True)
class PythonOptions:
    """path: ``module:function``.  version: of the function, part of the cache's key; empty: a digest of its source.

    labels: a text file, one label a line, for a function that returns numbers; empty: it names its labels.
    unit: of numbers that are no scores, such as ``years``; pages name it.
    batch: pictures in one call.
    """

    path: str = field(metadata=ARGUMENT)
    version: str = ""
    labels: str = ""
    unit: str = ""
    batch: int = field(default=32, metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        module, _, function = self.path.partition(":")
        if not module or not function:
            raise ConfigError(f"{self.path!r} is not module:function.", "Such as python:my_module:my_function.")
        if self.batch < 1:
            raise ConfigError(f"python's batch must be at least 1, not {self.batch}.")


class PythonClassifier:
    """A ``records.Classifier`` over a function.

    Raises: UsageError if it cannot be imported or is not callable.
    """

    Options: ClassVar[type[PythonOptions]] = PythonOptions
    numbers = True

    def __init__(self, name: str, options: PythonOptions, device: str = "cpu") -> None:
        del device
        self.name = name
        self.cached = bool(options.version)
        self.batch = options.batch
        self._function = _found(options.path)
        labels = existing(options.labels, "labels file") if options.labels else None
        self._caller = FunctionCaller(self._function, read_labels(labels) if labels else ())
        self._answered = False  # whether it ever did: a function that fails at once is broken, not its pictures
        source = source_digest(_module_of(options.path))
        self.version = options.version or (f"source {source[:16]}" if source else "undeclared")
        if labels:
            self.version += f" labels {digest_of([labels])[:16]}"

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
        """A mapping to its labels, highest score first; None is a refusal."""
        if raw is None:
            return Answer("refused", (), REFUSED)
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


def _found(path: str) -> Callable[[list[Any]], Any]:
    file, _, name = path.partition(":")
    here = str(Path(file).expanduser().resolve().parent if file.endswith(".py") else Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # last: a file here hides no installed package
    try:
        found: Any = _imported_file(Path(file).expanduser()) if file.endswith(".py") else import_module(file)
        for part in name.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:  # a user's module may fail in any way while it is imported
        hint = "The module must be installed, or lie in the working folder."
        where = user_line(error)
        raise UsageError(f"{path} cannot be imported: {type(error).__name__}: {error}{where}.", hint) from error
    if not callable(found):
        raise UsageError(f"{path} is not a function.", "It takes a list of arrays and returns a list of mappings.")
    return cast("Callable[[list[Any]], Any]", found)


def _module_of(path: str) -> str:
    """The name in ``sys.modules``: for FILE.py its bare name."""
    file = path.partition(":")[0]
    return Path(file).stem if file.endswith(".py") else file


def _imported_file(file: Path) -> Any:
    """The module in a file, under its bare name.  Raises: ImportError; whatever the module raises."""
    if not file.is_file():
        raise ImportError(f"there is no file {file}")
    known = sys.modules.get(file.stem)
    if known is not None:
        if Path(getattr(known, "__file__", None) or "").resolve() == file.resolve():
            return known
        raise ImportError(f"another module is named {file.stem}: give the file another name")
    spec = spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python source")
    module = sys.modules[file.stem] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[file.stem]
        raise
    return module


def user_line(error: BaseException) -> str:
    """Where a user's code failed, as `` (moods.py, line 7)``; empty if none of it was running."""
    ours = {Path(__file__).resolve(), Path(function_reply.__file__).resolve()}
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<")]
    outside = [frame for frame in frames if Path(frame.filename).resolve() not in ours]
    theirs = [frame for frame in outside if "importlib" not in frame.filename]
    return f" ({Path(theirs[-1].filename).name}, line {theirs[-1].lineno})" if theirs else ""
