"""The fixtures of ``run``: the door is tested with the same tiny models and rendered faces."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_spec = spec_from_file_location("run_fixtures", Path(__file__).parents[1] / "run" / "conftest.py")
assert _spec is not None
assert _spec.loader is not None
_run = sys.modules[_spec.name] = module_from_spec(_spec)
_spec.loader.exec_module(_run)

draw, gslopes, home, tiny_models, toy = _run.draw, _run.gslopes, _run.home, _run.tiny_models, _run.toy
