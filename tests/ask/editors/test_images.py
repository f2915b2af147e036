"""images: against a server that is as strict as the reference; what each failure becomes, and what is paid."""

import io
import json
import threading

import numpy as np
import pytest
from PIL import Image, ImageFilter

from gslopes.ask import transport
from gslopes.ask.cache import AnswerCache
from gslopes.ask.client import Client
from gslopes.ask.cost import Budget
from gslopes.ask.editors import load_editor
from gslopes.ask.questions import Question
from gslopes.ask.retry import RetryPolicy
from gslopes.core.errors import (
    AnswerError,
    BudgetReached,
    ConfigError,
    CredentialsError,
    GslopesError,
    Refused,
    ServiceError,
    Throttled,
    Unavailable,
    Unfinished,
)
from gslopes.faces.edit.outside import fitted
from gslopes.faces.edit.protocol import Wish
from gslopes.faces.find import MtcnnFinder, choose
from gslopes.photos.folder import photo_of
from tests.fake_provider.edits import FIELDS, KEY, edits

QUICK = RetryPolicy(base_delay=0.01, max_delay=0.01)
WISH = Wish("gender", 1.0, "Edit only the face.", draw=0, seed=3)


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def server():
    with edits(takes={"seed"}) as service:
        yield service


def photo(width: int = 96, height: int = 96, kind: str = "PNG", seed: int = 0) -> bytes:
    """A smooth picture, so that resampling changes little."""
    across, down = np.meshgrid(np.linspace(0, 1, width), np.linspace(0, 1, height))
    pixels = np.stack([255 * across, 255 * down, 128 + 100 * np.sin(9 * across + seed)], -1)
    buffer = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(buffer, kind, quality=95)
    return buffer.getvalue()


def pixels(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)


def editor(service, *options: str):
    return load_editor(",".join([f"images:m,url={service.url}", *options]))


def asked(service, *options: str, wish: Wish = WISH, picture: bytes = b""):
    """The raw answer as a cache returns it."""
    (raw,) = editor(service, *options).at(wish).ask([picture or photo()])
    return json.loads(json.dumps(raw))


def answers(given, files: list[bytes], **client):
    """The answers of an editor, asked by the client as everything is."""
    questions = [Question(f"{number}", lambda data=data: data) for number, data in enumerate(files)]
    found = {}

    def done(progress) -> None:
        found.update({question.photo: answer for question, answer in progress.answered()})

    asking = Client(given, retry=QUICK, **client)
    asking.ask_parts([(0, questions)], done)
    return [found[question.photo] for question in questions], asking.usage


# -- the request -------------------------------------------------------------------------------------------------------


def test_the_request_has_the_documented_fields_and_no_other(server):
    asked(server, "send=quality=high/input_fidelity=high/background=opaque/moderation=low")
    (form,) = server.forms
    assert form == {
        "model": "m",
        "prompt": "Edit only the face.",
        "n": "1",
        "size": "1024x1024",
        "seed": "3000",
        "quality": "high",
        "input_fidelity": "high",
        "background": "opaque",
        "moderation": "low",
    }
    assert set(form) - {"seed"} <= set(FIELDS)
    (headers,) = server.headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["content-type"].startswith("multipart/form-data; boundary=")


def test_the_official_client_sends_the_same_form(server):
    openai = pytest.importorskip("openai")
    asked(server)
    with openai.OpenAI(api_key=KEY, base_url=server.url) as client:
        file = ("picture.png", photo(), "image/png")
        reply = client.images.edit(
            model="m",
            image=file,
            prompt="Edit only the face.",
            n=1,
            size="1024x1024",
            extra_body={"seed": 3000},
        )
    ours, theirs = server.forms
    assert ours == theirs
    assert [image.size for image in server.pictures] == [(96, 96), (96, 96)]
    assert reply.usage.output_tokens == 1056
    kinds = [headers["content-type"].partition(";")[0] for headers in server.headers]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_the_picture_that_is_sent_is_the_photo(server, kind: str):
    data = photo(96, 96, kind)
    asked(server, picture=data)
    (sent,) = server.pictures
    assert np.array_equal(np.asarray(sent), pixels(data))


