"""What a face parser says of each pixel, at its own size, and a network of another number of classes."""

from __future__ import annotations

import json
import pickle
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from gslopes.core.errors import ModelError, UsageError
from gslopes.core.files import sha256_of
from gslopes.faces import zoo
from gslopes.faces.zoo import load, parsing
from gslopes.faces.zoo.parsing import (
    PUBLIC_CLASSES,
    class_probabilities,
    mirrored_classes,
    probabilities_at_hand,
    resized,
)

CPU = torch.device("cpu")


def test_probabilities_add_up_over_the_classes_at_the_parsers_own_size():
    parser = load("face-parser")
    pictures = np.random.default_rng(0).integers(0, 256, (2, 64, 64, 3), np.uint8)
    seen = class_probabilities(parser, pictures, CPU)
    assert seen.shape == (2, len(parser.spec.labels), parser.spec.size, parser.spec.size)
    torch.testing.assert_close(seen.sum(1), torch.ones_like(seen[:, 0]))
    alone = class_probabilities(parser, pictures[1:], CPU)
    torch.testing.assert_close(alone[0], seen[1], atol=1e-5, rtol=0)


def test_a_network_that_does_not_give_a_channel_for_each_class_is_an_error():
    parser = load("face-parser")
    fewer = replace(parser, spec=replace(parser.spec, labels=parser.spec.labels[:-1]))
    with pytest.raises(ModelError, match="gives 19 classes, its spec names 18"):
        class_probabilities(fewer, np.zeros((1, 128, 128, 3), np.uint8), CPU)


def test_a_mirror_swaps_left_and_right_classes_and_nothing_else():
    labels = ("background", "left brow", "right brow", "nose", "right eye", "left eye")
    assert mirrored_classes(labels).tolist() == [0, 2, 1, 3, 5, 4]


def test_a_mirrored_picture_is_parsed_as_the_mirror_image():
    parser = load("face-parser")
    assert parser.spec.mirrored
    pictures = np.random.default_rng(1).integers(0, 256, (1, 128, 128, 3), np.uint8)
    seen = class_probabilities(parser, np.concatenate([pictures, pictures[:, :, ::-1]]), CPU)
    there = seen[1].flip(2)[mirrored_classes(parser.spec.labels)]
    torch.testing.assert_close(there, seen[0], atol=1e-5, rtol=0)
    once = class_probabilities(replace(parser, spec=replace(parser.spec, mirrored=False)), pictures, CPU)
    assert (once[0] - seen[0]).abs().max() > 0.01


def test_a_chip_is_parsed_once_for_its_mask_and_its_edit():
    parser, pictures = load("face-parser"), np.random.default_rng(2).integers(0, 256, (5, 128, 128, 3), np.uint8)
    asked = []
    parser.module.register_forward_hook(lambda module, given, out: asked.append(len(out)))
    first = probabilities_at_hand(parser, pictures, CPU)
    assert asked == [5, 5]  # the pictures and their mirror images
    again = probabilities_at_hand(parser, pictures[[3, 1]], CPU)
    assert asked == [5, 5]
    assert torch.equal(again, first[[3, 1]])
    other = pictures.copy()
    other[4, 0, 0, 0] ^= 1
    assert not torch.equal(probabilities_at_hand(parser, other, CPU)[4], first[4])
    assert asked == [5, 5, 1, 1]  # one pixel more or less is another picture
    other_parser = replace(parser, sha256="0" * 64)
    probabilities_at_hand(other_parser, pictures, CPU)
    assert asked[4:] == [5, 5]


@pytest.mark.slow
def test_pictures_that_are_not_at_hand_are_not_kept_for_ever():
    parser, random = load("face-parser"), np.random.default_rng(3)
    for _ in range(3):
        probabilities_at_hand(parser, random.integers(0, 256, (30, 128, 128, 3), np.uint8), CPU)
    assert len(parsing._kept()) == parsing.CACHED


