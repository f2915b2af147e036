"""Labels of every script in figures: drawn by a font that has them, or a sentence says which to install."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib.figure import Figure

from gslopes.report import fonts
from gslopes.slopes.page import paper_sheets

ROOT = Path(__file__).resolve().parents[2]
VALUES = np.linspace(-2, 2, 5)
CJK, SYMBOLS, OTHER = (
    "Noto Sans CJK (fonts-noto-cjk)",
    "Noto Emoji or Symbola (fonts-symbola)",
    "Noto Sans (fonts-noto-core)",
)
# A script, a label in it, and what to install where no font has it.
LABELS = {
    "Chinese": ("化妆", CJK),
    "Japanese": ("口紅をぬる", CJK),
    "Korean": ("화장", CJK),
    "Hindi": ("लिपस्टिक", OTHER),
    "Egyptian": ("𓀀", OTHER),
    "emoji": ("\N{LIPSTICK}", SYMBOLS),
}


def figure(label: str) -> Figure:
    line = paper_sheets.Line(f"tagger {label}", np.linspace(1.2, 0.8, 5), 1.0, -0.1)
    return paper_sheets.label_figure([line], VALUES, label=label, attribute="gender")


def elsewhere(tmp_path: Path, code: str, *, alone: bool) -> list[str]:
    """The lines that another process prints.  alone: without the fonts of this machine, but for those of tmp_path."""
    text = "manager.fontManager.ttflist[:] = [e for e in manager.fontManager.ttflist if 'mpl-data' in e.fname]"
    found = f"manager.findSystemFonts = lambda: [str(p) for p in Path({str(tmp_path)!r}).rglob('*.ttf')]"
    head = "from pathlib import Path; from matplotlib import font_manager as manager; from gslopes.report import fonts"
    script = "\n".join([head, *([text, found] if alone else []), code])
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "MPLCONFIGDIR": str(tmp_path / "cache"),
        "XDG_DATA_HOME": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "findfont" not in done.stderr
    return done.stdout.splitlines()


def font_file(path: Path, letters: str) -> None:
    """A font that has a square for each of these letters."""
    pen = TTGlyphPen(None)
    pen.moveTo((100, 0))
    for corner in ((100, 700), (800, 700), (800, 0)):
        pen.lineTo(corner)
    pen.closePath()
    names = [".notdef", *(f"u{ord(letter):05X}" for letter in letters)]
    font = FontBuilder(1000)
    font.setupGlyphOrder(names)
    font.setupCharacterMap(
        {ord(letter): name for letter, name in zip(letters, names[1:], strict=True)}
    )
    font.setupGlyf(dict.fromkeys(names, pen.glyph()))
    font.setupHorizontalMetrics(dict.fromkeys(names, (900, 100)))
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": "Squares", "styleName": "Regular"})
    font.setupOS2()
    font.setupPost()
    path.parent.mkdir()
    font.save(path)


def test_where_no_font_has_a_script_the_sentence_names_the_one_to_install(tmp_path: Path) -> None:
    code = f"for text in {[label for label, _ in LABELS.values()]!r}: print(fonts.advice([text, 'Lächeln', 'a'])[0])"
    for (label, font), sentence in zip(
        LABELS.values(), elsewhere(tmp_path, code, alone=True), strict=True
    ):
        assert sentence.startswith(f"No font here has {''.join(sorted(set(label)))[:8]}")
        assert f"Install {font} and make the report again." in sentence


@pytest.mark.parametrize(
    "label", ["Heavy_Makeup", "Lächeln", "улыбка", "ابتسامة", "חיוך", "\N{GRINNING FACE}"]
)
def test_what_the_fonts_of_matplotlib_have_needs_no_other(label: str) -> None:
    assert fonts.advice([label]) == []


@pytest.mark.slow
def test_a_font_that_was_installed_after_matplotlib_looked_draws_the_scripts_that_it_has(
    tmp_path: Path,
) -> None:
    labels = [label for label, _ in LABELS.values()]
    elsewhere(
        tmp_path, "assert manager.fontManager", alone=False
    )  # matplotlib keeps its list of fonts
    font_file(tmp_path / "fonts/squares.ttf", "".join(sorted(set("".join(labels)))))
    code = f"""
from gslopes.report import charts
print(fonts.advice({labels!r}))
sheet = charts.new_sheet(1, len({labels!r}), 1)
for row, label in enumerate({labels!r}):
    charts.text(sheet[1], 0, row, label, size=9, weight="bold")
print({{form: charts.render(sheet[0], form)[1:4] for form in charts.FORMS}})
print(*(text.get_fontfamily() for text in sheet[1].texts), sep="\\n")
"""
    result = elsewhere(tmp_path, code, alone=True)
    assert result[:2] == ["[]", "{'png': b'PNG', 'pdf': b'PDF'}"]
    assert set(result[2:]) == {f"['{fonts.CHIEF}', 'Squares']"}
    assert elsewhere(tmp_path, code, alone=False)[:2] == result[:2]


def title_of(drawn: Figure) -> np.ndarray:
    """The ink of a title by columns, cut to where there is any."""
    drawn.canvas.draw()
    pixels = np.asarray(drawn.canvas.buffer_rgba())[: int(drawn.bbox.height) // 9, :, 0]
    columns = 255.0 - pixels.mean(axis=0)
    used = np.flatnonzero(columns)
    return columns[used[0] : used[-1] + 1]


@pytest.mark.parametrize("label", ["ابتسامة", "חיוך", "1 (חיוך)!"])
def test_a_label_from_right_to_left_does_not_turn_its_sentence_round(label: str) -> None:
    usual, drawn = title_of(figure("smile")), figure(label)

    def alike() -> float:
        """How much the ends of both titles, "along perceived gender", are alike: a correlation, of any shift."""
        end, second = usual[-300:], title_of(drawn)[-302:]
        return max(np.corrcoef(end, second[shift : shift + 300])[0, 1] for shift in range(3))

    assert alike() > 0.9
    title = drawn.texts[0]
    title.set_text(title.get_text().translate({0x2068: None, 0x2069: None}))
    assert label[0] == "1" or alike() < 0.5
