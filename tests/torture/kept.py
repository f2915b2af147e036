"""The cache alone, with an error in each of its calls: what it said is kept is kept, and it opens again.

    python -m tests.torture.kept --every 5

It needs nothing but the cache, so that a point takes some milliseconds.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from gslopes.ask.cache import AnswerCache, CachedAnswer
from gslopes.core.errors import GslopesError
from tests.torture import shim

PICTURES = [sha256(bytes([number])).digest() for number in range(6)]


def work(home: Path, kept: Path) -> None:
    """Claim, put and find, two pictures at a time; notes in a file how many the cache has taken."""
    with AnswerCache(home / "cache") as cache:
        number = cache.classifier_id("c", "1")
        for start in (0, 2, 4):
            pair = PICTURES[start : start + 2]
            answers = {picture: CachedAnswer("answered", {"label": 0.5}, "m") for picture in pair}
            cache.claim(number, pair)
            cache.put(number, answers)
            kept.write_text(str(start + 2))
            assert len(cache.find(number, PICTURES)) == start + 2


def in_a_child(calls: shim.Shim, home: Path, point: shim.Point | None, notes: Path) -> int:
    """0 done, 1 an error of our own, 9 another one; negative: a signal."""
    child = os.fork()
    if child == 0:
        code = 9
        try:
            calls.arm(home, point)
            work(home, notes / "kept")
            code = 0
        except (GslopesError, MemoryError):  # the command line has a sentence for it
            code = 1
        except OSError as error:  # this, too
            code = 1 if error.errno else 9
        finally:
            calls.disarm()
            (notes / "counts").write_text(" ".join(map(str, calls.counts().values())))
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def problem_after(home: Path, kept: int) -> str:
    """What is wrong with the cache now; empty if nothing is."""
    with AnswerCache(home / "cache") as cache:
        number = cache.classifier_id("c", "1")
        found = cache.find(number, PICTURES)
        if not {*PICTURES[:kept]} <= {*found}:
            return f"{kept} were kept, {len(found)} are there"
        claimed = cache.claim(number, PICTURES)
        if claimed.in_progress:
            return "claims of a process that ended hold"
        cache.put(number, dict.fromkeys(claimed.to_ask, CachedAnswer("answered", {}, "m")))
        return (
            "" if len(cache.find(number, PICTURES)) == len(PICTURES) else "an answer is not taken"
        )


def tried(every: int, kinds: Sequence[str]) -> tuple[Counter[str], list[str]]:
    """How many points of each kind were tried, and what was found."""
    calls = shim.Shim()
    connect = sqlite3.connect
    sqlite3.connect = lambda *path, **options: connect(*path, **{**options, "timeout": 0.05})
    counter: Counter[str] = Counter()
    found = []
    with tempfile.TemporaryDirectory(dir=shim.fast()) as folder:
        home, notes = Path(folder, "w"), Path(folder)
        home.mkdir()
        assert in_a_child(calls, home, None, notes) == 0
        counts = dict(
            zip(shim.KINDS, map(int, (notes / "counts").read_text().split()), strict=True)
        )
        for point in shim.points(counts, kinds, every):
            shutil.rmtree(home)
            home.mkdir()
            (notes / "kept").write_text("0")
            code = in_a_child(calls, home, point, notes)
            kept = int((notes / "kept").read_text())
            counter[point.kind] += 1
            problem = f"ends with {code}" if code not in (0, 1) else problem_after(home, kept)
            if problem or (code == 0 and kept < len(PICTURES)):
                found.append(f"{point}: {problem}")
    return counter, found


def main() -> int:
    """Print what was tried and found."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture.kept")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument(
        "--kind", choices=shim.KINDS, action="append", help="only such calls; may be repeated"
    )
    typed = parser.parse_args()
    counter, found = tried(typed.every, typed.kind or shim.KINDS)
    for line in found:
        print(line)
    print(
        f"{counter.total()} points: {', '.join(f'{kind} {count}' for kind, count in counter.items())}"
    )
    return int(bool(found))


if __name__ == "__main__":
    shim.preloaded("tests.torture.kept")
    sys.exit(main())
