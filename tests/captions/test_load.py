from __future__ import annotations

import pytest

from gslopes.captions.config import CaptionsConfig
from gslopes.captions.load import chosen_stages
from gslopes.core.errors import UsageError


def test_truth_is_labels_else_human_captions_and_targets_lie_above():
    auto = CaptionsConfig()
    assert chosen_stages(auto, ["human-labels", "human-captions", "system-captions"]) == (
        "human-labels",
        ["human-captions", "system-captions"],
    )
    assert chosen_stages(auto, ["human-captions", "system-captions"]) == ("human-captions", ["system-captions"])
    assert chosen_stages(auto, ["system-captions"]) == ("", ["system-captions"])


def test_a_stage_that_is_not_there_is_named():
    with pytest.raises(UsageError, match="system-labels"):
        chosen_stages(CaptionsConfig(targets=("system-labels",)), ["human-captions"])
