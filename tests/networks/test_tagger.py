import torch

from gslopes.networks.tagger import Tagger, TaggerConfig


def test_a_tagger_answers_every_question_at_any_size():
    network = Tagger(TaggerConfig(labels=5, widths=(4, 8, 8)))
    assert network(torch.rand(2, 3, 32, 32)).shape == (2, 5)
    assert network(torch.rand(2, 3, 64, 48)).shape == (2, 5)


def test_answers_do_not_depend_on_the_rest_of_the_batch_when_not_training():
    network = Tagger(TaggerConfig(labels=3, widths=(4, 8))).eval()
    faces = torch.rand(4, 3, 32, 32)
    assert torch.allclose(network(faces)[:1], network(faces[:1]), atol=1e-5)
