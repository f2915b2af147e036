"""Chat servers as they answer in the world, each mode a dialect; the true answer is always "doctor"; prompts."""

import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gslopes.ask.classifiers import chat, load_classifier
from gslopes.ask.classifiers.chat import REFUSED, UNUSABLE, letters, reading, shares
from gslopes.ask.classifiers.problems import PATTERNS, REPLIES
from gslopes.ask.classifiers.prompt import SHIPPED, Prompt, load_prompt
from gslopes.core.errors import (
    ClassifierError,
    ConfigError,
    CredentialsError,
    ServiceError,
    Throttled,
    Unavailable,
    Unfinished,
)
from tests.fake_provider import paint
from tests.loopback import QuietHandler, serving

Choice = dict[str, Any]
PICTURE = paint(0, 0.5)
REASONED = 'The coat is white. Perhaps {"answer": "NURSE"}? No: a stethoscope, so the other.'


def choice(content: Any, finish: Any = "stop", tokens: Any = None, **more: Any) -> Choice:
    message = {"role": "assistant", "content": content}
    return {"index": 0, "message": message, "finish_reason": finish, "logprobs": tokens, **more}


def refusing(value: Any, text: str) -> Choice:
    refusal = choice(text, native_finish_reason=value, stop_reason=value, error=value)
    refusal["message"]["refusal"] = value
    return refusal


def token(text: str, tops: Any = ()) -> dict[str, Any]:
    return {"token": text, "logprob": -0.01, "top_logprobs": tops}


def tops(likely: str, other: str) -> list[dict[str, Any]]:
    return [{"token": likely, "logprob": -0.05}, {"token": other, "logprob": -3.0}]


def spelled(letter: str, alternatives: Any) -> list[dict[str, Any]]:
    return [*map(token, ('{"', "answer", '":', ' "')), token(letter, alternatives), token('"}')]


def final(right: str, wrong: str) -> list[dict[str, Any]]:
    return spelled(right, tops(right, wrong))


def streamed(letter: str, alternatives: Any, ending: str = "\n") -> str:
    """The same answer as an event stream, which nobody asked for; the last chunks have no text."""
    deltas = [choice for token in spelled(letter, alternatives) for choice in [
        {"index": 0, "delta": {"content": token["token"]}, "logprobs": {"content": [token]}}
    ]]  # fmt: skip
    chunks = [
        {"choices": [{"index": 0, "delta": {"role": "assistant"}, "finish_reason": None}]},
        *({"choices": [delta]} for delta in deltas),
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 900, "completion_tokens": 20}},
    ]
    lines = [": ping", *("data: " + json.dumps({"model": "m", **chunk}) for chunk in chunks)]
    return ending.join(line + ending for line in [*lines, "data: [DONE]"])


def draft(wrong: str, right: str) -> list[dict[str, Any]]:
    return spelled(wrong, tops(wrong, right))


def js(letter: str) -> str:
    return json.dumps({"answer": letter})


