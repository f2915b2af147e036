"""The sections of the walk's page, in their order: each is a macro of ``slopes/sections.html.j2``."""

from functools import partial

from gslopes.frame.page import Content, Page
from gslopes.frame.spec import Assets, Run, Section
from gslopes.slopes.method import PRESENCE


def _parts(names: tuple[str, ...], page: Page) -> Content:
    """What a macro is called with: parts of the page by their names, which are its arguments."""
    return {name: getattr(page, name) for name in names}


def _parts_if(names: tuple[str, ...], page: Page) -> Content | None:
    """The same, if the page has the first of them; else the section is left out."""
    if getattr(page, names[0]):
        return _parts(names, page)
    return None


def _always(name: str, *parts: str) -> Section:
    return Section(name, "", partial(_parts, parts))


def _if(name: str, *parts: str, title: str = "", first: bool = False) -> Section:
    return Section(name, title, partial(_parts_if, parts), first)


_question = partial(_if, first=True)
SECTIONS = (
    _always("title", "screens"),
    _always("kicker", "pairs", "created"),
    _always("headline", "screens", "crossed"),
    _if("lede", "screens", "pairs", "photos", "crossed", "steps", "editors"),
    _always("nav", "screens", "crossed", "album"),
    _question("notes", "notes"),
    _question("crossed", "crossed"),
    _question(
        "differently",
        *("screens", "tasks", "observed", "errors", "edited"),
    ),
    _question("sure", "screens", "sweeps", "photos", "explained", "edited", "source"),
    _question("show", "album", "pictured", title="Show me"),
    _question("next", "screens", "album", "observed", title="What next?"),
    _always(
        "contents", "observed", "errors", "occupations", "switches", "sweeps", "quoted", "edited"
    ),
    _always("findings", "screens", "crossed", "editors"),
    _if("observed", "observed"),
    _if("errors", "errors"),
    _if("occupations", "occupations"),
    _if("switches", "switches"),
    _always("how", "pairs", "screens", "editors"),
    _always("photos", "photos", "screens"),
    _if("editor", "edited", "editors", "source"),
    _if("validity", "sweeps", "pairs", "explained"),
    _if("quote", "quoted"),
    _always("glossary", "pairs", "meanings", "editors"),
    _always(
        "provenance",
        *("pairs", "papers", "numbered", "differs", "models", "classifiers", "editors"),
    ),
    _always("footer"),
)


def walk_page(run: Run) -> Page:
    """The page of a run folder, see ``folder``: whatever does not write it does without its imports."""
    from gslopes.slopes.page.folder import WalkPage

    return WalkPage(run)


ASSETS = Assets(
    walk_page,
    options=("report",),
    reads=("run.json", "validity.json", PRESENCE, "edits/"),
    makes=("report/",),
)
