"""The review: one page that opens from the disk, asks no server, and is answered by keyboard; its answers are a CSV.

Each audit gives its items and questions, and a template that extends ``review.html.j2`` by what is shown of an item.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from gslopes.core import DataMissing, Facts, JsonObject, Texts, csv_table, files, frozen, hexdigest
from gslopes.report.inline import render

_HINT = "Save it from review.html (key S)."


@frozen
class Question:
    """A row of buttons.

    keys: key to its text, and the cells that it sets or the name of the item's own.  moving: keys that move on to the
    next item.  folded: the heading below which it is folded away; empty: always open.
    """

    legend: str
    keys: Mapping[str, tuple[str, Texts | str]]
    moving: Collection[str]
    folded: str = ""


def read_answers(
    file: Path,
    columns: Sequence[str],
    unique: Sequence[str],
    values: Mapping[str, Collection[str]],
    *,
    required: bool,
) -> list[dict[str, str]]:
    """Rows of a review's CSV, each an answer of a reviewer, or only a note.

    columns: of the CSV.  unique: those that no two rows may share.  values: column to the answers that it may have.

    Raises: DataMissing, naming the line, if the file is missing though required, is not a review, has an unknown answer
        or two rows of one reviewer about one item.
    """
    if not required and not files.is_file(file):
        return []
    table = csv_table.read_csv(file, columns, raises=DataMissing, hint=_HINT)
    cells = {name: (*answers, "") for name, answers in values.items()}
    rows = table.checked(unique, cells).rows()
    return [{name: files.without_guard(row[name]) for name in columns} for _, row in rows]


def render_review(
    template: str,
    house: Path,
    questions: Sequence[Question],
    items: Sequence[Facts],
    answers: Sequence[Texts],
    columns: Sequence[str],
    *,
    page: Facts | None = None,
    **how: Any,
) -> str:
    """A review of one item at a time as text; rows about no item of it are kept when it is saved again.

    template, house: a template that extends ``review.html.j2``, and its folder.  page: what else it uses.
    items, answers, columns, how: see ``review_data``.
    """
    keys = {
        key: {"from" if isinstance(cells, str) else "set": cells, "next": key in question.moving}
        for question in questions
        for key, (_, cells) in question.keys.items()
    }
    data = review_data(items, answers, columns, keys=keys, others=True, **how)
    shared: JsonObject = {"opened": False, **(page or {}), "questions": questions}
    shared |= {"count": len(items), "reviewer": how.get("reviewer", "")}
    return render(
        template, house=house, styles=("review.css",), scripts=("review.js",), data=data, **shared
    )


def review_data(
    items: Sequence[Facts],
    answers: Sequence[Texts],
    columns: Sequence[str],
    *,
    copied: Sequence[str],
    **more: Any,
) -> JsonObject:
    """What the script of every review reads: ``review.js``.

    items: what is shown of each; they hold the columns in ``copied``.  answers: rows of the CSV so far.
    columns: of that CSV.  copied: those that name an item.
    more: ``done``, cells of an answered row, ``*`` for any text; ``keys``, key to the cells that it ``set``s, or to the
        name of an item's own (``from``), and whether it moves on (``next``); ``values``, column to the texts that a
        file may have in it; ``reviewer``, the column of who answers; ``id`` if rows differ by more than ``copied``;
        ``others``, rows about no item are kept; ``resets``, cells of a row that another key begins again; ``untold``,
        columns that are not shown; ``names`` of values; ``noun`` of an item.  What is left out is as ``review.js`` has
        it.
    """
    named = [[str(item[name]) for name in copied] for item in items]
    rows = [{name: str(row.get(name, "")) for name in columns} for row in answers]
    key, base = (hexdigest(json.dumps(part))[:32] for part in (named, rows))
    return {
        "items": list(items),
        "answers": rows,
        "columns": columns,
        "copied": copied,
        "key": key,
        "base": base,
        **more,
    }
