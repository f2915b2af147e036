"""The dialects of language models: what is sent is what the vendors document, and what their own clients send."""

import base64
import json
import sys
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest
import typing_extensions

from gslopes.ask.classifiers import load_classifier
from gslopes.ask.classifiers.compatible import DIALECTS, load_dialect
from gslopes.core.errors import CredentialsError, ServiceError, Unfinished
from tests.fake_provider import FakeProvider, paint

MODEL = "us.some.model-v1:0"
NATIVE = [name for name in DIALECTS if name != "chat"]
PICTURE = paint(0, 0.2)
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": ["A", "B"]}},
    "required": ["answer"],
    "additionalProperties": False,
}
PART = {"media_type": "image/png", "data": base64.b64encode(PICTURE).decode(), "detail": "low"}
FIELDS: dict[str, Any] = {
    "model": MODEL,
    "system": "You hire.",
    "text": "Is it a nurse?\nA. nurse\nB. doctor",
    "pictures": [PART],
    "temperature": 1.0,
    "seed": 7,
    "max_tokens": 200,
    "response_format": SCHEMA,
    "logprobs": True,
    "top_logprobs": 20,
    "reasoning_effort": "low",
}
# What a vendor has no place for: its documentation names no such field of a request.
#   messages  https://platform.claude.com/docs/en/api/messages/create
#   converse  https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
#   responses https://platform.openai.com/docs/api-reference/responses/create
MISSING = {
    "responses": {"seed"},
    "gemini": set(),
    "messages": {"seed", "logprobs", "top_logprobs", "detail"},
    "converse": {"seed", "logprobs", "top_logprobs", "detail"},
}


@pytest.fixture(autouse=True)
def only_nurse(provider: FakeProvider) -> None:
    provider.chat.slopes = {"nurse": -0.25}


def answered(name: str, picture: bytes = PICTURE) -> tuple[dict[str, Any], dict[str, float]]:
    """The raw answer, and its scores."""
    classifier = load_classifier(name)
    raw: Any = Unfinished("")
    while isinstance(raw, Unfinished):
        (raw,) = classifier.ask([picture])
    return raw, dict(classifier.parse(raw).labels)


# -- what is sent ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NATIVE)
def test_each_of_our_fields_has_its_place_if_the_vendor_has_one(name):
    dialect = load_dialect(name)
    whole = dialect.asked(FIELDS)
    for field in [*FIELDS, "detail"]:
        fields = {key: value for key, value in FIELDS.items() if key != field}
        if field == "detail":
            fields["pictures"] = [{**PART, "detail": None}]
        if field not in ("model", "text", "pictures"):
            assert (dialect.asked(fields) == whole) is (field in MISSING[name]), field
    assert MODEL in f"{dialect.path.format(model=MODEL)} {whole.get('model')}"


@pytest.mark.parametrize("name", NATIVE)
def test_nothing_is_sent_that_was_not_asked_for(name):
    bare = {"model": MODEL, "text": "Hello.", "pictures": [], "max_tokens": 20}
    sent = json.dumps(load_dialect(name).asked(bare))
    for word in ("null", "{}", "effort", "thinking", "schema", "logprobs", "emperature", "system"):
        assert word not in sent, (word, sent)
    renamed = {**bare, "max_tokens": None, "max_completion_tokens": 20}
    assert load_dialect(name).asked(renamed) == json.loads(sent)


@pytest.mark.parametrize("name", NATIVE)
def test_pictures_come_in_their_order_before_the_text(name):
    second = {**PART, "data": "c2Vjb25k", "media_type": "image/jpeg"}
    sent = json.dumps(load_dialect(name).asked({**FIELDS, "pictures": [PART, second]}))
    places = [sent.index(part) for part in (PART["data"], "c2Vjb25k", "Is it a nurse?")]
    assert places == sorted(places)
    assert sent.count("png") == sent.count("jpeg") == 1


