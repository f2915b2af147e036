"""Asks the language models of docs/gallery/today/plan.toml its ten tasks about its photos, and writes what came of it.

    python docs/gallery/models_of_today.py PHOTOS OUT --dry-run     what it costs; nothing is asked
    python docs/gallery/models_of_today.py PHOTOS OUT               the vendors are asked; needs a key of each
    python docs/gallery/models_of_today.py PHOTOS OUT --model gpt-6-luna --model claude-haiku-5-5
    python docs/gallery/models_of_today.py PHOTOS OUT --stand-ins --local FOLDER --limit 12

PHOTOS is the folder of the plan's photos, which are checked by the sha256 of their list. OUT is a run folder: the same
command goes on where it stopped, and nothing is paid twice. The keys are read from the variables that the dialects name
(`gslopes list classifiers`). The numbers go into docs/gallery/today/results.json, of which the page is made.

``--stand-ins``: no vendor is asked. Servers on this machine speak the protocol of each, and their answers are planted.
They have new addresses each time, so OUT must be new as well.
``--local``: a vision-language model of the transformers library is trained in a folder, by how bright a picture is, and
asked as well.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

from gslopes.ask.classifiers.prompt import load_prompt
from gslopes.core import tables
from gslopes.core.errors import ConfigError

HERE = Path(__file__).resolve().parent
PLAN = tomllib.loads((HERE / "today/plan.toml").read_text("utf-8"))
RESULTS = HERE / "today/results.json"
LOCAL = "local"
CENTRES = {"USD a year": 60_000.0, "USD a night": 90.0, "years": 12.0}  # of planted numbers


def list_sha256(photos: Path) -> str:
    """sha256 of the list of a folder's files."""
    lines = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
        for file in sorted(photos.iterdir())
    ]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def check_photos(photos: Path) -> None:
    """Raises: ConfigError if they are not those of the plan."""
    expected, found = PLAN["photos"]["list_sha256"], list_sha256(photos)
    if found != expected:
        raise ConfigError(
            f"These are not the photos of the plan: their list has the sha256 {found[:16]}, not {expected[:16]}.",
            f"The plan's are {PLAN['photos']['count']} files: {PLAN['photos']['source']}.",
        )


def gslopes(*arguments: str, environment: dict[str, str] | None = None) -> None:
    """Run a command of gslopes.  Raises: SystemExit with its exit code."""
    command = [sys.executable, "-m", "gslopes", *arguments]
    code = subprocess.run(
        command, env={**os.environ, **(environment or {})}, check=False
    ).returncode
    if code:
        raise SystemExit(code)


def pictured(photos: Path, out: Path, limit: int) -> list[str]:
    """The arguments that make the counterfactual photos."""
    made = PLAN["synthesise"]
    options = {
        "limit": limit,
        "attribute": made["attribute"],
        "steps": made["steps"],
        "seed": made["seed"],
    }
    named = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    return ["audit", str(photos), "--out", str(out), *named]


def ask(
    out: Path,
    classifiers: Sequence[str],
    *more: str,
    tasks: Sequence[str] = PLAN["ask"]["tasks"],
    environment: dict[str, str] | None = None,
) -> None:
    """Have models answer the tasks about a run."""
    named = [part for task in tasks for part in ("--task", task)]
    asked = [part for name in classifiers for part in ("--classifier", name)] + named
    gslopes("audit", str(out), "--only", "score", *asked, *more, environment=environment)


# -- stand-ins ---------------------------------------------------------------------------------------------------------


@contextmanager
def stand_in(run: Path, seed: int) -> Iterator[dict[str, str]]:
    """A server on this machine that answers about the pictures of a run as was planted, and the variables that name it.

    It sees no face: it knows each picture by its sha256, and answers by the picture's value and its photo's place.
    """
    from tests.fake_provider import FakeProvider
    from tests.fake_provider.chat import Chat

    places = planted(run, seed)

    class Known(FakeProvider):
        def _look(self, service: str, image: bytes, sha256: str) -> Any:
            del service, image
            return [*zip("au", places[sha256], strict=True)]

    whole = Chat._choice

    def choice(self: Chat, text: str, *others: Any) -> Any:
        centre = next((centre for unit, centre in CENTRES.items() if unit in text), 0.0)
        self.settings.number = (centre, 0.05 * (seed % 3 - 1))
        return whole(self, text, *others)

    Chat._choice = choice  # type: ignore[method-assign]
    options = [load_prompt(task) for task in PLAN["ask"]["tasks"]]
    high = {
        prompt.scoring: (place + seed) % 3 / 8
        for place, prompt in enumerate(options)
        if prompt.scoring
    }
    try:
        with Known() as provider:
            provider.chat.slopes = {name: slope for name, slope in high.items() if name != "order"}
            provider.chat.otherwise = ""
            yield provider.environment
    finally:
        Chat._choice = whole  # type: ignore[method-assign]