# Each makes one choice of the letters of doctor and nurse.
CHOICES: dict[str, Callable[[str, str], Choice]] = {
    # what the answer is packed in
    "think": lambda r, w: choice(f"<think>\n{REASONED.replace('NURSE', w)}\n</think>\n\n{js(r)}"),
    "think-unopened": lambda r, w: choice(f"{REASONED.replace('NURSE', w)}</think>{js(r)}"),
    "think-brackets": lambda r, w: choice(f"[THINK]{js(w)}[/THINK]{js(r)}"),
    "fence": lambda r, w: choice(f"```json\n{js(r)}\n```"),
    "parts": lambda r, w: choice(
        [{"type": "text", "text": js(r)[:5]}, {"type": "text", "text": js(r)[5:]}]
    ),
    "parts-thinking": lambda r, w: choice(
        [
            {"type": "thinking", "thinking": [{"type": "text", "text": js(w)}]},
            {"type": "text", "text": js(r)},
        ]
    ),
    "channel": lambda r, w: choice(
        f"<|channel|>analysis<|message|>{js(w)}<|end|><|channel|>final<|message|>{js(r)}"
    ),
    "answer-tag": lambda r, w: choice(f"<answer>{js(r)}</answer>"),
    "end-token": lambda r, w: choice(f"{js(r)}<|im_end|>"),
    # log-probabilities
    "lpok": lambda r, w: choice(js(r), tokens={"content": final(r, w)}),
    "lpthink": lambda r, w: choice(
        js(r),
        tokens={
            "content": [
                token("<think>"),
                *draft(w, r),
                token("? No."),
                token("</think>"),
                *final(r, w),
            ]
        },
    ),
    "lpthink-bare": lambda r, w: choice(
        js(r), tokens={"content": [*draft(w, r), token("\n\n"), *final(r, w)]}
    ),
    "lpthink-content": lambda r, w: choice(
        f"<think>{js(w)}</think>{js(r)}",
        tokens={"content": [token("<think>"), *draft(w, r), token("</think>"), *final(r, w)]},
    ),
    "lpfence": lambda r, w: choice(
        f"```json\n{js(r)}\n```",
        tokens={"content": [token("```"), token("json\n"), *final(r, w), token("\n```")]},
    ),
    "lptail": lambda r, w: choice(js(r), tokens={"content": [*final(r, w), token("<|im_end|>")]}),
    "lpsigns": lambda r, w: choice(
        js(r), tokens={"content": [token('{"answer":'), token('\u2581"'), *final(r, w)[4:]]}
    ),
    "lpholes": lambda r, w: choice(
        js(r), tokens={"content": spelled(r, [None, {"token": w}, {"logprob": -1.0}, *tops(r, w)])}
    ),
    "lpwild": lambda r, w: choice(
        js(r),
        tokens={
            "content": spelled(
                r, [{"token": w, "logprob": 5.0}, {"token": w, "logprob": "no"}, *tops(r, w)]
            )
        },
    ),
    # log-probabilities that cannot be: repeats
    "lpnull": lambda r, w: choice(js(r), tokens={"content": spelled(r, None)}),
    "lpempty": lambda r, w: choice(js(r), tokens={"content": []}),
    "lpmissing": lambda r, w: choice(js(r), tokens={"content": None}),
    "lplist": lambda r, w: choice(js(r), tokens=[1, 2]),
    "lpmerged": lambda r, w: choice(
        js(r), tokens={"content": [token('{"answer": "'), {"token": f'{r}"}}'}]}
    ),
    # two views that differ
    "lpother": lambda r, w: choice(js(r), tokens={"content": draft(w, r)}),
    "lpshort": lambda r, w: choice(js(r), tokens={"content": final(r, w)[:3]}),
    "lpafter": lambda r, w: choice(js(r), tokens={"content": [*final(r, w), *draft(w, r)]}),
    # nothing is refused
    "refusal-null": lambda r, w: refusing(None, js(r)),
    "refusal-false": lambda r, w: refusing(False, js(r)),
    "refusal-empty": lambda r, w: refusing("", js(r)),
    "refusal-none": lambda r, w: refusing("none", js(r)),
    # refusals
    "safety": lambda r, w: choice(None, "SAFETY"),
    "filtered": lambda r, w: choice("", "content_filter"),
    "refusal": lambda r, w: choice("", "refusal"),
    "native": lambda r, w: choice(None, "stop", native_finish_reason="content_filter"),
    # no answer at all
    "length": lambda r, w: choice("", "length", reasoning_content=REASONED),
    "length-thinking": lambda r, w: choice(f"<think>{REASONED}", "length"),
    "empty": lambda r, w: choice(""),
    "prose": lambda r, w: choice("It is hard to say."),
    "unclosed": lambda r, w: choice(f"<think>{js(r)}"),
}

