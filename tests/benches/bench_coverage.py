"""Do the intervals cover and do the tests keep their level? Every estimator on simulated answers whose truth is known.

OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=2 python tests/benches/bench_coverage.py --out tests/benches/results/coverage

A photo has a latent score u + e_k at each of 7 values from -2 to 2 and shows the label where it passes a threshold: u
is the photo's own (variance 0.6), e_k what the K pictures of it add (variance 0.4). Three kinds of e_k, of mean 0:

    noise    independent from picture to picture: the K answers are exchangeable
    drift    smooth along the sweep (Gaussian, length 1): exchangeability does not hold, the mean slope is 0
    slopes   the photo's own random slope times the value, and a little noise: the same

With an effect, 0.15 per unit is added for every photo; the true slope is then computed exactly. A thousand data sets a
cell (a quarter of that at 3,000 photos), 499 permutations each. Data sets in which fewer than 10
photos show the label are too rare to judge, as in the fit; the share of the others is given. One process a size may run
beside the others: --photos 30 --out a, and so on, then --merge a.json b.json c.json --out all.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import time
import zlib
from pathlib import Path

import numpy as np
from coverage_bounds import CASES as CASES_OF_BOUNDS
from coverage_captions import CASES as CASES_OF_CAPTIONS
from coverage_cases import CASES, PERMUTATIONS as PERMUTATIONS_OF_CASES
from coverage_contexts import CASES as CASES_OF_CONTEXTS
from coverage_crops import CASES as CASES_OF_CROPS, LATER as LATER_OF_CROPS
from coverage_crossed import CASES as CASES_OF_CROSSED
from coverage_decision import CASES as CASES_OF_DECISION
from coverage_drift import CASES as CASES_OF_DRIFT
from coverage_lost import CASES as CASES_OF_LOST
from coverage_pairs import CASES as CASES_OF_PAIRS
from coverage_placebos import CASES as CASES_OF_PLACEBOS
from coverage_power import CASES as CASES_OF_POWER
from coverage_ranks import CASES as CASES_OF_RANKS
from coverage_salience import CASES as CASES_OF_SALIENCE
from coverage_skew import CASES as CASES_OF_SKEW
from coverage_truth import CASES as CASES_OF_TRUTH, LATER as CASES_OF_ERRORS
from scipy import special

from gslopes.slopes.measures.estimators import linear
from gslopes.stats.ols import fit_lines, line_weights
from gslopes.stats.outcomes import moments
from gslopes.stats.permutation import permute
from tests.stats.dense import dense

SEED = 20
CASES |= CASES_OF_CROPS
CASES |= CASES_OF_DRIFT
CASES |= CASES_OF_CAPTIONS
CASES |= CASES_OF_CONTEXTS
CASES |= CASES_OF_SALIENCE
CASES |= CASES_OF_TRUTH
CASES |= CASES_OF_DECISION
CASES |= CASES_OF_ERRORS
CASES |= CASES_OF_SKEW
CASES |= CASES_OF_LOST
CASES |= CASES_OF_PAIRS
CASES |= CASES_OF_CROSSED
CASES |= LATER_OF_CROPS
CASES |= CASES_OF_POWER
CASES |= CASES_OF_RANKS
CASES |= CASES_OF_PLACEBOS
CASES |= CASES_OF_BOUNDS
VALUES = np.linspace(-2, 2, 7)
EFFECT, PERMUTATIONS, MIN_ACTIVE = 0.15, 499, 10
SIZES, RATES, KINDS_OF_NULL = (
    (30, 300, 3000),
    (0.001, 0.01, 0.1, 0.5, 0.9),
    ("noise", "drift", "slopes"),
)
ESTIMATORS = ("photo-rate",)


def variances(kind: str) -> np.ndarray:
    """(K, K) covariance of a photo's latent scores."""
    if kind == "noise":
        picture = 0.4 * np.eye(7)
    elif kind == "drift":
        picture = 0.4 * np.exp(-np.square(VALUES[:, None] - VALUES) / 2)
    else:
        picture = 0.2 * np.outer(VALUES, VALUES) + 0.1 * np.eye(7)
    return 0.6 + picture


def latent(
    generator: np.random.Generator, shape: tuple[int, int], kind: str, effect: float
) -> np.ndarray:
    root = np.linalg.cholesky(variances(kind) + 1e-9 * np.eye(7)).astype(np.float32)
    noise = generator.standard_normal((*shape, 7), dtype=np.float32)
    return noise @ root.T + (effect * VALUES).astype(np.float32)


