"""The crowd task: a page that shows empty backgrounds with the paper's questions and saves what ``--ratings`` reads.

One file without a server, to be sent to raters as it is.  Source: Barlas et al. 2020, section 4.2.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from gslopes.core.files import inside, is_file, read_named
from gslopes.report.inline import data_uri, render

HERE = Path(__file__).parents[1] / "templates"
COLUMNS = ("context", "rater", "gender", "rating", "text")  # of the CSV that the page saves


def rating_page(run: Path, composites: pd.DataFrame) -> str:
    """The page as text; empty without pictures of empty backgrounds.

    Each rater sees one background of each context, in an order of their own; neither name nor stereotype is shown.

    composites: the table of that name.
    """
    rows = composites[composites["kind"] == "empty"].drop_duplicates("photo").sort_values("photo")
    items = []
    for row in rows.to_dict("records"):
        path = run / row["file"]
        if row["file"] and inside(run, path) and is_file(path):
            kind = "png" if path.suffix.lower() == ".png" else "jpeg"
            items.append({"context": row["context"], "src": data_uri(read_named(row["file"], folder=run), kind)})
    if not items:
        return ""
    return render(
        "rating.html.j2",
        house=HERE,
        styles=("rating.css",),
        scripts=("rating.js",),
        data={"items": items, "columns": COLUMNS},
    )
