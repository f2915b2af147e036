"""The labels of an editor's training photos."""

import numpy as np

from training.editor_sets import ends_of_age, said, seen_age
from training.sources import LabelledPhotos


def test_the_ends_of_age_are_young_adults_and_old_faces_and_nobody_between():
    years = np.array([14, 18, 26, 27, 40, 55, 56, 75, np.nan], np.float32)
    photos = LabelledPhotos("utkface", (), ("age",), years[:, None])
    ends = [np.nan, 0, 0, np.nan, np.nan, np.nan, 1, 1, np.nan]
    np.testing.assert_array_equal(said(photos)["age"], ends)
    np.testing.assert_array_equal(ends_of_age(years), ends)


def test_an_age_that_models_see_counts_only_where_both_agree():
    read = np.array([0.95, 0.95, 0.8, 0.05, 0.05, 0.2], np.float32)
    tagged = np.array([0.9, 0.4, 0.9, 0.1, 0.6, 0.1], np.float32)
    np.testing.assert_array_equal(seen_age(read, tagged), [0, np.nan, np.nan, 1, np.nan, np.nan])
