"""``http:URL`` as an editor: an address of yours that answers a photo and a value, or a sentence, with a photo.

The request is a POST of ``{"picture": "<base64 of a JPEG or PNG file>", "attribute": "gender", "value": -2.0}``. The
value is a number in the attribute's unit, the name of an end, or null: the picture without a change of it. The reply
is the picture's file as the body, PNG, JPEG or WebP, or JSON that holds it in base64. It has the size of what was sent.

    http:URL                                              as above; the only picture in the reply is taken
    http:URL,body=multipart,field=image                   the file as a part of a form, attribute and value as others
    http:https://host/edit?amount={value},body=raw        the file as the body, what is wished for in the address
    http:URL,field=input.image,send=input.prompt={text}/input.seed={seed},at=$.output[0]
    http:URL,prompt=FILE                                  sentences instead of values, as the field text

``send`` has fields with slashes between them, ``name=template``; dots lead into JSON. A template, and the address, may
hold ``{attribute}``, ``{value}``, ``{text}`` (the sentence: then it is an editor of words), ``{seed}`` and ``{draw}``
(how often the same was asked for before). A field that is only ``{value}`` is a number in JSON. Without any of these,
``attribute`` and ``value`` are sent, and ``text`` if there are sentences; with ``body=raw`` as parameters of the
address. No change is null in JSON, and nothing elsewhere.

``at`` is the JSONPath (RFC 9535) of the picture: base64, a ``data:`` address, or an address at the same host, from
which it is fetched. ``{"refused": "why"}`` and the status 422 refuse a picture; ``version`` in the reply names the
model. Other statuses, ``token=VARIABLE`` and ``env:VARIABLE`` are as of classifiers: gslopes list classifiers http.
"""

import base64
import re
from dataclasses import field as option
from dataclasses import replace
from typing import Any, Literal, cast
from urllib.parse import quote, urljoin, urlsplit

from gslopes.ask.classifiers import picking, problems
from gslopes.ask.classifiers.http import AddressOptions, Endpoint, file_part
from gslopes.ask.classifiers.service import OnePictureService
from gslopes.ask.editors import CATALOGUE, side_of
from gslopes.ask.editors.replies import answer_of, is_picture, kept, picture_within
from gslopes.ask.names import OPERATIONAL, canonical
from gslopes.core import frozen
from gslopes.core.errors import AnswerError, ConfigError
from gslopes.core.files import JsonObject, parse_json
from gslopes.core.records import Answer
from gslopes.core.text import many
from gslopes.faces.edit.protocol import Wish

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_PARTS = ("attribute", "value", "text", "seed", "draw")