def test_the_draw_and_the_seed_decide_the_seed_and_the_name(server):
    names = set()
    for draw, seed in ((0, 0), (1, 0), (0, 1)):
        given = editor(server).at(Wish("gender", 1.0, "Edit.", draw=draw, seed=seed))
        given.ask([photo()])
        names.add((given.name, given.version))
    assert [form["seed"] for form in server.forms] == ["0", "1", "1000"]
    assert len(names) == 3
    plain = editor(server).at(Wish("a", 1, "Edit.")).name
    assert plain == editor(server, "prompt=tone").at(Wish("a", 1, "Edit.")).name
    assert plain != editor(server).at(Wish("a", 1, "Edit!")).name


def test_what_moves_no_picture_is_no_part_of_the_name():
    plain = load_editor("images:m")
    assert plain.name == "images:m"
    assert (
        load_editor("images:m,price=60,rate=2,concurrency=9,prompt=tone,tokens_in=9").name
        == plain.name
    )
    assert load_editor("images:m,prompt=tone").prompt == "tone"
    for option in ("size=photo", "send=quality=high", "takes=chip", "url=https://host.example/v1"):
        assert load_editor(f"images:m,{option}").name != plain.name


def test_a_parameter_that_is_not_taken_is_left_out_told_once_and_free():
    with edits(refuses={"n"}) as server:
        given = editor(server, "price_in=10,price_out=40")
        results, usage = answers(given.at(WISH), [photo(seed=seed) for seed in range(3)])
        assert {answer.status for answer in results} == {"answered"}
        assert [sorted(form) for form in server.forms] == [["model", "prompt", "size"]] * 3
        assert server.made == 3
        assert [note.split(" does not take ")[1] for note in given.notes] == [
            "seed: it is asked without.",
            "n: it is asked without.",
        ] or sorted(note.split(" does not take ")[1][0] for note in given.notes) == ["n", "s"]
        assert usage.spent == pytest.approx(3 * (500 * 10 + 1056 * 40) / 1e6)
        given.at(Wish("gender", 2, "Another.")).ask([photo()])
        assert "seed" not in server.forms[-1]
        assert len(given.notes) == 2


def test_a_value_of_yours_that_is_not_taken_stops_and_says_which(server):
    with pytest.raises(ServiceError, match="Invalid value: 'ultra'"):
        asked(server, "send=quality=ultra")
    with pytest.raises(ServiceError, match="Unknown parameter: 'steps'"):
        asked(server, "send=steps=30")
    assert server.made == 0


# -- sizes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sides", "option", "size"),
    [
        ((96, 96), "auto", "1024x1024"),
        ((90, 60), "auto", "1536x1024"),
        ((60, 90), "auto", "1024x1536"),
        ((64, 60), "auto", "1024x1024"),
        ((80, 60), "auto", "1536x1024"),
        ((300, 90), "auto", "1536x1024"),
        ((161, 250), "photo", "176x256"),
        ((160, 256), "photo", "160x256"),
        ((100, 200), "768x1024", "768x1024"),
    ],
)
def test_what_comes_back_lies_on_the_photo_whatever_its_shape(server, sides, option, size):
    data = photo(*sides)
    raw = asked(server, f"size={option}", picture=data)
    assert server.forms[0]["size"] == size
    (sent,) = server.pictures
    wide, tall = map(int, size.split("x"))
    assert sent.width / sent.height == pytest.approx(wide / tall, rel=0.02)
    answer = editor(server).at(WISH).parse(raw)
    came = Image.open(io.BytesIO(answer.picture))
    assert came.width / came.height == pytest.approx(sides[0] / sides[1], rel=0.02)
    difference = np.abs(pixels(_fitted(answer.picture, sides)) - pixels(data))
    assert difference.mean() < 2
    assert np.percentile(difference, 99) < 12


def _fitted(data: bytes, sides: tuple[int, int]) -> bytes:
    buffer = io.BytesIO()
    Image.open(io.BytesIO(data)).resize(sides, Image.Resampling.LANCZOS).save(buffer, "PNG")
    return buffer.getvalue()


def test_what_needs_no_padding_is_passed_on_as_it_came(server):
    raw = asked(server, "size=photo", picture=photo(160, 256))
    answer = editor(server).at(WISH).parse(raw)
    assert np.array_equal(pixels(answer.picture), pixels(photo(160, 256)))


def test_another_shape_is_passed_on_to_be_dropped_for_it(server):
    server.planned = ["square"]
    answer = editor(server).at(WISH).parse(asked(server, picture=photo(60, 90)))
    assert Image.open(io.BytesIO(answer.picture)).size == (512, 512)
    server.planned = ["small"]
    answer = editor(server).at(WISH).parse(asked(server, picture=photo(80, 60)))
    assert Image.open(io.BytesIO(answer.picture)).size == (80, 60)


