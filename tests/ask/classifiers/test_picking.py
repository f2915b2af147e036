"""Endpoints with other protocols: real servers that take a form, a file or JSON, and answer as they please."""

import base64
import io
import json
import re
from dataclasses import dataclass, field
from email import message_from_bytes
from typing import Any

import pytest
from PIL import Image

from gslopes.ask.answers import check_answer
from gslopes.ask.classifiers import load_classifier
from gslopes.ask.classifiers.picking import shape
from gslopes.core.errors import AnswerError, ConfigError, Refused, ServiceError
from tests.loopback import QuietHandler, serving


@dataclass
class Endpoint:
    """Reads the picture in the form ``takes``, and answers with ``reply`` or, without one, with how bright it is."""

    takes: str = "multipart"
    part: str = "file"
    reply: Any = None
    port: int = 0
    kinds: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"http:http://127.0.0.1:{self.port}/predict"


class Handler(QuietHandler):
    service: Endpoint

    def do_POST(self) -> None:  # noqa: N802
        body, kind = (
            self.rfile.read(int(self.headers["content-length"])),
            self.headers["content-type"],
        )
        data = self.picture(body, kind)
        if data is None:  # as FastAPI answers a form without the part that its function takes
            detail = [
                {"type": "missing", "loc": ["body", self.service.part], "msg": "Field required"}
            ]
            return self.send(422, json.dumps({"detail": detail}).encode(), "application/json")
        bright = Image.open(io.BytesIO(data)).convert("L").resize((1, 1)).getpixel((0, 0)) / 255
        reply = self.service.reply or {"labels": {"bright": bright, "dark": 1 - bright}}
        return self.send(200, json.dumps(reply).encode(), "application/json")

    def picture(self, body: bytes, kind: str) -> bytes | None:
        self.service.kinds.append(kind.partition(";")[0])
        if self.service.takes == "raw":
            return body if kind.startswith("image/") else None
        if self.service.takes == "json":
            text = json.loads(body).get(self.service.part)
            return base64.b64decode(text, validate=True) if isinstance(text, str) else None
        form = message_from_bytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
        parts = form.get_payload() if form.is_multipart() else []
        named = {part.get_param("name", header="content-disposition"): part for part in parts}
        part = named.get(self.service.part)
        assert part is None or part.get_filename() in ("picture.png", "picture.jpeg")
        return part.get_payload(decode=True) if part else None


@pytest.fixture
def endpoint():
    with serving(Endpoint(), Handler) as server:
        yield server


def labels_of(name: str, *pictures: bytes) -> list[dict[str, float]]:
    classifier = load_classifier(name)
    raws = [raw for data in pictures for raw in classifier.ask([data])]
    return [
        dict(check_answer(classifier.parse(raw), numbers=classifier.traits.numbers).labels)
        for raw in raws
    ]


@pytest.mark.parametrize(
    ("takes", "part", "options", "kind"),
    [
        ("multipart", "file", "body=multipart", "multipart/form-data"),
        ("multipart", "image", "body=multipart,field=image", "multipart/form-data"),
        ("raw", "", "body=raw", "image/png"),
        ("json", "image", "field=image", "application/json"),
    ],
)
def test_the_picture_arrives_in_the_form_that_the_endpoint_takes(
    endpoint, picture, takes, part, options, kind
):
    endpoint.takes, endpoint.part = takes, part
    dark, bright = labels_of(
        f"{endpoint.name},{options},scores=$.labels", *map(picture, [(51,) * 3, (204,) * 3])
    )
    assert dark == {"bright": pytest.approx(0.2), "dark": pytest.approx(0.8)}
    assert bright["bright"] == pytest.approx(0.8)
    assert set(endpoint.kinds) == {kind}
    assert load_classifier(f"{endpoint.name},{options},scores=$.labels").batch == 1


CAT_DOG = {"cat": 0.75, "dog": 0.25}


