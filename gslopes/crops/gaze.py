"""The pages of ``gslopes crops regions``: where croppers look, in numbers, and the regions to be marked by a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from PIL import Image, ImageDraw

from gslopes.core import runfolder
from gslopes.core.errors import PhotoError
from gslopes.core.files import read_json, resolved
from gslopes.crops.grids import Grid, grid_of
from gslopes.crops.page import croppers_of
from gslopes.crops.review import MARKS
from gslopes.frame.page import Page
from gslopes.frame.run import Run
from gslopes.frame.spec import Headline, Made, Section, Tables
from gslopes.photos.folder import open_photo
from gslopes.report import caution, numbers
from gslopes.report import words as plain
from gslopes.report.charts import FOCUS, FRAMES
from gslopes.report.inline import jpeg_uri, render
from gslopes.report.review import review_data

HOME = Path(__file__).parent
WIDTHS = {"thumbs": 240, "full": 640}
WHAT = {"off": "point off the head", "crop_off": "crop of ratio 1 loses the head"}
_FRAME, _HEAD = FRAMES[:2]


@dataclass(frozen=True, slots=True)
class Card:
    """One photo on the review: data URI, words, and its regions (number, where, what is known)."""

    cropper: str
    photo: str
    uri: str
    alt: str
    regions: list[tuple[int, str, str]]


def write_review(run: Run) -> Made:
    """RUN/review.html, and its cards for the page; with embed none boxes are known by their numbers alone."""
    assert run.plan is not None
    tables = {name: run.table(name) for name in ("glances", "regions")}
    people = run.table("people").drop_duplicates("photo").set_index("photo")
    embed = run.config.embed
    cards = [] if embed == "none" else _cards(tables, people, run.plan.source, WIDTHS[embed])
    text = render(
        "review.html.j2",
        house=HOME,
        styles=("review.css", "sections.css"),
        scripts=("review.js",),
        data=_review(cards, tables["regions"]),
        marks=MARKS,
        cards=cards,
    )
    runfolder.write_bytes(run.folder / "review.html", text.encode())
    runfolder.write_json(run.folder / "cards.json", [asdict(card) for card in cards])
    return {}


def lede(page: Page) -> dict[str, Any]:
    """How groups are known."""
    return {"source": plain.printable(page.run.config.source)}


def differently(page: Page) -> dict[str, Any]:
    """Each cropper's tables."""
    rows = croppers_of(page).items()
    return {"sections": [(plain.printable(n), plain.printable(v), _grids(page.tables, n)) for n, v in rows]}


def sure(page: Page) -> dict[str, Any]:
    """How the intervals are made."""
    del page
    return {}


def show(page: Page) -> dict[str, Any] | None:
    """The photos."""
    cards = read_json(page.run.folder / "cards.json")
    return {"cards": cards} if cards else None


def left_out(page: Page) -> dict[str, Any]:
    """What was left out, and what is not answered."""
    return {"lines": [*page.notes, *_unanswered(page.tables["glances"])]}


SECTIONS = (
    Section("lede", "", lede),
    Section("differently", "", differently),
    Section("sure", "", sure),
    Section("show", "", show),
    Section("left_out", "What was left out", left_out),
)


def headline_of(tables: Tables) -> Headline:
    """Of the differences between groups, the largest that is shown."""
    return Headline(gaze_headline(tables["gaze"], tables["gaze_gaps"]))


def terminal(tables: Tables) -> str:
    """What the terminal shows."""
    return print_gaze(tables["gaze"], tables["gaze_gaps"])


def _review(cards: Sequence[Card], regions: pd.DataFrame) -> dict[str, Any]:
    """What the review asks, in the order of its lists, and what was marked so far."""
    names = ("cropper", "photo", "region")
    items = [
        dict(zip(names, (card.cropper, card.photo, str(number)), strict=True))
        for card in cards
        for number, _, _ in card.regions
    ]
    columns, done, values = (*names, "kind", "by"), ({"kind": "*"},), {"kind": MARKS}
    marked = regions.loc[regions["kind"] != "", list(columns)].astype(str)
    answers = [dict(zip(columns, row, strict=True)) for row in marked.itertuples(index=False)]
    return review_data(items, answers, columns, copied=names, done=done, values=values, reviewer="by", noun="Region")


