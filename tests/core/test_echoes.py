from __future__ import annotations

import random
import string
import time

import pytest

from gslopes.core.echoes import WINDOW, find_echoes
from tests.echoes import ECHOES

SECRET = "s3cr3t-Value_0123456789"


def hidden(text: str, secret: str) -> str:
    for start, end in reversed(find_echoes(text, frozenset({secret}))):
        text = text[:start] + "*" + text[end:]
    return text


@pytest.mark.parametrize("kind", ECHOES)
def test_an_echo_is_found_and_nothing_around_it(kind):
    found = hidden(f"refused: {ECHOES[kind](SECRET)}! Try again", SECRET)
    assert found.startswith("refused: ")
    assert found.endswith("! Try again")
    assert "*" in found


@pytest.mark.parametrize("kind", ECHOES)
def test_keys_of_any_length_and_alphabet_are_found(kind):
    rng = random.Random(53)
    for length in (12, 20, 33, 64):
        for alphabet in (string.ascii_letters + string.digits, string.hexdigits.lower()[:16], string.ascii_lowercase):
            secret = "".join(rng.choices(alphabet, k=length))
            echo = ECHOES[kind](secret)
            shown = "".join(char for char in hidden(f"<{echo}>", secret) if char.isalnum())
            around = 24 if kind.startswith(("base64 of", "base64 in a", "base32 of")) else 8
            assert len(shown) <= around, (secret, shown)


def test_texts_without_the_key_are_left_whole():
    rng = random.Random(53)
    known = frozenset("".join(rng.choices(string.ascii_letters + string.digits, k=40)) for _ in range(3))
    words = ["refused", "by", "policy", "code", "%20", "&amp;", "request", "face", "person", "0.123456", "label"]
    for _ in range(200):
        assert find_echoes(" ".join(rng.choices(words, k=60)), known) == []
        assert find_echoes("".join(rng.choices("0123456789abcdef", k=640)), known) == []


def test_less_than_a_window_is_no_echo():
    assert find_echoes(f"{SECRET[: WINDOW - 1]} and 01234", frozenset({SECRET})) == []
    assert find_echoes("", frozenset({SECRET})) == []
    assert find_echoes("\\u{110000} &nosuch; %zz \\", frozenset({SECRET})) == []


def test_hostile_texts_take_no_time():
    began = time.perf_counter()
    for part in ("<", "&", "%25", "&amp;", "x", "<a", "0x", chr(92), chr(92) + "u{", chr(0xFDFA)):
        find_echoes(part * (20_000 // len(part)), frozenset({SECRET}))
    assert time.perf_counter() - began < 3
