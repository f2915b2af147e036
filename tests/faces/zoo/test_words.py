"""What others call what the reader reads."""

import numpy as np
import pytest

from gslopes.faces.zoo.reader import target

READ = {
    "masculine": 0.9,
    "white": 0.6,
    "black": 0.2,
    "asian": 0.1,
    "indian": 0.05,
    "young": 0.7,
    "smiling": 0.8,
}


@pytest.mark.parametrize(
    ("name", "reading", "share"),
    [
        ("race: Black − White", "race", 0.25),
        ("ethnicity: asian − BLACK", "race", 1 / 3),
        ("sex: Female − male", "gender", 0.1),
        ("gender: man − woman", "gender", 0.9),
        ("age", "young", 0.3),
        ("age: old − young", "young", 0.3),
        ("smile", "smiling", 0.8),
        ("hat: yes − no", "", 0),
        ("race: Black − male", "", 0),
        ("race: East Asian − Asian", "", 0),
        ("race: East Asian − unedited", "race", 0.1),
        ("race: Martian − unedited", "", 0),
        ("beard", "", 0),
    ],
)
def test_a_named_contrast_has_the_reading_of_its_ends(
    name: str, reading: str, share: float
) -> None:
    result = target({label: np.array([number]) for label, number in READ.items()}, name)
    assert (result[0] if result else "") == reading
    if result:
        assert result[1].item() == pytest.approx(share)
