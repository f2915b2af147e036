"""Keys in addresses are refused or hidden, and a key that a server echoes is taken out of texts, answers and logs."""

import json
import logging
import time
from base64 import b64encode

import pytest

from gslopes.ask.secrets import (
    _MOST,
    LIMIT,
    guard_logs,
    looks_random,
    remember_secret,
    scrub,
    scrub_json,
    scrub_text,
    secret_in_address,
    secrets_within,
    shown_address,
)
from tests.echoes import ECHOES

SECRET = "s3cr3t-Value_0123456789"


@pytest.mark.parametrize(
    "address",
    [
        f"https://host/x?api_key={SECRET}",
        f"https://host/x?size=2&subscription-key={SECRET}",
        f"https://host/x?Code={SECRET}",
        f"https://host/x?q={SECRET}",
        f"https://host/x#access_token={SECRET}",
        f"https://user:{SECRET}@host/x",
        f"https://{SECRET}@host/x",
        f"//host/x?token={SECRET}",
        f"https://host/hooks/{SECRET}/tag",
        "https://host/AIza" + "b" * 35,
        "https://host/v1/sk-" + "a" * 40,
        "https://host/x?a=%41KIAIOSFODNN7EXAMPLE",
    ],
)
def test_a_key_in_an_address_is_found_and_not_repeated(address, monkeypatch):
    monkeypatch.setenv("MY_SERVICE_KEY", SECRET)
    what = secret_in_address(address)
    assert what
    assert SECRET not in what


@pytest.mark.parametrize(
    "address",
    [
        *(
            "https://host/x",
            "https://host:8443/v1/models/abc-123/predict",
            "//host/x",
            "",
            "model.onnx",
            "http://[",
        ),
        "https://host/v1beta1/models/claude-3-5-sonnet-20241022:predict",
        "https://host/crop/{width}x{height}?ratio={ratio}",
        "https://host/openai/deployments/meta-llama-3.1-70b-instruct/chat/completions",
        "https://host/classify/efficientnet_b0/vit-base-patch16-224-in21k",
    ],
)
def test_an_address_without_a_key_is_one(address):
    assert secret_in_address(address) == ""
    assert (
        shown_address(address) == address
        or "://" not in address
        or "{" in address
        or "[" in address
    )


MAY_BE = [
    *(
        "https://host/x?pass=x",
        "https://host/x?c=x",
        "https://host/x?jwt=x",
        "https://host/x?x",
        "https://host/x#x",
    ),
    *(
        "https://host/x;api_key=x",
        "https://host/x?ratio={ratio}&a=x",
        "https://host/x?q%5Bkey%5D=x",
    ),
    "https://hooks.example/services/T024BE7LD/B024BE7LD/X7XX5XXX1XXXXX9XXXXXXXXX",
    "https://host/api/webhooks/123456789012345678/x",
    "https://host/3f2b9c1e-0000-4000-8000-1234567890ab/tag",
    "https://host/%61%31%62%32%63%33%64%34%61%31%62%32%63%33%64%34",
    "https://host/predict:k3yk3yk3y",
]


@pytest.mark.parametrize("address", MAY_BE)
def test_what_may_be_a_key_needs_a_word_that_it_is_none(address):
    assert "may be a key" in secret_in_address(address)
    assert secret_in_address(address, public=True) == ""
    shown = shown_address(address)
    assert secret_in_address(shown.split()[0]) == ""
    assert shown != shown_address(f"{address}z")


@pytest.mark.parametrize(
    "address", ["https://me:word@host/x", "https://host/x?api_key=x", f"https://host/{SECRET}"]
)
def test_no_word_makes_a_key_public(address, monkeypatch):
    monkeypatch.setenv("MY_SERVICE_KEY", SECRET)
    assert secret_in_address(address, public=True)
    assert SECRET not in shown_address(address)
    assert "word" not in shown_address(address)


WORDS = (
    *(
        "10000000",
        "2024-02-01",
        "max_tokens",
        "image_tokens",
        "portrait",
        "Classification",
        "predictNow",
        "1.25",
    ),
    *(
        "v1/predict",
        "sk-learn-image-classification",
        "hf-internal-testing-tiny-random-vit",
        "pk_person-recognition",
    ),
    *(
        "rk-people-at-work-2024",
        "xoxb-people-at-their-work",
        "gho_images_of_people_AT_work",
        "sk-ImageClassifierNow-v2",
    ),
)


