"""Files that are programs: which of them the user trusts, asked for once a run and file.

A TorchScript file runs with its user's rights: it can read and write files. So it runs only where the
user says that it may: by ``--trust`` (``trust=True`` in Python), or by an answer at the terminal. What was trusted is
remembered for the run folder by the file's sha256; a file that changed is asked for again. It is remembered in a file
of the user's own, ``trusted.json`` next to the answer cache, never in the run folder, which may be untrusted.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from gslopes.core.errors import StorageError, UsageError
from gslopes.core.runfolder import make_folder, show, write_json

VARIABLE = "GSLOPES_CACHE"
_ELSEWHERE = f"Name a folder that can be written with --cache DIR, or in the variable {VARIABLE}."


def cache_folder(given: Path | str | None = None) -> Path:
    """Where answers are kept: what was given, else $GSLOPES_CACHE, else the user's cache folder.

    Raises: StorageError if this user has no home folder, as in some containers.
    """
    given = given or os.environ.get(VARIABLE)
    if given:
        folder = Path(os.path.expanduser(given))
        if str(folder).startswith("~"):
            raise StorageError(f"{show(given)} names a home folder, and this user has none.", _ELSEWHERE)
        return folder
    return user_cache() / "answers"


def user_cache() -> Path:
    """The folder for what can be made again, of this user.  Raises: StorageError if the user has no home folder."""
    from platformdirs import user_cache_path

    nowhere = StorageError("This user has no home folder, where answers would be kept.", _ELSEWHERE)
    try:
        folder = user_cache_path("gslopes", appauthor=False)
    except RuntimeError as error:  # no HOME, and no entry in the system's list of users
        raise nowhere from error
    if not folder.is_absolute():  # so older versions of platformdirs say it
        raise nowhere
    return folder


def writable_cache(given: Path | str | None = None) -> Path:
    """``cache_folder``, made if need be and tried: it is found before any work whether answers can be kept.

    Raises: StorageError if nothing can be written there, naming the option and the variable that choose another one.
    """
    folder = cache_folder(given)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise StorageError(f"Answers cannot be kept in {show(folder)}: {why}.", _ELSEWHERE) from error
    return folder


def trusted_file() -> Path:
    """Where it stands what was trusted for which run folder."""
    return cache_folder() / "trusted.json"


@dataclass(frozen=True, slots=True)
class Trust:
    """What one command may run.

    given: the user has said so, by ``--trust``.  run: the run folder that it is remembered for; None: not at all.
    named: whether the user named the file; False where an untrusted file did, for which nothing is run.
    """

    given: bool = False
    run: Path | None = None
    named: bool = True

    def require(self, file: Path, digest: str) -> None:
        """Ask, unless it is trusted already.  digest: of the file's bytes, sha256 in hex.

        Raises: UsageError if it is not trusted, or no user can be asked; StorageError.
        """
        if not self.named:
            message = f"{show(file)} is a program, and its name comes from a recording, not from you."
            raise UsageError(message, "Name the classifier itself, with --trust, to run it.")
        known = self._known()
        if digest in known:
            return
        if not self.given:
            _ask(file, changed=str(file.resolve()) in known.values())
        if self.run is not None:
            everything = _read()
            everything[str(self.run.resolve())] = {**known, digest: str(file.resolve())}
            make_folder(trusted_file().parent)
            write_json(trusted_file(), everything)
            note = (
                f"Trusted for {show(self.run)}: {show(file)} (sha256 {digest[:12]}…), noted in {show(trusted_file())}."
            )
            print(note, file=sys.stderr)  # noqa: T201 - belongs to the question

    def _known(self) -> dict[str, str]:
        return {} if self.run is None else _read().get(str(self.run.resolve()), {})


def confirmed(question: str, unasked: UsageError) -> bool:
    """Whether the user says yes on the terminal.  Raises: ``unasked`` if there is none."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        raise unasked
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)  # noqa: T201 - a question
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _ask(file: Path, *, changed: bool) -> None:
    what = "has changed since it was trusted" if changed else "is a program"
    can = f"{show(file)} {what}: it runs with your rights, and may read and write your files."
    hint = "If you trust whoever made it, add --trust (trust=True in Python)."
    if not confirmed(f"{can} Run it?", UsageError(can, hint)):
        raise UsageError(f"{show(file)} was not run.", "An ONNX file of the same model needs no trust: onnx:FILE.")


def _read() -> dict[str, dict[str, str]]:
    """Run folder to digest to file; empty where nothing, or nothing readable, is noted: then it is asked again."""
    try:
        content = json.loads(trusted_file().read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    runs = content.items() if isinstance(content, dict) else ()
    return {str(run): files for run, files in runs if isinstance(files, dict)}