def truth(kind: str, rate: float, effect: float) -> dict[str, float]:
    deviations = np.sqrt(np.diag(variances(kind)))
    limit = deviations[3] * special.ndtri(1 - rate)
    shares = special.ndtr((effect * VALUES - limit) / deviations)
    slope = float(line_weights(VALUES) @ shares)
    facts = {"photo-rate": 100 * slope, "paper": slope / shares[3]}
    return facts


def cell(
    kind: str, rate: float, photos: int, effect: float, sets: int, seed: int
) -> list[dict[str, object]]:
    """One row for each estimator and method: false positives (no effect) and coverage, over the judged data sets."""
    generator = np.random.default_rng([SEED, seed])
    expected = truth(kind, rate, effect)
    limit = np.sqrt(variances(kind)[3, 3]) * special.ndtri(1 - rate)
    tally: dict[tuple[str, str], list[np.ndarray]] = {}
    judged = 0
    item = max(1, min(sets, 3_000_000 // (photos * 7) or 1, 500))
    done = 0
    while done < sets:
        excess = latent(generator, (min(item, sets - done), photos), kind, effect) - np.float32(
            limit
        )
        done += len(excess)
        judged += study(excess, expected, effect, tally, seed + done)
    head = {
        "null": kind,
        "rate": rate,
        "photos": photos,
        "effect": effect,
        "sets": sets,
        "judged": judged / sets,
    }
    rows = []
    for (estimator, method), parts in tally.items():
        hits = np.concatenate(parts)
        rows.append(
            {**head, "estimator": estimator, "method": method, "number": len(hits), **_share(hits)}
        )
    return rows


def _share(hits: np.ndarray) -> dict[str, float | None]:
    if not len(hits):
        return {"covered": None, "false_positives": None, "false_positives_001": None}
    low, high, p, target = hits.T
    covered = (
        np.mean((low <= target + 1e-12) & (target - 1e-12 <= high))
        if not np.isnan(low).all()
        else None
    )
    positive = np.mean(p < 0.05) if not np.isnan(p).all() else None
    strict = np.mean(p < 0.001) if not np.isnan(p).all() else None
    return {
        "covered": None if covered is None else round(float(covered), 4),
        "false_positives": None if positive is None else round(float(positive), 4),
        "false_positives_001": None if strict is None else round(float(strict), 4),
    }


def study(
    excess: np.ndarray, truths: dict[str, float], effect: float, tally: dict, seed: int
) -> int:
    """Add each method's (low, high, p, truth) of every judged data set to the tally; how many were judged."""
    profile = dense((excess > 0).astype(np.float32), VALUES)
    sums, judged = moments(profile), np.diff(profile.starts) >= MIN_ACTIVE
    shares = sums.first / sums.photos
    centre = shares[:, 3] > 0

    def add(
        estimator: str,
        method: str,
        low: np.ndarray,
        high: np.ndarray,
        p: np.ndarray,
        keep: np.ndarray,
    ) -> None:
        row = np.stack([low, high, p, np.full(len(low), truths[estimator])], axis=1)[keep]
        tally.setdefault((estimator, method), []).append(row)

    gap = np.full(len(shares), np.nan)
    line = fit_lines(VALUES, shares / np.where(centre, shares[:, 3], np.nan)[:, None])
    add("paper", "t, all", line.low, line.high, line.p, centre)
    add("paper", "t", line.low, line.high, line.p, centre & judged)
    if not judged.any():
        return 0
    lines = linear("rate", sums, VALUES)
    add("photo-rate", "t", lines.low, lines.high, lines.p, judged & np.isfinite(lines.slope))
    if effect == 0:
        permuted = permute(profile, judged, PERMUTATIONS, seed, paper=True)
        add("photo-rate", "permutation", gap, gap, permuted.p, judged)
        add("paper", "permutation", gap, gap, permuted.p_paper, judged & centre)
    return int(judged.sum())


def markdown(rows: list[dict], facts: dict) -> str:
    methods = list(dict.fromkeys((row["estimator"], row["method"]) for row in rows))
    order = ("paper", *ESTIMATORS)
    methods.sort(key=lambda pair: order.index(pair[0]))
    lines = [
        "# Coverage and false positives on simulated answers",
        "",
        f"`python tests/benches/bench_coverage.py`, seed {facts['seed']}, {facts['processor_minutes']} minutes of one",
        "processor. How the answers are simulated is said at the top of that file. **Bold**: outside 4-6 % false",
        "positives or 93-97 % coverage by more than two standard errors of the simulation. A dash: fewer than 100 data",
        "sets were judged. Judged: per cent of data sets in which 10 photos at least show the label; paper t, all",
        "takes those with fewer, too.",
        "",
    ]
    for field, title, low, high in (
        ("false_positives", "False positives at p < 0.05, nothing planted, %", 0.04, 0.06),
        ("covered", "Coverage of the 95 % interval, %", 0.93, 0.97),
    ):
        for effect in (0.0, EFFECT) if field == "covered" else (0.0,):
            listed = [
                pair for pair in methods if any(r[field] is not None and _is(r, pair) for r in rows)
            ]
            lines += [f"## {title}{'' if field != 'covered' else f', effect {effect:g}'}", ""]
            lines.append(
                "| null | photos | rate | judged | "
                + " | ".join(f"{a} {b}" for a, b in listed)
                + " |"
            )
            lines.append("|" + " --- |" + " ---: |" * (3 + len(listed)))
            for kind in KINDS_OF_NULL:
                for photos in SIZES:
                    for rate in RATES:
                        first = [
                            r
                            for r in rows
                            if (r["null"], r["photos"], r["rate"], r["effect"])
                            == (kind, photos, rate, effect)
                        ]
                        cells = [
                            _cell(next((r for r in first if _is(r, pair)), None), field, low, high)
                            for pair in listed
                        ]
                        judged = f"{100 * first[0]['judged']:.0f}" if first else "-"
                        lines.append(
                            f"| {kind} | {photos:,} | {rate:g} | {judged} | "
                            + " | ".join(cells)
                            + " |"
                        )
            lines.append("")
    lines += ["## Where each one fails", "", *verdicts(rows, methods), ""]
    return "\n".join(lines)


def verdicts(rows: list[dict], methods: list[tuple[str, str]]) -> list[str]:
    lines = []
    for pair in methods:
        summary = []
        for field, low, high, word in (
            ("false_positives", 0.04, 0.06, "false positives"),
            ("covered", 0.93, 0.97, "coverage"),
        ):
            chosen = [
                r for r in rows if _is(r, pair) and r[field] is not None and r["number"] >= 100
            ]
            chosen = [r for r in chosen if field == "covered" or r["effect"] == 0]
            if not chosen:
                continue
            inside = [r for r in chosen if _inside(r, field, low, high)]
            values = [r[field] for r in chosen]
            summary.append(
                f"{word} within bounds in {len(inside)} of {len(chosen)} cells (from {100 * min(values):.1f} to "
                f"{100 * max(values):.1f} %)"
            )
        strict = [
            r
            for r in rows
            if _is(r, pair) and r["false_positives_001"] is not None and r["effect"] == 0
        ]
        strict = [r for r in strict if r["number"] >= 100]
        if strict and pair[1] != "permutation":  # 499 permutations cannot show 0.001
            worst = max(strict, key=lambda r: r["false_positives_001"])
            summary.append(
                f"p < 0.001 in {100 * worst['false_positives_001']:.1f} % at most ({worst['null']}, "
                f"{worst['photos']:,} photos, rate {worst['rate']:g})"
            )
        lines.append(f"- {pair[0]}, {pair[1]}: {'; '.join(summary)}.")
    return lines


def _is(row: dict, pair: tuple[str, str]) -> bool:
    return (row["estimator"], row["method"]) == pair


def _inside(row: dict, field: str, low: float, high: float) -> bool:
    slack = 2 * np.sqrt(0.05 * 0.95 / max(row["number"], 1))
    return low - slack <= row[field] <= high + slack


def _cell(row: dict | None, field: str, low: float, high: float) -> str:
    if row is None or row[field] is None or row["number"] < 100:
        return "-"
    text = f"{100 * row[field]:.1f}"
    return text if _inside(row, field, low, high) else f"**{text}**"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--out", type=Path, required=True, help="without ending: .json and .md are written"
    )
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--photos", type=int, choices=SIZES, help="only this size")
    parser.add_argument(
        "--case", nargs="+", choices=[*CASES, "all"], help="cells of coverage_*.py instead"
    )
    parser.add_argument(
        "--portion", type=int, default=100, help="data sets of a --case at once; written after each"
    )
    parser.add_argument(
        "--merge", type=Path, nargs="+", help="no simulation: join files of several sizes"
    )
    args = parser.parse_args()
    if args.case:
        run_cases(
            list(CASES) if "all" in args.case else args.case, args.sets, args.portion, args.out
        )
        return
    if args.merge:
        parts = [json.loads(path.read_text()) for path in args.merge]
        minutes = round(sum(part["processor_minutes"] for part in parts), 1)
        save(
            args.out,
            {
                **parts[0],
                "processor_minutes": minutes,
                "rows": [row for part in parts for row in part["rows"]],
            },
        )
        return
    rows, number = [], 0
    for photos in SIZES:
        for rate in RATES:
            for kind in KINDS_OF_NULL:
                for effect in (0.0, EFFECT):
                    number += 1
                    if args.photos not in (None, photos):
                        continue
                    sets = args.sets if photos < 3000 else args.sets // 4
                    rows += cell(kind, rate, photos, effect, sets, 10_000 * number)
            facts = {
                "bench": "coverage",
                "seed": SEED,
                "processor_minutes": round(time.process_time() / 60, 1),
                "numpy": np.__version__,
                "python": platform.python_version(),
                "permutations": PERMUTATIONS,
                "min_active": MIN_ACTIVE,
                "rows": rows,
            }
            save(args.out, facts)  # after every rate: what was simulated is kept


def run_cases(names: list[str], sets: int, portion: int, out: Path) -> None:
    """Up to so many data sets of each cell, in portions; a file that is there already is added to."""
    path = out.with_suffix(".json")
    facts = (
        json.loads(path.read_text())
        if path.exists()
        else {"bench": "coverage, cases", "seed": SEED, "cases": {}}
    )
    facts |= {
        "numpy": np.__version__,
        "python": platform.python_version(),
        "permutations": PERMUTATIONS_OF_CASES,
    }
    for name in names:
        expected = facts["cases"].setdefault(
            name, {"sets": 0, "portions": 0, "seconds": 0.0, "rows": {}}
        )
        while expected["sets"] < sets:
            size, begun = min(portion, sets - expected["sets"]), time.process_time()
            generator = np.random.default_rng(
                [SEED, zlib.crc32(name.encode()), expected["portions"]]
            )
            for what, method, hits, number in CASES[name](generator, size):
                row = expected["rows"].setdefault(f"{what} | {method}", [0, 0])
                expected["rows"][f"{what} | {method}"] = [row[0] + hits, row[1] + number]
            expected["sets"], expected["portions"] = (
                expected["sets"] + size,
                expected["portions"] + 1,
            )
            expected["seconds"] = round(expected["seconds"] + time.process_time() - begun, 1)
            path.write_text(json.dumps(facts, indent=1) + "\n")
            out.with_suffix(".md").write_text(markdown_of_cases(facts))


ABOUT_CASES = """# Where a decision could mislead: simulated audits whose truth is known

`python tests/benches/bench_coverage.py --case all`, seed {seed}: a row for each kind of audit. Intervals: in how many
per cent of the data sets a 95 % interval holds the truth, in the rows where it does so least and most often. That
includes methods that were only compared, not those of earlier versions (“as it was”).

| cell | what is drawn | intervals, % | rows |
| --- | --- | ---: | ---: |
{short}

<details markdown="1">
<summary>All {many:,} rows</summary>

Per cent of data sets with the standard error of the simulation, and of how many: labels that are not judged and ratios
that are not given have fewer, single labels more. More on each cell is in tests/benches/coverage_*.py.

| cell | statement | by | % | of |
| --- | --- | --- | ---: | ---: |
{rows}

</details>
"""


def markdown_of_cases(facts: dict) -> str:
    short, rows = [], []
    for name, case in facts["cases"].items():
        holds = []
        for key, (hits, number) in case["rows"].items():
            what, method = key.split(" | ", 1)
            share = hits / number if number else 0.0
            error = 100 * np.sqrt(share * (1 - share) / number) if number else 0.0
            digits = 1 if share > 5e-4 or not share else 4
            text = f"{100 * share:.{digits}f} ± {error:.{digits}f}" if number else "-"
            rows.append(f"| {name} | {what} | {method} | {text} | {number:,} |")
            if (
                re.search(r"\b(covered|held|holds)\b", what)
                and "as it was" not in method
                and number >= 100
            ):
                holds.append(round(100 * share))
        about = getattr(CASES[name], "func", CASES[name]).__doc__.partition("\n\n")[0]
        ends = " to ".join(map(str, sorted({min(holds), max(holds)}))) if holds else "-"
        short.append(f"| {name} | {' '.join(about.split())} | {ends} | {len(case['rows'])} |")
    return ABOUT_CASES.format(
        seed=facts["seed"], short="\n".join(short), many=len(rows), rows="\n".join(rows)
    )


def save(out: Path, facts: dict) -> None:
    rows = ",\n".join(json.dumps(row) for row in facts["rows"])
    head = json.dumps({name: value for name, value in facts.items() if name != "rows"}, indent=1)[
        :-2
    ]
    out.with_suffix(".json").write_text(f'{head},\n "rows": [\n{rows}\n]}}\n')
    out.with_suffix(".md").write_text(markdown(facts["rows"], facts))


if __name__ == "__main__":
    main()
