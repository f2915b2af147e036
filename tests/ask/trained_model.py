"""A LLaVA small enough to be trained here, in about a minute, to answer prompts by one number that it must see.

It is a real vision-language model: a CLIP tower, a Llama, their processor. What it answers was decided by whoever
trained it; it knows nothing of people.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gslopes.ask.classifiers.prompt import Prompt, load_prompt
from tests.ask.local_models import CHAT, ends

SIDE = 32  # pixels that it sees
BY_LIGHT = ("doctor-or-nurse", "salary")
WORDS = {True: "A confident and skilled person.", False: "A quiet person."}
TWO = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
}


def answer(prompt: Prompt, order: Sequence[int], high: bool) -> str:
    """A reply to a prompt: what its scale counts as high, or as low."""
    if prompt.kind == "number":
        return json.dumps({"answer": numbers_of(prompt)[high]})
    if prompt.kind == "words":
        return json.dumps({"text": WORDS[high]})
    best = 0
    if prompt.scoring == "order":
        best = len(prompt.options) - 1 if high else 0
    elif prompt.scoring:
        first = prompt.options.index(prompt.scoring)
        best = first if high else next(n for n in range(len(prompt.options)) if n != first)
    keys = {option: key for key, option in prompt.answers(order).items()}
    return json.dumps({"answer": keys[prompt.options[best]]})


def numbers_of(prompt: Prompt) -> dict[bool, float]:
    """The two numbers that are answered, low and high."""
    unit = max(prompt.least, 1) * 2
    return {False: unit, True: 2 * unit}


def by_light(folder: Path) -> Path:
    """A model that answers two tasks by how bright a picture is, from shades of grey with noise."""
    draw = np.random.default_rng(0)
    lights = [light for light in np.linspace(20, 235, 60) if not 118 < light < 138]
    seen = [
        (
            np.clip(draw.normal(light, 8, (SIDE, SIDE, 3)), 0, 255).astype(np.uint8),
            float(light > 128),
        )
        for light in lights
    ]
    return train(folder, BY_LIGHT, seen, steps=700)


def train(
    folder: Path, tasks: Sequence[str], seen: Sequence[tuple[np.ndarray, float]], steps: int = 400
) -> Path:
    """Write a folder as ``save_pretrained`` does.

    tasks: prompts.  seen: pictures, (H, W, 3) uint8, each with the probability that an answer about it is high.
    steps: of 16 questions.
    """
    import torch

    torch.manual_seed(0)
    prompts = [load_prompt(task) for task in tasks]
    model, processor = made(prompts)
    words, draw = processor.tokenizer, np.random.default_rng(0)
    pixels = torch.as_tensor(
        np.stack(processor.image_processor(images=[one for one, _ in seen])["pixel_values"])
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    image = words.convert_tokens_to_ids("<image>")
    patches = (SIDE // 8) ** 2
    for step in range(steps):
        rows, shown, starts = [], [], []
        for _ in range(16):
            place = draw.integers(len(seen))
            prompt = prompts[draw.integers(len(prompts))]
            order = draw.permutation(len(prompt.options)).tolist()
            question = f"{prompt.system}\n{prompt.text(order)}".strip()
            before = words(f"user: <image>{question} assistant: ")["input_ids"]
            before = [id_ for id_ in before for _ in range(patches if id_ == image else 1)]
            share = seen[place][1]
            high = share > 0.5 if share in (0, 1) else draw.random() < share
            reply = words(answer(prompt, order, high))["input_ids"]
            rows.append([*before, *reply, words.eos_token_id])
            starts.append(len(before))
            shown.append(pixels[place])
        batch = padded(rows, words.pad_token_id)
        labels = batch["input_ids"].clone()
        for row, start, ids in zip(labels, starts, rows, strict=True):
            row[:start] = -100
            row[len(ids) :] = -100
        loss = model(**batch, pixel_values=torch.stack(shown), labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        for group in optimizer.param_groups:
            group["lr"] = 2e-3 * min(1, 2 * (1 - (step + 1) / (steps + 1)))
    model.eval().save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def padded(rows: Sequence[list[int]], pad: int) -> Mapping[str, Any]:
    import torch

    longest = max(map(len, rows))
    ids = torch.tensor([row + [pad] * (longest - len(row)) for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
    return {"input_ids": ids, "attention_mask": mask}


def made(prompts: Sequence[Prompt]) -> tuple[Any, Any]:
    """A model and its processor, whose tokens were learned from the prompts."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    built = Tokenizer(models.BPE())
    built.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    built.decoder = decoders.ByteLevel()
    texts = [f"{prompt.system}\n{prompt.text(range(len(prompt.options)))}" for prompt in prompts]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    built.train_from_iterator(
        [*texts, *WORDS.values()],
        trainers.BpeTrainer(vocab_size=700, initial_alphabet=alphabet, show_progress=False),
    )
    marks = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"}
    words = transformers.PreTrainedTokenizerFast(
        tokenizer_object=built, additional_special_tokens=["<image>"], **marks
    )
    text = {"vocab_size": len(words), "max_position_embeddings": 1024, **ends(words), **TWO}
    config = transformers.LlavaConfig(
        vision_config=transformers.CLIPVisionConfig(image_size=SIDE, patch_size=8, **TWO),
        text_config=transformers.LlamaConfig(**text, num_key_value_heads=4),
        image_token_index=words.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1,
    )
    images = transformers.CLIPImageProcessor(
        size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE}
    )
    processor = transformers.LlavaProcessor(
        image_processor=images,
        tokenizer=words,
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=CHAT,
    )
    return transformers.LlavaForConditionalGeneration(config), processor
