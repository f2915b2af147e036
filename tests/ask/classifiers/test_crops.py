"""Whom a crop favours as a classifier: the planted slope, the same opponents whatever is asked, every request paid."""

import io
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from scipy import stats

import gslopes
from gslopes.ask.classifiers import load_classifier
from gslopes.ask.classifiers.crops import LABEL
from gslopes.ask.scoring.cost import estimate
from gslopes.core import tables
from gslopes.core.errors import AnswerError, BudgetReached, CredentialsError, Refused, UsageError
from gslopes.core.records import Crop, Detections
from gslopes.core.runfolder import read_manifest
from gslopes.slopes import audit as stages
from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.options import FitOptions
from tests.crops.cropping_server import serve
from tests.crops.drawn import a_face
from tests.fake_provider.folder import write_run
from tests.frame.audits import discs

SIDE = 64
HALVES = f"python:{__name__}:halves"
MET: list[tuple[int, int]] = []


def halves(pictures: list[np.ndarray]) -> list[np.ndarray]:
    """Maps of two cells, how bright each half is; who met whom is written down."""
    MET.extend((int(one[0, 0, 2]), int(one[0, -1, 2])) for one in pictures)
    return [
        np.array([[side[..., 0].mean() for side in np.split(one, 2, axis=1)]]) for one in pictures
    ]


def fails(pictures: list[np.ndarray]) -> list[np.ndarray]:
    """As ``halves``, but for dark pictures."""
    if any(one[..., 0].mean() < 60 for one in pictures):
        raise AnswerError("too dark")
    return halves(pictures)


def encoded(level: float, number: int = 0, side: int = SIDE) -> bytes:
    """A plain photo of this brightness, parts of a level as that share of its pixels; blue tells who it is."""
    pixels = np.zeros((side, side, 3), np.uint8)
    flat = np.full(side * side, int(level))
    flat[: round((level - int(level)) * len(flat))] += 1
    pixels[..., 0], pixels[..., 2] = flat.reshape(side, side), number
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def people(folder: Path, levels: list[float]) -> dict[str, bytes]:
    """Photos of people of these levels; sha256 to bytes."""
    folder.mkdir()
    pictures = [encoded(level, number + 1) for number, level in enumerate(levels)]
    for number, data in enumerate(pictures):
        (folder / f"{number}.png").write_bytes(data)
    return {sha256(data).hexdigest(): data for data in pictures}


def levels(count: int) -> list[float]:
    return (128 + 8 * stats.norm.ppf((np.arange(count) + 0.5) / count)).tolist()


@pytest.mark.evidence
@pytest.mark.slow
def test_the_planted_slope_lies_in_its_interval_and_the_placebo_holds_none(tmp_path: Path) -> None:
    """Brightness + 2 v among people N(128, 8): the chance to be lighter than another rises by 0.0694 a unit."""
    people(tmp_path / "others", levels(120))
    classifier = load_classifier(f"crops:{HALVES},opponents={tmp_path / 'others'}")
    values, noise, asked, scores = np.linspace(-2, 2, 7), np.random.default_rng(3), [], []
    for number, level in enumerate(levels(90)):
        photo = f"{number:064x}"
        for sweep, rise in (("gender", 2 * values), ("gender-random", noise.normal(0, 1, 7))):
            pictures = [encoded(level + more) for more in rise]
            classifier.about(photo, pictures)
            for step, raw in enumerate(classifier.ask(pictures)):
                key = (photo, sweep, step)
                asked.append((*key, "crops", "answered", "", ""))
                scores += [
                    (*key, values[step], "crops", *pair) for pair in classifier.parse(raw).labels
                ]
    frames = [
        pd.DataFrame(rows, columns=t.columns)
        for rows, t in ((scores, tables.SCORES), (asked, tables.ASKED))
    ]
    found = tables.reading(analyse(*frames, options=FitOptions(permutations=99)).slopes).set_index(
        "attribute"
    )
    own, random = found.loc["gender"], found.loc["gender-random"]
    assert (own["label"], own["unit"], own["n"]) == (LABEL, "of 100 pairs per unit", 90)
    assert own["ci_low"] < 6.94 < own["ci_high"]
    assert own["ci_high"] - own["ci_low"] < 4
    assert random["ci_low"] < 0 < random["ci_high"]


@pytest.mark.slow
def test_a_photo_meets_the_same_others_whatever_is_asked_and_never_itself(tmp_path: Path) -> None:
    folder = tmp_path / "people"
    photos = people(folder, list(range(60, 180, 10)))
    load = partial(load_classifier, f"crops:{HALVES},opponents={folder},others=5")

    def met(classifier, order: list[str], shift: int) -> dict[int, list[int]]:
        MET.clear()
        for photo in order:
            number = list(photos).index(photo) + 1
            picture = encoded(60 + 10 * (number - 1) + shift, number)
            classifier.about(photo, [picture])
            classifier.ask([picture])
        assert sorted(MET) == sorted(pair[::-1] for pair in MET)  # both orders
        return {one: sorted(b for a, b in MET[::2] if a == one) for one in range(1, 13)}

    first = load()
    one, other = met(first, list(photos), 0), met(first, list(photos)[::-1], 3)
    assert one == other == met(load(), sorted(photos), -3)
    assert all(own not in others and len(set(others)) == 5 for own, others in one.items())
    assert set(np.bincount(np.concatenate(list(one.values())))[1:]) == {5}  # all equally often
    stranger = encoded(99, 77)
    MET.clear()
    first.ask([stranger])
    assert len({b for a, b in MET if a == 77}) == 5


