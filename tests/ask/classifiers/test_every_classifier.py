"""What holds for every registered classifier: a new one is tested by being registered."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from functools import cache, partial
from importlib import metadata, util

import pytest

from gslopes.ask import classifiers, names
from gslopes.ask.answers import check_answer
from gslopes.ask.classifiers import (
    canonical_name,
    catalogue,
    list_classifiers,
    load_classifier as load_any_classifier,
)
from gslopes.ask.classifiers.catalogue import SERVICES
from gslopes.core.errors import ClassifierError, PhotoError, UnknownName, UsageError
from gslopes.core.records import Answer, Classifier
from gslopes.core.registry import Target
from gslopes.core.runtime import pick_device
from gslopes.core.traits import traits_of
from tests.ask.local_models import MAKERS

load_classifier = partial(load_any_classifier, trust=True)
BUILT_IN = sorted(catalogue.CATALOGUE)
COLOURS = [(255, 0, 0), (0, 255, 0), (10, 20, 30), (255, 255, 255)]


# Services answer only with the fake provider: test_services; these have more tests elsewhere.
LOCAL = sorted(set(BUILT_IN) - set(SERVICES) - {"http", "replay"})


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Full names of tiny random models, each made once."""

    @cache
    def make(base: str) -> str:
        if base not in MAKERS:
            pytest.fail(
                f"The classifier {base} is registered, but local_models.py does not know how to make one."
            )
        return MAKERS[base](tmp_path_factory.mktemp(base))

    return make


@pytest.fixture(scope="module")
def load_once() -> Callable[[str], Classifier]:
    """Loads a classifier, the same name only once: some start a process for it."""
    return cache(load_classifier)


@pytest.fixture(params=LOCAL)
def name(request: pytest.FixtureRequest, tiny: Callable[[str], str]) -> str:
    """A full name that loads, of each classifier on this machine."""
    if request.param == "celeba-tagger":
        request.getfixturevalue("random_tagger")
        return "celeba-tagger:threshold=0.2"
    if request.param == "onnx":
        return f"{request.getfixturevalue('make_onnx')()},threshold=0.2"
    return tiny(request.param)


def test_it_answers_every_picture_with_a_proper_answer(load_once, name, picture):
    classifier = load_once(name)
    raws = classifier.ask([picture(colour) for colour in COLOURS])
    assert len(raws) == len(COLOURS)
    for raw in raws:
        numbers = traits_of(classifier).numbers
        assert check_answer(classifier.parse(raw), numbers=numbers).status in {
            "answered",
            "refused",
        }
    assert [classifier.parse(json.loads(json.dumps(raw))) for raw in raws] == [
        classifier.parse(raw) for raw in raws
    ]


def test_it_says_the_same_twice(load_once, name, picture):
    pictures = [picture(colour) for colour in COLOURS]
    first, second = load_once(name), load_classifier(name)
    assert first.ask(pictures) == first.ask(pictures) == second.ask(pictures)


def test_it_knows_its_canonical_name_version_and_batch(load_once, name):
    classifier = load_once(name)
    assert classifier.name == canonical_name(name) == canonical_name(classifier.name)
    assert isinstance(classifier.version, str)
    assert classifier.version
    assert classifier.batch >= 1


def test_it_takes_every_format_that_a_photo_may_have_and_no_damaged_picture(
    load_once, name, picture
):
    kinds = ["PNG", "JPEG", "WEBP", "BMP", "TIFF"]
    assert len(load_once(name).ask([picture((1, 2, 3), kind=kind) for kind in kinds])) == len(kinds)
    for cut in (0, 5, 40):
        with pytest.raises(PhotoError):
            load_once(name).ask([picture((1, 2, 3))[:cut]])


@pytest.mark.parametrize("base", BUILT_IN)
def test_the_list_shows_the_parameters_that_there_are(base):
    options = classifiers._REGISTRY.find(base).load().Options
    assert is_dataclass(options)
    assert options.__dataclass_params__.frozen
    assert next(
        entry for entry in list_classifiers() if entry.name == base
    ).parameters == names.usage(options)


# --- listing and loading ---


def test_listing_imports_no_library():
    code = (
        "import sys; from gslopes.ask.classifiers import list_classifiers as l; print([e.name for e in l()]);"
        "print(sorted({'torch', 'onnxruntime', 'pandas', 'PIL', 'cv2', 'httpx', 'timm'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    listed, heavy = done.stdout.splitlines()
    assert "celeba-tagger" in listed
    assert heavy == "[]"


@pytest.mark.parametrize(
    "name", ["celeba-tagger", "http:http://127.0.0.1:9/judge", "python:json:dumps"]
)
def test_what_needs_no_device_yet_looks_for_none(name):
    code = (
        f"import sys; from gslopes.ask.classifiers import load_classifier as l; l({name!r}, 'auto', prepare=False);"
        "print({'torch', 'gslopes.ask.classifiers.numbers'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_an_unknown_classifier_names_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'celeba-tagger'"):
        load_classifier("celeba-tager")


def test_a_missing_extra_is_said_with_the_command_that_installs_it(monkeypatch):
    find = util.find_spec
    monkeypatch.setattr(
        catalogue, "find_spec", lambda name: None if name == "onnxruntime" else find(name)
    )
    assert not next(entry for entry in list_classifiers() if entry.name == "onnx").installed
    with pytest.raises(UsageError, match=r"needs onnxruntime.* Run: pip install 'gslopes\[onnx\]'"):
        load_classifier("onnx:m.onnx,labels=l.txt")


# --- classifiers of other packages ---


@dataclass(frozen=True)
class MoodOptions:
    mood: str = "calm"


class Mood:
    Options = MoodOptions
    version = "1"
    batch = 2

    def __init__(self, name: str, options: MoodOptions, device: str) -> None:
        if options.mood == "angry":
            raise RuntimeError("refused: https://me:planted-secret@host")
        self.name, self.device, self.mood = name, device, options.mood

    def ask(self, pictures: list[bytes]) -> list[object]:
        return [self.mood for _ in pictures]

    def parse(self, raw: object) -> Answer:
        return Answer("answered", ((str(raw), 1.0),))


@pytest.fixture
def mood(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretends that a package with the entry point ``mood`` is installed."""
    point = metadata.EntryPoint("mood", "mood_package:Mood", "gslopes.classifiers")
    monkeypatch.setattr(
        metadata, "entry_points", lambda group: [point] if group == "gslopes.classifiers" else []
    )
    load = Target.load
    monkeypatch.setattr(
        Target, "load", lambda self: Mood if self.path == "mood_package:Mood" else load(self)
    )


@pytest.mark.usefixtures("mood")
def test_an_entry_point_is_a_classifier_with_parameters():
    classifier = load_classifier("mood:mood=merry", "auto")
    assert (classifier.name, classifier.ask([b""])) == ("mood:mood=merry", ["merry"])
    assert classifier.device == pick_device("auto")
    assert "mood" in [entry.name for entry in list_classifiers()]


@pytest.mark.usefixtures("mood")
def test_whatever_a_classifier_raises_while_it_loads_is_ours_and_scrubbed():
    with pytest.raises(
        ClassifierError, match=r"mood:mood=angry cannot be loaded: RuntimeError: refused"
    ) as caught:
        load_classifier("mood:mood=angry")
    assert "planted-secret" not in str(caught.value)
    assert caught.value.__suppress_context__
