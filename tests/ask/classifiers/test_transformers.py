"""Models of the transformers library, from folders without any network; CLIP's and SigLIP's scores recomputed."""

import json
import socket
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from gslopes.ask.classifiers import load_classifier
from gslopes.ask.classifiers.transformers import task_of
from gslopes.core.errors import ConfigError, ModelError
from gslopes.photos.decode import decode
from tests.ask import local_models
from tests.loopback import QuietHandler, serving

pytest.importorskip(
    "transformers", reason="transformers is not installed: pip install 'gslopes[transformers]'"
)
LABELS = ("nurse", "chef", "judge")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("towers")
    local_models.two_towers(folder / "clip", "CLIP")
    local_models.two_towers(folder / "siglip", "Siglip")
    (folder / "labels.txt").write_text("\n".join(LABELS) + "\n")
    return folder


def scores(folder: Path, model: str, data: bytes, more: str = "") -> dict[str, float]:
    name = f"transformers:{folder / model},labels={folder / 'labels.txt'},template=a photo of a {{}},top_k=3{more}"
    classifier = load_classifier(name)
    return dict(classifier.parse(json.loads(json.dumps(classifier.ask([data])[0]))).labels)


@pytest.mark.parametrize(
    ("config", "task"),
    [
        ('{"architectures": ["ViTForImageClassification"]}', "classify"),
        ('{"architectures": ["CLIPModel"]}', "zero-shot"),
        ('{"architectures": ["SiglipModel"]}', "zero-shot"),
        *((text, "classify") for text in ("", "[]", "{}", '{"architectures": null}')),
    ],
)
def test_the_task_is_what_the_folder_says_else_classification(tmp_path, config, task):
    (tmp_path / "config.json").write_text(config)
    assert task_of(str(tmp_path)) == task


@pytest.mark.slow
def test_folders_are_read_without_any_network(models, tmp_path, monkeypatch, picture):
    def refused(*args, **others):
        raise AssertionError("a connection was tried")

    name = local_models.transformers(tmp_path)
    monkeypatch.setattr(socket, "socket", refused)
    classifier = load_classifier(name)
    assert classifier.parse(classifier.ask([picture((10, 20, 30))])[0]).labels
    assert scores(models, "clip", picture((10, 20, 30)))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("./no/such/folder,task=zero-shot", "cannot be loaded"),
        ("m,template=a photo", "where the label goes"),
        ("m,top_k=0", "rank or by threshold"),
    ],
)
def test_what_is_no_model_and_parameters_out_of_range_are_said(name, said):
    with pytest.raises((ModelError, ConfigError), match=said):
        load_classifier(f"transformers:{name}")


class Nothing(QuietHandler):
    """A hub without any model."""

    def do_HEAD(self) -> None:  # noqa: N802
        self.service.asked.append(self.path)
        self.send(404, b"", "text/plain")


@pytest.mark.parametrize(
    "name",
    [
        "timm:test_resnet",
        "transformers:google/vit-base-patch16-224",
        "transformers:a/b,task=zero-shot",
    ],
)
@pytest.mark.parametrize("is_there", [False, True], ids=["without a network", "no model there"])
def test_a_hub_that_cannot_be_reached_is_one_sentence_at_once(
    tmp_path, monkeypatch, caplog, capsys, name, is_there
):
    hub = pytest.importorskip("huggingface_hub.constants")
    service = SimpleNamespace(port=1, asked=[])
    monkeypatch.setattr(hub, "HF_HUB_CACHE", str(tmp_path))
    with serving(service, Nothing) if is_there else nullcontext():
        monkeypatch.setattr(hub, "ENDPOINT", f"http://127.0.0.1:{service.port}")
        monkeypatch.setattr(
            hub,
            "HUGGINGFACE_CO_URL_TEMPLATE",
            f"{hub.ENDPOINT}/{{repo_id}}/{{revision}}/{{filename}}",
        )
        begun = time.monotonic()
        with pytest.raises(ModelError) as refused:
            load_classifier(name)
    message, hint = refused.value.message, refused.value.hint
    assert ("127.0.0.1:1 cannot be reached, and no whole copy is here" in message) == (not is_there)
    assert hint.startswith("Connect once. Or: ") == (not is_there)
    assert "\n" not in message
    assert caplog.records == []
    assert capsys.readouterr() == ("", "")
    assert time.monotonic() - begun < 8
    assert bool(service.asked) == is_there
    assert not hub.HF_HUB_OFFLINE


@pytest.mark.parametrize("model", ["clip", "siglip"])
def test_its_scores_are_those_of_the_whole_model(models, picture, model):
    import torch
    from transformers import AutoModel, AutoProcessor

    data = picture((200, 30, 90))
    whole, processor = (kind.from_pretrained(models / model) for kind in (AutoModel, AutoProcessor))
    pad = {"padding": "max_length", "max_length": 64} if model == "siglip" else {"padding": True}
    inputs = processor(
        text=[f"a photo of a {label}" for label in LABELS],
        images=Image.fromarray(decode(data, "picture")[0]),
        return_tensors="pt",
        **pad,
    )
    with torch.inference_mode():
        logits = whole.eval()(**inputs).logits_per_image[0].double().numpy()
    expected = (
        1 / (1 + np.exp(-logits)) if model == "siglip" else np.exp(logits) / np.exp(logits).sum()
    )
    found = scores(models, model, data)
    assert [found[label] for label in LABELS] == pytest.approx(expected.tolist(), abs=1e-4)


def test_a_siglip_scores_each_label_on_its_own_unless_it_is_to_compare(models, picture):
    alone = scores(models, "siglip", picture((1, 2, 3)))
    compared = scores(models, "siglip", picture((1, 2, 3)), ",activation=softmax")
    assert sum(compared.values()) == pytest.approx(1, abs=1e-5)
    assert alone != pytest.approx(compared, abs=1e-3)


def test_the_list_and_the_weights_are_in_the_version(models, tmp_path):
    name = f"transformers:{models / 'clip'},labels={models / 'labels.txt'}"
    (tmp_path / "labels.txt").write_text("nurse\n")
    other = f"transformers:{models / 'clip'},labels={tmp_path / 'labels.txt'}"
    third = f"transformers:{models / 'siglip'},labels={models / 'labels.txt'}"
    assert len({load_classifier(one).version for one in (name, other, third)}) == 3
