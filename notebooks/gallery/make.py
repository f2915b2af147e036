"""One page of the gallery from finished run folders: its numbers and the first screen of its report page.

    python make.py open-nsfw London=RUN "IdenProf=RUN"

NAME is one of docs/gallery/models.toml. Of the run folders nothing is written but RUN/report, which is drawn without
photos: none of them may be published. Only ``drawn`` faces are shown, under a line that says what they are. The picture
needs playwright and a Chromium ($CHROMIUM: which one).
"""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.core import runfolder, tables
from gslopes.report import units
from gslopes.frame.executors import OneProcess
from gslopes.frame.plan import plan
from gslopes.frame.run import carry_out
from gslopes.slopes.audit import SLOPES
from gslopes.slopes import method
from gslopes.slopes.page import ReportConfig, decisions, lead, loading, paper
from gslopes.slopes.page.decisions import findings_table
from gslopes.slopes.page.loading import funnels

GALLERY = Path(__file__).resolve().parents[2] / "docs/gallery"
MOST_LABELS = 12  # of a table
SCREEN = {"width": 1120, "height": 760}  # CSS pixels
LARGEST = 150_000  # bytes
ABOVE = """line => {
  const band = document.createElement("p");
  band.textContent = line;
  band.style = "background: #b00020; color: white; font: bold 18px sans-serif; margin: 0; padding: 8px 16px";
  document.body.prepend(band);
}"""


def numbers(run: Path) -> dict[str, Any]:
    """What a page of the gallery says about one run folder: for each attribute counts, sentence, labels, placebos.

    Where several classifiers were asked, each has its own, ``attribute, classifier``, in the order of the paper.
    """
    source = loading.load(run)
    counts = funnels(run)
    also = leakage(run)
    several = len({one.classifier for one in source.findings}) > 1
    found = {}
    for one in sorted(source.findings, key=lambda one: paper.printed_place(one.classifier)):
        decided = decisions.decide(one.read)
        head = lead.headline(one.read, decided, one.attribute)
        found[f"{one.attribute}, {one.classifier}" if several else one.attribute] = {
            "photos": counts[one.classifier, one.attribute],
            "sentence": head.sentence,
            "judged": head.moves + head.still,
            "findings": sum(each.code == decisions.FINDING for each in decided.values()),
            "labels": labels(one),
            "moves_too": also.get(one.attribute, {}),
        }
    pictures = len(tables.read(tables.ASKED, run / "asked.parquet"))
    return {"pictures": pictures, "region": region(run), "attributes": found}


def region(run: Path) -> str:
    """Which part of the face the edits may change, each attribute its own where they differ."""
    return next(choice.here for choice in method.of_run(run) if choice.what == "region")


def leakage(run: Path) -> dict[str, Any]:
    """Attribute to what the edit moves too, by an independent reader: shares of its own slope, with intervals."""
    if not (run / "validity.json").is_file():  # the run was not gated
        return {}
    rows = json.loads((run / "validity.json").read_text("utf-8"))["attributes"]
    return {
        row["attribute"]: {
            name: {key: short(each[key]) for key in ("value", "low", "high")} for name, each in row["leakage"].items()
        }
        for row in rows
    }


def labels(finding: loading.Finding) -> list[dict[str, Any]]:
    """The labels that are judged, at most ``MOST_LABELS``, findings first, each with its placebo that goes furthest."""
    order = findings_table(pd.concat([finding.rows, finding.placebo]))
    order = order[order["decision"] != decisions.UNJUDGED]["label"].tolist()[:MOST_LABELS]
    rows = finding.read.drop_duplicates("label").set_index("label")
    decided = decisions.decide(finding.read)
    return [record(label, rows.loc[label], finding.placebo, decided[label].code) for label in order]