@pytest.mark.parametrize("crop", [(0, 0, 675, 675), (0, 90, 675, 590), (120, 0, 560, 675)])
def test_a_real_portrait_comes_back_on_its_place(server, unpacked, crop):
    file = unpacked("london") / "neutral" / "044.jpg"
    buffer = io.BytesIO()
    Image.open(file).crop(crop).save(buffer, "JPEG", quality=92)
    given = photo_of(buffer.getvalue(), file)
    height, width = given.pixels.shape[:2]
    face = choose(MtcnnFinder(32)([given])[0], width, height, 32)
    server.change = lambda image: image.filter(ImageFilter.GaussianBlur(1))
    answer = editor(server).at(WISH).parse(asked(server, picture=buffer.getvalue()))
    came = fitted(answer.picture, given, face)
    assert came.moved == 0
    assert came.background < 2


def test_a_photo_that_is_turned_by_its_file_is_sent_upright(server):
    upright = Image.open(io.BytesIO(photo(60, 90)))
    exif = Image.Exif()
    exif[274] = 6
    buffer = io.BytesIO()
    upright.rotate(90, expand=True).save(buffer, "PNG", exif=exif)
    asked(server, picture=buffer.getvalue())
    assert server.forms[0]["size"] == "1024x1536"


def test_chips_are_squares_of_their_own_size():
    given = load_editor("images:m,takes=chip")
    assert (given.takes, given.size, given.words) == ("chip", 1024, True)
    whole = load_editor("images:m")
    assert (whole.takes, whole.size, whole.words) == ("photo", 0, True)


# -- the reply ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plan", ["b64", "url", "jpeg", "missing"])
def test_every_way_to_give_a_picture_is_read(server, plan: str):
    server.planned = [plan]
    answer = editor(server).at(WISH).parse(asked(server))
    assert answer.status == "answered"
    assert np.abs(pixels(_fitted(answer.picture, (96, 96))) - pixels(photo())).mean() < 3
    assert server.made == 1


def test_the_key_does_not_go_where_a_reply_points(server):
    server.planned = ["url"]
    asked(server)
    assert server.fetched
    assert not any(
        "authorization" in {name.lower() for name in headers} for headers in server.fetched
    )


def test_the_model_that_the_reply_names_is_the_version(server):
    assert editor(server).at(WISH).parse(asked(server)).version == ""
    server.name = "m-2026-09-08"
    assert editor(server).at(WISH).parse(asked(server)).version == "m-2026-09-08"


UNUSABLE = {
    "empty": "holds no picture .*: it is",
    "cut": "holds no picture .*truncated",
    "text": "holds no picture",
    "noise": "holds no picture",
    "open": "without encryption",
    "malformed": "does not come",
    "gone": "does not come from its address",
}


@pytest.mark.parametrize("plan", UNUSABLE)
def test_a_reply_without_a_picture_has_failed_is_paid_and_not_asked_again(server, plan: str):
    server.planned = [plan]
    with pytest.raises(AnswerError, match=UNUSABLE[plan]) as caught:
        asked(server)
    assert caught.value.billed
    server.planned = [plan]
    (answer,), usage = answers(editor(server, "price=100").at(WISH), [photo()])
    assert answer.status == "failed"
    assert usage.spent == pytest.approx(0.1)
    assert server.made == 2


WILD = (
    [],
    "text",
    7,
    None,
    {"data": {"b64_json": "iVBORw0KGgo"}},
    {"data": ["iVBORw0KGgo="]},
    {"data": [None]},
    {"data": [[{"b64_json": 1}]]},
    {"data": [{"b64_json": ["iVBOR"], "url": None}]},
    {"data": [{"url": 7}]},
    {"data": [{"url": "file:///etc/passwd"}]},
    {"data": [{"url": "https://127.0.0.1:9/x.png"}]},
    {"data": [{"url": "data:image/png;base64,aGVsbG8="}]},
    {"data": [{"b64_json": "iVBORw0KGgo" + "A" * 80}], "usage": []},
    {"data": [{"b64_json": "é" * 100}], "model": ["m"], "usage": "9"},
    {"message": "no", "data": []},
    {"error": [], "data": [{}]},
)


@pytest.mark.parametrize("body", WILD, ids=range(len(WILD)))
def test_whatever_a_reply_holds_is_one_sentence(server, body):
    server.planned = ["wild"]
    server.wild = body
    with pytest.raises(GslopesError) as caught:
        asked(server)
    assert "\n" not in str(caught.value)


