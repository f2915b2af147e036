"""How pictures of editors are kept: as they came, never twice in memory, and handled as other answers are."""

import base64
import io
import json
from collections.abc import Iterator
from weakref import WeakSet

import numpy as np
import pytest
from PIL import Image

from gslopes.ask import client
from gslopes.ask.answers import parse_answer
from gslopes.ask.cache import AnswerCache
from gslopes.ask.classifiers import load_classifier
from gslopes.ask.client import Client
from gslopes.ask.editors import answer_of, kept, picture_within
from gslopes.ask.editors.python import as_editor
from gslopes.ask.questions import PartProgress, Question
from gslopes.ask.secrets import scrub_json
from gslopes.core.errors import ClassifierError, ModelError
from gslopes.core.records import Answer
from gslopes.faces.edit.protocol import Wish


def encoded(seed: int = 0, kind: str = "PNG", side: int = 40) -> bytes:
    pixels = np.random.default_rng(seed).integers(0, 255, (side, side, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind, compress_level=1)  # as ours are
    return file.getvalue()


def unchanged(image, value):
    return image


EDITOR = as_editor(unchanged, version="1")


def asked(
    one,
    pictures: Iterator[bytes] | list[bytes],
    cache: AnswerCache | None = None,
    journal: AnswerCache | None = None,
) -> list[PartProgress]:
    """Parts of one photo each."""
    parts: list[PartProgress] = []
    questions = ((n, [Question(str(n), lambda data=data: data)]) for n, data in enumerate(pictures))
    Client(one, cache=cache, journal=journal).ask_parts(questions, parts.append)
    return parts


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_picture_is_found_in_base64_and_nothing_else_is(kind):
    data = encoded(kind=kind)
    text = base64.b64encode(data).decode()
    assert picture_within(text) == data
    assert picture_within(f"data:image/{kind.lower()};base64,{text}") == data
    assert answer_of(json.loads(json.dumps(kept(data, "v2")))) == Answer(
        "answered", version="v2", picture=data
    )
    for other in ("", "hello", text[:20], text[1:], f"see {text}", f"{text}!", "iVBORw0KGgo=" * 9):
        assert not picture_within(other)


def test_what_looks_like_a_key_in_a_picture_stays_and_one_beside_it_goes(monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "AAAAAAAAAAAA")
    key = "AIza" + "x" * 35
    raw = kept(encoded() + b"\0" * 60 + base64.b64decode(f"ab/{key}ab"))
    assert scrub_json({**raw, "note": f"asked with {key}"}) == {**raw, "note": "asked with ***"}
    assert scrub_json({"text": f"iVBORw0KGgo {key}"}) == {"text": "iVBORw0KGgo ***"}


def test_the_journal_of_a_run_keeps_pictures_of_what_no_cache_keeps(tmp_path):
    calls = []

    def edit(image, value):
        calls.append(value)
        return image

    lock = (tmp_path / "lock").open("w")
    held = as_editor(lambda image, value: lock and edit(image, value))
    assert not held.traits.kept
    pictures = [encoded(seed) for seed in range(3)]
    for _ in range(2):
        with AnswerCache(tmp_path / "journal") as journal:
            parts = asked(held.at(Wish("gender", 1.0)), pictures, journal=journal)
        assert [next(iter(part.answers.values())).picture for part in parts] == pictures
        assert len(calls) == 3
    lock.close()


def test_an_answer_without_a_picture_has_failed_and_the_editor_is_named(tmp_path):
    one = EDITOR.at(Wish("gender", 1.0))
    assert parse_answer(one, kept(b"")) == Answer(
        "failed", reason="not a valid answer (The editor gave no picture.)"
    )

    def broken(image, value):
        return "nothing"

    wrong = as_editor(broken).at(Wish("gender", 1.0))
    questions = [Question(str(n), lambda n=n: encoded(n)) for n in range(8)]
    with pytest.raises(
        ClassifierError, match="The editor broken@gender=1 failed on all 8 pictures"
    ):
        Client(wrong).ask_parts([(0, questions)], lambda part: None)


def test_memory_holds_the_pictures_of_few_photos(tmp_path, monkeypatch):
    most = 0
    alive = WeakSet()

    class Followed(PartProgress):
        def __init__(self, *about):
            super().__init__(*about)
            alive.add(self)

    def done(part: PartProgress) -> None:
        nonlocal most
        most = max(most, sum(bool(item.answers) for item in list(alive)))

    monkeypatch.setattr(client, "PartProgress", Followed)

    questions = ((n, [Question(str(n), lambda n=n: encoded(n, side=8))]) for n in range(80))
    with AnswerCache(tmp_path) as cache:
        Client(EDITOR.at(Wish("a")), cache=cache).ask_parts(questions, done)
    assert 0 < most <= 17


def test_a_large_picture_is_kept_as_it_came(tmp_path):
    data = encoded(side=1000)
    assert len(data) > 3_000_000
    with AnswerCache(tmp_path) as cache:
        for _ in range(2):
            (part,) = asked(EDITOR.at(Wish("a")), [data], cache)
    assert next(iter(part.answers.values())).picture == data


def test_the_cache_tells_bytes_and_exports_and_prunes_by_the_editors_own_name(gslopes, tmp_path):
    from gslopes.ask.cache import cache_folder

    pictures = [encoded(seed) for seed in range(2)]
    with AnswerCache(cache_folder()) as cache:
        for value in (-2.0, 2.0):
            asked(EDITOR.at(Wish("gender", value)), pictures, cache)
        asked(as_editor(unchanged, version="1", name="other").at(Wish("a")), pictures, cache)
    shown = gslopes("cache", "show").out
    (line,) = [line for line in shown.splitlines() if line.startswith("unchanged@gender=-2: ")]
    assert line.startswith("unchanged@gender=-2: 2 answers, ")
    assert line.endswith(", 0.0 MiB")
    file = tmp_path / "answers.jsonl"
    done = gslopes("cache", "export", file, "--classifier", "unchanged")
    assert done.out == f"4 answers written to {file}\n"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert {answer_of(line["raw"]).picture for line in lines} == {*pictures}
    with pytest.raises(ModelError, match="holds pictures of the editor unchanged@gender=-2, not"):
        load_classifier(f"replay:{file}")
    assert gslopes("cache", "prune", "--classifier", "unchanged").out == "4 answers deleted\n"
    assert gslopes("cache", "prune", "--classifier", "oth").out == "0 answers deleted\n"
    assert "other@a=same: 2 answers" in gslopes("cache", "show").out
