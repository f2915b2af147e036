"""The group of all verbs, and the only place that turns errors into sentences and exit codes."""

import atexit
import ctypes
import faulthandler
import io
import os
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any, ClassVar

import click

from gslopes.ask.secrets import guard_logs, scrub_text
from gslopes.core import (
    GslopesError,
    gslopes_version,
    is_out_of_memory,
    nearest,
    printable_lines,
    read_beside,
)
from gslopes.core.storage import refusal
from gslopes.frame.commands import examples, say

INTERRUPTED = 130
ENDING = 3.0  # seconds that a process may take to end after its work

AUDIT = "an audit"
_HELP = read_beside(__file__, "verbs.toml")
VERBS = {name: (verb["home"], verb["does"]) for name, verb in _HELP["verbs"].items()}


class LazyGroup(click.Group):
    """Verbs in their order, imported when needed; errors as a sentence and an exit code.

    verbs: name to the module that holds it, and what it does.  together: those that share a line of the help.
    """

    verbs: ClassVar[dict[str, tuple[str, str]]] = VERBS
    together: ClassVar[dict[str, str]] = _HELP["together"]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs, in their order."""
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb, imported."""
        if cmd_name not in self.verbs:
            return None
        home, _ = self.verbs[cmd_name]
        if home == AUDIT:
            from gslopes.frame.result import find_audit
            from gslopes.frame.verb import verb

            return verb(find_audit(cmd_name))
        module = import_module(home)
        return getattr(module, cmd_name, None) or getattr(module, f"{cmd_name}_")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs and what they do; none is imported."""
        shared = ", ".join(self.together).split(", ")
        alone = [(name, text) for name, (_, text) in self.verbs.items() if name not in shared]
        with formatter.section("Begin with" if self.together else "Commands"):
            formatter.write_dl(alone)
        if self.together:
            with formatter.section("Then"):
                formatter.write_dl([*self.together.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, with the nearest verb in the error."""
        verb = next(iter(args), "-")
        if verb not in self.verbs and not verb.startswith("-"):
            hint = nearest(verb, self.verbs, f"Verbs: {', '.join(self.verbs)}.")
            raise click.UsageError(f"There is no verb {verb!r}. {hint}", ctx)
        return super().resolve_command(ctx, args)

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> Any:
        """Run, and end with 0 done, 1 our error, 2 usage, 3 photos skipped or answers changed, 4 gate, 130 stopped."""
        if args is None and (asked := os.environ.get("_GSLOPES_COMPLETE")):
            return import_module("gslopes.cli.completion").complete(asked)
        _open_streams()
        guard_logs()
        if args is None:
            with suppress(OSError, RuntimeError):  # of a stderr that is not a file
                # a crash shows its place, such as in a user's function
                faulthandler.enable(all_threads=False)
        interrupts = Interrupts()
        if args is None and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            interrupts.install()
        extra["standalone_mode"] = False
        given = list(sys.argv[1:] if args is None else args)
        # it may come before or after the verb
        end = [*given, "--"].index("--")
        debug = "--debug" in given[:end]
        arguments = [arg for arg in given[:end] if arg != "--debug"] + given[end:]
        code: Any = 1
        try:
            code = super().main(arguments, *rest, **extra)
        except click.exceptions.NoArgsIsHelpError as error:
            say(error.format_message(), err=True)
            code = 2
        except Exception as error:
            if debug:
                say(scrub_text(traceback.format_exc()), err=True)
            code = _explain(error, debug)
        finally:
            interrupts.final = True
            # python -m ends by an interrupt that came within an exec, as of dataclasses: this clears it
            exec("")
        code = code if isinstance(code, int) else 0
        if args is None:
            _drop_unwritable()
            threading.Thread(target=_end, args=(code,), daemon=True).start()
        sys.exit(code)


