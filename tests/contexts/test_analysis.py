import pandas as pd

from gslopes.contexts.analysis import with_ratings
from gslopes.contexts.options import ContextOptions


def test_ones_own_raters_decide_over_the_file_and_what_they_rate_beside_it_is_named(tmp_path):
    path = tmp_path / "ratings.csv"
    rows = [f"{context},{rater},{rating}" for context, rating in (("a", 1), ("z", 9)) for rater in "xyz"]
    path.write_text("\n".join(["context,rater,rating", *rows]), "utf-8")
    backgrounds = pd.DataFrame({"context": ["a", "b", "a"], "rating": [4.0, 6.0, 4.0]})
    notes: list[str] = []
    rated, changed = with_ratings(ContextOptions(ratings=path, bootstrap=10), backgrounds, notes)
    assert changed["rating"].tolist() == [1.0, 6.0, 1.0]
    assert set(rated["context"]) == {"a", "z"}
    assert any("rates z, which is no context of this run" in note for note in notes)