@frozen
class HttpEditOptions(AddressOptions):
    """Fields of ``AddressOptions``, and how to ask and to read the answer.

    takes, size, prompt: as of ``python.PythonOptions``.
    body: ``json``: the picture's base64 under the key ``field``, ``picture`` unless it is given; ``multipart``: its
        file as the part ``field`` of a form, ``file`` unless it is given; ``raw``: the file.
    send: what is sent with it, ``name=template`` with slashes between them.
    at: JSONPath of the picture in the reply; empty: the only one in it.
    """

    body: Literal["json", "multipart", "raw"] = "json"
    field: str = ""
    send: str = ""
    at: str = ""
    takes: Literal["photo", "chip"] = "photo"
    size: int = 0
    prompt: str = option(default="", metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        AddressOptions.__post_init__(self)
        side_of(self.takes, self.size)
        if self.field and self.body == "raw":
            raise ConfigError("A raw body has no field.", "Leave it out, or give body=multipart.")
        if self.at:
            picking.query(self.at)
        items = self.send.split("/") if self.send else []
        odd = [item for item in items if "=" not in item]
        odd += [f"{{{name}}}" for name in self.told if name not in _PARTS]
        if odd:
            hint = f"Such as send=prompt={{text}}/seed={{seed}}; there are {', '.join(_PARTS)}."
            raise ConfigError(f"http cannot read {odd[0]!r}.", hint)
        if self.prompt and self.told and "text" not in self.told:
            raise ConfigError(
                "The sentences of prompt are sent nowhere.", "Add send=prompt={text}."
            )

    @property
    def told(self) -> list[str]:
        """Of what the address and ``send`` have places for."""
        return _PLACEHOLDER.findall(f"{self.url} {self.send}")

    @property
    def fields(self) -> dict[str, str]:
        """What is sent with a picture, name to template."""
        if self.told or self.send:
            return dict(item.split("=", 1) for item in self.send.split("/") if item)
        names = _PARTS[: 3 if self.prompt else 2]
        return {name: f"{{{name}}}" for name in names}


class HttpEditor(Endpoint, OnePictureService):
    """A ``PictureEditor`` behind an address; ``at`` a wish it is a ``records.Classifier``.

    Raises: ConfigError if the address is malformed or holds a key, or a token would travel without encryption.
    """

    Options = HttpEditOptions

    def __init__(self, name: str, options: HttpEditOptions, setting: Any = None) -> None:
        super().__init__(canonical("http", options), options)
        self.takes = options.takes
        self.size = side_of(options.takes, options.size)
        self.prompt = options.prompt
        self.words = bool(options.prompt) or "text" in options.told
        limits = options.applied_to(CATALOGUE["http"].limits)
        self.traits = replace(self.traits, limits=limits, pictures=True)
        self._answers_in = {"picture", "refused", *picking.first_name(options.at)}
        self._wish = Wish("")

    def at(self, wish: Wish) -> "HttpEditor":
        """Who is asked for it."""
        options = cast("HttpEditOptions", self._options)
        editor = HttpEditor("", options)
        editor.name = self.name + wish.key
        if "seed" in options.told:
            editor.name += f",seed={wish.seed}"
        editor._wish = wish
        return editor

    def parse(self, raw: Any) -> Answer:
        """As ``replies.answer_of``."""
        return answer_of(raw)

    def _answer(self, picture: bytes) -> object:
        url, sent = self._request(picture)
        reply = self._client.post(url, **sent)
        reply.raise_for_status()
        if is_picture(reply.content):
            return kept(reply.content)
        try:
            body = parse_json(reply.content)
        except ValueError:
            raise AnswerError(f"The reply is {_spoken(reply)}, not a picture.") from None
        facts = body if isinstance(body, dict) else {}
        if error := self._error_in(facts):
            raise error
        version = str(facts.get("version") or "")
        if problems.said(facts.get("refused")):
            return {"refused": str(facts["refused"]), "version": version}
        return kept(self._picture(body, url), version)

    def _request(self, picture: bytes) -> tuple[Any, dict[str, Any]]:
        """The address, and what httpx is given next to it."""
        from httpx import URL

        options = self._options
        fields = {name: self._filled(template) for name, template in options.fields.items()}
        url = _PLACEHOLDER.sub(lambda part: quote(self._text(part), safe=""), self._url)
        if options.body == "raw":
            return str(URL(url).copy_merge_params(fields)), file_part(picture, "")
        if options.body == "multipart":
            return url, {**file_part(picture, options.field or "file"), "data": fields}
        body: JsonObject = {}
        encoded = base64.b64encode(picture).decode("ascii")
        for name, value in [*fields.items(), (options.field or "picture", encoded)]:
            *folders, last = name.split(".")
            folder = body
            for inner in folders:
                folder = folder.setdefault(inner, {})
            folder[last] = value
        return url, {"json": body}

    def _filled(self, template: str) -> Any:
        """What a field is given: a number stays one."""
        if whole := _PLACEHOLDER.fullmatch(template):
            return getattr(self._wish, whole[1])
        return _PLACEHOLDER.sub(self._text, template)

    def _text(self, part: re.Match[str]) -> str:
        value = getattr(self._wish, part[1])
        return "" if value is None else str(value)

    def _picture(self, body: Any, url: str) -> bytes:
        """The file of the one picture in a reply.  Raises: AnswerError."""
        nodes = picking.query(self._options.at or "$..*").find(body)
        texts = {node.path(): node.value for node in nodes if isinstance(node.value, str)}
        files = {path: file for path, text in texts.items() if (file := picture_within(text))}
        if self._options.at and len(texts) == 1 and not files:
            files = {path: self._fetched(urljoin(url, text), url) for path, text in texts.items()}
        if len(files) == 1:
            return files.popitem()[1]
        path = next(iter(files), "$.image")
        raise AnswerError(
            f"The reply holds {many(len(files), 'picture')}: it is {picking.shape(body)}. Give at=PATH, such as {path}."
        )

    def _fetched(self, address: str, url: str) -> bytes:
        """The picture at an address that a reply names.  url: that was asked.  Raises: AnswerError."""
        if urlsplit(address)[:2] != urlsplit(url)[:2]:
            host = urlsplit(address).netloc.rpartition("@")[2]
            raise AnswerError(
                f"The picture is at {host}, and none is fetched from another host than the one asked."
            )
        reply = self._client.get(address)
        if is_picture(reply.content):
            return bytes(reply.content)
        raise AnswerError(
            f"At the picture's address is {_spoken(reply)}, with status {reply.status_code}."
        )


def _spoken(reply: Any) -> str:
    """What a body is that is no picture, and no JSON."""
    if not reply.content.strip():
        return "empty"
    return "of the kind " + (reply.headers.get("content-type") or "that is not told")