def gaze_headline(gaze: pd.DataFrame, gaps: pd.DataFrame) -> str:
    """The finding in one sentence: the largest difference between groups whose interval leaves out 0.

    gaze: rows of GAZE.  gaps: of GAZE_GAPS.
    """
    shown = gaps[(gaps["ci_low"] > 0) | (gaps["ci_high"] < 0)]
    if shown.empty:
        return plain.printable(_none_missed(gaze, gaps))
    best = max(shown.to_dict("records"), key=lambda row: abs(row["difference"]))
    one, other = (best["group"], best["other"]) if best["difference"] > 0 else (best["other"], best["group"])
    share = gaze[(gaze["cropper"] == best["cropper"]) & (gaze["column"] == best["column"])].set_index("group")
    first, second = (numbers.share(float(share.loc[name, f"{best['what']}_share"]), 0) for name in (one, other))
    what = "looks off the head" if best["what"] == "off" else "crops the head off"
    ends = sorted(abs(best[end]) for end in ("ci_low", "ci_high"))
    by = f"{numbers.size(100 * best['difference'])} points [{', '.join(numbers.size(100 * end) for end in ends)}] more"
    many = f"{plain.many(photos_of(gaze, best), 'photo')}"
    text = f"{best['cropper']} {what} on {first} of the photos of {one}, on {second} of {other}"
    return plain.printable(f"{text}: {by}, {many}.")


def photos_of(gaze: pd.DataFrame, gap: Mapping[Any, Any]) -> int:
    """Photos of both groups of a difference."""
    same = (gaze["cropper"] == gap["cropper"]) & (gaze["column"] == gap["column"])
    return int(gaze.loc[same & gaze["group"].isin([gap["group"], gap["other"]]), "photos"].sum())


def _none_missed(gaze: pd.DataFrame, gaps: pd.DataFrame) -> str:
    """The sentence where every interval holds 0: no difference, or it cannot be said."""
    if gaps.empty:
        return "No two groups can be compared."
    found = []
    for row in gaps.to_dict("records"):
        low, high = 100 * row["ci_low"], 100 * row["ci_high"]
        shown = f"{numbers.interval(low, high)} points"
        name = f"the difference {row['group']} less {row['other']}"
        found.append(caution.Nothing(name, low, high, photos_of(gaze, row), caution.POINTS, shown))
    widest = caution.widest(found)
    if not widest.clear:
        question = "whether a group has its heads missed more often than another"
        return f"{caution.cannot_tell(widest, question, 'photo')}."
    many = plain.many(widest.n, "photo")
    return f"No group has its heads missed more often than another ({many}; widest: {widest.shown})."


def _grids(found: Mapping[str, pd.DataFrame], cropper: str) -> list[Grid]:
    tables = {name: found[name][found[name]["cropper"] == cropper] for name in ("gaze", "gaze_gaps", "kinds")}

    def share(row: Mapping[str, Any], name: str, count: str) -> str:
        shown = numbers.share_with_range(*(row[f"{name}_{part}"] for part in ("share", "low", "high")))
        return f"{row[count]}: {shown}"

    grids = [
        grid_of(
            tables["gaze"],
            "Photos whose focal point lies off the head, and whose crop loses it, with 95 % Wilson intervals",
            {
                "grouping": lambda r: r["column"],
                "group": lambda r: r["group"],
                "photos": lambda r: f"{r['photos']}",
                WHAT["off"]: lambda r: share(r, "off", "off_head"),
                WHAT["crop_off"]: lambda r: share(r, "crop_off", "crop_off_head"),
            },
        ),
        grid_of(
            tables["gaze_gaps"].dropna(subset=["difference"]),
            "Differences between groups in points, with 95 % Newcombe intervals",
            {
                "grouping": lambda r: r["column"],
                "what": lambda r: WHAT[r["what"]],
                "group": lambda r: r["group"],
                "less": lambda r: r["other"],
                "difference": lambda r: numbers.points(100 * r["difference"]),
                "95 %": lambda r: numbers.interval(100 * r["ci_low"], 100 * r["ci_high"]),
            },
        ),
        grid_of(
            tables["kinds"],
            "Salient regions by what people marked them as: photos with such a region",
            {
                "grouping": lambda r: r["column"],
                "group": lambda r: r["group"],
                "kind": lambda r: r["kind"],
                "regions": lambda r: f"{r['regions']} of {r['of_regions']}",
                "photos": lambda r: f"{r['photos']} of {r['of_photos']}",
                "share of photos": lambda r: numbers.share_with_range(r["share"], r["ci_low"], r["ci_high"]),
            },
        ),
    ]
    return [grid for grid in grids if grid.rows]


