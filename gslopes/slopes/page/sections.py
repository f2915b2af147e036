"""The sections of the walk's page, see ``sections.toml``, and what is made next to it."""

from functools import partial

from gslopes.core import Facts, read_beside
from gslopes.frame.page import Content, Page
from gslopes.frame.spec import Assets, Run, Section
from gslopes.slopes.method import PRESENCE


def _parts(section: Facts, page: Page) -> Content | None:
    """What a macro is called with: parts of the page by their names, which are its arguments; None to leave it out."""
    if "needs" in section and not getattr(page, section["needs"]):
        return None
    return {name: getattr(page, name) for name in section["parts"]}


SECTIONS = tuple(
    Section(one["name"], one.get("title", ""), partial(_parts, one), one.get("first", False))
    for one in read_beside(__file__, "sections.toml")["section"]
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
