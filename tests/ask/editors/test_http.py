"""``http:URL`` as an editor, against a strict server on this machine: what is sent, what is read, what is refused."""

import base64
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from email import message_from_bytes
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
from PIL import Image

from gslopes.ask.cache import AnswerCache
from gslopes.ask.client import Client
from gslopes.ask.editors import load_editor
from gslopes.ask.questions import Question
from gslopes.ask.retry import RetryPolicy
from gslopes.core.errors import (
    AnswerError,
    ConfigError,
    CredentialsError,
    GslopesError,
    Refused,
    ServiceError,
    Throttled,
    Unavailable,
)
from gslopes.faces.edit.protocol import Wish
from tests.loopback import QuietHandler, serving

TOKEN = "planted-token-0123456789"
WISH = Wish("gender", -2.0, "Make it softer.", draw=1, seed=7)


def encoded(kind: str = "PNG", seed: int = 0) -> bytes:
    pixels = np.random.default_rng(seed).integers(60, 200, (16, 20, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind)
    return file.getvalue()


def base(data: bytes) -> str:
    return base64.b64encode(data).decode()


@dataclass
class Sent:
    """One request as the server understood it: fields of the form or of JSON, parameters of the address, the file."""

    path: str
    parameters: dict[str, str]
    headers: dict[str, str]
    fields: Any = None
    file: bytes = b""
    part: str = ""


@dataclass
class Server:
    """``reply`` makes status, kind, body and headers of a request; by default the file that came, brighter."""

    port: int = 0
    requests: list[Sent] = field(default_factory=list)
    reply: Callable[[Sent], tuple[Any, ...]] = lambda sent: (200, "image/png", sent.file)
    fetched: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"


class Handler(QuietHandler):
    service: Server

    def do_POST(self) -> None:  # noqa: N802
        body = self.rfile.read(int(self.headers["content-length"]))
        parts = urlsplit(self.path)
        pairs = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        assert len(dict(pairs)) == len(pairs)
        sent = Sent(parts.path, dict(pairs), dict(self.headers))
        kind = self.headers["content-type"]
        if kind == "application/json":
            sent.fields = json.loads(body)
        elif kind.startswith("multipart/form-data"):
            sent.fields = {}
            for part in message_from_bytes(f"Content-Type: {kind}\n\n".encode() + body).walk():
                name = part.get_param("name", header="content-disposition")
                if part.get_filename():
                    assert part.get_content_type() in ("image/png", "image/jpeg")
                    sent.part, sent.file = str(name), part.get_payload(decode=True)
                elif name:
                    sent.fields[name] = part.get_payload(decode=True).decode()
        else:
            assert kind in ("image/png", "image/jpeg")
            sent.file = body
        self.service.requests.append(sent)
        status, kind, answer, *more = self.service.reply(sent)
        self.send(status, answer, kind, *more)

    def do_GET(self) -> None:  # noqa: N802
        self.service.fetched.append(self.path)
        if self.path.startswith("/moved"):
            self.send(302, b"", "text/plain", {"Location": "http://example.com/picture.png"})
            return
        there = self.path == "/made/1.png"
        self.send(200 if there else 404, encoded() if there else b"gone", "text/plain")


@pytest.fixture
def server():
    with serving(Server(), Handler) as running:
        yield running


def says(content: Any) -> Callable[[Sent], tuple[Any, ...]]:
    return lambda sent: (200, "application/json", json.dumps(content).encode())


def ask(server: Server, options: str = "", wish: Wish = WISH, picture: bytes = b"") -> Any:
    """The answer about one picture."""
    editor = load_editor(f"http:{server.address}/edit{options}").at(wish)
    (raw,) = editor.ask([picture or encoded()])
    return editor.parse(json.loads(json.dumps(raw)))


# -- what is sent


def test_json_holds_the_picture_and_numbers_as_numbers(server):
    server.reply = lambda sent: (200, "image/png", base64.b64decode(sent.fields["picture"]))
    for value in (-2.0, "Black", None):
        assert ask(server, wish=Wish("race", value)).picture == encoded()
        assert server.requests[-1].fields == {
            "picture": base(encoded()),
            "attribute": "race",
            "value": value,
        }
    assert server.requests[-1].path == "/edit"
    assert "Authorization" not in server.requests[-1].headers


def test_a_form_holds_the_file_and_fields_that_one_chooses(server):
    for kind in ("PNG", "JPEG"):
        picture = encoded(kind)
        assert ask(server, ",body=multipart", picture=picture).picture == picture
        assert server.requests[-1].part == "file"
        assert server.requests[-1].fields == {"attribute": "gender", "value": "-2.0"}
    ask(
        server,
        r",body=multipart,field=image,send=strength=by {value}\, or so/n={seed}-{draw}/mode=face",
    )
    assert server.requests[-1].part == "image"
    assert server.requests[-1].fields == {"strength": "by -2.0, or so", "n": "7-1", "mode": "face"}
    ask(server, ",body=multipart", Wish("gender", None))
    assert server.requests[-1].fields == {"attribute": "gender", "value": ""}


def test_a_raw_body_is_the_file_and_the_address_says_the_rest(server):
    assert ask(server, ",body=raw").picture == encoded()
    assert server.requests[-1].parameters == {"attribute": "gender", "value": "-2.0"}
    ask(server, "?amount={value}&text={text},body=raw", Wish("gender", 1.5, "a b&c=d/ü?"))
    assert server.requests[-1].parameters == {"amount": "1.5", "text": "a b&c=d/ü?"}
    ask(server, "?amount={value},body=raw,send=seed={seed}")
    assert server.requests[-1].parameters == {"amount": "-2.0", "seed": "7"}


def test_dots_lead_into_json(server):
    server.reply = says({"output": [base(encoded())]})
    ask(server, ",field=input.image,send=input.prompt={text}/input.seed={seed}/version=a1")
    assert server.requests[-1].fields == {
        "input": {"prompt": "Make it softer.", "seed": 7, "image": base(encoded())},
        "version": "a1",
    }


def test_it_is_told_words_if_there_is_a_place_for_them_or_a_file_of_them(server):
    def words(options: str) -> bool:
        return load_editor(f"http:{server.address}{options}").words

    assert [words(options) for options in ("", "/{text}", ",send=p={text}", ",prompt=gender")] == [
        False,
        True,
        True,
        True,
    ]
    ask(server, ",prompt=gender,body=multipart")
    assert server.requests[-1].fields["text"] == "Make it softer."
    with pytest.raises(ConfigError, match="sent nowhere"):
        load_editor(f"http:{server.address},prompt=gender,send=v={{value}}")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (",send=value", "cannot read 'value'"),
        (",send=v={valeu}", "cannot read '{valeu}'"),
        (",body=raw,field=image", "raw body has no field"),
        (",at=image[", "is not a JSONPath"),
        (",size=300", "keeps its own size"),
        (",boddy=raw", "Did you mean 'body'?"),
        ("?api_key=abc", "holds a key in its parameter api_key"),
    ],
)
def test_a_wrong_option_is_found_before_anything_is_sent(server, options, words):
    with pytest.raises(ConfigError) as raised:
        load_editor(f"http:{server.address}/edit{options}")
    assert words in str(raised.value)
    assert not server.requests


