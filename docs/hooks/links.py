"""Links and anchors of the built site that lead nowhere, in pages that mkdocs does not read as Markdown as well."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

PLACES = {"href", "src", "data-src", "poster"}


class Reader(HTMLParser):
    """Where a page's links lead, and what it has for links to lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors = {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the links and names of one element."""
        for name, value in attrs:
            if name in PLACES and value:
                self.links.add(value)
            if name in ("id", "name") and value:
                self.anchors.add(value)


def dead(site: Path) -> list[str]:
    """``page: link`` of every link within a built site to a file or an anchor that it lacks, sorted.

    A file is looked for by the exact case of its name, as servers do. Links to elsewhere are not followed.
    """
    pages = {
        page.resolve(): Reader(page.read_text("utf-8", "replace")) for page in site.rglob("*.html")
    }
    files = {path.resolve() for path in site.rglob("*")}
    wrong = []
    for page, read in pages.items():
        for link in read.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            path = unquote(parts.path)
            start = site.resolve() if path.startswith("/") else page.parent
            target = (start / path.lstrip("/")).resolve() if path else page
            if target.is_dir():
                target /= "index.html"
            there = target in files
            anchor = unquote(parts.fragment)
            if there and target in pages and not anchor.startswith(":~:"):
                there = anchor in pages[target].anchors
            if not there:
                wrong.append(f"{page.relative_to(site.resolve())}: {link}")
    return sorted(wrong)


if __name__ == "__main__":
    sys.stdout.writelines(f"{link}\n" for link in dead(Path(sys.argv[1])))
