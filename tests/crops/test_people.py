from __future__ import annotations

import pytest

from gslopes.core.errors import UsageError
from gslopes.crops.people import read_people


@pytest.fixture
def folder(tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    (tmp_path / "secret.jpg").write_bytes(b"x")
    (photos / "link.jpg").symlink_to(tmp_path / "secret.jpg")
    for name in "abcdef":
        (photos / f"{name}.jpg").write_bytes(b"x")
    return photos


def table(folder, text):
    path = folder.parent / "people.csv"
    path.write_text(text)
    return path


ROWS = "id,gender,race\na,f,x\nb,f,y\nc,m,x\nd,m,y\ne,f,x/y\nf,,x\n"


def test_columns_and_their_crossing(folder):
    found = read_people(folder, table(folder, ROWS), ["gender", "race"], min_group=1)
    assert {name: len(members) for name, members in found.groups["gender"].items()} == {"f": 3, "m": 2}
    assert list(found.cells) == ["f + x", "f + y", "m + x", "m + y"]
    assert found.left_out["race"] == {"several values: x/y": 1}
    assert found.left_out["gender"] == {"no value": 1}


def test_one_of_several_photos_by_lot(folder):
    text = "file,person,gender\na.jpg,p,f\nb.jpg,p,f\nc.jpg,q,m\nd.jpg,q,m\n"
    drawn = [
        [
            portrait.relative
            for portrait in read_people(
                folder, table(folder, text), ["gender"], min_group=1, one_photo=True, seed=seed
            ).portraits
        ]
        for seed in range(12)
    ]
    assert {tuple(one) for one in drawn} == {(a, b) for a in ("a.jpg", "b.jpg") for b in ("c.jpg", "d.jpg")}
    assert drawn[3] == [
        portrait.relative
        for portrait in read_people(
            folder, table(folder, text), ["gender"], min_group=1, one_photo=True, seed=3
        ).portraits
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("id,gender\ny,f\nz,m\n", "names none of the photos in .*The first photo there is a.jpg"),
        ("file,gender\na.jpg,f\na.jpg,m\n", "lines 2 and 3 with different gender"),
        (f"id,gender\na,f\n{'z' * 5000},m\n", "one group only: f 1"),
        ("id,gender\na,f,9\n", "line 2: it has 3 cells, and the first line has 2"),
        ("id,gender\n", "has no rows"),
        ("id,gender,gender\na,f,x\nb,m,y\n", "two columns 'gender'"),
        ('id,gender\na,"f\nb,m\n', "line 2: a quote that begins in it is never closed"),
        ("file,gender\n../secret.jpg,f\nb.jpg,m\n", "one group only: m 1"),
        ("file,gender\nlink.jpg,f\nb.jpg,m\n", "link.jpg leads out of"),
        ("file,person,gender\na.jpg,,f\nb.jpg,q,m\n", "Line 2 of .* names no person"),
        ("id,gender\na,f\nb,f\n", "one group only: f 2"),
        ("nr,gender\na,f\nb,m\n", "no column that says which photo"),
        ("file,person,gender\na.jpg,p,f\nb.jpg,p,m\n", "'p' is both 'f' and 'm'"),
    ],
)
def test_what_is_off_is_named_with_its_line(folder, text, says):
    with pytest.raises(UsageError, match=says):
        read_people(folder, table(folder, text), ["gender"], min_group=1)


def test_people_without_a_photo_there_are_said_and_not_refused(folder):
    found = read_people(folder, table(folder, "id,gender\na,f\nb,m\nz,m\ny,f\n"), ["gender"], min_group=1)
    assert [portrait.relative for portrait in found.portraits] == ["a.jpg", "b.jpg"]
    assert found.absent == "2 rows of people.csv are about none of the photos looked at: 'z', 'y'."
