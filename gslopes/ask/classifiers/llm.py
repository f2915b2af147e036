"""``llm:MODEL``: a multimodal language model behind the API of its vendor, or of a server of yours.

Chat completions are what OpenAI, vLLM, Ollama, llama.cpp and the compatible endpoints of others speak:

    llm:gpt-6-luna,prompt=doctor-nurse,price_in=0.1,price_out=0.5
    llm:gemini-3.8-flash,url=https://generativelanguage.googleapis.com/v1beta/openai,key=GEMINI_API_KEY
    llm:llava:7b,url=http://localhost:11434/v1,prompt=my-prompt.toml

``dialect`` names an API of a vendor's own, see ``compatible.py``: OpenAI's Responses, Anthropic's Messages, Gemini's
generateContent, Bedrock's Converse, which needs ``pip install 'gslopes[bedrock]'``:

    llm:claude-haiku-5-5,dialect=messages,prompt=doctor-nurse
    llm:us.amazon.nova-2-lite-v1:0,dialect=converse,prompt=doctor-nurse

Each request asks about one picture, in a new conversation. The score of an option is its probability if the
server gives log-probabilities, otherwise the share of ``repeats`` answers. The raw answer holds every reply, the order
of the options, the tokens and the model that answered; a parameter that the server does not take is left out, with a
note, and for the rest of the month it is asked without from the start.

    llm:gpt-6-luna,reasoning_effort=low                 effort and detail in the vendor's words
    llm:m,url=https://openrouter.ai/api/v1,extra.provider.only=["azure"],extra.top_p=0.9
    llm:m,url=https://gateway.example/v1,header.X-Api-Key=env:GATEWAY_KEY,header.X-Team=research
    llm:DEPLOYMENT,url=https://NAME.openai.azure.com/openai/v1,key=entra

What a model is known to take is in families.toml. Models that think before they answer pay for that as output: those
that are known get 4,000 tokens a reply, and others as soon as their first one is cut off, unless you give max_tokens.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal
from urllib.parse import quote

from gslopes.ask.classifiers import chat, problems, service
from gslopes.ask.classifiers.batching import Batching
from gslopes.ask.classifiers.captions import CaptionReader
from gslopes.ask.classifiers.chat import REFUSED, UNUSABLE, reading
from gslopes.ask.classifiers.compatible import CompatibleOptions, Reply, family_of, spoken
from gslopes.ask.classifiers.prompt import Drawn, Order, Prompt, load_prompt
from gslopes.ask.classifiers.resuming import Begun, Keep, Resuming
from gslopes.ask.cost import said
from gslopes.ask.pictures import halves, in_base64, kind_of
from gslopes.core import (
    AnswerError,
    ConfigError,
    GslopesError,
    JsonObject,
    Limits,
    Reason,
    ServiceError,
    Unfinished,
    frozen,
    hexdigest,
)
from gslopes.core.records import Answer

TOP = 20  # log-probabilities a token
ENOUGH = 4000  # tokens of a reply, if the first one was cut off
# When replies are given up: nearly all of the first ones are of no use.
MIN_UNUSABLE = 8
FIRST_REPLIES = 100
NEARLY_ALL = 0.9


@frozen
class LlmOptions(CompatibleOptions):
    """Fields of ``CompatibleOptions``, and what to ask, and how often.

    dialect: in which it is asked.
    prompt: one that ships, or a TOML file.  abstain: whether “cannot tell” is among its answers.
    scores: ``logprobs``: the options' probabilities; ``repeats``: shares of answers; ``auto``: the first if given.
    repeats: answers a picture and order if shares count, a request each.
    temperature, seed: sent with each request; the seed also draws the order of the options.
    reasoning_effort: as the vendor names it; empty: its own default, or the family's in families.toml.
    detail: in which a picture is looked at, as the vendor names it.
    max_tokens: of an answer and its reasoning; None: the family's, or more if a model's first reply is cut off.
    image_tokens: that a picture is billed at, None: the family's; what a reply reports of its question does not move
        the bill.
    pictures: how two people are shown, if the prompt asks about two: ``two`` pictures, which most models take, or
        ``one`` with both side by side.
    by_batch: whether requests are sent by batch, see ``batching``.

    Raises: ConfigError if a number is out of its range, or log-probabilities are wanted of a prompt other than a choice
        of up to 20 options; what ``load_prompt`` raises.
    """

    dialect: Literal["auto", "chat", "responses", "messages", "gemini", "converse"] = "auto"
    prompt: str = "occupation"
    abstain: bool = False
    scores: Literal["auto", "logprobs", "repeats"] = "auto"
    repeats: int = 5
    temperature: float = 1.0
    seed: int = 0
    reasoning_effort: str = ""
    detail: str = "auto"
    max_tokens: int | None = None
    image_tokens: int | None = None
    pictures: Literal["auto", "one", "two"] = "auto"
    by_batch: bool = False

    def __post_init__(self) -> None:
        CompatibleOptions.__post_init__(self)
        if self.temperature == 0 and self.repeats > 1 and self.scores == "repeats":
            raise ConfigError(
                "At temperature 0 all repeats give the same answer.",
                "Write repeats=1, or a temperature.",
            )
        prompt = load_prompt(self.prompt, abstain=self.abstain)
        if self.scores == "logprobs" and not prompt.lettered:
            raise ConfigError(
                f"The prompt {prompt.name!r} has no options with letters.",
                "Log-probabilities need a choice of up to 20 options; write scores=repeats.",
            )


class _Paid(ServiceError):
    """Replies that are of no use: they are billed all the same."""

    billed = True


class Prompted(Resuming):
    """What a prompt decides of a ``records.Classifier``: its version, the order of options, and what replies mean.

    version, traits: without the prompt, until it is taken.
    """

    version: str
    traits: Any
    _options: Any

    def _take(self, prompt: Prompt, **traits: Any) -> None:
        """Ask this prompt.  traits: further ones."""
        self.prompt = prompt
        self.version = f"prompt {prompt.digest[:16]} {self.version}".strip()
        kept_under = self.version
        if prompt.read_by:  # another reading of the replies costs no call
            self.version = f"{self.version} read {prompt.read_by}"
        task = prompt.name + " or cannot tell" * bool(prompt.abstain)
        about = {"task": task, "scale": prompt.scale, "source": prompt.source}
        self.traits = replace(
            self.traits,
            cached=True,
            kept_under=kept_under,
            numbers=prompt.numbered,
            pairs=prompt.people > 1,
            facts={key: text for key, text in about.items() if text and prompt.scale},
            groups=True,
            **traits,
        )
        self._captions = CaptionReader(self) if prompt.kind == "caption" else None
        self._begun = defaultdict(Begun)

    def _order(self, key: str) -> Drawn:
        """The order of the options for a picture by its sha256: its photo's, if that is known, else the picture's."""
        return self.prompt.order(self._begun[key].photo or key, self._options.seed)

    def parse(self, raw: Any) -> Answer:
        """Options or labels with their scores; a refusal and an unusable answer are labels as well.

        Of captions their labels, refused if all of them are.  Raises: AnswerError if a reply holds no caption.
        """
        prompt = self.prompt
        version = str(raw["model"])
        if self._captions:
            texts = [reading(prompt, raw["order"], reply)[0] for reply in raw["replies"]]
            if UNUSABLE in texts:
                raise AnswerError("The model's reply holds no caption.")
            return self._captions.answer(
                [None if text == REFUSED else text for text in texts], version
            )
        scores = chat.by_order(prompt, raw)
        labels = chat.joined_orders(scores)
        orders = chat.order_effects(prompt, scores)
        abstained = chat.abstained(prompt, labels)
        pairs = service.best((labels | abstained).items())
        if prompt.numbered:
            numbers = chat.with_number(prompt, labels)
            if not numbers:
                return Answer("refused", tuple(abstained.items()), Reason.REFUSED, version)
            pairs = tuple((numbers | abstained).items())
            # over a photo's questions each picture is ahead as often as behind, but for the order
            if prompt.people > 1:
                orders = (*orders, ("", numbers[prompt.scale] / 100, 0.0))
        return Answer("answered", pairs, version=version, orders=orders)


class Llm(Prompted, Batching):
    """A ``records.Classifier`` over a language model, one picture a request, or the two of a pair.

    Raises: ConfigError if the endpoint is not safe to send a key to, or has no batches and is to be asked by them.
    """

    Options = LlmOptions
    SERVICE = "llm"

    def __init__(self, name: str, options: LlmOptions, device: str = "cpu") -> None:
        family = self._family = family_of(f"{options.model} {options.reasoning_effort}")
        shown = options.pictures.replace("auto", family["pictures"])
        prompt = self.prompt = load_prompt(options.prompt, shown, abstain=options.abstain)
        dialect = spoken(options.dialect, family, options.url)
        super().__init__(name, options, device, dialect)
        self.version = family["version"] + self.version
        self.notes += [note.format(name) for note in family["notes"]]
        self._most = options.max_tokens or max(family["max_tokens"], self._learned["max_tokens"])
        text = f"{prompt.system}{prompt.text(range(len(prompt.options)))}"
        # a token is three letters or more of English, and about one character of Chinese
        self._apart = prompt.people > 1 and shown != "one"
        pictures = (options.image_tokens or family["image_tokens"]) * (1 + self._apart)
        self._question = pictures + -(-len(text.encode()) // 3)
        limits = {"picture_bytes": self._dialect.picture_bytes, **self.batches.get("limits", {})}
        if prompt.about == "text":
            limits |= {"formats": (), "picture_bytes": 0}
        self._take(
            prompt,
            limits=replace(self._longest(), **limits),
            posts=bool(self.batches),
            resumes=True,
            counts=True,
        )
        self._noted = False
        self._replies = self._unusable = 0

    def _longest(self) -> Limits:
        """Its limits if each reply is as long as it may be."""
        requests = len(self.prompt.asked_in(()))
        if self._options.scores != "logprobs":
            requests *= self._options.repeats
        return self._priced((self._question * requests, self._most * requests), requests)

    def resume(self, picture: bytes, begun: Any, keep: Keep) -> None:
        """Go on with a picture that an earlier process could not finish, if its options have the same order."""
        key = hexdigest(picture)
        known = self._begun[key]
        known.order = list(self._order(key))
        same = problems.within(begun, "order") == known.order
        super().resume(picture, begun["results"] if same else None, keep)
        if same:
            known.batch = begun.get("batch", "")
        if known.batch and not self.batches:
            self.notes.append(f"Pictures are out by batch: {self.name} is asked, and paid, again.")

    # -- requests -----------------------------------------------------------------------------------------------------

    def _answer(self, picture: bytes) -> object:
        """The raw answer about a picture.  Raises: Unfinished if another request is needed."""
        key = hexdigest(picture)
        known = self._begun[key]
        known.order = list(self._order(key))
        begun = known.results
        number = len(begun)
        dropped = {*self._family["without"], *self._learned["left_out"]}
        if self._options.scores == "logprobs":
            dropped.discard("logprobs")
        orders = self.prompt.asked_in(known.order)
        order_now = orders[number % len(orders)]
        request = self._request(picture, order_now, number, dropped)
        reply = None
        if self.batches:
            sure = len(orders) if "logprobs" in request else len(orders) * self._options.repeats
            due = []
            for later in range(number, max(sure, number + 1)):
                asked = self._request(picture, orders[later % len(orders)], later, dropped)
                name = f"{key[:24]}-{later}-{hexdigest(str(orders))[:12]}"
                due.append({"name": name, "request": self._extended(self._dialect.asked(asked))})
            reply = self._delivered(known, due)
        result = self._asked(request, order_now, reply)
        first = not self._replies and not self.batches
        if first and all(map(chat.cut_short, result["replies"])):
            self._lengthen(result["used"])
        if len(orders) > 1:
            result["replies"] = [{**reply, "order": list(order_now)} for reply in result["replies"]]
        begun.append(result)
        replies = [reply for one in begun for reply in one["replies"]]
        spelled = replies[0].get("letters") or replies[0].get("mismatch")
        scored = "logprobs" if spelled else "repeats"
        rounds: float = len(begun)
        if "logprobs" not in (scored, self._options.scores):
            rounds = min(rounds, len(replies) / self._options.repeats)
        enough = rounds >= len(orders) or any(reply.get("blocked") for reply in replies)
        if not enough:
            known.note(known.batch)
        self._require_sense(result["replies"], order_now)
        if not enough:
            if self.batches:
                return self._answer(picture)
            raise Unfinished("More answers are wanted.", tuple(result["used"]))
        del self._begun[key]
        used = [one["used"] for one in begun]
        if self.batches:  # the picture is billed as a whole
            used = [[*map(sum, zip(*used, strict=False))]]
        return {
            "model": result["model"],
            "fingerprint": result["fingerprint"],
            "prompt": self.prompt.digest,
            "order": known.order,
            "scored": scored,
            "replies": replies,
            "usage": used,
            "left_out": sorted(dropped),
        }

    def _request(self, picture: bytes, order: Order, number: int, dropped: set[str]) -> JsonObject:
        """The fields of one request, see ``compatible``.  number: of the requests about this picture before it."""
        options = self._options
        pictures = halves(picture) if self._apart else [picture]
        request: JsonObject = {
            "model": options.model,
            "system": self.prompt.system or None,
            "text": self.prompt.text(order),
            "pictures": [
                {
                    "media_type": f"image/{kind_of(data)}",
                    "data": in_base64(data),
                    "detail": options.detail,
                }
                for data in pictures
            ],
            "temperature": options.temperature,
            "seed": options.seed * 1000 + number,
            "max_tokens": self._most,
            "reasoning_effort": options.reasoning_effort
            or self._family["reasoning_effort"]
            or None,
            "response_format": self.prompt.schema(order),
        }
        first = number < len(self.prompt.asked_in(order)) and "logprobs" not in dropped
        if first and options.scores != "repeats" and self.prompt.lettered:
            request |= {"logprobs": True, "top_logprobs": TOP}
        if self.prompt.about == "text":
            request["text"] += f"\n\nText: {picture.decode()}"
            request["pictures"] = None
        for name in dropped & set(request):
            del request[name]
        if "max_tokens" in dropped:
            request["max_completion_tokens"] = self._most
        return request

    def _asked(self, request: JsonObject, order: Order, reply: Any = None) -> JsonObject:
        """What one reply of the server is kept as.  reply: that came by batch.

        Raises: as ``_understood``; AnswerError for a form that is not understood: the reply is paid for, and is not
            asked for again.
        """
        path = self._dialect.path.format(model=quote(self._options.model, safe=""))
        came = self._exchanged(
            path, {*request, "too_few"}, reply, json=self._extended(self._dialect.asked(request))
        )
        used: Sequence[int] = (0, 0)  # a failure is not billed
        if came.good:
            used = chat.tokens_used(came.body, self._question, self._most) or ()
        self._note_tokens(came.body)
        try:
            replies = self._read(came, order)
        except GslopesError:
            raise
        except Exception as error:
            raise AnswerError(
                f"The reply of {self._options.model} is not understood: {type(error).__name__}."
            ) from error
        return {
            "model": str(came.body.get("model") or self._options.model),
            "fingerprint": str(came.body.get("system_fingerprint") or ""),
            "used": list(used),
            "replies": replies,
        }

    def _note_tokens(self, body: JsonObject) -> None:
        """Say once that the server counts far more or fewer tokens of a question than are billed."""
        count = problems.within(body, "usage", "prompt_tokens")
        off = type(count) is int and not self._question / 2 <= count <= self._question * 2
        if self._noted or not self._options.price_in or not off:
            return
        self._noted = True
        words = f"counts {count:,} tokens of a question where {self._question:,} are billed"
        self.notes.append(
            f"{self.name} {words}: image_tokens=N says how many your provider bills a picture at."
        )

    def _read(self, reply: Reply, order: Order) -> list[JsonObject]:
        """What is kept of each choice."""
        choices = chat.choices_of(reply.body)
        blocked = reply.refused or (not choices and chat.prompt_blocked(reply.body))
        if blocked:
            return [{"refusal": blocked, "blocked": True}]
        if not choices:
            raise self._error("lost", "the reply has no choices")
        return [self._choice(choice, reply.body, order) for choice in choices]

    def _choice(self, choice: JsonObject, body: JsonObject, order: Order) -> JsonObject:
        text = chat.answer_text(problems.within(choice, "message", "content"))
        refusal = problems.within(choice, "message", "refusal")
        reply: JsonObject = {
            "text": text,
            "refusal": refusal,
            "finish": choice.get("finish_reason"),
        }
        if blocked := chat.refusal_in(choice, body):
            return reply | {"refusal": refusal or blocked, "blocked": True}
        if self._options.scores == "repeats" or not self.prompt.lettered:
            return reply
        tokens = chat.answer_tokens(choice, text)
        if tokens is None:  # two views of one reply that differ
            return reply | {"mismatch": True}
        reply["letters"] = chat.letters(tokens, self.prompt.answers(order))
        unread = reply["letters"] or reading(self.prompt, order, reply)[0] in chat.LOST
        if self._options.scores == "logprobs" and not unread:
            raise _Paid(*self._no_probabilities)
        return reply

    def _lengthen(self, used: Sequence[int]) -> None:
        """Ask for longer replies from now on.

        Raises: Unfinished; ServiceError if the user set the length, or none suffices.  used: as of ``Unfinished``.
        """
        most = self._most
        if self._options.max_tokens or most >= ENOUGH:
            raise _Paid(
                f"The first reply of {self._options.model} holds no answer: max_tokens={most} was reached first.",
                f"Give more, such as max_tokens={max(4 * most, ENOUGH)}. Answers so far are kept.",
            )
        self._most = self._learned["max_tokens"] = ENOUGH
        self._remember()
        self.traits = replace(self.traits, limits=self._longest())
        self.notes.append(
            f"{self.name} was cut off after {most:,} tokens, as models are that think before they answer: "
            f"from now on a reply may have {self._most:,}, and a picture costs more."
        )
        raise Unfinished("A longer reply is wanted.", tuple(used))

    def _require_sense(self, replies: Sequence[JsonObject], order: Order) -> None:
        """Raises: ServiceError if nearly none of the first replies can be used: every further one would be paid for."""
        unusable = [reading(self.prompt, order, reply) == (UNUSABLE,) for reply in replies]
        with self._lock:
            self._replies += len(replies)
            self._unusable += sum(unusable)
            early = MIN_UNUSABLE <= self._replies <= FIRST_REPLIES
            hopeless = early and self._unusable >= NEARLY_ALL * self._replies
        if not hopeless:
            return
        words = said(
            "unusable.txt.j2",
            count=self._unusable,
            of=self._replies,
            model=self._options.model,
            most=self._most,
            prompt=self.prompt,
            last=replies[-1],
            short=chat.cut_short(replies[-1]),
        )
        raise _Paid(*words.splitlines())

    @property
    def _no_probabilities(self) -> tuple[str, str]:
        return f"{self._options.model} gives no log-probabilities.", "Write scores=repeats."

    def _drop(self, names: Sequence[str]) -> None:
        """Ask without these parameters from now on.  Raises: Unfinished; ServiceError if one must be there."""
        if "too_few" in names and self._replies:
            raise AnswerError("The model's reply was cut off before it said anything.")
        if "too_few" in names:
            self._lengthen(())
        if "logprobs" in names and self._options.scores == "logprobs":
            raise ServiceError(*self._no_probabilities)
        super()._drop(names)
