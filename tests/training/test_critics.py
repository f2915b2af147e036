import torch

from training.critics import FeatureCritic, PictureCritic, Recent


def test_a_feature_critic_answers_once_a_level_and_keeps_no_weights_of_what_it_sees_by():
    encoder = torch.nn.Conv2d(3, 8, 8, stride=8)
    critic = FeatureCritic(
        lambda pictures: [encoder(pictures), pictures[:, :, ::4, ::4]], [(8, 8), (3, 16)], 2
    )
    pictures, attributes = torch.rand(5, 3, 64, 64), torch.ones(5, 2)
    logits = critic(pictures, attributes)
    assert logits.shape == (2, 5)
    assert not torch.equal(critic(pictures, -attributes), logits)
    assert {name.split(".")[0] for name in critic.state_dict()} == {"heads", "ends", "others"}


def test_what_a_feature_critic_makes_of_another_attribute_differs_from_end_to_end():
    torch.manual_seed(0)
    critic = FeatureCritic(lambda pictures: [pictures], [(3, 8)], 2)
    seen = critic.features(torch.rand(4, 3, 8, 8))

    def of_the_other(end: float) -> torch.Tensor:
        """How much more the critic believes in +1 than in -1 of the other attribute, at an end of the edited one."""
        answers = [critic.answer(seen, torch.tensor([[end, other]] * 4)) for other in (1.0, -1.0)]
        return answers[0] - answers[1]

    assert not torch.allclose(of_the_other(1.0), of_the_other(-1.0), atol=1e-3)
    torch.testing.assert_close(of_the_other(0.0), (of_the_other(1.0) + of_the_other(-1.0)) / 2)


def critic(attributes: int) -> PictureCritic:
    torch.manual_seed(0)
    return PictureCritic(1, attributes, widths=(4, 8, 8, 8, 8, 8))


def test_each_end_has_its_own_answer():
    pictures, judge = torch.randn(3, 1, 128, 128), critic(1)
    low, high = (judge(pictures, torch.full((3, 1), end)) for end in (-1.0, 1.0))
    middle = judge(pictures, torch.zeros(3, 1))
    assert low.shape == (3,)
    assert (low != high).all()
    torch.testing.assert_close(middle, (low + high) / 2)


def test_recent_latents_are_the_last_batches_in_their_order_and_survive_a_checkpoint():
    recent = Recent(2, 3, (1, 1, 1), 1)
    batches = [torch.full((3, 1, 1, 1), float(i)) for i in range(4)]
    for i, batch in enumerate(batches[:3]):
        latents, attributes = recent.add(batch, torch.full((3, 1), float(i)))
    assert latents.flatten().tolist() == attributes.flatten().tolist() == [1, 1, 1, 2, 2, 2]
    assert Recent(2, 3, (1, 1, 1), 1).add(batches[0], torch.zeros(3, 1))[0].shape == (3, 1, 1, 1)
    restored = Recent(2, 3, (1, 1, 1), 1)
    restored.load_state_dict(recent.state_dict())
    assert restored.add(batches[3], torch.zeros(3, 1))[0].flatten().tolist() == [2, 2, 2, 3, 3, 3]