@pytest.mark.parametrize("word", WORDS)
def test_numbers_names_of_options_and_words_of_an_address_stay_readable(word, monkeypatch):
    monkeypatch.setattr("gslopes.ask.secrets._REMEMBERED", set())
    monkeypatch.setenv("MY_SERVICE_KEY", SECRET)
    for address in (
        f"https://host/{word}/tag",
        f"https://host/tag?of={word}",
        f"https://host/tag#{word}",
    ):
        for part in secrets_within(address):
            remember_secret(part)
        assert secret_in_address(address, public=True) == ""
    text = f"such as max_tokens={word}: {word} of the model {word}."
    assert scrub(text) == text
    assert scrub_json({word: 0.5}) == {word: 0.5}


@pytest.mark.parametrize("name", ["key", "api_key", "token", "code", "sig", "password"])
def test_a_word_is_a_key_where_its_parameter_says_so(name, monkeypatch):
    monkeypatch.setattr("gslopes.ask.secrets._REMEMBERED", set())
    for part in secrets_within(f"https://host/tag?{name}=swordfish"):
        remember_secret(part)
    assert scrub("401 for swordfish") == "401 for ***"


def test_of_an_address_that_is_a_secret_the_host_and_plain_words_are_none():
    found = secrets_within(
        f"https://me:{SECRET}@gateway.example:8443/predictions/h00k-9f/tag?code=abc&size=2#t=xyz"
    )
    sent = b64encode(f"me:{SECRET}".encode()).decode()
    assert found == ["me", SECRET, f"me:{SECRET}", sent, "h00k-9f", "abc"]
    assert secrets_within("http://[") == []
    letters, key = "qWeRtYuIoPaSdFgHjKlZxCvB", "sk-" + "a" * 20
    assert secrets_within(f"http://gateway.example/hook/{letters}/{key}") == [letters, key]
    assert secrets_within("http://gateway.example/hook/a%622") == ["a%622", "ab2"]


PATHS = """
v1/chat/completions openai/deployments/gpt-4o-mini-2024-07-18/chat v1/projects/my-project-123456/locations/us-central1
v2/models/clip-vit-large-patch14/infer v2/models/ViT-B-32 v2/models/efficientnet_b0/versions/1/infer invocations
models/llama3.2-11b-vision predictions/squeezenet1_1 predictions/densenet161 predictions/mobilenetv3_large_100
models/Falconsai/nsfw_image_detection models/google/vit-base-patch16-224 models/Salesforce/blip-image-captioning-large
models/Qwen/Qwen2.5-VL-7B-Instruct models/Qwen/Qwen2-VL-2B-Instruct-AWQ models/apple/DFN5B-CLIP-ViT-H-14-378
models/laion/CLIP-ViT-bigG-14-laion2B-39B-b160k models/timm/swin_base_patch4_window7_224.ms_in22k_ft_in1k
models/OpenGVLab/InternVL2_5-8B models/gemma-3-27b-it models/claude-3-5-sonnet-20241022 models/pixtral-12b-2409
models/MiniCPM-V-2_6 models/yolov8n-cls models/yolov5s6 models/resnext101_32x8d_wsl models/wide_resnet101_2
models/EVA02-E-14-plus models/dinov2_vitb14 models/tf_efficientnetv2_xl.in21k models/RN50x64 models/SigLIP2
classifyImage detectModerationLabels getLabelsForImage predictImageLabelsV2 ImageClassificationService
uploadAndClassifyImage serving_default serving rest/v1/TagImages cognitiveservices/vision computervision
2015-03-31/functions/myfunction/invocations api/hr/cv-screening-v3 attractiveness strengths schlichtschuhe
Arbeitsplatzbewertung klassifiziere-bild gesichtserkennung/vorhersage reconnaissance-d-images
"""


def test_names_of_models_and_functions_do_not_look_random():
    segments = {segment for path in PATHS.split() for segment in path.split("/")}
    assert sorted(filter(looks_random, segments)) == []


# -- texts -------------------------------------------------------------------------------------------------------------