@pytest.mark.parametrize(
    ("reply", "options"),
    [
        (CAT_DOG, "scores=$"),
        ({"result": {"scores": CAT_DOG}}, "scores=$.result.scores"),
        ([{"label": "cat", "score": 0.75}, {"label": "dog", "score": 0.25}], "scores=$[*]"),
        ({"found": [{"class": "cat", "confidence": 0.75}, {"class": "dog", "confidence": 0.25}]}, "scores=$.found[*]"),
        ({"tags": [{"Name": "dog", "Probability": 0.25}, {"Name": "cat", "Probability": 0.75}]}, "scores=$.tags"),
        ({"outputs": [[{"label": "cat", "score": "0.75"}, {"label": "dog", "score": "0.25"}]]}, "scores=$.outputs[0]"),
        ({"top": [["cat", 0.75], ["dog", 0.25]]}, "scores=$.top"),
        ({"labels": ["cat", "dog"], "scores": [0.75, 0.25]}, "labels=$.labels,scores=$.scores"),
        ({"hits": [{"a": "dog", "p": 0.25}, {"a": "cat", "p": 0.75}]}, "labels=$.hits[*].a,scores=$.hits[*].p"),
        ({"boxes": [{"tag": a, "score": p} for a, p in (("cat", .5), ("dog", .25), ("cat", .75))]}, "scores=$.boxes"),
        ({"a b": {"c,d": CAT_DOG}}, r"scores=$['a b']['c\,d']"),
    ],
)  # fmt: skip
def test_labels_and_scores_are_picked_from_any_reply_the_highest_first(
    endpoint, picture, reply, options
):
    endpoint.reply = reply
    (labels,) = labels_of(f"{endpoint.name},body=multipart,{options}", picture((9, 9, 9)))
    assert labels == CAT_DOG
    assert next(iter(labels)) == "cat"


@pytest.mark.parametrize(
    ("reply", "options", "labels"),
    [
        ({"predictions": []}, "scores=$.predictions[*]", {}),
        ({"predictions": []}, "labels=$.predictions[*].name,scores=$.predictions[*].p", {}),
        ({"labels": {}}, "scores=$.labels", {}),
        ({"classes": ["cat", "dog"]}, "labels=$.classes", {"cat": 1.0, "dog": 1.0}),
        ({"class": "cat"}, "labels=$.class", {"cat": 1.0}),
        ({"faces": [{"p": 0.25}, {"p": 0.75}]}, "scores=$.faces[*].p", {"p": 0.75}),
        ({"nsfw score": 0.25}, "scores=$['nsfw score']", {"nsfw score": 0.25}),
        ({"age": 34.5}, "scores=$.age,kind=number,unit=years", {"age": 34.5}),
        ({"age": 34.5}, "scores=$,kind=number,unit=years", {"age": 34.5}),
    ],
)
def test_an_empty_list_is_no_label_and_labels_alone_are_there(
    endpoint, picture, reply, options, labels
):
    endpoint.reply = reply
    assert labels_of(f"{endpoint.name},body=multipart,{options}", picture((9, 9, 9))) == [labels]


def test_a_caption_is_picked_too(endpoint, picture):
    endpoint.reply = {"data": {"text": "A woman on a bench."}}
    (labels,) = labels_of(
        f"{endpoint.name},body=multipart,kind=caption,labels=$.data.text", picture((9, 9, 9))
    )
    assert "bench" in " ".join(labels)


@pytest.mark.parametrize(
    ("reply", "options", "message"),
    [
        ({"predictions": [{"label": "cat", "score": 0.9}]}, "",
         """it is {"predictions": [{"label": text, "score": number}]}. It should .* Perhaps scores=$.predictions."""),
        ({"data": {"top 5": CAT_DOG}}, "", "Perhaps scores=$.data['top 5']."),
        ({"ok": True, "model": "v1"}, "", """it is {"ok": true, "model": text}. It should be .* Give scores=PATH"""),
        ({"result": {"labels": CAT_DOG}}, ",scores=$.results.labels",
         """nothing at $.results.labels: $ is {"result": {"labels": {"cat": number, "dog": number}}}."""
         " Perhaps scores=$.result.labels."),
        ({"result": None}, ",scores=$.result.labels", """nothing at $.result.labels: $.result is null."""),
        ({"a": [{"name": "cat", "p": 1}]}, ",scores=$.a", """has {"name": text, "p": number} where a label with its"""),
        ({"a": ["cat"], "b": [0.1, 0.2]}, ",labels=$.a,scores=$.b", "has 1 labels at $.a and 2 scores at $.b"),
        ({"a": {"cat": "much"}}, ",scores=$.a", "has text where a score should be"),
        ({"a": {"cat": True}}, ",scores=$.a", "has true where a score should be"),
        ({"a": {"cat": 93.1}}, ",scores=$.a", "percentages are divided by 100"),
    ],
)  # fmt: skip
def test_a_path_that_does_not_fit_is_an_error_that_shows_what_the_reply_holds(
    endpoint, picture, reply, options, message
):
    endpoint.reply = reply
    with pytest.raises(AnswerError, match=".*".join(map(re.escape, message.split(".*")))) as error:
        labels_of(f"{endpoint.name},body=multipart{options}", picture((9, 9, 9)))
    assert error.value.billed
    assert "v1" not in str(error.value).replace("/v1", "")  # nothing of the reply's texts