@pytest.mark.slow
def test_what_a_thread_has_at_hand_no_other_thread_takes_away():
    parser, random = load("face-parser"), np.random.default_rng(4)
    mine, others = (random.integers(0, 256, (n, 128, 128, 3), np.uint8) for n in (4, parsing.CACHED))
    probabilities_at_hand(parser, mine, CPU)
    thread = Thread(target=probabilities_at_hand, args=(parser, others, CPU))
    thread.start()
    thread.join()
    asked = []
    parser.module.register_forward_hook(lambda module, given, out: asked.append(len(out)))
    probabilities_at_hand(parser, mine, CPU)
    assert not asked


def test_pictures_of_the_right_size_stay_as_they_are():
    pictures = torch.rand(1, 3, 8, 8)
    assert resized(pictures, 8) is pictures
    assert resized(pictures, 4).shape == (1, 3, 4, 4)


GOLDEN = Path(__file__).parents[2] / "golden" / "bisenet_resnet18.json"
SHAPES: dict[str, list[int]] = json.loads(GOLDEN.read_text(encoding="utf-8"))["shapes"]
State = dict[str, torch.Tensor]


@pytest.fixture(scope="module")
def state() -> State:
    """Random parameters under the names and shapes of the public checkpoints."""
    lot = torch.Generator().manual_seed(0)
    found: State = OrderedDict()
    for name, shape in SHAPES.items():
        counts = name.endswith("num_batches_tracked")
        found[name] = torch.tensor(80_000) if counts else torch.randn(shape, generator=lot).abs() * 0.05
    return found


