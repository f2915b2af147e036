"""Headers and fields of the user's own, and Entra ID, against servers that write down what they are sent."""

import itertools
import json
import re
import time
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest

from gslopes.ask.classifiers import canonical_name, list_classifiers, load_classifier
from gslopes.ask.secrets import scrub
from gslopes.core.errors import ConfigError, CredentialsError, UsageError
from tests import loopback
from tests.fake_provider import FakeProvider, paint
from tests.loopback import QuietHandler, serving

PICTURE = paint(0, 0.2)
KEY = "k3y-of-a-gateway-0123456789"


class Writing(QuietHandler):
    """Answers with the first option; keeps the headers and the body of each request."""

    def do_POST(self) -> None:  # noqa: N802
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.service.asked.append((self.headers.items(), body))
        message = {"role": "assistant", "content": '{"answer": "A"}'}
        reply = {"model": "m", "choices": [{"message": message, "finish_reason": "stop"}]}
        self.send(200, json.dumps(reply).encode(), "application/json")


@pytest.fixture
def server():
    with serving(SimpleNamespace(asked=[], port=0), Writing) as service:
        yield service


def sent(server, options: str) -> tuple[list[tuple[str, str]], dict]:
    """Headers, their names in small letters, and body of one request under these options."""
    url = f"http://127.0.0.1:{server.port}/v1"
    classifier = load_classifier(f"llm:m,prompt=doctor-nurse,repeats=1,url={url},{options}")
    classifier.ask([PICTURE])
    headers, body = server.asked[-1]
    return [(name.lower(), value) for name, value in headers], body


@pytest.mark.parametrize(
    ("options", "where", "value"),
    [
        ("extra.top_p=0.9", "top_p", 0.9),
        ("extra.seed=7", "seed", 7),
        ("extra.store=false", "store", False),
        ("extra.user=someone", "user", "someone"),
        ('extra.user="7"', "user", "7"),
        (r'extra.provider.order=["azure"\,"openai"]', "provider.order", ["azure", "openai"]),
        ('extra.provider={"sort": "price"}', "provider.sort", "price"),
        ("extra.a.b.c=1,extra.a.b.d=null", "a.b", {"c": 1, "d": None}),
        (
            "extra.chat_template_kwargs.enable_thinking=no",
            "chat_template_kwargs",
            {"enable_thinking": "no"},
        ),
        ("extra.reasoning.max_tokens=500", "reasoning.max_tokens", 500),
    ],
)
def test_any_further_field_is_sent_as_json_and_dots_lead_into_objects(
    server, options, where, value
):
    _, body = sent(server, options)
    for name in where.split("."):
        body = body[name]
    assert body == value


def test_a_strict_server_names_the_field_that_it_does_not_know(provider: FakeProvider):
    name = "llm:some-model,prompt=doctor-nurse,extra.top_p=0.5"
    with pytest.raises(Exception, match="Unrecognized request argument supplied: top_p"):
        load_classifier(name).ask([PICTURE])
    provider.chat.also = {"top_p"}
    load_classifier(name).ask([PICTURE])
    assert provider.log.of("chat")[-1].parameters["top_p"] == 0.5


@pytest.mark.parametrize(
    "option",
    [
        "extra.max_tokens=9000",
        "extra.maxOutputTokens=9000",
        "extra.generationConfig.maxOutputTokens=9000",
        'extra.generationConfig={"maxOutputTokens": 9000}',
        "extra.n=5",
        "extra.candidateCount=5",
        "extra.model=other",
        "extra.messages=[]",
        "extra.stream=true",
        "extra.response_format={}",
        "extra.logprobs=false",
        "extra.temperature.x=1",
        "extra.=1",
        "extra.top_p=",
        "extra.a..b=1",
        "extra.api_key=abc",
        f"extra.user={KEY}",
        "header.X-Api-Key=abc",
        "header.Authorization=Bearer abc",
        f"header.X-Team={KEY}",
        "header.X-Team=sk-proj-abcdefghijklmnop1234",
        "header.Host=elsewhere",
        "header.Content-Length=3",
        "header.two words=3",
        "header.X-Team=Ärzte",
        "header.X-Team=a\nX-Other: b",
    ],
)
def test_what_moves_question_or_price_and_secrets_are_refused_before_anything_is_sent(
    server, monkeypatch, option
):
    monkeypatch.setenv("GATEWAY_KEY", KEY)
    with pytest.raises(ConfigError, match=r"cannot have '(?:extra|header)\.") as raised:
        sent(server, option)
    assert KEY not in f"{raised.value} {raised.value.hint}"
    assert "env:VARIABLE" in raised.value.hint
    assert not server.asked


@pytest.mark.parametrize(
    "option", ["extra=5", "header=5", "extr.top_p=1", "temperature.x=1", "prompt.=x"]
)
def test_other_names_with_dots_are_unknown(option):
    with pytest.raises(ConfigError, match="has no parameter"):
        canonical_name(f"llm:m,{option}")


def test_own_fields_and_headers_are_part_of_the_one_name_however_they_were_typed():
    typed = r'llm:m,header.X-Team=b,extra.top_p=0.9,extra.stop=["a"\,"b"],extra.a.b=1'
    name = r'llm:m,extra.a.b=1,extra.stop=["a"\,"b"],extra.top_p=0.9,header.X-Team=b'
    assert canonical_name(typed) == canonical_name(name) == name
    with pytest.raises(ConfigError, match=r"'extra\.top_p' twice"):
        canonical_name("llm:m,extra.top_p=1,extra.top_p=2")


