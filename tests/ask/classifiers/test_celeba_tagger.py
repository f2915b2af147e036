import io

import numpy as np
from PIL import Image

from gslopes.ask.classifiers import load_classifier
from gslopes.slopes.demo import astronaut


def portrait(seed: int) -> bytes:
    """The astronaut's face on a canvas that differs by seed: place, size and light."""
    rng = np.random.default_rng(seed)
    picture = Image.fromarray(astronaut()[:256, 96:352])
    side = int(rng.integers(180, 260))
    canvas = Image.new("RGB", (300, 320), (90, 100, 110))
    canvas.paste(
        picture.resize((side, side)).point(lambda v: v * (0.7 + 0.05 * seed)),
        (int(rng.integers(0, 40)), 20),
    )
    buffer = io.BytesIO()
    canvas.save(buffer, "PNG")
    return buffer.getvalue()


def test_threshold_zero_returns_all_forty_labels_with_their_sigmoids(random_tagger):
    tagger = load_classifier("celeba-tagger:threshold=0")
    (raw,) = tagger.ask([portrait(0)])
    answer = tagger.parse(raw)
    assert tuple(label for label, _ in answer.labels) == random_tagger
    np.testing.assert_allclose(
        [score for _, score in answer.labels], 1 / (1 + np.exp(-np.array(raw)))
    )


def test_a_photo_without_a_face_is_refused_and_the_others_are_answered(random_tagger, picture):
    tagger = load_classifier("celeba-tagger")
    answers = [
        tagger.parse(raw) for raw in tagger.ask([picture((9, 99, 9), size=(80, 80)), portrait(1)])
    ]
    assert [(answer.status, answer.reason) for answer in answers] == [
        ("refused", "no face found"),
        ("answered", ""),
    ]


def test_the_face_is_framed_the_same_wherever_it_is_and_however_large(random_tagger):
    tagger = load_classifier("celeba-tagger")
    face = astronaut()[:256, 96:352]
    small, large = np.full((2, 1400, 1400, 3), 120, np.uint8)
    small[700:956, 500:756] = face
    large[100:1124, 200:1224] = np.asarray(
        Image.fromarray(face).resize((1024, 1024), Image.Resampling.BICUBIC)
    )
    (first,), (second,) = tagger._faces([small]), tagger._faces([large])
    assert np.abs(first.astype(float) - second).mean() < 6


def test_the_answer_does_not_depend_on_the_company(random_tagger):
    tagger = load_classifier("celeba-tagger")
    pictures = [portrait(seed) for seed in range(5)]
    together = np.array(tagger.ask(pictures))
    alone = np.array([tagger.ask([data])[0] for data in pictures])
    np.testing.assert_allclose(together, alone, atol=1e-4)
    assert np.ptp(together, axis=0).max() > 1e-3, "it says the same about every picture"
