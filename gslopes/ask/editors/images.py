"""``images:MODEL``: an image model behind the OpenAI-compatible ``images/edits``, of a service or of a server of yours.

    images:gpt-image-2,price=60                                     with the key in OPENAI_API_KEY
    images:flux-kontext,url=https://host.example/v1,key=HOST_KEY    with the key in HOST_KEY
    images:Qwen-Image-Edit,url=http://localhost:8000/v1,size=photo,send=num_inference_steps=30/guidance_scale=4
    images:gpt-image-2,send=quality=medium,price=60

A request is a form: ``model``, ``prompt``, ``image`` (a PNG), ``n``, ``size``, ``seed``, and the fields that you add
by ``send``. The picture is read from ``data[0].b64_json``, or from the address ``data[0].url``, whatever format the
reply names. ``n``, ``seed`` and ``size`` are left out, with a note, where a server does not take them; without ``seed``
each picture is drawn by chance. A model that keeps faces only if it is told so needs ``send=input_fidelity=high``.
No mask is sent: what lies outside of the face's mask stays the photo's own anyway (``--set blend=``).

=========  =============================================================================================================
``size``   what comes back
=========  =============================================================================================================
``auto``   1024x1024, 1536x1024 or 1024x1536, whichever is most like the photo, which is padded to that shape first
``photo``  the photo's own size, each side padded to a multiple of 16
``WxH``    these pixels; the photo is padded to that shape
=========  =============================================================================================================

What was padded is cut off again. Larger photos are sent with a longer side of 2,048 pixels.

A refusal by content policy (``moderation_blocked`` and the like, or such words) is an answer: it is kept, counted and
not asked again. 429, 5xx and timeouts after 3 minutes are tried again; a quota used up, a wrong key and an unknown
model stop the run, and what came is kept. A reply without a picture has failed, and may have been paid.

Money: ``price`` in USD per 1,000 pictures, or ``price_in`` and ``price_out`` per million tokens, as the reply's
``usage`` counts them, at most ``tokens_in`` and ``tokens_out`` a picture: those are the price that is told before.
Services differ in what they charge for a refusal; here it counts as free.

``prompt=FILE`` names sentences of your own. Each list has one for each wording, two at least; ``keep`` ends them all.
Values are numbers, symmetric around their centre; or names, the baseline first:

    keep = ["Keep identity, hair, clothes, background, pose and light.", "All else stays: identity, hair, ..."]
    unchanged = ["Return the photo unchanged.", "Change nothing in this photo."]
    [change]
    -1 = ["Edit only the face, so that people would perceive it as tired.", "Make the face alone look tired."]
    0 = ["Edit only the face, so that it looks neither tired nor rested.", "Make the face alone look as usual."]
    1 = ["Edit only the face, so that people would perceive it as rested.", "Make the face alone look rested."]
    [placebos]
    gaze.up = ["Edit only the eyes: they look slightly up.", "Turn the gaze alone a little up."]
    gaze.down = ["Edit only the eyes: they look slightly down.", "Turn the gaze alone a little down."]
"""

import re
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from gslopes.ask.classifiers import problems
from gslopes.ask.classifiers.compatible import CompatibleOptions, CompatibleService
from gslopes.ask.classifiers.picking import shape
from gslopes.ask.editors import CATALOGUE, Setting, Wished, answer_of, kept, picture_within
from gslopes.ask.pictures import decoded, png
from gslopes.core import AnswerError, JsonObject, PhotoError, Refused, frozen
from gslopes.core.records import Answer, Integers

CHIP = 1024  # pixels of a side
SIZES = ("1024x1024", "1536x1024", "1024x1536")
MULTIPLE = 16  # of which sides are that a model takes
FETCHES = 3  # of a picture at an address, which is paid for
ALIKE = 0.03  # by how much the shape of what comes back may differ from what was sent


@frozen
class ImagesOptions(CompatibleOptions):
    """Fields of ``CompatibleOptions``, and how to ask.

    prompt: the sentences: a file, or the name of some that ship; empty: the attribute's own.
    takes: the photo, or a ``chip``: the aligned face, hair to chin, 1,024 pixels.
    size: see above.  send: more fields of the form, with slashes between them.
    tokens_in, tokens_out: that a picture is billed at, at most.
    """

    prompt: str = ""  # the sentence itself is in each picture's name
    takes: Literal["photo", "chip"] = "photo"
    size: str = "auto"
    send: str = ""
    tokens_in: int = 7000
    tokens_out: int = 6300