def test_name_and_version_say_who_the_opponents_are(tmp_path: Path) -> None:
    folder = tmp_path / "people"
    people(folder, [60.0, 70, 80, 90])
    name = f"crops:spectral-residual,opponents={folder},others=2"
    one = load_classifier(name)
    assert (one.name, load_classifier(f"{name},seed=0").version) == (name, one.version)
    assert load_classifier(f"{name},seed=1").name == f"{name},seed=1"
    (folder / "3.png").write_bytes(encoded(91, 4))
    changed = load_classifier(name)
    assert changed.version != one.version
    (folder / "3.png").write_bytes(b"no picture")
    broken = load_classifier(name)
    assert [len(shares) for shares in broken.ask([encoded(50 + level) for level in range(8)])] == [
        4
    ] * 8
    with pytest.raises(UsageError, match=r"meets 3 others.* others=2"):
        load_classifier(name.replace("others=2", "others=3")).ask([encoded(60, 1)])
    with pytest.raises(UsageError, match=r"holds 4 photos .* meets 4 others.* others=3"):
        load_classifier(f"crops:centre,opponents={folder},others=4")


@pytest.mark.slow
def test_a_picture_that_fails_costs_itself_alone(tmp_path: Path) -> None:
    people(tmp_path / "others", [100.0, 110])
    classifier = load_classifier(
        f"crops:python:{__name__}:fails,opponents={tmp_path / 'others'},others=1"
    )
    fine, dark = classifier.ask([encoded(105), encoded(0)])
    assert classifier.parse(fine).labels[0][1] in (0, 100)
    assert isinstance(dark, AnswerError)
    assert "too dark" in str(dark)


def test_a_rectangle_favours_whose_head_it_holds_and_without_a_face_it_is_refused(
    tmp_path, monkeypatch
) -> None:
    people(tmp_path / "others", [100.0, 110])
    monkeypatch.setattr("gslopes.faces.find.MtcnnFinder", lambda: a_face)
    name = f"crops:centre,opponents={tmp_path / 'others'},others=1"
    centre = load_classifier(name)
    assert centre.parse(centre.ask([encoded(105)])[0]).labels == ((LABEL, 50.0),)

    class Left:
        name, version = "left", "1"

        def crop(self, picture: np.ndarray, ratio: float) -> Crop:
            return Crop(0, 0, SIDE, SIDE)

    monkeypatch.setattr("gslopes.ask.classifiers.crops.load_cropper", lambda *_, **__: Left())
    shares = load_classifier(name).ask([encoded(105)])[0]
    assert shares == [1.0, 0.0]
    nothing = Detections(
        np.empty((0, 4), np.float32), np.empty((0, 5, 2), np.float32), np.empty(0, np.float32)
    )
    monkeypatch.setattr(
        "gslopes.faces.find.MtcnnFinder",
        lambda: lambda photos: [nothing] if photos[0].pixels.max() < 90 else a_face(photos),
    )
    (refused,) = load_classifier(name).ask([encoded(80)])
    assert isinstance(refused, Refused)
    assert refused.reason == "no face found"


def test_every_request_of_a_service_is_counted_paid_and_kept(tmp_path, monkeypatch) -> None:
    people(tmp_path / "others", [20.0, 60, 100, 140, 180, 220])
    monkeypatch.setattr("gslopes.faces.find.MtcnnFinder", lambda: a_face)
    run, cache = write_run(tmp_path / "run", 2), tmp_path / "cache"
    with serve() as service:
        name = rf"crops:{service.url}\,price=1000,opponents={tmp_path / 'others'},others=2"
        expected = estimate(load_classifier(name), [14])
        assert (expected.pictures, expected.calls, expected.usd) == (14, 56, 56.0)
        with pytest.raises(UsageError, match="cost up to 56"):
            stages.score_photos(run, name, cache=cache, confirm_above=55)
        with pytest.raises(BudgetReached):
            stages.score_photos(run, name, cache=cache, budget=30.0, yes=True)
        assert sum(service.asked.values()) == 30
        service.troubles = ["throttle"]
        found = stages.score_photos(run, name, cache=cache, yes=True)
        assert sum(service.asked.values()) == 57  # one again
        assert found.tables["asked"]["status"].tolist() == ["answered"] * 14
        assert set(found.tables["scores"]["score"]) <= {0.0, 25, 50, 75, 100}
        assert found.tables["scores"]["score"].nunique() > 1
        locked = name.replace("price=1000", r"price=1000\,token=NOT_THERE")
        with pytest.raises(CredentialsError, match="NOT_THERE"):
            load_classifier(locked)


@pytest.mark.slow
@pytest.mark.row("crops-3.6-causes")
def test_the_walk_has_slopes_placebos_and_resume_for_a_cropper(tmp_path: Path) -> None:
    photos = discs(tmp_path / "drawn")
    known = {
        "landmarks": photos / "faces.csv",
        "masks": photos.parent / "masks",
        "editor": "drawn-fader",
    }
    quick = {"fit.permutations": 49, "fit.min_varying": 1, "steps": 3, "device": "cpu"}
    name = f"crops:{HALVES},opponents={photos},others=2"
    MET.clear()  # what a function names is part of its version
    audit = gslopes.audit(photos, tmp_path / "run", classifier=name, **known, **quick)
    slopes = tables.reading(audit.tables["slopes"]).set_index("attribute")
    assert slopes.loc["gender", ["label", "unit"]].tolist() == [LABEL, "of 100 pairs per unit"]
    assert "gender-same" in slopes.index
    facts = read_manifest(tmp_path / "run")["classifiers"][name]
    assert facts["opponents"].startswith("2 of ")
    assert "the unit is the photo" in audit.page.read_text("utf-8")
    MET.clear()
    gslopes.audit(photos, tmp_path / "run", classifier=name, **known, **quick)
    assert MET == []
