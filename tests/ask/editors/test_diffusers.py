"""Pipelines in a folder as editors: what they are asked with, what they give, and what is no such folder."""

import io
import json
import os
import shutil
import socket
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gslopes.ask.cache import AnswerCache
from gslopes.ask.client import Client
from gslopes.ask.editors import Setting, load_editor
from gslopes.ask.questions import Question
from gslopes.core.errors import ConfigError, ModelError, Refused, UsageError
from gslopes.core.traits import check_traits
from gslopes.faces.edit.protocol import Wish
from tests.ask.editors import local_pipelines
from tests.ask.editors.local_pipelines import SIDE

pytestmark = [pytest.mark.slow, pytest.mark.evidence]

diffusers = pytest.importorskip(
    "diffusers", reason="diffusers is not installed: pip install 'gslopes[diffusers]'"
)
INSTRUCTED = "StableDiffusionInstructPix2PixPipeline"
INPAINTING = "StableDiffusionInpaintPipeline"
AGAIN = "StableDiffusionImg2ImgPipeline"
KINDS = {INSTRUCTED: 8, INPAINTING: 9, AGAIN: 4}
WISH = Wish("gender", 1.0, "Make this person look like a man.", seed=7)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("pipelines")
    for kind, channels in (KINDS | {"StableDiffusionPipeline": 4}).items():
        local_pipelines.pipeline(made, kind, channels)
    return made


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Path:
    """A copy of a pipeline, to be spoilt."""
    return Path(shutil.copytree(folder / INSTRUCTED, tmp_path / "copy"))


def editor(folder: Path, kind: str = INSTRUCTED, more: str = "", **setting):
    return load_editor(f"diffusers:{folder / kind},size={SIDE},steps=2{more}", Setting(**setting))


