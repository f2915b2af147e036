"""people.csv."""

import pytest

from gslopes.contexts.stimuli.people import cfd_person, read_reports
from gslopes.contexts.stimuli.stages import self_reports
from gslopes.core.errors import UsageError
from gslopes.photos.folder import PhotoFile


def _csv(tmp_path, text):
    path = tmp_path / "people.csv"
    path.write_text(text, "utf-8")
    return path


def test_rows_by_photo_and_words_as_people_gave_them(tmp_path):
    path = _csv(
        tmp_path, "id,gender,ethnicity\n001,Female,white\n002,non-binary,black\n003,,white\n"
    )
    reports = read_reports(path)
    assert [reports[key]["gender"] for key in ("001", "002", "003")] == [
        "woman",
        "non-binary",
        "not said",
    ]
    assert reports["001"]["group"] == "white"


def test_columns_of_ones_own_and_two_crossed(tmp_path):
    path = _csv(tmp_path, "file,person,sex,race,age_group\na.jpg,p1,w,X,old\nb.jpg,p1,w,X,old\n")
    reports = read_reports(path, "race + age_group")
    assert reports["a.jpg"]["person"] == reports["b.jpg"]["person"] == "p1"
    assert reports["a.jpg"]["group"] == "X + old"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,age\n1,2\n", "no column 'gender'.*It has id, age"),
        ("name_of,gender\n1,f\n", "which photo a row is about"),
        ("id,gender\n1,f\n1,m\n", "names '1' in lines 2 and 3 with different gender"),
    ],
)
def test_what_is_wrong_is_said(text, message, tmp_path):
    with pytest.raises(UsageError, match=message):
        read_reports(_csv(tmp_path, text))


def test_people_without_a_photo_there_are_said_and_not_refused(tmp_path):
    path = _csv(tmp_path, "id,gender\n001,f\n002,m\n003,m\n")
    files = [PhotoFile(tmp_path / name, name) for name in ("001.jpg", "x/002.png", "other.jpg")]
    reports, absent = self_reports(files, path)
    assert list(reports) == ["001.jpg", "x/002.png"]
    assert absent == "1 row of people.csv is about none of the photos looked at: '003'."


@pytest.mark.row("contexts-4.3-cfd", "contexts-table-3")
def test_names_of_the_chicago_face_database():
    assert cfd_person("x/CFD-BM-204-001-N.jpg")["person"] == "BM-204"
    assert cfd_person("001.jpg") is None
    assert cfd_person("CFD-BM-204-002-HC.jpg") is None  # the paper's 597 are neutral
