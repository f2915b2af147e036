"""Tiny random models of the real architectures, in local files: what the loaders are tested with."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

LABELS = "a\nb\nc\n"


def torchvision(folder: Path) -> str:
    """SqueezeNet 1.1 with three outputs."""
    import torchvision
    from safetensors.torch import save_file

    module = torchvision.models.get_model("squeezenet1_1", weights=None, num_classes=3)
    save_file(module.state_dict(), folder / "model.safetensors")
    return (
        f"torchvision:squeezenet1_1,weights={folder / 'model.safetensors'},labels={_labels(folder)}"
    )


def timm(folder: Path) -> str:
    """timm's own test network with three outputs."""
    import timm
    import torch

    torch.save(timm.create_model("test_resnet", num_classes=3).state_dict(), folder / "model.pth")
    return f"timm:test_resnet,weights={folder / 'model.pth'},labels={_labels(folder)}"


def transformers(folder: Path) -> str:
    """A vision transformer of one layer, as save_pretrained writes it."""
    from transformers import ViTConfig, ViTForImageClassification, ViTImageProcessor
    from transformers.utils import logging

    logging.disable_progress_bar()
    shape = {
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
    }
    config = ViTConfig(
        image_size=32, patch_size=8, num_labels=3, id2label=dict(enumerate("xyz")), **shape
    )
    ViTForImageClassification(config).save_pretrained(folder / "vit")
    ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder / "vit")
    return f"transformers:{folder / 'vit'}"


def torchscript(folder: Path) -> str:
    """A program that answers the mean of each channel."""
    import torch

    class Means(torch.nn.Module):
        def forward(self, pictures: torch.Tensor) -> torch.Tensor:
            return pictures.mean((2, 3))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.script(Means()).save(str(folder / "means.pt"))
    return f"torchscript:{folder / 'means.pt'},labels={_labels(folder)},size=16"


def python(folder: Path) -> str:
    """The function below."""
    del folder
    return f"python:{__name__}:brightness,version=1"


def crops(folder: Path) -> str:
    """A saliency model, next to one of two people."""
    from PIL import Image

    for place, colour in enumerate(("gray", "white")):
        Image.new("RGB", (24, 18), colour).save(folder / f"{place}.png")
    return f"crops:fine-grained,opponents={folder},others=1"


def brightness(pictures: list) -> list[dict[str, float] | None]:
    """A function as a user would write it."""
    return [{"bright": float(picture.mean() / 255), "any": 1.0} for picture in pictures]


def _labels(folder: Path) -> Path:
    (folder / "labels.txt").write_text(LABELS)
    return folder / "labels.txt"


MAKERS: dict[str, Callable[[Path], str]] = {
    make.__name__: make for make in (torchvision, timm, transformers, torchscript, python, crops)
}


SMALL = {
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 16,
}
CHAT = (
    "{% for message in messages %}{{ message['role'] }}: {% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}{% endfor %} "
    "{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"
)


