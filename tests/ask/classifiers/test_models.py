"""The list of models with dates: every model that a text names is in it, and none ends soon after the release."""

import datetime
import re
import tomllib
from pathlib import Path

import pytest

from gslopes.ask.classifiers import compatible, load_classifier
from gslopes.core.text import many

ROOT = Path(__file__).resolve().parents[3]
MODELS = tomllib.loads((ROOT / "gslopes/ask/classifiers/models.toml").read_text("utf-8"))
CHECKED = MODELS.pop("checked")["on"]
DAYS = datetime.timedelta(days=60)
FACTS = {"vendor", "dialects", "source"}
MORE = {"since", "ends", "not_before", "price_in", "price_out", "priced", "follows"}
# Names as vendors write them; a name ends with a letter or a digit.
NAMES = re.compile(
    r"(?<![\w./-])((?:[a-z]{2}\.)?(?:gpt-\d|gpt-image-\d|o[134](?=-mini|-20)|claude-[a-z]*-?\d|gemini-\d"
    r"|(?:mistral|ministral|magistral)-[a-z]+-\d|pixtral-|(?:amazon\.)?nova-[a-z\d])[\w.:-]*?)(?=[.:-]*(?:[^\w.:-]|$))"
)
# What a family of models takes, and what others wrote, names models that are over on purpose.
ELSEWHERE = ("CHANGELOG.md", "models.toml", "families.toml", "uv.lock")


def named() -> dict[str, list[str]]:
    """Model to the files that name it: the documentation, help, docstrings and notebooks."""
    found: dict[str, list[str]] = {}
    folders = ("gslopes", "docs", "notebooks", "models")
    kinds = {".py", ".toml", ".md", ".j2", ".ipynb", ".json", ".js"}
    files = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    for path in [ROOT / "README.md", ROOT / "METHOD.md", ROOT / "action.yml", *files]:
        if path.suffix in kinds | {".yml"} and path.name not in ELSEWHERE:
            for name in NAMES.findall(path.read_text("utf-8")):
                found.setdefault(name, []).append(str(path.relative_to(ROOT)))
    return found


def release() -> datetime.date | None:
    """The date of the newest heading of the changelog: of a release; None while it is not released."""
    heading = re.search(r"(?m)^## \[.+\] - (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"))
    assert heading
    return None if heading[1] == "unreleased" else datetime.date.fromisoformat(heading[1])


def ending(model: dict, day: datetime.date) -> bool:
    ends = model.get("ends")
    return isinstance(ends, datetime.date) and ends - day <= DAYS


def test_every_model_that_a_text_names_is_in_the_list_and_does_not_end_soon_after_the_release():
    """Between releases the day of the list's last check counts: a day that passes breaks no build.

    With a release that day counts, and a list that was checked more than 60 days before it is too old.
    """
    day = release() or CHECKED
    places = named()
    assert places, "no text names a model any more: look at the patterns"
    unknown = {name: files for name, files in places.items() if name not in MODELS}
    assert not unknown, "not in models.toml: add them with their dates, or name others"
    soon = {name: files for name, files in places.items() if ending(MODELS[name], day)}
    assert not soon, f"end within {DAYS.days} days of {day}: name others"
    assert abs(day - CHECKED) <= DAYS, "read the vendors' pages again, and set checked"


def test_the_two_models_of_the_examples_of_2025_would_be_found():
    first = "llm:gpt-4o-2024-11-20,prompt=loan and `gemini-2.5-flash`."
    names = NAMES.findall(f"{first} us.amazon.nova-2-lite-v1:0, o3-mini: claude-haiku-5-5.")
    assert names == [
        "gpt-4o-2024-11-20",
        "gemini-2.5-flash",
        "us.amazon.nova-2-lite-v1:0",
        "o3-mini",
        "claude-haiku-5-5",
    ]
    assert all(ending(MODELS[name], datetime.date(2026, 11, 30)) for name in names[:2])


@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_the_list_has_its_source_and_dates_that_make_sense(name):
    model = MODELS[name]
    assert set(model) >= FACTS
    assert set(model) <= FACTS | MORE
    assert {"price_in", "price_out", "priced"} & set(model) in (
        set(),
        {"price_in", "price_out", "priced"},
    )
    days = [model[key] for key in ("since", "ends") if isinstance(model.get(key), datetime.date)]
    assert days == sorted(days)
    assert model.get("ends", "not announced") == "not announced" or days
    assert model.get("priced", CHECKED) <= CHECKED
    assert NAMES.findall(name) in ([name], []), "the pattern cuts it"


class Day(datetime.date):
    """A day on which the tests run."""

    @classmethod
    def today(cls) -> datetime.date:
        return cls(2026, 11, 30)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "gpt-4o-2024-11-20,price_in=1,price_out=1",
            ["is said to end on 2027-01-14, and OpenAI rec"],
        ),
        ("gemini-2.5-flash,price=3", ["is said to end on 2026-12-01"]),
        ("claude-3-5-haiku-20241022,price=3", ["was said to end on 2026-02-19."]),
        ("gpt-5.1,price=3", []),  # 122 days
        ("gpt-6-luna,price_in=1,price_out=1", []),
        ("gpt-6-luna", ["The list price of gpt-6-luna on 2026-10-13: price_in=0.1,price_out=0.5"]),
        ("a-model-of-mine", []),
        ("gpt-6-luna,url=http://localhost:1/v1", []),  # costs nothing
    ],
)
def test_a_user_is_told_of_an_end_that_is_near_and_of_a_list_price_with_its_day(
    monkeypatch, name, said
):
    monkeypatch.setattr(compatible, "date", Day)
    classifier = load_classifier(f"llm:{name},prompt=salary", prepare=False)
    told = [note for note in classifier.notes if not note.startswith("llm:")]  # of its family
    assert len(told) == len(said), many(len(told), "note")
    for note, words in zip(told, said, strict=True):
        assert words in note
        assert note in classifier.traits.limits.note  # which the plan shows before anything is paid