def test_the_name_has_the_wish_and_the_seed_only_if_it_is_sent(server):
    plain = load_editor(f"http:{server.address}/edit,takes=chip,size=256")
    assert (plain.takes, plain.size) == ("chip", 256)
    assert plain.at(Wish("gender", 2 / 3, seed=1)).name == f"{plain.name}@gender=0.6666666667"
    seeded = load_editor(f"http:{server.address}/{{seed}}")
    assert seeded.at(Wish("gender", None, "Keep it.", 2, 5)).name.endswith(
        "@gender=same,draw=2,text=Keep it.,seed=5"
    )


# -- what comes back


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ({"picture": base(encoded())}, ""),
        ({"images": [base(encoded())], "info": "seed 3", "ok": True}, ""),
        ([{"deep": {"er": f"data:image/png;base64,{base(encoded())}"}}], ""),
        (base(encoded()), ",at=$"),
        ({"a": base(encoded("JPEG")), "b": base(encoded())}, ",at=$.b"),
        ({"b": base(encoded()).replace("+", "-").replace("/", "_").rstrip("=")}, ""),
        ({"b": "\n".join([base(encoded())[:76], base(encoded())[76:]])}, ""),
        ({"url": "/made/1.png"}, ",at=$.url"),
        ({"output": ["made/1.png"]}, ",at=$.output[0]"),
    ],
)
def test_the_picture_is_found_wherever_it_is(server, content, options):
    server.reply = says(content)
    editor = load_editor(f"http:{server.address}/edit{options}").at(WISH)
    if "made" in str(content):
        content = (
            {"url": f"{server.address}/made/1.png", **content}
            if isinstance(content, dict)
            else content
        )
    (raw,) = editor.ask([encoded()])
    assert editor.parse(raw).picture == encoded()


