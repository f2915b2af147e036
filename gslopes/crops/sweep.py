"""Does a crop follow how a face looks? Pictures of ``gslopes synthesise`` next to other people's, and their page.

Each person's pictures at all K values are joined with the unedited-value pictures of the same other people, in both
orders; y(v) is their mean, and a photo's slope its least squares line over v, also of the run's placebo sweeps.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.core import placebo, runfolder, tables
from gslopes.core.crossed import check_plain
from gslopes.core.errors import UsageError
from gslopes.core.files import resolved, sha256_of, show, why_unreadable
from gslopes.core.reasons import SkipReason
from gslopes.crops import asking, charts, words
from gslopes.crops.asking import Asker, asked_names, resolve
from gslopes.crops.config import SweepConfig
from gslopes.crops.people import opponents
from gslopes.crops.pictures import head_box
from gslopes.crops.portraits import reader_of
from gslopes.crops.tables import SENTENCES, SWEPT, TABLES
from gslopes.frame.ask import raise_if_no_use
from gslopes.frame.page import Page, noted, sure
from gslopes.frame.plan import Plan
from gslopes.frame.run import Run
from gslopes.frame.spec import Audit, Headline, Inputs, Made, Section, Stage, Tables
from gslopes.photos.people import read_about
from gslopes.report import caution, numbers
from gslopes.report import words as plain
from gslopes.stats.intervals import Estimate, linearised
from gslopes.stats.multiplicity import benjamini_hochberg
from gslopes.stats.ols import line_slopes

PART = 16
LEAST_VARYING = 10  # people
POINTS = partial(numbers.points, digits=2)
Array = NDArray[np.float64]
Codes = NDArray[np.int64]


# -- before any work --------------------------------------------------------------------------------------------------


def read(run: Path, config: SweepConfig) -> Inputs:
    """The pictures, and whose they are.  Raises: UsageError if there are none, or one cannot be read."""
    manifest = runfolder.read_manifest(run)
    check_plain(manifest, run)
    if not (run / "edits.parquet").is_file():
        raise UsageError(f"{show(run)} has no pictures yet.", "Make them with: gslopes synthesise PHOTOS --out RUN.")
    edits = tables.read(tables.EDITS, run / "edits.parquet")
    photos = tables.read(tables.PHOTOS, run / "photos.parquet").drop_duplicates("photo")
    person: dict[str, str] = {}
    if config.people is not None:
        about = read_about(config.people, run)
        if "person" not in about:
            raise UsageError(f"{show(config.people)} has no column 'person'.", "It says whose photos they are.")
        person = {str(photo): name for photo, name in about["person"].items() if name}
    counts = {"pictures": len(edits), "photos": int(edits["photo"].nunique())}
    facts = {"pictures": {**counts, "digest": digest_of(run, edits["file"].tolist())}, "person": person}
    values = {name: [float(v) for v in steps] for name, steps in manifest["values"].items()}
    return Inputs((edits, photos, person), facts, {"values": values})


def digest_of(run: Path, files: Sequence[str]) -> str:
    """The sha256 over the bytes of all pictures.  Raises: UsageError for one that is not in the run folder."""
    lines = hashlib.sha256()
    for name in files:
        try:
            lines.update(f"{name}\0{sha256_of(resolved(run, name))}\n".encode())
        except (OSError, ValueError) as error:
            hint = "Make the pictures again with: gslopes synthesise."
            raise UsageError(f"{show(run)}: {name!r} cannot be read: {why_unreadable(error)}.", hint) from error
    return lines.hexdigest()


def outline(planned: Plan) -> tuple[list[str], dict[str, Any]]:
    """How many pictures there are, and of which attributes."""
    edits = planned.inputs.content[0]
    facts = {"pictures": len(edits), "photos": int(edits["photo"].nunique())}
    names = sorted(edits["attribute"].unique())
    lines = [f"pictures     {facts['pictures']:,} of {facts['photos']:,} photos", f"sweeps       {', '.join(names)}"]
    return [*lines, f"opponents    {planned.config.others:,} of each"], {**facts, "sweeps": names}


# -- stages -----------------------------------------------------------------------------------------------------------


class Material(NamedTuple):
    """What is asked.  files: attribute to its photos' numbers of pictures, (n, K), with the photos as index.

    pairs: attribute to (P, 2) places of each photo and its opponents.  askers: by cropper.
    """

    files: dict[str, pd.DataFrame]
    pairs: dict[str, Codes]
    askers: dict[str, Asker]


def material(run: Run) -> Material:
    """All pictures by attribute; photos without one of the values are left out."""
    assert run.plan is not None
    edits, photos, person = run.inputs
    seen = photos.set_index("photo").loc[edits["photo"]]
    sizes = [(int(wide), int(tall)) for wide, tall in zip(seen["width"], seen["height"], strict=True)]
    boxes = {number: box for number, box in enumerate(seen["box"]) if box is not None}
    heads = {number: head_box(list(box), *sizes[number]) for number, box in boxes.items()}
    photo = reader_of([resolved(run.plan.source, name) for name in edits["file"]], sizes, run.config)
    models = run.plan.models
    askers = {name: Asker(models[name], photo, sizes, run.config, heads, note=run.note) for name in asked_names(run)}
    files, pairs = {}, {}
    numbered = edits.assign(number=range(len(edits)))
    for attribute, rows in numbered.groupby("attribute", sort=True):
        wide = rows.pivot_table(index="photo", columns="step", values="number", aggfunc="first").dropna().astype(int)
        if len(wide):
            persons = [person.get(photo, photo) for photo in wide.index]
            files[str(attribute)] = wide
            pairs[str(attribute)] = opponents(len(wide), run.config.others, run.config.seed, persons)
    return Material(files, pairs, askers)


def swept_photos(run: Run) -> list[tuple[str, int]]:
    """(attribute, number of a photo in it) of all that is asked about."""
    return [(name, number) for name, wide in run.once(material).files.items() for number in range(len(wide))]


def ask(run: Run, items: Sequence[tuple[str, int]], name: str) -> Made:
    """Each photo at every value next to its opponents, in both orders."""
    asked = run.once(material)
    keys, pictures = [], []
    for attribute, number in items:
        wide, pairs = asked.files[attribute], asked.pairs[attribute]
        numbers = wide.to_numpy()
        for step in range(numbers.shape[1]):
            for other in pairs[pairs[:, 0] == number, 1].tolist():
                edited, unedited = numbers[number, step], numbers[other, numbers.shape[1] // 2]
                pictures += [(edited, unedited), (unedited, edited)]
                keys.append((name, attribute, wide.index[number], wide.index[other], step))
    favoured, why = np.full(len(pictures), np.nan), [("answered", "", "")] * len(keys)
    for answer in asked.askers[name].answers(np.array(pictures).reshape(-1, 2), run.folder):
        if answer.main is not None:
            favoured[answer.row] = answer.main.shares[0]
        elif why[answer.row // 2][0] != "failed":
            reason = SkipReason.of(answer.reason, answer.status)
            why[answer.row // 2] = answer.status, reason.reason.value, reason.detail
    run.tick(len(items))
    shares = (favoured[0::2] + 1 - favoured[1::2]) / 2
    rows = [(*key, share, *outcome) for key, share, outcome in zip(keys, shares, why, strict=True)]
    return {"opponents": tables.frame_of(TABLES["opponents"], rows)}


def price(run: Run, photos: Mapping[str | None, int]) -> None:
    """Have confirmed what asking about these numbers of swept photos costs.  Raises: as ``asking.agree``."""
    most = max((wide.shape[1] for wide in run.once(material).files.values()), default=0) * run.config.others * 2
    asking.agree(run, {name: count * most for name, count in photos.items()})


def fit(run: Run) -> Made:
    """The slope of being favoured along each sweep, with ``mean_slope``'s interval and p.

    A pair counts if it was answered at every value, and a photo with one such pair; photos of fewer than
    ``LEAST_VARYING`` people whose answers vary are not judged: they have neither interval nor p.
    """
    manifest, rows = runfolder.read_manifest(run.folder), []
    for (cropper, attribute), asked in run.table("opponents").groupby(["cropper", "attribute"], sort=True):
        values = np.asarray(manifest["values"][attribute], np.float64)
        shares = whole_pairs(asked, len(values))
        means = shares.groupby("photo").mean()
        edited, opponent = (
            shares.index.get_level_values(name).map(lambda photo: manifest["person"].get(photo, photo)).to_numpy(str)
            for name in ("photo", "opponent")
        )
        photo = shares.index.get_level_values("photo").to_numpy(str)
        value, _, low, high, p = mean_slope(line_slopes(shares.to_numpy(np.float64), values), photo, edited, opponent)
        moved = means.index[np.ptp(means.to_numpy(np.float64), axis=1) > 0] if len(means) else ()
        if len(set(edited[np.isin(photo, moved)])) < LEAST_VARYING:
            low = high = p = np.nan
        row = {"cropper": cropper, "attribute": attribute, "photos": len(means), "people": len({*edited, *opponent})}
        first, *_, last = means.mean()
        row |= {"y_first": first, "y_last": last}
        rows.append({**row, "pairs": len(shares), "slope": value, "ci_low": low, "ci_high": high, "p": p})
    for cropper, asked in run.table("opponents").groupby("cropper"):
        if (asked["status"] != "answered").any():
            run.note(f"{cropper!s}: {words.lost(asked)} of {plain.many(len(asked), 'pair')} of pictures.")
    return {"sweep_slopes": rows}


def whole_pairs(asked: pd.DataFrame, steps: int) -> pd.DataFrame:
    """(pairs, K) shares of the pairs that were answered at every value.  asked: opponents, of one sweep."""
    shares = asked.set_index(["photo", "opponent", "step"])["share"].unstack("step")
    return shares.reindex(columns=range(steps)).dropna()


def mean_slope(slopes: Array, photo: NDArray[Any], person: NDArray[Any], opponent: NDArray[Any]) -> Estimate:
    """The mean over photos of the slopes of their pairs; t over people, each as the edited one and as an opponent.

    Null hypothesis of p: the mean is 0.  An opponent meets several persons, which a t over the edited ones leaves out.
    What one pair alone adds counts for both of its people: the interval is rather too wide.

    slopes: (P,) of pairs.  photo, person, opponent: (P,) the edited photo, and whose the two photos are.

    Source: Aronow, Samii & Assenova 2015, doi 10.1093/pan/mpv018, without what they take off for pairs.
    """
    if not len(slopes):
        return Estimate(*[np.nan] * 5)
    _, of_photo, pairs = np.unique(photo, return_inverse=True, return_counts=True)
    weights = 1 / (len(pairs) * pairs[of_photo])
    value = float(weights @ slopes)
    people = np.unique(np.r_[person, opponent], return_inverse=True)[1]
    moves = np.bincount(people, np.tile(weights * (slopes - value), 2))
    return linearised(value, moves.astype(np.float64))


def judged(tables_: Tables) -> pd.DataFrame:
    """The slope of being favoured along each attribute; no test where a placebo is as steep."""
    slopes = tables_["sweep_slopes"]
    rows = slopes[~placebo.among(slopes["attribute"])]
    q = pd.Series(benjamini_hochberg(rows["p"].to_numpy(np.float64)), rows.index)
    like = [placebo_as_steep(row, slopes) is not None for row in rows.to_dict("records")]
    return pd.DataFrame(
        {
            "model": rows["cropper"],
            "contrast": rows["attribute"],
            "label": "favoured",
            "n": rows["photos"],
            "value": 100 * rows["slope"],
            "ci_low": 100 * rows["ci_low"],
            "ci_high": 100 * rows["ci_high"],
            "unit": "percentage points per unit",
            "q": q.mask(pd.Series(like, rows.index, dtype=bool)),
            "reason": [
                "a placebo is as steep" if steep else "the crop of too few people moves with the edit" for steep in like
            ],
        }
    )


def counts(tables_: Tables) -> tuple[int, int, int]:
    """Photos that were swept, the fewest in a slope, and questions that failed."""
    rows = tables_["opponents"]
    used = int(tables_["sweep_slopes"]["photos"].min())
    return int(rows["photo"].nunique()), used, int((rows["status"] == "failed").sum())


# -- the page ----------------------------------------------------------------------------------------------------------

PLACEBOS = SENTENCES["placebos"]


def lede(page: Page) -> dict[str, Any]:
    """How many photos, and next to how many others."""
    about = runfolder.read_manifest(page.run.folder)["pictures"]
    return {"photos": about["photos"], "others": page.run.config.others}


def curves(page: Page) -> dict[str, Any]:
    """Each cropper and attribute, with its finding, its curve against the placebos, and its slopes."""
    opponents, slopes = page.tables["opponents"], page.tables["sweep_slopes"]
    values = runfolder.read_manifest(page.run.folder)["values"]
    sections = []
    main = slopes[~placebo.among(slopes["attribute"])].sort_values(["cropper", "attribute"])
    for cropper, attribute in main[["cropper", "attribute"]].itertuples(index=False):
        own = family_of(slopes, cropper, attribute)
        own = own.sort_values("attribute", key=lambda names: names.where(names != attribute, ""))
        drawn, rows = [], []
        for row in own.to_dict("records"):
            asked = opponents[(opponents["cropper"] == cropper) & (opponents["attribute"] == row["attribute"])]
            base, kind = placebo.split(row["attribute"])
            name = PLACEBOS[kind] if kind else plain.perceived(base)
            along = np.asarray(values[row["attribute"]], np.float64)
            drawn.append((name, along, whole_pairs(asked, len(along)).mean().to_numpy(np.float64)))
            slope, low, high = (100 * row[column] for column in ("slope", "ci_low", "ci_high"))
            slope = numbers.with_interval(slope, low, high, POINTS)
            rows.append((name, f"{row['photos']:,}", slope, numbers.probability(row["p"])))
        negative, positive = plain.ends(attribute)
        title = f"Chance to be favoured (%) along {plain.perceived(attribute)}, {negative} (−) to {positive} (+)"
        section = {"cropper": plain.printable(cropper), "attribute": plain.perceived(attribute), "rows": rows}
        section |= {
            "title": title,
            "answer": plain.printable(_finding(own)),
            "chart": charts.sweep_lines(drawn, title),
        }
        sections.append(section)
    return {"sections": sections}


def leading(page: Page) -> dict[str, Any]:
    """The curve of the cropper and the attribute that lead the findings."""
    first, sections = page.findings.iloc[0], curves(page)["sections"]
    lead = plain.printable(first["model"]), plain.perceived(first["contrast"])
    return {"sections": [one for one in sections if (one["cropper"], one["attribute"]) == lead]}


def certain(page: Page) -> dict[str, Any]:
    """The slope of the curve that is shown, next to those of its placebos."""
    rows = [row for one in leading(page)["sections"] for row in one["rows"]]
    return sure(
        page, *(f"{name[:1].upper()}{name[1:]}: {slope} points per unit, {n} photos." for name, n, slope, _ in rows)
    )


SECTIONS = (
    Section("lede", "", lede),
    Section("differently", "", leading),
    Section("sure", "", certain),
    Section("curves", "Every sweep", curves),
    Section("made", "How this was made", noted),
)


def family_of(slopes: pd.DataFrame, cropper: str, attribute: str) -> pd.DataFrame:
    """The slopes of an attribute and of its placebo sweeps."""
    base = slopes["attribute"].map(lambda name: placebo.split(name)[0])
    return slopes[(slopes["cropper"] == cropper) & (base == attribute)]


def sweep_headline(tables: Tables) -> Headline:
    """Of all croppers and attributes, the slope of being favoured that is shown best.

    A placebo sweep that reaches into its interval, in its direction, is named next to it.
    """
    slopes = tables["sweep_slopes"]
    silent = set(slopes["cropper"]) - set(slopes.loc[slopes["photos"] > 0, "cropper"])
    return Headline(plain.printable(words.without_answer(_finding(slopes), silent)))


def _finding(slopes: pd.DataFrame) -> str:
    judged = slopes[~placebo.among(slopes["attribute"])].dropna(subset=["p"]).to_dict("records")
    if not slopes["photos"].any():
        return words.NOTHING
    if not judged:
        return "The crop of too few people moves with the edit to say how."
    best = min(judged, key=lambda row: row["p"])
    cropper, what = best["cropper"], plain.perceived(best["attribute"])
    if best["ci_low"] > 0 or best["ci_high"] < 0:
        steep = placebo_as_steep(best, slopes)
        if steep is not None:
            both = f"{POINTS(100 * best['slope'])} and {POINTS(100 * steep['slope'])} points per unit"
            return f"{cropper} follows {what} no more than a placebo: {both}."
        negative, positive = plain.ends(best["attribute"])
        first, last = (numbers.decimal(100 * best[f"y_{place}"], 0) for place in ("first", "last"))
        lead = f"{cropper} favours a face more the more {positive if best['slope'] > 0 else negative} it looks: "
        lead += f"in {first} of 100 pairs at the {negative} end, {last} at the {positive} end"
        size = numbers.size(100 * best["slope"], 2)
        ends = numbers.interval(100 * best["ci_low"], 100 * best["ci_high"], POINTS)
        return f"{lead} ({size} points per unit {ends}, {plain.many(best['photos'], 'photo')})."
    nothing = []
    for row in judged:
        low, high = 100 * row["ci_low"], 100 * row["ci_high"]
        ends, matters = f"{numbers.interval(low, high)} points per unit", caution.points(0.5)
        nothing.append(caution.Nothing(row["cropper"], low, high, int(row["people"]), matters, ends))
    widest = caution.widest(nothing)
    if widest.clear:
        return f"No crop follows {what} ({caution.widely(widest, 'person', 'people')})."
    which = widest.name if len(nothing) == 1 else "any crop"
    return f"{caution.cannot_tell(widest, f'whether {which} follows {what}', 'person', 'people')}."


def placebo_as_steep(row: Mapping[Hashable, Any], slopes: pd.DataFrame) -> Mapping[Hashable, Any] | None:
    """The steepest placebo sweep in the direction of a slope, if it reaches into the slope's interval."""
    sign = 1 if row["slope"] > 0 else -1
    family = family_of(slopes, row["cropper"], row["attribute"])
    measured = (family["attribute"] != row["attribute"]) & family["slope"].notna()  # max of a NaN is one
    placebos = family[measured].to_dict("records")
    steep = max(placebos, key=lambda one: sign * one["slope"], default=None)
    near = row["ci_low"] if sign > 0 else -row["ci_high"]
    return steep if steep is not None and sign * steep["slope"] >= near else None


SWEEP = Audit(
    name="crops sweep",
    home=Path(__file__).parent,
    config=SweepConfig,
    tables={name: TABLES[name] for name in SWEPT},
    inputs=read,
    looked_at=("people",),
    outline=outline,
    stages=(
        Stage(
            "sweep", ("inputs",), ("opponents",), ask,
            items=swept_photos, part=PART, each=asked_names, here=True, options=("others",),
            due=lambda run: run.config.cost_limits.retry_failed, confirm=price,
            check=lambda run: raise_if_no_use(run.table("opponents"), "cropper"),
        ),
        Stage("fit", ("inputs", "opponents"), ("sweep_slopes",), fit, options=()),
    ),
    judged=judged,
    headline=sweep_headline,
    counts=counts,
    shown=("sweep_slopes",),
    page=SECTIONS,
    models=resolve,
    before=partial(
        asking.agree_first, stage="sweep", pictures=lambda run: len(run.inputs[0]) * run.config.others * 2
    ),
    of_runs=True,
)  # fmt: skip
