import base64
import json
import re
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gslopes.core import UsageError, tables
from gslopes.report import words
from gslopes.report.inline import TEMPLATES
from gslopes.slopes.page import decisions, loading, write_report
from gslopes.slopes.page.loading import Finding
from tests.fixtures import QUESTIONS, questions
from tests.slopes.page.conftest import NO_PHOTOS, page_of

SCRIPT = "<script>alert(1)</script>"
VALUES = np.linspace(-2, 2, 7)


def finding(rows: pd.DataFrame) -> Finding:
    return Finding("", "celeba-tagger", "gender", VALUES, rows, rows[:0])


class Reader(HTMLParser):
    """What a browser would make of it: tags, their attributes, text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in {"meta", "img", "source"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def html(one: Path) -> str:
    """The page of the run whose slopes are the paper's alone."""
    return write_report(one).read_text(encoding="utf-8")


def test_labels_and_file_names_of_strangers_are_text(html: str) -> None:
    reader = Reader(html)
    assert reader.tags.count("script") == 3  # the data, the plots' library and our own
    assert reader.text.count(SCRIPT) >= 1
    assert reader.open == []
    assert not [name for name, _ in reader.attributes if name.startswith("on") or name == "style"]


def test_manifest_of_strangers_is_text(tmp_path: Path) -> None:
    texts = dict.fromkeys(("created", "gslopes"), SCRIPT)
    nested = {
        "models": {SCRIPT: {SCRIPT: SCRIPT}},
        "classifiers": {SCRIPT: {"version": SCRIPT}},
        "config": {SCRIPT: 1},
    }
    for manifest in (texts, nested, {}):
        reader = Reader(page_of(tmp_path, manifest))
        assert (reader.tags.count("script"), reader.open) == (3, [])


@pytest.mark.parametrize(
    "manifest",
    [
        *({key: SCRIPT} for key in ("config", "models", "classifiers", "versions", "editor")),
        {"config": None},
        {"models": []},
        {"classifiers": {"c": "1"}},
        {"created": 5},
    ],
)
def test_no_page_is_made_of_a_manifest_of_other_forms(
    tmp_path: Path, manifest: dict[str, object]
) -> None:
    (tmp_path / "run.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(UsageError, match="makes no sense"):
        loading.load(tmp_path)


def test_page_asks_nothing_of_any_server(html: str) -> None:
    reader = Reader(html)
    links = {value for name, value in reader.attributes if name in {"src", "href"}}
    files = {"slopes.csv", "tables/table1.csv", "figure3.pdf"}
    assert files < links
    assert not [link for link in links if link and ":" in link]
    ours = html[
        : html.index("<script>")
    ]  # the library holds such words, and asks for nothing: see the browser tests
    assert "url(" not in ours
    assert "@import" not in ours


def test_policy_lets_in_our_style_and_nothing_else(html: str) -> None:
    style = re.search(r"<style>(.*?)</style>", html, flags=re.DOTALL)
    assert style
    digest = base64.b64encode(sha256(style[1].encode()).digest()).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy
    assert policy[1].startswith("default-src 'none'; ")
    assert f"style-src 'sha256-{digest}' 'sha256-" in policy[1]  # and that of the plots
    assert "unsafe" not in policy[1]
    assert "http" not in policy[1]


def test_the_page_says_what_was_done_and_how_to_read_it(html: str) -> None:
    text = re.sub(r"\s+", " ", Reader(html).text.replace("\xa0", " "))
    for sentence in (
        "86 photos found in the folder",
        "79 answered at every value",
        "pictures: 559 answered, 1 refused (too small)",
        "was shown 80 photos, each with its face edited",
        "The slopes are about the 79 that it answered at every value.",
        "2026-11-21 04:00 UTC",
        "How to read a slope",
        "appears on 2 more of every 100 photos; of +2.0 %, where every picture has the label: the odds of its",
        "It is an association under this edit",
        "What it does not tell",
        "2 no face found",
        "new\\nline\\x1b[31m.jpg",
        "空.webp",
        "gender-field",
        "ab" * 32,
        "non-commercial research",
        "9 labels along 7 values",
        "perceived gender",
    ):
        assert sentence in text
    assert not re.search("debias|unbiased|detector", text.lower())


def test_the_plots_are_drawn_by_the_very_files_that_npm_gives_with_their_licences() -> None:
    digests = {
        "d3.min.js": "f2094bbf6141b359722c4fe454eb6c4b0f0e42cc10cc7af921fc158fceb86539",
        "plot.umd.min.js": "4358086467740777dd788d6b27a95cebdbaefdd50c730a3060117073bd7134cb",
    }
    vendor = TEMPLATES.parent / "vendor"
    assert {name: sha256((vendor / name).read_bytes()).hexdigest() for name in digests} == digests
    assert all(
        "Permission to use" in (vendor / f"{name}.LICENSE").read_text("utf-8")
        for name in ("d3", "plot")
    )


def test_every_slope_and_its_interval_reach_the_page(one: Path, html: str) -> None:
    slopes = tables.read(tables.SLOPES, one / "slopes.parquet")
    text = (one / "report" / "data" / "f0.js").read_text("ascii")
    content = json.loads(text.removeprefix('gslopes("f0",').removesuffix(");\n"))
    assert len(content["labels"]) == len(slopes)
    for _, row in slopes.iterrows():
        place = content["labels"].index(words.printable(row["label"]))
        for column in ("slope", "ci_low", "ci_high", "q"):
            number = content["estimators"]["paper"][column][place]
            assert number == (
                None if np.isnan(row[column]) else pytest.approx(row[column], rel=1e-3)
            )


def test_many_reasons_and_files_are_cut_and_say_so(tmp_path: Path) -> None:
    skipped = tuple((f"{index}.jpg", f"reason {index}") for index in range(300))
    reasons = [(f"reason {index}", 1) for index in range(300)]
    photos = {**NO_PHOTOS, "found": 300, "reasons": reasons, "skipped": skipped}
    text = Reader(page_of(tmp_path, {}, photos=photos)).text
    assert "288 for other reasons" in re.sub(r"\s+", " ", text)
    assert "The first 200; all are in photos.parquet" in text


def test_the_page_answers_its_questions_in_order_and_details_follow(html: str) -> None:
    assert questions(html) == QUESTIONS
    titles = re.findall(r'<h2[^>]*id="(\w+)"', html)
    assert titles.index("next") < titles.index("findings") < titles.index("provenance")
    explained = re.findall(r"<dt>([^<]*)</dt><dd>[^<]*\.</dd>", html)
    assert len(explained) == len(set(explained))
    assert {"reader", "placebo", "sweep", "slope", *decisions.SHOWN.values()} <= set(explained)
    assert "gslopes compare RUN NEW-RUN --fail-if changed" in Reader(html).text
