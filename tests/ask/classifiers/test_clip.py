"""SigLIP's sigmoid beside CLIP's softmax, on tiny random models in local files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gslopes.ask.classifiers import load_classifier

open_clip = pytest.importorskip("open_clip", reason="open_clip is not installed: pip install 'gslopes[clip]'")


@pytest.fixture(scope="module")
def siglip(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model of one layer a tower with a bias, as SigLIP's have it, over three labels."""
    import torch

    folder: Path = tmp_path_factory.mktemp("sigmoid")
    vision = {"image_size": 32, "layers": 1, "width": 32, "head_width": 16, "patch_size": 8}
    text = {"context_length": 77, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1}
    config = folder / "tiny-sigmoid.json"
    config.write_text(json.dumps({"embed_dim": 16, "init_logit_bias": -3, "vision_cfg": vision, "text_cfg": text}))
    open_clip.add_model_config(config)
    torch.save(open_clip.create_model("tiny-sigmoid").state_dict(), folder / "model.pt")
    (folder / "labels.txt").write_text("nurse\nchef\njudge\n")
    return f"clip:tiny-sigmoid,config={config},weights={folder / 'model.pt'},labels={folder / 'labels.txt'},top_k=3"


def scores(name: str, picture: bytes) -> dict[str, float]:
    classifier = load_classifier(name)
    return dict(classifier.parse(classifier.ask([picture])[0]).labels)


def test_a_siglip_model_scores_each_label_on_its_own(siglip, picture):
    alone, compared = (scores(f"{siglip}{more}", picture((10, 200, 30))) for more in ("", ",activation=softmax"))
    assert sum(compared.values()) == pytest.approx(1, abs=1e-5)
    assert sum(alone.values()) != pytest.approx(1, abs=1e-2)
    assert list(alone) == list(compared)  # the same order


def test_a_label_of_siglip_does_not_depend_on_the_list(siglip, picture, tmp_path):
    (tmp_path / "one.txt").write_text("nurse\nchef\n")
    others = siglip.partition(",labels=")[0]
    few = scores(f"{others},labels={tmp_path / 'one.txt'},top_k=2", picture((10, 200, 30)))
    assert scores(siglip, picture((10, 200, 30)))["nurse"] == pytest.approx(few["nurse"], abs=1e-6)
