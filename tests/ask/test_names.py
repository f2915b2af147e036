import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings, strategies as st

from gslopes.ask import names
from gslopes.ask.classifiers import canonical_name, load_classifier
from gslopes.core.errors import ConfigError


@dataclass(frozen=True)
class Options:
    file: Path = field(metadata=names.ARGUMENT)
    labels: Path
    threshold: float = 0.5
    top_k: int = 0
    fast: bool = False
    layout: Literal["nchw", "nhwc"] = "nchw"
    mean: tuple[float, float, float] = (0.0, 0.0, 0.0)
    note: str = ""


@dataclass(frozen=True)
class Plain:
    threshold: float = 0.5


def read(text: str) -> Options:
    return names.read(Options, *names.split(text))


def test_a_full_name_is_read_with_its_types():
    options = read(
        "onnx:m.onnx,labels=l.txt,threshold=0.3,top_k=5,fast=yes,layout=nhwc,mean=0.1/0.2/0.3,note=a b"
    )
    assert options == Options(
        Path("m.onnx"), Path("l.txt"), 0.3, 5, True, "nhwc", (0.1, 0.2, 0.3), "a b"
    )


def test_the_canonical_name_sorts_keys_and_leaves_defaults_out():
    options = read("onnx:m.onnx,top_k=5,labels=l.txt,threshold=0.50,layout=nchw,mean=0/0.5/1e0")
    assert names.canonical("onnx", options) == "onnx:m.onnx,labels=l.txt,mean=0/0.5/1,top_k=5"
    assert names.canonical("celeba-tagger", Plain(0.5)) == "celeba-tagger"
    assert names.canonical("celeba-tagger", Plain(0.3)) == "celeba-tagger:threshold=0.3"
    assert names.read(Plain, *names.split("celeba-tagger")) == Plain()
    with pytest.raises(ConfigError, match=r"cannot read '0\.3'"):
        names.read(Plain, *names.split("celeba-tagger:0.3"))


WORD = st.text(
    st.characters(exclude_characters="\\=\0", exclude_categories=("Cs",)), min_size=1
).filter(lambda text: str(Path(text)) == text and text != ".")
MOST = 10**18
NUMBER = st.floats(-MOST, MOST).map(lambda number: number if abs(number) >= 1 / MOST else 0.0)


