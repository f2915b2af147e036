"""README and site: links lead somewhere, numbers equal the files', the site builds, the prose is edited."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_house import missing, unknown_options

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "docs/pages").rglob("*.md"))
MARKDOWN = sorted(
    {
        *PAGES,
        *ROOT.glob("*.md"),
        *(ROOT / "models").rglob("*.md"),
        *(ROOT / "gslopes").rglob("*.md"),
    }
)
README = (ROOT / "README.md").read_text("utf-8")
LONDON = json.loads((ROOT / "tests/benches/results/london.json").read_text("utf-8"))


def place(heading: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", heading.strip().lower()))


def anchors(path: Path) -> set[str]:
    matches = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), flags=re.MULTILINE)
    return {place(re.sub(r"[`*\[\]]|\([^)]*\)", "", item)) for item in matches}


def dead_links(text: str, path: Path) -> list[str]:
    """Relative links and anchors that lead nowhere; those to pages that the site's build makes are checked there."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    wrong = []
    for target, anchor in re.findall(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)]+))?\)", text):
        file = (path.parent / target).resolve() if target else path
        result = path in PAGES and re.search(
            r"(models|notebooks|benchmarks|reference|method/differences|help/(security|changelog))",
            str(file),
        )
        if not file.exists():
            wrong += [] if result else [target]
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            wrong.append(f"{target}#{anchor}")
    return wrong


def test_links_and_anchors_lead_somewhere() -> None:
    text = "[a](README.md), [b](nowhere.md), [c](README.md#one-result), [d](README.md#nothing)"
    assert dead_links(text, ROOT / "CHANGELOG.md") == ["nowhere.md", "README.md#nothing"]
    dead = {
        str(path.relative_to(ROOT)): dead_links(path.read_text("utf-8"), path) for path in MARKDOWN
    }
    assert {name: links for name, links in dead.items() if links} == {}


@pytest.mark.parametrize(
    "page",
    [
        "howto/editors",
        "howto/own-editor",
        "howto/pairs",
        "start/counterfactual-set",
        "start/paid-service",
    ],
)
def test_each_use_has_a_short_page_that_home_and_navigation_lead_to(page: str) -> None:
    assert len((ROOT / f"docs/pages/{page}.md").read_text("utf-8").split()) <= 300
    assert f"({page}.md)" in (ROOT / "docs/pages/index.md").read_text("utf-8")
    assert f": {page}.md\n" in (ROOT / "docs/mkdocs.yml").read_text("utf-8")


def test_readme_fits_on_a_page() -> None:
    assert len(README.splitlines()) <= 90
    assert len(README.split()) <= 700


def test_the_table_of_the_readme_is_what_the_bench_wrote() -> None:
    def cell(sweep: dict[str, float]) -> str:
        ends = [
            f"{sweep[name]:+.1f}".replace("-", "−")
            for name in ("value", "low", "high")
            if sweep[name] is not None
        ]
        return (
            f"{ends[0]} [{ends[1]}, {ends[2]}]" if len(ends) == 3 else f"{ends[0]} (too few change)"
        )

    gender = LONDON["gender"]
    sweeps = {"gender": gender["labels"], "the same picture (placebo)": gender["placebos"]["same"]}
    sweeps |= {"light alone (placebo)": gender["placebos"]["light"]}
    sweeps |= {"a random change as large (placebo)": gender["placebos"]["random"]}
    rows = dict(re.findall(r"^\| ([^|]+) \| \d+ \| (.+) \|$", README, flags=re.MULTILINE))
    assert rows == {
        name: f"{cell(sweep['Male'])} | {cell(sweep['Heavy_Makeup'])}"
        for name, sweep in sweeps.items()
    }
    assert f"on {gender['counts']['found']} portraits" in README
    assert set(re.findall(r"^\| [^|]+ \| (\d+) \|", README, flags=re.MULTILINE)) == {
        str(gender["counts"]["judged"])
    }


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_page_names_only_what_exists_in_edited_english(path: Path) -> None:
    text = path.read_text("utf-8")
    assert missing(re.sub(r"\]\([^)]*\)", "]", text)) == []  # links are checked above
    assert unknown_options(text) == []
    if (
        f"({path.relative_to(ROOT)})" in README
    ):  # is read without the site, which fills in what is in braces
        assert not re.search(r"(?<!<!-- )\{\{ ", text)
    assert not re.search(
        r"\bde-?bias|\bunbiased|race detector|gender detector", text, flags=re.IGNORECASE
    )