def record(label: str, row: pd.Series, placebo: pd.DataFrame, decision: str) -> dict[str, Any]:
    """One label as JSON has it: numbers in the unit of its measure."""
    same = placebo[placebo["label"] == label]
    slopes = same["placebo_slope"].dropna()
    return {
        "label": label,
        "measure": units.measure_of(row),
        "unit": units.unit_of(row),
        **{name: short(row[name]) for name in ("slope", "ci_low", "ci_high", "q")},
        "decision": decision,
        "placebo": None if slopes.empty else short(slopes.loc[slopes.abs().idxmax()]),
    }


def short(number: float) -> float | None:
    """Six significant digits; None where there is no number."""
    return float(f"{number:.6g}") if math.isfinite(number) else None


def paper_tables(run: Path, title: str) -> dict[str, str]:
    """Tables 1, 2 and 4 of Joo and Kärkkäinen as the run's report has them, in Markdown; title: of the only API."""
    files = {name: run / f"report/tables/{name}.md" for name in ("table1", "table2", "table4")}
    asked = {one.classifier for one in loading.load(run).findings}
    texts = {name: file.read_text("utf-8") for name, file in files.items() if file.is_file()}
    return {name: text.replace(*asked, title) for name, text in texts.items()} if len(asked) == 1 else texts


def figures(run: Path, line: str = "") -> Iterator[tuple[str, bytes]]:
    """Attribute, and Figure 2 of Joo and Kärkkäinen along it, of the label that was asked for.  line: of text in it."""
    from PIL import Image, ImageDraw

    first = loading.load(run).findings[0].attribute  # the only one, where no file names it
    for file in sorted((run / "report").glob("figure2*.png")):
        image = Image.open(file).convert("RGB")
        image.thumbnail((900, 900))
        ImageDraw.Draw(image).text((image.width - 8, image.height - 8), line, "#b00020", anchor="rs", font_size=16)
        yield [*file.stem.split("-"), first][1], jpeg(image)


def picture(page: Path, line: str = "") -> bytes:
    """The first screen of a run's page.  line: of text above it."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=os.environ.get("CHROMIUM"), args=["--no-sandbox"])
        tab = browser.new_page(viewport=SCREEN, color_scheme="light")
        tab.goto(f"file://{page}")
        tab.wait_for_timeout(1500)
        if line:
            tab.evaluate(ABOVE, line)
        image = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
        browser.close()
    return jpeg(image)


def jpeg(image: Any) -> bytes:
    """A picture of at most ``LARGEST`` bytes."""
    for quality in (80, 60, 40):
        image.save(buffer := io.BytesIO(), "JPEG", quality=quality, optimize=True)
        if buffer.tell() <= LARGEST:
            break
    return buffer.getvalue()


def main() -> None:
    """Write the JSON and the picture of one page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("runs", nargs="+", metavar="PHOTOS=RUN")
    parser.add_argument("--no-picture", action="store_true")
    given = parser.parse_args()
    runs = {name: Path(run).resolve() for name, _, run in (pair.partition("=") for pair in given.runs)}
    facts = tomllib.loads((GALLERY / "models.toml").read_text("utf-8"))[given.name]
    content: dict[str, Any] = {"runs": {name: numbers(run) for name, run in runs.items()}}
    for name, run in {} if given.no_picture else runs.items():
        shown = ReportConfig("thumbs" if "drawn" in facts else "none", labels=facts.get("figure2", ()))
        again = plan(SLOPES, run, None, {"report": shown, "device": "cpu"}, only=["report"])
        page = carry_out(again, OneProcess()).page
        if run == next(iter(runs.values())):
            runfolder.write_bytes(GALLERY / f"{given.name}.jpg", picture(page, facts.get("drawn", "")))
        if "figure2" in facts:
            content["runs"][name]["tables"] = paper_tables(run, facts["title"])
            for attribute, data in figures(run, facts.get("drawn", "")):
                runfolder.write_bytes(GALLERY / f"{given.name}-{name.lower().replace(' ', '-')}-{attribute}.jpg", data)
    runfolder.write_bytes(GALLERY / f"{given.name}.json", (json.dumps(content, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
