"""``gslopes export``: a run in the forms that other programs read."""

from pathlib import Path
from typing import Any

import click

from gslopes.core import JsonObject, show
from gslopes.export.pictures import ExportConfig
from gslopes.frame.commands import PATH, json_option, options, out_option, print_json, say, verb


@verb(
    "gslopes export run --form parquet",
    "gslopes export run --form imagefolder --out sets",
    "gslopes export run --form webdataset --split 0.8 --split-by person --photos-csv people.csv",
    "gslopes export run --form answers --out answers.parquet",
)
@click.argument("run", type=PATH)
@click.option(
    "--form",
    type=click.Choice(["imagefolder", "parquet", "webdataset", "answers"]),
    required=True,
    help="The form, see above.",
)
@out_option(
    "PATH",
    "A folder, or the file of answers. [default: RUN/export/FORM, RUN/answers.csv]",
    default=None,
)
@options(ExportConfig)
@json_option
def export(run: Path, form: Any, out: Path | None, as_json: bool, options: JsonObject) -> int:
    """Write the counterfactual photos of a run, or its answers, as other programs read them.

    \b
    imagefolder  files and metadata.jsonl
    parquet      pictures within, as the library datasets reads it
    webdataset   tar files; a set is never divided
    answers      CSV or Parquet, one row a picture and label

    With the pictures come a card (README.md) and a Croissant file. Every edited picture says in its metadata that it is
    one.
    """  # noqa: D301 - click's mark of lines to keep
    from gslopes.export import export as export_run
    from gslopes.report.inline import plain

    exported = export_run(run, form, out, progress=True, **options)
    if as_json:
        print_json(exported.facts())
    else:
        say(plain("exported.txt.j2", __file__, made=exported, show=show))
    return 0