@settings(max_examples=30)
@given(
    st.builds(
        Options,
        file=WORD.map(Path),
        labels=WORD.map(Path),
        threshold=NUMBER,
        top_k=st.integers(-MOST, MOST),
        fast=st.booleans(),
        layout=st.sampled_from(["nchw", "nhwc"]),
        mean=st.tuples(NUMBER, NUMBER, NUMBER),
        note=WORD | st.just(""),
    )
)
def test_the_canonical_name_of_any_options_reads_back_as_they_are(options: Options):
    text = names.canonical("onnx", options)
    assert read(text) == options
    assert names.canonical("onnx", read(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "onnx:m.onnx,labels=l.txt,treshold=0.3",
            "no parameter 'treshold'. Did you mean 'threshold'?",
        ),
        ("onnx:m.onnx,labels=l.txt,zzz=0.3", "no parameter 'zzz'. It has: fast, labels,"),
        ("onnx:m.onnx,labels=l.txt,top_k=1,top_k=2", "'top_k' twice"),
        ("onnx:m.onnx,labels=l.txt,top_k=1.5", "top_k must be a whole number, not '1.5'"),
        ("onnx:m.onnx,labels=l.txt,threshold=high", "threshold must be a number, not 'high'"),
        ("onnx:m.onnx,labels=l.txt,threshold=nan", "threshold must be a number, not 'nan'"),
        ("onnx:m.onnx,labels=l.txt,fast=maybe", "fast must be yes or no, not 'maybe'"),
        ("onnx:m.onnx,labels=l.txt,layout=hwc", "layout must be one of nchw, nhwc, not 'hwc'"),
        (
            "onnx:m.onnx,labels=l.txt,mean=1/2",
            "mean must be 3 values with slashes between them, not '1/2'",
        ),
        ("onnx:m.onnx", "needs its labels. Write labels=..."),
        ("onnx:labels=l.txt", "needs its file. Write onnx:FILE"),
        ("onnx:a,b.onnx,labels=l.txt", r"cannot read 'b.onnx'"),
        ("onnx:", "is not a name"),
        ("onnx:m.onnx,,labels=l.txt", "is not a name"),
        ("", "is not a name"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence(text: str, message: str):
    with pytest.raises(ConfigError, match=re.escape(message)):
        read(text)


SECRET = "s3cr3t-Value_0123456789"


@pytest.mark.parametrize(
    "name",
    [
        f"http:https://host/x?api_key={SECRET}",
        f"http:https://me:{SECRET}@host/x",
        f"llm:m,url=https://{SECRET}@host",
    ],
)
def test_a_key_in_an_address_is_refused_at_the_door_with_what_to_do_instead(name, monkeypatch):
    monkeypatch.setenv("MY_SERVICE_KEY", SECRET)
    with pytest.raises(
        ConfigError, match=r"holds a .*, which would be stored with the answers"
    ) as caught:
        canonical_name(name)
    assert SECRET not in f"{caught.value} {caught.value.hint}"
    assert "environment variable" in caught.value.hint


@pytest.mark.parametrize(
    "name",
    ["http:https://host/x?size=2", "llm:m,url=https://host/k3yk3yk3y/x", "http:https://host/x;a=b"],
)
def test_parameters_and_what_looks_random_need_a_word_that_stays_in_the_name(name):
    with pytest.raises(ConfigError, match="may be a key") as caught:
        canonical_name(name)
    assert "public=yes" in caught.value.hint
    assert ",public=yes" in canonical_name(f"{name},public=yes")
    assert canonical_name(canonical_name(f"{name},public=yes")) == canonical_name(
        f"{name},public=yes"
    )


FLOATS = {
    "http:https://host.example/x": ("rate", "price"),
    "llm:m,prompt=doctor-nurse,url=http://localhost:1/v1": (
        *("rate", "price", "price_in", "price_out"),
        "temperature",
    ),
    "rekognition:region=eu-west-1": ("price", "min_confidence"),
    "celeba-tagger:batch=2": ("threshold",),
}
INTEGERS = {
    "http:https://host.example/x": ("concurrency", "batch"),
    "llm:m,prompt=doctor-nurse,url=http://localhost:1/v1": (
        *("tokens_in", "tokens_out", "image_tokens"),
        *("max_tokens", "repeats", "concurrency"),
    ),
    "google": ("max_results",),
    "rekognition:region=eu-west-1": ("max_labels",),
}
# What no number is, or none that a price, a rate or a count can be.
NONE = ("inf", "-inf", "nan", "1e400", "1e-400", "1e-320", "1e300", "-1e300", "0x10", "-1", "--1")
NONE += ("½", "٣", "٣.٥", "１", "1 000", "1'000", "one", "True", " ", "9" * 400, "9" * 5000, "1e")


@pytest.mark.parametrize("text", NONE)
@pytest.mark.parametrize("options", [FLOATS, INTEGERS], ids=["floats", "integers"])
def test_a_number_that_is_none_is_told_for_every_option(options, text):
    for name, keys in options.items():
        for key in keys:
            given = f"{name}{',' if ':' in name else ':'}{key}={text}"
            with pytest.raises(ConfigError) as caught:
                load_classifier(given, prepare=False)
            assert len(str(caught.value)) < 400


@pytest.mark.parametrize("text", ["-0", "0", "0.0", "-0.0", "0e5"])
def test_there_is_one_zero(text):
    assert canonical_name(f"celeba-tagger:threshold={text}") == canonical_name(
        "celeba-tagger:threshold=0"
    )