def test_lists_show_how_they_are_written():
    (entry,) = [entry for entry in list_classifiers() if entry.name == "llm"]
    assert {"extra.NAME=", "header.NAME=", "reasoning_effort=", "detail=auto"} <= {
        *entry.parameters
    }
    with pytest.raises(ConfigError) as raised:
        canonical_name("llm:m,extr=1")
    assert re.search(r"extra\.NAME|Did you mean", raised.value.hint)


def test_a_header_may_take_its_secret_from_a_variable_which_no_text_repeats(server, monkeypatch):
    monkeypatch.setenv("GATEWAY_KEY", KEY)
    headers, _ = sent(server, "header.X-Api-Key=env:GATEWAY_KEY,header.x-team=a b")
    assert ("x-api-key", KEY) in headers
    assert ("x-team", "a b") in headers
    assert KEY not in scrub(f"error of {KEY}")
    headers, _ = sent(server, "header.authorization=Token env:GATEWAY_KEY")
    assert [value for name, value in headers if name == "authorization"] == [f"Token {KEY}"]


def test_a_header_from_a_variable_stands_for_the_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    name = "llm:m,url=https://gateway.example/v1,header.X-Api-Key=env:GATEWAY_KEY"
    with pytest.raises(CredentialsError, match="GATEWAY_KEY"):
        load_classifier(name)
    monkeypatch.setenv("GATEWAY_KEY", KEY)
    assert load_classifier(name)._client.headers["x-api-key"] == KEY


# -- Entra ID ----------------------------------------------------------------------------------------------------------


class AzureOpenAI(Writing):
    """The identity endpoint of Azure App Service, whose tokens end soon; and chat, which takes the newest one alone.

    Source: https://learn.microsoft.com/azure/app-service/overview-managed-identity#rest-endpoint-reference,
    https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle (v1, ``/openai/v1``)
    """

    def do_GET(self) -> None:  # noqa: N802
        asked = parse_qs(urlsplit(self.path).query)
        assert asked["resource"] == ["https://cognitiveservices.azure.com"]
        if not self.service.known:
            return self.send(400, b'{"statusCode": 400, "message": "None."}', "application/json")
        self.service.token = f"entra-token-number-{next(self.service.numbers)}"
        ends = str(int(time.time()) + self.service.lasts)
        token = {"access_token": self.service.token, "token_type": "Bearer", "expires_on": ends}
        body = json.dumps(token | {"resource": asked["resource"][0]}).encode()
        return self.send(200, body, "application/json")

    def do_POST(self) -> None:  # noqa: N802
        assert self.path == "/openai/v1/chat/completions"
        if self.headers["Authorization"] == f"Bearer {self.service.token}":
            return super().do_POST()
        self.rfile.read(int(self.headers["Content-Length"]))
        return self.send(401, b'{"error": {"message": "Access denied."}}', "application/json")


@pytest.fixture
def azure(tmp_path, monkeypatch):
    pytest.importorskip("azure.identity")
    certificate = loopback.write_certificate(tmp_path / "own.pem")
    service = SimpleNamespace(
        port=0, asked=[], numbers=itertools.count(), known=True, token="", lasts=60
    )
    with serving(service, AzureOpenAI, certificate):
        variables = {
            "SSL_CERT_FILE": str(certificate),
            "REQUESTS_CA_BUNDLE": str(certificate),
            "IDENTITY_ENDPOINT": f"https://127.0.0.1:{service.port}/msi/token",
            "IDENTITY_HEADER": "identity-header-of-this-app",
            "AZURE_TOKEN_CREDENTIALS": "ManagedIdentityCredential",
        }
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        yield service


def test_azure_openai_takes_tokens_of_entra_id_and_gets_a_new_one_before_it_ends(azure):
    url = f"https://127.0.0.1:{azure.port}/openai/v1"
    classifier = load_classifier(
        f"llm:my-deployment,prompt=doctor-nurse,repeats=1,key=entra,url={url}"
    )
    for place in range(3):
        classifier.ask([paint(0, place / 3)])
    tokens = [dict(headers)["Authorization"] for headers, _ in azure.asked]
    assert len(set(tokens)) == 3  # each ends within five minutes
    assert azure.token not in scrub(f"x {azure.token}")
    azure.asked.clear()
    azure.lasts = 3600
    classifier = load_classifier(
        f"llm:my-deployment,prompt=doctor-nurse,repeats=1,key=entra,url={url}"
    )
    for place in range(3):
        classifier.ask([paint(0, place / 3)])
    assert len({dict(headers)["Authorization"] for headers, _ in azure.asked}) == 1


def test_whom_entra_id_does_not_know_is_told_before_a_picture_is_sent(azure):
    azure.known = False
    with pytest.raises(CredentialsError, match="llm needs credentials in AZURE_TENANT_ID"):
        load_classifier("llm:my-deployment,key=entra,url=https://name.openai.azure.com/openai/v1")
    assert not azure.asked


def test_without_azure_identity_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "azure.identity", None)
    with pytest.raises(UsageError, match="needs azure-identity") as raised:
        load_classifier("llm:m,key=entra,url=https://name.openai.azure.com/openai/v1")
    assert "gslopes[azure]" in raised.value.hint