def tokenizer(*extra: str) -> Any:
    """One token for each byte, and the extra ones."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()  # random weights earn many remarks
    alphabet = {
        char: place for place, char in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))
    }
    built = Tokenizer(models.BPE(vocab=alphabet, merges=[]))
    built.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    built.decoder = decoders.ByteLevel()
    ends = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"}
    return PreTrainedTokenizerFast(
        tokenizer_object=built, additional_special_tokens=list(extra), **ends
    )


def images() -> Any:
    from transformers import CLIPImageProcessor

    return CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})


def ends(words: Any) -> dict[str, int]:
    return {name: getattr(words, name) for name in ("eos_token_id", "bos_token_id", "pad_token_id")}


def two_towers(folder: Path, kind: str) -> Path:
    """A ``CLIP``, or a ``Siglip`` (a sigmoid with a bias), of one layer a tower."""
    import torch
    import transformers

    torch.manual_seed(0)
    words, clip = tokenizer(), kind == "CLIP"
    text = {"vocab_size": len(words), "max_position_embeddings": 64, **ends(words), **SMALL}
    vision = {"image_size": 32, "patch_size": 8, **SMALL}
    config, model, processor = (
        getattr(transformers, f"{kind}{part}") for part in ("Config", "Model", "Processor")
    )
    size = {"projection_dim": 16} if clip else {}
    text |= {} if clip else {"projection_size": 16}
    model(config(text_config=text, vision_config=vision, **size)).save_pretrained(folder)
    pictures = (
        images() if clip else transformers.SiglipImageProcessor(size={"height": 32, "width": 32})
    )
    processor(image_processor=pictures, tokenizer=words).save_pretrained(folder)
    return folder


def llava(folder: Path) -> Path:
    """A LLaVA of one layer a tower; every letter is a token."""
    import torch
    from transformers import (
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    torch.manual_seed(0)
    words = tokenizer("<image>")
    shape = {
        "vocab_size": len(words),
        "max_position_embeddings": 4096,
        "num_key_value_heads": 2,
        **ends(words),
        **SMALL,
    }
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(image_size=32, patch_size=8, **SMALL),
        text_config=LlamaConfig(**shape),
        image_token_index=words.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1,
    )
    LlavaForConditionalGeneration(config).save_pretrained(folder)
    facts = {
        "patch_size": 8,
        "vision_feature_select_strategy": "default",
        "num_additional_image_tokens": 1,
    }
    LlavaProcessor(
        image_processor=images(), tokenizer=words, **facts, chat_template=CHAT
    ).save_pretrained(folder)
    return folder


def qwen2_vl(folder: Path) -> Path:
    """A Qwen2-VL of one layer a tower: positions in three axes, as many tokens as a picture is large."""
    import torch
    import transformers

    torch.manual_seed(0)
    marks = ("<|vision_start|>", "<|image_pad|>", "<|vision_end|>", "<|video_pad|>")
    words = tokenizer(*marks)
    start, image, end, video = words.convert_tokens_to_ids(list(marks))
    text = {"vocab_size": len(words), "num_key_value_heads": 2, **ends(words), **SMALL}
    rope = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10_000.0}
    config = transformers.Qwen2VLConfig(
        text_config=text | {"rope_parameters": rope, "rope_scaling": rope},
        vision_config={"depth": 1, "embed_dim": 16, "num_heads": 2, "hidden_size": 16},
        image_token_id=image,
        video_token_id=video,
        vision_start_token_id=start,
        vision_end_token_id=end,
    )
    transformers.Qwen2VLForConditionalGeneration(config).save_pretrained(folder)
    size = {"shortest_edge": 28 * 28, "longest_edge": 4 * 28 * 28}
    transformers.Qwen2VLProcessor(
        image_processor=transformers.Qwen2VLImageProcessor(size=size),
        tokenizer=words,
        video_processor=transformers.Qwen2VLVideoProcessor(size=size),
        chat_template=CHAT.replace("<image>", "".join(marks[:3])),
    ).save_pretrained(folder)
    return folder


def idefics3(folder: Path) -> Path:
    """An Idefics3 of one layer a tower, whose template begins with the token that its tokenizer adds as well."""
    import torch
    import transformers

    torch.manual_seed(0)
    words = tokenizer("<fake_token_around_image>", "<image>", "<global-img>", "<end_of_utterance>")
    text = {"vocab_size": len(words), "num_key_value_heads": 2, **ends(words), **SMALL}
    config = transformers.Idefics3Config(
        vision_config={"image_size": 32, "patch_size": 8, **SMALL},
        text_config={"model_type": "llama", "max_position_embeddings": 4096} | text,
        scale_factor=2,
        image_token_id=words.convert_tokens_to_ids("<image>"),
        pad_token_id=words.pad_token_id,
    )
    transformers.Idefics3ForConditionalGeneration(config).save_pretrained(folder)
    size = {"longest_edge": 32}
    images = transformers.Idefics3ImageProcessor(
        size=size, max_image_size=size, do_image_splitting=False
    )
    transformers.Idefics3Processor(
        image_processor=images, tokenizer=words, image_seq_len=4, chat_template="<s>" + CHAT
    ).save_pretrained(folder)
    return folder


def gemma3(folder: Path) -> Path:
    """A Gemma 3 of one layer a tower: types of tokens, and a list of pictures for each text."""
    import torch
    import transformers

    torch.manual_seed(0)
    marks = ("<image>", "<start_of_image>", "<end_of_image>")
    plain = tokenizer(*marks)
    words = transformers.PreTrainedTokenizerFast(
        tokenizer_object=plain.backend_tokenizer,
        extra_special_tokens=dict(
            zip(("image_token", "boi_token", "eoi_token"), marks, strict=True)
        ),
        **{f"{name}_token": getattr(plain, f"{name}_token") for name in ("pad", "bos", "eos")},
    )
    ids = words.convert_tokens_to_ids(list(marks))
    shape = {
        "vocab_size": len(words),
        "num_key_value_heads": 2,
        "head_dim": 8,
        **ends(words),
        **SMALL,
    }
    config = transformers.Gemma3Config(
        text_config=shape,
        vision_config={"image_size": 32, "patch_size": 8, **SMALL},
        mm_tokens_per_image=4,
        image_token_index=ids[0],
        boi_token_index=ids[1],
        eoi_token_index=ids[2],
    )
    transformers.Gemma3ForConditionalGeneration(config).save_pretrained(folder)
    images = transformers.Gemma3ImageProcessor(size={"height": 32, "width": 32})
    transformers.Gemma3Processor(
        image_processor=images,
        tokenizer=words,
        image_seq_length=4,
        chat_template=CHAT.replace("<image>", "<start_of_image>"),
    ).save_pretrained(folder)
    return folder


def git(folder: Path) -> Path:
    """A GIT of one layer a tower."""
    import torch
    from transformers import GitConfig, GitForCausalLM, GitProcessor, GitVisionConfig

    torch.manual_seed(0)
    words = tokenizer()
    vision = GitVisionConfig(image_size=32, patch_size=8, **SMALL).to_dict()
    config = GitConfig(
        vision_config=vision,
        vocab_size=len(words),
        max_position_embeddings=128,
        **ends(words),
        **SMALL,
    )
    GitForCausalLM(config).save_pretrained(folder)
    GitProcessor(image_processor=images(), tokenizer=words).save_pretrained(folder)
    return folder


def trained_git(folder: Path, dark: str, bright: str) -> Path:
    """A GIT that was trained here, in seconds, to caption dark pictures in one way and bright ones in another."""
    import numpy as np
    import torch
    from transformers import AutoProcessor, GitForCausalLM

    model = GitForCausalLM.from_pretrained(git(folder))
    processor = AutoProcessor.from_pretrained(folder)
    words = processor.tokenizer
    sentences = [
        [words.bos_token_id, *words(text)["input_ids"], words.eos_token_id]
        for text in (dark, bright)
    ]
    longest = max(map(len, sentences))
    padded = torch.tensor([row + [words.pad_token_id] * (longest - len(row)) for row in sentences])
    plain = [np.full((32, 32, 3), brightness, np.uint8) for brightness in (60, 200)]
    seen = torch.as_tensor(np.stack(processor.image_processor(images=plain)["pixel_values"]))
    labels = padded.masked_fill(padded == words.pad_token_id, -100)
    steps = torch.optim.AdamW(model.parameters(), lr=1e-2)
    torch.manual_seed(0)
    for _ in range(120):
        mask = (padded != words.pad_token_id).long()
        output = model(
            input_ids=padded,
            attention_mask=mask,
            pixel_values=seen + 0.15 * torch.randn(2, 1, 1, 1),
            labels=labels,
        )
        steps.zero_grad()
        output.loss.backward()
        steps.step()
    model.eval().save_pretrained(folder)
    return folder
