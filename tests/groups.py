"""An editor of named ends made of race-field's weights: real pictures without a training of their own."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from gslopes.faces.zoo import ModelSpec, load, read_spec
from gslopes.faces.zoo.spec import find_asset
from training.weights import save_weights

FARTHER = 2.5  # units from a photo's own value to an end, about: race-field's motion is of one unit
# which end of race-field a name has, and how much of the way
ENDS = {"black": (0, 1.0), "east-asian": (1, 0.5), "south-asian": (0, 0.5), "white": (1, 1.0)}


def groups_spec(*ends: str, **other: Any) -> ModelSpec:
    """Of an editor of these ends, from race-field's."""
    spec = read_spec(find_asset("models", "race-field") / "spec.toml")
    config = {"widths": spec.config["widths"]}
    summary = "Edits the perceived race of a face; for tests."
    named = replace(spec, name="race-groups", network="edit-groups", ends=ends, config=config)
    return replace(named, **{"summary": summary, "recipe": "", "steps": (), **other})


def groups_state(
    field: torch.nn.Module, ends: Sequence[tuple[int, float]]
) -> dict[str, torch.Tensor]:
    """Weights of such a network.  ends: the end of ``field`` that each is, and its share of the way."""
    state = {name: value.clone() for name, value in field.state_dict().items()}
    for part in ("weight", "bias"):
        ratios = state[f"to_ends.{part}"]
        motion = state[f"to_motion.{part}"]
        ways = [share * ratios[3 * end : 3 * end + 3] for end, share in ends]
        moves = [(2 * end - 1) * share * FARTHER * motion for end, share in ends]
        state[f"to_ends.{part}"] = torch.cat(ways)
        state[f"to_motion.{part}"] = torch.cat(moves)
    return state


def write_groups(home: Path, *ends: str, toned: bool = True) -> Path:
    """A home (GSLOPES_HOME) that has race-groups, the default editor of race there."""
    loaded = load("race-field")
    named = [ENDS[end] for end in ends]
    tone = torch.tensor(loaded.spec.config["tone"])
    tones = [tone.mean(0) + (2 * end - 1) * share / 2 * (tone[1] - tone[0]) for end, share in named]
    spec = groups_spec(*ends)
    if toned:
        spec = replace(spec, config={**spec.config, "tones": [tone.tolist() for tone in tones]})
    save_weights(home / "weights" / spec.name, spec, groups_state(loaded.module, named))
    return home
