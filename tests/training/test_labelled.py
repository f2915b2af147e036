from training.sources import fold, held_out, place

NAMES = [f"{i}_0_1_2017.jpg.chip.jpg" for i in range(4000)]


def test_every_photo_is_in_one_fold_for_good():
    assert place("000001.jpg") == place("000001.jpg")
    counts = {name: sum(fold(photo) == name for photo in NAMES) for name in ("held-out", "judges", "editors")}
    assert sum(counts.values()) == len(NAMES)
    assert abs(counts["held-out"] / len(NAMES) - 0.1) < 0.02
    assert abs(counts["judges"] / len(NAMES) - 0.35) < 0.03


def test_the_held_out_fold_is_the_held_out_split():
    assert all((fold(name) == "held-out") == held_out(name) for name in NAMES)
