"""The page of a set that others made, in a real browser: what no reader knows, what else moved, and room for it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import gslopes
from gslopes.slopes.demo import astronaut

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.evidence,
    pytest.mark.figures("png"),
]
UNITS = 20


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two pictures a unit of the astronaut: by day, and in a dimmer evening; its classifier sees light, and luck."""
    folder, lot, rows = tmp_path_factory.mktemp("set"), np.random.default_rng(0), []
    face = np.asarray(astronaut())[:256, 100:356].astype(float)
    for unit in range(UNITS):
        for value in ("day", "evening"):
            light = lot.uniform(0.85, 1.0) * (1 if value == "day" else lot.uniform(0.6, 0.8))
            pixels = np.clip(face * light + lot.normal(0, 3, face.shape), 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(folder / f"{unit}-{value}.png")
            rows.append((f"{unit}-{value}.png", f"unit {unit}", "hour", value))
    pd.DataFrame(rows, columns=["picture", "unit", "attribute", "value"]).to_csv(
        folder / "set.csv", index=False
    )

    def seen(pictures: Sequence[np.ndarray]) -> list[dict[str, float]]:
        return [{"light": float(one.mean()), "luck": float(lot.normal(40, 5))} for one in pictures]

    (folder / "few.toml").write_text("[fit]\npermutations = 50\n")
    options = {
        "pairs": folder / "set.csv",
        "classifier": seen,
        "baseline": "day",
        "config": folder / "few.toml",
    }
    return gslopes.audit(None, folder / "run", **options).page


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_the_page_says_what_no_reader_knows_and_what_else_moved_and_has_room(
    chromium: Any, report: Path, width: int, height: int
) -> None:
    context = chromium.new_context(viewport={"width": width, "height": height})
    page, wrong = context.new_page(), list[str]()
    page.on(
        "console",
        lambda message: (
            wrong.append(message.text) if message.type in ("error", "warning") else None
        ),
    )
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(report.as_uri())
    text = page.locator("body").inner_text()
    assert "made by others" in text or "that others made" in text
    assert f"pictures of {UNITS} units that others made, each from day to evening" in " ".join(
        text.split()
    )
    assert "No reader knows perceived hour (evening against day)" in text
    assert "An association under these pictures, which may differ in more" in report.read_text(
        "utf-8"
    )
    assert page.locator(".strip.scores small").all_inner_texts()[:2] == ["day", "evening"]
    page.evaluate("document.getElementById('explorer').scrollIntoView()")
    page.locator("#app-explorer output.now").wait_for()
    assert page.locator("#app-explorer output.now").inner_text() == "day"
    page.evaluate("location.hash = 'explained'")
    table = page.locator("#explained ~ .scroll table").first
    table.wait_for()
    rows = dict(
        zip(
            table.locator("tbody th").all_inner_texts(),
            table.locator("tbody tr").all_inner_texts(),
            strict=True,
        )
    )
    assert "luminance" in rows["light"] or "background" in rows["light"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
        "nothing is wider than the window"
    )
    assert (
        page.locator(".sweep .strip img").first.evaluate(
            "image => image.decode().then(() => image.naturalWidth)"
        )
        > 0
    )
    assert wrong == []
    context.close()