# -- errors ------------------------------------------------------------------------------------------------------------

RAISED = {
    "throttle": (Throttled, "slow down"),
    "quota": (ServiceError, "exceeded your current quota"),
    "moderation": (Refused, "safety system"),
    "policy": (Refused, "Not allowed"),
    "words": (Refused, "rejected as a result of our safety system"),
    "filtered": (Refused, "flagged"),
    "fail": (Unavailable, "had an error"),
    "checking": (Unavailable, "safety system is unavailable"),
    "busy": (Unavailable, "overloaded"),
    "key": (CredentialsError, "OPENAI_API_KEY"),
    "forbidden": (CredentialsError, "must be verified"),
    "unknown": (ServiceError, "'m' does not exist"),
    "large": (Refused, "too large"),
    "file": (Refused, "Invalid image file"),
    "html": (Unavailable, "web page: Sign in"),
    "page": (Unavailable, "502 Bad Gateway"),
    "inside": (Unavailable, "model is loading"),
    "close": (Unavailable, ""),
    "nothing": (Unavailable, "empty"),
}


@pytest.mark.parametrize("plan", RAISED)
def test_every_error_becomes_ours_in_one_sentence_without_the_key(server, plan: str):
    kind, words = RAISED[plan]
    server.planned = [plan]
    with pytest.raises(kind) as caught:
        asked(server)
    assert type(caught.value) is kind
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


AGAIN = ["throttle", "fail", "busy", "close", "page", "inside"]


def test_what_may_pass_is_asked_again_until_a_picture_comes(server):
    server.planned = list(AGAIN)
    (answer,), usage = answers(editor(server).at(WISH), [photo()])
    assert answer.status == "answered"
    assert usage.retries == len(AGAIN)


@pytest.mark.parametrize("plan", ["moderation", "policy", "words", "filtered", "large", "file"])
def test_a_refusal_is_kept_with_its_words_and_never_paid_twice(server, plan: str, tmp_path):
    server.planned = [plan]
    with AnswerCache(tmp_path) as cache:
        for _ in range(2):
            (answer,), _ = answers(editor(server).at(WISH), [photo()], cache=cache)
            assert answer.status == "refused"
            assert answer.reason
    assert len(server.forms) == 1


@pytest.mark.parametrize("plan", ["quota", "unknown", "forbidden"])
def test_what_no_photo_gets_past_stops_the_run_after_one_request(server, plan: str):
    server.planned = [plan] * 50
    files = [photo(seed=seed) for seed in range(20)]
    with pytest.raises(ServiceError):
        answers(editor(server).at(WISH), files)
    assert len(server.forms) <= 3  # those in flight


def test_a_server_that_is_too_slow_is_not_waited_for(server, monkeypatch):
    given = editor(server).at(WISH)
    monkeypatch.setattr(type(given), "SECONDS", 0.3)
    server.planned = ["slow"]
    with pytest.raises(Unavailable, match=r"no whole answer within 0\.3 seconds") as caught:
        given.ask([photo()])
    assert caught.value.billed  # it may have been made


def test_an_image_model_has_more_time_than_a_classifier(server, monkeypatch):
    monkeypatch.setattr(transport, "SECONDS", 0.3)
    server.planned = ["slow"]
    assert asked(server)["picture"]


# -- once, and within the budget ---------------------------------------------------------------------------------------


def test_every_picture_is_asked_once_and_kept_for_all_runs(server, tmp_path):
    files = [photo(seed=seed) for seed in range(3)]
    with AnswerCache(tmp_path) as cache:
        first, _ = answers(editor(server).at(WISH), files, cache=cache)
        again, usage = answers(editor(server, "prompt=tone", "rate=9").at(WISH), files, cache=cache)
        assert [answer.picture for answer in first] == [answer.picture for answer in again]
        assert (usage.requests, server.made) == (0, 3)
        answers(editor(server).at(Wish("gender", 2.0, "Otherwise.", seed=3)), files, cache=cache)
        assert server.made == 6


