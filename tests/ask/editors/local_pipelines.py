"""Tiny random pipelines of diffusers in local folders, as its own tests build them: what the editor is tested with."""

import json
from pathlib import Path
from typing import Any

SIDE = 32  # pixels


def pipeline(folder: Path, kind: str, channels: int, **parts: Any) -> Path:
    """A pipeline of Stable Diffusion's parts, a few channels each, saved.

    kind: its class.  channels: what its U-Net takes: 4, 8 with the photo, 9 with photo and mask.
    parts: others in place of its own.
    """
    import diffusers
    import torch
    from transformers import CLIPTextConfig, CLIPTextModel

    diffusers.utils.logging.disable_progress_bar()
    torch.manual_seed(0)
    words = tokenizer(folder / "words")
    places = ("bos_token_id", "eos_token_id", "pad_token_id")
    text = CLIPTextConfig(
        vocab_size=len(words),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=words.model_max_length,
        **{place: getattr(words, place) for place in places},
    )
    unet = diffusers.UNet2DConditionModel(
        sample_size=SIDE // 2,
        in_channels=channels,
        layers_per_block=1,
        block_out_channels=(8, 16),
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=16,
        attention_head_dim=4,
        norm_num_groups=4,
    )
    vae = diffusers.AutoencoderKL(
        block_out_channels=(8, 8),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        norm_num_groups=4,
        sample_size=SIDE,
    )
    own = {
        "vae": vae,
        "unet": unet,
        "tokenizer": words,
        "text_encoder": CLIPTextModel(text),
        "scheduler": diffusers.DDIMScheduler(
            beta_schedule="scaled_linear", steps_offset=1, clip_sample=False
        ),
        "safety_checker": None,
        "feature_extractor": None,
        "requires_safety_checker": False,
    }
    made = getattr(diffusers, kind)(**own | parts)
    made.save_pretrained(folder / kind)
    return folder / kind


def tokenizer(folder: Path) -> Any:
    """CLIP's, one token for each letter."""
    from tokenizers import pre_tokenizers
    from transformers import CLIPTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = [
        *letters,
        *(f"{letter}</w>" for letter in letters),
        "<|startoftext|>",
        "<|endoftext|>",
    ]
    folder.mkdir(parents=True, exist_ok=True)
    numbers = {token: number for number, token in enumerate(tokens)}
    (folder / "vocab.json").write_text(json.dumps(numbers))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    return CLIPTokenizer.from_pretrained(folder, model_max_length=77)


def checker() -> dict[str, Any]:
    """A safety checker that refuses every picture: its concepts are as near as they can be."""
    import torch
    from diffusers.pipelines.stable_diffusion import StableDiffusionSafetyChecker
    from transformers import CLIPConfig, CLIPImageProcessor

    tower = {
        "hidden_size": 16,
        "intermediate_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
    }
    vision = {"image_size": 32, "patch_size": 8, "projection_dim": 16, **tower}
    made = StableDiffusionSafetyChecker(
        CLIPConfig(vision_config=vision, text_config=tower, projection_dim=16)
    )
    torch.nn.init.constant_(made.concept_embeds_weights, -2.0)
    size = {"height": 32, "width": 32}
    extractor = CLIPImageProcessor(size={"shortest_edge": 32}, crop_size=size)
    return {"safety_checker": made, "feature_extractor": extractor, "requires_safety_checker": True}