# A whole reply: status, content type, body.
ERRORS: dict[str, tuple[int, Any]] = {
    "error-429": (200, {"error": {"code": 429, "message": "slow down"}}),
    "error-quota-name": (200, {"error": {"status": "RESOURCE_EXHAUSTED", "message": "slow down"}}),
    "error-choice": (
        200,
        {"choices": [{"error": {"code": 502, "message": "upstream"}, "finish_reason": "error"}]},
    ),
    "error-text": (200, {"error": "internal error"}),
    "error-object": (200, {"object": "error", "message": "overloaded", "code": 503}),
    "error-detail": (200, {"detail": "busy"}),
    "html-502": (200, "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"),
    "html": (200, "<!doctype html><title>Welcome</title>"),
    "nothing": (200, ""),
    "no-choices": (200, {"choices": []}),
    "error-401": (200, {"error": {"code": "invalid_api_key", "message": "no"}}),
    "error-404": (200, {"error": {"code": 404, "message": "no such model"}}),
    "error-402": (200, {"error": {"code": "insufficient_quota", "message": "pay"}}),
    "blocked": (200, {"choices": [], "promptFeedback": {"blockReason": "SAFETY"}}),
    "policy": (
        200,
        {"error": {"code": "content_policy_violation", "message": "the picture is not allowed"}},
    ),
}


def entry(name: str) -> dict[str, Any]:
    return {
        "type": "extra_forbidden",
        "loc": ["body", name],
        "msg": "Extra inputs are not permitted",
    }


# The words of a server that does not take a parameter: the parameters, the status, the body.
REJECTIONS: dict[str, tuple[set[str], int, Callable[[str], Any]]] = {
    "mistral422": (
        {"seed", "logprobs", "top_logprobs"},
        422,
        lambda name: {"object": "error", "message": {"detail": [entry(name)]}, "param": None},
    ),
    "paramtext": (
        {"response_format"},
        400,
        lambda name: {"error": {"message": f"'{name}.type' must be 'text'"}},
    ),
    "fastapi": ({"seed", "logprobs"}, 422, lambda name: {"detail": [entry(name)]}),
    "detail-text": ({"seed"}, 400, lambda name: {"detail": f"Unknown field: {name}"}),
    "message-text": (
        {"response_format"},
        422,
        lambda name: {"message": f"{name} is not supported"},
    ),
    "errors-list": (
        {"temperature"},
        400,
        lambda name: {"errors": [{"message": f"{name}: unsupported"}]},
    ),
    "error-string": (
        {"top_logprobs", "logprobs"},
        400,
        lambda name: {"error": f"Property {name} is not allowed"},
    ),
    "plain": ({"max_tokens"}, 400, lambda name: f"unexpected keyword {name}"),
    "inside-200": (
        {"seed"},
        200,
        lambda name: {"error": {"code": 400, "message": f"{name} is not supported"}},
    ),
}


class Server:
    port: int
    asked: list[dict[str, Any]]


class Handler(QuietHandler):
    service: Server

    def do_POST(self) -> None:  # noqa: N802
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.service.asked.append(asked)
        status, body = reply(self.path.split("/")[1], asked)
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        kind = (
            "text/html"
            if data.startswith(b"<")
            else "text/plain"
            if isinstance(body, str)
            else "application/json"
        )
        self.send(status, data, kind)


