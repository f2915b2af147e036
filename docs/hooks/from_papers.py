"""The project's papers as pages: method, security, changelog, model cards and notebooks with their stored outputs."""

from __future__ import annotations

import base64
import json
import posixpath
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from from_code import table

ROOT = Path(__file__).resolve().parents[2]
# Paper of the checkout to its page; links between them follow.
PAPERS = {
    "CHANGELOG.md": "help/changelog.md",
    "CONTRIBUTING.md": "contribute/index.md",
    "METHOD.md": "method/differences.md",
    "SECURITY.md": "help/security.md",
    "training/README.md": "models/training.md",
    "gslopes/contexts/data/CARD.md": "models/typology.md",
}
MODELS = sorted(path.parent.name for path in (ROOT / "models").glob("*/card.md"))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
_LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(#[^)]*)?\)")


def titles() -> dict[str, str]:
    """Page to its title in the navigation."""
    made = {f"models/{name}.md": name for name in MODELS}
    made |= {
        "models/training.md": "how they were trained",
        "models/typology.md": "typology starter",
    }
    return made | {f"notebooks/{path.stem}.md": heading(path) for path in NOTEBOOKS}


def pages() -> dict[str, str | bytes]:
    """Page, or picture, to its content."""
    made: dict[str, str | bytes] = {
        page: linked((ROOT / paper).read_text("utf-8"), paper, page)
        for paper, page in PAPERS.items()
        if paper != "CONTRIBUTING.md"
    }
    for name in MODELS:
        made[f"models/{name}.md"] = card(name)
    for picture in (ROOT / "models").glob("*/*.png"):
        made[f"models/{picture.parent.name}-{picture.name}"] = picture.read_bytes()
    for path in NOTEBOOKS:
        made |= notebook(path)
    return made


def linked(text: str, paper: str, page: str) -> str:
    """A paper's text with its links as the page needs them; what is no page stays as the name of a file."""
    known = {**PAPERS, **{f"models/{name}/card.md": f"models/{name}.md" for name in MODELS}}
    known |= {
        f"tests/benches/results/{path.name}": f"benchmarks/{path.stem}.md" for path in _results()
    }

    def link(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(paper), found[1]))
        if target not in known:
            return f"] (`{target}`)"
        return f"]({posixpath.relpath(known[target], posixpath.dirname(page))}{found[2] or ''})"

    return re.sub(r"\[([^\]]+)\] \((`[^)]+`)\)", r"\1 (\2)", _LINK.sub(link, text))


def _results() -> list[Path]:
    folder = ROOT / "tests/benches/results"
    return [*folder.glob("*.md"), *folder.glob("*.json")]


# -- models ------------------------------------------------------------------------------------------------------------


def card(name: str) -> str:
    """A model's card: its front matter as a table, then its text."""
    text = (ROOT / f"models/{name}/card.md").read_text("utf-8")
    _, front, body = text.split("---\n", 2)
    facts = [line.split(": ", 1) for line in front.strip().splitlines()]
    head, rest = body.strip().split("\n", 1)
    shown = [head, table(("", ""), [(key, value) for key, value in facts if key != "name"])]
    if (ROOT / f"models/{name}/sweep.png").is_file():
        shown.append(f"![A sweep along the attribute]({name}-sweep.png)")
    return "\n\n".join(
        [*shown, linked(rest.strip(), f"models/{name}/card.md", f"models/{name}.md")]
    )


def models() -> str:
    """Every model that ships, what it does and its terms."""
    import tomllib

    rows = []
    for name in MODELS:
        spec = tomllib.loads((ROOT / f"models/{name}/spec.toml").read_text("utf-8"))
        rows.append((f"[{name}]({name}.md)", spec["summary"], spec["licence"]))
    return table(("model", "what it does", "terms"), rows)


# -- notebooks ---------------------------------------------------------------------------------------------------------


def heading(path: Path) -> str:
    """A notebook's own title."""
    first = json.loads(path.read_text("utf-8"))["cells"][0]["source"]
    return "".join(first).splitlines()[0].removeprefix("# ").rstrip(".")


def notebook(path: Path) -> dict[str, str | bytes]:
    """A notebook's cells and stored outputs as a page, and its pictures."""
    made: dict[str, str | bytes] = {}
    parts = []
    for number, one in enumerate(json.loads(path.read_text("utf-8"))["cells"]):
        source = "".join(one["source"]).strip()
        if one["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for turn, output in enumerate(one.get("outputs", [])):
            picture = f"{path.stem}-{number}-{turn}.png"
            text, pixels = shown(output, picture)
            parts += [text] if text else []
            if pixels:
                made[f"notebooks/{picture}"] = pixels
    note = f"The notebook is `notebooks/{path.name}`; the tests run it from its first cell to its last."
    made[f"notebooks/{path.stem}.md"] = "\n\n".join([*parts[:1], note, *parts[1:]])
    return made


def shown(output: dict[str, Any], picture: str) -> tuple[str, bytes]:
    """One output as Markdown, and the pixels of a picture."""
    data = output.get("data", {})
    if "image/png" in data:
        return f"![Output of the cell above]({picture})", base64.b64decode(
            "".join(data["image/png"])
        )
    if "text/html" in data:
        html = re.sub(r"<style.*?</style>", "", "".join(data["text/html"]), flags=re.DOTALL)
        # files of the run, which the site has not
        html = re.sub(r'<a href="(?!https?:)[^"]*"[^>]*>(.*?)</a>', r"\1", html)
        return "\n".join(line.strip() for line in html.splitlines() if line.strip()), b""
    if "text/markdown" in data:
        return "".join(data["text/markdown"]), b""
    text = "".join(output.get("text", "") or data.get("text/plain", "")).rstrip()
    return (f"```text\n{text}\n```" if text else ""), b""


def notebooks() -> str:
    """Every notebook, with a link to its page."""
    return "\n".join(f"- [{heading(path)}]({path.stem}.md)" for path in NOTEBOOKS)


MACROS: dict[str, Callable[..., str]] = {"models": models, "notebooks": notebooks}
