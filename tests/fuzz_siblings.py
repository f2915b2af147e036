"""Targets of ``tests.fuzz`` in the sibling audits, and the readers that came with them."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

import gslopes
from gslopes.ask.classifiers import chat
from gslopes.ask.classifiers.chat import letters, probabilities, shares
from gslopes.ask.classifiers.model_file import read_labels
from gslopes.ask.classifiers.prompt import load_prompt
from gslopes.ask.croppers import load_cropper, vxm
from gslopes.captions.page import review
from gslopes.captions.stimuli.groups import read_groups
from gslopes.captions.stimuli.stages import read_stages
from gslopes.collect.census import read_answers as read_census_answers
from gslopes.contexts.measures.ratings import read_ratings
from gslopes.contexts.measures.typology import read_typology
from gslopes.contexts.stimuli.backgrounds import read_contexts
from gslopes.contexts.stimuli.people import read_reports, read_review
from gslopes.core.errors import GslopesError
from gslopes.crops.stimuli.people import read_people as read_crop_people
from gslopes.faces.find import KnownFinder
from gslopes.frame.conditions import Condition
from gslopes.slopes.method import PRESENCE
from tests.crops.vxm_writer import build

if TYPE_CHECKING:
    from tests.fuzz import Target

PEOPLE = b"id,file,person,gender,ethnicity,age\n001,a.jpg,p1,female,A,30\n002,b.jpg,p2,male,B,41\n"
PROMPT = b'name = "mine"\nkind = "choice"\nquestion = "Who is it?"\noptions = ["a nurse", "a chef", "neither"]\n'
TYPOLOGY = b'name = "mine"\nversion = "1"\n[clusters.masculine]\ntags = ["man"]\n'
TYPOLOGY += b'[clusters.feminine]\ntags = ["woman"]\n'
INSTANCES = {
    "images": [{"id": 1, "width": 10, "height": 20}],
    "categories": [{"id": 3, "name": "person"}],
    "annotations": [
        {"image_id": 1, "category_id": 3, "bbox": [1, 2, 3, 4], "area": 12, "iscrowd": 0}
    ],
}
MAN = {"object_id": 5, "names": ["man"], "synsets": ["man.n.01"]}
RELATION = {"predicate": "ON", "synsets": [], "subject": {"name": "man"}, "object": {"name": "hat"}}
GENOME = (
    [{"image_id": 1, "width": 10, "height": 20, "coco_id": None}],
    [{"image_id": 1, "objects": [MAN | {"x": 1, "y": 2, "w": 3, "h": 4}]}],
    [{"image_id": 1, "attributes": [MAN | {"attributes": ["tall"]}]}],
    [{"image_id": 1, "relationships": [RELATION]}],
)
HOSTILE = "A lazy man. <script>alert(1)</script>"
LETTERS = [{"token": "A", "top_logprobs": [{"token": "A", "logprob": -0.1}]}]


USAGE = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
CHOICE = {"index": 0, "message": {"role": "assistant", "content": "A"}, "finish_reason": "stop"}
CHATS = (
    {"model": "m", "choices": [CHOICE | {"logprobs": {"content": LETTERS}}], "usage": USAGE},
    {
        "choices": [{"message": {"content": [{"type": "text", "text": "A"}], "refusal": "no"}}],
        "usage": None,
    },
    {"error": {"message": "the model is overloaded", "type": "server_error", "code": 503}},
    {"promptFeedback": {"blockReason": "SAFETY"}, "choices": []},
)


class AllWords:
    """A WordNet that knows every name."""

    def known(self, name: str) -> bool:
        return bool(name)


def targets(folder: Path, target: type[Target]) -> list[Target]:
    """All readers; files that they need are made in the folder."""

    def written(name: str, reader: Callable[[Path], object]) -> Callable[[bytes], object]:
        def read(data: bytes) -> object:
            (folder / name).write_bytes(data)
            return reader(folder / name)

        return read

    for name in ("a.jpg", "b.jpg"):
        (folder / name).write_bytes(b"")
    (folder / "objects.json").write_text(json.dumps(GENOME[1]))

    def crop_people(path: Path) -> object:
        return read_crop_people(folder, path, ["gender"])

    def stage(path: Path) -> object:  # beside objects: image data holds no image without them
        return read_stages({"reference": [path, folder / "objects.json"]}, AllWords())  # type: ignore[arg-type]

    tagged = b"image,kind,word,x0,y0,x1,y1\n1,object,person,0,0,1,1\n1,attribute,tall,,,,\n"
    captions = {"images": [], "annotations": [{"image_id": 1, "caption": "A man."}]}
    results = [{"image_id": 1, "caption": "A man."}]
    files = (INSTANCES, captions, results, *GENOME)
    layers = (
        vxm.Layer(vxm.CONVOLUTION, np.ones((1, 3, 1, 1), "f4"), np.zeros(1, "f4"), 4, 1.0),
        vxm.Layer(vxm.POOL),
    )
    expected = (
        ("people of contexts", (PEOPLE,), written("people.csv", read_reports)),
        (
            "ratings",
            (b"context,rater,rating,coding\nkitchen,r1,3.5,correct\n",),
            written("r.csv", read_ratings),
        ),
        ("typology TOML", (TYPOLOGY,), written("typology.toml", read_typology)),
        (
            "typology CSV",
            (b"tag,cluster\nman,masculine\nwoman,feminine\n",),
            written("typology.csv", read_typology),
        ),
        (
            "contexts TOML",
            (b'[kitchen]\ntitle = "kitchen"\nrating = 3\n',),
            written("contexts.toml", read_contexts),
        ),
        (
            "review of cut-outs",
            (b"photo,decision\na.jpg,accept\n",),
            written("review.csv", read_review),
        ),
        ("people of crops", (PEOPLE,), written("crops.csv", crop_people)),
        (
            "recorded crops",
            (b'{"picture": "ab", "ratio": 1, "box": [0, 0, 10, 10]}\n',),
            written("crops-answers.jsonl", lambda path: load_cropper(f"replay:{path}")),
        ),
        ("vxm", (build(layers),), vxm.parse),
        (
            "captions JSON",
            tuple(json.dumps(file).encode() for file in files),
            written("stage.json", stage),
        ),
        (
            "captions CSV",
            (b"image,caption,source\n1,A man.,x\n", tagged),
            written("stage.csv", stage),
        ),
        ("captions audit", audited_stages(folder), lambda data: captions_audit(folder, data)),
        (
            "groups CSV",
            (b"image,gender\n1,female\n", b"id,bb_gender\n1,Female\n"),
            written("groups.csv", read_groups),
        ),
        (
            "review of cases",
            ((",".join(review.COLUMNS) + "\nx,harm,A,\n").encode(),),
            written("cases.csv", lambda path: review.read_answers(path, required=True)),
        ),
        (
            "review of the census",
            (b"photo,path,decision,gender\nab,a.jpg,accept,female\n",),
            written("census.csv", read_census_answers),
        ),
        (
            "landmarks CSV",
            (landmarks(),),
            written("faces.csv", lambda path: KnownFinder(path, folder)),
        ),
        ("labels file", (b"a\nb\nc\n",), written("labels.txt", read_labels)),
        ("prompt TOML", (PROMPT,), written("prompt.toml", lambda path: load_prompt(str(path)))),
        (
            "llm answers",
            (b'{"answer": "A"}', b'```json\n{"answer": "a nurse"}\n```', b"I'm sorry, I can't."),
            said,
        ),
        ("llm letters", (json.dumps(LETTERS).encode(),), spelt),
        ("chat bodies", tuple(json.dumps(file).encode() for file in CHATS), chat_body),
        (
            "conditions",
            (b"finding and abs(slope) > 5", b"decision == 'open' or not q < 0.05"),
            condition,
        ),
        (
            "presence",
            (b'{"limits": {"c": {"score": 0.5, "most": 3}}}',),
            lambda data: presence(folder, data),
        ),
    )
    return [target(name, corpus, read) for name, corpus, read in expected]


def audited_stages(folder: Path) -> tuple[bytes, ...]:
    """Labels with boxes, captions and groups of 24 images: a whole audit that runs every technique."""
    box = {"category_id": 3, "bbox": [1, 2, 6, 9], "area": 54, "iscrowd": 0}
    images = [{"id": i, "width": 10, "height": 20} for i in range(24)]
    labels = {
        "images": images,
        "categories": [{"id": 3, "name": "person"}, {"id": 1, "name": "dog"}],
    }
    labels["annotations"] = [
        box | {"image_id": i, "category_id": kind} for i in range(24) for kind in (3, 1)
    ]
    text = (
        "A boy with a dog.",
        "A lazy man. <script>alert(1)</script>",
        "Two women in red dresses hold a gun.",
        "",
        "The female sat on a bench.",
    )
    system = [{"image_id": i, "caption": text[i % 5]} for i in range(24)]
    groups = "image,gender,skin\n" + "".join(
        f"{i},{'fe' * (i % 2)}male,{'dl'[i % 3 // 2]}\n" for i in range(24)
    )
    files = json.dumps(labels).encode(), json.dumps(system).encode(), groups.encode()
    (folder / "audit/stages").mkdir(parents=True)
    for name, content in zip(STAGE_FILES, files, strict=True):
        (folder / "audit" / name).write_bytes(content)
    return files


STAGE_FILES = ("stages/human-labels.json", "stages/system-captions.json", "groups.csv")


def captions_audit(folder: Path, data: bytes) -> None:
    """One of the files is the mutated one, by how it begins; nothing of it runs on the pages."""
    home, run = folder / "audit", folder / "audit/run"
    name = STAGE_FILES[b"{[".find(data[:1])] if data[:1] else STAGE_FILES[2]
    good = (home / name).read_bytes()
    (home / name).write_bytes(data)
    try:
        audit = gslopes.audit_captions(home / "stages", run, groups=home / "groups.csv")
        assert b"<script>alert" not in audit.page.read_bytes() + audit.review.read_bytes()
    finally:
        (home / name).write_bytes(good)
        shutil.rmtree(run, ignore_errors=True)


def landmarks() -> bytes:
    from gslopes.faces.find import REQUIRED

    return (
        ",".join(REQUIRED) + "\na.jpg," + ",".join(map(str, range(1, len(REQUIRED)))) + "\n"
    ).encode()


def _prompt() -> object:
    from gslopes.ask.classifiers.prompt import Prompt

    return Prompt(
        name="mine", kind="choice", question="Who?", options=("a nurse", "a chef", "neither")
    )


def said(data: bytes) -> None:
    """Replies of a language model: one label at least, whatever they contain."""
    prompt, text = _prompt(), data.decode("utf-8", "replace")
    result = shares(prompt, (0, 1, 2), [{"text": text, "finish": "stop"}])  # type: ignore[arg-type]
    assert result
    assert all(0 < share <= 1 for share in result.values())


def chat_body(data: bytes) -> None:
    """The body of a chat server's reply; the client maps ValueError to an error of gslopes."""
    try:
        body = chat.read(data.decode("utf-8", "replace"))
    except ValueError:
        return
    chat.problem_of(body), chat.prompt_blocked(body)
    used = chat.tokens_used(body, 1000, 200)
    assert used is None or all(0 <= count < 10**9 for count in used)
    for choice in chat.choices_of(body):
        chat.refusal_in(choice, body)
        message = choice.get("message")
        text = chat.answer_text(message.get("content") if isinstance(message, dict) else None)
        for token in chat.answer_tokens(choice, text) or ():
            value = chat.log_probability(token.get("logprob"))
            assert value is None or value <= 0


def condition(data: bytes) -> None:
    """--fail-if: judged for a row, it is a truth."""
    row = {"finding": True, "slope": -5.0, "decision": "open", "q": math.nan}
    result = Condition(data.decode("utf-8", "replace"), row).rows(pd.DataFrame([row]))
    assert len(result) <= 1


def spelt(data: bytes) -> None:
    """Log-probabilities of a language model; the client maps what makes no sense to an error of gslopes."""
    prompt = _prompt()
    try:
        result = letters(json.loads(data), prompt.answers((0, 1, 2)))  # type: ignore[attr-defined]
    except (
        ValueError,
        TypeError,
        KeyError,
        RecursionError,
        OverflowError,
        AttributeError,
    ) as error:
        raise GslopesError("as the client says") from error
    reply = {"text": '{"answer": "A"}', "finish": "stop", "letters": result}
    assert probabilities(prompt, (0, 1, 2), [reply])  # type: ignore[arg-type]


def presence(folder: Path, data: bytes) -> None:
    """Which labels counted, as the page reads it."""
    from gslopes.slopes.page.answers import cut_of

    (folder / PRESENCE).write_bytes(data)
    cut = cut_of(folder, "c")
    assert 0 <= cut.score <= 1
    assert cut.most >= 0