def test_a_part_of_another_name_stops_before_any_picture_counts_as_refused(endpoint, picture):
    classifier = load_classifier(f"{endpoint.name},body=multipart,field=image,scores=$.labels")
    with pytest.raises(
        ServiceError,
        match=r"422: its form has a field file: give body=multipart,field=file .*Field required",
    ):
        classifier.ask([picture((9, 9, 9))])
    assert not issubclass(ServiceError, Refused)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            "scores=predictions",
            r"'predictions' is not a JSONPath: expected '\$', found 'p'.* Write \$\.predictions",
        ),
        ("scores=$.a[", r"'\$\.a\[' is not a JSONPath: unbalanced brackets"),
        ("body=raw,field=file", "A raw body has no field.*body=multipart,field=file"),
        ("body=form", "one of json, raw, multipart"),
    ],
)
def test_options_that_do_not_fit_are_found_before_anything_is_sent(endpoint, options, message):
    with pytest.raises(ConfigError, match=message):
        load_classifier(f"{endpoint.name},{options}")
    assert endpoint.kinds == []


@pytest.mark.parametrize(
    ("reply", "path"),
    [
        ({"predictions": [[0.1, 0.7, 0.2]]}, "$.predictions"),
        ({"predictions": [[0.1, 0.7, 0.2]]}, "$.predictions[0]"),
        ({"predictions": [[0.1, 0.7, 0.2]]}, "$.predictions[*][*]"),
        ({"predictions": [0.1, 0.7, 0.2]}, "$.predictions[*]"),
        (
            {"outputs": [{"name": "scores", "shape": [1, 2], "data": [0.1, 0.7]}]},
            "$.outputs[0].data",
        ),
        ([0.1, 0.7, 0.2], "$"),
        ([[0.1, 0.7]], "$[0]"),
        ({"0": 0.1, "1": 0.7}, "$"),
        ({"scores": [{"0": 0.1, "1": 0.7, "2": 0.2}]}, "$.scores"),
    ],
)
def test_scores_without_names_are_refused_and_their_names_asked_for(endpoint, picture, reply, path):
    endpoint.reply = reply
    with pytest.raises(AnswerError, match=r"Scores need names\. Give both paths, such as labels="):
        labels_of(f"{endpoint.name},body=multipart,scores={path}", picture((9, 9, 9)))


def test_one_number_has_the_name_of_its_path_also_in_a_list(endpoint, picture):
    for reply, path in (({"nsfw": [0.25]}, "$.nsfw"), ({"nsfw": [0.25, 0.75]}, "$.nsfw[0]")):
        endpoint.reply = reply
        found = labels_of(f"{endpoint.name},body=multipart,scores={path}", picture((9, 9, 9)))
        assert found == [{"nsfw": 0.25}]


def test_a_large_reply_is_shown_in_short():
    assert shape({f"k{i}": i for i in range(9)}).endswith('"k5": number, …}')
    assert shape([[[[[[1]]]]]] * 3) == "[[[[[[number]]]]], … 3]"
    assert shape({"a": {"b": {"c": {"d": {"e": 1}}}}}) == '{"a": {"b": {"c": {"d": {…}}}}}'
    assert len(shape({"x" * 500: 1})) < 60


def test_try_shows_the_reply_and_the_path_that_makes_it_work(
    endpoint, gslopes, draw, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    photo = next(iter(sorted(draw(1).photos.glob("*.*"))))
    endpoint.reply = {"predictions": [{"class": "cat", "confidence": 0.9}]}
    shown = gslopes("try", f"{endpoint.name},body=multipart", photo)
    assert shown.code == 1
    assert '{"predictions": [{"class": text, "confidence": number}]}' in shown.out
    path = re.search(r"Perhaps (scores=\S+)\.", shown.out)[1]
    mended = gslopes("try", f"{endpoint.name},body=multipart,{path}", photo)
    assert (mended.code, "cat 0.9" in mended.out) == (0, True)