@pytest.fixture(scope="module")
def public(state: State, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file as it is published."""
    path = tmp_path_factory.mktemp("public") / "79999_iter.pth"
    torch.save(state, path)
    return path


def saved(content: Any, path: Path) -> Path:
    torch.save(content, path)
    return path


def test_a_public_checkpoint_becomes_a_model_with_its_own_spec(public: Path, state: State) -> None:
    loaded = zoo.load_parser(public)
    assert loaded.sha256 == sha256_of(public)
    assert (loaded.spec.name, loaded.spec.size, loaded.spec.crop) == ("79999_iter.pth", 512, "headshot")
    assert loaded.spec.mean == (0.485, 0.456, 0.406)
    assert not loaded.module.training
    assert not any(p.requires_grad for p in loaded.module.parameters())
    held = loaded.module.state_dict()
    assert set(held) == set(SHAPES)
    assert all(torch.equal(held[name], state[name]) for name in SHAPES)


def test_the_classes_are_in_the_order_of_the_public_checkpoints() -> None:
    assert len(PUBLIC_CLASSES) == 19
    assert [PUBLIC_CLASSES.index(name) for name in ("skin", "eyeglasses", "nose", "lower lip", "hair")] == [
        1,
        6,
        10,
        13,
        17,
    ]


def test_the_regions_are_those_classes_whatever_their_order() -> None:
    from gslopes.faces.compose.skin import region_classes

    assert region_classes("face", PUBLIC_CLASSES) == (1, 2, 3, 4, 5, 10, 11, 12, 13)
    assert region_classes("skin", PUBLIC_CLASSES) == (1, 10)


def test_every_way_of_writing_the_same_parameters_gives_the_same_network(state: State, tmp_path: Path) -> None:
    files = [
        saved({"state_dict": {f"module.{k}": v for k, v in state.items()}, "iteration": 3}, tmp_path / "wrapped.pth"),
        saved({k: v for k, v in state.items() if not k.startswith("conv_out16")}, tmp_path / "lean.pth"),
        tmp_path / "old.pth",
        tmp_path / "same.safetensors",
    ]
    torch.save(state, files[2], _use_new_zipfile_serialization=False)
    save_file(dict(state), files[3])
    for file in files:
        held = zoo.load_parser(file).module.state_dict()
        assert all(torch.equal(held[name], state[name]) for name in SHAPES if not name.startswith("conv_out16")), file


def test_half_precision_is_read_as_single(state: State, tmp_path: Path) -> None:
    path = tmp_path / "half.safetensors"
    save_file({k: v.half() if v.is_floating_point() else v for k, v in state.items()}, path)
    parameters = list(zoo.load_parser(path).module.parameters())
    assert {p.dtype for p in parameters} == {torch.float32}


def test_a_spec_of_this_network_can_be_built(public: Path) -> None:
    built = zoo.build(zoo.load_parser(public).spec).state_dict()
    assert {name: list(value.shape) for name, value in built.items()} == SHAPES


# --- Wrong files ---


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("old", [False, True])
def test_code_in_a_checkpoint_is_never_run(state: State, tmp_path: Path, old: bool) -> None:
    caught, file = tmp_path / "caught", tmp_path / "trap.pth"
    torch.save({**state, "x": Trap(caught)}, file, _use_new_zipfile_serialization=not old)
    with pytest.raises(ModelError, match=r"code as well as tensors.*not run.*state_dict"):
        zoo.load_parser(file)
    assert not caught.exists()


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_bare_pickle_is_never_run(tmp_path: Path, protocol: int) -> None:
    caught, file = tmp_path / "caught", tmp_path / "trap.pkl"
    file.write_bytes(pickle.dumps(Trap(caught), protocol=protocol))
    with pytest.raises(ModelError):
        zoo.load_parser(file)
    assert not caught.exists()


@pytest.mark.parametrize("content", [b"", b"Dear diary,\n", b"\x89PNG\r\n\x1a\n....", b"\x00" * 100])
def test_a_file_that_is_no_checkpoint_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.pth").write_bytes(content)
    with pytest.raises(ModelError, match=r"x\.pth is not a checkpoint.*79999_iter"):
        zoo.load_parser(tmp_path / "x.pth")


def test_a_damaged_checkpoint_is_told(public: Path, state: State, tmp_path: Path) -> None:
    path = tmp_path / "cut.pth"
    cut = [public.read_bytes()[:5_000_000], b"PK\x03\x04 no archive", b"\x80\x02 no pickle"]
    save_file({"cp": state["cp.resnet.conv1.weight"]}, tmp_path / "x.safetensors")
    cut.append((tmp_path / "x.safetensors").read_bytes()[:-4])
    for content in cut:
        path.write_bytes(content)
        with pytest.raises(ModelError, match="is a damaged checkpoint"):
            zoo.load_parser(path)


def test_a_missing_file_and_a_folder_are_usage_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no file"):
        zoo.load_parser(tmp_path / "none.pth")
    with pytest.raises(UsageError, match="it is a folder"):
        zoo.load_parser(tmp_path)


def test_another_network_is_told_by_what_it_lacks_or_has(state: State, tmp_path: Path) -> None:
    lacking = {k: v for k, v in state.items() if not k.startswith("ffm.")}
    cases = {
        r"lacks ffm\.convblk\.conv\.weight, ffm\.convblk\.bn\.weight and 5 more": lacking,
        r"also has sp\.conv1\.conv\.weight": {**state, "sp.conv1.conv.weight": torch.zeros(64, 3, 7, 7)},
        "lacks cp.resnet.conv1.weight": {"conv1.weight": torch.zeros(3)},
        "holds no table of parameters": [torch.zeros(3)],
        "another shape": {**state, "cp.conv_avg.conv.weight": torch.zeros(128, 512, 3, 3)},
        "not finite: cp.resnet.bn1.weight": {**state, "cp.resnet.bn1.weight": torch.full((64,), torch.nan)},
    }
    for sentence, content in cases.items():
        with pytest.raises(ModelError, match=sentence):
            zoo.load_parser(saved(content, tmp_path / "x.pth"))


@pytest.mark.parametrize("classes", [1, 11, 20])
def test_another_number_of_classes_is_told(state: State, tmp_path: Path, classes: int) -> None:
    heads = {f"{head}.conv_out.weight": n for head, n in (("conv_out", 256), ("conv_out16", 64), ("conv_out32", 64))}
    other = {**state, **{name: torch.zeros(classes, n, 1, 1) for name, n in heads.items()}}
    with pytest.raises(ModelError, match=f"distinguishes {classes} classes, not the 19"):
        zoo.load_parser(saved(other, tmp_path / "x.pth"))
