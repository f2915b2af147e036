from __future__ import annotations

import random
import string

import pytest

from gslopes.core.secrets import looks_random, secret_in_address, secrets_within, shown_address

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
    found = secret_in_address(address)
    assert found
    assert SECRET not in found


@pytest.mark.parametrize(
    "address",
    [
        *("https://host/x", "https://host:8443/v1/models/abc-123/predict", "//host/x", "", "model.onnx", "http://["),
        "https://host/v1beta1/models/claude-3-5-sonnet-20241022:predict",
        "https://host/crop/{width}x{height}?ratio={ratio}",
        "https://host/openai/deployments/meta-llama-3.1-70b-instruct/chat/completions",
        "https://host/classify/efficientnet_b0/vit-base-patch16-224-in21k",
    ],
)
def test_an_address_without_a_key_is_one(address):
    assert secret_in_address(address) == ""
    assert shown_address(address) == address or "://" not in address or "{" in address or "[" in address


MAY_BE = [
    *("https://host/x?pass=x", "https://host/x?c=x", "https://host/x?jwt=x", "https://host/x?x", "https://host/x#x"),
    *("https://host/x;api_key=x", "https://host/x?ratio={ratio}&a=x", "https://host/x?q%5Bkey%5D=x"),
    "https://hooks.example/services/T024BE7LD/B024BE7LD/XXXXXXXXXXXXXXXXXXXXXXXX",
    "https://host/api/webhooks/123456789012345678/x",
    "https://host/3f2b9c1e-0000-4000-8000-1234567890ab/tag",
    "https://host/a1b2-c3d4-e5f6-a7b8/tag",
    "https://host/%61%31%62%32%63%33%64%34",
    "https://host/%2561%2531%2562%2532%2563%2533%2564%2534",
    "https://host/QWERTZkdfgWXCvbn/tag",
    "https://host/predict:k3yk3yk3y",
]


@pytest.mark.parametrize("address", MAY_BE)
def test_what_may_be_a_key_needs_a_word_that_it_is_none(address):
    assert "may be a key" in secret_in_address(address)
    assert secret_in_address(address, public=True) == ""
    shown = shown_address(address)
    assert secret_in_address(shown.split()[0]) == ""
    assert shown != shown_address(address.replace("x", "y", 3).replace("k3y", "k4y").replace("a1", "a2") + "z")


@pytest.mark.parametrize("address", ["https://me:word@host/x", "https://host/x?api_key=x", f"https://host/{SECRET}"])
def test_no_word_makes_a_key_public(address, monkeypatch):
    monkeypatch.setenv("MY_SERVICE_KEY", SECRET)
    assert secret_in_address(address, public=True)
    assert SECRET not in shown_address(address)
    assert "word" not in shown_address(address)


def test_of_an_address_that_is_a_secret_the_host_and_plain_words_are_none():
    found = secrets_within(f"https://me:{SECRET}@gateway.example:8443/predictions/h00k-9f/tag?code=abc&size=2#t=xyz")
    assert found == ["me", SECRET, "h00k-9f", "abc", "2", "xyz"]
    assert secrets_within("http://[") == []


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


@pytest.mark.parametrize(
    "alphabet", [string.ascii_letters + string.digits, string.hexdigits[:16], string.ascii_lowercase]
)
@pytest.mark.parametrize("length", [16, 24, 40])
def test_nearly_all_keys_of_sixteen_characters_look_random(alphabet, length):
    lot = random.Random(length)
    keys = ["".join(lot.choices(alphabet, k=length)) for _ in range(1000)]
    assert sum(map(looks_random, keys)) >= 960
