"""families.toml: which models it finds, and what each is asked with; names as vendors and gateways write them."""

import re
import tomllib
from pathlib import Path

import pytest

from gslopes.ask.classifiers import compatible, load_classifier
from gslopes.ask.classifiers.compatible import DIALECTS, family_of, spoken
from tests.fake_provider import FakeProvider, paint

TABLES = tomllib.loads(Path(compatible.__file__).with_name("families.toml").read_text("utf-8"))
FAMILIES = TABLES["families"]
OTHERS = TABLES["others"]
# Names from the vendors' lists of models, and as OpenRouter, Bedrock, Vertex AI, Ollama and Hugging Face have them.
NAMES = {
    "gpt-5-chat": ["gpt-5-chat-latest", "gpt-5.2-chat-latest", "openai/gpt-5.1-chat"],
    "gpt-none": ["gpt-5.2 none", "gpt-6-luna none", "openai/gpt-5.6-terra none"],
    "gpt-none-small": ["gpt-5.4-mini none", "openai/gpt-5.4-nano none"],
    "gpt-5-none": ["gpt-5.1", "gpt-5.2-2025-12-11", "openai/gpt-5.4"],
    "gpt-5-none-small": ["gpt-5.4-mini", "openai/gpt-5.4-nano-2026-03-17"],
    "gpt-5-small": ["gpt-5-mini", "gpt-5-nano-2025-08-07", "gpt-5.4-mini high"],
    "gpt-5": [
        "gpt-5",
        "openai/gpt-5",
        "gpt-5-2025-08-07",
        "gpt-5.2 high",
        "gpt-5.5",
        "gpt-5.6-luna",
        "openai/gpt-6-luna",
        "gpt-6.1-terra low",
        "gpt-5.2-pro",
        "gpt-5.1-codex",
        "gpt-5-pro",
    ],
    "o-mini": ["o4-mini", "o3-mini-2025-01-31", "openai/o4-mini"],
    "o": ["o1", "o3", "o3-2025-04-16", "o1-pro", "openai/o3 low"],
    "gpt-4o-mini": ["gpt-4o-mini", "gpt-4o-mini-2024-07-18", "openai/gpt-4o-mini"],
    "gpt-41-small": ["gpt-4.1-mini", "gpt-4.1-nano-2025-04-14"],
    "gpt-4": ["gpt-4o", "gpt-4o-2024-11-20", "gpt-4.1", "chatgpt-4o-latest", "gpt-4-turbo"],
    "gpt-oss": ["gpt-oss-120b", "openai/gpt-oss-20b", "gpt-oss:20b"],
    "claude-large-pictures": [
        "claude-opus-4-7",
        "anthropic/claude-opus-4-8",
        "claude-sonnet-5",
        "claude-haiku-5-5",
    ],
    "claude": [
        "claude-sonnet-4-5-20250929",
        "claude-haiku-4-5",
        "anthropic/claude-3.7-sonnet",
        "claude-opus-4-6",
    ],
    "claude-bedrock-large": ["us.anthropic.claude-opus-4-7-v1:0", "anthropic.claude-sonnet-5"],
    "claude-bedrock": [
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "anthropic.claude-3-5-haiku-20241022-v1:0",
    ],
    "gpt-oss-bedrock": ["openai.gpt-oss-120b-1:0"],
    "gemini-3": [
        "gemini-3-pro-preview",
        "gemini-3.8-flash",
        "gemini-3.8-flash",
        "gemini-3.1-flash-lite",
        "models/gemini-3.5-flash",
        "google/gemini-3.1-pro",
        "gemini-flash-latest",
    ],
    "gemini-2-5": ["gemini-2.5-flash", "models/gemini-2.5-pro", "google/gemini-2.5-flash-lite"],
    "gemini": ["gemini-2.0-flash", "gemini-1.5-pro"],
    "nova": ["us.amazon.nova-pro-v1:0", "amazon.nova-lite-v1:0", "global.amazon.nova-2-lite-v1:0"],
    "bedrock": [
        "us.meta.llama4-scout-17b-instruct-v1:0",
        "mistral.pixtral-large-2502-v1:0",
        "qwen.qwen3-vl-235b-a22b",
    ],
    "grok": ["grok-4", "x-ai/grok-4-fast", "grok-2-vision-1212"],
    "mistral": [
        "mistral-medium-2508",
        "pixtral-large-latest",
        "ministral-8b-2512",
        "magistral-medium-2509",
    ],
    "deepseek-reasoner": ["deepseek-reasoner", "deepseek/deepseek-r1", "deepseek-r1:7b"],
    "qwen-thinking": ["Qwen/Qwen3-VL-30B-A3B-Thinking", "qvq-72b-preview"],
    "llama-vision": ["meta-llama/Llama-3.2-11B-Vision-Instruct", "llama3.2-vision:11b"],
    "llava": ["llava:7b", "llava-hf/llava-1.5-7b-hf", "moondream"],
}
PLAIN = [
    "my-deployment",
    "Qwen/Qwen3-VL-8B-Instruct",
    "qwen2.5vl:7b",
    "gemma-3",
    "some-model",
    "foo1",
    "solo3",
    "mistralai/pixtral-12b",
]


