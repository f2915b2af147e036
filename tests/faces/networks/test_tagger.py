import torch

from gslopes.faces.networks.tagger import Tagger, TaggerConfig, folded


def test_a_folded_tagger_gives_the_same_answers_without_batch_norm():
    network = Tagger(TaggerConfig(labels=3, widths=(4, 8, 8)))
    for _ in range(3):
        network(torch.randn(8, 3, 32, 32) + 1)  # other statistics
    faces = torch.rand(4, 3, 32, 32)
    plain = folded(network)
    assert not any(isinstance(module, torch.nn.BatchNorm2d) for module in plain.modules())
    with torch.no_grad():
        torch.testing.assert_close(plain(faces), network.eval()(faces), atol=1e-5, rtol=1e-5)
    assert any(
        isinstance(module, torch.nn.BatchNorm2d) for module in network.modules()
    )  # unchanged