def noisy(number: int, size: tuple[int, int] = (SIDE, SIDE)) -> bytes:
    pixels = np.random.default_rng(number).integers(0, 256, (*size[::-1], 3), np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def pictures(made, wish: Wish, *sent: bytes) -> list[bytes]:
    asked = made.at(wish)
    raws = [raw for data in sent for raw in asked.ask([data])]
    return [asked.parse(json.loads(json.dumps(raw))).picture for raw in raws]


def size_of(data: bytes) -> tuple[int, int]:
    with Image.open(io.BytesIO(data)) as image:
        assert image.format == "PNG"
        return image.size


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_a_picture_for_a_sentence_which_depends_on_it(folder, kind):
    made = editor(folder, kind)
    first, again = (pictures(made, WISH, noisy(0))[0] for _ in range(2))
    other = Wish("gender", -1.0, "A woman.", seed=7)
    assert (made.words, made.takes, made.size) == (True, "chip", SIDE)
    assert size_of(first) == (SIDE, SIDE)
    assert first == again
    assert pictures(made, other, noisy(0)) != [first]


@pytest.mark.parametrize("kind", KINDS)
def test_its_pictures_are_those_of_the_pipeline_called_by_hand(folder, kind):
    """With the noise of the picture, and within the ellipse that fills the chip."""
    import torch

    made = editor(folder, kind)
    pipeline = diffusers.DiffusionPipeline.from_pretrained(folder / kind)
    pipeline.set_progress_bar_config(disable=True)
    image = Image.open(io.BytesIO(noisy(0)))
    more = {}
    if kind == INPAINTING:
        y, x = np.mgrid[:SIDE, :SIDE] - (SIDE - 1) / 2
        more["mask_image"] = Image.fromarray(np.uint8(255 * (np.hypot(y, x) <= SIDE / 2)))
    seed = made.at(WISH)._seed(noisy(0))
    expected = pipeline(
        prompt=WISH.text,
        image=image,
        num_inference_steps=2,
        generator=torch.Generator().manual_seed(seed),
        **more,
    ).images[0]
    found = Image.open(io.BytesIO(pictures(made, WISH, noisy(0))[0]))
    apart = np.abs(np.asarray(found, int) - np.asarray(expected, int))
    assert apart.max() <= (60 if more else 0)  # the ellipse's edge by another hand
    assert apart.mean() < 1.5


def test_noise_is_of_seed_draw_and_picture_and_shared_by_all_values(folder):
    made = editor(folder)
    seeds = {
        made.at(wish)._seed(data)
        for wish in (WISH, Wish("gender", text="b", draw=1, seed=7), Wish("gender", seed=8))
        for data in (noisy(0), noisy(1))
    }
    assert len(seeds) == 6
    assert made.at(WISH)._seed(noisy(0)) == made.at(Wish("age", 3, "c", seed=7))._seed(noisy(0))


def test_the_batch_moves_no_byte_on_a_cpu(folder):
    """Whole runs of the client, and a batch in one call differs by rounding at most."""
    sent = [noisy(number) for number in range(3)]
    alone = pictures(editor(folder), WISH, *sent)
    for batch in (1, 4):
        asked = editor(folder, more=f",batch={batch}").at(WISH)
        parts = []
        questions = [
            Question(f"{place}", lambda data=data: data) for place, data in enumerate(sent)
        ]
        assert Client(asked).ask_parts([(0, questions)], parts.append)
        answers = {question.photo: answer for question, answer in parts[0].answered()}
        assert [answers[f"{place}"].picture for place in range(3)] == alone
    together = editor(folder).at(WISH)
    joint = [together.parse(raw).picture for raw in together.ask(sent)]
    apart = [
        np.abs(np.asarray(Image.open(io.BytesIO(a)), int) - np.asarray(Image.open(io.BytesIO(b))))
        for a, b in zip(alone, joint, strict=True)
    ]
    assert np.max(apart) <= 1


def test_answers_are_kept_and_asked_once(folder, tmp_path):
    asked = []

    def run(wish):
        classifier = editor(folder).at(wish)
        check_traits(classifier)
        ask = classifier.ask
        classifier.ask = lambda sent: asked.append(wish.text) or ask(sent)
        parts = []
        with AnswerCache(tmp_path) as cache:
            Client(classifier, cache=cache).ask_parts(
                [(0, [Question("a", lambda: noisy(0))])], parts.append
            )
        return next(iter(parts[0].answered()))[1]

    other = Wish("gender", 1.0, "A man.", seed=7)
    assert run(WISH) == run(WISH) != run(other)
    assert asked == [WISH.text, other.text]


def test_a_photo_comes_back_in_its_own_size(folder):
    made = editor(folder, AGAIN, ",takes=photo")
    sizes = [(50, 37), (20, 64), (32, 32)]
    assert (made.takes, made.size) == ("photo", 0)
    assert [
        size_of(one) for one in pictures(made, WISH, *(noisy(1, size) for size in sizes))
    ] == sizes


@pytest.mark.parametrize("other", ["strength=1", "guidance=2", "negative=beard", "dtype=bfloat16"])
def test_options_of_the_call_move_the_picture_and_the_name(folder, other):
    plain, changed = editor(folder, AGAIN), editor(folder, AGAIN, f",{other}")
    assert pictures(plain, WISH, noisy(0)) != pictures(changed, WISH, noisy(0))
    assert other in changed.name
    assert plain.name != changed.name


def test_names_and_versions_hold_all_that_decides_a_picture(folder, copied):
    made = editor(folder)
    wishes = [WISH, Wish("gender", 1.0, "b", seed=7), Wish("gender", 1.0, WISH.text, 1, 7)]
    wishes += [Wish("gender", 1.0, WISH.text, seed=8)]
    assert len({made.at(wish).name for wish in wishes}) == 4
    (copied / "scheduler/scheduler_config.json").write_text('{"_class_name": "DDIMScheduler"}')
    assert editor(copied, "").version != made.version
    assert diffusers.__version__ in made.version


def test_a_refusal_of_the_safety_checker_is_one(tmp_path):
    parts = local_pipelines.checker()
    strict = local_pipelines.pipeline(tmp_path, INSTRUCTED, 8, **parts)
    (raw,) = editor(strict, "").at(WISH).ask([noisy(0)])
    assert isinstance(raw, Refused)
    assert "safety checker" in raw.reason


def test_nothing_is_asked_of_a_network(folder, monkeypatch):
    def refused(*args, **others):
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket, "socket", refused)
    assert pictures(editor(folder), WISH, noisy(0))


# -- what is no such folder, and options that it does not take ---------------------------------------------------------

MARK = "import os\nos.environ['RAN'] = 'yes'\nclass Own: pass\n"