def named(model: str) -> str:
    """The family of a model, by the first whose names it has."""
    text = model if " " in model else f"{model} "
    return next((name for name, one in FAMILIES.items() if re.search(one["names"], text)), "others")


@pytest.mark.parametrize(("family", "models"), NAMES.items())
def test_models_are_found_with_the_names_that_vendors_and_gateways_give_them(family, models):
    assert [named(model) for model in models] == [family] * len(models)


@pytest.mark.parametrize("model", PLAIN)
def test_other_models_are_asked_as_chat_completions_were_ever(model):
    assert named(model) == "others"
    assert family_of(f"{model} ") == OTHERS
    assert (OTHERS["max_tokens"], OTHERS["image_tokens"], OTHERS["version"]) == (200, 1105, "")


def test_each_family_has_known_fields_and_its_settings_keep_answers_apart():
    for name, family in FAMILIES.items():
        assert set(family) <= {*OTHERS, "names"}, name
        settings = {key: family[key] for key in ("max_tokens", "reasoning_effort") if key in family}
        version = "".join(f"{key} {value} " for key, value in settings.items())
        assert family.get("version", "") == version, name
        assert family.get("pictures", "one") == "one"


def test_every_family_is_tried_by_a_name():
    assert set(FAMILIES) <= set(NAMES)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://api.anthropic.com", "messages"),
        ("https://api.anthropic.com/v1", "chat"),  # as it was before
        ("https://generativelanguage.googleapis.com/v1beta", "gemini"),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "chat"),
        ("https://bedrock-runtime.us-east-1.amazonaws.com", "converse"),
        ("https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1", "chat"),
        ("https://openrouter.ai/api/v1", "chat"),
        ("http://localhost:11434/v1", "chat"),
    ],
)
def test_an_address_is_asked_in_chat_completions_unless_it_is_native(monkeypatch, url, name):
    asked = []
    monkeypatch.setattr(compatible, "load_dialect", asked.append)
    spoken("auto", family_of("claude-opus-4-7 "), url)
    assert asked == [name]


def test_without_an_address_the_vendor_of_the_family_is_asked(monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    grok = spoken("auto", family_of("grok-4 "), "")
    assert (grok.home, grok.key, grok.variables) == ("https://api.x.ai/v1", "XAI_API_KEY", [])
    # what it thinks is not among its completion_tokens, and is billed: 716 + 126 + 167 = 1,009
    usage = {"prompt_tokens": 716, "completion_tokens": 126, "total_tokens": 1009}
    thought = {"completion_tokens_details": {"reasoning_tokens": 167}}
    assert grok.read({"usage": usage | thought})["usage"]["completion_tokens"] == 293
    assert grok.read({"usage": usage})["usage"]["completion_tokens"] == 126
    assert grok.read({"choices": []}) == {"choices": []}
    for model in ("claude-haiku-4-5 ", "gemini-2.5-flash ", "us.amazon.nova-pro-v1:0 ", "o3 "):
        family = family_of(model)
        if family["dialect"] in DIALECTS:
            assert spoken("auto", family, "") == compatible.load_dialect(family["dialect"])
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    assert spoken("auto", family_of("claude-haiku-4-5 "), "") == compatible.load_dialect("chat")


def test_a_model_that_is_known_to_think_is_asked_fittingly_at_once(provider: FakeProvider):
    provider.chat.reasons = 900
    classifier = load_classifier("llm:openai/o3,prompt=doctor-nurse,repeats=1,price_out=10")
    assert classifier.version.startswith(
        f"prompt {classifier.prompt.digest[:16]} max_tokens 4000 at "
    )
    assert classifier.traits.limits.tokens[1] == 4000
    assert any("thinks before it answers" in note for note in classifier.notes)
    (raw,) = classifier.ask([paint(0, 0.2)])
    (call,) = provider.log.of("chat")  # no refusal, and no empty reply
    assert call.parameters["max_completion_tokens"] == 4000
    assert raw["left_out"] == ["logprobs", "max_tokens", "temperature"]
    (raw,) = load_classifier("llm:o3,prompt=doctor-nurse,repeats=1,max_tokens=950").ask(
        [paint(0, 0.2)]
    )
    assert provider.log.of("chat")[-1].parameters["max_completion_tokens"] == 950


def test_two_people_are_shown_in_one_picture_to_a_model_that_takes_one(provider: FakeProvider):
    for model, apart in {"llama3.2-vision:11b": False, "llava:7b": False, "gpt-4o": True}.items():
        assert load_classifier(f"llm:{model},prompt=who-earns-more")._apart is apart
    assert load_classifier("llm:llava:7b,prompt=who-earns-more,pictures=two")._apart
