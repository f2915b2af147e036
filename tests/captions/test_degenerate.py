"""Caption audits with hardly anything in them: one image, one caption, no person, every caption alike, one group."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import gslopes
from tests.broken import broken, shown

Row = tuple[str, str, str, str]  # image, a person's caption, the system's, gender


def images(count: int, human: str, system: str) -> list[Row]:
    words = ("man", "woman")
    return [
        (str(place), human.format(words[place % 2]), system.format(words[place % 2]), ("male", "female")[place % 2])
        for place in range(count)
    ]


CASES: dict[str, Callable[[], list[Row]]] = {
    "one image": lambda: images(1, "A {} on a bench.", "A {}."),
    "two images": lambda: images(2, "A {} on a bench.", "A {}."),
    "every caption alike": lambda: images(30, "A dog.", "A dog."),
    "no word": lambda: images(30, "A {} on a bench.", "."),
    "a third without a caption": lambda: [
        (image, human, "" if int(image) % 3 == 0 else system, gender)
        for image, human, system, gender in images(30, "A {} on a bench.", "A {} on a bench.")
    ],
    "one group": lambda: [(*row[:3], "male") for row in images(30, "A {} on a bench.", "A {}.")],
    "a group each": lambda: [(*row[:3], row[0]) for row in images(12, "A {} on a bench.", "A {}.")],
    "all alike but people": lambda: images(30, "A {} on a bench.", "A {} on a bench."),
}


@pytest.mark.parametrize("name", CASES)
def test_every_table_and_page_is_made(tmp_path: Path, name: str):
    stages = tmp_path / "stages"
    stages.mkdir()
    rows = CASES[name]()
    for file, column in (("human", 1), ("system", 2)):
        lines = [f"{row[0]},{row[column]}" for row in rows]
        (stages / f"{file}-captions.csv").write_text("\n".join(["image,caption", *lines]) + "\n", "utf-8")
    groups = "\n".join(["image,gender", *(f"{row[0]},{row[3]}" for row in rows)]) + "\n"
    (tmp_path / "groups.csv").write_text(groups, "utf-8")
    how = {"bootstrap": 100, "permutations": 99, "splits": 4}
    found = gslopes.audit_captions(stages, tmp_path / "run", groups=tmp_path / "groups.csv", columns=["gender"], **how)
    page = found.page.read_text("utf-8")
    texts = [
        found.summary,
        str(found),
        found._repr_html_(),
        found.findings.to_csv(index=False),
        shown(page),
        shown(found.review.read_text("utf-8")),
    ]
    assert sorted({one for text in texts for one in broken(text)}) == []
    assert gslopes.load(tmp_path / "run").summary == found.summary


def test_the_page_names_the_groups_that_it_was_given_and_no_other(tmp_path: Path):
    stages = tmp_path / "stages"
    stages.mkdir()
    for file in ("human", "system"):
        lines = "".join(f"{place},A man on a bench.\n" for place in range(6))
        (stages / f"{file}-captions.csv").write_text(f"image,caption\n{lines}", "utf-8")
    groups = "image,age\n" + "".join(f"{place},{('old', 'young')[place % 2]}\n" for place in range(6))
    (tmp_path / "groups.csv").write_text(groups, "utf-8")
    how = {"bootstrap": 20, "permutations": 19}
    found = gslopes.audit_captions(stages, tmp_path / "run", groups=tmp_path / "groups.csv", **how)
    assert "Groups are those of age: how people look" in shown(found.page.read_text("utf-8"))
    bare = gslopes.audit_captions(stages, tmp_path / "bare", **how)
    assert "No table of groups was given" in shown(bare.page.read_text("utf-8"))
    assert "skin tone" not in shown(bare.page.read_text("utf-8"))
