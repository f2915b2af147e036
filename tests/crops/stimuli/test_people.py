"""Who is on which photo, and who meets whom."""

from collections import Counter

import pytest
from hypothesis import given, strategies as st

from gslopes.core.errors import ConfigError, UsageError
from gslopes.crops.config import CropsConfig
from gslopes.crops.stimuli.people import (
    People,
    balanced_pairs,
    check_sizes,
    pictures_of,
    published_draws,
    read_people,
)


@pytest.fixture
def folder(tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    (tmp_path / "secret.jpg").write_bytes(b"x")
    (photos / "link.jpg").symlink_to(tmp_path / "secret.jpg")
    for name in "abcdef":
        (photos / f"{name}.jpg").write_bytes(name.encode())
    return photos


def table(folder, text):
    path = folder.parent / "people.csv"
    path.write_text(text)
    return path


ROWS = "id,gender,race\na,f,x\nb,f,y\nc,m,x\nd,m,y\ne,f,x/y\nf,,x\n"


@pytest.mark.row("crops-3.2-pairs", "crops-3.1-several", "crops-fig-2-coarse")
def test_columns_and_their_crossing(folder):
    result = read_people(folder, table(folder, ROWS), ["gender", "race"])
    assert {name: len(members) for name, members in result.groups["gender"].items()} == {
        "f": 3,
        "m": 2,
    }
    assert list(result.cells) == ["f + x", "f + y", "m + x", "m + y"]
    assert result.left_out["race"] == {"several values: x/y": 1}
    assert result.left_out["gender"] == {"no value": 1}


def test_one_picture_under_two_names_is_one_photo_unless_the_table_says_two_things(folder):
    for name in ("a again", "z"):
        (folder / f"{name}.jpg").write_bytes(b"a")
    result = read_people(folder, table(folder, ROWS + "z,f,x\n"), ["gender"])
    assert [portrait.relative for portrait in result.portraits].count("a again.jpg") == 1
    assert len(result.portraits) == 6
    assert result.portraits[0].repeats == ("a.jpg", "z.jpg")
    assert result.absent == ""
    with pytest.raises(
        UsageError, match="a and z are the same picture, with different rows in the table"
    ):
        read_people(folder, table(folder, ROWS + "z,m,x\n"), ["gender"])


@pytest.mark.row("crops-3.1-one")
def test_one_of_several_photos_by_lot(folder):
    path = table(folder, "file,person,gender\na.jpg,p,f\nb.jpg,p,f\nc.jpg,q,m\nd.jpg,q,m\n")

    def drawn(seed):
        people = read_people(folder, path, ["gender"], one_photo=True, seed=seed)
        return tuple(portrait.relative for portrait in people.portraits)

    assert set(map(drawn, range(12))) == {
        (a, b) for a in ("a.jpg", "b.jpg") for b in ("c.jpg", "d.jpg")
    }
    assert drawn(3) == drawn(3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("id,gender\ny,f\nz,m\n", "names none of the photos in .*The first photo there is a.jpg"),
        ("file,gender\na.jpg,f\na.jpg,m\n", "lines 2 and 3 with different gender"),
        (f"id,gender\na,f\n{'z' * 5000},m\n", "one group only: f 1"),
        ("id,gender\n", "has no rows"),
        ("file,gender\n../secret.jpg,f\nb.jpg,m\n", "one group only: m 1"),
        ("file,gender\nlink.jpg,f\nb.jpg,m\n", "link.jpg leads out of"),
        ("file,person,gender\na.jpg,,f\nb.jpg,q,m\n", "Line 2 of .* names no person"),
        ("nr,gender\na,f\nb,m\n", "no column that says which photo"),
        ("file,person,gender\na.jpg,p,f\nb.jpg,p,m\n", "'p' is both 'f' and 'm'"),
    ],
)
def test_what_is_off_is_named_with_its_line(folder, text, says):
    with pytest.raises(UsageError, match=says):
        read_people(folder, table(folder, text), ["gender"])


def test_people_without_a_photo_there_are_said_and_not_refused(folder):
    result = read_people(folder, table(folder, "id,gender\na,f\nb,m\nz,m\ny,f\n"), ["gender"])
    assert [portrait.relative for portrait in result.portraits] == ["a.jpg", "b.jpg"]
    assert result.absent == "2 rows of people.csv are about none of the photos looked at: 'z', 'y'."


# --- who meets whom ---


GROUPS = {"a": range(5), "b": range(5, 12), "c": range(12, 15)}


def test_all_pairs_of_different_groups_once():
    pairs = balanced_pairs(GROUPS, 71)
    assert len(pairs) == 5 * 7 + 5 * 3 + 7 * 3
    assert len({frozenset(pair) for pair in pairs.tolist()}) == len(pairs)


@given(st.integers(2, 12), st.integers(2, 12), st.integers(1, 100))
def test_balanced_pairs_meet_everybody_equally_often_and_nobody_twice(m, n, most):
    groups = {"a": range(m), "b": range(100, 100 + n)}
    pairs = balanced_pairs(groups, most, seed=3).tolist()
    assert len(pairs) == min(most, m * n)
    assert len({tuple(pair) for pair in pairs}) == len(pairs)
    for column, size in ((0, m), (1, n)):
        met = Counter(pair[column] for pair in pairs)
        counts = [
            met.get(person, 0) for person in (range(m) if column == 0 else range(100, 100 + n))
        ]
        assert len(counts) == size
        assert max(counts) - min(counts) <= 1 + (column == 1)


def test_fewer_pairs_than_pairs_of_groups():
    with pytest.raises(ConfigError, match="3 pairs of groups"):
        balanced_pairs(GROUPS, 2)


@pytest.mark.row("crops-3.2-draws")
def test_both_orders_or_the_first_group_on_the_left():
    persons = tuple("abcd")
    people = People((), ("g",), {"g": {"one": persons[:2], "two": persons[2:]}}, {})
    pairs = [[0, 2], [0, 3], [1, 2], [1, 3]]
    both = pictures_of(people, persons, CropsConfig())
    assert both[:, :2].tolist() == pairs + [pair[::-1] for pair in pairs]
    assert not both[:, 2].any()
    drawn = published_draws({"one": [0, 1], "two": [2, 3]}, 50)
    assert len(drawn) == 50
    assert drawn[:, 0].max() < 2 <= drawn[:, 1].min()
    # what is drawn twice is asked once, and counts twice
    asked = pictures_of(people, persons, CropsConfig(as_published=True, pairs=50))
    assert asked[:, :2].tolist() == pairs
    often = Counter(
        map(tuple, published_draws({"one": [0, 1], "two": [2, 3]}, 50, seed=0).tolist())
    )
    assert asked[:, 2].tolist() == [often[left, right] for left, right in pairs]


def test_a_refusal_names_the_largest_of_many_groups():
    groups = {"who": {f"w{i}": ("p",) * (1 + (i == 4_321)) for i in range(20_000)}}
    with pytest.raises(
        UsageError, match=r"\(who: w4321 2, w0 1, .* and 19,992 smaller ones\)"
    ) as error:
        check_sizes(groups)
    assert len(error.value.message) < 250
