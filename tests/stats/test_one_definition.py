"""Nothing statistical is defined twice: outside ``gslopes/stats`` no function has its name."""

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "gslopes"
FILES = {
    path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8")
    for path in sorted(PACKAGE.rglob("*.py"))
}
OURS = {name: text for name, text in FILES.items() if name.startswith("stats/")}
OTHERS = {name: text for name, text in FILES.items() if name not in OURS}

# A word in the name of a function: what it would define a second time.
NAMES = {
    r"wilson|newcombe|clopper|agresti": "interval of a share",
    r"percentile|percentiles|quantile_interval|percentile_interval": "percentile interval",
    r"bca\w*|studentised_bootstrap": "BCa interval",
    r"mean_t|one_sample|t_interval|t_quantile|normal_quantile": "t interval",
    r"bootstrap_counts|bootstrap_rows|multinomial_counts|draw_counts": "bootstrap counts",
    r"logit_fit|fit_logit\w*|fit_logistic|logistic_regression|fit_ridge|platt|irls": "logistic regression",
    r"auc|roc_auc|area_under\w*": "area under the ROC curve",
    r"\w*kendall\w*|\w*spearman\w*": "rank correlation",
    r"(cohen|fleiss)\w*": "agreement of raters",
    r"benjamini\w*|holm|bonferroni|yekutieli": "adjusted p-values",
    r"below_floor|monte_carlo_p": "p of a permutation test",
    r"effective_units": "effective number of clusters",
    r"t_ratio|fit_lines|line_weights|line_slopes": "least squares line",
    r"welch_satterthwaite": "degrees of freedom of a difference",
}


def defined(text: str) -> set[str]:
    """Names of the functions of a module, without a leading underscore."""
    return {name.lstrip("_") for name in re.findall(r"^\s*def (\w+)\(", text, flags=re.M)}


@pytest.mark.parametrize("names", NAMES)
def test_no_function_defines_a_statistic_of_the_shelf_again(names: str) -> None:
    again = {
        name: hit
        for name, text in OTHERS.items()
        if (hit := {f for f in defined(text) if re.fullmatch(names, f)})
    }
    assert not again, f"{NAMES[names]}: use gslopes.stats"


def test_the_shelf_itself_has_every_function_once() -> None:
    names = [
        name
        for text in OURS.values()
        for name in re.findall(r"^def ([a-z]\w+)\(", text, flags=re.M)
    ]
    overloads = sum(text.count("@overload") for text in OURS.values())
    assert len(names) - overloads == len(set(names))
    assert {"wilson", "newcombe", "percentile", "mean_t"} <= set(names)
