"""One page of the gallery from finished run folders: its numbers and the first screen of its report page.

    python make.py open-nsfw London=RUN "IdenProf=RUN"

NAME is one of docs/gallery/models.toml. Of the run folders nothing is written but RUN/report, which is drawn without
photos: none of them may be published. The picture needs playwright and a Chromium ($CHROMIUM: which one).
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
from gslopes.slopes import audit as stages
from gslopes.slopes import method
from gslopes.slopes.report import ReportConfig, decisions, loading
from gslopes.slopes.report.decisions import findings_table
from gslopes.slopes.report.loading import funnels

GALLERY = Path(__file__).resolve().parents[2] / "docs/gallery"
MOST_LABELS = 12  # of a table
SCREEN = {"width": 1120, "height": 760}  # CSS pixels
LARGEST = 150_000  # bytes


def numbers(run: Path) -> dict[str, Any]:
    """What a page of the gallery says about one run folder: for each attribute counts, sentence, labels, placebos."""
    source = loading.load(run)
    counts = {(one.classifier, one.attribute): one.counts for one in funnels(run)}
    also = leakage(run)
    found = {}
    for one in source.findings:
        decided = decisions.decide(one.read)
        head = decisions.headline(one.read, decided, one.attribute)
        found[one.attribute] = {
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
    furthest = same.loc[same["slope"].abs().idxmax()] if same["slope"].notna().any() else None
    return {
        "label": label,
        "measure": units.measure_of(row),
        "unit": units.unit_of(row),
        **{name: short(row[name]) for name in ("slope", "ci_low", "ci_high", "q")},
        "decision": decision,
        "placebo": None if furthest is None else short(furthest["slope"]),
    }


def short(number: float) -> float | None:
    """Six significant digits; None where there is no number."""
    return float(f"{number:.6g}") if math.isfinite(number) else None


def paper_tables(run: Path, title: str) -> dict[str, str]:
    """Tables 1, 2 and 4 of Joo and Kärkkäinen as the run's report has them, in Markdown; title: of the API."""
    files = {name: run / f"report/tables/{name}.md" for name in ("table1", "table2", "table4")}
    classifier = loading.load(run).findings[0].classifier
    return {
        name: file.read_text("utf-8").replace(classifier, title) for name, file in files.items() if file.is_file()
    }


def figures(run: Path) -> Iterator[tuple[str, bytes]]:
    """Attribute, and Figure 2 of Joo and Kärkkäinen along it, of the label that was asked for."""
    from PIL import Image

    for file in sorted((run / "report").glob("figure2-*.png")):
        image = Image.open(file).convert("RGB")
        image.thumbnail((900, 900))
        yield file.stem.split("-")[1], jpeg(image)


def picture(page: Path) -> bytes:
    """The first screen of a run's page, drawn without photos."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=os.environ.get("CHROMIUM"), args=["--no-sandbox"])
        tab = browser.new_page(viewport=SCREEN, color_scheme="light")
        tab.goto(f"file://{page}")
        tab.wait_for_timeout(1500)
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
        page = stages.redo(run, "report", ReportConfig("none", labels=facts.get("figure2", ()))).page
        if run == next(iter(runs.values())):
            runfolder.write_bytes(GALLERY / f"{given.name}.jpg", picture(page))
        if "figure2" in facts:
            content["runs"][name]["tables"] = paper_tables(run, facts["title"])
            for attribute, data in figures(run):
                runfolder.write_bytes(GALLERY / f"{given.name}-{name.lower()}-{attribute}.jpg", data)
    runfolder.write_bytes(GALLERY / f"{given.name}.json", (json.dumps(content, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
