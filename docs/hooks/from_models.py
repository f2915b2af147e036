"""The list of language models with dates, and the gallery's page of those of today, from docs/gallery/today."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from from_code import table
from from_gallery import slope

from gslopes.slopes.page import decisions

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "gslopes/ask/classifiers/models.toml"
TODAY = ROOT / "docs/gallery/today"
PAGE = "gallery/models-of-today.md"
PROTOCOLS = {
    "chat": "chat completions",
    "responses": "Responses",
    "messages": "Messages",
    "gemini": "generateContent",
    "converse": "Converse",
}
NOT_SHOWN = "–"
PLANTED = (
    " No placebo was asked about here, so nothing is a finding. Numbers were planted to fall or rise by 5 % of their "
    "mean per unit, or to stay: 3,000 USD a year of `salary`."
)


# -- models with dates -------------------------------------------------------------------------------------------------


def language_models() -> str:
    """Models that have not ended when the list was checked: since when, until when, at what list price."""
    listed = tomllib.loads(LIST.read_text("utf-8"))
    checked = listed.pop("checked")["on"]
    rows = [
        (
            f"`{name}`",
            one["vendor"],
            one.get("since", ""),
            ends(one),
            price(one),
        )
        for name, one in listed.items()
        if not (isinstance(one.get("ends"), date) and one["ends"] <= checked)
        and "images" not in one["dialects"]
    ]
    heads = ("model", "vendor", "available since", "ends", "list price, USD per million tokens")
    about = f"Vendors' pages, and what others copied from them, as read until {checked}; empty where nothing was found."
    return f"{table(heads, rows)}\n{about}"


def ends(model: Mapping[str, Any]) -> str:
    """When it ends, in words."""
    if "not_before" in model:
        return f"not before {model['not_before']}"
    return str(model.get("ends", ""))


def price(model: Mapping[str, Any]) -> str:
    """In and out, with the day on which they were read."""
    if "priced" not in model:
        return ""
    return f"{model['price_in']:g} in, {model['price_out']:g} out ({model['priced']})"


# -- the page of today's models ----------------------------------------------------------------------------------------


@cache
def plan() -> dict[str, Any]:
    """What was planned."""
    return tomllib.loads((TODAY / "plan.toml").read_text("utf-8"))


@cache
def results() -> dict[str, Any]:
    """What came of it; nothing before it was carried out."""
    file = TODAY / "results.json"
    return dict(json.loads(file.read_text("utf-8"))) if file.is_file() else {}


def titles() -> dict[str, str]:
    """Page to its title in the navigation."""
    return {PAGE: title()} if results() else {}


def pages() -> dict[str, str | bytes]:
    """Page to its content."""
    return {PAGE: page()} if results() else {}


def title() -> str:
    """The heading: it says whether a vendor was asked."""
    if results()["real"]:
        return f"Language models of today, {results()['asked_on']}"
    return "Language models of today: no vendor was asked"


def page() -> str:
    """What was asked, of whom, what was real, the table, and the command."""
    found, planned = results(), plan()
    parts = [f"# {title()}", about(found, planned)]
    parts += ["## The table", findings(found, planned), reading()]
    parts += ["## What was planned", planning(planned)]
    parts += ["## Carry it out", COMMAND]
    return "\n\n".join(parts)


def about(found: Mapping[str, Any], planned: Mapping[str, Any]) -> str:
    """What was real."""
    photos, tasks = planned["photos"], len(planned["ask"]["tasks"])
    shown = f"{tasks} tasks about {found['limit']} of the {photos['count']} portraits of {photos['title']}"
    if found["real"]:
        return f"{shown.capitalize()}, asked on {found['asked_on']}. Every answer is the vendor's."
    local = (
        " One row is a real vision-language model, a LLaVA with 0.3 million parameters in the same process. It was "
        "trained here, in minutes, to answer two of the tasks by how bright a picture is: no face decides, and what "
        "moves is light. It says nothing about people, and nothing about any other model."
    )
    return (
        f"**No number here is of a vendor's model.** It is the form of a table that waits for keys: {shown}. The "
        "portraits and their edits are real. The rows “stand-in” are servers on this machine, one for each vendor's "
        "protocol, which refuse what the protocol does not document. They see no face: what they answer was planted by "
        f"a picture's place in the sweep.{local if found['local'] else ''}"
    )


def findings(found: Mapping[str, Any], planned: Mapping[str, Any]) -> str:
    """Tasks by models: each slope with its interval, bold if it is a finding; at last how many are."""
    asked = found["models"]
    rows = [
        (f"`{task}`", *(cell(answers.get(task)) for answers in asked.values()))
        for task in planned["ask"]["tasks"]
    ]
    counts = [
        f"{sum(map(is_finding, answers.values()))} of {len(answers)}" for answers in asked.values()
    ]
    heads = [called(who, planned, found) for who in asked]
    return table(("task", *heads), [*rows, ("findings", *counts)])


def called(who: str, planned: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """A model's name in the table; a stand-in's is its protocol."""
    if who == "local":
        return "LLaVA, trained here"
    if found["real"]:
        vendor = next(one["vendor"] for one in planned["models"] if one["model"] == who)
        return f"{vendor}, `{who}`"
    one = planned["models"][int(who.rpartition("-")[2]) - 1]
    return f"stand-in: {PROTOCOLS[one['stand_in'].partition('=')[2]]}"


def cell(answer: Mapping[str, Any] | None) -> str:
    """A slope with its interval; nothing of a task that was not asked."""
    if answer is None:
        return ""
    label = answer["label"]
    if not label:
        return NOT_SHOWN
    shown = slope(label).replace(" per unit", "")
    return f"**{shown}**" if label["decision"] == decisions.FINDING else shown


def is_finding(answer: Mapping[str, Any] | None) -> bool:
    """Whether a task moves, as the page of a run says."""
    label = (answer or {}).get("label")
    return bool(label) and label["decision"] == decisions.FINDING


def reading() -> str:
    """How the table is read."""
    return (
        "Slopes per unit of perceived gender, from feminine to masculine, with 95 % intervals over photos: of what a "
        "task's scale counts as high. Bold: a finding of the run's page, q below 0.05 over the ten tasks of a model. "
        f"{NOT_SHOWN}: cannot be judged; empty: not asked. Models are not ranked."
        f"{'' if results()['real'] else PLANTED}"
    )


def planning(planned: Mapping[str, Any]) -> str:
    """The plan in a few lines."""
    models = ", ".join(f"`{one['model']}` ({one['vendor']})" for one in planned["models"])
    reckoned = sum(planned["budget"]["reckoned"].values())
    lines = [
        f"Registered on {planned['registered']}, before any vendor was asked, in `docs/gallery/today/plan.toml`; "
        f"amendments: {len(planned['amendments']) or 'none'}.",
        f"Models: {models}.",
        f"Photos: the first {planned['synthesise']['limit']} of the list with the sha256 "
        f"`{planned['photos']['list_sha256'][:16]}…` ({planned['photos']['source']}); "
        f"{planned['synthesise']['steps']} values along perceived gender, and placebos.",
        f"Budget: {planned['budget']['total']:g} USD, of which {reckoned:.0f} were reckoned at list prices.",
        f"Analysis: {planned['analysis']['primary']}; no other subset is reported.",
    ]
    return "\n".join(f"- {line}" for line in lines)


COMMAND = """\
With a key of each vendor in its variable, it is one command; it stops at the budget, and the same command goes on.

```bash
python docs/gallery/models_of_today.py PHOTOS OUT --dry-run
python docs/gallery/models_of_today.py PHOTOS OUT
```"""

MACROS: dict[str, Callable[..., str]] = {"language_models": language_models}
