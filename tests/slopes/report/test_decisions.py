import numpy as np
import pandas as pd

from gslopes.core import tables
from gslopes.slopes.report import decisions


def rows(*given: tuple[str, float, float], attribute: str = "gender", half: float = 1.0) -> pd.DataFrame:
    """(label, slope, q), of photo-rate."""
    frame = pd.DataFrame(given, columns=["label", "slope", "q"])
    frame = frame.assign(classifier="c", attribute=attribute, estimator="photo-rate", n=40, active=20, note="")
    frame = frame.assign(ci_low=frame["slope"] - half, ci_high=frame["slope"] + half)
    columns = [name for name in tables.SLOPES.columns if name not in ("decision", "reason", "detail")]
    return frame.reindex(columns=columns)


def codes(found: dict[str, decisions.Decision]) -> dict[str, str]:
    return {label: one.code for label, one in found.items()}


def test_a_label_that_light_alone_moves_as_far_is_no_finding() -> None:
    """Bushy_Eyebrows along race: -3.1, light alone -5.6."""
    edit = rows(("Bushy_Eyebrows", -3.1, 0.001), ("Heavy_Makeup", -18.4, 0.001))
    light = rows(("Bushy_Eyebrows", -5.6, 0.001), ("Heavy_Makeup", 0.2, 0.9), attribute="gender-light", half=2.0)
    found = decisions.decide(edit, light)
    assert codes(found) == {"Bushy_Eyebrows": "placebo", "Heavy_Makeup": "finding"}
    assert found["Bushy_Eyebrows"].why == "light alone: −5.6 [−7.6, −3.6]"
    assert not found["Bushy_Eyebrows"].moves


def test_without_a_placebo_a_label_that_moves_is_open_and_one_that_does_not_is_none() -> None:
    found = decisions.decide(rows(("a", 5.0, 0.01), ("b", 5.0, 0.2)), rows())
    assert codes(found) == {"a": "open", "b": "none"}


def test_a_label_that_the_fit_did_not_judge_is_unjudged_with_its_reason() -> None:
    found = decisions.decide(rows(("a", np.nan, np.nan)).assign(note="too rare to judge"), rows())
    assert found["a"] == decisions.Decision("unjudged", "too rare to judge")


def test_the_decision_of_the_fit_is_taken_as_it_is() -> None:
    edit = rows(("a", 5.0, 0.01), ("b", 5.0, 0.01)).assign(
        decision=["placebo", "finding"], detail=["light alone: p 0.4", ""]
    )
    found = decisions.decide(edit, rows())
    assert codes(found) == {"a": "placebo", "b": "finding"}
    assert found["a"].why == "light alone: p 0.4"


def test_every_code_has_a_word_and_a_sentence_and_is_counted() -> None:
    assert set(decisions.SHOWN) == set(decisions.ABOUT) == set(decisions.CODES)
    counted = decisions.counts({"a": decisions.Decision("none", "")})
    assert counted == {"finding": 0, "placebo": 0, "open": 0, "none": 1, "unjudged": 0}


def test_a_label_is_expected_as_the_fit_marked_it_and_in_an_older_run_by_the_default_list() -> None:
    base = {"attribute": "gender", "decision": "finding", "detail": "", "note": ""}
    frame = pd.DataFrame([{"label": "Male", **base}, {"label": "Hat", **base}])
    assert [one.expected for one in decisions.decide(frame, frame[:0]).values()] == [True, False]
    marked = frame.assign(expected=[False, True])
    found = decisions.decide(marked, frame[:0])
    assert [one.expected for one in found.values()] == [False, True]
    assert (found["Hat"].shown, found["Male"].shown, found["Hat"].moves) == ("finding, expected", "finding", True)
