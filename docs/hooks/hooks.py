"""What mkdocs calls: pages made from code, JSON and the project's papers, and values that stand in prose.

A page of docs/pages may hold ``{{ name argument ... }}``, which a function of ``MACROS`` replaces. A page that is also
read outside of the site keeps the value next to its call, ``<!-- {{ name argument ... }} -->value<!-- / -->``. Running
this file writes these values, and what of the package follows from its options; a test says when one is old.
"""

from __future__ import annotations

import logging
import re
import shlex
from pathlib import Path
from typing import Any

try:
    import from_code
    import from_gallery
    import from_json
    import from_models
    import from_options
    import from_papers
    import house
    import links
    from mkdocs.structure.files import File, Files
except ModuleNotFoundError as error:
    raise SystemExit(
        f"The site needs {error.name}, which is not installed: pip install -e '.[docs]'"
    ) from None

PAGES = Path(__file__).resolve().parents[1] / "pages"
MACROS = {
    **from_code.MACROS,
    **from_gallery.MACROS,
    **from_json.MACROS,
    **from_models.MACROS,
    **from_papers.MACROS,
    **house.MACROS,
}
_MACRO = re.compile(r"(?<!\$)\{\{ (.+?) \}\}")  # ${{ … }} stands in workflows
_KEPT = re.compile(r"(<!-- \{\{ (.+?) \}\} -->)(\s*)(?:\S.*?)?(\s*<!-- / -->)", re.DOTALL)


def on_config(config: Any) -> Any:
    """Name the pages that are made."""
    for section in config["nav"]:
        _fill(section)
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages and pictures that are made."""
    sources = from_code, from_gallery, from_json, from_models, from_papers
    for source in sources:
        for path, content in source.pages().items():
            files.append(File.generated(config, path, content=content))
    return files


def on_post_build(config: Any, **_: Any) -> None:
    """A warning for each link of the built site that leads nowhere; ``--strict`` ends with it."""
    for link in links.dead(Path(config["site_dir"])):
        logging.getLogger("mkdocs.hooks").warning("leads nowhere: %s", link)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Replace the macros of a written page.  Raises: KeyError for one that there is not."""
    if page.file.generated_by:
        return markdown
    bare = _KEPT.sub(
        lambda found: found[3] + expand(found[2]) + found[4].removesuffix("<!-- / -->"), markdown
    )
    return _MACRO.sub(lambda found: expand(found[1]), bare)


def kept(markdown: str) -> str:
    """A page with the values it keeps as they are now."""
    return _KEPT.sub(lambda found: found[1] + found[3] + expand(found[2]) + found[4], markdown)


def expand(call: str) -> str:
    """What a macro stands for: its name and its arguments, as a shell would part them."""
    name, *arguments = shlex.split(call)
    return MACROS[name](*arguments).strip()


def _fill(section: Any) -> None:
    """Put the made pages below each index whose folder holds them."""
    titles = {
        **from_code.titles(),
        **from_gallery.titles(),
        **from_json.titles(),
        **from_models.titles(),
        **from_papers.titles(),
    }
    for entries in section.values():
        if not isinstance(entries, list):
            continue
        for entry in list(entries):
            if isinstance(entry, dict):
                _fill(entry)
            elif entry.endswith("/index.md"):
                folder = entry.removesuffix("index.md")
                here = {
                    path: title
                    for path, title in titles.items()
                    if path.rpartition("/")[0] + "/" == folder
                }
                entries += [{title: path} for path, title in here.items()]


if __name__ == "__main__":
    from_options.write()
    for page in sorted(PAGES.rglob("*.md")):
        page.write_text(kept(page.read_text("utf-8")), "utf-8")