def reply(mode: str, asked: dict[str, Any]) -> tuple[int, Any]:
    if mode in ERRORS:
        return ERRORS[mode]
    if mode == "unsaid":
        return 422, {
            "detail": [{"loc": ["body", "messages", 0], "msg": "pictures are not supported"}]
        }
    text = next(part["text"] for part in asked["messages"][-1]["content"] if part["type"] == "text")
    letters = {option: letter for letter, option in re.findall(r"(?m)^([A-T])\. (.+)$", text)}
    right, wrong = letters["doctor"], letters["nurse"]
    if mode.startswith("stream"):
        end = "\r\n" if mode == "stream-crlf" else "\n"
        return 200, streamed(right, tops(right, wrong), end)
    if mode in REJECTIONS:
        names, status, body = REJECTIONS[mode]
        if bad := sorted(names & set(asked)):
            return status, body(bad[0])
        return 200, {"model": "m", "choices": [choice(js(right))]}
    blocked = {
        "promptFeedback": {"blockReason": "BLOCK_REASON_UNSPECIFIED"},
        "error": None,
        "errors": [],
    }
    usage = {"prompt_tokens": 900, "completion_tokens": 20, "total_tokens": 920}
    return 200, {
        "id": "x",
        "model": "m",
        "choices": [CHOICES[mode](right, wrong)],
        "usage": usage,
        **blocked,
    }


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(Server(), Handler) as fake:
        yield fake


class Asker:
    """One classifier at a mode of the server, and how often that was asked."""

    def __init__(self, server: Server, mode: str) -> None:
        server.asked = []
        self.server = server
        url = f"http://127.0.0.1:{server.port}/{mode}/v1"
        self.classifier = load_classifier(
            f"llm:m,prompt=doctor-nurse,url={url},repeats=2,public=yes"
        )

    @property
    def calls(self) -> int:
        return len(self.server.asked)

    def scores(self, picture: bytes = PICTURE) -> dict[str, float]:
        for _ in range(20):
            (raw,) = self.classifier.ask([picture])
            if not isinstance(raw, Unfinished):
                return dict(self.classifier.parse(json.loads(json.dumps(raw))).labels)
        raise AssertionError("it never ends")

    def ask_nine(self) -> None:
        for place in range(9):
            self.scores(paint(0, place / 10))


PERMITTED = [mode for mode in CHOICES if mode.startswith("refusal-")]
LIKELY = pytest.approx(0.9503, abs=1e-3)  # of tops(), normalised
PACKED = list(CHOICES)[: list(CHOICES).index("lpok")]
WITH_TOKENS = list(CHOICES)[list(CHOICES).index("lpok") : list(CHOICES).index("lpnull")]
WITHOUT = list(CHOICES)[list(CHOICES).index("lpnull") : list(CHOICES).index("lpother")]
DIFFERENT = ["lpother", "lpshort", "lpafter"]
REFUSING = list(CHOICES)[list(CHOICES).index("safety") : list(CHOICES).index("length")]


@pytest.mark.parametrize("mode", PACKED)
def test_an_answer_is_found_in_its_package(server, mode):
    assert Asker(server, mode).scores() == {"doctor": 1.0}


@pytest.mark.parametrize("mode", WITH_TOKENS)
def test_only_the_tokens_of_the_content_count(server, mode):
    asker = Asker(server, mode)
    assert asker.scores() == {"doctor": LIKELY, "nurse": pytest.approx(0.0497, abs=1e-3)}
    assert asker.calls == 1


@pytest.mark.parametrize("mode", PERMITTED)
def test_a_refusal_that_says_no_is_none(server, mode):
    assert Asker(server, mode).scores() == {"doctor": 1.0}


@pytest.mark.parametrize("mode", ["stream", "stream-crlf"])
def test_an_event_stream_is_joined_also_its_tokens(server, mode):
    asker = Asker(server, mode)
    assert asker.scores()["doctor"] == LIKELY
    assert asker.calls == 1


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('data: {"error": {"code": 429, "message": "slow down"}}\n\n', Throttled),
        ('event: message_start\ndata: {"type": "message_start", "message": {}}\n\n', ServiceError),
    ],
)
def test_an_event_stream_of_another_form_is_told_by_name(server, monkeypatch, text, error):
    monkeypatch.setitem(ERRORS, "other-stream", (200, text))
    with pytest.raises(error, match=r"slow down|event stream of another form"):
        Asker(server, "other-stream").scores()


