"""Bars, arrows and curves of the crop audit's page, as SVG that its text goes along with."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import pandas as pd
from numpy.typing import NDArray

FIRST, SECOND, INK, SOFT, LINE = "#185fae", "#b3261a", "#1d2430", "#5b6472", "#c9ced6"
CURVES = ("#185fae", "#b3261a", "#1b7f5a", "#8a5a00", "#6a3fa0", "#3c5a66", "#a8516e", "#5b6472")


def bars(rows: pd.DataFrame) -> str:
    """One bar a pair of groups, P of the first from the left, with both intervals and a line at one half.

    rows: of PARITY.
    """
    height = 46 * len(rows) + 34
    left, wide = 250, 460
    parts = [_open(left + wide + 190, height, _bars_text(rows))]
    for index, row in enumerate(rows.to_dict("records")):
        y = 14 + 46 * index
        p = float(row["p"])
        few = bool(row["note"])
        parts += [
            _text(left - 10, y + 17, row["group"], "end"),
            _rect(left, y, p * wide, 24, FIRST, 0.25 if few else 0.85),
            _rect(left + p * wide, y, (1 - p) * wide, 24, SECOND, 0.2 if few else 0.6),
            _text(left + wide + 10, y + 17, row["other"], "start"),
            _text(left + p * wide, y - 2, f"{100 * (p - 0.5):+.1f}".replace("-", "−"), "middle", 11),
        ]
        if np.isfinite(row["ci_low"]):
            low, high = (left + wide * float(row[end]) for end in ("ci_low", "ci_high"))
            parts += [_line(low, y + 12, high, y + 12, INK, 3), _line(low, y + 6, low, y + 18, INK, 2)]
            parts += [_line(high, y + 6, high, y + 18, INK, 2)]
        half = wide * float(row["draws_half"])
        parts.append(_line(left + p * wide - half, y + 21, left + p * wide + half, y + 21, "#ffffff", 1.5))
    middle = left + wide / 2
    parts += [
        _line(middle, 4, middle, height - 24, INK, 1, "4 3"),
        _text(middle, height - 8, "even: 50 %", "middle", 12),
    ]
    return "".join([*parts, "</svg>"])


def _bars_text(rows: pd.DataFrame) -> str:
    lines = [
        f"{row['group']} over {row['other']}: {row['p']:.1%} ({row['ci_low']:.1%} to {row['ci_high']:.1%})"
        for row in rows.to_dict("records")
    ]
    return "; ".join(lines)


def arrows(rows: pd.DataFrame) -> str:
    """Groups in a circle; each arrow leads to the less favoured one, with the deviation; gray where it may be none."""
    names = list(dict.fromkeys([*rows["group"], *rows["other"]]))
    size, radius = 520, 170
    at = {
        name: (
            size / 2 + radius * math.sin(2 * math.pi * index / len(names)),
            size / 2 - radius * math.cos(2 * math.pi * index / len(names)),
        )
        for index, name in enumerate(names)
    }
    parts = [_open(size, size, "Arrows lead to the less favoured group. " + _bars_text(rows))]
    parts.append(
        f'<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        f'orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="{SOFT}"/></marker></defs>'
    )
    for row in rows.to_dict("records"):
        one, other = (row["group"], row["other"]) if row["p"] >= 0.5 else (row["other"], row["group"])
        open_ = not row["verdict"] or row["ci_low"] <= 0.5 <= row["ci_high"]
        (x0, y0), (x1, y1) = _shortened(at[one], at[other], 42)
        colour = LINE if open_ else INK
        parts.append(
            f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{colour}" '
            f'stroke-width="{1.2 if open_ else 2.4}" marker-end="url(#head)"/>'
        )
        away = f"{100 * abs(row['p'] - 0.5):.1f}"
        x, y = x0 + 0.4 * (x1 - x0), y0 + 0.4 * (y1 - y0)
        parts.append(f'<rect x="{x - 17:.1f}" y="{y - 9:.1f}" width="34" height="17" fill="#ffffff" rx="3"/>')
        parts.append(_text(x, y + 4, away, "middle", 12))
    for name, (x, y) in at.items():
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="8" fill="{FIRST}"/>')
        down = 26 if y >= size / 2 else -16
        parts.append(_text(x, y + down, name, "middle", 13))
    return "".join([*parts, "</svg>"])


def _shortened(
    start: tuple[float, float], end: tuple[float, float], cut: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    length = math.hypot(end[0] - start[0], end[1] - start[1]) or 1.0
    dx, dy = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    return (start[0] + 14 * dx, start[1] + 14 * dy), (end[0] - cut / 3 * dx, end[1] - cut / 3 * dy)


def distributions(values: Mapping[str, NDArray[np.float64]], title: str) -> str:
    """Empirical distribution functions by group, with bands that hold everywhere at once (Dvoretzky-Kiefer-Wolfowitz).

    values: group to its persons' numbers.
    """
    known = {name: np.sort(sample[~np.isnan(sample)]) for name, sample in values.items()}
    known = {name: sample for name, sample in known.items() if len(sample)}
    whole = np.concatenate(list(known.values()))
    low, high = float(whole.min()), float(whole.max())
    spread = (high - low) or 1.0
    left, top, wide, tall = 48, 24, 380, 230
    description = "; ".join(f"{name} median {np.median(sample):.3g} of {len(sample)}" for name, sample in known.items())
    parts = [_open(left + wide + 170, top + tall + 46, f"{title}: {description}"), _text(left, 14, title, "start", 13)]
    for level in (0, 0.25, 0.5, 0.75, 1):
        y = top + tall * (1 - level)
        parts += [_line(left, y, left + wide, y, "#e6e9ed", 1), _text(left - 6, y + 4, f"{level:g}", "end", 11)]
    for place, value in ((0.0, low), (0.5, (low + high) / 2), (1.0, high)):
        parts.append(_text(left + wide * place, top + tall + 18, f"{value:.3g}".replace("-", "−"), "middle", 11))
    for index, (name, sample) in enumerate(known.items()):
        colour, n = CURVES[index % len(CURVES)], len(sample)
        band = math.sqrt(math.log(2 / 0.05) / (2 * n))
        across = left + wide * (sample - low) / spread
        share = np.arange(1, n + 1) / n
        upper, lower = (np.clip(share + sign * band, 0, 1) for sign in (1, -1))
        around = [*zip(across, upper, strict=True), *zip(across[::-1], lower[::-1], strict=True)]
        points = " ".join(f"{px:.1f},{top + tall * (1 - py):.1f}" for px, py in around)
        parts.append(f'<polygon points="{points}" fill="{colour}" fill-opacity="0.1"/>')
        steps = "".join(f"H{px:.1f}V{top + tall * (1 - py):.1f}" for px, py in zip(across, share, strict=True))
        parts.append(f'<path d="M{left} {top + tall}{steps}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(_line(left + wide + 12, top + 14 + 20 * index, left + wide + 32, top + 14 + 20 * index, colour, 3))
        parts.append(_text(left + wide + 38, top + 18 + 20 * index, f"{name} ({n})", "start", 12))
    return "".join([*parts, "</svg>"])


def scatter(rows: pd.DataFrame) -> str:
    """Policies: how far each leans (deviation from even) against how often both people are shown (exposure)."""
    left, top, wide, tall = 56, 20, 420, 240
    x = rows["exposure"].to_numpy(np.float64)
    y = 100 * rows["deviation"].to_numpy(np.float64)
    reach = max(
        5.0, 1.15 * float(np.nanmax(np.abs(np.r_[y, 100 * rows["deviation_low"], 100 * rows["deviation_high"]])))
    )
    description = "; ".join(f"{row['policy']} {100 * row['deviation']:+.1f} points" for row in rows.to_dict("records"))
    parts = [_open(left + wide + 150, top + tall + 44, f"Deviation from even by policy: {description}")]
    middle = top + tall / 2
    parts += [_line(left, middle, left + wide, middle, SOFT, 1, "4 3"), _text(left - 8, middle + 4, "0", "end", 11)]
    for value in (reach, -reach):
        place = middle - value / reach * tall / 2
        parts.append(_text(left - 8, place + 4, f"{value:+.0f}".replace("-", "−"), "end", 11))
    parts.append(_text(left + wide / 2, top + tall + 34, "exposure: mean share of the less shown person", "middle", 12))
    for place in (0.0, 0.25, 0.5):
        parts.append(_text(left + wide * 2 * place, top + tall + 16, f"{place:g}", "middle", 11))
    for index, row in enumerate(rows.to_dict("records")):
        px = left + wide * 2 * min(float(x[index]), 0.5)
        low, high = (middle - 100 * float(row[f"deviation_{end}"]) / reach * tall / 2 for end in ("low", "high"))
        py = middle - y[index] / reach * tall / 2
        colour = CURVES[index % len(CURVES)]
        parts.append(_line(px, low, px, high, colour, 2))
        parts.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="5" fill="{colour}"/>')
        legend = top + 16 + 20 * index
        parts.append(f'<circle cx="{left + wide + 18}" cy="{legend - 4}" r="5" fill="{colour}"/>')
        parts.append(_text(left + wide + 30, legend, row["policy"], "start", 12))
    return "".join([*parts, "</svg>"])


def sweep_lines(curves: Sequence[tuple[str, NDArray[np.float64], NDArray[np.float64]]], title: str) -> str:
    """P(favoured) against the value of the attribute: the sweep and, dashed, its placebos."""
    left, top, wide, tall = 56, 28, 400, 230
    reach = max(0.02, 1.2 * max(float(np.abs(y - 0.5).max()) for _, _, y in curves))
    ends = curves[0][1]
    description = "; ".join(f"{name} {y[0]:.1%} to {y[-1]:.1%}" for name, _, y in curves)
    parts = [_open(left + wide + 300, top + tall + 40, f"{title}: {description}"), _text(left, 16, title, "start", 13)]
    for share in (-reach, 0.0, reach):
        y = top + tall / 2 - share / reach * tall / 2
        parts += [
            _line(left, y, left + wide, y, "#e6e9ed", 1),
            _text(left - 6, y + 4, f"{50 + 100 * share:.1f}", "end", 11),
        ]
    span = float(ends[-1] - ends[0])
    for value in ends:
        place = left + wide * float(value - ends[0]) / span
        parts.append(_text(place, top + tall + 18, f"{value:.2g}".replace("-", "−"), "middle", 11))
    for index, (name, across, shares) in enumerate(curves):
        colour = CURVES[index % len(CURVES)]
        curve_points = [
            (left + wide * float(a - ends[0]) / span, top + tall / 2 - float(b - 0.5) / reach * tall / 2)
            for a, b in zip(across, shares, strict=True)
        ]
        points = " ".join(f"{px:.1f},{py:.1f}" for px, py in curve_points)
        dash = ' stroke-dasharray="5 4"' if index else ""
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.2"{dash}/>')
        legend = top + 14 + 20 * index
        parts.append(_line(left + wide + 12, legend, left + wide + 36, legend, colour, 3))
        parts.append(_text(left + wide + 42, legend + 4, name, "start", 12))
    return "".join([*parts, "</svg>"])


def _open(width: float, height: float, description: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" aria-label="{escape(description, quote=True)}" '
        f'font-family="system-ui, sans-serif">'
        f'<rect width="{width:g}" height="{height:g}" fill="#ffffff" rx="8"/>'
    )


def _text(x: float, y: float, text: str, anchor: str, size: int = 14) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{INK}"'
    return f"<text {place}>{escape(str(text))}</text>"


def _line(x0: float, y0: float, x1: float, y1: float, colour: str, width: float, dash: str = "") -> str:
    more = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{colour}" '
        f'stroke-width="{width:g}"{more}/>'
    )


def _rect(x: float, y: float, width: float, height: float, colour: str, opacity: float) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:g}" fill="{colour}" '
        f'fill-opacity="{opacity:g}"/>'
    )
