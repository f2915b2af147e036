"""Hostile strings in labels, names, reasons, captions and columns: nothing runs, nothing is fetched, nothing breaks."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

import gslopes as library
from gslopes.core import tables
from gslopes.crops.stimuli.people import SEVERAL
from gslopes.report.layouts import to_latex, to_markdown
from tests.frame.audits import AUDITS

pytestmark = [pytest.mark.slow, pytest.mark.figures("none")]

HOSTILE = (
    "<script>owned=1</script>",
    '"><img src=https://evil.example/x onerror=owned=2>',
    "</script><svg onload=owned=3>",
    "javascript:owned=4",
    "=cmd|'/C calc'!A1",
    "+SUM(1)*cmd",
    "[2pt] first of its row",
    "*{9}{c} $x^2$ \\input{/etc/passwd} & % _ # ~ ^^M",
    "![x](https://evil.example/pixel.png) [y](javascript:owned=5) `c` | d",
    "\x1b]0;owned\x07\x1b[2J red \x9b31m",
    "\u202etxet desrever\u2066 \u200b\ufeff",
    "---\nlicense: mit\n--- | \r\n# Heading",
    "{{constructor.constructor('owned=6')()}} ${owned=7} {% raw %}",
    "toString __proto__ null NaN",
    "x" * 3000,
)
FORMULA = tuple("=+-@\t\r")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def opened(chromium: Any, page_file: Path) -> list[str]:
    """What went on that should not, while the page was read to its end and all in it was clicked."""
    recorded: list[str] = []
    page = chromium.new_page()
    page.on(
        "dialog", lambda dialog: (recorded.append(f"dialog {dialog.message}"), dialog.dismiss())
    )
    page.on("pageerror", lambda error: recorded.append(f"error {error}"))
    page.on(
        "console",
        lambda message: (
            recorded.append(message.text) if message.type in ("error", "warning") else None
        ),
    )
    outside = ("file:", "data:", "blob:")
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith(outside)
            else recorded.append(f"asked {request.url[:80]}")
        ),
    )
    page.goto(page_file.as_uri())
    page.evaluate(
        """async () => {
            const rest = () => new Promise(done => setTimeout(done, 60))
            for (const one of document.querySelectorAll("details")) one.open = true
            for (let at = 0; at < document.body.scrollHeight; at += 1500) { scrollTo(0, at); await rest() }
            for (const one of [...document.querySelectorAll("button")].slice(0, 60)) if (one.offsetParent) one.click()
            await rest()
        }"""
    )
    recorded += ["owned"] if page.evaluate("typeof owned !== 'undefined'") else []
    bad = "[...document.querySelectorAll('*')].flatMap(e => [...e.attributes].filter(a => /^on/.test(a.name) || "
    bad += "(/^(href|src|action)$/.test(a.name) && /^\\s*(javascript|https?:..evil)/.test(a.value)))).map(a => a.value)"
    recorded += [
        f"attribute {value[:60]}"
        for value in page.evaluate(bad)
        if "owned" in value or "evil" in value
    ]
    page.close()
    return recorded


def assert_texts_are_quiet(run: Path) -> None:
    """No control sequence in any text, no formula in a CSV, no bare LaTeX, JSON that is JSON."""
    for path in run.rglob("*"):
        if path.suffix in (
            ".md",
            ".tex",
            ".html",
            ".txt",
            ".xml",
        ):  # a CSV has the label itself, to be joined by
            text = path.read_bytes().decode("utf-8", "surrogateescape")
            assert not set(CONTROL.findall(text)), path.name
        if path.suffix == ".csv":
            cells = [
                cell for row in csv.reader(io.StringIO(path.read_text("utf-8"))) for cell in row
            ]
            runs = [
                cell
                for cell in cells
                if cell.startswith(FORMULA) and not re.fullmatch(r"-?[\d.einfa+-]*", cell)
            ]
            assert runs == [], path.name
        if path.suffix == ".tex":
            assert_latex(path.read_text("utf-8"))
        if path.suffix == ".json":
            json.loads(path.read_text("utf-8"))


def assert_latex(text: str) -> None:
    """By the rules of escaping: no row begins with what its ``\\\\`` or rule would eat, and each has all its cells."""
    assert not re.search(r"(\\\\|\\midrule|\\toprule)\s*[\[*]", text)
    bare = re.sub(
        r"\\[a-zA-Z]+\*?|\\[&%$#_{}\\]", "", text.split("\\toprule")[1].split("\\bottomrule")[0]
    )
    assert not set(bare) & set("%#_^~<>|\\"), sorted(set(bare) & set("%#_^~<>|\\"))
    assert bare.count("{") == bare.count("}")
    rows = [row for row in bare.splitlines() if row.strip()]
    assert len({row.count("&") for row in rows}) == 1


def test_labels_names_and_people_of_an_audit(gslopes, draw, make_onnx, tmp_path, chromium):
    faces = draw(6)
    lines = [text.replace("\r", " ").replace("\n", " ") for text in HOSTILE]
    model = make_onnx(
        [[0.5 + i / 40 for i in range(len(lines))], *[[0.05] * len(lines)] * 2], "\n".join(lines)
    )
    odd = tmp_path / "<img src=x onerror=owned=8>.onnx"
    (tmp_path / "model.onnx").rename(odd)
    table = pd.read_csv(faces.folder / "faces.csv")
    shots = sorted(path.name for path in faces.photos.iterdir())
    names = dict(zip(shots, ("=1+1.png", "<b onclick=owned=9>.png", "\x1b[2J.png"), strict=False))
    for old, new in names.items():
        (faces.photos / old).rename(faces.photos / new)
    first = table.columns[0]
    table[first] = [names.get(name, name) for name in table[first]]
    table.to_csv(faces.folder / "faces.csv", index=False)
    people = pd.DataFrame(
        {"image": table[first], HOSTILE[1]: [HOSTILE[0], HOSTILE[4]] * 3, "id": range(6)}
    )
    people.to_csv(tmp_path / "people.csv", index=False)
    run = tmp_path / "run"
    args = (
        "--steps",
        3,
        "--photos-csv",
        tmp_path / "people.csv",
        "--groups",
        HOSTILE[1],
        "--set",
        "fit.min_varying=1",
    )
    named = model.replace("model.onnx", odd.name) + ",threshold=0.01"
    done = gslopes("audit", faces.photos, "--out", run, "--classifier", named, *faces.args, *args)
    assert done.code in (0, 3), done.err
    assert set(tables.read(tables.SCORES, run / "scores.parquet")["label"]) >= {
        line.strip() for line in lines[:9]
    }
    again = gslopes(
        "audit",
        run,
        "--only",
        "report",
        "--json",
        "--fail-if",
        "finding",
        "--junit",
        run / "junit.xml",
    )
    json.loads(again.out)
    assert not CONTROL.search(done.out + done.err + again.err)
    assert opened(chromium, run / "report/index.html") == []
    assert_texts_are_quiet(run)
    displayed = library.load(run)._repr_html_()
    assert not re.search("<(script|svg|b )", displayed)
    for picture in re.findall("<img[^>]*", displayed):
        assert re.fullmatch(
            '<img src="data:image/jpeg;base64,[\\w+/=]+" alt="[a-z ]+" style="[a-z0-9%:; -]+"',
            picture,
        )
    for form, name in (("parquet", "set"), ("answers", "answers.csv")):
        exported = gslopes("export", run, "--form", form, "--out", tmp_path / "out" / name)
        assert exported.code == 0, exported.err
    assert_texts_are_quiet(tmp_path / "out")


def test_licences_and_reasons_on_the_card_of_an_export(tmp_path):
    from gslopes.export import writers

    counted = dict.fromkeys(HOSTILE, 2)
    about = {
        "form": "parquet",
        "made": "2026",
        "columns": ["split"],
        "attributes": ["gender"],
        "title": "Counterfactual photos along gender",
        "splits": {"train": 4},
        "dropped": counted,
        "licences": counted,
        **dict.fromkeys(("pictures", "sets", "photos", "kept"), 4),
        "editors": [("gender", name[:60], "0" * 64, name) for name in HOSTILE],
        "measured": [],
    }
    text = writers.readme(about)
    front = yaml.safe_load(text.split("\n---\n")[0].removeprefix("---\n"))
    assert front["license"] == "other"
    body = text.split("\n---\n", 1)[1]
    assert not CONTROL.search(body)
    assert "\n# Heading" not in body
    assert not re.search(
        r"(?<!\\)[<`]\w|(?<!\\)!?\[[^\]]*\]\(",
        body.replace("`compositeWith", "").replace("`kept", ""),
    )
    assert json.dumps(writers.metadata(about, tmp_path))


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_cell_of_a_table_is_shown_as_it_is(text):
    from gslopes.report import words

    frame = pd.DataFrame({"Label": [words.label(text)] * 2, "Slope": ["−1.0"] * 2})
    assert_latex(to_latex(frame, words.label(text), "x"))
    assert_latex(to_latex(frame.rename(columns={"Label": "API"}), "", "x"))
    displayed = to_markdown(frame, "")
    assert len(displayed.strip().splitlines()) == 4
    assert not re.search(
        r"(?<!\\)[<>`\[\]$|](?! )", "".join(displayed.splitlines()[3:]).replace(" |", "")
    )


def hostile_captions(folder: Path) -> Path:
    """The small audit's stages with hostile captions, images and groups."""
    stages = AUDITS["captions"].prepare(folder)
    rows = [[str(i), HOSTILE[i % len(HOSTILE)] + " a man with a dog"] for i in range(36)]
    with (stages / "system-captions.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["image", "caption"], *rows])
    groups = [[i, "female" if i % 2 else HOSTILE[0], HOSTILE[1 + i % 3]] for i in range(36)]
    with (folder / "groups.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["image", "gender", HOSTILE[4]], *groups])
    return stages


def test_captions_and_groups(tmp_path, chromium):
    stages = hostile_captions(tmp_path)
    done = AUDITS["captions"].begin(stages, tmp_path / "run")
    assert not CONTROL.search(str(done))
    assert opened(chromium, tmp_path / "run/report/index.html") == []
    assert opened(chromium, tmp_path / "run/review.html") == []
    assert_texts_are_quiet(tmp_path / "run")


@pytest.mark.parametrize("name", ["crops", "contexts"])
def test_columns_and_groups_of_people(name, tmp_path, chromium):
    people = AUDITS[name].prepare(tmp_path)
    table = tmp_path / "people.csv"
    frame = pd.read_csv(table, dtype=str)
    item = [text for text in HOSTILE if not set(SEVERAL) & set(text)]  # others mean several groups
    column = "team" if name == "crops" else "gender"
    if name == "crops":
        frame[column] = frame[column].map(dict(zip(sorted(set(frame[column])), item, strict=False)))
    frame[HOSTILE[1]] = [item[i % 2 + 2] for i in range(len(frame))]
    frame.to_csv(table, index=False)
    run = tmp_path / "run"
    more = {"groups": (column, HOSTILE[1])} if name == "crops" else {}
    done = AUDITS[name].begin(people, run, **more)
    assert not CONTROL.search(str(done))
    for page in run.rglob("*.html"):
        assert opened(chromium, page) == [], page.name
    assert_texts_are_quiet(run)
