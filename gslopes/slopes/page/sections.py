"""The page: one HTML file that asks nothing of any server; every label and file name in it is escaped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any

from gslopes.report import inline, words
from gslopes.slopes.page import ReportConfig, decisions
from gslopes.slopes.page.loading import STEPS
from gslopes.slopes.page.screen import Screen

HERE = Path(__file__).parents[1] / "templates"

_MOST_FILES = 200
_MOST_REASONS = 12
_SCRIPTS = ("base", "plots", "findings", "compare", "label", "explorer", "start")
# What a page has in addition to its sections; a part that is missing is empty.
# data: for the scripts.  sweeps: see ``validity``.  errors, observed, tasks, crossed, occupations: see there.
# quote: see ``screen``.
# papers: tables of the paper, without ending.  numbered, prints: its figures, and those for print.
# album: number of photos in the explorer.
# method: how the run differs from the paper.  unanswered: see ``loading.unanswered``.
# pairs: whether others made the pictures.  explained: see ``validity``.
_PARTS = (
    *(
        "data",
        "quote",
        "album",
        "sweeps",
        "errors",
        "observed",
        "papers",
        "prints",
        "method",
        "tasks",
        "switches",
    ),
    *("numbered", "unanswered", "explained", "crossed", "occupations", "pairs"),
)


@dataclass(frozen=True, slots=True)
class Photos:
    """What became of the photos.

    found, used: how many.  several: how many of those used show several faces.
    reasons: with their counts, the most frequent first.  skipped: path and reason of each one.
    dropped: how many sweeps the gate kept from the classifiers.
    """

    found: int
    used: int
    several: int
    reasons: tuple[tuple[str, int], ...]
    skipped: tuple[tuple[str, str], ...]
    dropped: int = 0


def render(
    manifest: Mapping[str, Any],
    photos: Photos,
    screens: Sequence[Screen] = (),
    *,
    options: ReportConfig,
    **parts: Any,
) -> str:
    """The page as text.

    manifest: the content of run.json; whatever it lacks, the page leaves out.  screens: the strongest first.
    parts: see ``_PARTS``.
    """
    given = dict.fromkeys(_PARTS, ()) | parts
    method = given.pop("method")
    return inline.render(
        "page.html.j2",
        house=HERE,
        scripts=[f"page-{name}.js" for name in _SCRIPTS],
        plots=True,
        data={"sections": [], "readings": [], **dict(given.pop("data"))},
        decisions=[(decisions.SHOWN[code], decisions.ABOUT[code]) for code in decisions.CODES],
        pictured=options.embed != "none",
        steps=STEPS,
        differs=[choice for choice in method if not choice.same],
        alike=[choice for choice in method if choice.same],
        created=words.printable(_moment(manifest.get("created", ""))),
        models=_facts(manifest.get("models")),
        classifiers=_facts(manifest.get("classifiers")),
        photos=photos,
        reasons=photos.reasons[:_MOST_REASONS],
        other_reasons=sum(number for _, number in photos.reasons[_MOST_REASONS:]),
        skipped=photos.skipped[:_MOST_FILES],
        screens=screens,
        ends=list(dict.fromkeys(screen.ends for screen in screens)),
        **given,
    )


def _moment(created: object) -> str:
    """An ISO date and time to the minute, in UTC; anything else unchanged."""
    try:
        moment = datetime.fromisoformat(str(created))
    except ValueError:
        return str(created)
    if moment.tzinfo:
        return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return f"{moment:%Y-%m-%d %H:%M}"


def _facts(value: object) -> dict[str, dict[str, str]]:
    """Name to facts, from {name: {fact: value}} or {name: version} alike."""
    if not isinstance(value, Mapping):
        return {}
    facts = {}
    for name, item in value.items():
        own = item if isinstance(item, Mapping) else {"version": item}
        facts[words.printable(name)] = {
            words.printable(key): words.printable(text) for key, text in own.items()
        }
    return facts


def anonymous(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest without the names of folders and files on the machine: absolute paths, and where the photos lie."""
    config = manifest.get("config")
    photos = str(config.get("photos", "")) if isinstance(config, Mapping) else ""
    return {name: _hidden(value, photos) for name, value in manifest.items()}


def _hidden(value: Any, photos: str) -> Any:
    if isinstance(value, Mapping):
        return {name: _hidden(inner, photos) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_hidden(inner, photos) for inner in value]
    if not isinstance(value, str):
        return value
    if photos and value == photos:
        return "PHOTOS"
    if PurePath(value).is_absolute() or "\\" in value:
        return "FILE"
    return value