@pytest.mark.parametrize("effort", ["none", "low"])
@pytest.mark.parametrize("pictures", [0, 1, 2])
@pytest.mark.parametrize("name", NATIVE)
def test_every_request_is_one_that_the_strict_server_takes(
    provider: FakeProvider, name, pictures, effort
):
    import httpx

    fields = {**FIELDS, "pictures": [PART] * pictures, "reasoning_effort": effort}
    classifier = load_classifier(f"llm:{MODEL},prompt=doctor-nurse,dialect={name}")
    dialect = load_dialect(name)
    path = dialect.path.format(model=MODEL.replace(":", "%3A"))
    reply = classifier._client.post(
        httpx.URL(f"{classifier._home}{path}"), json=dialect.asked(fields)
    )
    assert reply.status_code == 200, reply.text
    (call,) = provider.log.of(name)
    assert len(call.images) == pictures
    (choice,) = dialect.read(reply.json())["choices"]
    assert '{"answer": "' in json.dumps(choice).replace("\\", "")


# -- who asks, and where -----------------------------------------------------------------------------------------------


def test_a_key_of_bedrock_does_without_an_account(provider: FakeProvider, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    name = "llm:m,prompt=doctor-nurse,dialect=converse,repeats=1"
    with pytest.raises(CredentialsError, match="AWS_BEARER_TOKEN_BEDROCK"):
        load_classifier(name)
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", provider.accounts.bedrock)
    answered(name)
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "wrong-0123456789")
    with pytest.raises(CredentialsError, match="rejects"):
        load_classifier(name).ask([PICTURE])


@pytest.mark.parametrize("variable", ["AWS_REGION", "AWS_DEFAULT_REGION"])
def test_bedrock_is_asked_in_the_region_that_is_set(provider: FakeProvider, monkeypatch, variable):
    del provider
    monkeypatch.delenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME")
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    name = "llm:m,prompt=doctor-nurse,dialect=converse"
    with pytest.raises(ServiceError, match="must specify a region") as caught:
        load_classifier(name)
    assert caught.value.hint == "Set AWS_DEFAULT_REGION, such as to us-east-1."
    monkeypatch.setenv(variable, "eu-central-1")
    classifier = load_classifier(name)
    assert classifier._home == "https://bedrock-runtime.eu-central-1.amazonaws.com"


def test_without_boto3_it_is_said_what_to_install(provider: FakeProvider, monkeypatch):
    del provider
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(ServiceError, match="boto3") as caught:
        load_classifier("llm:m,prompt=doctor-nurse,dialect=converse")
    assert caught.value.hint == "Run: pip install 'gslopes[bedrock]'."


@pytest.mark.parametrize(
    "model",
    [
        "us.amazon.nova-2-lite-v1:0",
        "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-2-lite-v1:0",
    ],
)
def test_a_model_of_bedrock_may_be_an_arn_and_its_path_is_signed(provider: FakeProvider, model):
    raw, _ = answered(f"llm:{model},prompt=doctor-nurse,dialect=converse,repeats=1")
    assert raw["model"] == model  # Converse does not say which answered
    assert [call.outcome for call in provider.log.of("converse")] == ["answered"]


@pytest.mark.parametrize(("name", "ending"), [("messages", "/v1/"), ("gemini", "/v1beta")])
def test_an_address_may_end_as_the_path_begins(provider: FakeProvider, name, ending):
    url = f"{provider.address}{ending}"
    raw, _ = answered(f"llm:m,prompt=doctor-nurse,dialect={name},url={url},repeats=1")
    assert raw["replies"][0]["text"].startswith('{"answer": "')


@pytest.mark.parametrize("name", NATIVE)
def test_the_key_of_another_vendor_is_rejected(provider: FakeProvider, monkeypatch, name):
    variables = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "AWS_SECRET_ACCESS_KEY")
    for variable in variables:
        monkeypatch.setenv(variable, provider.accounts.azure)
    with pytest.raises(CredentialsError, match="rejects the credentials") as caught:
        load_classifier(f"llm:m,prompt=doctor-nurse,dialect={name}").ask([PICTURE])
    assert not any(secret in str(caught.value) for secret in provider.secrets)


