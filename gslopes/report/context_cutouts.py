"""The contact sheet of all cut-outs on magenta and gray, answered by keyboard."""

from __future__ import annotations

from html import escape
from urllib.parse import quote

import pandas as pd

from gslopes.report.inline import TEMPLATES, csp_hash


def cutouts_page(cutouts: pd.DataFrame) -> str:
    """The contact sheet on magenta and on gray, answered by keyboard: a accept, x exclude; saves review.csv."""
    cells = []
    for row in cutouts.sort_values(["status", "photo"]).to_dict("records"):
        if not row["file"]:
            continue
        src = quote(f"../{row['file']}")
        text = escape(
            f"{row['method']}, {row['status']}: {row['detail'] or row['reason']}"
            if row["reason"]
            else f"{row['method']}, used"
        )
        cells.append(
            f"<figure tabindex='0' role='group' aria-label='{text}' data-photo='{row['photo']}' "
            f"class='{row['status']}'><img loading='lazy' src='{src}' "
            f"alt='cut-out on magenta'><img loading='lazy' class='gray' src='{src}' alt='cut-out on gray'>"
            f"<figcaption>{text}</figcaption></figure>"
        )
    skipped = int((cutouts["file"] == "").sum())
    body = (
        "<p>Press <kbd>a</kbd> to accept and <kbd>x</kbd> to exclude the cut-out in focus, then save review.csv into "
        f"the run folder and run the same command in a new folder with --review. {skipped} photos have no cut-out.</p>"
        f"<p><button id='save'>Save review.csv</button></p><div class='sheet'>{''.join(cells)}</div>"
    )
    script = (
        "const said={};for(const f of document.querySelectorAll('figure'))f.addEventListener('keydown',e=>{"
        "const d={a:'accept',x:'exclude'}[e.key];if(!d)return;said[f.dataset.photo]=d;f.dataset.said=d;"
        "if(f.nextElementSibling)f.nextElementSibling.focus()});"
        "document.getElementById('save').onclick=()=>{const t='photo,decision\\n'+Object.entries(said).map("
        "([p,d])=>p+','+d+'\\n').join('');const a=document.createElement('a');a.href=URL.createObjectURL("
        "new Blob([t],{type:'text/csv'}));a.download='review.csv';a.click()};"
    )
    return _html("Cut-outs", body, script)


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
.sheet img { width: 50%; background: #f0f; float: left; }
.sheet img.gray { background: #777; }
.sheet figcaption { clear: both; font-size: .8rem; padding: .3rem; }
"""