def spoil_nothing(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def no_json(folder: Path) -> None:
    (folder / "model_index.json").write_text("{")


def a_list(folder: Path) -> None:
    (folder / "model_index.json").write_text("[1]")


def index(folder: Path, **changes) -> None:
    file = folder / "model_index.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def unknown(folder: Path) -> None:
    index(folder, _class_name="PaintingPipeline")


def own_pipeline(folder: Path) -> None:
    index(folder, _class_name=["own", "Own"])
    (folder / "own.py").write_text(MARK)


def own_part(folder: Path) -> None:
    index(folder, unet=["own", "Own"])
    (folder / "unet/own.py").write_text(MARK)


def shadow(folder: Path) -> None:
    (folder / "unet/diffusers.py").write_text(MARK)


def system(folder: Path) -> None:
    index(folder, unet=["os", "system"])


def lacks_unet(folder: Path) -> None:
    shutil.rmtree(folder / "unet")


def lacks_tokenizer(folder: Path) -> None:
    shutil.rmtree(folder / "tokenizer")


def damaged(folder: Path) -> None:
    file = folder / "unet/diffusion_pytorch_model.safetensors"
    file.write_bytes(file.read_bytes()[:2000])


def other_weights(folder: Path) -> None:
    file = folder / "unet/config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"in_channels": 4}))


def pickle(folder: Path) -> None:
    import torch
    from safetensors.torch import load_file

    file = folder / "unet/diffusion_pytorch_model.safetensors"
    torch.save(load_file(file), file.with_suffix(".bin"))
    file.unlink()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (spoil_nothing, "No such file"),
        (no_json, "cannot be loaded"),
        (a_list, "cannot be loaded"),
        (unknown, "PaintingPipeline"),
        (own_pipeline, "cannot be loaded"),
        (own_part, "contains custom code"),
        (shadow, "contains custom code"),
        (system, "cannot be loaded"),
        (lacks_unet, "unet"),
        (lacks_tokenizer, "tokenizer"),
        (damaged, "diffusion_pytorch_model.safetensors"),
        (other_weights, "cannot be loaded"),
        (pickle, "no file named diffusion_pytorch_model.safetensors"),
    ],
)
def test_a_folder_that_holds_no_whole_pipeline_is_said_before_any_picture(
    copied, capfd, monkeypatch, spoil, said
):
    monkeypatch.delenv("RAN", raising=False)
    spoil(copied)
    with pytest.raises(ModelError, match=said) as raised:
        editor(copied, "").at(WISH).prepare()
    assert "safetensors and without code" in raised.value.hint
    assert "\n" not in raised.value.message
    assert "RAN" not in os.environ
    assert capfd.readouterr().out == ""


def test_pickles_are_read_if_whoever_made_them_is_trusted(copied):
    pickle(copied)
    assert pictures(editor(copied, "", trust=True), WISH, noisy(0))


@pytest.mark.parametrize(
    ("kind", "more", "said"),
    [
        ("StableDiffusionPipeline", "", "takes no image"),
        (INSTRUCTED, ",strength=0.5", "takes no strength.*steps, guidance, image_guidance"),
        (INPAINTING, ",image_guidance=2", "takes no image_guidance"),
        (INPAINTING, ",takes=photo", "mask of the aligned face"),
        (INSTRUCTED, ",stepps=3", "Did you mean 'steps'"),
        (INSTRUCTED, ",batch=0", "batch 1 or more"),
    ],
)
def test_what_a_pipeline_does_not_take_is_said_by_name(folder, kind, more, said):
    with pytest.raises(ConfigError, match=said):
        editor(folder, kind, more)


@pytest.mark.parametrize("size", [0, 100, -16])
def test_a_size_is_one_that_pipelines_take(folder, size):
    with pytest.raises(ConfigError, match="multiple of 16"):
        load_editor(f"diffusers:{folder / INSTRUCTED},size={size}")


def test_without_diffusers_the_extra_is_named(folder, monkeypatch):
    from gslopes.ask.classifiers import catalogue

    monkeypatch.setattr(catalogue, "find_spec", lambda module: None)
    with pytest.raises(UsageError, match=r"gslopes\[diffusers\]"):
        editor(folder)


def test_what_a_pipeline_raises_fails_the_picture_alone(folder):
    made = editor(folder, AGAIN, ",strength=0.01")  # no step is left
    parts = []
    Client(made.at(WISH)).ask_parts([(0, [Question("a", lambda: noisy(0))])], parts.append)
    ((_, answer),) = parts[0].answered()
    assert answer.status == "failed"
    assert answer.reason


def test_on_a_gpu_pictures_go_together_but_not_where_several_are_references(folder, monkeypatch):
    from gslopes.ask.editors import diffusers as module

    monkeypatch.setattr(module, "pick_device", lambda device: device)
    assert editor(folder, more=",batch=4", device="cuda").batch == 4
    assert editor(folder, more=",batch=4,negative=beard", device="cuda").batch == 1
    kind = type("EditPlusPipeline", (diffusers.StableDiffusionImg2ImgPipeline,), {})
    monkeypatch.setattr(module, "_kind", lambda folder: (kind, "0"))
    assert editor(folder, more=",batch=4", device="cuda").batch == 1
