"""The labels of an editor's training photos."""

import numpy as np

from training.editor_sets import OFTEN, ends_of_age, said, seen_age, with_even_genders
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


def test_men_and_women_of_either_age_are_drawn_as_often_however_few_they_are():
    rng = np.random.default_rng(0)
    ends = np.where(np.arange(400) < 300, -1, 1).astype(np.float32)
    genders = np.where(np.arange(400) % 20 == 0, -0.4, 0.9).astype(np.float32)
    weights = with_even_genders(ends, genders, rng.lognormal(0, 1, 400))
    for end, count in ((-1, 300), (1, 100)):
        men, women = (weights[(ends == end) & ((genders > 0) == which)] for which in (True, False))
        np.testing.assert_allclose([men.sum(), women.sum()], count / 2)
        assert men.max() < 2 * OFTEN * men.mean()
