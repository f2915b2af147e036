"""Writes ols_statsmodels.json: straight lines fitted by statsmodels, for tests/stats/test_ols.py.

Run from the repository root:  python tests/golden/ols_statsmodels.py
"""

import json
import platform
from pathlib import Path

import numpy as np
import statsmodels
import statsmodels.api as sm

rng = np.random.default_rng(20200915)
cases = []
for values in (
    np.linspace(-2, 2, 7),
    np.linspace(-2, 2, 5),
    np.array([-1.0, 0.0, 3.0]),
    np.linspace(-3, 1, 11),
):
    for slope, noise in ((0.0, 0.01), (0.05, 0.02), (-0.4, 0.1), (1e-4, 1e-6), (12.0, 30.0)):
        curve = 1 + slope * values + rng.normal(0, noise, len(values))
        fit = sm.OLS(curve, sm.add_constant(values)).fit()
        low, high = fit.conf_int(alpha=0.05)[1]
        results = {
            "slope": fit.params[1],
            "intercept": fit.params[0],
            "se": fit.bse[1],
            "t": fit.tvalues[1],
            "p": fit.pvalues[1],
            "low": low,
            "high": high,
        }
        cases.append(
            {
                "values": values.tolist(),
                "curve": curve.tolist(),
                **{k: float(v) for k, v in results.items()},
            }
        )

golden = {
    "tool": f"statsmodels {statsmodels.__version__}, numpy {np.__version__}, Python {platform.python_version()}",
    "command": "python tests/golden/ols_statsmodels.py",
    "call": "sm.OLS(curve, sm.add_constant(values)).fit(); conf_int(alpha=0.05)",
    "seed": 20200915,
    "cases": cases,
}
Path(__file__).with_suffix(".json").write_text(
    json.dumps(golden, indent=1) + "\n", encoding="utf-8"
)