class ImagesEditor(Wished, CompatibleService):
    """A ``faces.edit.protocol.PictureEditor`` over an image model; ``at`` a wish it is a ``records.Classifier``.

    Raises: ConfigError if the endpoint is not safe to send a key to.
    """

    Options = ImagesOptions
    SERVICE = "images"
    SECONDS = 180.0
    LISTED = CATALOGUE
    words = True
    seeded = True

    def __init__(self, name: str, options: ImagesOptions, setting: Setting) -> None:
        super().__init__(name, options, setting.device)
        self.takes = options.takes
        self.size = CHIP if options.takes == "chip" else 0
        self.prompt = options.prompt
        limits = self._priced((options.tokens_in, options.tokens_out))
        self.traits = replace(self.traits, limits=limits, counts=True, pictures=True)

    def parse(self, raw: Any) -> Answer:
        """The picture, of the photo's shape, or of another one if it came so.  Raises: PhotoError."""
        answer = answer_of(raw)
        return replace(answer, picture=_unpadded(answer.picture, *map(np.array, raw["sent"])))

    def _answer(self, picture: bytes) -> object:
        (pixels,) = decoded([picture])
        sides = np.array(pixels.shape[1::-1])
        size, canvas = _canvas(sides, self._options.size)
        before = (canvas - sides) // 2
        beside = [*zip(before, canvas - sides - before, strict=True)][::-1]
        image = png(np.pad(pixels, [*beside, (0, 0)], mode="edge"))
        form = self._form(size)
        reply = self._exchanged(
            "/images/edits",
            {"n", "size", "seed"} & set(form),
            data=form,
            files={"image": ("picture.png", image, "image/png")},
        )
        if reply.refused:
            raise Refused(reply.refused)
        body = reply.body
        raw = kept(self._picture(body), str(body.get("model") or ""))
        used = [problems.within(body, "usage", f"{way}put_tokens") for way in ("in", "out")]
        sound = all(type(count) is int and count > 0 for count in used)
        sent = [sides.tolist(), before.tolist(), canvas.tolist()]
        return raw | {"sent": sent, "usage": [used if sound else []]}

    def _form(self, size: str) -> JsonObject:
        """The fields of a request, without its picture."""
        options = self._options
        form = self._extended(dict(re.findall("([^/=]+)=([^/]+)", options.send)))
        form |= {"model": options.model, "prompt": self._wish.text, "n": 1, "size": size}
        form["seed"] = self._wish.seed * 1000 + self._wish.draw
        for name in self._learned["left_out"]:
            form.pop(name, None)
        return form

    def _picture(self, body: JsonObject) -> bytes:
        """The file that a reply holds, or names.  Raises: AnswerError if there is none."""
        items = body.get("data")
        first = items[0] if isinstance(items, list) and items else None
        text = str(problems.within(first, "b64_json") or problems.within(first, "url"))
        data = picture_within(text)
        if not data and text.startswith("http"):
            data = self._fetched(text)
        try:
            decoded([data])
        except PhotoError as error:
            what = f"holds no picture ({error.reason}): it is {shape(body)}"
            raise AnswerError(f"The reply of {self._options.model} {what}.") from None
        return data

    def _fetched(self, address: str) -> bytes:
        """What lies at an address that a reply names; the key is not sent there.

        Raises: AnswerError if the address is not safe, or nothing comes from there.
        """
        import httpx

        from gslopes.ask import transport

        own = "/".join(self._home.split("/")[:3])
        if not address.startswith(("https://", f"{own}/")):
            raise AnswerError("The picture that the reply names would come without encryption.")
        for _ in range(FETCHES):
            with suppress(httpx.HTTPError, httpx.InvalidURL), transport.Client() as client:
                return client.get(address).raise_for_status().content
        raise AnswerError("The picture that the reply names does not come from its address.")


def _canvas(sides: Integers, size: str) -> tuple[str, Integers]:
    """The size to ask for, and the sides of the padded picture.  sides: of the picture, width and height."""
    if size == "photo":
        canvas = -(-sides // MULTIPLE) * MULTIPLE
        return f"{canvas[0]}x{canvas[1]}", canvas
    fits = {}
    for choice in SIZES if size == "auto" else (size,):
        target = np.array(choice.split("x"), int)
        fits[choice] = np.rint(target * (sides / target).max()).astype(int)
    return min(fits.items(), key=lambda pair: pair[1].prod())


def _unpadded(data: bytes, sides: Integers, before: Integers, canvas: Integers) -> bytes:
    """The picture without what was padded; as it came if nothing was, or its shape is another.

    sides, canvas: of the photo, and of what was sent, width and height.  before: what was padded left and at the top.
    """
    from PIL import Image

    if (sides == canvas).all():
        return data
    (pixels,) = decoded([data])
    scale = np.array(pixels.shape[1::-1]) / canvas
    if abs(scale[0] / scale[1] - 1) > ALIKE:
        return data
    box = (*(before * scale), *((before + sides) * scale))
    image = Image.fromarray(pixels).resize(tuple(sides), Image.Resampling.LANCZOS, box)
    return png(np.asarray(image))