def _unanswered(glances: pd.DataFrame) -> list[str]:
    lost = glances[glances["status"] != "answered"]
    lines = []
    for (cropper, status), rows in lost.groupby(["cropper", "status"], sort=True):
        first = rows.iloc[0]
        why = first["detail"] or first["reason"]
        lines.append(plain.printable(f"{cropper}: {plain.many(len(rows), 'photo')} {status}, the first because {why}"))
    return lines


def _cards(found: Mapping[str, pd.DataFrame], people: pd.DataFrame, folder: Path, width: int) -> list[Card]:
    cards = []
    regions = found["regions"]
    glances = found["glances"]
    for row in glances[glances["status"] == "answered"].to_dict("records"):
        photo_regions = regions[(regions["cropper"] == row["cropper"]) & (regions["photo"] == row["photo"])]
        who = people.loc[row["photo"]]
        uri = _drawn(folder, str(who["path"]), row, photo_regions, who["head"], width)
        if uri:
            marks = [
                (int(r["region"]), "on the head" if r["on_head"] >= 0.5 else "off the head", str(r["kind"]))
                for r in photo_regions.to_dict("records")
            ]
            off = {None: "tells no point", False: "point on the head", True: "point off the head"}[row["off_head"]]
            kept = numbers.share(float(row["kept"]), 0)
            alt = f"{plain.many(len(photo_regions), 'salient region')}, {off}, {kept} of the head in the crop"
            cards.append(Card(plain.printable(row["cropper"]), str(row["photo"]), uri, alt, marks))
    return cards


def _drawn(
    folder: Path, name: str, glance: Mapping[Any, Any], regions: pd.DataFrame, head: Sequence[float], width: int
) -> str:
    try:
        photo = Image.fromarray(open_photo(resolved(folder, name)).pixels)
    except (PhotoError, OSError, ValueError):
        return ""
    scale = width / photo.width
    canvas = photo.resize((width, max(1, round(photo.height * scale))), Image.Resampling.LANCZOS)
    pen = ImageDraw.Draw(canvas)
    left, top = glance["left"] * scale, glance["top"] * scale
    across, down = glance["crop_width"] * scale, glance["crop_height"] * scale
    pen.rectangle([left, top, left + across - 1, top + down - 1], outline="white", width=1)
    pen.rectangle([float(value) * scale for value in head], outline=_HEAD, width=1)
    for row in regions.to_dict("records"):
        x0, y0, x1, y1 = (row[name] * scale for name in ("x0", "y0", "x1", "y1"))
        pen.rectangle([x0, y0, max(x1 - 1, x0), max(y1 - 1, y0)], outline=_FRAME, width=2)
        pen.rectangle([x0, y0, x0 + 13, y0 + 13], fill=_FRAME)
        pen.text((x0 + 7, y0 + 7), str(row["region"]), fill="black", anchor="mm")
    if glance["x"] >= 0:
        x, y = glance["x"] * scale, glance["y"] * scale
        pen.ellipse([x - 4, y - 4, x + 4, y + 4], outline="white", width=2, fill=FOCUS)
    return jpeg_uri(canvas)


def print_gaze(gaze: pd.DataFrame, gaps: pd.DataFrame) -> str:
    """What the terminal shows."""
    lines = []
    for row in gaze.to_dict("records"):
        off = f"{row['off_head']} off the head ({numbers.share_range(row['off_low'], row['off_high'])})"
        off = "tells no point" if pd.isna(row["off_share"]) else off
        lost = numbers.share_range(row["crop_off_low"], row["crop_off_high"])
        crop = f"the crop loses it in {row['crop_off_head']} ({lost})"
        where = f"{plain.printable(row['cropper'])}, {plain.printable(row['column'])} {plain.printable(row['group'])}"
        lines.append(f"{where}: of {plain.many(row['photos'], 'photo')} {off}, {crop}")
    for row in gaps.dropna(subset=["difference"]).to_dict("records"):
        gap, low, high = (numbers.points(100 * row[name]) for name in ("difference", "ci_low", "ci_high"))
        what = "crop" if row["what"] == "crop_off" else "point"
        pair = f"{plain.printable(row['group'])} less {plain.printable(row['other'])}"
        lines.append(f"{plain.printable(row['cropper'])}, {pair}: {what} off the head {gap} points ({low} to {high})")
    return "\n".join(lines)
