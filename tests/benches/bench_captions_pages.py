"""The pages of a captions audit with many cases: size, memory, how soon they open, how soon a key answers.

    OMP_NUM_THREADS=1 python tests/benches/bench_captions_pages.py [--cases 5000] [--photos 200] [--out pages.json]

Cases are made up: captions and truths of about the length of COCO's, five human captions as truth, one photo in turn of
``--photos`` made ones, and some hostile texts. Each page is opened in a new Chromium context five times from the disk;
answers are given by key, and every tenth is timed from the key to the next frame that is painted.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image
from playwright.sync_api import sync_playwright

from gslopes.captions.config import TABLES
from gslopes.captions.page.review import render_review, review_items, sampled
from tests.benches.bench_captions import captions

HOSTILE = "<script>alert(1)</script>\u202e =1+1"
TECHNIQUES = (
    ("S1", "stereotyping", "hallucination"),
    ("D1", "demeaning", "listed"),
    ("D2", "demeaning", "unmentioned"),
)
PRESS = """key => new Promise(done => {
  const began = performance.now();
  document.dispatchEvent(new KeyboardEvent("keydown", { key }));
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
})"""


def made_cases(count: int, photos: int) -> pd.DataFrame:
    """Rows of the cases table."""
    texts = captions(6 * count)
    rows = []
    for number in range(count):
        technique, harm, rule = TECHNIQUES[number % 3]
        caption, *truth = texts[6 * number : 6 * number + 6]
        words = {
            "word": "lazy" if technique == "D1" else "dog",
            "concept": "dog.n.01",
            "group": "female",
        }
        row = dict.fromkeys(TABLES["cases"].columns, "") | words
        row |= {
            "case": f"{number:016x}",
            "harm": harm,
            "technique": technique,
            "rule": rule,
            "source": 0,
        }
        row |= {
            "stage": "system-captions",
            "truth": "human-captions",
            "image": f"{number % photos}.jpg",
        }
        rows.append(
            row
            | {
                "text": caption if number % 50 else HOSTILE,
                "truth_text": " · ".join(truth),
                "reading": "look",
            }
        )
    return pd.DataFrame(rows)[TABLES["cases"].columns]


def write(folder: Path, count: int, photos: int) -> dict[str, Any]:
    """The review into a folder; seconds and bytes."""
    (folder / "photos").mkdir()
    noise = np.random.default_rng(0).integers(0, 255, (photos, 30, 40, 3), np.uint8)
    for number in range(photos):
        Image.fromarray(noise[number]).resize((640, 480)).save(folder / "photos" / f"{number}.jpg")
    cases = made_cases(count, photos)
    (folder / "run").mkdir()
    began = time.perf_counter()
    items = review_items(sampled(cases, count), folder / "photos", folder / "run", {})
    text = render_review(items, [])
    (folder / "run" / "review.html").write_text(text, encoding="utf-8")
    return {"review": {"write_s": time.perf_counter() - began, "bytes": len(text.encode())}}


def opened(browser: Any, file: Path) -> float:
    """Seconds from the command to the load event and the first case."""
    context = browser.new_context()
    page = context.new_page()
    began = time.perf_counter()
    page.goto(file.as_uri(), wait_until="load")
    page.locator("h1").wait_for()
    seconds = time.perf_counter() - began
    context.close()
    return seconds


def used(browser: Any, file: Path, answers: int) -> dict[str, Any]:
    """Milliseconds from a key to the next frame, heap, and the saved file, after so many answers."""
    context = browser.new_context()
    page = context.new_page()
    alerts: list[str] = []
    page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.accept()))
    page.goto(file.as_uri(), wait_until="load")
    taken = []
    for number in range(answers):
        key = "hnptu"[number % 5]
        if number % 10:
            page.keyboard.press(key)
        else:
            taken.append(page.evaluate(PRESS, key))
    began = time.perf_counter()
    with page.expect_download() as download:
        page.keyboard.press("s")
    saved = Path(download.value.path()).read_text("utf-8").splitlines()
    save_s = time.perf_counter() - began
    heap = page.evaluate("performance.memory ? performance.memory.usedJSHeapSize : null")
    facts = {
        "answers": answers,
        "rows_saved": len(saved) - 1,
        "save_s": save_s,
        "alerts": len(alerts),
    }
    facts |= {
        "key_ms_median": statistics.median(taken),
        "key_ms_most": max(taken),
        "last_key_ms": taken[-1],
    }
    context.close()
    return facts | {"heap_mb": heap / 1e6 if heap else None}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--photos", type=int, default=200)
    parser.add_argument("--answers", type=int, default=1000)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, sync_playwright() as driver:
        folder = Path(home)
        facts: dict[str, Any] = {"cases": args.cases, **write(folder, args.cases, args.photos)}
        facts["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        path = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = driver.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--enable-precise-memory-info"]
        )
        seconds = [opened(browser, folder / "run" / "review.html") for _ in range(5)]
        facts["review"] |= {"open_s": statistics.median(seconds), "open_s_most": max(seconds)}
        facts["review"] |= used(
            browser, folder / "run" / "review.html", min(args.answers, args.cases)
        )
        browser.close()
    text = json.dumps(facts, indent=2) + "\n"
    args.out.write_text(text) if args.out else sys.stdout.write(text)


if __name__ == "__main__":
    main()
