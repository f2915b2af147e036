"""The audit of action.yml. No text of others is a command to the runner, a further output, or markup on the job's page.

Inputs may hold what a pull request names: its title, its branch, a file of it.
"""

import html
import os
import secrets
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gslopes.core import printable, read_json

COMMANDS = ("audit", "contexts", "crops", "captions", "compare")
OURS = ("--out", "-o", "--fail-if", "--junit")  # inputs of the action
OFF = 2  # exit code: an input is off, nothing was done
TOLD = (0, 3, 4)  # exit codes after which summary.json is of this audit


@contextmanager
def without_commands() -> Iterator[None]:
    """Lines such as ``::add-mask::`` or ``##[error]`` are texts to the runner, until it reads a word nobody knows."""
    word = secrets.token_hex(16)
    sys.stdout.write(f"::stop-commands::{word}\n")
    sys.stdout.flush()
    try:
        yield
    except Exception:
        traceback.print_exc()
        raise SystemExit(1) from None
    finally:
        sys.stderr.flush()
        sys.stdout.write(f"\n::{word}::\n")
        sys.stdout.flush()


def append(variable: str, text: str) -> None:
    """To the file that a variable of the runner names."""
    with Path(os.environ[variable]).open("a", encoding="utf-8") as file:
        file.write(text)


def fault(command: str, out: str, arguments: list[str]) -> str:
    """What is off with the inputs, in a sentence; empty if nothing is."""
    if command not in COMMANDS:
        return f"command is one of {', '.join(COMMANDS)}, not '{printable(command)}'."
    if not out.strip() or printable(out) != out:
        return f"out names a folder, in one line of visible characters, not '{printable(out)}'."
    for argument in arguments:
        if argument.partition("=")[0] in OURS or argument.startswith("-o"):
            return f"out and fail-if are inputs of the action, not arguments as '{printable(argument)}' is."
    return ""


def audit() -> int:
    """Run the audit, write what it gave for the steps that follow, and the headline; the exit code."""
    command, out = os.environ["COMMAND"], os.environ["OUT"]
    lines = [line.removesuffix("\r") for line in os.environ["ARGUMENTS"].split("\n")]
    arguments = [line for line in lines if line]
    if text := fault(command, out, arguments):
        sys.stderr.write(f"gslopes: {text}\n")
        append("GITHUB_OUTPUT", f"code={OFF}\n")
        return OFF
    summary, junit = f"{out}/summary.json", f"{out}.junit.xml"
    ours = [f"--out={out}", f"--fail-if={os.environ['FAIL_IF']}", f"--junit={junit}"]
    code = subprocess.run(["gslopes", command, *ours, *arguments], check=False).returncode
    code = code if code >= 0 else 128 - code  # as a shell has it: the number of a signal
    append("GITHUB_OUTPUT", f"code={code}\nsummary={summary}\njunit={junit}\n")
    if code in TOLD and Path(summary).is_file():
        headline = printable(read_json(Path(summary))["headline"])
        # HTML without a blank line: Markdown reads neither marks nor addresses in it
        append("GITHUB_STEP_SUMMARY", f"<p>{html.escape(headline)}</p>\n")
    return code


if __name__ == "__main__":
    with without_commands():
        ended = audit()
    sys.exit(ended)