class Interrupts:
    """What Ctrl-C does: the first one stops, and what is in flight is finished; the next ends the process at once.

    final: whether the next one ends the process.
    """

    def __init__(self) -> None:
        self.final = False

    def install(self) -> None:
        """Take Ctrl-C from now on, also if a library does not give control back, such as a model in an endless loop."""
        signal.signal(signal.SIGINT, self)
        # last of all, before Python would let the signal end the process: what is left takes no time
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(
            writing, warn_on_full_buffer=False
        )  # written to at once, whatever the main thread does
        os.register_at_fork(after_in_child=lambda: signal.set_wakeup_fd(-1))
        arm = _arming()
        arm()
        threading.Thread(target=self._watch, args=(reading, arm), daemon=True).start()

    def _watch(self, reading: int, arm: Callable[[], object]) -> None:
        """End the process a second after the second interrupt, if the main thread has not."""
        count = 0
        while count < 2:
            count += os.read(reading, 64).count(signal.SIGINT)
            arm()
        time.sleep(1)
        self.final = True
        self()

    def __call__(self, *_: object) -> None:
        """The signal's handler.  Raises: KeyboardInterrupt."""
        if self.final:
            cursor = "\x1b[?25h" if sys.stderr.isatty() else ""  # a progress bar hides the cursor
            os.write(2, f"{cursor}\ngslopes: Ended at once; what was in flight is lost.\n".encode())
            os._exit(INTERRUPTED)
        self.final = True
        raise KeyboardInterrupt


def _arming() -> Callable[[], object]:
    """What lets Python have one more interrupt.

    The kernel ends the process at the next one unless this was called in between: by code that lets no other thread of
    Python run, such as a regular expression without end. It needs a C library that has System V's ``signal``.
    """
    library = ctypes.CDLL(None)
    if not hasattr(library, "sysv_signal"):
        return lambda: None
    library.signal.restype = ctypes.c_void_p
    library.sysv_signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
    return partial(library.sysv_signal, signal.SIGINT, library.signal(signal.SIGINT, None))


def _drop_unwritable() -> None:
    """Let go what a stream cannot take: Python would try again at its end, and end with exit code 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _end(code: int) -> None:
    """End the process soon, whatever threads and exit handlers a library or a user's function has left."""
    time.sleep(ENDING)
    with suppress(Exception):
        sys.stdout.flush()
    os._exit(code)


def _explain(error: Exception, debug: bool) -> int:
    """Print what went wrong and what to do next; the exit code."""
    if isinstance(error, click.Abort):
        _say("Stopped.", "What was done is kept: the same command goes on from there.")
        return INTERRUPTED
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        verb = context.command_path if context else "gslopes"
        _say(error.format_message(), f"{verb} --help shows how it is used, with examples.")
        return 2
    if isinstance(error, GslopesError):
        _say(error.message, error.hint)
        return error.exit_code
    if is_out_of_memory(error):
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        remedy = "close other programs"
        if limit != resource.RLIM_INFINITY:
            remedy = f"raise the {limit / 2**30:.1f} GiB that ulimit -v allows"
        _say("Memory ran out.", f"What was done is kept: {remedy} and run the same command again.")
        return 1
    if isinstance(error, OSError) and error.errno:
        return _explain(refusal(error), debug)
    hint = "The same command with --debug shows where; please report it."
    _say(f"Unexpected {type(error).__name__}: {scrub_text(str(error))}", hint * (not debug))
    return 1


def _open_streams() -> None:
    """Open what the caller closed of the standard streams: one of our files would get its number.

    What the encoding of the others lacks is escaped, never an error: it would come after all work.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))
    if isinstance(sys.stdout, io.TextIOWrapper):  # of stderr Python does so itself
        sys.stdout.reconfigure(errors="backslashreplace")


def _say(message: str, hint: str) -> None:
    """On stderr; if that cannot be written, only the exit code tells."""
    with suppress(OSError):
        lines = (f"gslopes: {message}", hint and f"  {hint}")
        say("\n".join(map(printable_lines, filter(None, lines))), err=True)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=examples(
        "gslopes demo",
        "gslopes audit photos --attribute gender --classifier celeba-tagger --out run",
    )
    + "\n\n--version; --debug: tracebacks. Exit codes: 0 done, 1 error, 2 usage, 3 some photos or questions failed, "
    "4 --fail-if holds, 130 stopped: repeat to go on.",
    subcommand_metavar="VERB ... | VERB --help",
    options_metavar="",
)
@click.version_option(gslopes_version(), message="gslopes %(version)s")
@click.option("--debug", is_flag=True, expose_value=False)
def main() -> None:
    """Does an image classifier's answer depend on how the face in a photo looks?"""