def asked_for_a_salary(server, monkeypatch, text: str) -> Any:
    """A classifier, each of whose replies is this text."""
    monkeypatch.setitem(ERRORS, "salary", (200, {"model": "m", "choices": [choice(text)]}))
    url = f"http://127.0.0.1:{server.port}/salary/v1"
    return load_classifier(f"llm:m,prompt=salary,url={url},repeats=1,public=yes")


@pytest.mark.parametrize(
    ("text", "salary"),
    [("41300", 41300), ("About $5,000 a month.", 60000), ('{"answer": "50-60k"}', 55000)],
)
def test_a_number_is_read_in_the_unit_that_was_asked_for(server, monkeypatch, text, salary):
    classifier = asked_for_a_salary(server, monkeypatch, text)
    (raw,) = classifier.ask([PICTURE])
    assert dict(classifier.parse(raw).labels)["salary (USD a year)"] == salary


def test_the_hint_says_which_number_would_count(server, monkeypatch):
    classifier = asked_for_a_salary(server, monkeypatch, "€62,000")
    message = (
        r"8 of the first 8 replies of m hold no answer: such as '€62,000'\. "
        r"One number of USD a year counts, from 1,000 to 10,000,000: change the prompt\."
    )
    for place in range(7):
        classifier.ask([paint(0, place / 10)])
    with pytest.raises(ServiceError, match=message):
        classifier.ask([PICTURE])


@pytest.mark.parametrize("mode", DIFFERENT)
def test_two_views_of_a_reply_that_differ_are_no_answer(server, mode):
    assert Asker(server, mode).scores() == {UNUSABLE: 1.0}


@pytest.mark.parametrize("mode", WITHOUT)
def test_without_log_probabilities_answers_are_repeated(server, mode):
    asker = Asker(server, mode)
    assert asker.scores() == {"doctor": 1.0}
    assert asker.calls == 2


@pytest.mark.parametrize("mode", [*REFUSING, "blocked", "policy"])
def test_a_refusal_in_any_dialect_is_one_request(server, mode):
    asker = Asker(server, mode)
    assert asker.scores() == {REFUSED: 1.0}
    assert asker.calls == 1


@pytest.mark.parametrize("mode", ["length", "length-thinking"])
def test_a_budget_of_tokens_that_is_spent_on_thinking_stops_the_audit_and_says_why(server, mode):
    asker = Asker(server, mode)
    with pytest.raises(ServiceError, match="max_tokens=4000 was reached first") as raised:
        asker.ask_nine()
    assert "max_tokens=16000" in raised.value.hint
    assert raised.value.billed
    assert asker.calls == 2  # with 200 tokens, and with enough of them


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        ("empty", "is empty"),
        ("prose", "hard to say"),
        ("unclosed", "is empty"),
        ("lpother", "spell another text"),
    ],
)
def test_replies_without_an_answer_stop_the_audit_after_the_first_few(server, mode, why):
    asker = Asker(server, mode)
    with pytest.raises(ServiceError, match=why):
        asker.ask_nine()
    assert asker.calls == 8


@pytest.mark.parametrize("mode", REJECTIONS)
def test_a_parameter_that_is_not_taken_is_left_out_wherever_the_server_names_it(server, mode):
    asker = Asker(server, mode)
    assert asker.scores() == {"doctor": 1.0}
    names = {"logprobs" if name == "top_logprobs" else name for name in REJECTIONS[mode][0]}
    assert len(asker.classifier.notes) == len(names)


def test_a_rejection_that_names_no_parameter_is_shown(server):
    with pytest.raises(ServiceError, match="pictures are not supported"):
        Asker(server, "unsaid").scores()


