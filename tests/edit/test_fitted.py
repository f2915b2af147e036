"""The shipped editors' templates follow the shape of a face; what they need is checked before."""

import numpy as np
import pytest
import torch
from skimage.data import astronaut

from gslopes.core.errors import ModelError
from gslopes.core.geometry import warp
from gslopes.edit.fitted import FittedTemplate
from gslopes.edit.landmarks import landmarks
from gslopes.find.align import choose
from gslopes.networks.fader import Fader, FaderConfig
from gslopes.networks.mtcnn import Mtcnn
from gslopes.zoo import load
from gslopes.zoo.parsing import class_probabilities

LUMA = torch.tensor([0.299, 0.587, 0.114])[:, None, None]


@pytest.fixture(scope="module")
def chips() -> torch.Tensor:
    """A real face, and the same face with its mouth four pixels lower, (2, 3, 128, 128)."""
    photo = astronaut()
    chip = warp(photo, choose(Mtcnn(32)([photo])[0], 512, 512, 32).matrix, 128)
    lower = chip.copy()
    lower[84:] = chip[80:-4]
    return torch.from_numpy(np.stack([chip, lower])).permute(0, 3, 1, 2).float() / 255


@pytest.mark.parametrize("name", ["fader-gender", "fader-race"])
def test_the_lips_of_a_template_lie_on_the_lips_of_each_face(chips, name):
    fitted = FittedTemplate(load(name).module, "cpu")
    with torch.inference_mode():
        templates = fitted(chips).template
    assert templates.shape == chips.shape
    parser = load("parser")
    pixels = (255 * chips).round().byte().permute(0, 2, 3, 1).numpy()
    found = landmarks(class_probabilities(parser, pixels, torch.device("cpu")), parser.spec.labels)
    lips = found[:, 21:23, 1].mean(1)  # between the centres of upper and lower lip
    assert lips[1] - lips[0] > 2
    columns = slice(58, 70)
    form = (templates * LUMA).sum(1)[:, 80:112, columns].mean(2)
    form = form - form.mean(1, keepdim=True)
    scores = [(form[0, 8 - shift : 24 - shift] * form[1, 8:24]).sum().item() for shift in range(9)]
    assert abs(int(np.argmax(scores)) - float(lips[1] - lips[0])) < 1.5


def test_landmarks_need_their_own_size_and_a_template():
    with pytest.raises(ModelError, match="needs chips of 128 pixels, this one has 64"):
        FittedTemplate(Fader(FaderConfig(("gender",), size=64, template=True, landmarks=31)), "cpu")
    with pytest.raises(ModelError, match="no template"):
        FittedTemplate(Fader(FaderConfig(("gender",))), "cpu")


def test_without_landmarks_all_faces_share_the_template(chips):
    network = Fader(FaderConfig(("gender",), template=True))
    fitted = FittedTemplate(network, "cpu")(chips)
    assert fitted.template is network.template
    assert fitted.motion is None


@pytest.mark.parametrize("name", ["fader-gender", "fader-race"])
def test_the_motion_of_each_face_lies_on_its_own_lips(chips, name):
    fitted = FittedTemplate(load(name).module, "cpu")
    with torch.inference_mode():
        moved = fitted(chips).motion
    assert moved.shape == (2, 128, 128, 2)
    assert 0.3 < moved.abs().max() < 3  # pixels a unit
    # the second face is the first with all below row 80 four pixels lower, its motion therefore as well
    low, high = moved[0, 84:104, 50:78], moved[1, 88:108, 50:78]
    assert (low - high).abs().mean() < 0.3 * (low - moved[1, 84:104, 50:78]).abs().mean() + 0.05