SHAPES = {
    "amazon": "AKIAIOSFODNN7EXAMPLE",
    "google": "AIza" + "b" * 35,
    "google token": "ya29.abcDEF-123",
    "json web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
    "prefix": "sk-" + "a1B2" * 8,
    "private key": "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----",
}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_six_shapes_of_keys_are_known_without_a_name(text):
    assert scrub(f"refused {text} today") == "refused *** today"
    assert scrub_json({f"a {text}": [text]}) == {"a ***": ["***"]}


@pytest.mark.parametrize(
    "name", ["VISION_KEY", "AWS_SECRET_ACCESS_KEY", "CLARIFAI_PAT", "IMAGGA_TOKEN", "MY_APIKEY"]
)
def test_the_value_of_a_secret_variable_is_taken_out_of_texts_and_logs(name, monkeypatch):
    monkeypatch.setenv(name, SECRET)
    assert scrub(f"unexpected character in {SECRET!r} at 3") == "unexpected character in '***' at 3"
    monkeypatch.setattr(
        logging, "_logRecordFactory", logging.getLogRecordFactory()
    )  # put back at the end
    guard_logs()
    guard_logs()
    record = logging.getLogger("vendor").makeRecord("vendor", 10, "", 1, "sent %s", (SECRET,), None)
    assert record.getMessage() == "sent ***"


@pytest.mark.parametrize("kind", ECHOES)
@pytest.mark.parametrize("secret", ["p/a+s s?w&o=r~d>>>???", 'qu"o\\te-ünïcode-key'])
def test_no_form_of_a_key_comes_back(kind, secret, monkeypatch):
    monkeypatch.setenv("MY_SERVICE_KEY", secret)
    echo = ECHOES[kind](secret)
    middle = echo[len(echo) // 3 : len(echo) // 3 + 8]
    text = scrub(f"refused {echo} today")
    assert middle not in text
    assert text.startswith("refused ")
    assert text.endswith(" today")
    stored = json.dumps(
        scrub_json({"label": f"refused {echo} today", echo: 0.5}), ensure_ascii=False
    )
    assert middle not in stored
    assert stored.count("***") >= 2


@pytest.mark.parametrize("kind", ECHOES)
def test_a_key_at_the_cut_is_hidden_before_the_cut(kind, monkeypatch):
    monkeypatch.setenv("MY_SERVICE_KEY", SECRET)
    echo = ECHOES[kind](SECRET)
    begin = echo[4:12]  # the first characters of base64 hold the user's name, too
    for start in (*range(LIMIT - 45, LIMIT + 1, 15), *range(_MOST - 30, _MOST, 5)):
        assert begin not in scrub("x " * (start // 2) + echo)
        assert begin not in scrub(" " * start + echo)


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: expected 3 channels, not 4",
        "the edited photo cannot be read: No such file or directory",
        "404 for https://api.example.com/v1/tags?size=2",
        "the keyboard=1 and monkey=2 are not keys",
    ],
)
def test_an_ordinary_sentence_and_a_label_that_shares_a_word_with_a_key_stay(text, monkeypatch):
    monkeypatch.setenv("MY_SERVICE_KEY", "portrait-production-7Gd1")
    assert scrub(text) == text
    answer = {"portrait": 0.5, "production line": 0.25, "Secret: garden": 0.1}
    assert scrub_json(answer) == answer


def test_the_result_is_one_short_line_of_unicode_without_controls():
    result = scrub("a\nb\r\n\tc \ud800 " + "x" * 1000)
    assert result.startswith("a b c ? xxx")
    assert len(result) == LIMIT
    assert result.endswith("…")
    controls = scrub("a\x1b]0;title\x07 b\x1b[2J c\u202ed \u200b e\x9bf")
    assert controls == "a\\x1b]0;title\\x07 b\\x1b[2J c\\u202ed \\u200b e\\x9bf"


def test_hostile_texts_take_no_time(monkeypatch):
    monkeypatch.setenv("MY_SERVICE_KEY", SECRET)
    began = time.perf_counter()
    for part in (
        "<",
        "%25",
        "x",
        "key=",
        "-----BEGIN PRIVATE KEY-----",
        "authorization:",
        "a://",
        "eyJ",
        "sk-",
        " ",
    ):
        scrub_text(part * (20_000 // len(part)))
    assert time.perf_counter() - began < 3
