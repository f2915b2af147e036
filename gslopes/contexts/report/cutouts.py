"""The contact sheet of all cut-outs on magenta and gray, answered by keyboard."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any
from urllib.parse import quote

import pandas as pd

from gslopes.report import words
from gslopes.report.inline import TEMPLATES, csp_hash


def cutouts_page(cutouts: pd.DataFrame, names: Mapping[str, str] | None = None) -> str:
    """The contact sheet on magenta and on gray, answered by key (a accept, x exclude) or button; saves review.csv.

    cutouts: the table of that name.  names: photo to the name of its file.
    """
    shown = cutouts[cutouts["file"] != ""].sort_values(["status", "photo"])
    cells = [_cell(row, (names or {}).get(row["photo"], "")) for row in shown.to_dict("records")]
    flagged, missing = int((shown["status"] == "flagged").sum()), len(cutouts) - len(shown)
    body = (
        f"<p>{len(shown):,} cut-outs, {flagged:,} flagged: they stand first and are left out unless you accept them; "
        f"{missing:,} photos have no cut-out. Press <kbd>a</kbd> to accept and <kbd>x</kbd> to exclude the one in "
        "focus, or use its buttons. Then save review.csv and run the same command in a new folder with --review.</p>"
        "<p><button type='button' class='plain' id='save'>Save review.csv</button> "
        "<span id='count' role='status'></span></p>"
        f"<div class='sheet'>{''.join(cells)}</div>"
    )
    return _html("Cut-outs", body, _SCRIPT)


def _cell(row: Mapping[Any, Any], name: str) -> str:
    src = escape(quote(f"../{row['file']}"))
    why = f": {row['detail'] or row['reason']}" if row["reason"] else ""
    text = escape(words.printable(f"{name}: " * bool(name) + f"{row['method']}, {row['status']}{why}"))
    pictures = "".join(
        f"<img loading='lazy' class='{ground}' src='{src}' alt='cut-out on {ground}'>" for ground in ("magenta", "gray")
    )
    buttons = "".join(
        f"<button type='button' class='plain' data-say='{say}' aria-label='{head}, {text}'>{head}</button>"
        for say, head in (("accept", "Accept"), ("exclude", "Exclude"))
    )
    return (
        f"<figure tabindex='0' role='group' aria-label='{text}' data-photo='{escape(row['photo'])}' "
        f"class='{escape(row['status'])}'>{pictures}<figcaption>{text}<span>{buttons}</span></figcaption></figure>"
    )


_SCRIPT = """"use strict";
(() => {
  const said = {};
  const count = document.getElementById("count");
  const say = (figure, decision) => {
    said[figure.dataset.photo] = figure.dataset.said = decision;
    count.textContent = `${Object.keys(said).length} decided, not saved yet`;
  };
  for (const figure of document.querySelectorAll("figure")) {
    figure.addEventListener("keydown", (event) => {
      const decision = { a: "accept", x: "exclude" }[event.key];
      if (!decision || event.ctrlKey || event.metaKey || event.altKey) return;
      say(figure, decision);
      if (figure.nextElementSibling) figure.nextElementSibling.focus();
    });
    for (const button of figure.querySelectorAll("button")) {
      button.addEventListener("click", () => say(figure, button.dataset.say));
    }
  }
  document.getElementById("save").addEventListener("click", () => {
    const lines = Object.entries(said).map(([photo, decision]) => `${photo},${decision}\\n`);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(["photo,decision\\n", ...lines], { type: "text/csv" }));
    link.download = "review.csv";
    link.click();
    count.textContent = `${lines.length} decided, all saved`;
  });
})();
"""


def _html(title: str, body: str, script: str = "") -> str:
    css = (TEMPLATES / "page.css").read_text("utf-8") + _CSS
    policy = f"default-src 'none'; img-src 'self' data: file:; style-src 'sha256-{csp_hash(css)}'"
    policy += f"; script-src 'sha256-{csp_hash(script)}'" if script else ""
    tail = f"<script>{script}</script>" if script else ""
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"><title>{escape(title)}</title>'
        f"<style>{css}</style></head><body><main><p class='kicker'>gslopes contexts</p><h1>{escape(title)}</h1>{body}"
        f"</main>{tail}</body></html>\n"
    )


_CSS = """
.sheet { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: .8rem; }
.sheet figure { margin: 0; border: 2px solid var(--line); }
.sheet figure.flagged { border-color: var(--neg); }
.sheet figure[data-said=accept] { outline: 4px solid #2b8a3e; }
.sheet figure[data-said=exclude] { outline: 4px solid #b3261a; opacity: .5; }
.sheet img { width: 50%; aspect-ratio: 1; object-fit: contain; background: #f0f; float: left; }
.sheet img.gray { background: #777; }
.sheet figcaption { clear: both; font-size: .8rem; padding: .3rem; overflow-wrap: anywhere; }
.sheet figcaption span { display: flex; gap: .4rem; margin-top: .3rem; }
"""