@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        *((mode, Throttled) for mode in ("error-429", "error-quota-name")),
        *(
            (mode, Unavailable)
            for mode in ("error-choice", "error-text", "error-object", "error-detail")
        ),
        *((mode, Unavailable) for mode in ("html-502", "html", "nothing", "no-choices")),
        ("error-401", CredentialsError),
        *((mode, ServiceError) for mode in ("error-404", "error-402")),
    ],
)
def test_an_error_within_a_good_status_is_read_like_the_status_that_it_names(server, mode, kind):
    with pytest.raises(kind) as raised:
        Asker(server, mode).scores()
    assert type(raised.value) is kind


def test_a_fault_of_our_own_parsing_is_paid_once_and_never_retried(server, monkeypatch):
    monkeypatch.setattr("gslopes.ask.classifiers.chat.answer_text", lambda content: content["none"])
    asker = Asker(server, "lpok")
    with pytest.raises(ClassifierError, match="is not understood") as raised:
        asker.scores()
    assert not isinstance(raised.value, Unavailable)


@pytest.mark.parametrize(
    ("reported", "counted"),
    [
        *(
            ({"prompt_tokens": p, "completion_tokens": c}, None)
            for p, c in ((-1e9, 4.0), (4, -1), (9, "9"), (9, True))
        ),
        *(
            (reported, None)
            for reported in (None, {}, {"completion_tokens": float("nan")}, {"prompt_tokens": 140})
        ),
        *(
            ({"prompt_tokens": p, "completion_tokens": 40}, 40)
            for p in (0, 1, 140, 10**7, 10**400, -5, None, "9")
        ),
        *(
            ({"completion_tokens": c}, n)
            for c, n in ((0, 3), (1, 3), (3, 3), (199, 199), (201, 200), (10**400, 200))
        ),
    ],
)
def test_a_report_of_tokens_counts_between_what_was_sent_and_what_was_asked_for(reported, counted):
    body = {"usage": reported, "choices": [choice('{"answer": "doctor"}')]}
    assert chat.tokens_used(body, 1200, 200) == (counted and (1200, counted))


# -- the words of errors -----------------------------------------------------------------------------------------------


def error(code: str | None = None, message: str = "no", param: str | None = None) -> dict[str, Any]:
    return {"message": message, "code": code, "param": param}


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (429, "insufficient_quota", "service"),
        (429, "rate", "throttled"),
        (400, "invalid_image_format", "refused"),
    ],
)
def test_status_and_code_say_what_it_is(status, code, kind):
    problem = chat.problem_of({"error": error(code)}, status)
    assert problem is not None
    assert (problem[0], chat.policy_in(problem[2])) == (kind, "")


@pytest.mark.parametrize("name", SHIPPED)
def test_every_prompt_that_ships_is_one(name):
    prompt = load_prompt(name)
    order = prompt.order("a photo", 0)
    assert prompt.name == name
    assert all(option in prompt.text(order) for option in prompt.options)
    assert prompt.schema(order)["required"]


def write(folder, text: str) -> str:
    (folder / "prompt.toml").write_text(text)
    return str(folder / "prompt.toml")


def test_a_users_file_and_its_list_beside_it(tmp_path):
    (tmp_path / "list.txt").write_text("nurse\nsurgeon\n")
    name = write(
        tmp_path, 'name = "mine"\nkind = "choice"\nquestion = "Who?"\noptions_list = "list.txt"\n'
    )
    assert load_prompt(name).options == ("nurse", "surgeon")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('name = "m"\nkind = "choice"\nquestion = "Who?"\noptions = ["one"]', "two options"),
        ('name = "m"\nkind = "choice"\nquestion = "Who?"\noptions = ["one", "One "]', "twice"),
        (
            'name = "m"\nkind = "caption"\nquestion = "Who?"\noptions = ["one", "two"]',
            "not a choice",
        ),
        ('name = "m"\nkind = "choice"\nquestion = " "\noptions = ["one", "two"]', "no question"),
        ('name = "m"\nkind = "guess"\nquestion = "Who?"', "kind"),
        ('name = "m"\nkind = "choice"\nqestion = "Who?"', "unknown key 'qestion'"),
        (
            'name = "m"\nkind = "choice"\nquestion = "?"\noptions = ["a", "b"]\noptions_list = "traits"',
            "both options",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path, text, said):
    with pytest.raises(ConfigError, match=said):
        load_prompt(write(tmp_path, text))


