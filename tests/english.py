"""How often prose has the idioms, and code the vague names, that make it read translated: python -m tests.english."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
IDIOMS = {  # per 10,000 words: half the distance from what gslopes had to httpx, torchmetrics, fairlearn and others
    "is none": (r"\b(?:is|are) none\b", 4.4),
    "that of": (r"\b(?:that|those) of\b", 6),
    "says": (r"\b(?:says?|said)\b", 15),
    "stands": (r"\bstands?\b", 4.5),
    "its own": (r"\b(?:its|their|one's) own\b", 9.2),
    "alone": (r"\balone\b", 6.5),
    "where": (r"\bwhere\b", 33),
}
VAGUE = re.compile(
    "found|known|one|shown|place|whole|kept|said|made|given|wanted|here|there|own|at|of|each|other|"
    "several|asked|told|held|left|seen|things?"
)
VAGUE_NAMES = {"gslopes": 25, "training": 25, "tests": 49}  # per 1,000 names
FOLDERS = ("gslopes", "training", "tests", "docs")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# A comment, or a text, in which a # begins none: ``tokenize`` takes twenty times as long.
COMMENT = re.compile(
    r"""\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(#[^\n]*)""",
    re.DOTALL,
)


@cache
def read(path: Path) -> tuple[list[str], list[str]]:
    """Docstrings and comments of a module, and the names of its variables and arguments."""
    source = path.read_text("utf-8")
    texts = list(filter(None, COMMENT.findall(source)))
    named = []
    due: list[ast.AST] = [ast.parse(source)]
    while due:
        node = due.pop()
        kind = type(node)
        if kind is ast.Name:
            if type(node.ctx) is ast.Store:
                named.append(node.id)
            continue
        if kind is ast.arg:
            named.append(node.arg)
        elif kind in DOCUMENTED:
            texts.append(ast.get_docstring(node) or "")
        for field in node.__dict__.values():
            if isinstance(field, ast.AST):
                due.append(field)
            elif type(field) is list:
                due += [item for item in field if isinstance(item, ast.AST)]
    return texts, named


def prose(folder: Path) -> Iterator[str]:
    """Docstrings and comments of modules, and pages."""
    for path in sorted(folder.rglob("*.py")):
        yield from read(path)[0]
    for path in sorted(folder.rglob("*.md")):
        yield path.read_text("utf-8")


def idioms(texts: Iterable[str]) -> dict[str, float]:
    """Idiom to how often it occurs in 10,000 words."""
    text = "\n".join(texts)
    words = len(re.findall(r"[A-Za-z']+", text)) or 1
    return {
        name: 10_000 * len(re.findall(pattern, text)) / words
        for name, (pattern, _) in IDIOMS.items()
    }


def names(folder: Path) -> Iterator[str]:
    """Names of variables and of arguments."""
    for path in sorted(folder.rglob("*.py")):
        yield from read(path)[1]


def vague(folder: Path) -> float:
    """How many of 1,000 names tell nothing about what they hold."""
    counted = list(names(folder))
    return 1000 * sum(bool(VAGUE.fullmatch(name)) for name in counted) / (len(counted) or 1)


def excesses() -> list[str]:
    """What exceeds its bound, and by how much."""
    lines = []
    for name in FOLDERS:
        folder = ROOT / name
        for idiom, rate in idioms(prose(folder)).items():
            bound = IDIOMS[idiom][1]
            if rate > bound:
                lines.append(f"{name}: “{idiom}” {rate:.1f} times in 10,000 words, above {bound}")
        rate = vague(folder)
        if rate > VAGUE_NAMES.get(name, 1000):
            lines.append(f"{name}: {rate:.0f} of 1,000 names are vague, above {VAGUE_NAMES[name]}")
    return lines


if __name__ == "__main__":
    raise SystemExit("\n".join(excesses()))