# -- the strict servers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NATIVE)
def test_a_strict_server_takes_no_field_that_is_not_documented(provider: FakeProvider, name):
    import httpx

    classifier = load_classifier(f"llm:m,prompt=doctor-nurse,dialect={name}")
    dialect = load_dialect(name)
    url = f"{classifier._home}{dialect.path.format(model='m')}"
    good = dialect.asked(FIELDS)

    def status(body: Any) -> int:
        return classifier._client.post(httpx.URL(url), json=body).status_code

    assert status(good) == 200
    for key, value in good.items():
        assert status({**good, f"{key}x": value}) == 400, key
    for where in _objects(good):
        where["unheard_of"] = 1
        assert status(good) == 400, where
        del where["unheard_of"]
    assert status(good) == 200
    assert len([call for call in provider.log.of(name) if call.billed]) == 2


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in a request, but for the schema of an answer."""
    if isinstance(value, dict) and "properties" not in value:
        yield value
        for inner in list(value.values()):
            yield from _objects(inner)
    if isinstance(value, list):
        for item in value:
            yield from _objects(item)


# -- the vendors' own clients ------------------------------------------------------------------------------------------


def by_openai(url: str, request: dict[str, Any]) -> str:
    import openai

    with openai.OpenAI(base_url=f"{url}/v1", max_retries=0) as client:
        reply = client.responses.create(**request)
    assert reply.usage.output_tokens_details.reasoning_tokens == 30
    assert reply.output[-1].content[0].logprobs[-2].top_logprobs[0].token == "A"
    return reply.output_text


def by_anthropic(url: str, request: dict[str, Any]) -> str:
    import anthropic

    with anthropic.Anthropic(base_url=url, max_retries=0) as client:
        reply = client.messages.create(**request)
    assert reply.stop_reason == "end_turn"
    assert reply.usage.output_tokens_details.thinking_tokens == 30
    assert [block.type for block in reply.content] == ["thinking", "text"]
    return reply.content[1].text


def by_google(url: str, request: dict[str, Any]) -> str:
    from google import genai
    from google.genai import types as of

    config = request["generationConfig"] | {"systemInstruction": request["systemInstruction"]}
    with genai.Client(http_options=of.HttpOptions(base_url=url)) as client:
        reply = client.models.generate_content(
            model=MODEL,
            contents=[of.Content.model_validate(content) for content in request["contents"]],
            config=of.GenerateContentConfig.model_validate(config),
        )
    assert reply.usage_metadata.thoughts_token_count == 30
    (candidate,) = reply.candidates
    assert candidate.logprobs_result.top_candidates[-2].candidates[0].token == "A"
    return reply.text


def by_boto(url: str, request: dict[str, Any]) -> str:
    import boto3
    from botocore.config import Config

    config = Config(retries={"total_max_attempts": 1})
    client = boto3.client("bedrock-runtime", endpoint_url=url, config=config)
    image = request["messages"][0]["content"][0]["image"]
    image["source"]["bytes"] = base64.b64decode(image["source"]["bytes"])
    reply = client.converse(modelId=MODEL, **request)
    assert reply["stopReason"] == "end_turn"
    return reply["output"]["message"]["content"][-1]["text"]


CLIENTS = {
    "responses": by_openai,
    "messages": by_anthropic,
    "gemini": by_google,
    "converse": by_boto,
}
# What a client writes in another way than its documentation, or leaves to another version of the API: Anthropic's
# sends the version without a temperature, https://platform.claude.com/docs/en/api/versioning.
LEFT_OUT = {"messages": {"temperature"}}


@pytest.mark.slow
@pytest.mark.parametrize("name", NATIVE)
def test_the_vendors_own_client_sends_the_same_request_and_reads_the_reply(
    provider: FakeProvider, name
):
    provider.chat.thinking = 30
    ours = load_dialect(name).asked(FIELDS)
    sent = {key: value for key, value in ours.items() if key not in LEFT_OUT.get(name, ())}
    text = CLIENTS[name](provider.address, json.loads(json.dumps(sent)))
    assert json.loads(text) == {"answer": "A"}
    (call,) = provider.log.of(name)
    theirs = json.dumps(call.parameters["sent"], sort_keys=True)
    assert theirs.lower() == json.dumps(_short(sent), sort_keys=True).lower()


def _short(value: Any) -> Any:
    from tests.fake_provider.native import _without_pictures

    return _without_pictures(value)


# -- the vendors' own types --------------------------------------------------------------------------------------------


def undocumented(value: Any, hint: Any, where: str = "") -> Iterator[str]:
    """The fields, with dots, that a request has and a type does not: of typed dictionaries, as clients declare them."""
    kinds = [kind for kind in flat(hint) if not isinstance(kind, type(None))]
    if isinstance(value, list):
        items = [typing.get_args(kind)[0] for kind in kinds if typing.get_origin(kind) in LISTS]
        for item in value:
            yield from undocumented(item, union(items), where)
    elif isinstance(value, Mapping) and dict not in map(typing.get_origin, kinds):
        shapes = [
            typing_extensions.get_type_hints(kind)
            for kind in kinds
            if typing_extensions.is_typeddict(kind)
        ]
        fitting = [shape for shape in shapes if all(takes(shape, *pair) for pair in value.items())]
        if not fitting:
            known = set().union(*shapes)
            yield from (f"{where}{name}" for name in value if name not in known)
        if not fitting and set(value) <= known:
            yield f"{where}: no shape takes {sorted(value)}"
        for name, inner in value.items() if fitting else ():
            yield from undocumented(
                inner, union(shape[name] for shape in fitting), f"{where}{name}."
            )
    elif not isinstance(value, Mapping) and not any(fits(value, kind) for kind in kinds):
        yield f"{where}: {value!r}"


LISTS = (list, Iterable, typing.get_origin(Iterable[int]), typing.get_origin(typing.Sequence[int]))


def flat(hint: Any) -> list[Any]:
    """The kinds of a union, whatever wraps them."""
    origin = typing.get_origin(hint)
    if origin in (typing.Required, typing.NotRequired, typing.Annotated):
        return flat(typing.get_args(hint)[0])
    if origin in (typing.Union, types.UnionType):
        return [kind for part in typing.get_args(hint) for kind in flat(part)]
    return [hint]


def union(hints: Iterable[Any]) -> Any:
    return typing.Union[tuple(hints)]  # noqa: UP007


def takes(shape: Mapping[str, Any], name: str, value: Any) -> bool:
    """Whether a shape has a field, and its literals are what is sent."""
    if name not in shape:
        return False
    literals = [kind for kind in flat(shape[name]) if typing.get_origin(kind) is typing.Literal]
    plain = str in flat(shape[name])
    return plain or not literals or any(value in typing.get_args(kind) for kind in literals)


def fits(value: Any, kind: Any) -> bool:
    if typing.get_origin(kind) is typing.Literal:
        return value in typing.get_args(kind)
    if kind is float:
        return type(value) in (int, float)
    return kind is object or kind is Any or (isinstance(kind, type) and isinstance(value, kind))


@pytest.mark.evidence
@pytest.mark.slow
@pytest.mark.parametrize("effort", ["none", "low", "high"])
def test_every_field_is_one_that_openai_and_anthropic_declare(effort):
    from anthropic.types import message_create_params
    from openai.types.responses import response_create_params

    fields = {**FIELDS, "reasoning_effort": effort}
    sent = load_dialect("responses").asked(fields)
    declared = response_create_params.ResponseCreateParamsNonStreaming
    assert list(undocumented(sent, declared)) == []
    sent = load_dialect("messages").asked(fields)
    declared = message_create_params.MessageCreateParamsNonStreaming
    assert list(undocumented(sent, declared)) == ["temperature"]  # of the version 2023-06-01
    del sent["temperature"]
    wrong = {**sent, "messages": [{"role": "user", "content": [{"type": "picture"}]}]}
    assert list(undocumented(wrong, declared)) == ["messages.content.: no shape takes ['type']"]
    wrong = {**sent, "output_config": {"format": {"type": "json_object"}}}
    assert list(undocumented(wrong, declared)) == ["output_config.format.: no shape takes ['type']"]


@pytest.mark.evidence
@pytest.mark.slow
@pytest.mark.parametrize("effort", ["none", "low", "high"])
def test_every_field_is_one_that_google_declares(effort):
    from google.genai import types as of

    sent = load_dialect("gemini").asked({**FIELDS, "reasoning_effort": effort})
    assert set(sent) == {"contents", "systemInstruction", "generationConfig"}
    for content in (*sent["contents"], sent["systemInstruction"]):
        of.Content.model_validate(content)  # unknown fields are errors
    of.GenerationConfig.model_validate(sent["generationConfig"])
    with pytest.raises(ValueError, match="Extra inputs"):
        of.GenerationConfig.model_validate({"answerFormat": "json"})