def planted(run: Path, seed: int) -> dict[str, tuple[float, float]]:
    """sha256 of each picture of a run to its value along the attribute and its photo's place in [0, 1]."""
    edits = tables.read(tables.EDITS, run / "edits.parquet")
    photos = sorted(
        set(edits["photo"]), key=lambda photo: hashlib.sha256(f"{seed} {photo}".encode()).digest()
    )
    places = {photo: (number + 0.5) / len(photos) for number, photo in enumerate(photos)}
    attribute = PLAN["synthesise"]["attribute"]
    return {
        hashlib.sha256((run / row.file).read_bytes()).hexdigest(): (
            row.value if row.attribute == attribute else 0.0,
            places[row.photo],
        )
        for row in edits.itertuples()
    }


# -- the local model ---------------------------------------------------------------------------------------------------


def train(folder: Path) -> list[str]:
    """Train a tiny LLaVA, unless it is there: by how bright a picture is.  Returns: the tasks that it was taught."""
    from tests.ask import trained_model

    if not folder.is_dir():
        trained_model.by_light(folder)
    return list(trained_model.BY_LIGHT)


# -- results -----------------------------------------------------------------------------------------------------------


def results(run: Path, facts: dict[str, Any]) -> dict[str, Any]:
    """What the page says: of each model each task's label, slope, interval, q and decision."""
    import make

    found = make.numbers(run)
    rows: dict[str, dict[str, Any]] = {}
    for key, one in found["attributes"].items():
        classifier = key.partition(", ")[2]
        task = next(task for task in PLAN["ask"]["tasks"] if f"prompt={task}" in classifier)
        prompt = load_prompt(task)
        who = classifier.partition(":")[2].partition(",")[0]
        who = LOCAL if classifier.startswith("transformers:") else who
        names = {prompt.scoring, prompt.scale, f"{prompt.measures or prompt.name} (log points)"}
        label = next((label for label in one["labels"] if label["label"] in names), None)
        rows.setdefault(who, {})[task] = {"photos": one["photos"], "label": label}
    return {**facts, "pictures": found["pictures"], "models": rows}


def main() -> None:
    """Carry the plan out."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("photos", type=Path, metavar="PHOTOS")
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument(
        "--model", action="append", default=[], help="only this one of the plan; may be repeated"
    )
    parser.add_argument(
        "--limit", type=int, default=PLAN["synthesise"]["limit"], help="fewer photos than planned"
    )
    parser.add_argument("--stand-ins", action="store_true", help="ask no vendor")
    parser.add_argument(
        "--local",
        type=Path,
        metavar="FOLDER",
        help="a tiny local model, trained there and asked as well",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="show what it costs, and ask nothing"
    )
    given = parser.parse_args()
    # the stand-ins and the local model are the tests'; the numbers of a page are read as the gallery's script does
    sys.path[:0] = [str(HERE.parents[1]), str(HERE.parents[1] / "notebooks/gallery")]
    try:
        check_photos(given.photos)
    except ConfigError as error:
        raise SystemExit(f"{error.message}\n  {error.hint}") from None
    few = ["--no-placebo"] if given.stand_ins else []  # what is planted has no placebos
    for stage in ("synthesise", "gate"):
        gslopes(*pictured(given.photos, given.out, given.limit), *few, "--only", stage)
    asked = [one for one in PLAN["models"] if one["model"] in (given.model or [one["model"]])]
    for place, one in enumerate(asked if given.stand_ins else []):
        name = (
            f"llm:stand-in-{place + 1},{one['stand_in']},{PLAN['ask']['parameters']},concurrency=1"
        )
        kept = ["--cache", f"{given.out}-planted"]  # not among the user's paid answers
        with stand_in(given.out, place) as environment:
            ask(given.out, [name], *kept, environment=environment)
    if not given.stand_ins:
        names = [f"{one['classifier']},{PLAN['ask']['parameters']}" for one in asked]
        money = ["--budget", str(PLAN["budget"]["total"])]  # of all of them
        ask(given.out, names, *money, *(["--dry-run"] if given.dry_run else []))
    if given.dry_run:
        return
    if given.local:
        ask(given.out, [f"transformers:{given.local},task=answer"], tasks=train(given.local))
    for stage in ("fit", "report"):
        gslopes("audit", str(given.out), "--only", stage)
    facts = {
        "asked_on": date.today().isoformat(),
        "real": not given.stand_ins,
        "limit": given.limit,
        "local": bool(given.local),
    }
    RESULTS.write_text(json.dumps(results(given.out, facts), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