def test_the_price_is_told_as_the_most_and_the_bill_is_what_was_used(server):
    tokens = editor(server, "price_in=10", "price_out=40")
    limits = tokens.traits.limits
    assert limits.cost(1) == pytest.approx((7000 * 10 + 6300 * 40) / 1e6)
    assert limits.estimated
    _, usage = answers(tokens.at(WISH), [photo()])
    assert usage.spent == pytest.approx((500 * 10 + 1056 * 40) / 1e6)
    assert (usage.tokens_in, usage.tokens_out) == (500, 1056)
    for wrong in (
        None,
        {},
        {"input_tokens": -5, "output_tokens": 1},
        {"input_tokens": "9", "output_tokens": 2},
    ):
        server.usage = wrong
        _, usage = answers(tokens.at(WISH), [photo()])
        assert usage.spent == pytest.approx(limits.cost(1))
    server.usage = {"input_tokens": 10**9, "output_tokens": 10**9}
    _, usage = answers(tokens.at(WISH), [photo()])
    assert usage.spent == pytest.approx(limits.cost(1))
    fixed = editor(server, "price=60")
    assert (fixed.traits.limits.cost(1), fixed.traits.limits.estimated) == (0.06, False)
    _, usage = answers(fixed.at(WISH), [photo()])
    assert usage.spent == pytest.approx(0.06)


def test_a_server_here_is_free_and_another_has_no_price_unless_it_is_given(server):
    assert editor(server).traits.limits.price == 0
    assert load_editor("images:m").traits.limits.price is None
    assert load_editor("images:m").traits.limits.remote


def test_the_budget_is_never_passed(server):
    budget = Budget(0.25)
    files = [photo(seed=seed) for seed in range(6)]
    with pytest.raises(BudgetReached):
        answers(editor(server, "price=100").at(WISH), files, budget=budget)
    assert server.made == 2
    assert budget.spent == pytest.approx(0.2)


def test_wishes_in_several_threads_share_what_a_server_does_not_take():
    with edits() as server:
        given = editor(server)
        wishes = [given.at(Wish("gender", value, f"Edit {value}.")) for value in range(4)]
        results: list[object] = []

        def ask(wish) -> None:
            raw = Unfinished("")
            while isinstance(raw, Unfinished):
                (raw,) = wish.ask([photo()])
            results.append(raw["picture"])

        threads = [threading.Thread(target=ask, args=(wish,)) for wish in wishes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(results) == 4
        assert {form["prompt"] for form in server.forms} == {f"Edit {value}." for value in range(4)}
        assert len(given.notes) == 1


# -- keys and options --------------------------------------------------------------------------------------------------


def test_a_key_is_needed_elsewhere_and_not_here(server, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(CredentialsError, match="needs credentials in OPENAI_API_KEY"):
        load_editor("images:m").at(WISH).ask([photo()])
    with pytest.raises(CredentialsError, match="needs credentials in OTHER"):
        load_editor("images:m,key=OTHER").at(WISH).ask([photo()])
    with pytest.raises(CredentialsError):  # it is asked, with no key, and this one wants one
        asked(server)
    assert server.headers[0]["authorization"] == "Bearer none"
    monkeypatch.setenv("OTHER", KEY)
    assert asked(server, "key=OTHER")["picture"]


def test_neither_the_raw_answer_nor_a_name_holds_the_key(server):
    raw = asked(server)
    given = editor(server).at(WISH)
    assert KEY not in json.dumps(raw) + given.name + given.version + repr(vars(given))


def test_a_key_is_not_sent_without_encryption_to_another_machine():
    with pytest.raises(ConfigError, match="without encryption"):
        load_editor("images:m,url=http://host.example/v1")
    with pytest.raises(ConfigError, match="key in its parameter"):
        load_editor("images:m,url=https://host.example/v1?api_key=abc")


WRONG = {
    "size=big": "has no size 'big'",
    "size=1024": "has no size",
    "size=0x10": "has no size",
    "send=quality": "cannot send 'quality'",
    "send=model=other": "cannot send",
    "send=a=1/seed=5": "cannot send",
    "send=a=1//b=2": "cannot send",
    "tokens_in=-1": "tokens_in must not be negative",
    "rate=-1": "rate must not be negative",
    "price_out=-1": "must not be negative",
    "price=-1": "must not be negative",
    "takes=face": "must be one of photo, chip",
    "sise=auto": "Did you mean 'size'",
}


@pytest.mark.parametrize("option", WRONG)
def test_a_wrong_option_is_one_sentence(option: str):
    with pytest.raises(ConfigError) as caught:
        load_editor(f"images:m,{option}")
    assert WRONG[option] in str(caught.value)


def test_the_model_must_be_named():
    with pytest.raises(ConfigError, match="images:MODEL"):
        load_editor("images")
