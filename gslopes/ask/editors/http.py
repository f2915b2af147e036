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

from dataclasses import asdict, replace
from functools import partial
from typing import Any, Literal
from urllib.parse import quote, urljoin, urlsplit

from gslopes.ask.classifiers import picking, problems
from gslopes.ask.classifiers.http import PLACE, Endpoint, RequestOptions, filled
from gslopes.ask.classifiers.service import OnePictureService
from gslopes.ask.editors import CATALOGUE, Wished, is_picture, kept, picture_within
from gslopes.core import AnswerError, ConfigError, frozen, many

_PARTS = ("attribute", "value", "text", "seed", "draw")


@frozen
class HttpEditOptions(RequestOptions):
    """Fields of ``RequestOptions``, and what else to send, and where the answer is.

    takes, size, prompt: as of ``python.PythonOptions``.
    send: what is sent with it, ``name=template`` with slashes between them.
    at: JSONPath of the picture in the reply; empty: the only one in it.
    """

    send: str = ""
    at: str = ""
    takes: Literal["photo", "chip"] = "photo"
    size: int = 0
    prompt: str = ""

    def __post_init__(self) -> None:
        RequestOptions.__post_init__(self)
        odd = [item for item in self.send.split("/") if self.send and "=" not in item]
        odd += [f"{{{name}}}" for name in self.told if name not in _PARTS]
        if odd:
            raise ConfigError(
                f"http cannot read {odd[0]!r}.",
                f"Such as send=prompt={{text}}/seed={{seed}}; there are {', '.join(_PARTS)}.",
            )
        if self.prompt and self.told and "text" not in self.told:
            raise ConfigError(
                "The sentences of prompt are sent nowhere.", "Add send=prompt={text}."
            )

    @property
    def told(self) -> list[str]:
        """Of what the address and ``send`` have places for."""
        return PLACE.findall(f"{self.url} {self.send}")

    @property
    def fields(self) -> dict[str, str]:
        """What is sent with a picture, name to template."""
        send = self.send
        if not (send or self.told):
            send = "attribute={attribute}/value={value}" + "/text={text}" * bool(self.prompt)
        return dict(item.split("=", 1) for item in send.split("/") if item)


class HttpEditor(Wished, Endpoint, OnePictureService):
    """A ``PictureEditor`` behind an address; ``at`` a wish it is a ``records.Classifier``.

    Raises: ConfigError if the address is malformed or holds a key, or a token would travel without encryption.
    """

    Options = HttpEditOptions
    _answers_in = ("picture", "refused")
    LISTED = CATALOGUE

    def __init__(self, name: str, options: HttpEditOptions, setting: Any = None) -> None:
        super().__init__(name, options)
        self._take(options)
        self.words = bool(options.prompt) or "text" in options.told
        self.seeded = "seed" in options.told
        self.traits = replace(self.traits, pictures=True)

    def _answer(self, picture: bytes) -> object:
        wanted = asdict(self._wish)
        url = filled(self._url, wanted, partial(quote, safe=""))
        templates = self._options.fields
        fields = {name: filled(template, wanted) for name, template in templates.items()}
        reply = self._sent(picture, url, fields)
        if is_picture(reply.content):
            return kept(reply.content)
        try:
            body = self._content(reply)
        except ValueError:
            raise AnswerError(f"The reply is {_spoken(reply)}, not a picture.") from None
        version = str(problems.within(body, "version") or "")
        refused = problems.within(body, "refused")
        if problems.said(refused):
            return {"refused": str(refused), "version": version}
        return kept(self._picture(body, url), version)

    def _picture(self, body: Any, url: str) -> bytes:
        """The file of the one picture in a reply.  Raises: AnswerError."""
        nodes = picking.query(self._options.at or "$..*").find(body)
        texts = {node.path(): node.value for node in nodes if isinstance(node.value, str)}
        files = {path: file for path, text in texts.items() if (file := picture_within(text))}
        if self._options.at and len(texts) == 1 and not files:
            (address,) = texts.values()
            return self._fetched(urljoin(url, address), url)
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
