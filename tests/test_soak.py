"""The soak's lying and redirecting servers, with Ctrl-C in the loop: what is spent is what the servers counted."""

import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_spending_is_what_servers_that_lie_and_redirect_were_sent(
    seed: int, tmp_path: Path, monkeypatch
):
    monkeypatch.syspath_prepend(str(ROOT / "tests/benches"))
    import soak

    counts = Counter[str]()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENAI_API_KEY": "key-0123456789abcdef"}
    with subprocess.Popen(
        [sys.executable, "-c", soak.NURSERY], cwd=ROOT, env=environment, **pipes
    ) as nursery:
        lot = random.Random(seed)
        while (
            not (counts["redirected"] and counts["interrupts among lies"])
            and counts["lying rounds"] < 4
        ):
            counts["rounds"] += 1
            assert soak.lied_to(nursery, tmp_path, lot, counts) == []
        nursery.stdin.close()
    assert counts["sent to liars"] > 0
    assert counts["interrupts among lies"] > 0
    assert counts["redirected"] > 0
