import torch
from torchvision.models import resnet18

from gslopes.faces.networks.bisenet import BiSeNet, ResNet18

# parameters of the public checkpoint beyond its ResNet, by the source of zllrunning/face-parsing.PyTorch
SHAPES = {
    "cp.arm16.conv.conv.weight": (128, 256, 3, 3),
    "cp.arm16.conv.bn.weight": (128,),
    "cp.arm16.conv_atten.weight": (128, 128, 1, 1),
    "cp.arm16.bn_atten.weight": (128,),
    "cp.arm32.conv.conv.weight": (128, 512, 3, 3),
    "cp.arm32.conv_atten.weight": (128, 128, 1, 1),
    "cp.conv_head16.conv.weight": (128, 128, 3, 3),
    "cp.conv_head32.conv.weight": (128, 128, 3, 3),
    "cp.conv_avg.conv.weight": (128, 512, 1, 1),
    "ffm.convblk.conv.weight": (256, 256, 1, 1),
    "ffm.convblk.bn.running_var": (256,),
    "ffm.conv1.weight": (64, 256, 1, 1),
    "ffm.conv2.weight": (256, 64, 1, 1),
    "conv_out.conv.conv.weight": (256, 256, 3, 3),
    "conv_out.conv_out.weight": (19, 256, 1, 1),
    "conv_out16.conv.conv.weight": (64, 128, 3, 3),
    "conv_out16.conv_out.weight": (19, 64, 1, 1),
    "conv_out32.conv.conv.weight": (64, 128, 3, 3),
    "conv_out32.conv_out.weight": (19, 64, 1, 1),
}


def shapes(state: dict[str, torch.Tensor]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in state.items()}


def test_parameters_have_the_names_and_shapes_of_the_public_checkpoint() -> None:
    result = shapes(BiSeNet().state_dict())
    assert {name: result.get(name) for name in SHAPES} == SHAPES
    backbone = {
        f"cp.resnet.{name}" for name in resnet18().state_dict() if not name.startswith("fc.")
    }
    others = {name.rpartition(".")[0] for name in result if name not in backbone}
    norms = {
        name.replace(".conv.weight", ".bn") for name in SHAPES if name.endswith(".conv.weight")
    }
    weights = {name.rpartition(".")[0] for name in SHAPES}
    assert backbone <= set(result)
    assert others == weights | norms | {"cp.arm32.bn_atten"}


def test_features_of_the_context_path_are_those_of_torchvision_s_network() -> None:
    torch.manual_seed(0)
    peer = resnet18().eval()
    for value in peer.state_dict().values():
        if value.ndim == 1:
            value.uniform_(0.5, 1.5)
    ours = ResNet18().eval()
    ours.load_state_dict(
        {name: value for name, value in peer.state_dict().items() if not name.startswith("fc.")}
    )
    retained: list[torch.Tensor] = []
    for layer in (peer.layer2, peer.layer3, peer.layer4):
        layer.register_forward_hook(lambda module, given, out: retained.append(out))
    with torch.inference_mode():
        pictures = torch.rand(1, 3, 64, 64)
        peer(pictures)
        for our, expected in zip(ours(pictures), retained, strict=True):
            torch.testing.assert_close(our, expected)


def test_logits_are_as_large_as_the_picture_and_depend_on_fine_features_and_context() -> None:
    torch.manual_seed(0)
    network = BiSeNet()
    logits = network(torch.rand(2, 3, 64, 64))
    assert logits.shape == (2, 19, 64, 64)
    logits.square().mean().backward()
    silent = {name.split(".")[0] for name, p in network.named_parameters() if p.grad is None}
    assert silent == {"conv_out16", "conv_out32"}
