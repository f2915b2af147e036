from gslopes.core import placebo


def test_a_placebo_sweep_is_told_from_a_real_one_by_its_name():
    assert [placebo.split(name) for name in placebo.names("race")] == [
        ("race", "same"),
        ("race", "light"),
        ("race", "random"),
    ]
    assert placebo.split("sunlight") == ("sunlight", "")