def test_a_jpeg_and_the_version_of_the_model_come_through(server):
    server.reply = lambda sent: (200, "image/png", encoded("JPEG"))  # in PNG's name
    assert ask(server).picture == encoded("JPEG")
    server.reply = says({"version": "2026-05", "picture": base(encoded())})
    assert ask(server).version == "2026-05"


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ((200, "text/html", b"<html>Sign in</html>"), "The reply is of the kind text/html, not a picture."),
        ((200, "image/png", b""), "The reply is empty, not a picture."),
        ((200, "text/plain", b"done"), "The reply is of the kind text/plain, not a picture."),
        ((200, "image/gif", b"GIF89a...."), "The reply is of the kind image/gif, not a picture."),
        ((200, "", b"\0\1"), "of the kind that is not told"),
        ((200, "application/json", b'{"labels": {"a": 0.5}}'), 'holds 0 pictures: it is {"labels": {"a": number}}'),
        ((200, "application/json", json.dumps([base(encoded())] * 2).encode()), "holds 2 pictures: it is [text, … 2]"),
        ((200, "application/json", b'{"image": "aGVsbG8="}'), "holds 0 pictures"),
    ],
)  # fmt: skip
def test_what_is_no_picture_is_told_and_was_paid(server, reply, words):
    server.reply = lambda sent: reply
    with pytest.raises(AnswerError) as raised:
        ask(server)
    assert words in raised.value.message
    assert raised.value.billed


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://example.com/1.png", "The picture is at example.com"),
        ("https://127.0.0.1/1.png", "none is fetched from another host"),
        ("//me:secret-word@example.com/1.png", "The picture is at example.com, and"),
        ("file:///etc/passwd", "none is fetched from another host"),
        ("/none.png", "At the picture's address is of the kind text/plain, with status 404."),
        (7, "holds 0 pictures"),
    ],
)
def test_a_picture_is_fetched_from_the_same_host_alone(server, url, words):
    server.reply = says({"url": url})
    with pytest.raises(AnswerError) as raised:
        ask(server, ",at=$.url")
    assert words in raised.value.message
    assert "secret-word" not in str(raised.value)


def test_no_picture_follows_a_redirect(server):
    server.reply = says({"url": "/moved"})
    with pytest.raises(ServiceError, match="redirect"):
        ask(server, ",at=$.url")
    server.reply = lambda sent: (307, "", b"", {"Location": "http://example.com/"})
    with pytest.raises(ServiceError, match="redirect"):
        ask(server)


def test_refusals_are_answers(server):
    server.reply = says({"refused": "no faces, please", "version": "3"})
    answer = ask(server)
    assert (answer.status, answer.reason, answer.version) == ("refused", "no faces, please", "3")
    server.reply = lambda sent: (422, "text/plain", b"policy")
    with pytest.raises(Refused, match="policy"):
        ask(server)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (429, Throttled), (500, Unavailable), (503, Unavailable), (413, Refused), (401, CredentialsError),
        (403, CredentialsError), (400, ServiceError), (404, ServiceError),
    ],
)  # fmt: skip
def test_errors_are_by_kind_and_show_no_token(server, status, kind, monkeypatch):
    monkeypatch.setenv("TEAM_TOKEN", TOKEN)
    server.reply = lambda sent: (status, "application/json", f'{{"why": "key={TOKEN}"}}'.encode())
    with pytest.raises(kind) as raised:
        ask(server, ",token=TEAM_TOKEN")
    assert TOKEN not in str(raised.value)
    assert server.requests[0].headers["Authorization"] == f"Bearer {TOKEN}"


def test_a_form_that_lacks_a_field_is_told_which(server):
    detail = {"detail": [{"loc": ["body", "image"], "msg": "Field required"}]}
    server.reply = lambda sent: (422, "application/json", json.dumps(detail).encode())
    with pytest.raises(GslopesError, match="body=multipart,field=image"):
        ask(server)


# -- through the client


def test_pictures_are_paid_once_by_value_and_kept_as_they_came(server, tmp_path):
    counted = []

    def slow_at_first(sent: Sent) -> tuple[Any, ...]:
        counted.append(sent.fields["value"])
        if len(counted) == 1:
            return 429, "text/plain", b"later", {"Retry-After": "0"}
        return 200, "image/png", base64.b64decode(sent.fields["picture"])

    server.reply = slow_at_first
    pictures = [encoded(seed=seed) for seed in range(4)]
    editor = load_editor(f"http:{server.address}/edit,price=40")
    for _ in range(2):
        for value in (-2.0, 2.0):
            parts = []
            questions = [
                Question(str(n), lambda data=data: data) for n, data in enumerate(pictures)
            ]
            with AnswerCache(tmp_path) as cache:
                client = Client(
                    editor.at(Wish("gender", value)),
                    cache=cache,
                    retry=RetryPolicy(base_delay=0.01),
                )
                client.ask_parts([(0, questions)], parts.append)
            came = [answer.picture for _, answer in parts[0].answered()]
            assert came == pictures
    assert len(counted) == 9
    assert round(client.usage.spent, 6) == 0  # the second time