def test_the_order_depends_on_the_photo_and_the_seed_alone():
    prompt = load_prompt("occupation")
    assert prompt.order("one", 0) == load_prompt("occupation").order("one", 0)
    assert len({prompt.order("one", 0), prompt.order("other", 0), prompt.order("one", 1)}) == 3
    assert sorted(prompt.order("one", 0)) == list(range(len(prompt.options)))


def test_each_option_stands_first_about_equally_often():
    prompt = load_prompt("doctor-nurse")
    first = [prompt.order(f"photo {number}", 0)[0] for number in range(600)]
    assert all(160 < first.count(place) < 240 for place in range(3))


def test_the_digest_is_of_what_is_sent(tmp_path):
    listed = load_prompt("trait")
    plain = Prompt(listed.name, "choice", listed.question, listed.system, listed.options)
    assert plain.digest == listed.digest
    assert (
        Prompt(listed.name, "choice", "Other?", listed.system, listed.options).digest
        != listed.digest
    )


# -- llm reply ---------------------------------------------------------------------------------------------------------


PROMPT, ORDER = load_prompt("doctor-nurse"), (1, 0, 2)  # A. nurse, B. doctor, C. cannot tell


def said(text: str, **others: object) -> dict[str, object]:
    return {"text": text, "refusal": None, "finish": "stop", **others}


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": "A"}',
        '```json\n{"answer": "a"}\n```',
        '{"answer": "nurse"}',
        "A",
        "a.",
        "Nurse",
        "A. nurse",
        "A) nurse",
        *(
            '"a"',
            "“A”",
            "(a)",
            "[A]",
            "**A**",
            "`a`",
            " A ",
            "A)",
            "a:",
            "\uff21",
            "\u2581A",
            "<a>",
            "‘nurse’",
            "NURSE.",
        ),
        *(
            "Option A",
            "option (a)",
            "The answer is A.",
            "Answer: a",
            "The correct option is (A)",
            "My answer: nurse",
        ),
        *(
            "(A) nurse",
            "a - Nurse",
            "A: nurse.",
            "[a] nurse",
            "Choice A. nurse",
            '["A"]',
            '{"answer": ["a"]}',
        ),
        *(
            '{"answer": "(a)"}',
            '{"answer": " Option A "}',
            '{"answer": "\\"A\\""}',
            '{"answer": "A) nurse"}',
        ),
    ],
)
def test_what_means_the_option_is_the_option(text):
    assert reading(PROMPT, ORDER, said(text)) == ("nurse",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"answer": "D"}',
        '{"answer": 3}',
        "[]",
        '{"label": "A"}',
        "A or B",
        "It is a nurse",
        '{"answer": "A"} ok',
        *(
            "A nurse or a doctor",
            "B. nurse",
            "not A",
            "A, B",
            "AB",
            "Option D",
            "nurses",
            "a nurse?!x",
            '["A", "B"]',
            "()",
        ),
    ],
)
def test_what_is_not_the_form_that_was_asked_for_is_unusable(text):
    assert reading(PROMPT, ORDER, said(text)) == (UNUSABLE,)


@pytest.mark.parametrize(
    "reply",
    [
        said("I'm sorry, I can't help with that."),
        said("I cannot determine a person's occupation."),
        said("", refusal="I can't help."),
        said('{"answer": "A"}', finish="content_filter"),
        {"refusal": "content policy"},
    ],
)
def test_refusals_are_told_apart(reply):
    assert reading(PROMPT, ORDER, reply) == (REFUSED,)