@pytest.mark.slow
@pytest.mark.evidence
def test_the_values_that_pages_keep_are_those_of_the_files() -> None:
    pytest.importorskip(
        "mkdocs", reason="the site's builder is not installed: pip install -e '.[docs]'"
    )
    code = "import hooks; pages = hooks.PAGES.rglob('*.md'); "
    code += "print([one.name for one in pages if hooks.kept(t := one.read_text()) != t])"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "docs/hooks"), str(ROOT)))}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]", "python docs/hooks/hooks.py writes them"


def test_without_its_packages_the_site_ends_with_one_sentence() -> None:
    script = [sys.executable, "-S", ROOT / "docs/hooks/hooks.py"]  # -S: only what Python brings
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.fullmatch(
        r"The site needs \w+, which is not installed: pip install -e '\.\[docs\]'\n", done.stderr
    )


def test_the_longest_table_of_the_benches_is_short_until_it_is_unfolded() -> None:
    text = (ROOT / "tests/benches/results/coverage-cases.md").read_text("utf-8")
    displayed, _, folded = text.partition("<details")
    cases = json.loads((ROOT / "tests/benches/results/coverage-cases.json").read_text("utf-8"))[
        "cases"
    ]
    assert len(displayed.replace("|", " ").split()) < 21 * len(cases)
    assert [name for name in cases if f"\n| {name} | " not in displayed] == []
    assert folded.count(" ± ") + folded.count("| - |") == sum(
        len(case["rows"]) for case in cases.values()
    )


def test_a_link_of_the_built_site_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / "a").mkdir(parents=True)
    links = ["../b.html#here", "c.html", "../B.html", "#top", "#nowhere", "../b.html#there"]
    links += ["https://example.org/x", "/b.html", "../../outside.html", "../?q=1", "mailto:a@b.c"]
    listed = "".join(f'<a href="{link}">x</a>' for link in links)
    (site / "a/one.html").write_text(f'{listed}<img src="../gone.png">', "utf-8")
    (site / "b.html").write_text('<h2 id="here">Here</h2>', "utf-8")
    (site / "index.html").write_text("", "utf-8")
    (tmp_path / "outside.html").write_text("", "utf-8")
    done = subprocess.run(
        [sys.executable, ROOT / "docs/hooks/links.py", site],
        capture_output=True,
        text=True,
        check=True,
    )
    wrong = [
        "#nowhere",
        "../../outside.html",
        "../B.html",
        "../b.html#there",
        "../gone.png",
        "c.html",
    ]
    assert done.stdout.splitlines() == [f"a/one.html: {link}" for link in wrong]


@pytest.mark.slow
def test_the_site_builds_strictly_and_holds_what_the_papers_send_people_to(tmp_path: Path) -> None:
    pytest.importorskip(
        "mkdocstrings", reason="the site's builder is not installed: pip install -e '.[docs]'"
    )
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",  # quietly it would count no warning
        "-f",
        "docs/mkdocs.yml",
    ]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*command, "-d", str(tmp_path)],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "one file with a class, one entry point" in (
        tmp_path / "contribute/classifier.html"
    ).read_text("utf-8")
    assert "my_package/mood.py" in (tmp_path / "contribute/classifier.html").read_text("utf-8")
    audit = (tmp_path / "reference/commands/audit.html").read_text("utf-8")
    assert "gslopes audit photos --out run" in re.sub(r"<[^>]+>", "", audit)
    assert "y_centre" in (tmp_path / "reference/tables/walk.html").read_text("utf-8")
    pages = [
        page
        for page in tmp_path.rglob("*.html")
        if re.search(r"(?<!\$)\{\{ ", re.sub(r"<code.*?</code>", "", page.read_text("utf-8")))
    ]
    assert [page for page in pages if "notebooks" not in str(page)] == []
