"""."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes.crops import charts
from gslopes.crops.charts import STRIP, with_map
from tests.published import COUNTS


def rows(*pairs):
    common = {"draws_half": 0.01, "note": "", "verdict": "open"}
    return pd.DataFrame(
        [{"group": a, "other": b, "p": p, "ci_low": p - 0.05, "ci_high": p + 0.05, **common} for a, b, p in pairs]
    )


def parsed(svg):
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img"
    return root.get("aria-label"), root


def test_bars_carry_their_numbers_in_the_alternative_text():
    label, root = parsed(charts.bars(rows(("women & <girls>", "men", 0.617))))
    assert "women & <girls> over men: 61.7 %" in label
    widths = [float(box.get("width")) for box in root.iter() if box.tag.endswith("rect")]
    assert widths[0] / sum(widths) == pytest.approx(0.617, abs=1e-3)


def test_an_arrow_leads_to_the_less_favoured_and_is_pale_where_the_interval_holds_one_half():
    _, root = parsed(charts.arrows(rows(("a", "b", 0.7), ("a", "c", 0.51), ("b", "c", 0.3))))
    lines = [line for line in root.iter() if line.tag.endswith("line")]
    assert len(lines) == 3
    assert sum(line.get("stroke") == "var(--neutral)" for line in lines) == 1


def test_distributions_and_curves_are_drawn():
    label, _ = parsed(charts.distributions({"a": np.array([1.0, 2.0]), "b": np.array([np.nan, 3.0])}, "Largest"))
    assert "a median 1.5 of 2; b median 3 of 1" in label
    x = np.array([-1.0, 0.0, 1.0])
    label, root = parsed(charts.sweep_lines([("gender", x, x / 10 + 0.5), ("placebo", x, 0 * x + 0.5)], "Along"))
    assert "gender 40.0 % to 60.0 %" in label
    dashed = [line.get("stroke-dasharray") for line in root.iter() if line.tag.endswith("polyline")]
    assert dashed == [None, "5 4"]


def test_policies_are_placed_by_what_was_measured():
    ends = {f"deviation_{end}": 0.0 for end in ("low", "high")}
    frame = pd.DataFrame([{"policy": "argmax", "exposure": 0.0, "deviation": 0.13, **ends}])
    assert "argmax +13.0 points" in parsed(charts.scatter(frame))[0]


def test_every_bar_shows_its_own_pair():
    """No 14: the published split plots step by 1 where their pairs lie 2 apart, and show others' numbers."""
    counts = COUNTS["native-10000"]
    _, root = parsed(charts.bars(rows(*((a, b, won / (won + lost)) for (a, b), (won, lost) in counts.items()))))
    texts = [text.text for text in root.iter() if text.tag.endswith("text")][:-1]
    shown = [(texts[place], texts[place + 1], texts[place + 2]) for place in range(0, len(texts), 3)]
    away = {pair: f"{100 * (won / (won + lost) - 0.5):+.1f}".replace("-", "−") for pair, (won, lost) in counts.items()}
    assert shown == [(a, b, away[a, b]) for a, b in counts]
    assert away["WF", "WM"] == "+11.7"


def test_a_map_its_peaks_and_its_scores_stand_below_the_pair():
    values = np.zeros((4, 8), np.float32)
    values[1, 6] = 5
    row = {"rows": 4, "columns": 8, "values": values.ravel(), "peaks": np.array([6.5 / 8, 1.5 / 4], np.float32)}
    drawn = Image.new("RGB", (320, 160), "gray")
    whole = np.asarray(with_map(drawn, drawn, row), np.int64)
    assert whole.shape == (160 + 160 + 2 + STRIP, 320, 3)
    assert (whole[:160] == 128).all()
    below = whole[162:322]
    assert below[60 - 12, 260 - 12, 1] > below[130, 40, 1] + 60  # yellow beside the peak, violet elsewhere
    assert (below[60 - 6, 260] == 255).all()  # the peak's own disc
    line = whole[322:]
    violet = (line[..., 2] - line[..., 1]) > 70
    highest = np.argmax(violet.any(axis=1))
    assert abs(int(np.argmax(violet[highest])) - (14.5 / 32) * 320) < 4


def test_a_constant_map_has_a_flat_line():
    row = {"rows": 3, "columns": 3, "values": np.ones(9, np.float32), "peaks": np.array([], np.float32)}
    drawn = Image.new("RGB", (60, 30), "gray")
    line = np.asarray(with_map(drawn, drawn, row), np.int64)[-STRIP:]
    violet = (line[..., 2] - line[..., 1]) > 70
    assert violet.any(axis=1).sum() == 1