def test_shares_count_every_reply():
    replies = [said("A"), said("B"), said("A"), said("hm")]
    assert shares(PROMPT, ORDER, replies) == {"nurse": 0.5, "doctor": 0.25, UNUSABLE: 0.25}


def test_labels_and_captions():
    labels, caption = load_prompt("labels"), load_prompt("caption")
    assert reading(labels, (), said('{"labels": ["Man", " office  desk", "man"]}')) == (
        "man",
        "office desk",
    )
    assert reading(labels, (), said('{"labels": "man"}')) == (UNUSABLE,)
    captions = reading(caption, (), said('{"caption": "She is a well-known nurse in an office."}'))
    assert captions == ("She is a well-known nurse in an office.",)


def tokens(*parts: str, **top: float) -> list[dict[str, object]]:
    alternatives = [
        {"token": token.replace("_", " "), "logprob": math.log(p)} for token, p in top.items()
    ]
    return [
        {"token": part, "top_logprobs": alternatives if part.strip(' "}').upper() in "ABC" else []}
        for part in parts
    ]


@pytest.mark.parametrize(
    "parts",
    [
        ('{"', "answer", '":', ' "', "A", '"}'),
        ('{"answer":', ' "A"', "}"),
        ('{"answer": "', "A", '"}'),
        ("A",),
        (" A", "."),
        ('{"answer": "', "a", '"}'),
        ('{"answer":', ' "(', "A", ')"}'),
        ('{"answer": "', "Option", " A", '"}'),
        ("The", " answer", " is", " a", "."),
        ("**", "A", "**"),
        ("“", "A", "”"),
    ],
)
def test_the_letters_are_found_at_the_answers_token(parts):
    chances = letters(tokens(*parts, A=0.5, _A=0.1, B=0.3, hm=0.05), PROMPT.answers(ORDER))
    assert chances == pytest.approx({"A": math.log(0.6), "B": math.log(0.3)})


def test_a_letter_in_either_case_and_the_options_word_are_one_answer():
    chances = letters(
        tokens('{"answer": "', "A", '"}', A=0.3, a=0.1, _A=0.1, nurse=0.1, doctor=0.2),
        PROMPT.answers(ORDER),
    )
    assert chances == pytest.approx({"A": math.log(0.6), "B": math.log(0.2)})
    word = [{"token": part, "top_logprobs": []} for part in ('{"answer": "', "nurse", '"}')]
    word[1]["top_logprobs"] = [
        {"token": text, "logprob": math.log(p)} for text, p in (("nurse", 0.7), ("Doctor", 0.2))
    ]
    assert letters(word, PROMPT.answers(ORDER)) == pytest.approx(
        {"A": math.log(0.7), "B": math.log(0.2)}
    )
    pieces = [
        {"token": part, "top_logprobs": [{"token": "b", "logprob": -0.1}]} for part in ("nur", "se")
    ]
    assert letters(pieces, PROMPT.answers(ORDER)) == {}  # the beginning of a word does not answer


def test_where_an_option_is_a_letter_the_letter_of_the_list_is_meant():
    blood = Prompt("blood", "choice", "Which group?", options=("B", "A", "AB"))
    for text, option in (("A", "B"), ("b", "A"), ("(C)", "AB"), ("ab", "AB"), ("B) A", "A")):
        assert reading(blood, (0, 1, 2), said(text)) == (option,)


def test_no_letters_in_a_text_that_has_none_or_of_a_long_list():
    assert letters(tokens("I'm", " sorry", A=1.0), PROMPT.answers(ORDER)) == {}
    many = Prompt("many", "choice", "Who?", options=tuple(map(str, range(21))))
    assert (PROMPT.lettered, many.lettered, list(many.answers(range(21)))[:2]) == (
        True,
        False,
        ["0", "1"],
    )


@pytest.mark.parametrize("name", PATTERNS)
def test_every_pattern_finds_its_example(name):
    assert PATTERNS[name].search(REPLIES["patterns"][name]["example"])
