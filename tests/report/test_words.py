import pytest

from gslopes.report import words


@pytest.mark.parametrize(
    "text", ["a\nb", "\x1b[31mred", "\udc80", "\u202eright to left", "\x00", "tab\t", "\u2028"]
)
def test_printable_text_is_one_line_without_control_characters_and_valid(text: str) -> None:
    displayed = words.printable(text)
    assert displayed.isprintable()
    assert displayed.encode("utf-8")
    assert len(displayed) > len(text)


@pytest.mark.parametrize(
    ("exact", "read"),
    [
        ("Wearing_Lipstick", "Wearing lipstick"),
        ("mine2.hairchin", "mine2 · hairchin"),
        ("mine2:hairchin", "mine2 · hairchin"),
        ("mine.Double_Chin", "mine · Double chin"),
        ("emotion:happy.very", "emotion · happy · very"),
        ("NSFW_Score", "NSFW score"),
        ("Is_NASA_Suit", "Is NASA suit"),
        ("iPhone_McDonald", "iPhone McDonald"),
        ("__bald__", "bald"),
        ("口紅_赤い", "口紅 赤い"),
        ("립스틱_바름", "립스틱 바름"),
        ("أحمر_الشفاه", "أحمر الشفاه"),
        ("אודם_אדום", "אודם אדום"),
        ("Губная_Помада", "Губная Помада"),
        ("लिपस्टिक_लाल", "लिपस्टिक लाल"),
        ("💄_Lips", "💄 lips"),
        ("a\nb_C", "a b C"),
    ],
)
def test_labels_are_read_as_people_write_them_in_every_script(exact: str, read: str) -> None:
    assert words.readable(exact) == read


@pytest.mark.parametrize(
    "text",
    [
        *(
            "Heavy makeup",
            "New York",
            "double-chin",
            "v1.5",
            "9:30",
            "U.S.A.",
            "errors: Smiling, miss",
            "___",
            "口紅",
            "💄",
        ),
        *(
            "https://example.org/a",
            "AT&T",
            "3.14",
            "e.g.",
            "1st",
            "Red color",
            "SunGlasses",
            "Chef's hat, white",
        ),
    ],
)
def test_labels_that_can_be_read_stay(text: str) -> None:
    assert words.readable(text) == text


def test_attributes_are_named_as_perceived_with_both_ends() -> None:
    assert words.perceived("gender") == "perceived gender"
    assert words.ends("race") == ("Black", "White")
    assert words.perceived("beard\n") == "perceived beard\\n"
    assert [words.shorten("abcdefg", length) for length in (6, 7)] == ["abcde…", "abcdefg"]
    assert [words.printable(text) for text in ("口紅", "a b", "")] == ["口紅", "a b", ""]
